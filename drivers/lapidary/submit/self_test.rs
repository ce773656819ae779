// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The self-test of a GPU that has started.

use kernel::{
    io::{
        Io,
        IoBase, //
    },
    page::PAGE_SIZE,
    prelude::*, //
};

use crate::{
    corner::wc,
    family::{
        gpu::Gpu,
        Family, //
    },
    memory::vram::Lot,
    portable::placement::Part,
    running::Running,
    submit::kernel_stream::KernelStream, //
};

/// The value with which the self-test fills its page.
const TEST_VALUE: u32 = 0x1a91_da47;

/// Two pages of VRAM.
struct VramPages<'a> {
    pages: Lot,
    window: wc::Window<'a>,
}

impl<'a> VramPages<'a> {
    /// Take two pages, and set them to zero.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `ENOSPC` if VRAM is full; `EINVAL` if the CPU does not see them.
    fn new<F: Family>(running: &Running<'a, F>) -> Result<Self> {
        let vram = running.data().memory.vram();
        let (size, align) = (2 * PAGE_SIZE as u64, PAGE_SIZE as u64);
        let pages = vram.find(size, align, Part::Visible)?;
        vram.wait_for_recalled()?;
        let bus = vram.bus_address(pages.start()).ok_or(EINVAL)?;
        let window = wc::Window::at(running.pdev(), bus, 2 * PAGE_SIZE)?;
        for offset in (0..2 * PAGE_SIZE).step_by(size_of::<u32>()) {
            window.as_view().try_write32(0, offset)?;
        }
        Ok(Self { pages, window })
    }

    /// Return whether every dword is `value`.
    fn test(&self, value: u32) -> bool {
        let mut offsets = (0..2 * PAGE_SIZE).step_by(size_of::<u32>());
        offsets.all(|offset| self.window.as_view().try_read32(offset) == Ok(value))
    }
}

impl<'a, F: Family> Running<'a, F> {
    /// Test each ring. Execute a fence and an indirect buffer that fills a page and copies it to the next one, and check
    /// both pages. They are in system memory if the ring reaches it, else in VRAM.
    ///
    /// # Errors
    ///
    /// `EIO` after a line in the log that says what is wrong; as [`crate::submit::job::Job::prepare`].
    pub(crate) fn self_test(&self) -> Result {
        for index in 0..self.lanes.len() {
            self.test_ring(index)?;
        }
        dev_info!(self.pdev, "IB test passed\n");
        Ok(())
    }

    /// Test ring `index`.
    fn test_ring(&self, index: usize) -> Result {
        let (_, lane) = self.ring(index).ok_or(ENODEV)?;
        let page = PAGE_SIZE as u64;
        let vram = match <F::Gpu<'a> as Gpu<'a>>::REACHES_SYSTEM {
            true => None,
            false => Some(VramPages::new(self)?),
        };
        let addr = match &vram {
            None => lane.pool().lock().test_pages(),
            Some(pages) => pages.pages.start(),
        };
        let mut stream = KernelStream::on(self, index)?;
        stream.fill(addr, page, TEST_VALUE)?;
        stream.copy(addr + page, addr, page)?;
        let fence = stream.run()?;
        // If the ring hangs, the watchdog ends this earlier.
        fence.wait(false, 2 * crate::hang_ms())?;
        match fence.result() {
            Some(Ok(()))
                if match &vram {
                    None => lane.pool().lock().test(TEST_VALUE),
                    Some(pages) => pages.test(TEST_VALUE),
                } =>
            {
                return Ok(())
            }
            Some(Ok(())) => dev_err!(
                self.pdev,
                "IB test on ring {} failed: the pages were not filled\n",
                index
            ),
            Some(Err(error)) => {
                dev_err!(self.pdev, "IB test on ring {} failed: {:?}\n", index, error)
            }
            None => dev_err!(
                self.pdev,
                "IB test on ring {} failed: the fence did not signal\n",
                index
            ),
        }
        Err(EIO)
    }
}
