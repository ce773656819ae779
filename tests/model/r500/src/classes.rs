// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the model makes of each register: the table by which "not implemented" is known and not overlooked.
//!
//! Every register of the database has a class. [`lapidary_model::registers`] says what the classes mean.

use lapidary_model::registers::Class;
use lapidary_registers::Register;

use self::Names::{Rest, These};

/// Registers of one block.
enum Names {
    /// By name.
    These(&'static [&'static str]),
    /// All that the block's other lists leave.
    Rest,
}

struct Block {
    name: &'static str,
    implemented: &'static [&'static str],
    stored: &'static [(&'static str, Names)],
    missing: &'static [&'static str],
}

/// Return the class of a register; none if the table forgets it.
pub fn class(register: &Register) -> Option<Class> {
    let block = BLOCKS.iter().find(|b| b.name == register.block)?;
    if block.implemented.contains(&register.name) {
        return Some(Class::Implemented);
    }
    if block.missing.contains(&register.name) {
        return Some(Class::Missing);
    }
    let named = block
        .stored
        .iter()
        .find(|(_, names)| matches!(names, These(n) if n.contains(&register.name)));
    let rest = block.stored.iter().find(|(_, names)| matches!(names, Rest));
    named.or(rest).map(|(reason, _)| Class::Stored(reason))
}

const NOT_DRAWN: &str = "state of the 3D pipe, which is not executed";

