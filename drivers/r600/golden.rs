// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Settings of an R7xx that no register documents: work-arounds, and what switches off the clocks of idle units.
//!
//! AMD has published them as lists of writes without reasons (Linux, `rv770.c`: `rv770_init_golden_registers`). A write
//! replaces the bits of a mask. R6xx have none. The lists are programmed in their order before any other setting. The
//! engines are idle.
//!
//! Some registers of the lists appear in [`engines`](crate::engines) again, with the values that count in the end.

use kernel::prelude::*;

use lapidary::portable::bits::RegArray;

use crate::{
    chip::Chipset,
    regs::{
        Far,
        RegisterIo, //
    },
};

mod gating;

/// A write: register, bits to be replaced, value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Write {
    offset: u32,
    mask: u32,
    value: u32,
}

/// Writes in their order.
type List = &'static [Write];

/// Return register `index` of an array. A list that names another one does not compile.
const fn element(array: RegArray, index: u32) -> u32 {
    match array.at(index) {
        Some(offset) => offset,
        None => panic!("no such register"),
    }
}

/// Makes a list of `REGISTER = value`, `ARRAY[index] = value` and `REGISTER & mask = value`.
macro_rules! writes {
    ($($name:ident $([$index:literal])? $(& $mask:literal)? = $value:literal,)*) => {
        &[$(crate::golden::Write {
            offset: crate::golden::writes!(@offset $name $([$index])?),
            mask: u32::MAX $(& $mask)?,
            value: $value,
        }),*]
    };
    (@offset $name:ident) => {
        $name
    };
    (@offset $name:ident [$index:literal]) => {
        crate::golden::element($name, $index)
    };
}
use writes;

/// Program the settings of a chip.
pub(crate) fn program<'a>(chipset: Chipset, window: impl RegisterIo<'a>) {
    let far = Far::new(window);
    for write in lists(chipset).iter().copied().flatten() {
        let kept = match write.mask {
            u32::MAX => 0,
            mask => far.read(write.offset) & !mask,
        };
        far.write(write.offset, kept | write.value);
    }
}

/// Return the lists of a chip.
fn lists(chipset: Chipset) -> &'static [List] {
    use values::*;
    match chipset {
        Chipset::R600 | Chipset::Rv610 | Chipset::Rv635 | Chipset::Rv670 => &[],
        Chipset::Rv770 => &[R7XX, DYNAMIC_GPRS, RV770, gating::RV770],
        Chipset::Rv730 => &[R7XX, DYNAMIC_GPRS, RV730, gating::RV730],
        Chipset::Rv710 => &[R7XX, DYNAMIC_GPRS, RV710, gating::RV710],
        Chipset::Rv740 => &[RV740, gating::RV740],
    }
}

mod values {
    //! The short lists.

    use super::{
        writes,
        List, //
    };
    use crate::portable::regs::{
        mmio::*,
        mmio_r7xx::*, //
    };

    /// All chips but the RV740.
    pub(super) const R7XX: List = writes! {
        SQ_PERFCOUNTER0_SELECT = 0xe0e_0074, SQ_PERFCOUNTER1_SELECT = 0x13a_2b34, TA_CNTL_AUX = 2,
        PA_SC_MULTI_CHIP_CNTL = 0, VGT_CACHE_INVALIDATION = 0xc2, SX_MISC = 0, SX_DEBUG_1 = 0xfff_c40f,
        CFG_240C = 0x380, AZ_CFG_733C = 2, MC_CITF_MISC_VM_CG & 0x4_0000 = 0,
        MC_HUB_MISC_VM_CG & 0x4_0000 = 0, AZ_HOT_PLUG_CONTROL = 0x10_00f0,
    };

    /// Registers of shaders that SIMDs give to each other, all chips but the RV740.
    pub(super) const DYNAMIC_GPRS: List = writes! {
        SQ_DYN_GPR_SIZE_SIMD_AB[0] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[1] = 0x9898_9898,
        SQ_DYN_GPR_SIZE_SIMD_AB[2] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[3] = 0x9898_9898,
        SQ_DYN_GPR_SIZE_SIMD_AB[4] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[5] = 0x9898_9898,
        SQ_DYN_GPR_SIZE_SIMD_AB[6] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[7] = 0x9898_9898,
        VGT_CACHE_INVALIDATION = 0x82,
    };

    /// RV770.
    pub(super) const RV770: List = writes! {
        CFG_562C = 0, CGTS_SYS_TCC_DISABLE = 0, CGTS_TCC_DISABLE = 0, CGTS_USER_SYS_TCC_DISABLE = 0,
        CGTS_USER_TCC_DISABLE = 0, CFG_9698 & 0x1800_0000 = 0x1800_0000,
    };

