// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The worker of a device, which is also its watchdog. It guarantees that a fence is signalled within its time limit,
//! whatever the hardware does.
//!
//! The worker looks at each ring ten times a second while jobs are under way, and twice a second while the interrupt
//! is armed for a waiter. Its findings and actions are:
//!
//! - An interrupt is lost: a fence with a waiter has completed in memory, and 500 ms later it is not signalled. The
//!   worker signals it. It then looks every 5 ms while a thread waits, until an interrupt arrives again.
//! - The chip's report is lost: there is nothing new in memory for 500 ms, but the chip's register has a higher number.
//!   The number of the register counts. The worker then reads the register every 5 ms while a thread waits, until a
//!   report arrives in memory again.
//! - A ring hangs: neither memory nor the register have a new number for `hang_ms`. The worker resets the GPU
//!   ([`Running::recover`]).
//! - The chip reports that a ring hangs ([`Event::Hang`](crate::family::gpu::Event::Hang)). The worker resets the GPU at
//!   once.
//!
//! The worker logs the first two once for each device. A fence that is only late costs nothing but time.

use kernel::{
    prelude::*,
    sync::{
        atomic::Relaxed,
        Arc, //
    },
    time::Instant, //
};

use crate::{
    corner::{
        fence::Signalling,
        workqueue::Run, //
    },
    family::{
        gpu::Gpu,
        ring::Ring,
        Family, //
    },
    recovery::{
        Cause,
        Hang, //
    },
    running::{
        RingOf,
        Running,
        TICK_MS, //
    },
    submit::lane::Lane, //
};

/// How often the worker looks while interrupts or reports are lost, in milliseconds.
const POLL_MS: u32 = 5;
/// How long the worker waits before it signals a completed fence instead of the interrupt, or reads the register of a
/// ring without progress.
const GRACE_MS: u32 = 500;

impl<'a, F: Family> Running<'a, F> {
    /// Look at ring `index` once. Return after how many milliseconds to look again, or that the ring hangs.
    fn tend(
        &self,
        index: usize,
        ring: &RingOf<'a, F>,
        lane: &Lane<F>,
    ) -> Result<Option<u32>, Hang> {
        let _signalling = Signalling::begin();
        let dog = &self.watchdog;
        let timeline = lane.timeline();
        let mut watches = dog.watches.lock();
        let Some(watch) = watches.get_mut(index) else {
            return Ok(None);
        };
        let mut next = TICK_MS;

        let completed = ring.completed();
        let overdue = timeline.overdue(completed);
        let done = timeline.progress().signalled;
        if overdue == 0 || !self.gpu.is_armed(index) {
            watch.sighted = None;
            timeline.process(completed);
        } else if dog.lost.load(Relaxed) {
            self.poll(overdue);
            timeline.process(completed);
        } else {
            match watch.sighted {
                Some((at, since)) if at == done => {
                    if since.elapsed().as_millis() >= i64::from(GRACE_MS) {
                        dog.lost.store(true, Relaxed);
                        watch.sighted = None;
                        self.poll(overdue);
                        timeline.process(completed);
                    }
                }
                _ => watch.sighted = Some((done, Instant::now())),
            }
            next = GRACE_MS;
        }

        let mut progress = timeline.progress();
        if !progress.busy() {
            watch.at = None;
            return Ok(None);
        }
        // The ring makes progress, whether its fences have signalled by now or are left to the interrupt.
        let mut moved = watch.at != Some(progress.signalled) || overdue != 0;
        // A job that waits for another ring does not execute. If that ring hangs, its own job is the oldest there.
        moved |= !self.has_begun(lane);
        if completed == progress.signalled as u32 {
            // Memory has the number of the last job, so reports arrive.
            dog.unreported.store(false, Relaxed);
        }
        if !moved {
            // The verdict is about the job after this one, whatever other threads find from here on.
            let after = progress.signalled;
            let hang = |cause| Hang { cause, after };
            let stuck = watch.since.elapsed().as_millis();
            let look = stuck >= i64::from(GRACE_MS) || dog.unreported.load(Relaxed);
            moved = look && self.ask(ring, lane);
            progress = timeline.progress();
            // The job may have ended since memory was read. Then memory has its number by now.
            if moved && ring.completed() == progress.signalled as u32 {
                dog.unreported.store(false, Relaxed);
            } else if moved {
                dog.unreported.store(true, Relaxed);
                if !dog.told.load(Relaxed) {
                    dog.told.store(true, Relaxed);
                    dev_warn!(
                        self.pdev,
                        "fences do not arrive in memory: reading registers\n"
                    );
                }
            } else if stuck > i64::from(crate::hang_ms()) {
                return Err(hang(Cause::Silence));
            } else if dog.hung.load(Relaxed) & 1u32.checked_shl(index as u32).unwrap_or(0) != 0 {
                return Err(hang(Cause::Report));
            }
        }
        if moved {
            watch.at = Some(progress.signalled);
            watch.since = Instant::now();
        }
        if timeline.is_wanted() && self.gpu.is_armed(index) {
            // The interrupt does the rest, if it is not lost. A hang is found no later than without it.
            let left = i64::from(crate::hang_ms()) - watch.since.elapsed().as_millis();
            let left = u32::try_from(left).unwrap_or(0).max(TICK_MS);
            next = next.max(GRACE_MS.min(left));
        }
        let lossy = dog.lost.load(Relaxed) || dog.unreported.load(Relaxed);
        if lossy && timeline.is_wanted() {
            next = POLL_MS;
        }
        Ok(Some(next))
    }

    /// Return whether no other ring keeps the oldest job of `lane` from being executed.
    pub(crate) fn has_begun(&self, lane: &Lane<F>) -> bool {
        let behind = lane.timeline().first(|command, _| command.behind);
        behind.is_none_or(|behind| behind.is_over(&self.done()))
    }

    /// Signal what the chip's register says is done, whatever memory says. Return whether there is any.
    fn ask(&self, ring: &RingOf<'a, F>, lane: &Lane<F>) -> bool {
        match ring.completed_slow() {
            Some(completed) => lane.timeline().process(completed).0 != 0,
            None => false,
        }
    }

    /// Count `fences` with waiters that were found by looking.
    fn poll(&self, fences: u64) {
        if self.data().count_polled(fences) {
            dev_warn!(self.pdev, "interrupts are lost: polling for fences\n");
        }
    }
}

/// The function that the worker of a device runs. It also releases what finished jobs held.
pub(crate) struct Keeper<'a, F: Family>(pub(crate) Arc<Running<'a, F>>);

impl<F: Family> Run for Keeper<'_, F> {
    fn run(&self) {
        let running = &*self.0;
        let mut next = None;
        for (index, (ring, lane)) in running.rings().enumerate() {
            let soon = match running.tend(index, ring, lane) {
                Ok(soon) => soon,
                Err(hang) => {
                    running.recover(index, hang);
                    Some(TICK_MS)
                }
            };
            next = match (next, soon) {
                (Some(a), Some(b)) => Some(u32::min(a, b)),
                (a, b) => a.or(b),
            };
        }
        running.arm();
        running.reap();
        if let Some(next) = next {
            running.worker.queue(next);
        }
    }
}
