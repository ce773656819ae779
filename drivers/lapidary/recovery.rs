// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What happens when a ring hangs.
//!
//! ```text
//!                    ring hangs                    a restart succeeds
//!   working ───────────────────────▶ recovering ────────────────────────▶ working
//!                                        │
//!                                        └─────────────────────────────▶ wedged, until a new probe
//!                                           three restarts fail, or the chip is silent
//! ```
//!
//! The worker recovers ([`Running::recover`]) in these steps. Submissions wait. Other rings have some time to finish
//! what they have begun ([`crate::portable::replay`]). The chip is stopped. The oldest job of the hung ring is guilty
//! ([`crate::timeline`] says why), and its client is convicted. The chip restarts ([`Gpu::reset`]). All jobs that are
//! not the convict's are executed again. Their words stay in the lane's indirect buffers until their fences signal.
//! So nothing is allocated, copied, or requested from user space.
//!
//! The watchdog's verdict is about one job, the one behind [`Hang::after`]. If that job completes before the chip is
//! stopped, no client is guilty, because the oldest job has only just begun then.
//!
//! - The hanging job ends with `EIO`, and the convict's other jobs with `ECANCELED`. The convict's later submissions
//!   are refused with `ECANCELED`. What its jobs should have drawn is missing.
//! - A job of the kernel is tried once more, because the cause may be a job before it. If it hangs again it ends with
//!   `EIO`. If it was a move, the move has not happened. If it was a clear, the jobs that use its object end with
//!   `EIO`, too, because they would see what the clear should have removed. Their clients are not guilty
//!   ([`crate::portable::replay`]).
//! - If the chip does not work after [`ATTEMPTS`] restarts, all jobs end with `EIO` and submissions return `EBUSY`.
//!   An event of the device, "wedged", tells user space that a new probe is needed.
//!
//! # Bounds
//!
//! A hang is noticed `hang_ms` and at most 0.6 s after the last job that completed. From then to the first job
//! executed again, or to the end of all jobs, it takes at most [`ATTEMPTS`] × 1.1 s (the limit of [`Gpu::reset`]),
//! and 0.5 s more if other rings are busy. Each hang bans its client. So a waiter waits for at most as many hangs as
//! there are clients with jobs before its own.
//!
//! All of recovery is a fence-signalling section. Telling user space may allocate, so a second worker does it, the
//! [`Notifier`](crate::notifier::Notifier).

use kernel::{
    fmt,
    prelude::*,
    sync::Arc,
    time::{
        delay::fsleep,
        Delta,
        Instant,
        Monotonic, //
    },
};

use crate::{
    client_record::ClientRecord,
    corner::{
        events,
        fence::Signalling,
        wedge::{
            Notice,
            Way, //
        }, //
    },
    family::{
        gpu::Gpu,
        ring::{
            Ring,
            Slot, //
        },
        Family,
        Uapi, //
    },
    memory::usage::Use,
    portable::replay::{
        self,
        Behind,
        Fate,
        Memories,
        Standing, //
    },
    running::{
        RingOf,
        Running, //
    },
    submit::lane::Lane,
    timeline, //
};

/// How often the chip is restarted before it counts as wedged.
const ATTEMPTS: u32 = 3;

/// How a hang was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// No job has completed for `hang_ms`.
    Silence,
    /// The chip reports it.
    Report,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Silence => write!(f, "no fence in {} ms", crate::hang_ms()),
            Cause::Report => f.write_str("as the chip reports"),
        }
    }
}

/// A hang that the watchdog has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hang {
    pub(crate) cause: Cause,
    /// Number of the last job that had completed. The ring hangs in the job after it.
    pub(crate) after: u64,
}

/// The client of a job.
struct Whose<'c>(Option<&'c ClientRecord>);

impl fmt::Display for Whose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(record) => record.task().fmt(f),
            None => f.write_str("the kernel"),
        }
    }
}

/// Return the error of a job with this fate.
fn verdict(fate: Fate) -> Result {
    match fate {
        Fate::Again => Ok(()),
        Fate::Hung | Fate::Spoilt | Fate::Interrupted => Err(EIO),
        Fate::Cancelled => Err(ECANCELED),
    }
}

impl<'a, F: Family> Running<'a, F> {
    /// Reset the GPU because ring `index` hangs, and execute the jobs of other clients again. If that fails, stop the
    /// GPU until a new probe. If the ring has made progress after all, only tell the watchdog so.
    ///
    /// Only the worker calls it. On return either the rings run, or no fence is pending. Allocates nothing.
    pub(crate) fn recover(&self, index: usize, hang: Hang) {
        let signalling = Signalling::begin();
        let mut stopped = self.stopped.lock();
        let Some((_, lane)) = self.ring(index) else {
            return;
        };
        if *stopped {
            return;
        }
        self.pause();
        self.look_and_ask();
        // If the ring has made progress since the verdict, whichever thread noticed it, there was no hang.
        if lane.timeline().progress().signalled == hang.after {
            let notice = self.reset(index, hang, &mut stopped);
            *self.notice.lock() = Some(notice);
            self.notifier.hasten();
        }
        self.watchdog.restart();
        self.unpause();
        drop(stopped);
        drop(signalling);
    }

