// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Properties of the rule for several rings, for any job that hangs and any progress of the other rings. No drawing is
//! executed twice. Jobs that had not begun are executed. Jobs that depend on each other keep their order. Only the
//! client whose job hung is refused.

use lapidary::portable::replay::{fate, fate_of_hung, oldest, Behind, Fate, Standing, RINGS};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

/// Steps that a job takes on its ring; one is executed at a time.
const LENGTH: u32 = 3;
/// Steps that the other rings may take before the chip is stopped.
const SETTLE: usize = 4;

/// What a submitter commits.
#[derive(Clone, Debug)]
struct Plan {
    ring: usize,
    /// 0 is the kernel.
    client: u32,
    /// How often it hangs.
    hangs: u32,
    /// It waits for the job that was committed so many before it.
    behind: Option<usize>,
}

#[derive(Debug)]
struct Job {
    client: u32,
    hangs: u32,
    hung: u32,
    behind: Option<usize>,
    /// Steps of the present execution.
    steps: u32,
    /// How often its first step has been executed.
    begun: u32,
    fate: Option<Fate>,
    signalled: bool,
    /// When its last step was executed.
    done: Option<usize>,
}

struct Gpu {
    jobs: Vec<Job>,
    /// The ring of each job, and its number there, from 1 on.
    places: Vec<(usize, u64)>,
    /// Jobs on each ring, by number.
    rings: Vec<VecDeque<usize>>,
    banned: BTreeSet<u32>,
    guilty: BTreeSet<u32>,
    now: usize,
}

impl Gpu {
    fn new(rings: usize, plans: &[Plan]) -> Gpu {
        let mut gpu = Gpu {
            jobs: Vec::new(),
            places: Vec::new(),
            rings: vec![VecDeque::new(); rings],
            banned: BTreeSet::new(),
            guilty: BTreeSet::new(),
            now: 0,
        };
        for (number, plan) in plans.iter().enumerate() {
            let ring = plan.ring % rings;
            gpu.jobs.push(Job {
                client: plan.client,
                hangs: plan.hangs,
                hung: 0,
                behind: plan
                    .behind
                    .and_then(|before| number.checked_sub(before + 1)),
                steps: 0,
                begun: 0,
                fate: None,
                signalled: false,
                done: None,
            });
            gpu.rings[ring].push_back(number);
            gpu.places.push((ring, gpu.rings[ring].len() as u64));
        }
        gpu
    }

    /// Return the jobs that job `number` waits for in its ring, as the driver records them.
    fn behind(&self, number: usize) -> Behind {
        let mut behind = Behind::NONE;
        if let Some((ring, job)) = self.jobs[number].behind.map(|other| self.places[other]) {
            if ring != self.places[number].0 {
                behind.add(ring, job);
            }
        }
        behind
    }

    /// Return the number of the last job that is done on each ring.
    fn done(&self) -> [u64; RINGS] {
        let mut done = [0; RINGS];
        for (number, (ring, job)) in self.places.iter().enumerate() {
            if self.jobs[number].signalled {
                done[*ring] = *job;
            }
        }
        done
    }

    /// Return the job at the head of a ring, if that does not wait for another ring.
    fn ready(&self, ring: usize) -> Option<usize> {
        let number = *self.rings[ring].front()?;
        let waits = self.jobs[number]
            .behind
            .is_some_and(|other| !self.jobs[other].signalled);
        (!waits).then_some(number)
    }

    /// Return whether the head of the ring never ends.
    fn hangs(&self, ring: usize) -> bool {
        self.ready(ring)
            .is_some_and(|number| self.jobs[number].fate.is_none() && self.jobs[number].hangs > 0)
    }

    /// Let the ring execute a step.
    fn step(&mut self, ring: usize) {
        let Some(number) = self.ready(ring) else {
            return;
        };
        self.now += 1;
        let job = &mut self.jobs[number];
        if job.fate.is_none() {
            if job.steps == 0 {
                job.begun += 1;
            }
            if job.hangs > 0 {
                job.steps = 1;
                return;
            }
            job.steps += 1;
            if job.steps < LENGTH {
                return;
            }
            job.done = Some(self.now);
        }
        job.signalled = true;
        self.rings[ring].pop_front();
    }

