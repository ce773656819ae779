// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register access.
//!
//! An R5xx has one memory-mapped register window (BAR 2, 64 KiB, offsets in bytes). Three more register spaces are
//! reached through index and data registers in it:
//!
//! - *MC*, the memory controller: `MC_IND_INDEX`/`MC_IND_DATA`. The index word also has byte enables, one set for
//!   reading and one for writing, and has to be reset to zero afterwards. The RV515 uses other register numbers than
//!   the other chips, so the register database has two MC spaces.
//! - *PCIE*, the bus interface with the GART: `PCIE_INDEX`/`PCIE_DATA`.
//! - *PLL*, the clocks: `CLOCK_CNTL_INDEX`/`CLOCK_CNTL_DATA`. The index is the low byte of a word. Its upper bytes
//!   belong to the display clocks, so the index is written as a byte.
//!
//! The manual does not describe these. The facts are Linux' (`radeon`: `rv515_mc_rreg`, `rv370_pcie_rreg`,
//! `r100_pll_rreg`).
//!
//! The generator defines registers from `registers/*.xml`. Those of an indirect space are relative to that space's
//! `Space` type, which names the pair that serves it ([`lapidary::hardware::indirect`]).

use kernel::{
    io::{
        self,
        register::Register,
        Io,
        IoCapable,
        Region, //
    },
    prelude::*,
    sizes::SZ_64K, //
};

use lapidary::hardware::indirect::{
    Indirect,
    Pair,
    Select,
    Selected,
    ServedBy, //
};

// Definitions of registers that `driver.list` names, generated from the register database.
include!(concat!(env!("R500_GENERATED"), "/kernel.rs"));

/// Size in bytes of the register window. BAR 2 must be at least as long.
pub(crate) const WINDOW: usize = SZ_64K;

/// The register window. Cheap to copy; accesses are 32 bits wide unless a function says otherwise.
pub(crate) type Window<'a> = io::Mmio<'a, Region<WINDOW>>;

/// The registers of the window: those of the chip, or a recorder of accesses in a test.
pub(crate) trait RegisterIo<'a>:
    Io<'a, Target = Region<WINDOW>, Backend: IoCapable<u32>>
{
}

impl<'a, T: Io<'a, Target = Region<WINDOW>, Backend: IoCapable<u32>>> RegisterIo<'a> for T {}

/// The pair of the memory controller.
pub(crate) struct McPair;

impl McPair {
    /// Byte enables of a read, in the index word.
    const READ: u32 = 0x007f_0000;
    /// Byte enables of a write, in the index word.
    const WRITE: u32 = 0x00ff_0000;
}

impl Pair for McPair {
    type Window<'a> = Window<'a>;

    fn read(window: Window<'_>, index: u32) -> u32 {
        window.write_reg(mmio::MC_IND_INDEX::from(Self::READ | index));
        let value = window.read(mmio::MC_IND_DATA).into_raw();
        window.write_reg(mmio::MC_IND_INDEX::zeroed());
        value
    }

    fn write(window: Window<'_>, index: u32, value: u32) {
        window.write_reg(mmio::MC_IND_INDEX::from(Self::WRITE | index));
        window.write_reg(mmio::MC_IND_DATA::from(value));
        window.write_reg(mmio::MC_IND_INDEX::zeroed());
    }
}

impl ServedBy<McPair> for mc_rv515::Space {}
impl ServedBy<McPair> for mc_r520::Space {}

/// The pair of the PCI Express interface.
pub(crate) struct PciePair;

impl Pair for PciePair {
    type Window<'a> = Window<'a>;

    fn read(window: Window<'_>, index: u32) -> u32 {
        Self::select(window, index);
        Self::read_selected(window)
    }

    fn write(window: Window<'_>, index: u32, value: u32) {
        Self::select(window, index);
        Self::write_selected(window, value);
    }
}

impl Select for PciePair {
    fn select(window: Window<'_>, index: u32) {
        window.write_reg(mmio::PCIE_INDEX::from(index));
    }

    fn read_selected(window: Window<'_>) -> u32 {
        window.read(mmio::PCIE_DATA).into_raw()
    }

    fn write_selected(window: Window<'_>, value: u32) {
        window.write_reg(mmio::PCIE_DATA::from(value));
    }
}

impl ServedBy<PciePair> for pcie::Space {}

/// The pair of the clocks.
pub(crate) struct PllPair;

