// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What happens to the jobs under way when the hardware had to be reset.
//!
//! A ring executes its jobs one after the other, and a job's fence is behind all of its commands. So when a ring
//! hangs, the oldest job without a fence is the one that hangs. None of the jobs behind it has begun. They can be
//! executed again with the same numbers as if nothing had happened. If the hung job completes at the last moment, the
//! job behind it may have begun in that moment. It is executed again from its start. On other rings, the oldest job
//! may have been executing for a long time (see [`crate::portable::replay`]).
//!
//! First each job is judged ([`Timeline::judge_first`], [`Timeline::judge`]). It is executed again, or it has an
//! error. Jobs with an error at the head of the queue are signalled at once ([`Timeline::end_condemned`]). A job with
//! an error further behind waits for its turn, because fences of one timeline signal in order. Only its fence is put
//! on the ring. Then all jobs are put on their rings again, in the order in which they were committed ([`replay`]).
//!
//! No job is committed meanwhile, because the timeline is on hold.

use kernel::prelude::*;

use super::{
    slot,
    Kind,
    State,
    Timeline,
    RINGS, //
};

use crate::portable::replay as rule;

impl<K: Kind> Timeline<K> {
    /// Judge the oldest job under way, in which the ring has hung since job `after` was done. `judge` receives how
    /// often the ring has hung in this job, at least once, and what the job holds. Its error becomes that of the job.
    /// It is called with a spinlock held.
    ///
    /// Return which job it is. `None` if there is no such job, or if `after` is not the last job done any more. Then
    /// the ring has made progress, and no job is judged.
    pub fn judge_first(
        &self,
        after: u64,
        judge: impl FnOnce(u32, &K::Load) -> Result,
    ) -> Option<u64> {
        let mut state = self.state.lock();
        let seqno = after + 1;
        if state.signalled != after || seqno > state.committed {
            return None;
        }
        Self::pass(&mut state, seqno, |hangs, _, load| {
            *hangs = hangs.saturating_add(1);
            judge(*hangs, load)
        });
        Some(seqno)
    }

    /// Judge all jobs under way that have no error yet, oldest first. `judge` receives whether the job is the oldest,
    /// how it is executed, and what it holds. Its error becomes that of the job. It is called with a spinlock held.
    pub fn judge(&self, mut judge: impl FnMut(bool, K::Command, &K::Load) -> Result) {
        let mut state = self.state.lock();
        let first = state.signalled + 1;
        for seqno in first..=state.committed {
            Self::pass(&mut state, seqno, |_, command, load| {
                judge(seqno == first, command, load)
            });
        }
    }

    fn pass(
        state: &mut State<K>,
        seqno: u64,
        judge: impl FnOnce(&mut u32, K::Command, &K::Load) -> Result,
    ) {
        let State { records, loads, .. } = state;
        let record = records.get_mut(slot(seqno)).and_then(Option::as_mut);
        if let (Some(record), Some(load)) = (record, loads.get(slot(seqno))) {
            if record.verdict.is_ok() {
                record.verdict = judge(&mut record.hangs, record.command, load);
            }
        }
    }

    /// Signal the jobs with an error before which no other job has to be executed.
    pub fn end_condemned(&self) {
        loop {
            let mut state = self.state.lock();
            let index = slot(state.signalled + 1);
            let first = state.records.get(index).and_then(Option::as_ref);
            if first.is_none_or(|record| record.verdict.is_ok()) {
                break;
            }
            let record = Self::next(&mut state, self.now(), 1);
            drop(state);
            if let Some(record) = record {
                record.signal();
            }
        }
    }

    /// Return the first job under way behind job `after`.
    fn behind(&self, after: u64) -> Option<Pending<K>> {
        let state = self.state.lock();
        let seqno = after.max(state.signalled) + 1;
        if seqno > state.committed {
            return None;
        }
        let record = state.records.get(slot(seqno))?.as_ref()?;
        Some(Pending {
            seqno,
            order: record.order,
            command: record.verdict.is_ok().then_some(record.command),
        })
    }
}

/// A job to be put on its ring again.
struct Pending<K: Kind> {
    seqno: u64,
    order: u64,
    /// `None` if only its fence is to be executed.
    command: Option<K::Command>,
}

/// Call `emit` for each job under way on the rings of a GPU, in the order in which they were committed. `emit`
/// receives the ring's index, the job's number, and how the job is executed; `None` if only its fence is to be
/// executed. `timeline` returns the timeline of a ring, `None` behind the last one. There are [`RINGS`] at most.
/// Return how many jobs are executed.
///
/// # Errors
///
/// The first error of `emit`.
pub fn replay<'t, K: Kind>(
    timeline: impl Fn(usize) -> Option<&'t Timeline<K>>,
    mut emit: impl FnMut(usize, u64, Option<K::Command>) -> Result,
) -> Result<u64> {
    let mut executed = 0;
    let mut next: [Option<Pending<K>>; RINGS] =
        core::array::from_fn(|ring| timeline(ring)?.behind(0));
    while let Some(ring) = rule::oldest(&next.each_ref().map(|job| Some(job.as_ref()?.order))) {
        let Some(slot) = next.get_mut(ring) else {
            break;
        };
        let Some(job) = slot.take() else {
            break;
        };
        executed += u64::from(job.command.is_some());
        emit(ring, job.seqno, job.command)?;
        *slot = timeline(ring).and_then(|timeline| timeline.behind(job.seqno));
    }
    Ok(executed)
}