    /// Reset as `recovery.rs` does, with the same rule.
    fn reset(&mut self, hung: usize) {
        for _ in 0..SETTLE {
            for ring in (0..self.rings.len()).filter(|ring| *ring != hung) {
                self.step(ring);
            }
        }
        let first = &mut self.jobs[self.rings[hung][0]];
        first.hangs -= 1;
        first.hung += 1;
        if fate_of_hung(first.client == 0, first.hung) == Fate::Hung {
            first.fate = Some(Fate::Hung);
            if first.client != 0 {
                self.banned.insert(first.client);
                self.guilty.insert(first.client);
            }
        }
        let done = self.done();
        for queue in &self.rings {
            for (place, &number) in queue.iter().enumerate() {
                // The driver does not see steps. It must not take a job that has begun for one that has not.
                let may_have_begun = place == 0 && self.behind(number).is_over(&done);
                assert!(self.jobs[number].steps == 0 || may_have_begun);
            }
        }
        let mut queued = vec![VecDeque::new(); self.rings.len()];
        for (ring, queue) in self.rings.iter().enumerate() {
            for (place, &number) in queue.iter().enumerate() {
                let job = &mut self.jobs[number];
                if job.fate.is_none() && !(ring == hung && place == 0) {
                    let standing = Standing {
                        is_kernel: job.client == 0,
                        is_banned: self.banned.contains(&job.client),
                        relies_on_lost: false,
                        has_begun: ring != hung && job.steps > 0,
                    };
                    let fate = fate(standing);
                    job.fate = (fate != Fate::Again).then_some(fate);
                }
                job.steps = 0;
                queued[ring].push_back(number);
            }
        }
        // They go on their rings again one by one, in the old order of all.
        self.rings = vec![VecDeque::new(); queued.len()];
        let mut last = None;
        loop {
            let next: Vec<Option<u64>> = queued
                .iter()
                .map(|ring| ring.front().map(|number| *number as u64))
                .collect();
            let Some(ring) = oldest(&next) else {
                break;
            };
            let number = queued[ring].pop_front();
            assert!(number > last, "{number:?} behind {last:?}");
            last = number;
            self.rings[ring].extend(number);
        }
        assert!(queued.iter().all(VecDeque::is_empty));
    }

    /// Let the rings take turns as `turns` says, until all have nothing to do.
    fn run(&mut self, turns: &[usize]) {
        let mut turns = turns.iter().cycle();
        // Each job hangs at most twice, and takes its steps each time.
        for _ in 0..self.jobs.len() * 200 {
            if self.rings.iter().all(VecDeque::is_empty) {
                return;
            }
            let stuck =
                (0..self.rings.len()).all(|ring| self.ready(ring).is_none() || self.hangs(ring));
            let ring = turns.next().expect("there are turns") % self.rings.len();
            // The watchdog may notice while other rings work, and must notice when none does.
            if self.hangs(ring) && self.jobs[self.rings[ring][0]].steps > 0 {
                self.reset(ring);
            } else {
                self.step(ring);
            }
            assert!(
                !stuck
                    || (0..self.rings.len())
                        .any(|ring| self.hangs(ring) || self.ready(ring).is_some())
                    || self.rings.iter().all(VecDeque::is_empty),
                "the rings wait for each other"
            );
        }
        panic!("it does not end");
    }

