// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The page table of the window on system memory.
//!
//! The chips translate a window of GPU addresses through a flat table in VRAM, with one entry of 32 or 64 bits for each
//! page of 4 KiB. The host writes the table through its window on VRAM. The chip caches entries. The driver invalidates
//! that cache after its writes have arrived.
//!
//! The table and the order of these steps are the same in all families. The family adds the [`Entry`] and the registers
//! that open, flush and close the window ([`Translation`]).

use core::marker::PhantomData;

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

use crate::{
    corner::wc,
    family::{
        Flags,
        Space,
        Target, //
    }, //
};

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Memory of a table: VRAM through the host's window, or a recorder of accesses in a test.
pub trait TableIo<'t>: Io<'t, Target = Region, Backend: IoCapable<u32> + IoCapable<u64>> {}

impl<'t, T: Io<'t, Target = Region, Backend: IoCapable<u32> + IoCapable<u64>>> TableIo<'t> for T {}

/// An entry of the table.
pub trait Entry: Copy {
    /// Bytes of an entry: 4 or 8.
    const BYTES: usize;

    /// The entry that maps nothing.
    const NONE: Self;

    /// Return the entry for the page at `target`, which the chip may access as `flags` say. `None` if no entry can have
    /// the address. A multiple of [`PAGE`] below one that fits also fits.
    fn page(target: Target, flags: Flags) -> Option<Self>;

    /// Write the entry to byte `offset` of `memory`, if it lies there, by one access.
    fn store<'t>(self, memory: impl TableIo<'t>, offset: usize);
}

/// Return the bytes of a table with entries of kind `E` for a window of `size` bytes.
pub const fn table_size<E: Entry>(size: u64) -> u64 {
    size / PAGE * E::BYTES as u64
}

/// The entries of a table.
pub struct Entries<M, E> {
    memory: M,
    len: usize,
    kind: PhantomData<E>,
}

impl<'t, M: TableIo<'t>, E: Entry> Entries<M, E> {
    /// Return the first `len` entries in `memory`, which has room for them.
    pub fn new(memory: M, len: usize) -> Self {
        Self {
            memory,
            len,
            kind: PhantomData,
        }
    }

    /// Write entry `index`, which the caller has checked to exist.
    fn set(&self, index: usize, entry: E) {
        entry.store(self.memory, index * E::BYTES);
    }

    /// Write the same entry `count` times from `first` on, as far as the table goes.
    pub fn fill(&self, first: usize, count: usize, entry: E) {
        let end = first.saturating_add(count).min(self.len);
        for index in first..end {
            self.set(index, entry);
        }
    }

    /// Point `pages` entries from `first` on at memory from `target` on.
    ///
    /// # Errors
    ///
    /// As [`Space::map`].
    pub fn map(&self, first: usize, target: Target, pages: usize, flags: Flags) -> Result {
        let end = first.checked_add(pages).ok_or(EINVAL)?;
        if end > self.len {
            return Err(EINVAL);
        }
        // All that can fail is done before the first entry is written: the last page's address is
        // the highest.
        let Some(last) = pages.checked_sub(1) else {
            return Ok(());
        };
        let (Target::System(start) | Target::Vram(start)) = target;
        let last = (last as u64)
            .checked_mul(PAGE)
            .and_then(|offset| start.checked_add(offset))
            .ok_or(EINVAL)?;
        let entry = |address| {
            let target = match target {
                Target::System(_) => Target::System(address),
                Target::Vram(_) => Target::Vram(address),
            };
            E::page(target, flags)
        };
        entry(last).ok_or(EINVAL)?;

        let pages = (start..=last).step_by(PAGE as usize);
        for (index, page) in (first..end).zip(pages) {
            if let Some(entry) = entry(page) {
                self.set(index, entry);
            }
        }
        Ok(())
    }

    /// Wait until the writes have arrived in VRAM. The answer of a read comes behind them.
    ///
    /// The CPU combines writes, and must have sent them before. An access to a register flushes its buffers.
    pub fn settle(&self) {
        let _ = self.memory.try_read32(0);
    }
}

/// The registers of the window.
pub trait Translation: Send + Sync {
    /// What the table consists of.
    type Entry: Entry;

    /// Set up the window, closed: the chip discards accesses to it.
    fn set_up(&self);

    /// Let the CPU write the table, if the chip protects it. Called before entries are written.
    fn unlock(&self) {}

    /// Access a register, wait until `entries` have arrived in VRAM ([`Entries::settle`]), invalidate the chip's cache
    /// of them, and open the window.
    fn flush(&self, entries: &Entries<Mmio<'_, Region>, Self::Entry>);

    /// Close the window.
    fn close(&self);
}

/// The page table, in use while this lives.
#[pin_data(PinnedDrop)]
pub struct Gart<'a, T: Translation> {
    #[pin]
    registers: T,
    /// The entries in VRAM, as the host sees them, and how many there are.
    table: wc::Window<'a>,
    len: usize,
}

