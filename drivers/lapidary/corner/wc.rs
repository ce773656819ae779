// SPDX-License-Identifier: GPL-2.0 OR MIT

//! VRAM as the CPU sees it: write-combined, and without a claim to the region.
//!
//! A BAR of the GPU is a window to its memory. Stores through it should be combined into bursts. x86 combines them
//! only if every mapping of the range has this memory type. [`Combining`] records the type for the whole window
//! (visible in `pat_memtype_list`). [`Window`] maps a part of the window for the kernel.
//!
//! Neither requests the region. On a posted card the driver of the firmware's framebuffer has claimed part of that
//! BAR, and its picture must survive. The reserved range in the VRAM manager keeps this driver away from the picture.

use core::{
    marker::PhantomData,
    num::NonZeroUsize,
    ops::Range, //
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
    page::PAGE_SIZE,
    pci,
    prelude::*, //
};

use crate::corner::extra;

/// BARs of a PCI device.
const BARS: u32 = 6;

/// The memory type of a BAR is write-combining until this is dropped, except for some ranges.
pub struct Combining<'bound> {
    _pieces: KVec<Piece>,
    _bound: PhantomData<&'bound pci::Device<device::Bound>>,
}

/// A range of device memory whose type is recorded.
struct Piece {
    start: u64,
    size: u64,
}

impl<'bound> Combining<'bound> {
    /// Record the type for all of BAR `bar` but `except`. The exceptions are offsets. They may overlap or be empty,
    /// and are widened to whole pages. To be done before any other mapping of the BAR.
    ///
    /// The range of the firmware's framebuffer must be among the exceptions. It is a resource of its own inside of
    /// the BAR, its driver chooses the type, and the kernel warns of a range that spans it.
    ///
    /// # Errors
    ///
    /// `EBUSY` if part of the rest is mapped with another type at the moment (by a framebuffer driver that maps its
    /// memory uncached); `ENODEV` if the BAR is empty; `ENOMEM`.
    pub fn new(
        pdev: &'bound pci::Device<device::Bound>,
        bar: u32,
        except: &[Range<u64>],
    ) -> Result<Self> {
        let start = pdev.resource_start(bar)?;
        let size = pdev.resource_len(bar)?;
        if size == 0 {
            return Err(ENODEV);
        }
        let mut pieces = KVec::with_capacity(except.len() + 1, GFP_KERNEL)?;
        for range in Complement::new(size, except) {
            let piece = Piece::new(start + range.start, range.end - range.start)?;
            pieces.push(piece, GFP_KERNEL)?;
        }
        Ok(Self {
            _pieces: pieces,
            _bound: PhantomData,
        })
    }
}

impl Piece {
    fn new(start: u64, size: u64) -> Result<Self> {
        // SAFETY: The function takes numbers and keeps its own record of the range.
        to_result(unsafe { extra::lapidary_wc_reserve(start, size) })?;
        Ok(Self { start, size })
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: The same range was recorded in `new`.
        unsafe { extra::lapidary_wc_free(self.start, self.size) };
    }
}

/// The complement of some ranges in `0..size`, from low to high.
struct Complement<'a> {
    at: u64,
    size: u64,
    except: &'a [Range<u64>],
}

impl<'a> Complement<'a> {
    fn new(size: u64, except: &'a [Range<u64>]) -> Self {
        Self {
            at: 0,
            size,
            except,
        }
    }
}

impl Iterator for Complement<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        const PAGE: u64 = PAGE_SIZE as u64;

        while self.at < self.size {
            let start = self.at;
            let hole = self
                .except
                .iter()
                .filter(|range| !range.is_empty())
                .map(|range| {
                    let end = range.end.checked_next_multiple_of(PAGE);
                    range.start / PAGE * PAGE..end.unwrap_or(u64::MAX)
                })
                .filter(|range| range.end > start)
                .min_by_key(|range| range.start)
                .unwrap_or(self.size..self.size);
            self.at = hole.end;
            if hole.start > start {
                return Some(start..hole.start.min(self.size));
            }
        }
        None
    }
}

