// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The window on system memory: VM context 0.
//!
//! The memory controller translates addresses outside of the system aperture (see [`mc`](crate::mc)) through a flat
//! table of 64-bit entries in VRAM ([`lapidary::hardware::gart`]). There are seven contexts, of which the driver uses the
//! first. An access that leaves the window goes to a default page of system memory, which nothing else uses.
//!
//! Translations are cached in two levels. A flush makes the chip forget them: it flushes the host data path, because
//! the host has written the table through it, and asks context 0 to invalidate its range. The answer appears in the same
//! register.
//!
//! The facts are from Linux' `radeon` (`r600_pcie_gart_tlb_flush`, `r600_pcie_gart_enable`, `rv770_pcie_gart_enable`).

use kernel::{
    device::{
        Bound,
        Device, //
    },
    dma::Coherent,
    io::{
        register::{
            Array,
            RegisterArray, //
        },
        Io,
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
        Delta,
        Instant,
        Monotonic, //
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
    }, //
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    hal::vm::{
        self as hal,
        Place, //
    },
    hdp,
    mc::GpuRange,
    portable::pte::{
        Entry,
        ENTRY_SIZE,
        PAGE_SHIFT,
        PAGE_SIZE, //
    },
    regs::{
        mmio::*,
        RegisterIo,
        Window, //
    },
};

/// The request to invalidate a range, and the answers to it.
const INVALIDATE: u32 = 1;
const DONE: u32 = 1;

/// How long the answer is looked for: as long as Linux does. A chip that has not answered gets less time, until it answers
/// again, so that a submission that maps many objects still ends soon.
const ANSWER_MS: i64 = 100;
const AGAIN_MS: i64 = 1;

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
            Target::System(address) => Entry::system(address, flags),
            // Nothing public says which address of VRAM an entry would have.
            Target::Vram(_) => None,
        }
    }

    fn store<'t>(self, memory: impl TableIo<'t>, offset: usize) {
        // No error: the entry is inside of the table.
        let _ = memory.try_write64(self.word(), offset);
    }
}

/// The registers of the window, and their values.
pub(crate) struct Registers<'a> {
    dev: &'a Device<Bound>,
    chipset: Chipset,
    window: Window<'a>,
    place: Place,
    /// The chip has not answered an invalidation, and a line in the log says so.
    told: Atomic<bool>,
    /// Where accesses go that leave the window.
    _default: Coherent<[u8]>,
}

/// Return an initializer for the page table of `range` at GPU address `address`, which the host sees as `table`. No
/// page is mapped, and all of the table's memory is zero.
///
/// # Errors
///
/// `EINVAL` if `table` is too short, or an address does not fit its register; `ENOMEM`.
pub(crate) fn new<'a>(
    dev: &'a Device<Bound>,
    chipset: Chipset,
    window: Window<'a>,
    range: &GpuRange,
    address: u64,
    table: wc::Window<'a>,
) -> Result<impl PinInit<Gart<'a>, Error> + use<'a>> {
    let size = range.end.checked_sub(range.start).ok_or(EINVAL)?;
    let last = range.end.checked_sub(PAGE_SIZE).ok_or(EINVAL)?;
    let default = Coherent::<u8>::zeroed_slice(dev, PAGE_SIZE as usize, GFP_KERNEL)?;
    let page = |address: u64| u32::try_from(address >> PAGE_SHIFT);
    let registers = Registers {
        dev,
        chipset,
        window,
        place: Place {
            first: page(range.start)?,
            last: page(last)?,
            table: page(address)?,
            default: page(default.dma_address())?,
        },
        told: Atomic::new(false),
        _default: default,
    };
    Gart::new(registers, size, table)
}

impl Translation for Registers<'_> {
    type Entry = Entry;

    /// Set up the window. The table is empty, so that every access goes to the default page.
    fn set_up(&self) {
        let hal = hal::of(self.chipset);
        switch_off(self.window);
        hal.set_caches(self.window, true);
        hal.place(self.window, &self.place);
    }

    fn flush(&self, entries: &Entries<Mmio<'_, Region>, Entry>) {
        ask(self.window, self.chipset, &self.place, entries);
        let look = || {
            let answer = self.window.read(VM_CONTEXT0_REQUEST_RESPONSE);
            answer.response_type().get()
        };
        // A device that is gone does not take registers, and has cached nothing.
        let is_gone = || self.window.read(VM_CONTEXT_CNTL::at(0)).into_raw() != open().into_raw();
        if look() != DONE && is_gone() {
            return;
        }
        let told = self.told.load(Relaxed);
        let answer = answer(look, if told { AGAIN_MS } else { ANSWER_MS });
        if answer == DONE {
            self.told.store(false, Relaxed);
        } else if !told {
            // Once, until the chip answers again.
            self.told.store(true, Relaxed);
            dev_err!(
                self.dev,
                "page table: no invalidation of cached entries (answer {})\n",
                answer
            );
        }
    }

    fn close(&self) {
        switch_off(self.window);
        hal::of(self.chipset).set_caches(self.window, false);
    }
}

