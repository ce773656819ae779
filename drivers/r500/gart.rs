// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers of the window on system memory.
//!
//! The PCI Express interface of the chip translates a window of GPU addresses through a table of 32-bit entries in VRAM
//! ([`lapidary::hardware::gart`]), and passes the result on to the bus. The chip discards accesses outside of the window,
//! and accesses that the page does not allow. A discarded read is answered from an address that the driver sets.
//!
//! The manual does not describe the memory controller. The registers are from Linux (`rv370_pcie_gart_enable`,
//! `rv370_pcie_gart_tlb_flush`), and so is the fact that one invalidation is not always enough.

use kernel::{
    io::{
        Mmio,
        Region, //
    },
    prelude::*, //
};

use lapidary::{
    corner::wc,
    family::{
        Flags,
        Target, //
    },
    hardware::gart::{
        self,
        Entries,
        TableIo,
        Translation, //
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
        PcieSelected,
        Window, //
    },
};

/// How many times the cache is invalidated. Some chips miss the first.
const INVALIDATIONS: usize = 2;

/// The page table, in use while this lives.
pub(crate) type Gart<'a> = gart::Gart<'a, Registers<'a>>;

/// Return the bytes of a table for a window of `size` bytes.
pub(crate) const fn table_size(size: u64) -> u64 {
    gart::table_size::<Entry>(size)
}

impl gart::Entry for Entry {
    const BYTES: usize = ENTRY_SIZE;
    const NONE: Self = Entry::NONE;

    fn page(target: Target, flags: Flags) -> Option<Self> {
        match target {
            Target::System(address) => Entry::new(address, flags),
            // The interface passes all addresses on to the bus.
            Target::Vram(_) => None,
        }
    }

    fn store<'t>(self, memory: impl TableIo<'t>, offset: usize) {
        // No error: the entry is inside of the table.
        let _ = memory.try_write32(self.word(), offset);
    }
}

/// The registers of the window, and their values.
#[pin_data]
pub(crate) struct Registers<'a> {
    #[pin]
    pcie: Pcie<'a>,
    place: Place,
}

/// Values of the registers that say where things are.
struct Place {
    /// First and last page of the window.
    first: u32,
    last: u32,
    /// The table.
    table: u32,
    /// The page that discarded reads are answered from.
    discarded: u32,
}

/// Return an initializer for the page table of `window` at GPU address `address`, which the host sees as `table`. No
/// page is mapped, and all of the table's memory is zero. Discarded reads are answered from `discarded`, an address in
/// VRAM.
///
/// # Errors
///
/// `EINVAL` if `table` is too short, or an address does not fit its register.
pub(crate) fn new<'a>(
    registers: Window<'a>,
    window: &GpuRange,
    address: u64,
    discarded: u64,
    table: wc::Window<'a>,
) -> Result<impl PinInit<Gart<'a>, Error> + use<'a>> {
    let size = window.end.checked_sub(window.start).ok_or(EINVAL)?;
    let place = Place {
        first: window.start.try_into()?,
        last: window
            .end
            .checked_sub(PAGE_SIZE)
            .ok_or(EINVAL)?
            .try_into()?,
        table: address.try_into()?,
        discarded: discarded.try_into()?,
    };
    let registers = pin_init!(Registers {
        pcie <- Pcie::new(registers),
        place,
    });
    Gart::new(registers, size, table)
}

impl Translation for Registers<'_> {
    type Entry = Entry;

    fn set_up(&self) {
        set_up(&self.pcie, &self.place);
    }

    fn flush(&self, entries: &Entries<Mmio<'_, Region>, Entry>) {
        invalidate(&self.pcie, entries);
    }

    fn close(&self) {
        disable(&self.pcie);
    }
}

/// Set up the window, closed.
fn set_up(registers: &Pcie<'_>, place: &Place) {
    let closed =
        PCIE_TX_GART_CNTL::zeroed().with_const_unmapped_access::<{ unmapped_access::DISCARD }>();
    registers.write(closed);
    registers.write(PCIE_TX_GART_START_LO::from(place.first));
    registers.write(PCIE_TX_GART_START_HI::zeroed());
    registers.write(PCIE_TX_GART_END_LO::from(place.last));
    registers.write(PCIE_TX_GART_END_HI::zeroed());
    registers.write(PCIE_TX_GART_BASE::from(place.table));
    registers.write(PCIE_TX_DISCARD_RD_ADDR_LO::from(place.discarded));
    registers.write(PCIE_TX_DISCARD_RD_ADDR_HI::zeroed());
    registers.write(PCIE_TX_GART_ERROR::zeroed());
}

/// Close the window. The chip discards accesses to it.
fn disable(registers: &Pcie<'_>) {
    registers.update(|control: PCIE_TX_GART_CNTL| {
        control
            .with_const_unmapped_access::<{ unmapped_access::DISCARD }>()
            .with_gart_en(false)
    });
    registers.write(PCIE_TX_GART_START_LO::zeroed());
    registers.write(PCIE_TX_GART_END_LO::zeroed());
}

/// Return the control register while the window is open.
fn open() -> PCIE_TX_GART_CNTL {
    PCIE_TX_GART_CNTL::zeroed()
        .with_const_unmapped_access::<{ unmapped_access::DISCARD }>()
        .with_gart_en(true)
}

/// Wait until `entries` have arrived in VRAM, invalidate the chip's cache of them, and open the window.
fn invalidate(registers: &Pcie<'_>, entries: &Entries<Mmio<'_, Region>, Entry>) {
    // Selecting the register is an uncached access: the CPU flushes its combined writes before.
    forget(&registers.select(), entries);
}

/// The control register, selected.
trait Control {
    fn write(&self, value: PCIE_TX_GART_CNTL);
    fn read(&self) -> PCIE_TX_GART_CNTL;
}

impl Control for PcieSelected<'_, '_, PCIE_TX_GART_CNTL> {
    fn write(&self, value: PCIE_TX_GART_CNTL) {
        PcieSelected::write(self, value);
    }

    fn read(&self) -> PCIE_TX_GART_CNTL {
        PcieSelected::read(self)
    }
}

/// Do what [`invalidate`] does, with the control register selected.
fn forget<'t>(control: &impl Control, entries: &Entries<impl TableIo<'t>, Entry>) {
    entries.settle();
    for _ in 0..INVALIDATIONS {
        control.write(open().with_invalidate_tlb(true));
        // Wait until the write has arrived.
        let _ = control.read();
        control.write(open());
    }
}

#[kunit_tests(r500_gart)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use kernel::io::Io;

    /// The bits of an entry for reading and writing, as Linux defines them.
    const READ_WRITE: u32 = 0xc;

    #[test]
    fn consecutive_pages_get_consecutive_entries() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries::<_, Entry>::new(memory, 16);
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
        let entries = Entries::<_, Entry>::new(memory, 4);
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
        let entries = Entries::<_, Entry>::new(memory, 4);
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
        let entries = Entries::<_, Entry>::new(memory, 4);
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
        let entries = Entries::new(table.bytes()?, 4);
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
        let entries = Entries::new(log.window(16), 4);
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
