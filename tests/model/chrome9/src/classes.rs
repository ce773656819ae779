// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the model makes of each register and parameter: the table by which "not implemented" is known and not overlooked.
//!
//! [`lapidary_model::registers`] says what the classes mean.

use lapidary_model::classes::Names::{Rest, These};
use lapidary_model::classes::{self, Block};
use lapidary_model::registers::Class;
use lapidary_registers::Register;

/// Return the class of a register; none if the table forgets it.
pub fn class(register: &Register) -> Option<Class> {
    classes::class(BLOCKS, register)
}

const NOT_DRAWN: &str = "state of the 3D engine, which draws no pixels";
const ASKED: &str =
    "decides on pixels, which are not drawn; a draw that depends on it wants it written";

/// Parameters of which a draw only wants to know whether they were written.
static ASKED_OF: [&[&str]; 4] = [
    &[
        "FVF_MASK_1",
        "FVF_MASK_2",
        "VERTEX_MASK_1",
        "VERTEX_MASK_2",
        "POINT_WIDTH",
        "POINT_HEIGHT",
        "POINT_SPRITE",
        "VIEWPORT_SCALE_X",
        "VIEWPORT_HIGH_Z",
        "CLAMP_UPPER",
        "CLAMP_HIGH",
    ],
    &[
        "ENABLE_3",
        "Z_4",
        "Z_5",
        "Z_6",
        "Z_8",
        "Z_9",
        "Z_10",
        "Z_11",
        "Z_12",
        "Z_15",
        "Z_16",
        "Z_17",
        "STENCIL_1",
        "STENCIL_2",
        "STENCIL_3",
        "STENCIL_4",
        "ALPHA_1",
        "ALPHA_2",
        "ALPHA_3",
        "ALPHA_4",
        "ALPHA_5",
        "ALPHA_6",
        "ALPHA_7",
        "ALPHA_8",
        "ALPHA_9",
        "ALPHA_10",
        "ALPHA_11",
        "ALPHA_12",
        "ALPHA_13",
        "FOG_1",
        "FOG_2",
        "FOG_3",
        "FOG_4",
        "FOG_6",
        "FOG_7",
        "FOG_8",
        "FOG_9",
        "MISC_5",
        "MISC_6",
        "MISC_7",
        "MISC_8",
        "MISC_9",
        "MISC_10",
        "PS_1",
        "PS_3",
        "PS_11",
    ],
    &[
        "BORDER_CONTROL_1",
        "BORDER_CONTROL_2",
        "TEXTURES_012",
        "TEXTURES_345",
        "TEXTURES_67",
    ],
    &["PALETTE", "STIPPLE", "ALU_INSTRUCTION", "TAU_INSTRUCTION"],
];

