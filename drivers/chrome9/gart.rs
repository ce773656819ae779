// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers of the GART.
//!
//! Its table of 32-bit entries lies in the frame buffer ([`lapidary::hardware::gart`]). Registers of the VGA sequencer have its
//! place, protect it against writes, and flush what the chip keeps of it (decision 10). Nothing closes the GART: an
//! entry without a page does. Addresses that the table has no entry for are not used.
//!
//! The manual does not have these registers. The facts are from VIA's kernel driver, as it was sent to mailing lists.

use kernel::{
    io::{
        Mmio,
        Region, //
    },
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
    time::{
        delay::udelay,
        Delta, //
    },
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
    },
};

use crate::{
    portable::{
        pte::{
            Entry,
            ENTRY_SIZE, //
        },
        regs::sr::{
            sr6a,
            sr6b,
            sr6c, //
        },
    },
    regs::{
        sr::*,
        Sequencer,
        Window, //
    },
};

/// How often to look whether a flush is done, a microsecond apart.
const LOOKS: usize = 100;

/// Where the parts of the table's offset begin.
const BASE_LOW: u32 = 12;
const BASE_HIGH: u32 = 20;
const BASE_TOP: u32 = 28;

/// The page table, in use while this lives.
pub(crate) type Gart<'a> = gart::Gart<'a, Registers<'a>>;

/// Return the bytes of a table for `size` bytes of addresses.
pub(crate) const fn table_size(size: u64) -> u64 {
    gart::table_size::<Entry>(size)
}

impl gart::Entry for Entry {
    const BYTES: usize = ENTRY_SIZE;
    const NONE: Self = Entry::NONE;

    fn page(target: Target, flags: Flags) -> Option<Self> {
        match target {
            Target::System(address) => Entry::new(address, flags),
            // Engines reach the frame buffer by its own location.
            Target::Vram(_) => None,
        }
    }

    fn store<'t>(self, memory: impl TableIo<'t>, offset: usize) {
        // No error: the entry is inside of the table.
        let _ = memory.try_write32(self.word(), offset);
    }
}

/// The registers of the GART, and the place of its table.
#[pin_data]
pub(crate) struct Registers<'a> {
    #[pin]
    sequencer: Sequencer<'a>,
    /// Offset of the table in the frame buffer.
    table: u32,
    /// The table is protected.
    locked: Atomic<bool>,
}

/// Return an initializer for a GART of `size` bytes with a table at `address` of the frame buffer, which the host sees as
/// `table`. No page is mapped.
///
/// # Errors
///
/// `EINVAL` if `table` is too short, or its address does not fit the registers.
pub(crate) fn new<'a>(
    registers: Window<'a>,
    size: u64,
    address: u64,
    table: wc::Window<'a>,
) -> Result<impl PinInit<Gart<'a>, Error> + use<'a>> {
    let address = u32::try_from(address)?;
    if address >> BASE_TOP > sr6c::BASE_TOP.max() {
        return Err(EINVAL);
    }
    let registers = pin_init!(Registers {
        sequencer <- Sequencer::new(registers),
        table: address,
        locked: Atomic::new(true),
    });
    Gart::new(registers, size, table)
}

impl Registers<'_> {
    /// Wait until the chip has flushed.
    fn settle(&self) {
        for _ in 0..LOOKS {
            let flush: SR6F = self.sequencer.read();
            if !flush.flush() {
                break;
            }
            udelay(Delta::from_micros(1));
        }
    }
}

impl Translation for Registers<'_> {
    type Entry = Entry;

    fn set_up(&self) {
        let part = |shift: u32, most: u32| (self.table >> shift) & most;
        self.sequencer.write(SR6A::from(
            sr6a::BASE_LOW.of(part(BASE_LOW, sr6a::BASE_LOW.max())),
        ));
        self.sequencer.write(SR6B::from(
            sr6b::BASE_HIGH.of(part(BASE_HIGH, sr6b::BASE_HIGH.max())),
        ));
        self.sequencer.update(|top: SR6C| {
            top.with_base_top(part(BASE_TOP, sr6c::BASE_TOP.max()) != 0)
                .with_protect(false)
        });
        self.locked.store(false, Relaxed);
    }

    fn unlock(&self) {
        if self.locked.load(Relaxed) {
            self.locked.store(false, Relaxed);
            self.sequencer.update(|top: SR6C| top.with_protect(false));
        }
    }

    fn flush(&self, entries: &Entries<Mmio<'_, Region>, Entry>) {
        // An uncached access: the CPU sends its combined writes before.
        self.settle();
        entries.settle();
        self.sequencer.update(|flush: SR6F| flush.with_flush(true));
        self.settle();
        self.sequencer.update(|top: SR6C| top.with_protect(true));
        self.locked.store(true, Relaxed);
    }

    fn close(&self) {
        // Its entries have no pages any more, and the chip has been stopped.
        self.sequencer.update(|flush: SR6F| flush.with_flush(true));
    }
}

#[kunit_tests(chrome9_gart)]
mod tests {
    use super::*;
    use crate::regs::{
        fake,
        mmio::VGA_SEQUENCER, //
    };
    use kernel::io::Io;

    #[test]
    fn pages_have_entries_and_gaps_have_none() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries::<_, Entry>::new(memory, 8);
        entries.fill(0, 8, Entry::NONE);
        entries.map(2, Target::System(0x1_2345_6000), 2, Flags::READ_WRITE)?;
        let words = [1, 2, 3, 4].map(|index| memory.try_read32(4 * index));
        assert!(words == [Ok(1 << 31), Ok(0x12_3456), Ok(0x12_3457), Ok(1 << 31)]);
        // The frame buffer is not behind it.
        let refused = entries.map(0, Target::Vram(0), 1, Flags::READ_WRITE);
        assert!(refused == Err(EINVAL));
        Ok(())
    }

    /// The pair shows what was written last.
    #[test]
    fn the_table_is_protected_but_for_changes() -> Result {
        let mut memory = fake::Memory::new()?;
        let mut table = fake::Memory::new()?;
        let window = memory.window()?;
        let registers = pin_init!(Registers {
            sequencer <- Sequencer::new(window),
            table: 0x1234_5000,
            locked: Atomic::new(true),
        });
        let registers = KBox::pin_init(registers, GFP_KERNEL)?;
        let pair = || window.read(VGA_SEQUENCER).into_raw() & 0xffff;
        window.write_reg(VGA_SEQUENCER::zeroed());
        registers.unlock();
        assert_eq!(pair(), 0x006c);
        window.write_reg(VGA_SEQUENCER::zeroed());
        // Once is enough.
        registers.unlock();
        assert_eq!(pair(), 0);
        registers.flush(&Entries::new(table.bytes()?, 4));
        assert_eq!(pair() & 0x80ff, 0x806c);
        window.write_reg(VGA_SEQUENCER::zeroed());
        registers.unlock();
        assert_eq!(pair(), 0x006c);
        registers.set_up();
        // The top bit of the base; the data was that of the register before.
        assert_eq!(pair() & 0x81ff, 0x016c);
        Ok(())
    }
}