#[kunit_tests(lapidary_replay)]
mod tests {
    use super::*;
    use crate::{
        corner::{
            fence::Fence,
            workqueue::Worker, //
        },
        timeline::JOBS,
    };
    use kernel::sync::{
        aref::ARef,
        Arc, //
    };

    /// Jobs that hold the number of their client, 0 for the kernel. A job's command is ten times its number.
    struct Test;

    impl Kind for Test {
        const DRIVER: &'static CStr = c"kunit";
        type Load = u32;
        type Command = u64;

        fn load() -> Result<u32> {
            Ok(0)
        }

        fn ran(_: &u32, _: u64) {}

        fn spend(load: &mut u32) {
            *load = 0;
        }
    }

    struct Bench {
        timeline: Arc<Timeline<Test>>,
        fences: KVec<ARef<Fence>>,
        order: u64,
    }

    impl Bench {
        /// Make a timeline with one job of each of these clients.
        fn new(clients: &[u32]) -> Result<Self> {
            Self::numbered(clients, 0)
        }

        /// As [`Bench::new`], but a job's order on all rings is ten times its number plus `order`.
        fn numbered(clients: &[u32], order: u64) -> Result<Self> {
            let mut bench = Self {
                timeline: Timeline::new(Worker::new(c"lapidary-kunit")?)?,
                fences: KVec::new(),
                order,
            };
            for &client in clients {
                bench.commit(client)?;
            }
            Ok(bench)
        }

        fn commit(&mut self, client: u32) -> Result {
            let timeline = &self.timeline;
            let unborn = timeline.unborn()?;
            let seqno = timeline.turn(0).room(|| 0, |_| true)?.ok_or(EAGAIN)?;
            let own = timeline.start(unborn, seqno);
            self.fences.push(own.fence().clone(), GFP_KERNEL)?;
            timeline.commit(own, 0, 10 * seqno, 10 * seqno + self.order, |load| {
                *load = client
            });
            Ok(())
        }

        /// Judge after a hang. The client of the first job is guilty, unless it is the kernel, which has two tries.
        fn judge(&self) -> Option<u64> {
            self.judge_after(self.timeline.progress().signalled)
        }

        /// As [`Bench::judge`], for a hang found when job `after` was the last one done.
        fn judge_after(&self, after: u64) -> Option<u64> {
            let mut guilty = 0;
            let first = self.timeline.judge_first(after, |hangs, &client| {
                guilty = client;
                match client {
                    0 if hangs < 2 => Ok(()),
                    _ => Err(EIO),
                }
            });
            self.timeline.judge(|_, _, &client| match client {
                0 => Ok(()),
                client if client == guilty => Err(ECANCELED),
                _ => Ok(()),
            });
            self.timeline.end_condemned();
            first
        }

        /// Return what is put on the ring: numbers and commands, 0 for none.
        fn replay(&self) -> Result<(KVec<(u64, u64)>, u64)> {
            let mut ring = KVec::new();
            let executed = replay(self.only(), |_, seqno, command| {
                ring.push((seqno, command.unwrap_or(0)), GFP_KERNEL)?;
                Ok(())
            })?;
            Ok((ring, executed))
        }