    fn check(&self) {
        for (number, job) in self.jobs.iter().enumerate() {
            assert!(job.signalled, "{number}: {job:?}");
            // Drawing twice is not drawing once, and half a drawing is told.
            if job.client != 0 {
                assert!(job.begun <= 1, "{number}: {job:?}");
                assert_eq!(
                    job.begun == 1 && job.done.is_none(),
                    matches!(job.fate, Some(Fate::Hung | Fate::Interrupted))
                        || job.fate == Some(Fate::Cancelled) && job.begun == 1,
                    "{number}: {job:?}"
                );
            }
            match job.fate {
                // What had not begun is executed.
                None => assert!(job.done.is_some(), "{number}: {job:?}"),
                Some(Fate::Cancelled) => assert!(self.guilty.contains(&job.client)),
                Some(Fate::Interrupted) => assert!(job.client != 0),
                Some(_) => {}
            }
            if let (Some(done), Some(before)) =
                (job.done, job.behind.and_then(|n| self.jobs[n].done))
            {
                assert!(before < done, "{number} before {:?}", job.behind);
            }
        }
        assert_eq!(self.banned, self.guilty);
    }
}

fn plans(rings: usize) -> impl Strategy<Value = Vec<Plan>> {
    let plan = (
        0..rings,
        0..4u32,
        prop_oneof![8 => Just(0u32), 1 => Just(1), 1 => Just(2)],
        prop::option::of(0..6usize),
    )
        .prop_map(|(ring, client, hangs, behind)| Plan {
            ring,
            client,
            // A client's job that hangs once is over.
            hangs: if client == 0 { hangs } else { hangs.min(1) },
            behind,
        });
    prop::collection::vec(plan, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn two_rings_draw_once_and_in_order(plans in plans(2), turns in prop::collection::vec(0..2usize, 1..30)) {
        let mut gpu = Gpu::new(2, &plans);
        // Every ring gets its turn.
        let turns: Vec<usize> = turns.into_iter().chain(0..2).collect();
        gpu.run(&turns);
        gpu.check();
    }

    #[test]
    fn five_rings_draw_once_and_in_order(plans in plans(5), turns in prop::collection::vec(0..5usize, 1..30)) {
        let mut gpu = Gpu::new(5, &plans);
        let turns: Vec<usize> = turns.into_iter().chain(0..5).collect();
        gpu.run(&turns);
        gpu.check();
    }
}

#[test]
fn what_another_ring_has_begun_and_not_finished_fails_and_nobody_is_to_blame() {
    let plan = |ring, client, hangs| Plan {
        ring,
        client,
        hangs,
        behind: None,
    };
    // Two long queues: the second ring is in the middle of its third job when time is up.
    let plans: Vec<Plan> = (0..5)
        .map(|_| plan(1, 2, 0))
        .chain([plan(0, 1, 1), plan(0, 3, 0)])
        .collect();
    let mut gpu = Gpu::new(2, &plans);
    gpu.run(&[0, 1]);
    gpu.check();
    let fates: Vec<Option<Fate>> = gpu.jobs.iter().map(|job| job.fate).collect();
    assert_eq!(
        fates
            .iter()
            .filter(|fate| **fate == Some(Fate::Interrupted))
            .count(),
        1
    );
    assert_eq!(fates[5], Some(Fate::Hung));
    assert_eq!(gpu.jobs.iter().filter(|job| job.done.is_some()).count(), 5);
    assert_eq!(gpu.guilty, BTreeSet::from([1]));
}

#[test]
fn the_kernels_jobs_are_executed_again_and_banned_ones_are_not() {
    let begun = Standing {
        has_begun: true,
        ..Standing::default()
    };
    assert_eq!(fate(begun), Fate::Interrupted);
    assert_eq!(
        fate(Standing {
            is_kernel: true,
            ..begun
        }),
        Fate::Again
    );
    assert_eq!(
        fate(Standing {
            is_banned: true,
            ..begun
        }),
        Fate::Cancelled
    );
    assert_eq!(
        fate(Standing {
            relies_on_lost: true,
            is_kernel: true,
            ..begun
        }),
        Fate::Spoilt
    );
    assert_eq!(fate(Standing::default()), Fate::Again);
    assert_eq!(oldest(&[Some(3), None, Some(2)]), Some(2));
    assert_eq!(oldest(&[None, None]), None);
}
