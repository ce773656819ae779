// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Restarting the engines after a hang, or after they have lost their state.
//!
//! The chip has no single reset that restores everything and keeps memory. One of the engines hangs, or the command
//! processor (CP) that feeds them. Each is reset by itself:
//!
//! 1. The CP is reset by the seven steps of R5xx 4.8. The last five of them are step 5 here. If an engine does not
//!    become idle, all engines get the soft reset at the same time (R5xx 9.1.9 names GA, CP and VAP; `rs600_asic_reset`
//!    of Linux' `radeon` does these, too).
//! 2. The 3D pipe is reset by a raster reset of two halves (R5xx 9.2.1, 9.4.1). Steps 1 and 2 are [`cp::stop`], which
//!    is called before [`Gpu::restart`].
//! 3. The engines must be idle now. The host's read buffer is emptied, as behind a fence. The registers that clients
//!    cannot write are set as at the first start ([`pipes`]).
//! 4. The microcode is written again and read back. It is right even if the CP has overwritten it.
//! 5. The ring is emptied and the CP started. The ring test sets the first state of the engines, and shows that the CP
//!    executes and reports.
//!
//! Memory controller, page table, display and clocks keep their state, because none of them takes commands from the
//! ring. Linux resets the memory controller too, which requires the display to be stopped.

use kernel::{
    io::Io,
    prelude::*, //
};

use lapidary::hardware::board;

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
    /// Do steps 3 to 5, and start with an empty ring.
    ///
    /// [`cp::stop`] has stopped the engines, the page table is in force, and the card is posted. Allocates nothing.
    /// Sleeps for at most 0.9 s: four times 20 ms until the engines are idle, twice 400 ms for the ring test, and some
    /// thousand register accesses.
    ///
    /// # Errors
    ///
    /// `ENODEV` for a device that does not answer, `ETIMEDOUT` if the engines do not become idle,
    /// `EIO` if microcode or ring test fail; each after one line in the log.
    pub(crate) fn restart(&self) -> Result {
        let (dev, window) = (self.pdev.as_ref(), self.window());
        board::answers(dev, is_dead(window))?;
        // Drop what the host data path has read ahead, as a fence does. It would hide what the engines have written.
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