static BLOCKS: &[Block] = &[
    Block {
        name: "CR",
        implemented: &[
            "COMMAND_ID_2D_3D",
            "WAIT_CONTROL_2D_3D",
            "COMMAND_ID_VIDEO",
            "WAIT_CONTROL_VIDEO",
            "ENGINE_STATUS",
            "CR_SETTING",
            "CR_SPACE",
            "SETTING_3D",
            "SPACE_3D",
            "FENCE_ID",
            "INTERRUPT_COMMAND",
            "AGP_CONTROL",
            "CMDQ_1",
            "CMDQ_5",
            "CMDQ_2D_3D_1",
            "CMDQ_2D_3D_5",
            "FENCE_1",
            "FENCE_2",
            "FENCE_3",
            "FENCE_4",
            "INTERRUPT_STATE_BUFFER_1",
            "INTERRUPT_STATE_BUFFER_2",
            "RESTORE_1",
            "RESTORE_2",
            "RESTORE_3",
            "SAVE_1",
            "SAVE_2",
            "SAVE_3",
            "SWAP_1_IGA1",
            "SWAP_3_IGA1",
            "SWAP_4_IGA2",
            "SWAP_6_IGA2",
            "SWAP_7_DUO",
            "SWAP_9_DUO",
            "AGP_START_LOW",
            "AGP_END_LOW",
            "AGP_PAUSE_LOW",
            "AGP_PAUSE_HIGH",
            "AGP_JUMP_LOW",
            "BRANCH_CONTROL",
            "READ_BACK_SETTING",
            "CR_MISC",
            "AGP_FETCH",
            "AGP_STATE",
            "CMDQ_STATE",
            "AGP_PAUSE",
            "AGP_JUMP",
            "AGP_START",
            "REGISTERS_2D",
            "HOST_DATA_2D",
            "PARAMETERS",
            "VERTEX_DATA",
            "VIDEO_DATA",
            "VIDEO_REGISTERS",
            "DEBUG",
            "BRANCH",
            "SECOND_BRANCH_ASSUMED",
            "BRANCH_2",
            "SECOND_BRANCH_1",
        ],
        stored: &[
            (
                "read as part of the set of which the first and the last are named",
                These(&[
                    "CMDQ_2",
                    "CMDQ_3",
                    "CMDQ_4",
                    "CMDQ_2D_3D_2",
                    "CMDQ_2D_3D_3",
                    "CMDQ_2D_3D_4",
                ]),
            ),
            (
                "the bus of the model has no packages of writes",
                These(&["PCI_COMMAND_SETTING"]),
            ),
            (
                "only the regulator can be read back",
                These(&["READ_BACK_ADDRESS"]),
            ),
            (
                "commands are executed one after the other, so that no lock and no depth shows",
                These(&["VMR_CONTROL"]),
            ),
            (
                "read as part of an address of which the first is named",
                These(&[
                    "RESTORE_4",
                    "SWAP_2_IGA1",
                    "SWAP_5_IGA2",
                    "SWAP_8_DUO",
                    "AGP_START_HIGH",
                    "AGP_END_HIGH",
                    "AGP_JUMP_HIGH",
                    "BRANCH_3",
                    "BRANCH_4",
                    "SECOND_BRANCH_2",
                    "SECOND_BRANCH_3",
                ]),
            ),
            (
                "all before a branch is complete in any case",
                These(&["BRANCH_1"]),
            ),
            (
                "tags of software",
                These(&["SW_INSPECTION_1", "SW_INSPECTION_2"]),
            ),
        ],
        missing: &["DMA_REGISTERS", "LEFT_VERTEX_THRESHOLD"],
    },
    Block {
        name: "VGA",
        implemented: &[
            "VGA_ATTRIBUTE",
            "VGA_SEQUENCER",
            "VGA_GRAPHICS",
            "VGA_CRTC",
            "VGA_STATUS",
            "SR6A",
            "SR6B",
            "SR6C",
            "SR6F",
        ],
        stored: &[
            ("the table may have any size", These(&["SR7B"])),
            ("no mode is set, and no display is scanned out", Rest),
        ],
        missing: &[],
    },
    Block {
        name: "ENGINE2D",
        implemented: &[
            "GECMD",
            "GEMODE",
            "PITCH",
            "DIMENSION",
            "DSTPOS",
            "DSTBASE",
            "SRCPOS",
            "SRCBASE",
            "CLIPTL",
            "CLIPBR",
            "KEYCONTROL",
            "FGCOLOR",
            "BGCOLOR",
            "MONOPATFGC",
        ],
        stored: &[("only patterns of one colour are drawn, and no lines", Rest)],
        missing: &[],
    },
    Block {
        name: "DISPLAY",
        implemented: &[
            "INTERRUPT_FLAGS_MASKS_CONTROL",
            "INTERRUPT_FLAGS_MASKS_CONTROL_2",
            "ADDRESS_FLIP_STATUS",
            "COMPOSE_OUTPUT_MODE_SELECT",
            "AGP_PAUSE_ADDRESS_PORT",
            "CRT_START_ADDRESS",
            "SECOND_DISPLAY_START_ADDRESS",
            "VIDEO_1_START_ADDRESS_0",
            "VIDEO_3_START_ADDRESS_0",
            "ALPHA_WINDOW_HI_START_ADDRESS",
        ],
        stored: &[("no display is scanned out", Rest)],
        missing: &[],
    },
    Block {
        name: "CAPTURE",
        implemented: &[],
        stored: &[("no camera", Rest)],
        missing: &[],
    },
    Block {
        name: "HQV",
        implemented: &[],
        stored: &[("HQV is not executed, and HQV_CONTROL starts it", Rest)],
        missing: &["HQV_CONTROL"],
    },
    Block {
        name: "VERTEX",
        implemented: &[
            "VERTEX_DWORD",
            "VERTEX_FORMAT_1",
            "VERTEX_FORMAT_2",
            "VERTEX_FORMAT_3",
            "VERTEX_FORMAT_4",
            "VERTEX_FORMAT_5",
            "VERTEX_FORMAT_6",
            "VERTEX_FORMAT_7",
            "VERTEX_FORMAT_8",
            "VERTEX_FORMAT_9",
            "VERTEX_FORMAT_10",
            "VERTEX_FORMAT_11",
            "VERTEX_FORMAT_12",
            "VERTEX_FORMAT_13",
            "VERTEX_FORMAT_14",
            "VERTEX_FORMAT_15",
            "VERTEX_FORMAT_16",
            "VERTEX_FORMAT_17",
            "PRIMITIVE_SETTING_1",
            "VERTEX_BUFFER_LOW",
            "VERTEX_BUFFER_HIGH",
            "PRIMITIVE_SETTING_4",
            "VERTEX_COUNT",
            "INDEX_MAX_LOW",
            "INDEX_MIN_LOW",
            "INDEX_BOUNDS_HIGH",
        ],
        stored: &[(ASKED, These(ASKED_OF[0])), (NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "ATTRIBUTE",
        implemented: &[
            "ENABLE_1",
            "ENABLE_2",
            "Z_1",
            "Z_2",
            "Z_3",
            "Z_13",
            "Z_14",
            "Z_18",
            "Z_19",
            "FAST_Z_CLEAR_1",
            "FAST_Z_CLEAR_2",
            "COARSE_Z_1",
            "COARSE_Z_2",
            "RT0_1",
            "RT0_2",
            "RT0_3",
            "RT0_4",
            "RT1_1",
            "RT1_2",
            "RT1_3",
            "RT1_4",
            "RT2_1",
            "RT2_2",
            "RT2_3",
            "RT2_4",
            "RT3_1",
            "RT3_2",
            "RT3_3",
            "RT3_4",
            "MISC_1",
            "MISC_2",
            "MISC_3",
            "MISC_4",
            "PS_2",
        ],
        stored: &[(ASKED, These(ASKED_OF[1])), (NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "TEXTURE",
        implemented: &[
            "FACE_0_BASE",
            "FACE_1_BASE",
            "FACE_2_BASE",
            "FACE_3_BASE",
            "FACE_4_BASE",
            "FACE_5_BASE",
            "TEXTURE_CONTROL_1",
            "TEXTURE_CONTROL_2",
            "TEXTURE_CONTROL_3",
            "TEXTURE_CONTROL_4",
            "TEXTURE_CONTROL_5",
            "LEVEL_CONTROL_1",
            "FILTER_CONTROL_1",
            "FILTER_CONTROL_2",
            "TEXTURE_GENERAL",
        ],
        stored: &[(ASKED, These(ASKED_OF[2])), (NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "TABLE",
        implemented: &["LEVEL_BASE"],
        stored: &[(ASKED, These(ASKED_OF[3])), (NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "INITIALISATION",
        implemented: &[],
        stored: &[("what it does is not public", Rest)],
        missing: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::chrome9::REGISTERS;
    use std::path::Path;

    #[test]
    fn every_register_has_one_class() {
        let mistakes = classes::mistakes(BLOCKS, REGISTERS);
        assert!(mistakes.is_empty(), "{mistakes:#?}");
    }

    #[test]
    fn what_is_implemented_has_code_and_the_other_way_round() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        // A fault knows a job by its tag. The last is also the name of a field.
        let mut only_set = vec!["SW_INSPECTION_1", "OFFSET"];
        only_set.extend(ASKED_OF.into_iter().flatten());
        let found = classes::contradictions(BLOCKS, REGISTERS, &folder, &only_set).unwrap();
        assert!(found.is_empty(), "{found:#?}");
    }
}
