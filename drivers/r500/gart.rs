// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The page table for system memory.
//!
//! The PCI Express interface of the chip translates a window of GPU addresses through a table of
//! 32-bit entries, one for each 4 KiB page, and passes the result on to the bus. The table is in
//! VRAM, where the host writes it through its window; the chip caches entries and has to be told to
//! forget them. Accesses outside of the window, and to pages that may not be accessed, are
//! discarded: reads of such come from an address that can be set.
//!
//! The manual has no memory controller; the registers, and that a single invalidation is not always
//! enough, are from Linux (`rv370_pcie_gart_enable`, `rv370_pcie_gart_tlb_flush`).

use kernel::{
    io::{
        Io,
        IoBase,
        IoCapable,
        Mmio,
        Region, //
    },
    prelude::*, //
};

use lapidary::{
    corner::wc,
    family::{
        Flags,
        Space,
        Target, //
    }, //
};

use crate::{
    mc::GpuRange,
    portable::{
        pte::{
            Entry,
            ENTRY_SIZE,
            PAGE_SIZE, //
        },
        regs::pcie::pcie_tx_gart_cntl::unmapped_access, //
    },
    regs::{
        pcie::*,
        Pcie,
        Selected,
        Window, //
    },
};

/// How many times the cache is told to forget: some chips miss the first.
const INVALIDATIONS: usize = 2;

/// Bytes of a table for a window of `size` bytes.
pub(crate) const fn table_size(size: u64) -> u64 {
    size / PAGE_SIZE * ENTRY_SIZE as u64
}

/// The page table, in use while this lives.
#[pin_data(PinnedDrop)]
pub(crate) struct Gart<'a> {
    #[pin]
    registers: Pcie<'a>,
    /// The entries in VRAM, as the host sees them, and how many there are.
    table: wc::Window<'a>,
    len: usize,
    place: Place,
}

/// Values of the registers that say where things are.
struct Place {
    /// First and last page of the window.
    first: u32,
    last: u32,
    /// The table.
    table: u32,
    /// Where discarded reads are answered from.
    scapegoat: u32,
}

impl<'a> Gart<'a> {
    /// Translates `window` through a table at GPU address `address`, which the host sees as
    /// `table`. It starts with no page mapped, and all of its memory zero. Discarded reads are
    /// answered from `scapegoat`, an address in VRAM.
    ///
    /// # Errors
    ///
    /// `EINVAL` if `table` is too short, or an address does not fit its register.
    pub(crate) fn new(
        registers: Window<'a>,
        window: &GpuRange,
        address: u64,
        scapegoat: u64,
        table: wc::Window<'a>,
    ) -> Result<impl PinInit<Self, Error> + use<'a>> {
        let size = window.end.checked_sub(window.start).ok_or(EINVAL)?;
        if (table.size() as u64) < table_size(size) {
            return Err(EINVAL);
        }
        let len = usize::try_from(size / PAGE_SIZE)?;
        let place = Place {
            first: window.start.try_into()?,
            last: window
                .end
                .checked_sub(PAGE_SIZE)
                .ok_or(EINVAL)?
                .try_into()?,
            table: address.try_into()?,
            scapegoat: scapegoat.try_into()?,
        };
        Ok(try_pin_init!(Self {
            registers <- Pcie::new(registers),
            len,
            table,
            place,
            _: { begin(&registers, table, place) },
        }? Error))
    }

    /// Begins anew on a chip that may have lost table and registers: no page is mapped.
    pub(crate) fn restart(&self) {
        begin(&self.registers, &self.table, &self.place);
    }

    fn entries(&self) -> Entries<Mmio<'_, Region>> {
        Entries::of(&self.table, self.len)
    }
}

/// The entries of a table.
struct Entries<M> {
    memory: M,
    len: usize,
}

impl<'t> Entries<Mmio<'t, Region>> {
    /// The first `len` entries in `table`, which has room for them.
    fn of(table: &'t wc::Window<'_>, len: usize) -> Self {
        Self {
            memory: table.as_view(),
            len,
        }
    }
}

impl<'t, M: Io<'t, Target = Region, Backend: IoCapable<u32>>> Entries<M> {
    /// Writes entry `index`, which the caller has checked to exist.
    fn set(&self, index: usize, entry: Entry) {
        // The error would be one of range.
        let _ = self.memory.try_write32(entry.word(), index * ENTRY_SIZE);
    }

    /// Writes the same entry `count` times from `first` on, as far as the table goes.
    fn fill(&self, first: usize, count: usize, entry: Entry) {
        let end = first.saturating_add(count).min(self.len);
        for index in first..end {
            self.set(index, entry);
        }
    }