        /// Return a GPU with this ring only.
        fn only<'a>(&'a self) -> impl Fn(usize) -> Option<&'a Timeline<Test>> {
            |index| (index == 0).then_some(&*self.timeline)
        }

        fn results(&self) -> Result<KVec<Option<Result>>> {
            let mut results = KVec::new();
            for fence in self.fences.iter() {
                results.push(fence.result(), GFP_KERNEL)?;
            }
            Ok(results)
        }
    }

    impl Drop for Bench {
        fn drop(&mut self) {
            // A pending fence and its timeline hold references to each other.
            self.timeline.fail(EIO);
        }
    }

    const DONE: Option<Result> = Some(Ok(()));
    const HUNG: Option<Result> = Some(Err(EIO));
    const CANCELLED: Option<Result> = Some(Err(ECANCELED));

    #[test]
    fn the_innocent_are_executed_again_with_their_numbers() -> Result {
        let bench = Bench::new(&[3, 1, 2, 1, 0, 1])?;
        bench.timeline.process(1);
        assert!(bench.judge() == Some(2));
        // The guilty job at the head is signalled at once. All others wait for their turn.
        assert!(bench.results()?[..] == [DONE, HUNG, None, None, None, None]);
        let (ring, executed) = bench.replay()?;
        assert!(ring[..] == [(3, 30), (4, 0), (5, 50), (6, 0)]);
        assert!(executed == 2);

        bench.timeline.process(5);
        assert!(bench.results()?[..] == [DONE, HUNG, DONE, CANCELLED, DONE, None]);
        bench.timeline.process(6);
        assert!(bench.results()?[5] == CANCELLED);
        assert!(!bench.timeline.progress().busy());
        Ok(())
    }

    #[test]
    fn a_second_hang_finds_the_next_one() -> Result {
        let bench = Bench::new(&[1, 2, 1, 2, 3])?;
        assert!(bench.judge() == Some(1));
        assert!(bench.judge() == Some(2));
        // The error of the first job does not change. It is signalled, because no other job is executed before it.
        assert!(bench.results()?[..] == [HUNG, HUNG, CANCELLED, CANCELLED, None]);
        assert!(bench.replay()?.0[..] == [(5, 50)]);
        assert!(bench.judge() == Some(5));
        assert!(bench.replay()?.0.is_empty());
        assert!(bench.judge().is_none());
        Ok(())
    }

    #[test]
    fn a_job_of_the_kernel_has_two_tries() -> Result {
        let bench = Bench::new(&[0, 1])?;
        assert!(bench.judge() == Some(1));
        assert!(bench.replay()?.0[..] == [(1, 10), (2, 20)]);
        assert!(bench.judge() == Some(1));
        assert!(bench.results()?[..] == [HUNG, None]);
        // It is the first hang of another job.
        assert!(bench.replay()?.0[..] == [(2, 20)]);
        Ok(())
    }

    #[test]
    fn nobody_is_guilty_if_the_ring_got_on() -> Result {
        let bench = Bench::new(&[1, 2, 0, 2])?;
        // The first completes after the verdict.
        bench.timeline.process(1);
        assert!(bench.judge_after(0).is_none());
        assert!(bench.results()?[..] == [DONE, None, None, None]);
        assert!(bench.replay()?.0[..] == [(2, 20), (3, 30), (4, 40)]);
        // The job before the kernel's completes, too. The kernel's job still has both its tries.
        bench.timeline.process(2);
        assert!(bench.judge_after(1).is_none());
        assert!(bench.judge() == Some(3));
        assert!(bench.replay()?.0[..] == [(3, 30), (4, 40)]);
        // Nothing is left.
        bench.timeline.process(4);
        assert!(bench.judge_after(2).is_none());
        assert!(bench.replay()?.0.is_empty());
        assert!(bench.results()?[..] == [DONE; 4]);
        Ok(())
    }

    #[test]
    fn failing_keeps_the_verdicts() -> Result {
        let bench = Bench::new(&[1, 2, 1])?;
        bench.judge();
        bench.timeline.fail(ENODEV);
        assert!(bench.results()?[..] == [HUNG, Some(Err(ENODEV)), CANCELLED]);
        Ok(())
    }

    #[test]
    fn an_error_on_the_way_to_the_ring_is_passed_on() -> Result {
        let bench = Bench::new(&[1, 2, 3])?;
        let mut calls = 0;
        let result = replay(bench.only(), |_, seqno, _| {
            calls += 1;
            if seqno == 2 {
                Err(EAGAIN)
            } else {
                Ok(())
            }
        });
        assert!(result == Err(EAGAIN) && calls == 2);
        bench.timeline.fail(EIO);
        Ok(())
    }

    #[test]
    fn rings_are_replayed_in_the_order_of_commits() -> Result {
        // The numbers of jobs on the second ring lie between those on the first: 10, 11, 20, 21, 30, 40.
        let (first, second) = (Bench::new(&[1, 2, 3, 1])?, Bench::numbered(&[1, 3], 1)?);
        let of = |index| match index {
            0 => Some(&*first.timeline),
            2 => Some(&*second.timeline),
            _ => None,
        };
        first.timeline.process(1);
        second
            .timeline
            .judge(|oldest, _, _| if oldest { Err(EIO) } else { Ok(()) });
        let mut ring = KVec::new();
        let executed = replay(of, |index, seqno, command| {
            ring.push((index, seqno, command.is_some()), GFP_KERNEL)?;
            Ok(())
        })?;
        let all = [
            (2, 1, false),
            (0, 2, true),
            (2, 2, true),
            (0, 3, true),
            (0, 4, true),
        ];
        assert!(ring[..] == all && executed == 4);
        Ok(())
    }

    #[test]
    fn a_full_timeline_is_replayed_over_the_end_of_its_records() -> Result {
        let mut bench = Bench::new(&[])?;
        for _ in 0..JOBS / 2 {
            bench.commit(1)?;
        }
        bench.timeline.process(JOBS as u32 / 2);
        bench.timeline.reap();
        for client in 0..JOBS {
            bench.commit(2 + (client % 2) as u32)?;
        }
        assert!(bench.judge() == Some(JOBS / 2 + 1));
        let (ring, executed) = bench.replay()?;
        assert!(ring.len() as u64 == JOBS - 1 && executed == JOBS / 2);
        bench.timeline.process((JOBS / 2 + JOBS) as u32);
        assert!(
            bench.results()?[JOBS as usize] == DONE || bench.results()?[JOBS as usize] == CANCELLED
        );
        assert!(!bench.timeline.progress().busy());
        Ok(())
    }
}