    /// Stop, judge, restart. Return the notice for user space.
    fn reset(&self, index: usize, hang: Hang, stopped: &mut bool) -> Notice {
        let begin = Instant::<Monotonic>::now();
        events::reset(index, hang.after + 1);
        // If the notifier is publishing an earlier state at this moment, that state has to suffice.
        if let Some(mut snapshot) = self.snapshot.try_lock() {
            snapshot.take(self, index);
        }
        self.let_others_finish(index);
        self.gpu.quiesce();
        // A job that completed until this moment is a success, even if its report was cut off.
        let answers = self.look_and_ask();
        self.data().count_reset();
        // No client is guilty of the loss of a device that is gone.
        let guilty = if answers {
            self.judge(index, hang)
        } else {
            None
        };
        let task = guilty.as_ref().map(|record| *record.task());

        let attempts = if answers { ATTEMPTS } else { 0 };
        for attempt in 1..=attempts {
            let result = self.gpu.reset().and_then(|()| self.replay());
            match result {
                Ok(jobs) => {
                    dev_notice!(
                        self.pdev,
                        "GPU reset in {} ms, {} jobs are executed again\n",
                        begin.elapsed().as_millis(),
                        jobs
                    );
                    return Notice {
                        way: Way::Nothing,
                        guilty: task,
                    };
                }
                Err(error) => {
                    dev_err!(self.pdev, "GPU reset {} failed: {:?}\n", attempt, error);
                    self.gpu.quiesce();
                    self.look_and_ask();
                }
            }
        }
        dev_err!(
            self.pdev,
            "the GPU {}: stopped until a new probe\n",
            if answers {
                "does not work any more"
            } else {
                "does not answer"
            }
        );
        self.stop_locked(stopped, EBUSY, EIO);
        Notice {
            way: Way::Rebind,
            guilty: task,
        }
    }

    /// Let the rings other than `index`, which hangs, finish what they have begun. Return when they are idle, or when
    /// the time is up.
    fn let_others_finish(&self, index: usize) {
        let busy = |(ring, lane): (usize, &Pin<KBox<Lane<F>>>)| {
            ring != index && lane.timeline().progress().busy() && self.has_begun(lane)
        };
        for _ in 0..replay::SETTLE_MS {
            if !self.lanes.iter().enumerate().any(busy) {
                return;
            }
            fsleep(Delta::from_millis(1));
            self.look_and_ask();
        }
    }

    /// Find the guilty client, if there is one, and decide for each job whether it is executed again.
    fn judge(&self, index: usize, hang: Hang) -> Option<Arc<ClientRecord>> {
        let mut guilty = None;
        // Memories on the chip that still hold the data of their last owner.
        let mut lost = Memories::NONE;
        if let Some((_, lane)) = self.ring(index) {
            let hung = lane.timeline().judge_first(hang.after, |hangs, load| {
                if let Some(record) = &load.record {
                    record.convict();
                    self.data().hangs.record(load.process);
                    guilty = Some(record.clone());
                }
                let verdict = verdict(replay::fate_of_hung(load.record.is_none(), hangs));
                if let (None, Err(_)) = (&load.record, verdict) {
                    load.uses.iter().for_each(Use::doom);
                    lost = load.memories;
                }
                verdict
            });
            let committed = lane.timeline().progress().committed;
            match hung {
                Some(job) => dev_err!(
                    self.pdev,
                    "ring {} hung, {}: job {} of {}, by {}\n",
                    index,
                    hang.cause,
                    job,
                    committed,
                    Whose(guilty.as_deref())
                ),
                None => dev_notice!(
                    self.pdev,
                    "ring {} was slow, {}: job {} of {} completed before the reset\n",
                    index,
                    hang.cause,
                    hang.after + 1,
                    committed
                ),
            }
        }
        let reset = self.data().resets();
        let done = self.done();
        for (ring, lane) in self.lanes.iter().enumerate() {
            lane.timeline().judge(|oldest, command, load| {
                let banned = load
                    .record
                    .as_ref()
                    .is_some_and(|c| c.is_banned() || self.data().hangs.refuses(&load.process));
                let fate = replay::fate(Standing {
                    is_kernel: load.record.is_none(),
                    is_banned: banned,
                    relies_on_lost: load.memories.meets(lost)
                        || load.uses.iter().any(Use::is_doomed),
                    has_begun: oldest && ring != index && command.behind.is_over(&done),
                });
                if let (Some(record), false) = (&load.record, banned) {
                    record.disturb(reset);
                }
                verdict(fate)
            });
        }
        F::Uapi::lost(&self.data().uapi, lost);
        // As soon as a fence has signalled, other threads rely on its result.
        for lane in self.lanes.iter() {
            lane.timeline().end_condemned();
        }
        guilty
    }

    /// Put all jobs under way on the rings again. Return how many of them are executed.
    fn replay(&self) -> Result<u64> {
        for lane in self.lanes.iter() {
            let mut pool = lane.pool().lock();
            // The jobs of the last client may be among those that are not executed.
            pool.forget_client();
            pool.clear_semaphores();
        }
        let timeline = |index: usize| Some(&**self.lanes.get(index)?.timeline());
        timeline::replay(timeline, |index, seqno, command| {
            let (ring, lane) = self.ring(index).ok_or(EINVAL)?;
            let behind = command.map_or(Behind::NONE, |command| command.behind);
            let semaphores = RingOf::<'a, F>::SEMAPHORE_DWORDS;
            let dwords = RingOf::<'a, F>::JOB_DWORDS + behind.rings().count() * semaphores;
            let place = lane.pool().lock().semaphores();
            for other in behind.rings() {
                let (ring, _) = self.ring(other).ok_or(EINVAL)?;
                let mut signal = ring.reserve(semaphores)?;
                signal.signal(place.of(other));
                signal.kick();
            }
            let mut slot = ring.reserve(dwords)?;
            for other in behind.rings() {
                slot.wait(place.of(other));
            }
            if let Some(command) = command {
                slot.change_client();
                slot.ib(command.ib);
            }
            slot.fence(seqno as u32);
            slot.kick();
            Ok(())
        })
    }
}
