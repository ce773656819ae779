// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which step runs when: several at a time, each after those that it needs.
//!
//! A guest with two processors keeps little more than one of the host busy, because its driver and the model take
//! turns. So two guests run side by side. Commands on the host mostly compile, and use all processors by themselves:
//! there is one of them at a time.

use std::{
    collections::BTreeSet,
    sync::{
        Condvar,
        Mutex,
        PoisonError, //
    },
    thread, //
};

/// A step, for the schedule.
#[derive(Debug)]
pub struct Task {
    /// Unique name.
    pub name: String,
    /// Tasks that end before it begins, by name. Those that are not in the list count as ended.
    pub needs: Vec<String>,
    /// It is the only one of this kind at a time.
    pub compiles: bool,
}

#[derive(Default)]
struct State {
    begun: BTreeSet<usize>,
    ended: BTreeSet<usize>,
}

impl State {
    /// Return the first task that can begin now.
    fn next(&self, tasks: &[Task]) -> Option<usize> {
        let runs = |at: &usize| self.begun.contains(at) && !self.ended.contains(at);
        let compiling = (0..tasks.len()).any(|at| runs(&at) && tasks[at].compiles);
        let waits = |name: &String| {
            let at = tasks.iter().position(|task| task.name == *name);
            at.is_some_and(|at| !self.ended.contains(&at))
        };
        (0..tasks.len()).find(|&at| {
            let task = &tasks[at];
            let blocked = task.compiles && compiling || task.needs.iter().any(waits);
            !blocked && !self.begun.contains(&at)
        })
    }
}

/// Run all tasks, `jobs` at a time, and return what came of them, in their order.
///
/// # Errors
///
/// The first error of a task; what runs then is waited for, and nothing new begins.
pub fn run<T: Send, E: Send>(
    tasks: &[Task],
    jobs: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let state = Mutex::new((State::default(), Vec::<(usize, Result<T, E>)>::new()));
    let changed = Condvar::new();
    let worker = || {
        let mut held = state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (now, results) = &mut *held;
            if now.begun.len() == tasks.len() || results.iter().any(|(_, result)| result.is_err()) {
                return;
            }
            let Some(at) = now.next(tasks) else {
                // A task that nothing runs for will never be able to begin: a circle, which `Suite` has no words for.
                assert!(now.begun != now.ended, "tasks wait for each other");
                held = changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            now.begun.insert(at);
            drop(held);
            let result = work(at);
            held = state.lock().unwrap_or_else(PoisonError::into_inner);
            held.0.ended.insert(at);
            held.1.push((at, result));
            changed.notify_all();
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(worker);
        }
    });
    let (_, mut results) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{
        AtomicUsize,
        Ordering, //
    };

    use super::*;

    fn task(name: &str, needs: &[&str], compiles: bool) -> Task {
        Task {
            name: name.into(),
            needs: needs.iter().map(|&name| name.into()).collect(),
            compiles,
        }
    }

    #[test]
    fn what_compiles_runs_alone_of_its_kind() {
        let tasks = [
            task("lint", &[], true),
            task("unit", &[], true),
            task("guest", &[], false),
        ];
        let mut state = State::default();
        assert_eq!(state.next(&tasks), Some(0));
        state.begun.insert(0);
        assert_eq!(state.next(&tasks), Some(2));
        state.begun.insert(2);
        assert_eq!(state.next(&tasks), None);
        state.ended.insert(0);
        assert_eq!(state.next(&tasks), Some(1));
    }

    #[test]
    fn a_task_begins_after_what_it_needs() {
        let tasks = [
            task("both", &["a", "b", "not chosen"], false),
            task("a", &[], false),
            task("b", &[], false),
        ];
        for jobs in [1, 2, 7] {
            let clock = AtomicUsize::new(0);
            let order = run(&tasks, jobs, |_| {
                Ok::<_, ()>(clock.fetch_add(1, Ordering::Relaxed))
            })
            .unwrap();
            assert_eq!(order[0], 2, "{jobs} at a time");
        }
    }

    #[test]
    fn two_run_at_a_time() {
        let tasks: Vec<_> = (0..2).map(|at| task(&at.to_string(), &[], false)).collect();
        let meet = std::sync::Barrier::new(2);
        let leaders = run(&tasks, 2, |_| Ok::<_, ()>(meet.wait().is_leader())).unwrap();
        assert_eq!(leaders.iter().filter(|&&leader| leader).count(), 1);
    }

    #[test]
    fn an_error_ends_it() {
        let tasks: Vec<_> = (0..9).map(|at| task(&at.to_string(), &[], false)).collect();
        let result = run(&tasks, 1, |at| if at == 3 { Err(at) } else { Ok(()) });
        assert_eq!(result, Err(3));
    }
}
