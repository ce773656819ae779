// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where memory is, and the page table that leads there.

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
    /// Bus address of the CPU's window on VRAM (BAR0) and its length in bytes. The window shows VRAM from
    /// its start; what lies behind the window the CPU cannot reach.
    pub aperture: Range<u64>,
    /// VRAM that must stay as it is, as offsets in VRAM: the VGA range, the firmware's scan-out.
    /// Unused entries are empty.
    pub reserved: [Range<u64>; 4],
    /// The window of GPU addresses that goes through the page table ([`Space`]). Page aligned.
    pub gtt: Range<GpuAddr>,
}

/// A page table with entries for 4 KiB pages: that of the GTT window, which all clients share, or of one address space.
///
/// Who owns the page indices maps and unmaps them: the generic memory code those of the window.
pub trait Space: Send + Sync {
    /// Points `pages` entries from `first` on at consecutive pages from `target` on. `first` is a page index; in the
    /// window it counts from the start of [`Layout::gtt`]. The engines may do with them what `flags` say. Takes no
    /// memory.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the range leaves the table, an address does not fit an entry, or the table cannot lead to such a
    /// target; nothing is changed then.
    fn map(&self, first: usize, target: Target, pages: usize, flags: Flags) -> Result;

    /// Makes `count` entries from `first` on harmless. Out-of-range parts are ignored.
    fn unmap(&self, first: usize, count: usize);

    /// Makes earlier `map` and `unmap` calls visible to the GPU. One call for many of them.
    ///
    /// Must have returned before pages of an unmapped range are freed.
    fn flush(&self);
}