impl<'a, T: Translation> Gart<'a, T> {
    /// Translate a window of `size` bytes by `registers` through a table that the host sees as `table`. It starts with
    /// no page mapped, and all of `table` zero.
    ///
    /// # Errors
    ///
    /// `EINVAL` if `table` is too short.
    pub fn new<I: PinInit<T>>(
        registers: I,
        size: u64,
        table: wc::Window<'a>,
    ) -> Result<impl PinInit<Self, Error> + use<'a, I, T>> {
        if (table.size() as u64) < table_size::<T::Entry>(size) {
            return Err(EINVAL);
        }
        let len = usize::try_from(size / PAGE)?;
        Ok(try_pin_init!(Self {
            registers <- registers,
            len,
            table,
            _: { begin(&*registers, table) },
        }? Error))
    }

    /// Wait until what the host has written to VRAM has arrived there.
    pub fn settle(&self) {
        self.entries().settle();
    }

    /// Map the driver's own memory from entry `first` on: `pieces` of whole pages, each with bus address and bytes, one
    /// behind the other.
    ///
    /// # Errors
    ///
    /// As [`Space::map`].
    pub fn map_own(&self, first: u64, pieces: impl Iterator<Item = (u64, usize)>) -> Result {
        let mut first = usize::try_from(first)?;
        for (addr, size) in pieces {
            let pages = size / PAGE as usize;
            self.map(first, Target::System(addr), pages, Flags::READ_WRITE)?;
            first += pages;
        }
        self.flush();
        Ok(())
    }

    /// Set up the table and the window again, on a chip that may have lost both. No page is mapped then.
    pub fn restart(&self) {
        begin(&self.registers, &self.table);
    }

    fn entries(&self) -> Entries<Mmio<'_, Region>, T::Entry> {
        Entries::new((&self.table).as_view(), self.len)
    }
}

/// Empty the table and set up the window. It stays closed until the first pages have been mapped and flushed
/// ([`Space::flush`]). That also invalidates what the chip has cached of another table.
fn begin<T: Translation>(registers: &T, table: &wc::Window<'_>) {
    // All of the memory: discarded reads are answered from what lies behind the table.
    let all = table.size() / T::Entry::BYTES;
    registers.unlock();
    Entries::new(table.as_view(), all).fill(0, all, T::Entry::NONE);
    registers.set_up();
}

impl<T: Translation> Space for Gart<'_, T> {
    fn map(&self, first: usize, target: Target, pages: usize, flags: Flags) -> Result {
        self.registers.unlock();
        self.entries().map(first, target, pages, flags)
    }

    fn unmap(&self, first: usize, count: usize) {
        self.registers.unlock();
        self.entries().fill(first, count, T::Entry::NONE);
    }

    fn flush(&self) {
        self.registers.flush(&self.entries());
    }
}

#[pinned_drop]
impl<T: Translation> PinnedDrop for Gart<'_, T> {
    fn drop(self: Pin<&mut Self>) {
        self.registers.close();
    }
}

#[kunit_tests(lapidary_gart)]
mod tests {
    use super::*;
    use crate::corner::io_kunit::{
        Access,
        Log, //
    };

    /// An entry of 64 bits with an address of 40, and a bit for memory that is not VRAM.
    #[derive(Clone, Copy)]
    struct Wide(u64);

    impl Entry for Wide {
        const BYTES: usize = 8;
        const NONE: Self = Self(0);

        fn page(target: Target, _flags: Flags) -> Option<Self> {
            let (address, system) = match target {
                Target::System(address) => (address, 2),
                Target::Vram(address) => (address, 0),
            };
            (address % PAGE == 0 && address >> 40 == 0).then_some(Self(address | system | 1))
        }

        fn store<'t>(self, memory: impl TableIo<'t>, offset: usize) {
            let _ = memory.try_write64(self.0, offset);
        }
    }

    #[test]
    fn wide_entries_lie_one_behind_the_other() -> Result {
        let log = Log::new();
        let entries = Entries::<_, Wide>::new(log.window(64), 8);
        entries.map(4, Target::Vram(0x5000), 1, Flags::READ_WRITE)?;
        entries.map(5, Target::System(0xff_ffff_e000), 2, Flags::READ_WRITE)?;
        entries.fill(6, 9, Wide::NONE);
        entries.settle();
        let want = [
            Access::Write64(32, 0x5001),
            Access::Write64(40, 0xff_ffff_e003),
            Access::Write64(48, 0xff_ffff_f003),
            Access::Write64(48, 0),
            Access::Write64(56, 0),
            Access::Read(0),
        ];
        assert_eq!(log.take().as_slice(), want.as_slice());
        Ok(())
    }

    #[test]
    fn what_does_not_fit_writes_nothing() {
        let log = Log::new();
        let entries = Entries::<_, Wide>::new(log.window(64), 8);
        for (first, addr, pages) in [(7, 0, 2), (0, 0x800, 1), (0, 0xff_ffff_f000, 2)] {
            let result = entries.map(first, Target::System(addr), pages, Flags::READ_WRITE);
            assert!(result == Err(EINVAL));
        }
        assert!(log.take().is_empty());
    }

    #[test]
    fn a_table_is_as_long_as_its_entries() {
        assert_eq!(table_size::<Wide>(0x2000_0000), 0x10_0000);
    }
}
