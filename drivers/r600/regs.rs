// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register access.
//!
//! The registers have one space of byte offsets. Its first 64 KiB are memory-mapped (BAR 2). What lies behind, the
//! state of the 3D pipe from 0x28000 on and its constants, is reached through the pair `MM_INDEX`/`MM_DATA`. [`Far`]
//! takes every offset and selects the way.
//!
//! Registers that both generations have at the same place, with the same fields, are in [`mmio`]. Those that only one
//! generation has, or has elsewhere or with other fields, are in [`mmio_r6xx`] and [`mmio_r7xx`]. The trait of a block
//! in [`hal`](crate::hal) selects between the two.
//!
//! Clocks are ordinary registers of the window. The bus interface has a space of its own behind `PCIE_PORT_INDEX`, which
//! only the video BIOS uses.
//!
//! The manual has few of these registers. The facts are Linux' (`radeon`: `r100_mm_rreg`, `r600d.h`, `rv770d.h`).
//!
//! The generator defines registers from `registers/*.xml`: those that `driver.list` names as types, and all of them as
//! offsets and fields in [`portable::regs`](crate::portable::regs).

use kernel::{
    io::{
        self,
        Io,
        IoCapable,
        Region, //
    },
    prelude::*,
    sizes::SZ_64K, //
};

use crate::portable::regs::mmio::mm_index;

// Definitions of registers that `driver.list` names, generated from the register database.
include!(concat!(env!("R600_GENERATED"), "/kernel.rs"));

/// Size in bytes of the register window. BAR 2 must be at least as long.
pub(crate) const WINDOW: usize = SZ_64K;

/// The register window. Cheap to copy; accesses are 32 bits wide.
pub(crate) type Window<'a> = io::Mmio<'a, Region<WINDOW>>;

/// The registers of the window: those of the chip, or a recorder of accesses in a test.
pub(crate) trait RegisterIo<'a>:
    Io<'a, Target = Region<WINDOW>, Backend: IoCapable<u32>>
{
}

impl<'a, T: Io<'a, Target = Region<WINDOW>, Backend: IoCapable<u32>>> RegisterIo<'a> for T {}

/// The pair of all registers, by byte offset.
pub(crate) struct MmPair;

impl MmPair {
    /// Return the index of register `offset`.
    fn index(offset: u32) -> u32 {
        mm_index::ADDR.of(offset)
    }
}

/// The registers of the chip by byte offset, in the window or behind it.
///
/// Only the thread that brings the chip up uses it, because the index register of the pair is one for all.
#[derive(Clone, Copy)]
pub(crate) struct Far<W>(W);

impl<'a, W: RegisterIo<'a>> Far<W> {
    /// Return the registers behind `window`.
    pub(crate) fn new(window: W) -> Self {
        Self(window)
    }

    /// Read the register at byte `offset`.
    pub(crate) fn read(self, offset: u32) -> u32 {
        match self.0.try_read32(offset as usize) {
            Ok(value) => value,
            Err(_) => {
                self.0
                    .write_reg(mmio::MM_INDEX::from(MmPair::index(offset)));
                self.0.read(mmio::MM_DATA).into_raw()
            }
        }
    }

    /// Write `value` to the register at byte `offset`.
    pub(crate) fn write(self, offset: u32, value: u32) {
        if self.0.try_write32(value, offset as usize).is_err() {
            self.0
                .write_reg(mmio::MM_INDEX::from(MmPair::index(offset)));
            self.0.write_reg(mmio::MM_DATA::from(value));
        }
    }
}

#[cfg(CONFIG_KUNIT = "y")]
pub(crate) mod fake {
    //! Registers without hardware, for the KUnit suites.

    pub(crate) use lapidary::corner::io_kunit::{
        Access,
        Device,
        Log, //
    };

    /// A register window of plain memory.
    pub(crate) type Memory = lapidary::corner::io_kunit::Memory<{ super::WINDOW }>;
}

#[kunit_tests(r600_regs)]
mod tests {
    use super::*;

    #[test]
    fn each_offset_has_its_way() {
        use fake::Access::{
            Read,
            Write, //
        };
        let log = fake::Log::new();
        let far = Far::new(log.registers());
        far.write(0xfffc, 1);
        far.write(0x1_0000, 2);
        assert_eq!((far.read(0x8010), far.read(0x3_fffc)), (0, 0));
        let want = [
            Write(0xfffc, 1),
            Write(0, 0x1_0000),
            Write(4, 2),
            Read(0x8010),
            Write(0, 0x3_fffc),
            Read(4),
        ];
        assert_eq!(log.take().as_slice(), want.as_slice());
    }
}
