// SPDX-License-Identifier: GPL-2.0 OR MIT

//! VRAM as the CPU sees it: write-combined, and not claimed.
//!
//! BAR0 of a Radeon is a window on its memory. Stores through it should be combined into bursts, which
//! x86 does only for ranges whose memory type says so in every mapping: [`Combining`] records the type
//! for the whole window (visible in `pat_memtype_list`), [`Window`] maps a part of it for the kernel.
//!
//! Neither requests the region. On a posted card the driver of the firmware's framebuffer holds part of
//! BAR0 as its own, and its picture must survive; what keeps the two apart is the reserved range in the
//! VRAM manager.

use core::{
    marker::PhantomData,
    num::NonZeroUsize, //
};

use kernel::{
    bindings,
    device,
    error::to_result,
    io::{
        IoBase,
        Mmio,
        MmioBackend,
        MmioRaw,
        Region, //
    },
    pci,
    prelude::*, //
};

use crate::corner::extra;

/// The memory type of a range of device memory is write-combining until this is dropped.
pub struct Combining<'bound> {
    start: u64,
    size: u64,
    _bound: PhantomData<&'bound pci::Device<device::Bound>>,
}

impl<'bound> Combining<'bound> {
    /// Records the type for all of BAR `bar`. To be done before any other mapping of it.
    ///
    /// Errors: `EBUSY` if part of the range is mapped with another type at the moment (a framebuffer
    /// driver that maps its memory uncached); `ENODEV` if the BAR is empty.
    pub fn new(pdev: &'bound pci::Device<device::Bound>, bar: u32) -> Result<Self> {
        let start = pdev.resource_start(bar)?;
        let size = pdev.resource_len(bar)?;
        if size == 0 {
            return Err(ENODEV);
        }
        // SAFETY: The function takes numbers and keeps an own record of the range.
        to_result(unsafe { extra::lapidary_wc_reserve(start, size) })?;
        Ok(Self {
            start,
            size,
            _bound: PhantomData,
        })
    }
}

impl Drop for Combining<'_> {
    fn drop(&mut self) {
        // SAFETY: The same range was recorded in `new`.
        unsafe { extra::lapidary_wc_free(self.start, self.size) };
    }
}

/// A write-combined kernel mapping of part of a BAR, unmapped on drop.
///
/// Access is by [`kernel::io::Io`]. Stores may arrive late and out of order: whoever needs them to have
/// arrived reads something back or writes a register behind a barrier.
///
/// # Invariants
///
/// `io` is mapped.
pub struct Window<'bound> {
    io: MmioRaw<Region<0>>,
    _bound: PhantomData<&'bound pci::Device<device::Bound>>,
}

impl<'bound> Window<'bound> {
    /// Maps `size` bytes from byte `offset` of BAR `bar` on.
    ///
    /// Errors: `EINVAL` if this is empty or not inside the BAR, `ENOMEM`.
    pub fn new(
        pdev: &'bound pci::Device<device::Bound>,
        bar: u32,
        offset: u64,
        size: usize,
    ) -> Result<Self> {
        let start = pdev.resource_start(bar)?;
        let len = pdev.resource_len(bar)?;
        let end = offset.checked_add(size as u64).ok_or(EINVAL)?;
        if size == 0 || end > len {
            return Err(EINVAL);
        }
        // SAFETY: The range lies inside a memory BAR of a bound device.
        let addr = unsafe { extra::lapidary_wc_map(start + offset, size) };
        let addr = NonZeroUsize::new(addr as usize).ok_or(ENOMEM)?.get();
        match MmioRaw::new_region(addr, size) {
            // INVARIANT: Mapped above.
            Ok(io) => Ok(Self {
                io,
                _bound: PhantomData,
            }),
            Err(e) => {
                // SAFETY: Mapped above, and nobody else knows of it.
                unsafe { bindings::iounmap(addr as *mut c_void) };
                Err(e)
            }
        }
    }

    /// Length in bytes.
    pub fn size(&self) -> usize {
        self.io.size()
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        // SAFETY: Mapped in `new`; views borrow the window, so none is left.
        unsafe { bindings::iounmap(self.io.addr() as *mut c_void) };
    }
}

impl<'a> IoBase<'a> for &'a Window<'_> {
    type Backend = MmioBackend;
    type Target = Region<0>;

    fn as_view(self) -> Mmio<'a, Self::Target> {
        // SAFETY: By the invariant the range is mapped; the view does not outlive the window.
        unsafe { Mmio::from_raw(self.io) }
    }
}
