// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Properties of the replay rule, for any job that hangs, any number of times, with any submitter on its way to the
//! ring. No job is executed on memory that still holds what its last owner left there. Only clients whose own job hung
//! are refused. All other jobs are executed.

use lapidary::portable::replay::{fate, fate_of_hung, Content, Fate, Standing, KERNEL_TRIES};
use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};

const CLIENTS: usize = 3;

/// An object: a place in memory, and what is known about it.
#[derive(Clone, Copy)]
struct Object {
    secret: bool,
    content: Content,
    doomed: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Whose {
    Kernel,
    Client(usize),
}

/// A job. The kernel's clear its object, clients' read it.
#[derive(Clone, Copy)]
struct Job {
    whose: Whose,
    object: usize,
    /// How often it is still going to hang.
    hangs: u32,
    hung: u32,
    condemned: Option<Fate>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// An object is made, whose clear hangs so many times.
    Create { hangs: u32 },
    /// A client places an object for a job that hangs if it says so.
    Place {
        client: usize,
        object: usize,
        hangs: bool,
    },
    /// The job that was placed longest ago is committed.
    Commit,
    /// The ring executes its next job, or hangs in it.
    Ring,
}

#[derive(Default)]
struct World {
    objects: Vec<Object>,
    placed: VecDeque<Job>,
    queue: VecDeque<Job>,
    banned: HashSet<usize>,
    /// Clients a job of which has hung.
    guilty: HashSet<usize>,
    executed: usize,
    spoilt: usize,
}

impl World {
    fn step(&mut self, step: Step) {
        match step {
            Step::Create { hangs } => {
                self.objects.push(Object {
                    secret: true,
                    content: Content::Pending,
                    doomed: false,
                });
                self.queue.push_back(Job {
                    whose: Whose::Kernel,
                    object: self.objects.len() - 1,
                    hangs,
                    hung: 0,
                    condemned: None,
                });
            }
            Step::Place {
                client,
                object,
                hangs,
            } => {
                let count = self.objects.len();
                let Some(object) = (count > 0).then(|| object % count) else {
                    return;
                };
                if self.banned.contains(&client) {
                    return;
                }
                let place = &mut self.objects[object];
                if place.content.is_lost() {
                    // Other memory, which is zero.
                    *place = Object {
                        secret: false,
                        content: Content::Own,
                        doomed: false,
                    };
                }
                assert!(place.content.admits());
                self.placed.push_back(Job {
                    whose: Whose::Client(client),
                    object,
                    hangs: hangs.into(),
                    hung: 0,
                    condemned: None,
                });
            }
            Step::Commit => {
                if let Some(job) = self.placed.pop_front() {
                    let Whose::Client(client) = job.whose else {
                        unreachable!("the kernel's are committed at once");
                    };
                    let lost = self.objects[job.object].content.is_lost();
                    if !lost && !self.banned.contains(&client) {
                        self.queue.push_back(job);
                    }
                }
            }
            Step::Ring => self.ring(),
        }
    }

    fn ring(&mut self) {
        let Some(&job) = self.queue.front() else {
            return;
        };
        if job.condemned.is_none() && job.hangs > 0 {
            return self.reset();
        }
        self.queue.pop_front();
        if job.condemned.is_some() {
            return;
        }
        self.executed += 1;
        let place = &mut self.objects[job.object];
        match job.whose {
            Whose::Kernel => {
                place.secret = false;
                place.content = Content::Own;
            }
            Whose::Client(client) => {
                assert!(!place.secret, "{client} sees what another left");
                assert!(!self.guilty.contains(&client), "{client} was refused");
            }
        }
    }

    /// Reset as `recovery.rs` does.
    fn reset(&mut self) {
        let first = self.queue.front_mut().unwrap();
        first.hangs -= 1;
        first.hung += 1;
        let is_kernel = first.whose == Whose::Kernel;
        let verdict = fate_of_hung(is_kernel, first.hung);
        if verdict != Fate::Again {
            first.condemned = Some(verdict);
            match first.whose {
                Whose::Kernel => self.objects[first.object].doomed = true,
                Whose::Client(client) => {
                    self.banned.insert(client);
                    self.guilty.insert(client);
                }
            }
        }
        for job in self.queue.iter_mut().filter(|job| job.condemned.is_none()) {
            let banned =
                matches!(job.whose, Whose::Client(client) if self.banned.contains(&client));
            let fate = fate(Standing {
                is_kernel: job.whose == Whose::Kernel,
                is_banned: banned,
                relies_on_lost: self.objects[job.object].doomed,
                has_begun: false,
            });
            if fate != Fate::Again {
                job.condemned = Some(fate);
                self.spoilt += usize::from(fate == Fate::Spoilt);
            }
            assert_eq!(fate == Fate::Cancelled, banned, "{:?}", job.whose);
        }
        if let Some(first) = self.queue.front().filter(|job| job.condemned.is_some()) {
            if first.whose == Whose::Kernel {
                self.objects[first.object].content = Content::Lost;
            }
            self.queue.pop_front();
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0..=KERNEL_TRIES).prop_map(|hangs| Step::Create { hangs }),
        4 => (0..CLIENTS, 0..8usize, prop::bool::weighted(0.1))
            .prop_map(|(client, object, hangs)| Step::Place { client, object, hangs }),
        4 => Just(Step::Commit),
        3 => Just(Step::Ring),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nobody_sees_what_another_has_left(steps in steps()) {
        let mut world = World::default();
        for step in steps {
            world.step(step);
        }
        while !world.queue.is_empty() {
            world.ring();
        }
        prop_assert_eq!(&world.banned, &world.guilty);
    }
}

#[test]
fn jobs_behind_a_clear_that_hangs_twice_fail_and_others_are_executed() {
    let mut world = World::default();
    let place = |client, object| Step::Place {
        client,
        object,
        hangs: false,
    };
    world.step(Step::Create { hangs: 2 });
    world.step(Step::Create { hangs: 1 });
    for step in [place(0, 0), place(1, 1), place(0, 1), place(2, 0)] {
        world.step(step);
    }
    // All are committed but the last, which is on its way.
    for _ in 0..3 {
        world.step(Step::Commit);
    }
    for _ in 0..8 {
        world.step(Step::Ring);
    }
    assert!(world.queue.is_empty());
    // The second object's clear, and the two jobs behind it.
    assert_eq!((world.executed, world.spoilt), (3, 1));
    assert!(world.banned.is_empty());
    // The one on its way begins anew, and finds other memory.
    world.step(Step::Commit);
    assert!(world.queue.is_empty());
    world.step(place(2, 0));
    world.step(Step::Commit);
    world.step(Step::Ring);
    assert_eq!(world.executed, 4);
}

#[test]
fn a_client_has_one_try_and_the_kernel_two() {
    assert_eq!(fate_of_hung(false, 1), Fate::Hung);
    assert_eq!(fate_of_hung(true, 1), Fate::Again);
    assert_eq!(fate_of_hung(true, 2), Fate::Hung);
    // A refused client gets that error, whatever other error there is.
    let both = Standing {
        is_banned: true,
        relies_on_lost: true,
        ..Standing::default()
    };
    assert_eq!(fate(both), Fate::Cancelled);
    // While the object is being made it admits no job, and is not replaced.
    assert!(!Content::Unknown.admits() && !Content::Unknown.is_lost());
}