/// Switch off all contexts.
fn switch_off(window: Window<'_>) {
    for index in 0..<VM_CONTEXT_CNTL as RegisterArray>::SIZE {
        if let Some(context) = VM_CONTEXT_CNTL::try_at(index) {
            window.write(context, VM_CONTEXT_CNTL::zeroed());
        }
    }
}

/// Return the control register of context 0 while the window is open.
fn open() -> VM_CONTEXT_CNTL {
    VM_CONTEXT_CNTL::zeroed()
        .with_enable_context(true)
        .with_range_protection_fault_enable_default(true)
}

/// Wait until `entries` have arrived in VRAM, open the window, and ask the chip to forget what it has cached of it.
fn ask<'w, 't>(
    window: impl RegisterIo<'w>,
    chipset: Chipset,
    place: &Place,
    entries: &Entries<impl TableIo<'t>, Entry>,
) {
    // The access to a register also sends the writes that the CPU has combined.
    hdp::flush(chipset, window);
    match chipset.generation() {
        Generation::R6xx => {}
        Generation::R7xx => entries.settle(),
    }
    window.write(VM_CONTEXT_CNTL::at(0), open());
    window.write_reg(VM_CONTEXT0_INVALIDATION_LOW_ADDR::from(place.first));
    window.write_reg(VM_CONTEXT0_INVALIDATION_HIGH_ADDR::from(place.last));
    let request = VM_CONTEXT0_REQUEST_RESPONSE::zeroed();
    window.write_reg(request.with_const_request_type::<INVALIDATE>());
}

/// Return the chip's answer, which `look` reads, or 0 if there is none within `limit` milliseconds.
fn answer(look: impl Fn() -> u32, limit: i64) -> u32 {
    let begin = Instant::<Monotonic>::now();
    loop {
        // The time is taken before the look, so that a CPU that was away looks once more.
        let late = begin.elapsed().as_millis() >= limit;
        let found = look();
        if found != 0 || late {
            return found;
        }
        udelay(Delta::from_micros(1));
    }
}

