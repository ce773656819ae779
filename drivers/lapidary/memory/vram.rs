// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GPU's own memory.
//!
//! The ranges that the firmware uses are not allocated: the VGA text buffer and the picture that it scans out.
//! Everything else is allocated in lots. The driver's own memory has unused memory on both sides.
//!
//! Part of the free memory is known to be zero (see [`stock`]).

mod stock;

use kernel::{
    new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex, //
    },
};

use crate::{
    corner::mm::{
        Mm,
        Mode,
        Node,
        Range, //
    },
    family::space::{
        GpuAddr,
        Layout, //
    },
    portable::{
        placement::Part,
        zeroed::{
            words,
            Zeroed, //
        }, //
    }, //
};

use stock::Restock;

const PAGE: u64 = PAGE_SIZE as u64;

/// Which free pages are zero.
type Pages = Mutex<Zeroed<KVVec<u64>>>;

/// A range of VRAM. Dropping it frees the range.
pub(crate) struct Lot {
    /// Set until it is dropped.
    range: Option<Range>,
    start: GpuAddr,
    size: u64,
    pages: Arc<Pages>,
    /// The life of VRAM in which it was allocated.
    life: u64,
    zero: bool,
}

impl Lot {
    /// Return the first address.
    pub(crate) fn start(&self) -> GpuAddr {
        self.start
    }

    /// Return the number of bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Return the address behind the last one.
    pub(crate) fn end(&self) -> GpuAddr {
        self.start + self.size
    }

    /// Return whether every byte is zero. If so when it is dropped, it returns to the stock.
    pub(crate) fn is_zero(&self) -> bool {
        self.zero
    }

    /// Set whether every byte is zero. That is so if a clear has been executed without an error since the allocation
    /// (or it was zero then), and nothing could write to it after that.
    pub(crate) fn set_zero(&mut self, zero: bool) {
        self.zero = zero;
    }
}

impl Drop for Lot {
    fn drop(&mut self) {
        let mut pages = self.pages.lock();
        drop(self.range.take());
        pages.give(&(self.start..self.end()), self.zero.then_some(self.life));
    }
}

/// Addresses that stay occupied.
#[derive(Clone, Copy)]
pub(crate) struct Fixed {
    pub(crate) start: GpuAddr,
    pub(crate) size: u64,
}

impl Fixed {
    fn of(lot: &Lot) -> Self {
        Self {
            start: lot.start,
            size: lot.size,
        }
    }
}

/// VRAM for the driver's own use, and the unused memory on both sides of it. Dropping it frees both.
pub struct Kept {
    lot: Lot,
    guard: u64,
}

impl Kept {
    /// Return the first address of the driver's memory.
    pub fn start(&self) -> GpuAddr {
        self.lot.start + self.guard
    }

    /// Return its length in bytes.
    pub fn size(&self) -> u64 {
        self.lot.size - 2 * self.guard
    }
}

/// The manager of VRAM.
pub struct Vram {
    mm: Arc<Mm>,
    /// Changed together with `mm`, which has a lock of its own.
    pages: Arc<Pages>,
    restock: Arc<Mutex<Restock>>,
    /// Bytes that are being cleared for the stock.
    clearing: Atomic<u64>,
    /// First GPU address that the CPU cannot reach.
    hidden: GpuAddr,
    /// Bus address of VRAM's first byte.
    aperture: u64,
    /// Never allocated.
    _reserved: KVec<Lot>,
    /// Memory that no object occupies and that cannot be moved: the reserved lots, and the driver's own memory.
    fixed: Arc<Mutex<KVec<Fixed>>>,
    /// Bytes of the reserved lots, and how many of them the CPU sees.
    reserved: u64,
    reserved_visible: u64,
}

