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
//! The worker recovers ([`Running::recover`]): submissions wait, other rings get some time to finish what they have
//! begun ([`crate::portable::replay`]), the chip is stopped, the oldest job of the ring is to blame
//! ([`crate::timeline`] says why), its client is convicted, the chip restarts ([`Gpu::reset`]), and all jobs that are
//! not the convict's are executed again. Their words lie in the lane's indirect buffers until their fences signal, so
//! nothing is allocated, copied, or asked of user space.
//!
//! The watchdog's verdict is about one job, the one behind [`Hang::after`]. If that one completes all the same before
//! the chip stands still, no client is to blame: the oldest job has only just begun then.
//!
//! - The hanging job ends with `EIO`, the convict's other jobs with `ECANCELED`; its submissions are refused with
//!   `ECANCELED` from now on. What its jobs should have drawn is not there.
//! - A job of the kernel is tried once more, as what was executed before it may be to blame. If it hangs again it ends
//!   with `EIO`. A move has not happened then. If it was a clear, the jobs that use its object end with `EIO`, too, as
//!   they would see what it should have removed; their clients are not to blame ([`crate::portable::replay`]).
//! - If the chip does not work after [`ATTEMPTS`] restarts all jobs end with `EIO` and submissions get `EBUSY`; user
//!   space is told by an event of the device, "wedged", that a new probe is needed.
//!
//! # Bounds
//!
//! A hang is noticed `hang_ms` and at most 0.6 s after the last job that completed. From then to the first job executed
//! again, or to the end of all jobs, it takes at most [`ATTEMPTS`] × 1.1 s, the bound of [`Gpu::reset`], and 0.5 s
//! more if other rings are busy. Each hang bans
//! its client, so that a waiter waits for at most so many hangs as there are clients with jobs before its own.
//!
//! From beginning to end this is a fence-signalling section. What may allocate — telling user space — is left to a
//! second worker, the [`Notifier`](crate::notifier::Notifier).

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
    /// The chip says so.
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

/// A hang, as the watchdog has found it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hang {
    pub(crate) cause: Cause,
    /// Number of the last job that had completed: the ring hangs in the one after it.
    pub(crate) after: u64,
}

/// Whose job it was.
struct Whose<'c>(Option<&'c ClientRecord>);

impl fmt::Display for Whose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(record) => record.task().fmt(f),
            None => f.write_str("the kernel"),
        }
    }
}

/// The error of a job with this fate.
fn verdict(fate: Fate) -> Result {
    match fate {
        Fate::Again => Ok(()),
        Fate::Hung | Fate::Spoilt | Fate::Interrupted => Err(EIO),
        Fate::Cancelled => Err(ECANCELED),
    }
}

impl<'a, F: Family> Running<'a, F> {
    /// Resets the GPU because ring `index` hangs, and has the jobs of the innocent executed again; or stops it for
    /// good. If the ring gets on after all it only says so to the watchdog.
    ///
    /// Only the worker calls it. When it returns either the rings run, or no fence is pending. Allocates nothing.
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
        // If the ring has got on since the verdict, wherever that was seen, it was no hang.
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

    /// Stops, judges, restarts. Says what has come of it.
    fn reset(&self, index: usize, hang: Hang, stopped: &mut bool) -> Notice {
        let begin = Instant::<Monotonic>::now();
        events::reset(index, hang.after + 1);
        // If the last state is being made known at this moment, that one has to do.
        if let Some(mut snapshot) = self.snapshot.try_lock() {
            snapshot.take(self, index);
        }
        self.let_others_finish(index);
        self.gpu.quiesce();
        // What completed until this moment is a success, also if its report was cut off.
        let answers = self.look_and_ask();
        self.data().count_reset();
        // No client is to blame for a device that is gone.
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

    /// Lets the rings other than `index`, which hangs, finish what they have begun: until they are idle, or the time is
    /// up.
    fn let_others_finish(&self, index: usize) {
        let busy = |(ring, lane): (usize, &Pin<KBox<Lane<F>>>)| {
            ring != index && lane.timeline().progress().busy()
        };
        for _ in 0..replay::SETTLE_MS {
            if !self.lanes.iter().enumerate().any(busy) {
                return;
            }
            fsleep(Delta::from_millis(1));
            self.look_and_ask();
        }
    }

    /// Finds the guilty client, if there is one, and decides for each job whether it is executed again.
    fn judge(&self, index: usize, hang: Hang) -> Option<Arc<ClientRecord>> {
        let mut guilty = None;
        // Memories on the chip that hold what their last owner left.
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
        for (ring, lane) in self.lanes.iter().enumerate() {
            lane.timeline().judge(|oldest, load| {
                let banned = load
                    .record
                    .as_ref()
                    .is_some_and(|c| c.is_banned() || self.data().hangs.refuses(&load.process));
                let fate = replay::fate(Standing {
                    is_kernel: load.record.is_none(),
                    is_banned: banned,
                    relies_on_lost: load.memories.meets(lost)
                        || load.uses.iter().any(Use::is_doomed),
                    // No ring waits for another one before it begins a job.
                    has_begun: oldest && ring != index,
                });
                if let (Some(record), false) = (&load.record, banned) {
                    record.disturb(reset);
                }
                verdict(fate)
            });
        }
        F::Uapi::lost(&self.data().uapi, lost);
        // As soon as a fence has signalled, others rely on what it says.
        for lane in self.lanes.iter() {
            lane.timeline().end_condemned();
        }
        guilty
    }

    /// Puts all jobs under way on the rings again; says how many of them are executed.
    fn replay(&self) -> Result<u64> {
        for lane in self.lanes.iter() {
            // The last client's jobs may be among those that are not executed.
            lane.pool().lock().forget_client();
        }
        let timeline = |index: usize| Some(&**self.lanes.get(index)?.timeline());
        timeline::replay(timeline, |index, seqno, ib| {
            let (ring, _) = self.ring(index).ok_or(EINVAL)?;
            let mut slot = ring.reserve(RingOf::<'a, F>::JOB_DWORDS)?;
            if let Some(ib) = ib {
                slot.change_client();
                slot.ib(ib);
            }
            slot.fence(seqno as u32);
            slot.kick();
            Ok(())
        })
    }
}
