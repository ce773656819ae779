// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sleep: the GPU is made quiet, may lose everything, and is brought up again.
//!
//! What a sleeping machine preserves is its system memory. So before it sleeps, all that matters moves there: objects
//! leave VRAM while swap space can still be used ([`Running::prepare_sleep`]); then the rings run empty, what jobs
//! held is given back, and objects lose their addresses in the GTT window, so that nothing in the page table is worth
//! keeping ([`Running::sleep`]).
//!
//! What was known to be zero in VRAM is not known any more.
//!
//! Afterwards ([`Running::wake`]) the family starts the chip as if it had never run, the indirect buffers get their
//! place in the page table again, and the self-test tells whether it works. Objects find their addresses, and their
//! way back to VRAM, when the next job needs them; CPU mappings fault.
//!
//! User space is frozen in all this, but for whoever asked for it; submissions wait ([`Running::pause`]) from clients
//! that are not. Where something fails before the machine sleeps, it stays awake and the GPU goes on; where the chip
//! does not come back, it is wedged, and all that is in system memory is still there.

use kernel::{
    prelude::*,
    sync::atomic::Relaxed, //
};

use crate::{
    family::{
        gpu::Gpu,
        Family, //
    },
    residency::moves,
    running::Running, //
};

impl<F: Family> Running<'_, F> {
    /// Moves what must survive out of VRAM.
    ///
    /// # Errors
    ///
    /// Any that keeps an object from moving: the machine has to stay awake.
    pub(crate) fn prepare_sleep(&self) -> Result {
        if !self.is_working() {
            return Ok(());
        }
        moves::evict_all(self)
    }

    /// Makes the GPU quiet. Nothing touches a register between its return and [`Running::wake`].
    ///
    /// Waits for jobs under way, which end or are ended by the watchdog.
    ///
    /// # Errors
    ///
    /// As [`Running::prepare_sleep`]; `EBUSY` if jobs do not come to an end; `ERESTARTSYS` if a signal arrives;
    /// `ENOMEM`. The GPU goes on then.
    pub(crate) fn sleep(&self) -> Result {
        self.prepare_sleep()?;
        self.pause();
        self.settle().inspect_err(|_| self.unpause())
    }

    /// Ends all work and stops the chip. Submissions are paused.
    fn settle(&self) -> Result {
        for lane in self.lanes.iter() {
            // Until all of them have given back what they held. Twice the time in which a hang is noticed: the first
            // job may have to be done again.
            while lane.timeline().wait_for_drop(2 * crate::hang_ms())? {}
        }
        if !self.is_working() {
            return Ok(());
        }
        self.data().memory.vacate()?;
        self.data().memory.vram().forget();
        // Not under the lock: it takes memory, and fences depend on that lock.
        self.gpu.suspend()?;
        let stopped = self.stopped.lock();
        self.asleep.store(!*stopped, Relaxed);
        Ok(())
    }

    /// Brings the GPU up again.
    ///
    /// # Errors
    ///
    /// Any. The GPU is stopped then, as after a hang that cannot be mended.
    pub(crate) fn wake(&self) -> Result {
        if !self.asleep.load(Relaxed) {
            // It did not work before it slept.
            self.unpause();
            return Ok(());
        }
        let result = self.rouse();
        // Whatever has come of it, it is not quiet any more.
        let stopped = self.stopped.lock();
        self.asleep.store(false, Relaxed);
        drop(stopped);
        if result.is_err() {
            // Before submissions go on.
            self.stop(EBUSY, EIO);
        }
        self.unpause();
        result.and_then(|()| self.self_test()).inspect_err(|error| {
            dev_err!(
                self.pdev,
                "the GPU does not come back from sleep: {:?}\n",
                error
            );
            self.stop(EBUSY, EIO);
        })
    }

    fn rouse(&self) -> Result {
        self.gpu.resume()?;
        let memory = &self.data().memory;
        for lane in self.lanes.iter() {
            lane.pool().lock().map(memory, self.gpu.space())?;
        }
        Ok(())
    }
}