    /// Points `pages` entries from `first` on at memory from `target` on.
    ///
    /// # Errors
    ///
    /// As [`Space::map`].
    fn map(&self, first: usize, target: Target, pages: usize, flags: Flags) -> Result {
        // The interface passes all addresses on to the bus.
        let Target::System(addr) = target else {
            return Err(EINVAL);
        };
        let end = first.checked_add(pages).ok_or(EINVAL)?;
        if end > self.len {
            return Err(EINVAL);
        }
        // All that can fail is done before the first entry is written: the last page's address is
        // the highest.
        let Some(last) = pages.checked_sub(1) else {
            return Ok(());
        };
        let last = (last as u64)
            .checked_mul(PAGE_SIZE)
            .and_then(|offset| addr.checked_add(offset))
            .ok_or(EINVAL)?;
        Entry::new(last, flags).ok_or(EINVAL)?;

        let pages = (addr..=last).step_by(PAGE_SIZE as usize);
        for (index, page) in (first..end).zip(pages) {
            if let Some(entry) = Entry::new(page, flags) {
                self.set(index, entry);
            }
        }
        Ok(())
    }

    /// Returns when what was written has arrived in VRAM: the answer of a read comes behind it.
    ///
    /// The writes must have left the CPU, which combines them; an access to a register sees to
    /// that.
    fn settle(&self) {
        let _ = self.memory.try_read32(0);
    }
}

/// Makes the table empty and sets up the window. It stays closed until the first pages have been mapped and the chip is
/// told so, when it also forgets what it has cached of another table ([`Space::flush`]).
fn begin(registers: &Pcie<'_>, table: &wc::Window<'_>, place: &Place) {
    // All of the memory: what lies behind the table is where discarded reads are answered from.
    let all = table.size() / ENTRY_SIZE;
    Entries::of(table, all).fill(0, all, Entry::NONE);
    set_up(registers, place);
}

/// Sets up the window, closed.
fn set_up(registers: &Pcie<'_>, place: &Place) {
    let closed =
        PCIE_TX_GART_CNTL::zeroed().with_const_unmapped_access::<{ unmapped_access::DISCARD }>();
    registers.write(closed);
    registers.write(PCIE_TX_GART_START_LO::from(place.first));
    registers.write(PCIE_TX_GART_START_HI::zeroed());
    registers.write(PCIE_TX_GART_END_LO::from(place.last));
    registers.write(PCIE_TX_GART_END_HI::zeroed());
    registers.write(PCIE_TX_GART_BASE::from(place.table));
    registers.write(PCIE_TX_DISCARD_RD_ADDR_LO::from(place.scapegoat));
    registers.write(PCIE_TX_DISCARD_RD_ADDR_HI::zeroed());
    registers.write(PCIE_TX_GART_ERROR::zeroed());
}

/// Closes the window: whatever is addressed to it is discarded.
fn disable(registers: &Pcie<'_>) {
    registers.update(|control: PCIE_TX_GART_CNTL| {
        control
            .with_const_unmapped_access::<{ unmapped_access::DISCARD }>()
            .with_gart_en(false)
    });
    registers.write(PCIE_TX_GART_START_LO::zeroed());
    registers.write(PCIE_TX_GART_END_LO::zeroed());
}

/// The control register while the window is open.
fn open() -> PCIE_TX_GART_CNTL {
    PCIE_TX_GART_CNTL::zeroed()
        .with_const_unmapped_access::<{ unmapped_access::DISCARD }>()
        .with_gart_en(true)
}

/// Makes the chip forget what it has cached of `entries`, when those have arrived in VRAM, and opens the window.
fn invalidate(registers: &Pcie<'_>, entries: &Entries<Mmio<'_, Region>>) {
    // The selection is an access to a register, behind which nothing is left to be combined.
    forget(&registers.select(), entries);
}

/// The control register, selected.
trait Control {
    fn write(&self, value: PCIE_TX_GART_CNTL);
    fn read(&self) -> PCIE_TX_GART_CNTL;
}

impl Control for Selected<'_, PCIE_TX_GART_CNTL> {
    fn write(&self, value: PCIE_TX_GART_CNTL) {
        Selected::write(self, value);
    }

    fn read(&self) -> PCIE_TX_GART_CNTL {
        Selected::read(self)
    }
}

/// The same, with the register at hand.
fn forget<'t>(
    control: &impl Control,
    entries: &Entries<impl Io<'t, Target = Region, Backend: IoCapable<u32>>>,
) {
    entries.settle();
    for _ in 0..INVALIDATIONS {
        control.write(open().with_invalidate_tlb(true));
        // Returns when the write has arrived.
        let _ = control.read();
        control.write(open());
    }
}

impl Space for Gart<'_> {
    fn map(&self, first: usize, target: Target, pages: usize, flags: Flags) -> Result {
        self.entries().map(first, target, pages, flags)
    }

    fn unmap(&self, first: usize, count: usize) {
        self.entries().fill(first, count, Entry::NONE);
    }

    fn flush(&self) {
        invalidate(&self.registers, &self.entries());
    }
}

#[pinned_drop]
impl PinnedDrop for Gart<'_> {
    fn drop(self: Pin<&mut Self>) {
        disable(&self.registers);
    }
}

#[kunit_tests(r500_gart)]
mod tests {
    use super::*;
    use crate::regs::fake;