/// A write-combined kernel mapping of part of a BAR. Dropping it unmaps it.
///
/// Access is by [`kernel::io::Io`]. Stores may arrive late and out of order. To make sure that they have arrived,
/// read something back, or write a register behind a barrier.
///
/// # Invariants
///
/// `io` is mapped.
pub struct Window<'bound> {
    io: MmioRaw<Region<0>>,
    _bound: PhantomData<&'bound pci::Device<device::Bound>>,
}

impl<'bound> Window<'bound> {
    /// Map `size` bytes from byte `offset` of BAR `bar` on.
    ///
    /// # Errors
    ///
    /// `EINVAL` if this is empty or not inside the BAR; `ENOMEM`.
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
                // SAFETY: Mapped above, and no other code knows of it.
                unsafe { bindings::iounmap(addr as *mut c_void) };
                Err(e)
            }
        }
    }

    /// Map `size` bytes of device memory from bus address `bus` on, in the BAR that contains them.
    ///
    /// # Errors
    ///
    /// `EINVAL` if this is empty or not inside of one BAR; `ENOMEM`.
    pub fn at(pdev: &'bound pci::Device<device::Bound>, bus: u64, size: usize) -> Result<Self> {
        for bar in 0..BARS {
            let (Ok(start), Ok(len)) = (pdev.resource_start(bar), pdev.resource_len(bar)) else {
                continue;
            };
            if bus >= start && bus - start < len {
                return Self::new(pdev, bar, bus - start, size);
            }
        }
        Err(EINVAL)
    }

    /// Return the address of the mapping, for the other abstractions of the corner.
    pub(super) fn address(&self) -> *const c_void {
        self.io.addr() as *const c_void
    }

    /// Return the length in bytes.
    pub fn size(&self) -> usize {
        self.io.size()
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        // SAFETY: Mapped in `new`. Views borrow the window, so none is left.
        unsafe { bindings::iounmap(self.io.addr() as *mut c_void) };
    }
}

impl<'a> IoBase<'a> for &'a Window<'_> {
    type Backend = MmioBackend;
    type Target = Region<0>;

    fn as_view(self) -> Mmio<'a, Self::Target> {
        // SAFETY: By the invariant the range is mapped. The view does not outlive the window.
        unsafe { Mmio::from_raw(self.io) }
    }
}

#[kunit_tests(lapidary_wc)]
mod tests {
    use super::*;

    const PAGE: u64 = PAGE_SIZE as u64;

    /// Return what is left of 16 pages. A range is its first byte and the byte behind its last.
    fn complement(except: &[(u64, u64)]) -> Result<KVec<(u64, u64)>> {
        let mut ranges = KVec::new();
        for &(start, end) in except {
            ranges.push(start..end, GFP_KERNEL)?;
        }
        let mut complement = KVec::new();
        for range in Complement::new(16 * PAGE, &ranges) {
            complement.push((range.start, range.end), GFP_KERNEL)?;
        }
        Ok(complement)
    }

    #[test]
    fn nothing_is_excepted() -> Result {
        assert!(complement(&[])?[..] == [(0, 16 * PAGE)]);
        assert!(complement(&[(0, 0), (5 * PAGE, 5 * PAGE)])?[..] == [(0, 16 * PAGE)]);
        Ok(())
    }

    #[test]
    fn exceptions_are_widened_and_may_overlap() -> Result {
        let picture = (4 * PAGE + 1, 6 * PAGE - 1);
        let more = (5 * PAGE, 7 * PAGE);
        let inside = (4 * PAGE, 5 * PAGE);
        let vga = (0, PAGE / 2);
        let left = [(PAGE, 4 * PAGE), (7 * PAGE, 16 * PAGE)];
        assert!(complement(&[picture, more, inside, vga])?[..] == left);
        Ok(())
    }

    #[test]
    fn exceptions_may_reach_the_end_or_beyond() -> Result {
        assert!(complement(&[(15 * PAGE, 16 * PAGE)])?[..] == [(0, 15 * PAGE)]);
        assert!(complement(&[(15 * PAGE, u64::MAX)])?[..] == [(0, 15 * PAGE)]);
        assert!(complement(&[(20 * PAGE, 21 * PAGE)])?[..] == [(0, 16 * PAGE)]);
        assert!(complement(&[(0, 16 * PAGE)])?.is_empty());
        Ok(())
    }
}
