// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where memory is, and the page table that maps it.

use core::ops::Range;

use kernel::prelude::*;

use crate::portable::mapping::{
    Flags,
    Target, //
};

/// An address as the GPU's engines see it, in bytes: VRAM and the GTT window share this space.
pub type GpuAddr = u64;

/// Where memory is, as [`Family::identify`](crate::family::Family::identify) found it.
#[derive(Clone)]
pub struct Layout {
    /// VRAM in GPU addresses. Page aligned.
    pub vram: Range<GpuAddr>,
    /// Bus address of the CPU's window on VRAM (BAR0) and its length in bytes. The window shows VRAM from its start.
    /// The CPU cannot reach VRAM behind the window.
    pub aperture: Range<u64>,
    /// VRAM that must not change, as offsets in VRAM: the VGA range, the firmware's scan-out. Unused entries are
    /// empty.
    pub reserved: [Range<u64>; 4],
    /// The window of GPU addresses that goes through the page table ([`Space`]). Page aligned.
    pub gtt: Range<GpuAddr>,
}

/// A page table with entries for 4 KiB pages. It is that of the GTT window, which all clients share, or that of one
/// address space.
///
/// The owner of the page indices maps and unmaps them. For the window this is the generic memory code.
pub trait Space: Send + Sync {
    /// Point `pages` entries from `first` on at consecutive pages from `target` on. `first` is a page index. In the
    /// window it counts from the start of [`Layout::gtt`]. `flags` say what the engines may do with the pages. Does
    /// not allocate.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the range leaves the table, an address does not fit an entry, or the table cannot point to such a
    /// target. Nothing is changed then.
    fn map(&self, first: usize, target: Target, pages: usize, flags: Flags) -> Result;

    /// Make `count` entries from `first` on harmless. Out-of-range parts are ignored.
    fn unmap(&self, first: usize, count: usize);

    /// Make earlier `map` and `unmap` calls visible to the GPU. One call serves many of them.
    ///
    /// Must have returned before pages of an unmapped range are freed.
    fn flush(&self);
}