impl Vram {
    pub(crate) fn new(layout: &Layout) -> Result<Self> {
        let size = length(&layout.vram)?;
        let visible = length(&layout.aperture)?.min(size);
        let mm = Mm::new(layout.vram.start, size)?;
        let set = || KVVec::from_elem(0, words(size), GFP_KERNEL);
        let pages = Zeroed::new(layout.vram.start, size, set()?, set()?);
        let pages = Arc::pin_init(new_mutex!(pages), GFP_KERNEL)?;
        let reserve = |start, size| {
            Self::take(&mm, &pages, |mm, node, _| {
                Ok((mm.reserve_in(node, start, size)?, false))
            })
        };
        let mut kept = KVec::new();
        for range in layout.reserved.iter().filter(|range| !range.is_empty()) {
            // Ranges of the firmware need not be whole pages, and may be adjacent.
            let end = range.end.checked_next_multiple_of(PAGE).ok_or(EINVAL)?;
            if end > size {
                return Err(EINVAL);
            }
            let mut at = range.start / PAGE * PAGE;
            while at < end {
                match reserve(layout.vram.start + at, end - at) {
                    Ok(lot) => {
                        kept.push(lot, GFP_KERNEL)?;
                        break;
                    }
                    // It overlaps a range that is reserved already. Reserve the rest page by page.
                    Err(e) if e == ENOSPC => match reserve(layout.vram.start + at, PAGE) {
                        Ok(page) => kept.push(page, GFP_KERNEL)?,
                        Err(e) if e == ENOSPC => {}
                        Err(e) => return Err(e),
                    },
                    Err(e) => return Err(e),
                }
                at += PAGE;
            }
        }
        let hidden = layout.vram.start + visible;
        let mut fixed = KVec::with_capacity(kept.len(), GFP_KERNEL)?;
        for lot in &kept {
            fixed.push(Fixed::of(lot), GFP_KERNEL)?;
        }
        Ok(Self {
            fixed: Arc::pin_init(new_mutex!(fixed), GFP_KERNEL)?,
            reserved: mm.used(),
            reserved_visible: kept
                .iter()
                .map(|lot| lot.end().min(hidden).saturating_sub(lot.start))
                .sum(),
            hidden,
            aperture: layout.aperture.start,
            _reserved: kept,
            pages,
            restock: Arc::pin_init(new_mutex!(Restock::new()?), GFP_KERNEL)?,
            clearing: Atomic::new(0),
            mm,
        })
    }

    /// Take the range that `find` allocates. `find` also returns whether the range is zero.
    fn take(
        mm: &Arc<Mm>,
        pages: &Arc<Pages>,
        find: impl FnOnce(&Arc<Mm>, &mut Option<Node>, &mut Zeroed<KVVec<u64>>) -> Result<(Range, bool)>,
    ) -> Result<Lot> {
        let mut node = Some(Node::new()?);
        let mut locked = pages.lock();
        let (range, zero) = find(mm, &mut node, &mut locked)?;
        let (start, size) = (range.start(), range.size());
        locked.take(&(start..range.end()));
        Ok(Lot {
            range: Some(range),
            start,
            size,
            pages: pages.clone(),
            life: locked.life(),
            zero,
        })
    }

    /// Allocate `size` bytes for the driver's own use, at the end of the part that the CPU reaches. The first address
    /// is a multiple of `align`. Nothing else is ever allocated within `guard` bytes of them. All three are in whole
    /// pages. The memory is not cleared.
    ///
    /// # Errors
    ///
    /// `EINVAL` if a number is not in whole pages or too large; `ENOSPC`; `ENOMEM`.
    pub fn allocate(&self, size: u64, align: u64, guard: u64) -> Result<Kept> {
        if size % PAGE != 0 || align % PAGE != 0 || guard % PAGE != 0 {
            return Err(EINVAL);
        }
        let guard = guard.checked_next_multiple_of(align).ok_or(EINVAL)?;
        let all = guard
            .checked_mul(2)
            .and_then(|guards| guards.checked_add(size))
            .ok_or(EINVAL)?;
        let (start, hidden) = (self.mm.start(), self.hidden);
        let lot = Self::take(&self.mm, &self.pages, |mm, node, _| {
            let range = mm.allocate_in(node, all, align, start, hidden, Mode::High)?;
            Ok((range, false))
        })?;
        self.fixed.lock().push(Fixed::of(&lot), GFP_KERNEL)?;
        Ok(Kept { lot, guard })
    }

    /// Return what cannot be moved: the firmware's memory, and all that the driver has allocated for its own use.
    pub(crate) fn fixed(&self) -> Result<KVec<Fixed>> {
        let mut fixed = KVec::new();
        fixed.extend_from_slice(&self.fixed.lock(), GFP_KERNEL)?;
        Ok(fixed)
    }

    /// Return the addresses of a part.
    pub(crate) fn span(&self, part: Part) -> core::ops::Range<GpuAddr> {
        let all = self.mm.start()..self.mm.start() + self.mm.size();
        part.of(&all, self.hidden)
    }

    /// Return the part of VRAM, as the CPU sees it, in which `addr` lies.
    pub(crate) fn part_of(&self, addr: GpuAddr) -> Part {
        match addr < self.hidden {
            true => Part::Visible,
            false => Part::Hidden,
        }
    }

