// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where memory is, and the page table that leads there.

use core::ops::Range;

use kernel::{
    dma::DmaAddress,
    prelude::*, //
};

/// An address as the GPU's engines see it, in bytes: VRAM and the GTT window share this space.
pub type GpuAddr = u64;

/// Where memory is, as [`Family::identify`](crate::family::Family::identify) found it.
#[derive(Clone)]
pub struct Layout {
    /// VRAM in GPU addresses. Page aligned.
    pub vram: Range<GpuAddr>,
    /// Bus address of the CPU's window on VRAM (BAR0) and its length in bytes. The window shows VRAM from
    /// its start; what lies behind the window the CPU cannot reach.
    pub aperture: Range<u64>,
    /// VRAM that must stay as it is, as offsets in VRAM: the VGA range, the firmware's scan-out.
    /// Unused entries are empty.
    pub reserved: [Range<u64>; 4],
    /// The window of GPU addresses that goes through the page table ([`Space`]). Page aligned.
    pub gtt: Range<GpuAddr>,
}

/// A page table with entries for 4 KiB pages.
///
/// The generic memory code owns the allocation of page indices; a range is mapped and unmapped by whoever
/// has allocated it.
pub trait Space: Send + Sync {
    /// Points `pages` entries from `first` (page index in [`Layout::gtt`]) on at consecutive pages of memory
    /// that start at bus address `addr`: readable, writable and snooped.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the range leaves the window or an address does not fit an entry; nothing is changed then.
    fn map(&self, first: usize, addr: DmaAddress, pages: usize) -> Result;

    /// Makes `count` entries from `first` on harmless. Out-of-range parts are ignored.
    fn unmap(&self, first: usize, count: usize);

    /// Makes earlier `map` and `unmap` calls visible to the GPU. One call for many of them.
    ///
    /// Must have returned before pages of an unmapped range are freed.
    fn flush(&self);
}
