// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The page table and its caches.
//!
//! Each unit that accesses memory has a small cache of translations, the first level. All share a second level. The
//! first level of R6xx has a register for each unit and direction, that of R7xx one for each memory channel and each
//! group of clients. VM context 0 has its registers at different places, too.
//!
//! The facts are from Linux' `radeon` (`r600_pcie_gart_enable`, `rv770_pcie_gart_enable`).

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    portable::regs::{
        mmio_r6xx::{
            self,
            mc_vm_l1_tlb_mcb_rd_sys_cntl as tlb_r6xx,
            vm_l2_cntl as l2_r6xx,
            vm_l2_cntl3 as l2_banks_r6xx, //
        },
        mmio_r7xx::{
            self,
            mc_vm_mb_l1_tlb_cntl as tlb_r7xx,
            vm_l2_cntl as l2_r7xx,
            vm_l2_cntl3 as l2_banks_r7xx, //
        },
    },
    regs::{
        mmio::VM_L2_CNTL2,
        Far,
        Window, //
    },
};

/// Values of the registers that say where things are, all in pages of 4 KiB.
pub(crate) struct Place {
    /// First and last page of the window.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// The table, in VRAM.
    pub(crate) table: u32,
    /// The page of system memory where accesses go that leave the window.
    pub(crate) default: u32,
}

/// The page table of a generation.
pub(crate) trait Hal: Sync {
    /// Return the registers of context 0: default page, table, first and last page.
    fn context(&self) -> [u32; 4];

    /// Set up the caches to translate what is not in the system aperture, or to do nothing.
    fn set_caches(&self, window: Window<'_>, on: bool);

    /// Set up context 0, which is off.
    fn place(&self, window: Window<'_>, place: &Place) {
        let values = [place.default, place.table, place.first, place.last];
        for (register, value) in self.context().into_iter().zip(values) {
            Far::new(window).write(register, value);
        }
    }
}

/// Return the page table of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match (chipset, chipset.generation()) {
        (Chipset::Rv740, _) => &Rv740,
        (_, Generation::R6xx) => &R6xx,
        (_, Generation::R7xx) => &R7xx,
    }
}

/// Sizes of caches and queues, as Linux sets them.
const L1_SIZE: u32 = 5;
const L1_QUEUE: u32 = 5;
const L2_QUEUE: u32 = 7;

/// Addresses outside of the system aperture are translated.
const TRANSLATED: u32 = 3;

struct R6xx;

impl R6xx {
    /// Caches that only translate.
    const PLAIN: [u32; 13] = [
        mmio_r6xx::MC_VM_L1_TLB_MCB_RD_SYS_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_WR_SYS_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_WR_HDP_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCD_RD_A_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCD_WR_A_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCD_RD_B_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCD_WR_B_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_RD_GFX_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_WR_GFX_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_RD_PDMA_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_WR_PDMA_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_RD_UVD_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_WR_UVD_CNTL,
    ];
    /// The cache for the host's reads, which must stay in order.
    const ORDERED: u32 = mmio_r6xx::MC_VM_L1_TLB_MCB_RD_HDP_CNTL;
    /// Caches for semaphores.
    const SEMAPHORES: [u32; 2] = [
        mmio_r6xx::MC_VM_L1_TLB_MCB_RD_SEM_CNTL,
        mmio_r6xx::MC_VM_L1_TLB_MCB_WR_SEM_CNTL,
    ];
}

impl Hal for R6xx {
    fn context(&self) -> [u32; 4] {
        [
            mmio_r6xx::VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR,
            mmio_r6xx::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
            mmio_r6xx::VM_CONTEXT0_PAGE_TABLE_START_ADDR,
            mmio_r6xx::VM_CONTEXT0_PAGE_TABLE_END_ADDR,
        ]
    }