static BLOCKS: &[Block] = &[
    Block {
        name: "HOST",
        implemented: &[
            "MM_INDEX",
            "MM_DATA",
            "CLOCK_CNTL_INDEX",
            "CLOCK_CNTL_DATA",
            "PCIE_INDEX",
            "PCIE_DATA",
            "MC_IND_INDEX",
            "MC_IND_DATA",
            "CONFIG_APER_SIZE",
            "CONFIG_REG_APER_SIZE",
            "CONFIG_SPACE",
            "HOST_PATH_CNTL",
            "HDP_FB_LOCATION",
            "MSI_REARM_EN",
            "SURFACE_CNTL",
            "SURFACE_LOWER_BOUND",
            "SURFACE_UPPER_BOUND",
            "SURFACE_INFO",
        ],
        stored: &[
            (
                "messages between firmware and drivers",
                These(&["BIOS_SCRATCH", "CONFIG_MEMSIZE"]),
            ),
            (
                "the ROM and bus mastering are PCI's business",
                These(&["BUS_CNTL", "CONFIG_CNTL", "CONFIG_XSTRAP", "SEPROM_CNTL1"]),
            ),
            ("nothing to debug", These(&["HDP_DEBUG"])),
            (
                "no pin leads anywhere",
                These(&["GPIOPAD_MASK", "GPIOPAD_A", "GPIOPAD_EN", "GPIOPAD_Y"]),
            ),
            (
                "address translation of cards on PCI and AGP, which these are not",
                These(&["AIC_CNTL"]),
            ),
            ("no video input port", These(&["VIPH_CONTROL"])),
        ],
        missing: &[
            "CONFIG_APER_0_BASE",
            "CONFIG_APER_1_BASE",
            "CONFIG_REG_1_BASE",
            "SW_SEMAPHORE",
            "SURFACE_ACCESS_FLAGS",
            "SURFACE_ACCESS_CLR",
        ],
    },
    Block {
        name: "RBBM",
        implemented: &[
            "RBBM_SOFT_RESET",
            "RBBM_STATUS",
            "WAIT_UNTIL",
            "ISYNC_CNTL",
            "RBBM_GUICNTL",
            "GEN_INT_CNTL",
            "GEN_INT_STATUS",
        ],
        stored: &[
            (
                "time-outs of a register bus that is never slow",
                These(&["RBBM_CNTL"]),
            ),
            (
                "a view for debugging of a queue that is always empty",
                These(&[
                    "RBBM_CMDFIFO_ADDR",
                    "RBBM_CMDFIFO_DATA",
                    "RBBM_CMDFIFO_STAT",
                ]),
            ),
        ],
        missing: &["NQWAIT_UNTIL"],
    },
    Block {
        name: "CP",
        implemented: &[
            "CP_RB_BASE",
            "CP_RB_CNTL",
            "CP_RB_RPTR_ADDR",
            "CP_RB_RPTR",
            "CP_RB_WPTR",
            "CP_RB_WPTR_DELAY",
            "CP_RB_RPTR_WR",
            "CP_IB_BASE",
            "CP_IB_BUFSZ",
            "CP_IB2_BASE",
            "CP_IB2_BUFSZ",
            "CP_CSQ_CNTL",
            "CP_CSQ_MODE",
            "CP_CSQ_APER_PRIMARY",
            "CP_CSQ_APER_INDIRECT",
            "CP_CSQ_APER_INDIRECT2",
            "CP_RESYNC_ADDR",
            "CP_RESYNC_DATA",
            "CP_STAT",
            "CP_ME_RAM_ADDR",
            "CP_ME_RAM_RADDR",
            "CP_ME_RAM_DATAH",
            "CP_ME_RAM_DATAL",
            "SCRATCH_UMSK",
            "SCRATCH_ADDR",
            "SCRATCH_REG",
        ],
        stored: &[
            ("nothing to debug", These(&["CP_DEBUG"])),
            (
                "a view for debugging of queues, which shows them empty",
                These(&["CP_CSQ_ADDR", "CP_CSQ_DATA", "CP_CSQ_STAT", "CP_CSQ2_STAT"]),
            ),
        ],
        missing: &["CP_ME_CNTL"],
    },
    Block {
        name: "DMA",
        implemented: &[
            "DMA_GUI_TABLE_ADDR",
            "DMA_GUI_SRC_ADDR",
            "DMA_GUI_DST_ADDR",
            "DMA_GUI_COMMAND",
            "DMA_GUI_STATUS",
            "DMA_GUI_ACT_DSCRPTR",
            "DMA_VID_TABLE_ADDR",
            "DMA_VID_SRC_ADDR",
            "DMA_VID_DST_ADDR",
            "DMA_VID_COMMAND",
            "DMA_VID_STATUS",
            "DMA_VID_ACT_DSCRPTR",
            "CP_GUI_SRC_ADDR",
            "CP_GUI_DST_ADDR",
            "CP_GUI_COMMAND",
            "CP_VID_SRC_ADDR",
            "CP_VID_DST_ADDR",
            "CP_VID_COMMAND",
        ],
        stored: &[],
        missing: &[],
    },
    Block {
        name: "E2",
        implemented: &[
            "DST_OFFSET",
            "DST_PITCH",
            "DST_WIDTH",
            "DST_HEIGHT",
            "SRC_X",
            "SRC_Y",
            "DST_X",
            "DST_Y",
            "SRC_PITCH_OFFSET",
            "DST_PITCH_OFFSET",
            "SRC_Y_X",
            "DST_Y_X",
            "DST_HEIGHT_WIDTH",
            "DP_GUI_MASTER_CNTL",
            "BRUSH_Y_X",
            "DP_BRUSH_BKGD_CLR",
            "DP_BRUSH_FRGD_CLR",
            "BRUSH_DATA",
            "DST_WIDTH_X",
            "DST_HEIGHT_WIDTH_8",
            "SRC_X_Y",
            "DST_X_Y",
            "DST_WIDTH_HEIGHT",
            "DST_WIDTH_X_INCY",
            "DST_HEIGHT_Y",
            "SRC_OFFSET",
            "SRC_PITCH",
            "DST_HEIGHT_WIDTH_BW",
            "CLR_CMP_CNTL",
            "CLR_CMP_CLR_SRC",
            "CLR_CMP_CLR_DST",
            "CLR_CMP_MASK",
            "DP_DST_ENDIAN",
            "DP_SRC_ENDIAN",
            "DP_SRC_FRGD_CLR",
            "DP_SRC_BKGD_CLR",
            "DST_LINE_START",
            "DST_LINE_END",
            "DST_LINE_PATCOUNT",
            "LEAD_BRES_LNTH",
            "LEAD_BRES_LNTH_SUB",
            "DST_BRES_LNTH",
            "DST_BRES_LNTH_SUB",
            "SC_LEFT",
            "SC_RIGHT",
            "SC_TOP",
            "SC_BOTTOM",
            "SRC_SC_RIGHT",
            "SRC_SC_BOTTOM",
            "AUX_SC_CNTL",
            "DP_CNTL",
            "DP_DATATYPE",
            "DP_MIX",
            "DP_WRITE_MASK",
            "DP_CNTL_XDIR_YDIR_YMAJOR",
            "DEFAULT_PITCH_OFFSET",
            "DEFAULT_SC_BOTTOM_RIGHT",
            "SC_TOP_LEFT",
            "SC_BOTTOM_RIGHT",
            "SRC_SC_BOTTOM_RIGHT",
            "DSTCACHE_CTLSTAT",
            "RB2D_DSTCACHE_MODE",
            "RB2D_DSTCACHE_CTLSTAT",
            "HOST_DATA",
            "HOST_DATA_LAST",
        ],
        stored: &[(
            "how the back end spreads over pipes and banks; the engine is one",
            These(&["DST_PIPE_CONFIG", "DSTCACHE_MODE"]),
        )],
        missing: &[
            "BRUSH_SCALE",
            "DST_X_SUB",
            "DST_Y_SUB",
            "TRAIL_BRES_ERR",
            "TRAIL_BRES_INC",
            "TRAIL_BRES_DEC",
            "TRAIL_X",
            "TRAIL_X_SUB",
            "DST_BRES_ERR",
            "DST_BRES_INC",
            "DST_BRES_DEC",
            "AUX_SC_LEFT",
            "AUX_SC_RIGHT",
            "AUX_SC_TOP",
            "AUX_SC_BOTTOM",
            "DEFAULT2_SC_BOTTOM_RIGHT",
            "DEFAULT_PITCH",
            "DEFAULT2_PITCH_OFFSET",
            "DST_TILE",
            "SRC_TILE",
            "SRC_CLUT_ADDRESS",
            "SRC_CLUT_DATA",
            "SRC_CLUT_DATA_RD",
            "DP_XOP",
        ],
    },
    Block {
        name: "DISPLAY",
        implemented: &[
            "D1CRTC_V_TOTAL",
            "D1CRTC_CONTROL",
            "D1CRTC_STATUS",
            "D1CRTC_STATUS_POSITION",
            "D1CRTC_STATUS_FRAME_COUNT",
            "D1GRPH_ENABLE",
            "D1GRPH_CONTROL",
            "D1GRPH_PRIMARY_SURFACE_ADDRESS",
            "D1GRPH_PITCH",
            "D1GRPH_Y_START",
            "D1GRPH_Y_END",
            "D2CRTC_V_TOTAL",
            "D2CRTC_CONTROL",
            "D2CRTC_STATUS",
            "D2CRTC_STATUS_POSITION",
            "D2CRTC_STATUS_FRAME_COUNT",
            "D2GRPH_ENABLE",
            "D2GRPH_CONTROL",
            "D2GRPH_PRIMARY_SURFACE_ADDRESS",
            "D2GRPH_PITCH",
            "D2GRPH_Y_START",
            "D2GRPH_Y_END",
            "DXMODE_INT_MASK",
        ],
        stored: &[(
            "nothing is shown, nothing is plugged in, and nothing of it interrupts by itself",
            Rest,
        )],
        missing: &[
            "D1CRTC_INTERLACE_STATUS",
            "D1CRTC_STATUS_HV_COUNT",
            "D2CRTC_INTERLACE_STATUS",
            "D2CRTC_STATUS_HV_COUNT",
            "DC_I2C_STATUS1",
            "DC_I2C_DATA",
            "LVTMA_PWRSEQ_STATE",
        ],
    },
    Block {
        name: "3D",
        implemented: &["FG_ZBREG_DEST", "GA_SOFT_RESET"],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "VAP",
        implemented: &[
            "VAP_VF_CNTL",
            "VAP_VTX_NUM_ARRAYS",
            "VAP_VTX_AOS_ATTR",
            "VAP_PROG_STREAM_CNTL",
            "VAP_PVS_CODE_CNTL_0",
            "VAP_PVS_CODE_CNTL_1",
            "VAP_OUT_VTX_FMT_0",
            "VAP_OUT_VTX_FMT_1",
            "VAP_ALT_NUM_VERTICES",
            "VAP_CNTL",
            "VAP_INDEX_OFFSET",
            "VAP_PORT_DATA",
            "VAP_PORT_DATA_IDX_128",
            "VAP_PORT_IDX",
            "VAP_VF_MAX_VTX_INDX",
            "VAP_VF_MIN_VTX_INDX",
            "VAP_VTX_AOS_ADDR_EVEN",
            "VAP_VTX_AOS_ADDR_ODD",
            "VAP_VTX_SIZE",
        ],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[
            "VAP_VTX_ST_BLND_WT",
            "VAP_VTX_ST_CLR_A",
            "VAP_VTX_ST_CLR_B",
            "VAP_VTX_ST_CLR_G",
            "VAP_VTX_ST_CLR_PKD",
            "VAP_VTX_ST_CLR_R",
            "VAP_VTX_ST_DISC_FOG",
            "VAP_VTX_ST_EDGE_FLAGS",
            "VAP_VTX_ST_END_OF_PKT",
            "VAP_VTX_ST_NORM_0_PKD",
            "VAP_VTX_ST_NORM_0_X",
            "VAP_VTX_ST_NORM_0_Y",
            "VAP_VTX_ST_NORM_0_Z",
            "VAP_VTX_ST_NORM_1_X",
            "VAP_VTX_ST_NORM_1_Y",
            "VAP_VTX_ST_NORM_1_Z",
            "VAP_VTX_ST_PNT_SPRT_SZ",
            "VAP_VTX_ST_POS_0_W_4",
            "VAP_VTX_ST_POS_0_X_2",
            "VAP_VTX_ST_POS_0_X_3",
            "VAP_VTX_ST_POS_0_X_4",
            "VAP_VTX_ST_POS_0_Y_2",
            "VAP_VTX_ST_POS_0_Y_3",
            "VAP_VTX_ST_POS_0_Y_4",
            "VAP_VTX_ST_POS_0_Z_3",
            "VAP_VTX_ST_POS_0_Z_4",
            "VAP_VTX_ST_POS_1_W",
            "VAP_VTX_ST_POS_1_X",
            "VAP_VTX_ST_POS_1_Y",
            "VAP_VTX_ST_POS_1_Z",
            "VAP_VTX_ST_PVMS",
            "VAP_VTX_ST_SHININESS_0",
            "VAP_VTX_ST_SHININESS_1",
            "VAP_VTX_ST_TEX_Q",
            "VAP_VTX_ST_TEX_R",
            "VAP_VTX_ST_TEX_S",
            "VAP_VTX_ST_TEX_T",
            "VAP_VTX_ST_USR_CLR_A",
            "VAP_VTX_ST_USR_CLR_B",
            "VAP_VTX_ST_USR_CLR_G",
            "VAP_VTX_ST_USR_CLR_PKD",
            "VAP_VTX_ST_USR_CLR_R",
        ],
    },
    Block {
        name: "GB",
        implemented: &["GB_AA_CONFIG"],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "GA",
        implemented: &["GA_IDLE"],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "SU",
        implemented: &["SU_CULL_MODE", "SU_REG_DEST"],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "SC",
        implemented: &[
            "SC_CLIP_0_A",
            "SC_CLIP_0_B",
            "SC_CLIP_1_A",
            "SC_CLIP_1_B",
            "SC_CLIP_2_A",
            "SC_CLIP_2_B",
            "SC_CLIP_3_A",
            "SC_CLIP_3_B",
            "SC_CLIP_RULE",
            "SC_SCISSOR0",
            "SC_SCISSOR1",
            "SC_SCREENDOOR",
        ],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "RS",
        implemented: &["RS_COUNT", "RS_INST_COUNT"],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "TX",
        implemented: &[
            "TX_ENABLE",
            "TX_FILTER0",
            "TX_FILTER1",
            "TX_FORMAT0",
            "TX_FORMAT1",
            "TX_FORMAT2",
            "TX_INVALTAGS",
            "TX_OFFSET",
        ],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "US",
        implemented: &["US_CONFIG", "US_OUT_FMT"],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "FG",
        implemented: &[],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "CB",
        implemented: &[
            "RB3D_COLOROFFSET",
            "RB3D_COLORPITCH",
            "RB3D_DSTCACHE_CTLSTAT",
            "RB3D_AARESOLVE_CTL",
            "RB3D_AARESOLVE_OFFSET",
            "RB3D_AARESOLVE_PITCH",
            "RB3D_BLENDCNTL",
            "RB3D_CCTL",
            "RB3D_COLOR_CHANNEL_MASK",
            "RB3D_ROPCNTL",
        ],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "ZB",
        implemented: &[
            "ZB_CNTL",
            "ZB_DEPTHOFFSET",
            "ZB_DEPTHPITCH",
            "ZB_DEPTHXY_OFFSET",
            "ZB_FORMAT",
            "ZB_ZCACHE_CTLSTAT",
            "ZB_ZPASS_ADDR",
            "ZB_ZPASS_DATA",
        ],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "PCIE",
        implemented: &[
            "PCIE_TX_GART_CNTL",
            "PCIE_TX_GART_BASE",
            "PCIE_TX_GART_START_LO",
            "PCIE_TX_GART_START_HI",
            "PCIE_TX_GART_END_LO",
            "PCIE_TX_GART_END_HI",
            "PCIE_TX_GART_ERROR",
        ],
        stored: &[
            (
                "an access without a translation is a finding, and goes nowhere",
                These(&["PCIE_TX_DISCARD_RD_ADDR_LO", "PCIE_TX_DISCARD_RD_ADDR_HI"]),
            ),
            ("the link is QEMU's", These(&["PCIE_LC_LINK_WIDTH_CNTL"])),
        ],
        missing: &[],
    },
    Block {
        name: "MC",
        implemented: &[
            "MC_AGP_LOCATION",
            "MC_FB_LOCATION",
            "MC_STATUS",
            "MC_CNTL",
            "MC_CNTL0",
        ],
        stored: &[
            (
                "these cards are not on AGP",
                These(&["MC_AGP_BASE", "MC_AGP_BASE_2"]),
            ),
            (
                "memory without timing and page tables",
                These(&["MC_MISC_LAT_TIMER", "MC_CNTL1"]),
            ),
        ],
        missing: &[],
    },
    Block {
        name: "PLL",
        implemented: &[],
        stored: &[("nothing depends on a frequency", Rest)],
        missing: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::r500::REGISTERS;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    fn names(block: &Block) -> Vec<&'static str> {
        let mut all = block.implemented.to_vec();
        all.extend(block.missing);
        for (_, names) in block.stored {
            if let These(names) = names {
                all.extend(*names);
            }
        }
        all
    }

    #[test]
    fn every_register_has_a_class() {
        let forgotten: Vec<_> = REGISTERS
            .iter()
            .filter(|r| class(r).is_none())
            .map(|r| format!("{} of {}", r.name, r.block))
            .collect();
        assert!(
            forgotten.is_empty(),
            "say in classes.rs what the model makes of {forgotten:?}"
        );
    }

    #[test]
    fn every_name_is_a_register_and_has_one_class() {
        for block in BLOCKS {
            let known: BTreeSet<_> = REGISTERS
                .iter()
                .filter(|r| r.block == block.name)
                .map(|r| r.name)
                .collect();
            assert!(!known.is_empty(), "no block {}", block.name);
            let all = names(block);
            for name in &all {
                assert!(known.contains(name), "{name} is not in {}", block.name);
            }
            let once: BTreeSet<_> = all.iter().collect();
            assert_eq!(once.len(), all.len(), "{} names one twice", block.name);
            let rests = block.stored.iter().filter(|(_, n)| matches!(n, Rest));
            assert!(rests.count() <= 1);
        }
        let blocks: BTreeSet<_> = BLOCKS.iter().map(|b| b.name).collect();
        assert_eq!(blocks.len(), BLOCKS.len());
    }

    /// Return all register constants that the model's own code names, where it acts on registers.
    fn acted_on() -> BTreeSet<String> {
        fn walk(folder: &Path, text: &mut String) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap();
                // The firmware writes registers, as a driver does; tests are not the model.
                if path.is_dir() && name != "tests" {
                    walk(&path, text);
                } else if name.ends_with(".rs") && !["classes.rs", "firmware.rs"].contains(&name) {
                    let file = fs::read_to_string(&path).unwrap();
                    let code = file.split("#[cfg(test)]\nmod tests {").next().unwrap();
                    text.push_str(code);
                }
            }
        }
        let mut text = String::new();
        walk(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut text,
        );
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.map(str::to_owned).collect()
    }

    #[test]
    fn what_is_implemented_has_code_and_the_other_way_round() {
        // Set once and never looked at (the firmware's picture, the ends of a range), or looked at to complain.
        let only_set = [
            "BIOS_SCRATCH",
            "MC_AGP_BASE",
            "MC_AGP_BASE_2",
            "PCIE_TX_DISCARD_RD_ADDR_LO",
            "PCIE_TX_DISCARD_RD_ADDR_HI",
            "D1CRTC_H_TOTAL",
            "D1GRPH_X_END",
            "D2CRTC_H_TOTAL",
            "D2GRPH_X_END",
            "DISP_INTERRUPT_STATUS",
            "GA_POINT_S0",
            "GB_PIPE_SELECT",
            "GB_PIPE_SELECT2",
            "ZB_STENCILREFMASK_BF",
        ];
        let code = acted_on();
        for r in REGISTERS {
            let implemented = class(r) == Some(Class::Implemented);
            let named = code.contains(r.name);
            if implemented {
                assert!(
                    named,
                    "{} is called implemented, and no code names it",
                    r.name
                );
            } else if !only_set.contains(&r.name) {
                assert!(
                    !named,
                    "code names {}, which classes.rs does not call implemented",
                    r.name
                );
            }
        }
    }
}