    /// Allocate for an object that will be overwritten.
    ///
    /// # Errors
    ///
    /// `ENOSPC`; `ENOMEM`.
    pub(crate) fn find(&self, size: u64, align: u64, part: Part) -> Result<Lot> {
        let span = self.span(part);
        let find = || {
            Self::take(&self.mm, &self.pages, |mm, node, _| {
                let (start, end) = (span.start, span.end);
                let range = mm.allocate_in(node, size, align, start, end, Mode::Best)?;
                Ok((range, false))
            })
        };
        match find() {
            Err(e) if e == ENOSPC && self.recall() => find(),
            result => result,
        }
    }

    /// Allocate for an object that has to be zero, from the stock if that has enough.
    ///
    /// # Errors
    ///
    /// `ENOSPC`; `ENOMEM`.
    pub(crate) fn find_zero(&self, size: u64, align: u64, part: Part) -> Result<Lot> {
        let span = self.span(part);
        let stock = Self::take(&self.mm, &self.pages, |mm, node, pages| {
            let start = pages.find(size, align, &span).ok_or(ENOSPC)?;
            Ok((mm.reserve_in(node, start, size)?, true))
        });
        match stock {
            Err(e) if e == ENOSPC => self.find(size, align, part),
            result => result,
        }
    }

    /// Return the bus address at which the CPU reaches `addr`, or `None` if it is not in the visible part of VRAM.
    pub fn bus_address(&self, addr: GpuAddr) -> Option<u64> {
        (self.mm.start()..self.hidden)
            .contains(&addr)
            .then(|| self.aperture + (addr - self.mm.start()))
    }

    /// Return the size in bytes, without what is reserved for the firmware.
    pub fn size(&self) -> u64 {
        self.mm.size() - self.reserved
    }

    /// Return the size in bytes of the part that the CPU sees, without what is reserved for the firmware.
    pub fn visible_size(&self) -> u64 {
        self.hidden - self.mm.start() - self.reserved_visible
    }

    /// Return the allocated bytes, without what is reserved for the firmware.
    pub fn usage(&self) -> u64 {
        let used = self.mm.used() - self.reserved;
        // Memory that is being cleared is available to all.
        used.saturating_sub(self.clearing.load(Relaxed))
    }
}

/// Return the length of a range of whole pages.
///
/// # Errors
///
/// `EINVAL` if it is empty or not in whole pages.
pub(crate) fn length(range: &core::ops::Range<u64>) -> Result<u64> {
    if range.is_empty() || range.start % PAGE != 0 || range.end % PAGE != 0 {
        return Err(EINVAL);
    }
    Ok(range.end - range.start)
}

#[kunit_tests(lapidary_vram)]
mod tests {
    use super::*;
    use crate::corner::fence::{
        new_context,
        Timeline,
        Unborn, //
    };

    const MIB: u64 = 1 << 20;

    fn layout(vram: u64, window: u64, reserved: [core::ops::Range<u64>; 4]) -> Layout {
        Layout {
            vram: 0x1000_0000..0x1000_0000 + vram,
            aperture: 0xe000_0000..0xe000_0000 + window,
            reserved,
            gtt: 0x8000_0000..0x9000_0000,
        }
    }

    #[test]
    fn reserved_ranges_are_kept_out_even_if_they_overlap() -> Result {
        let vga = 0..256 << 10;
        let picture = (128 << 10)..MIB + 1;
        for (one, other) in [(vga.clone(), picture.clone()), (picture, vga)] {
            let vram = Vram::new(&layout(2 * MIB, 2 * MIB, [one, other, 0..0, 0..0]))?;
            assert_eq!(vram.size(), MIB - PAGE);
            assert_eq!(vram.visible_size(), MIB - PAGE);
            assert_eq!(vram.usage(), 0);
            let all = vram.find(MIB - PAGE, PAGE, Part::Visible)?;
            assert_eq!(all.start(), 0x1000_0000 + MIB + PAGE);
            assert_eq!(vram.usage(), MIB - PAGE);
            assert!(vram.find(PAGE, PAGE, Part::Visible).is_err());
        }
        Ok(())
    }

    #[test]
    fn a_reserved_range_outside_is_an_error() {
        let outside = layout(MIB, MIB, [0..0, MIB - PAGE..MIB + 1, 0..0, 0..0]);
        assert!(Vram::new(&outside).is_err());
        assert!(Vram::new(&layout(0, MIB, [0..0, 0..0, 0..0, 0..0])).is_err());
    }

