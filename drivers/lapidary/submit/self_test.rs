// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The self-test of a GPU that has started.

use kernel::prelude::*;

use crate::{
    family::Family,
    running::Running,
    submit::kernel_stream::KernelStream, //
};

/// The value with which the self-test fills its page.
const TEST_VALUE: u32 = 0x1a91_da47;

impl<'a, F: Family> Running<'a, F> {
    /// Test each ring. Execute a fence and an indirect buffer that fills a page of system memory and copies it to the
    /// next one, and check both pages.
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
        let addr = lane.pool().lock().test_pages();
        let page = kernel::page::PAGE_SIZE as u64;
        let mut stream = KernelStream::on(self, index)?;
        stream.fill(addr, page, TEST_VALUE)?;
        stream.copy(addr + page, addr, page)?;
        let fence = stream.run()?;
        // If the ring hangs, the watchdog ends this earlier.
        fence.wait(false, 2 * crate::hang_ms())?;
        match fence.result() {
            Some(Ok(())) if lane.pool().lock().test(TEST_VALUE) => return Ok(()),
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