    /// What the entry of a page that may be read and written looks like, by Linux' definition.
    const READ_WRITE: u32 = 0xc;

    #[test]
    fn consecutive_pages_get_consecutive_entries() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries { memory, len: 16 };
        entries.map(3, Target::System(0x12_3456_7000), 2, Flags::READ_WRITE)?;
        assert_eq!(memory.try_read32(8)?, 0);
        assert_eq!(memory.try_read32(12)?, 0x1234_5670 | READ_WRITE);
        assert_eq!(memory.try_read32(16)?, 0x1234_5680 | READ_WRITE);
        assert_eq!(memory.try_read32(20)?, 0);
        Ok(())
    }

    #[test]
    fn entries_allow_what_the_flags_say() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries { memory, len: 4 };
        let flags = |read, write, snooped| Flags {
            read,
            write,
            snooped,
        };
        let cases = [
            (flags(true, true, true), 0xc),
            (flags(true, false, true), 8),
            (flags(false, true, true), 4),
            (flags(true, true, false), 0xd),
        ];
        for (flags, want) in cases {
            entries.map(1, Target::System(0x1000), 1, flags)?;
            assert_eq!(memory.try_read32(4)?, 0x10 | want);
        }
        Ok(())
    }

    #[test]
    fn what_does_not_fit_changes_nothing() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries { memory, len: 4 };
        let refused = [
            (3, 0x1000, 2),
            (usize::MAX, 0x1000, 1),
            (0, 0x1001, 1),
            (0, 0xff_ffff_f000, 2),
            (0, u64::MAX - 0xfff, 4),
        ];
        let map = |first, target, pages| entries.map(first, target, pages, Flags::READ_WRITE);
        for (first, addr, pages) in refused {
            assert!(map(first, Target::System(addr), pages).is_err());
        }
        // The table does not lead to VRAM.
        assert!(map(0, Target::Vram(0x1000), 1).is_err());
        assert!(map(4, Target::System(0x1000), 0).is_ok());
        for offset in (0..32).step_by(ENTRY_SIZE) {
            assert_eq!(memory.try_read32(offset)?, 0);
        }
        Ok(())
    }

    #[test]
    fn unmapping_ends_with_the_table() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries { memory, len: 4 };
        for offset in (0..32).step_by(ENTRY_SIZE) {
            memory.try_write32(u32::MAX, offset)?;
        }
        entries.fill(2, usize::MAX, Entry::NONE);
        assert_eq!(memory.try_read32(4)?, u32::MAX);
        assert_eq!(memory.try_read32(8)?, 0);
        assert_eq!(memory.try_read32(12)?, 0);
        assert_eq!(memory.try_read32(16)?, u32::MAX);
        Ok(())
    }

    #[test]
    fn invalidation_leaves_the_window_open() -> Result {
        let mut memory = fake::Memory::new()?;
        let mut table = fake::Memory::new()?;
        let registers = KBox::pin_init(Pcie::new(memory.window()?), GFP_KERNEL)?;
        let entries = Entries {
            memory: table.bytes()?,
            len: 4,
        };
        registers.write(PCIE_TX_GART_CNTL::zeroed());
        invalidate(&registers, &entries);
        let control: PCIE_TX_GART_CNTL = registers.read();
        assert_eq!(control.into_raw(), open().into_raw());
        Ok(())
    }

    /// The control register, in an order with the table.
    struct Noted<'a>(&'a fake::Log);

    /// Where the log has the control register: behind the table.
    const CONTROL: usize = 0x1000;

    impl Control for Noted<'_> {
        fn write(&self, value: PCIE_TX_GART_CNTL) {
            self.0.note(fake::Access::Write(CONTROL, value.into_raw()));
        }

        fn read(&self) -> PCIE_TX_GART_CNTL {
            self.0.note(fake::Access::Read(CONTROL));
            PCIE_TX_GART_CNTL::zeroed()
        }
    }

    #[test]
    fn entries_have_arrived_before_the_chip_forgets() -> Result {
        use fake::Access::{
            Read,
            Write, //
        };
        let log = fake::Log::new();
        let entries = Entries {
            memory: log.window(16),
            len: 4,
        };
        entries.map(2, Target::System(0x1000), 1, Flags::READ_WRITE)?;
        forget(&Noted(&log), &entries);
        let forgets = Write(CONTROL, open().with_invalidate_tlb(true).into_raw());
        let goes_on = Write(CONTROL, open().into_raw());
        let mut want = KVec::new();
        want.push(Write(8, 0x10 | READ_WRITE), GFP_KERNEL)?;
        // From the same memory: the answer comes behind the write.
        want.push(Read(0), GFP_KERNEL)?;
        for _ in 0..2 {
            want.extend_from_slice(&[forgets, Read(CONTROL), goes_on], GFP_KERNEL)?;
        }
        assert_eq!(log.take().as_slice(), want.as_slice());
        Ok(())
    }
}
