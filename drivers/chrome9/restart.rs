// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Restarting the chip after a hang, and after sleep.
//!
//! Nothing in the manual is called a reset. The regulator's stop clears its fetch and its queue of fences ([`cr::stop`]), and
//! then everything is set up as at the first start (decision 3). Memory and the GART's table keep their content: the frame
//! buffer is memory of the computer, which does not lose it in sleep either.

use kernel::prelude::*;

use lapidary::hardware::board;

use crate::{
    cr,
    gpu::{
        engine_state,
        map_ring,
        Gpu, //
    },
    selftest, //
};

impl Gpu<'_> {
    /// Start a chip that has been stopped, with an empty ring.
    ///
    /// Allocates nothing. Sleeps for at most 1.05 s: 250 ms until the engines are idle, twice 400 ms for the ring test.
    ///
    /// # Errors
    ///
    /// `ENODEV` for a device that does not answer, `ETIMEDOUT` if the engines do not become idle, `EIO` if the ring test
    /// fails; each after one line in the log.
    pub(crate) fn restart(&self) -> Result {
        let (dev, window) = (self.pdev.as_ref(), self.window());
        board::answers(dev, cr::is_dead(window))?;
        if !cr::stop(window, cr::PATIENCE) {
            dev_err!(dev, "engines do not become idle\n");
            return Err(ETIMEDOUT);
        }
        engine_state(window, self.state.start())?;
        self.ring.empty();
        selftest::run(dev, window, &self.ring)
    }

    /// Implement [`lapidary::family::Gpu::suspend`].
    pub(crate) fn fall_asleep(&self) -> Result {
        self.irq.off();
        if cr::stop(self.window(), cr::PATIENCE) {
            return Ok(());
        }
        dev_err!(self.pdev, "engines do not become idle for sleep\n");
        // The chip has to go on.
        self.restart()?;
        Err(EBUSY)
    }

    /// Implement [`lapidary::family::Gpu::resume`].
    pub(crate) fn awake(&self) -> Result {
        board::find(self.pdev)?;
        board::answers(self.pdev.as_ref(), cr::is_dead(self.window()))?;
        self.irq.renew();
        self.gart.restart();
        map_ring(&self.gart, &self.ring, self.ring_entry)?;
        self.restart()
    }
}
