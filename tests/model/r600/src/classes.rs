// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the model makes of each register: the table by which "not implemented" is known and not overlooked.

use lapidary_model::classes::Names::{Rest, These};
use lapidary_model::classes::{self, Block};
use lapidary_model::registers::Class;
use lapidary_registers::Register;

use crate::engine3d::classes::{CB, DB, SC, SQ, SX, VGT, stored};

/// Return the class of a register; none if the table forgets it.
pub fn class(register: &Register) -> Option<Class> {
    classes::class(BLOCKS, register)
}

const VIEW: &str = "a view for debugging, which shows nothing stuck";

static BLOCKS: &[Block] = &[
    Block {
        name: "BIF",
        implemented: &[
            "MM_INDEX",
            "MM_DATA",
            "BIF_FB_EN",
            "HDP_MEM_COHERENCY_FLUSH_CNTL",
            "HDP_REG_COHERENCY_FLUSH_CNTL",
        ],
        stored: &[
            (
                "messages between firmware and drivers",
                These(&["BIOS_SCRATCH", "CONFIG_MEMSIZE", "BIF_SCRATCH0"]),
            ),
            (
                "the ROM and the apertures are PCI's business",
                These(&["ROM_CNTL", "BUS_CNTL", "CONFIG_CNTL"]),
            ),
            (
                "vectors are in memory before the interrupt, without a dummy read",
                These(&["INTERRUPT_CNTL", "INTERRUPT_CNTL2"]),
            ),
        ],
        missing: &[
            "VENDOR_DEVICE_ID",
            "CONFIG_F0_BASE",
            "CONFIG_APER_SIZE",
            "MM_CFGREGS_CNTL",
            "BIF_CFG_541C",
            "RCU_INDEX",
            "RCU_DATA",
            "PCIE_PORT_INDEX",
            "PCIE_PORT_DATA",
            "PCIE_LINK_CNTL2",
            "PCIE_LC_TRAINING_CNTL",
            "PCIE_LC_LINK_WIDTH_CNTL",
            "PCIE_LC_SPEED_CNTL",
        ],
    },
    Block {
        name: "CG",
        implemented: &[],
        stored: &[(
            "nothing depends on a clock, a voltage or a temperature",
            Rest,
        )],
        missing: &[],
    },
    Block {
        name: "SRBM",
        implemented: &["SRBM_STATUS", "SRBM_SOFT_RESET"],
        stored: &[],
        missing: &["SRBM_READ_ERROR", "SRBM_INT_STATUS", "SRBM_INT_ACK"],
    },
    Block {
        name: "GRBM",
        implemented: &[
            "GRBM_STATUS",
            "GRBM_STATUS2",
            "GRBM_SOFT_RESET",
            "GRBM_INT_CNTL",
        ],
        stored: &[
            (
                "time-outs of a register bus that is never slow",
                These(&["GRBM_CNTL"]),
            ),
            (
                "everything before it in the stream is done, so it never waits",
                These(&["WAIT_UNTIL"]),
            ),
        ],
        missing: &["GRBM_READ_ERROR"],
    },
    Block {
        name: "MC",
        implemented: &[
            "MC_VM_FB_LOCATION",
            "MC_VM_AGP_BOT",
            "MC_VM_AGP_TOP",
            "MC_VM_SYSTEM_APERTURE_LOW_ADDR",
            "MC_VM_SYSTEM_APERTURE_HIGH_ADDR",
            "CITF_CNTL",
            "MC_CITF_CNTL",
        ],
        stored: &[
            (
                "a card on PCI Express has no AGP bus",
                These(&["MC_VM_AGP_BASE"]),
            ),
            (
                "an access that hits nothing is a finding and goes nowhere",
                These(&["MC_VM_SYSTEM_APERTURE_DEFAULT_ADDR"]),
            ),
            ("geometry and timing of the memory", Rest),
        ],
        missing: &[],
    },
    Block {
        name: "VM",
        implemented: &[
            "VM_CONTEXT_CNTL",
            "VM_CONTEXT0_PAGE_TABLE_BASE_ADDR",
            "VM_CONTEXT0_PAGE_TABLE_START_ADDR",
            "VM_CONTEXT0_PAGE_TABLE_END_ADDR",
            "VM_CONTEXT0_REQUEST_RESPONSE",
            "VM_CONTEXT0_INVALIDATION_LOW_ADDR",
            "VM_CONTEXT0_INVALIDATION_HIGH_ADDR",
            "VM_L2_CNTL2",
        ],
        stored: &[
            (
                "an access that hits nothing is a finding and goes nowhere",
                These(&["VM_CONTEXT0_PROTECTION_FAULT_DEFAULT_ADDR"]),
            ),
            (
                "translation caches, of which there is one without a size",
                Rest,
            ),
        ],
        missing: &[],
    },
    Block {
        name: "HDP",
        implemented: &[
            "HDP_NONSURFACE_BASE",
            "HDP_TILING_CONFIG",
            "HDP_DEBUG1",
            "HDP_SURFACE_WORD0",
            "HDP_SURFACE_WORD1",
            "HDP_SURFACE_WORD2",
            "HDP_SURFACE_WORD3",
            "HDP_SURFACE_WORD4",
        ],
        stored: &[("the CPU sees VRAM as it is, and all of it", Rest)],
        missing: &[],
    },
    Block {
        name: "IH",
        implemented: &[
            "IH_RB_CNTL",
            "IH_RB_BASE",
            "IH_RB_RPTR",
            "IH_RB_WPTR",
            "IH_RB_WPTR_ADDR_HI",
            "IH_RB_WPTR_ADDR_LO",
            "IH_CNTL",
        ],
        stored: &[],
        missing: &[],
    },
    Block {
        name: "RLC",
        implemented: &[
            "RLC_CNTL",
            "RLC_UCODE_ADDR",
            "RLC_UCODE_DATA",
            "RLC_GPU_CLOCK_COUNT_LSB",
            "RLC_GPU_CLOCK_COUNT_MSB",
            "RLC_CAPTURE_GPU_CLOCK_COUNT",
        ],
        stored: &[(
            "what the RLC's microcode works with, which is not executed",
            Rest,
        )],
        missing: &[],
    },
    Block {
        name: "CP",
        implemented: &[
            "CP_RB_BASE",
            "CP_RB_CNTL",
            "CP_RB_RPTR",
            "CP_RB_RPTR_WR",
            "CP_RB_RPTR_ADDR",
            "CP_RB_RPTR_ADDR_HI",
            "CP_RB_WPTR",
            "CP_RB_WPTR_DELAY",
            "CP_ME_CNTL",
            "CP_ME_RAM_WADDR",
            "CP_ME_RAM_RADDR",
            "CP_ME_RAM_DATA",
            "CP_PFP_UCODE_ADDR",
            "CP_PFP_UCODE_DATA",
            "CP_INT_CNTL",
            "CP_INT_STATUS",
            "CP_STRMOUT_CNTL",
            "CP_COHER_CNTL",
            "CP_COHER_SIZE",
            "CP_COHER_BASE",
            "CP_COHER_STATUS",
            "SCRATCH_REG",
            "SCRATCH_UMSK",
            "SCRATCH_ADDR",
        ],
        stored: &[
            (
                "sizes of queues that are never full, and time between polls",
                These(&[
                    "CP_QUEUE_THRESHOLDS",
                    "CP_MEQ_THRESHOLDS",
                    "CP_SEM_WAIT_TIMER",
                ]),
            ),
            (
                "nothing is left in caches whose addresses would be compared",
                These(&["COHER_DEST_BASE"]),
            ),
            (
                "nothing to debug or to count",
                These(&["CP_DEBUG", "CP_PERFMON_CNTL"]),
            ),
            (
                VIEW,
                These(&[
                    "CP_STALLED_STAT1",
                    "CP_STALLED_STAT2",
                    "CP_BUSY_STAT",
                    "CP_STAT",
                ]),
            ),
        ],
        missing: &[
            "CP_ME_STATUS",
            "CP_MEQ_STAT",
            "CP_ROQ_RB_STAT",
            "CP_ROQ_IB1_STAT",
            "CP_ROQ_IB2_STAT",
            "CP_RB_WPTR_ADDR",
            "CP_RB_WPTR_ADDR_HI",
        ],
    },
    Block {
        name: "DMA",
        implemented: &[
            "DMA_RB_CNTL",
            "DMA_RB_BASE",
            "DMA_RB_RPTR",
            "DMA_RB_WPTR",
            "DMA_RB_RPTR_ADDR_HI",
            "DMA_RB_RPTR_ADDR_LO",
            "DMA_IB_CNTL",
            "DMA_CNTL",
            "DMA_STATUS_REG",
            "DMA_TILING_CONFIG",
            "DMA_TILING_CONFIG2",
        ],
        stored: &[
            (
                "semaphores are waited for without end",
                These(&[
                    "DMA_SEM_INCOMPLETE_TIMER_CNTL",
                    "DMA_SEM_WAIT_FAIL_TIMER_CNTL",
                ]),
            ),
            (
                "the engine takes the packets of its generation",
                These(&["DMA_MODE"]),
            ),
        ],
        missing: &["DMA_CONFIG", "DMA_IB_RPTR"],
    },
    Block {
        name: "DISPLAY",
        implemented: &[
            "D1CRTC_CONTROL",
            "D1CRTC_H_TOTAL",
            "D1CRTC_V_TOTAL",
            "D1CRTC_STATUS",
            "D1CRTC_STATUS_POSITION",
            "D1CRTC_STATUS_FRAME_COUNT",
            "D1GRPH_ENABLE",
            "D1GRPH_CONTROL",
            "D1GRPH_PRIMARY_SURFACE_ADDRESS",
            "D1GRPH_PITCH",
            "D1GRPH_X_END",
            "D1GRPH_Y_START",
            "D1GRPH_Y_END",
            "D2CRTC_CONTROL",
            "D2CRTC_H_TOTAL",
            "D2CRTC_V_TOTAL",
            "D2CRTC_STATUS",
            "D2CRTC_STATUS_POSITION",
            "D2CRTC_STATUS_FRAME_COUNT",
            "D2GRPH_ENABLE",
            "D2GRPH_CONTROL",
            "D2GRPH_PRIMARY_SURFACE_ADDRESS",
            "D2GRPH_PITCH",
            "D2GRPH_X_END",
            "D2GRPH_Y_START",
            "D2GRPH_Y_END",
        ],
        stored: &[("no screen, plug or sound is attached", Rest)],
        missing: &[],
    },
    VGT,
    Block {
        name: "GB",
        implemented: &["GB_TILING_CONFIG"],
        stored: &[("fuses", These(&["CC_RB_BACKEND_DISABLE"]))],
        missing: &[],
    },
    Block {
        name: "GC",
        implemented: &[],
        stored: &[("fuses, and clocks of blocks that need none", Rest)],
        missing: &[],
    },
    Block {
        name: "UVD",
        implemented: &[],
        stored: &[("no video is decoded", Rest)],
        missing: &[],
    },
    stored("PA"),
    SC,
    stored("SPI"),
    SQ,
    stored("TA"),
    stored("TD"),
    stored("TC"),
    stored("VC"),
    SX,
    stored("SMX"),
    DB,
    CB,
];

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::r600::{MMIO_R6XX, MMIO_R7XX, REGISTERS};
    use std::path::Path;

    /// Return the registers of both maps.
    fn all() -> Vec<Register> {
        [REGISTERS, MMIO_R6XX, MMIO_R7XX].concat()
    }

    #[test]
    fn every_register_has_one_class() {
        let mistakes = classes::mistakes(BLOCKS, &all());
        assert!(mistakes.is_empty(), "{mistakes:#?}");
    }

    #[test]
    fn what_is_implemented_has_code_and_the_other_way_round() {
        // Straps, and names that only comments have.
        let only_set = [
            "CC_GC_SHADER_PIPE_CONFIG",
            "CC_RB_BACKEND_DISABLE",
            "MC_ARB_RAMCFG",
            "MC_SHARED_CHMAP",
            "RAMCFG",
            "CHMAP",
        ];
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let found = classes::contradictions(BLOCKS, &all(), &folder, &only_set).unwrap();
        assert!(found.is_empty(), "{found:#?}");
    }
}