    fn set_caches(&self, window: Window<'_>, on: bool) {
        let far = Far::new(window);
        let flag = u32::from(on);
        far.write(
            mmio_r6xx::VM_L2_CNTL,
            l2_r6xx::ENABLE_L2_CACHE.of(flag)
                | l2_r6xx::ENABLE_L2_FRAGMENT_PROCESSING.of(1)
                | l2_r6xx::ENABLE_L2_PTE_CACHE_LRU_UPDATE_BY_WRITE.of(flag)
                | l2_r6xx::EFFECTIVE_L2_QUEUE_SIZE.of(L2_QUEUE),
        );
        window.write_reg(VM_L2_CNTL2::zeroed());
        far.write(mmio_r6xx::VM_L2_CNTL3, l2_banks_r6xx::BANK_SELECT_1.of(1));

        let mut cache = tlb_r6xx::EFFECTIVE_L1_TLB_SIZE.of(L1_SIZE)
            | tlb_r6xx::EFFECTIVE_L1_QUEUE_SIZE.of(L1_QUEUE)
            | tlb_r6xx::ENABLE_WAIT_L2_QUERY.of(1);
        if on {
            cache |= tlb_r6xx::ENABLE_L1_TLB.of(1)
                | tlb_r6xx::ENABLE_L1_FRAGMENT_PROCESSING.of(1)
                | tlb_r6xx::SYSTEM_ACCESS_MODE.of(TRANSLATED);
        }
        for register in Self::PLAIN {
            far.write(register, cache);
        }
        let ordered = tlb_r6xx::ENABLE_L1_STRICT_ORDERING.of(flag);
        far.write(Self::ORDERED, cache | ordered);
        let semaphores = tlb_r6xx::ENABLE_SEMAPHORE_MODE.of(flag);
        for register in Self::SEMAPHORES {
            far.write(register, cache | semaphores);
        }
    }
}

struct R7xx;

impl R7xx {
    /// Return the value of a first-level cache's register.
    fn cache(on: bool) -> u32 {
        let mut cache = tlb_r7xx::EFFECTIVE_L1_TLB_SIZE.of(L1_SIZE)
            | tlb_r7xx::EFFECTIVE_L1_QUEUE_SIZE.of(L1_QUEUE);
        if on {
            cache |= tlb_r7xx::ENABLE_L1_TLB.of(1)
                | tlb_r7xx::ENABLE_L1_FRAGMENT_PROCESSING.of(1)
                | tlb_r7xx::SYSTEM_ACCESS_MODE.of(TRANSLATED);
        }
        cache
    }
}

impl Hal for R7xx {
    fn context(&self) -> [u32; 4] {
        [
            mmio_r7xx::VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR,
            mmio_r7xx::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
            mmio_r7xx::VM_CONTEXT0_PAGE_TABLE_START_ADDR,
            mmio_r7xx::VM_CONTEXT0_PAGE_TABLE_END_ADDR,
        ]
    }

    fn set_caches(&self, window: Window<'_>, on: bool) {
        let far = Far::new(window);
        let flag = u32::from(on);
        far.write(
            mmio_r7xx::VM_L2_CNTL,
            l2_r7xx::ENABLE_L2_CACHE.of(flag)
                | l2_r7xx::ENABLE_L2_FRAGMENT_PROCESSING.of(1)
                | l2_r7xx::ENABLE_L2_PTE_CACHE_LRU_UPDATE_BY_WRITE.of(flag)
                | l2_r7xx::EFFECTIVE_L2_QUEUE_SIZE.of(L2_QUEUE),
        );
        window.write_reg(VM_L2_CNTL2::zeroed());
        far.write(
            mmio_r7xx::VM_L2_CNTL3,
            l2_banks_r7xx::CACHE_UPDATE_MODE.of(2),
        );
        let (channels, clients) = (
            mmio_r7xx::MC_VM_MD_L1_TLB_CNTL,
            mmio_r7xx::MC_VM_MB_L1_TLB_CNTL,
        );
        for array in [channels, clients] {
            for register in (0..array.len()).filter_map(|index| array.at(index)) {
                far.write(register, Self::cache(on));
            }
        }
    }
}

/// As the other R7xx, with one more memory channel.
struct Rv740;

impl Hal for Rv740 {
    fn context(&self) -> [u32; 4] {
        R7xx.context()
    }

    fn set_caches(&self, window: Window<'_>, on: bool) {
        R7xx.set_caches(window, on);
        Far::new(window).write(mmio_r7xx::MC_VM_MD_L1_TLB3_CNTL, R7xx::cache(on));
    }
}