    /// RV730.
    pub(super) const RV730: List = writes! {
        CGTS_SYS_TCC_DISABLE & 0xff_0000 = 0xf0_0000, CGTS_TCC_DISABLE & 0xff_0000 = 0xf0_0000,
        CGTS_USER_SYS_TCC_DISABLE & 0xff_0000 = 0xf0_0000,
        CGTS_USER_TCC_DISABLE & 0xff_0000 = 0xf0_0000, SX_EXPORT_BUFFER_SIZES = 0x3b_033f,
        CFG_0B4C & 0x20 = 0x20, CFG_A180 = 0x3f3f,
    };

    /// RV710.
    pub(super) const RV710: List = writes! {
        CGTS_SYS_TCC_DISABLE & 0xff_0000 = 0xfc_0000, CGTS_TCC_DISABLE & 0xff_0000 = 0xfc_0000,
        CGTS_USER_SYS_TCC_DISABLE & 0xff_0000 = 0xfc_0000,
        CGTS_USER_TCC_DISABLE & 0xff_0000 = 0xfc_0000, CFG_0B4C & 0x20 = 0x20, CFG_A180 = 0x3f3f,
    };

    /// RV740, which has a list of its own.
    pub(super) const RV740: List = writes! {
        VGT_CACHE_INVALIDATION = 0x82, VGT_ENHANCE & 0xffff_fffc = 4, MC_CITF_MISC_VM_CG & 0x4_0000 = 0,
        MC_HUB_MISC_VM_CG & 0x4_0000 = 0, AZ_CFG_733C = 2, AZ_HOT_PLUG_CONTROL = 0x10_00f0,
        CGTS_SYS_TCC_DISABLE & 0xff_0000 = 0, CGTS_TCC_DISABLE & 0xff_0000 = 0,
        CGTS_USER_SYS_TCC_DISABLE & 0xff_0000 = 0, CGTS_USER_TCC_DISABLE & 0xff_0000 = 0,
        CFG_240C = 0x380, PA_CL_ENHANCE & 0x7 = 7, PA_SC_FORCE_EOV_MAX_CNTS = 0xff_0fff,
        PA_SC_MODE_CNTL = 0x4000, CFG_A180 = 0x3f3f, SQ_PERFCOUNTER0_SELECT = 0xe0e_003a,
        SQ_PERFCOUNTER1_SELECT = 0x13a_0e2a, SQ_CONFIG = 0xe400_000f,
        SQ_DYN_GPR_SIZE_SIMD_AB[0] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[1] = 0x9898_9898,
        SQ_DYN_GPR_SIZE_SIMD_AB[2] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[3] = 0x9898_9898,
        SQ_DYN_GPR_SIZE_SIMD_AB[4] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[5] = 0x9898_9898,
        SQ_DYN_GPR_SIZE_SIMD_AB[6] = 0x9898_9898, SQ_DYN_GPR_SIZE_SIMD_AB[7] = 0x9898_9898,
        SX_DEBUG_1 = 0xfff_c40f, SX_EXPORT_BUFFER_SIZES = 0x3b_033f, SX_MISC = 0,
        SQ_MS_FIFO_SIZES & 0x1fff_ffff = 0x8e0_0420, TA_CNTL_AUX = 2, VGT_CACHE_INVALIDATION = 0xc2,
        CFG_9698 & 0x1800_0000 = 0x1800_0000,
    };
}

#[kunit_tests(r600_golden)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use kernel::io::Io;

    #[test]
    fn each_chip_has_all_of_its_writes() {
        let count = |chipset| lists(chipset).iter().map(|list| list.len()).sum::<usize>();
        assert_eq!(count(Chipset::Rv670), 0);
        assert_eq!(count(Chipset::Rv770), 181);
        assert_eq!(count(Chipset::Rv710), 82);
        assert_eq!(count(Chipset::Rv730), 146);
        assert_eq!(count(Chipset::Rv740), 165);
    }

    #[test]
    fn a_mask_keeps_the_other_bits() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        for offset in [0x2650, 0x9698, 0x8d00] {
            window.try_write32(u32::MAX, offset)?;
        }
        program(Chipset::Rv770, window);
        assert_eq!(window.try_read32(0x2650)?, !0x4_0000);
        assert_eq!(window.try_read32(0x9698)?, u32::MAX);
        assert_eq!(window.try_read32(0x8d00)?, 0x0e0e_0074);
        Ok(())
    }

    /// What lies behind the window is written through the pair of all registers.
    #[test]
    fn no_write_is_lost_behind_the_window() {
        use fake::Access;
        let log = fake::Log::new();
        program(Chipset::Rv740, log.registers());
        let all = log.take();
        let at = all
            .iter()
            .position(|access| *access == Access::Write(0, 0x2_8350));
        let next = at.and_then(|at| all.get(at + 1));
        assert!(next == Some(&Access::Write(4, 0)));
        // Writes, reads for masks, and one access more for each that lies behind: 28350, 28A4C, 28A50.
        let reads = all
            .iter()
            .filter(|access| matches!(access, Access::Read(_)))
            .count();
        assert_eq!(reads, 10);
        assert_eq!(all.len(), 165 + reads + 4);
    }
}