    #[test]
    fn a_reserved_range_may_cross_the_end_of_the_visible_part() -> Result {
        let picture = MIB - PAGE..MIB + 2 * PAGE;
        let vram = Vram::new(&layout(2 * MIB, MIB, [0..0, picture, 0..0, 0..0]))?;
        assert_eq!(vram.size(), 2 * MIB - 3 * PAGE);
        assert_eq!(vram.visible_size(), MIB - PAGE);
        assert!(vram.find(MIB, PAGE, Part::Visible).is_err());
        assert!(vram.find(MIB - PAGE, PAGE, Part::Visible).is_ok());
        Ok(())
    }

    #[test]
    fn the_cpu_reaches_each_page_of_the_window_and_none_behind_it() -> Result {
        // All of VRAM, more than the window, and less than the window.
        for (size, window) in [(MIB, MIB), (2 * MIB, MIB), (MIB, 2 * MIB)] {
            let vram = Vram::new(&layout(size, window, [0..0, 0..0, 0..0, 0..0]))?;
            let (start, seen) = (0x1000_0000, size.min(window));
            assert_eq!(vram.bus_address(start - 1), None);
            for offset in (0..seen).step_by(PAGE_SIZE) {
                assert_eq!(vram.bus_address(start + offset), Some(0xe000_0000 + offset));
            }
            assert_eq!(
                vram.bus_address(start + seen - 1),
                Some(0xe000_0000 + seen - 1)
            );
            for behind in [0, 1, PAGE - 1, PAGE] {
                assert_eq!(vram.bus_address(start + seen + behind), None);
            }
        }
        Ok(())
    }

    #[test]
    fn visible_and_hidden_parts() -> Result {
        let vram = Vram::new(&layout(2 * MIB, MIB, [0..0, 0..0, 0..0, 0..0]))?;
        assert_eq!(vram.visible_size(), MIB);
        let own = vram.allocate(PAGE, PAGE, 0)?;
        assert_eq!(own.start() + own.size(), 0x1000_0000 + MIB);
        assert_eq!(
            vram.bus_address(own.start()),
            Some(0xe000_0000 + MIB - PAGE)
        );
        let hidden = vram.find(MIB, PAGE, Part::Hidden)?;
        assert_eq!(hidden.start(), 0x1000_0000 + MIB);
        assert_eq!(vram.bus_address(hidden.start()), None);
        assert!(vram.find(MIB, PAGE, Part::Visible).is_err());
        assert!(vram.allocate(1, PAGE, 0).is_err());
        Ok(())
    }

    #[test]
    fn what_is_zero_is_handed_out_first() -> Result {
        let vram = Vram::new(&layout(2 * MIB, MIB, [0..0, 0..0, 0..0, 0..0]))?;
        let stale = vram.find_zero(PAGE, PAGE, Part::Any)?;
        assert!(!stale.is_zero());
        let mut lot = vram.find_zero(4 * PAGE, PAGE, Part::Hidden)?;
        lot.set_zero(true);
        let start = lot.start();
        drop(lot);
        assert_eq!(vram.stock(), 4 * PAGE);
        assert!(!vram.find_zero(PAGE, PAGE, Part::Visible)?.is_zero());
        let lot = vram.find_zero(4 * PAGE, PAGE, Part::Any)?;
        assert!(lot.is_zero() && lot.start() == start && vram.stock() == 0);
        // An allocation that will be overwritten does not take the zeroed lot.
        drop(lot);
        assert!(!vram.find(MIB, PAGE, Part::Hidden)?.is_zero());
        assert_eq!(vram.stock(), 0);
        Ok(())
    }

    #[test]
    fn nothing_is_zero_in_a_new_life() -> Result {
        let vram = Vram::new(&layout(MIB, MIB, [0..0, 0..0, 0..0, 0..0]))?;
        let mut lots = [
            vram.find_zero(PAGE, PAGE, Part::Any)?,
            vram.find_zero(PAGE, PAGE, Part::Any)?,
        ];
        lots.iter_mut().for_each(|lot| lot.set_zero(true));
        let [before, behind] = lots;
        drop(before);
        assert_eq!(vram.stock(), PAGE);
        vram.forget();
        drop(behind);
        assert_eq!(vram.stock(), 0);
        assert!(!vram.find_zero(PAGE, PAGE, Part::Any)?.is_zero());
        Ok(())
    }

