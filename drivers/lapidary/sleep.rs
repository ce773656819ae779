// SPDX-License-Identifier: GPL-2.0 OR MIT

//! System sleep. The GPU is made quiet, may lose all its state, and is started again.
//!
//! A sleeping machine preserves its system memory. So before it sleeps, all content moves there. Objects leave VRAM
//! while swap space can still be used ([`Running::prepare_sleep`]). Then the rings run empty, jobs release what they
//! held, and objects lose their addresses in the GTT window, so that nothing in the page table has to be preserved
//! ([`Running::sleep`]).
//!
//! After sleep no part of VRAM is known to be zero.
//!
//! On wake-up ([`Running::wake`]) the family starts the chip as if it had never run. The indirect buffers are entered
//! in the page table again, and the self-test checks that the chip works. Objects are given addresses, and move back
//! to VRAM, when the next job needs them. CPU mappings fault.
//!
//! User space is frozen meanwhile, except the process that asked for sleep. Submissions of clients that are not
//! frozen wait ([`Running::pause`]). If a step fails before the machine sleeps, it stays awake and the GPU continues.
//! If the chip does not start again, it is wedged, and all that is in system memory is preserved.

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
    /// Move out of VRAM what must survive.
    ///
    /// # Errors
    ///
    /// Any error that keeps an object from moving. The machine then has to stay awake.
    pub(crate) fn prepare_sleep(&self) -> Result {
        if !self.is_working() {
            return Ok(());
        }
        moves::evict_all(self)
    }

    /// Make the GPU quiet. No register is accessed between its return and [`Running::wake`].
    ///
    /// Waits for jobs under way. They complete, or the watchdog ends them.
    ///
    /// # Errors
    ///
    /// As [`Running::prepare_sleep`]; `EBUSY` if jobs do not end; `ERESTARTSYS` if a signal arrives; `ENOMEM`. After
    /// an error the GPU continues.
    pub(crate) fn sleep(&self) -> Result {
        self.prepare_sleep()?;
        self.pause();
        self.settle().inspect_err(|_| self.unpause())
    }

    /// End all work and stop the chip. Submissions are paused.
    fn settle(&self) -> Result {
        for lane in self.lanes.iter() {
            // Wait until all jobs have released what they held. The timeout is twice the time in which a hang is
            // noticed, because the first job may have to be executed again.
            while lane.timeline().wait_for_drop(2 * crate::hang_ms())? {}
        }
        if !self.is_working() {
            return Ok(());
        }
        self.data().memory.vacate()?;
        self.data().memory.vram().forget();
        // Not under the lock of `stopped`. Suspending allocates, and fences depend on that lock.
        self.gpu.suspend()?;
        let stopped = self.stopped.lock();
        self.asleep.store(!*stopped, Relaxed);
        Ok(())
    }

    /// Start the GPU again.
    ///
    /// # Errors
    ///
    /// Any. The GPU is stopped then, as after a hang from which it could not be recovered.
    pub(crate) fn wake(&self) -> Result {
        if !self.asleep.load(Relaxed) {
            // It was not working before it slept.
            self.unpause();
            return Ok(());
        }
        let result = self.rouse();
        // Whether this succeeded or not, the GPU is not quiet any more.
        let stopped = self.stopped.lock();
        self.asleep.store(false, Relaxed);
        drop(stopped);
        if result.is_err() {
            // Stop the GPU before submissions continue.
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