impl PllPair {
    /// Bit of the index byte that makes the next data access a write.
    const WRITE: u8 = 0x80;
    /// Bits of the index byte that select the register.
    const INDEX: u32 = 0x3f;

    /// Write the index byte. The other bytes of the word do not change.
    fn select(window: Window<'_>, index: u32, flags: u8) {
        // CAST: the mask leaves six bits.
        let byte = (index & Self::INDEX) as u8 | flags;
        window.write8(byte, <mmio::CLOCK_CNTL_INDEX as Register>::OFFSET);
    }
}

impl Pair for PllPair {
    type Window<'a> = Window<'a>;

    fn read(window: Window<'_>, index: u32) -> u32 {
        Self::select(window, index, 0);
        window.read(mmio::CLOCK_CNTL_DATA).into_raw()
    }

    fn write(window: Window<'_>, index: u32, value: u32) {
        Self::select(window, index, Self::WRITE);
        window.write_reg(mmio::CLOCK_CNTL_DATA::from(value));
        // Otherwise a stray write to the data register would change this register.
        Self::select(window, index, 0);
    }
}

impl ServedBy<PllPair> for pll::Space {}

/// Registers of the memory controller.
pub(crate) type Mc<'a> = Indirect<'a, McPair>;
/// Registers of the PCI Express interface.
pub(crate) type Pcie<'a> = Indirect<'a, PciePair>;
/// A register of the PCI Express interface that stays selected.
pub(crate) type PcieSelected<'s, 'a, R> = Selected<'s, 'a, PciePair, R>;
/// Registers of the clocks.
pub(crate) type Pll<'a> = Indirect<'a, PllPair>;

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

#[kunit_tests(r500_regs)]
mod tests {
    use super::*;
    use kernel::alloc::KBox;

    /// The index register shows which register was accessed last.
    #[test]
    fn pcie_pair_selects_by_plain_index() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let pcie = KBox::pin_init(Pcie::new(window), GFP_KERNEL)?;

        pcie.write(pcie::PCIE_TX_GART_ERROR::from(0x1234_5678));
        assert_eq!(
            window.read(mmio::PCIE_INDEX).into_raw(),
            <pcie::PCIE_TX_GART_ERROR as Register>::OFFSET as u32
        );
        assert_eq!(window.read(mmio::PCIE_DATA).into_raw(), 0x1234_5678);

        let base: pcie::PCIE_TX_GART_BASE = pcie.read();
        assert_eq!(base.into_raw(), 0x1234_5678);
        assert_eq!(
            window.read(mmio::PCIE_INDEX).into_raw(),
            <pcie::PCIE_TX_GART_BASE as Register>::OFFSET as u32
        );
        Ok(())
    }

    /// The byte enables are in the index word during an access only.
    #[test]
    fn mc_pair_rests_at_zero() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let mc = KBox::pin_init(Mc::new(window), GFP_KERNEL)?;

        mc.write(mc_rv515::MC_AGP_BASE::from(7));
        assert_eq!(window.read(mmio::MC_IND_INDEX).into_raw(), 0);
        assert_eq!(window.read(mmio::MC_IND_DATA).into_raw(), 7);
        let agp: mc_r520::MC_AGP_BASE = mc.read();
        assert_eq!(agp.into_raw(), 7);
        assert_eq!(window.read(mmio::MC_IND_INDEX).into_raw(), 0);
        Ok(())
    }

    /// The display's bytes of the clock index survive, and no write is left enabled.
    #[test]
    fn pll_pair_touches_one_byte() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(mmio::CLOCK_CNTL_INDEX::from(0xaabb_cc00));
        let pll = KBox::pin_init(Pll::new(window), GFP_KERNEL)?;

        pll.update(|value: pll::CP_DYN_CNTL| pll::CP_DYN_CNTL::from(value.into_raw() | 1));
        let index = <pll::CP_DYN_CNTL as Register>::OFFSET as u32;
        assert_eq!(
            window.read(mmio::CLOCK_CNTL_INDEX).into_raw(),
            0xaabb_cc00 | index
        );
        assert_eq!(window.read(mmio::CLOCK_CNTL_DATA).into_raw(), 1);
        pll.read::<pll::E2_DYN_CNTL>();
        let index = <pll::E2_DYN_CNTL as Register>::OFFSET as u32;
        assert_eq!(
            window.read(mmio::CLOCK_CNTL_INDEX).into_raw(),
            0xaabb_cc00 | index
        );
        Ok(())
    }
}