    #[test]
    fn a_batch_is_a_part_of_what_is_stale_and_goes_back_as_it_was() -> Result {
        let vram = Vram::new(&layout(4 * MIB, 2 * MIB, [0..0, 0..0, 0..0, 0..0]))?;
        let most = 4 * MIB / stock::BATCH_PART;
        // Two pieces of a page each, with others between them.
        let first = vram.find(PAGE, PAGE, Part::Hidden)?;
        let mut lots = KVec::new();
        for _ in 0..4 {
            lots.push(vram.find(PAGE, PAGE, Part::Hidden)?, GFP_KERNEL)?;
        }
        let start = first.start();
        drop(first);
        drop(lots.remove(1));
        let used = vram.usage();
        let batch = vram.restock(Part::Hidden)?.ok_or(ENOSPC)?;
        let mut pieces = batch.pieces();
        assert_eq!(pieces.next(), Some((start, PAGE)));
        assert_eq!(pieces.next(), Some((start + 2 * PAGE, PAGE)));
        assert_eq!(pieces.next(), Some((start + 5 * PAGE, most - 2 * PAGE)));
        assert!(pieces.next().is_none());
        drop(pieces);
        // There is one batch at a time. A batch that has not been committed cannot be taken back.
        assert!(vram.restock(Part::Visible)?.is_none());
        assert!(!vram.recall() && !vram.is_clearing());
        drop(batch);
        assert!(vram.stock() == 0 && vram.usage() == used);
        assert!(vram.restock(Part::Visible)?.is_some());
        Ok(())
    }

    struct Test;

    impl Timeline for Test {
        const DRIVER: &'static CStr = c"kunit";
        const NAME: &'static CStr = c"vram";

        fn wanted(&self, _seqno: u64) {}
    }

    #[test]
    fn what_was_taken_back_may_be_cleared_still() -> Result {
        let vram = Vram::new(&layout(4 * MIB, 4 * MIB, [0..0, 0..0, 0..0, 0..0]))?;
        let timeline = Arc::new(Test, GFP_KERNEL)?;
        let clear = Unborn::new(timeline)?.start(new_context(), 1);
        let batch = vram.restock(Part::Any)?.ok_or(ENOSPC)?;
        batch.committed(clear.fence().clone());
        assert!(vram.is_clearing() && vram.recalled().is_none());
        // The lot is free, and the job will still clear it.
        assert!(vram.recall() && !vram.is_clearing());
        assert!(vram.recalled().is_some() && !vram.recall());
        assert!(vram.recalled().is_some());
        clear.signal(Ok(()));
        assert!(vram.recalled().is_none());
        vram.wait_for_recalled()
    }

    #[test]
    fn where_nothing_is_stale_there_is_no_batch() -> Result {
        let vram = Vram::new(&layout(MIB, MIB, [0..0, 0..0, 0..0, 0..0]))?;
        let mut all = vram.find(MIB, PAGE, Part::Any)?;
        assert!(vram.restock(Part::Any)?.is_none());
        all.set_zero(true);
        drop(all);
        assert!(vram.restock(Part::Any)?.is_none() && vram.stock() == MIB);
        Ok(())
    }

    #[test]
    fn nothing_borders_on_what_the_driver_keeps() -> Result {
        let guard = 16 * PAGE;
        let vram = Vram::new(&layout(2 * MIB, MIB, [0..0, 0..0, 0..0, 0..0]))?;
        let own = vram.allocate(2 * PAGE, PAGE, guard)?;
        assert_eq!(own.size(), 2 * PAGE);
        let kept = own.start()..own.start() + own.size();
        let mut pages = KVec::with_capacity(512, GFP_KERNEL)?;
        while let Ok(page) = vram.find(PAGE, PAGE, Part::Any) {
            let apart = page.end() + guard <= kept.start || kept.end + guard <= page.start();
            assert!(apart);
            pages.push(page, GFP_KERNEL)?;
        }
        let empty = kept.end - kept.start + 2 * guard;
        assert_eq!(pages.len() as u64 * PAGE, 2 * MIB - empty);
        // It counts as in use, and as memory that cannot be moved.
        assert_eq!(vram.usage(), 2 * MIB);
        let fixed = vram.fixed()?;
        let found = fixed
            .iter()
            .any(|fixed| fixed.start == kept.start - guard && fixed.size == empty);
        assert!(found);
        Ok(())
    }

    #[test]
    fn a_guard_does_not_spoil_the_alignment() -> Result {
        let vram = Vram::new(&layout(2 * MIB, MIB, [0..0, 0..0, 0..0, 0..0]))?;
        let own = vram.allocate(PAGE, 8 * PAGE, PAGE)?;
        assert_eq!(own.start() % (8 * PAGE), 0);
        for (size, align, guard) in [
            (PAGE, PAGE, 1),
            (PAGE, PAGE, u64::MAX / PAGE * PAGE),
            (MIB, PAGE, PAGE),
        ] {
            assert!(vram.allocate(size, align, guard).is_err());
        }
        Ok(())
    }
}
