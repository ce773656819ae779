// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Starting the engines anew, after a hang or after they have lost their state.
//!
//! The chip has no single reset that brings everything back and leaves memory alone. What hangs is
//! one of the engines, or the command processor (CP) that feeds them, and each is reset by itself:
//!
//! 1. the CP by the seven steps of R5xx 4.8, of which the last five are step 5 here. With an engine that
//!    does not become idle, the soft reset goes to all engines at the same time (R5xx 9.1.9 names GA,
//!    CP and VAP; `rs600_asic_reset` of Linux' `radeon` does these, too);
//! 2. the 3D pipe by a raster reset of two halves (R5xx 9.2.1, 9.4.1). Both steps are [`cp::stop`], and come before
//!    [`Gpu::restart`];
//! 3. now the engines have to be idle. The host's read buffer is emptied, as behind a fence, and they get the
//!    registers that clients cannot write, as at the first start ([`pipes`]);
//! 4. the microcode is written again, and read back: whatever the CP had executed last, it is right
//!    now;
//! 5. the ring is empty and the CP starts; the ring test brings the first state to the engines, and
//!    shows that the CP executes and reports.
//!
//! Memory controller, page table, display and clocks keep what they have: none of them takes
//! commands from the ring. Linux resets the memory controller too, which needs the display stopped.

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    cp,
    firmware,
    gpu::Gpu,
    pipes,
    probe::is_dead,
    regs::mmio::*,
    selftest, //
};

impl Gpu<'_> {
    /// Starts anew with an empty ring, as described above.
    ///
    /// [`cp::stop`] has stopped the engines, the page table is in force, and the card is posted. Allocates nothing, sleeps
    /// for at most 0.9 s: four times 20 ms until the engines are idle, twice 400 ms for the ring test, and some thousand
    /// register accesses.
    ///
    /// # Errors
    ///
    /// `ENODEV` for a device that does not answer, `ETIMEDOUT` if the engines do not become idle,
    /// `EIO` if microcode or ring test fail; each after one line in the log.
    pub(crate) fn restart(&self) -> Result {
        let (dev, window) = (self.pdev.as_ref(), self.window());
        if is_dead(window) {
            dev_err!(dev, "device does not answer: registers read all ones\n");
            return Err(ENODEV);
        }
        // What the engines had written must not be hidden by what the CPU has read before: the ring test reports like a
        // fence.
        window.update(HOST_PATH_CNTL, |control| {
            control.with_hdp_read_buffer_invalidate(true)
        });
        pipes::set_up(self.chipset, window)
            .inspect_err(|_| dev_err!(dev, "engines do not become idle after a reset\n"))?;
        firmware::load(dev, window, &self.microcode)?;
        self.ring.empty();
        cp::start(window, &self.setup)?;
        selftest::run(dev, self.chipset, &self.ring, self.pipes.pixel)
    }
}