#[kunit_tests(r600_vm)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use core::cell::Cell;

    /// The bits of an entry of system memory, as Linux defines them.
    const READ_WRITE: u64 = 0x67;

    const CHIPS: [Chipset; 3] = [Chipset::Rv670, Chipset::Rv770, Chipset::Rv740];

    fn place() -> Place {
        Place {
            first: 0x2_0000,
            last: 0x5_ffff,
            table: 0x1_0000,
            default: 0x123_4567,
        }
    }

    #[test]
    fn entries_lie_one_behind_the_other() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries::<_, Entry>::new(memory, 16);
        entries.map(3, Target::System(0x12_3456_7000), 2, Flags::READ_WRITE)?;
        assert_eq!(memory.try_read64(16)?, 0);
        assert_eq!(memory.try_read64(24)?, 0x12_3456_7000 | READ_WRITE);
        assert_eq!(memory.try_read64(32)?, 0x12_3456_8000 | READ_WRITE);
        assert_eq!(memory.try_read64(40)?, 0);
        entries.fill(3, 1, Entry::NONE);
        assert_eq!(memory.try_read64(24)?, 0);
        Ok(())
    }

    #[test]
    fn what_does_not_fit_changes_nothing() -> Result {
        let mut memory = fake::Memory::new()?;
        let memory = memory.bytes()?;
        let entries = Entries::<_, Entry>::new(memory, 4);
        let map = |first, target, pages| entries.map(first, target, pages, Flags::READ_WRITE);
        for (first, addr, pages) in [(3, 0x1000, 2), (0, 0x1001, 1), (0, 0xff_ffff_f000, 2)] {
            assert!(map(first, Target::System(addr), pages).is_err());
        }
        // The table does not lead to VRAM.
        assert!(map(0, Target::Vram(0x1000), 1).is_err());
        for offset in (0..64).step_by(ENTRY_SIZE) {
            assert_eq!(memory.try_read64(offset)?, 0);
        }
        Ok(())
    }

    #[test]
    fn context_0_translates_the_window() -> Result {
        for chipset in CHIPS {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            let hal = hal::of(chipset);
            hal.place(window, &place());
            let read = |offset: u32| window.try_read32(offset as usize);
            let [default, table, first, last] = hal.context();
            assert_eq!(read(default)?, 0x123_4567);
            assert_eq!(read(table)?, 0x1_0000);
            assert_eq!((read(first)?, read(last)?), (0x2_0000, 0x5_ffff));
        }
        Ok(())
    }

    /// Byte offset of a register, and its value while the caches are on and off.
    type Values = (usize, u32, u32);

    /// The values are those that Linux writes.
    #[test]
    fn caches_translate_what_is_not_vram() -> Result {
        // The second level, and one register of each kind of the first.
        let cases: [(Chipset, &[Values]); 3] = [
            (
                Chipset::Rv670,
                &[
                    (0x1400, 0xe203, 0xe002),
                    (0x1408, 0x20, 0x20),
                    (0x2200, 0x2_d8c3, 0x2_d800),
                    (0x2204, 0x2_d8c7, 0x2_d800),
                    (0x220c, 0x2_dcc3, 0x2_d800),
                ],
            ),
            (
                Chipset::Rv770,
                &[
                    (0x1400, 0x1_c203, 0x1_c002),
                    (0x1408, 0x80, 0x80),
                    (0x2654, 0x16_801b, 0x16_8000),
                    (0x2240, 0x16_801b, 0x16_8000),
                    (0x2698, 0, 0),
                ],
            ),
            (Chipset::Rv740, &[(0x2698, 0x16_801b, 0x16_8000)]),
        ];
        for (chipset, registers) in cases {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            for (offset, on, off) in registers {
                hal::of(chipset).set_caches(window, true);
                assert_eq!(window.try_read32(*offset)?, *on);
                hal::of(chipset).set_caches(window, false);
                assert_eq!(window.try_read32(*offset)?, *off);
            }
        }
        Ok(())
    }

    #[test]
    fn a_closed_window_has_no_context() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        for index in 0..7 {
            window.try_write32(u32::MAX, 0x1410 + 4 * index)?;
        }
        window.try_write32(7, 0x142c)?;
        switch_off(window);
        for index in 0..7 {
            assert_eq!(window.try_read32(0x1410 + 4 * index)?, 0);
        }
        assert_eq!(window.try_read32(0x142c)?, 7);
        Ok(())
    }

    /// R7xx reads the table behind a write to another register.
    #[test]
    fn entries_have_arrived_before_the_chip_forgets() -> Result {
        use fake::Access::{
            Read,
            Write,
            Write64, //
        };
        for (chipset, first, reads) in [
            (Chipset::R600, Write(0x5480, 1), false),
            (Chipset::Rv770, Write(0x2f34, 0), true),
        ] {
            let log = fake::Log::new();
            let entries = Entries::new(log.window(32), 4);
            entries.map(2, Target::System(0x1000), 1, Flags::READ_WRITE)?;
            ask(log.registers(), chipset, &place(), &entries);
            let mut want = KVec::new();
            want.extend_from_slice(&[Write64(16, 0x1000 | READ_WRITE), first], GFP_KERNEL)?;
            if reads {
                want.push(Read(0), GFP_KERNEL)?;
            }
            let asks = [
                Write(0x1410, 0x11),
                Write(0x1490, 0x2_0000),
                Write(0x14b0, 0x5_ffff),
                Write(0x1470, 1),
            ];
            want.extend_from_slice(&asks, GFP_KERNEL)?;
            assert_eq!(log.take().as_slice(), want.as_slice());
        }
        Ok(())
    }

    #[test]
    fn the_wait_for_an_answer_ends() {
        for wanted in [1, 2] {
            let looks = Cell::new(0);
            let look = || {
                looks.set(looks.get() + 1);
                if looks.get() < 3 {
                    0
                } else {
                    wanted
                }
            };
            let found = answer(look, 10_000);
            assert_eq!((found, looks.get()), (wanted, 3));
        }
        assert_eq!(answer(|| 0, 1), 0);
    }
}
