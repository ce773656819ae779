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

const NOT_DRAWN: &str = "state of the 3D engine, which is not executed";

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
        implemented: &["VGA_SEQUENCER", "SR6A", "SR6B", "SR6C", "SR6F"],
        stored: &[("the table may have any size", Rest)],
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
        implemented: &[],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "ATTRIBUTE",
        implemented: &[],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "TEXTURE",
        implemented: &[],
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    },
    Block {
        name: "TABLE",
        implemented: &[],
        stored: &[(NOT_DRAWN, Rest)],
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
        // A fault knows a job by its tag.
        let only_set = ["SW_INSPECTION_1"];
        let found = classes::contradictions(BLOCKS, REGISTERS, &folder, &only_set).unwrap();
        assert!(found.is_empty(), "{found:#?}");
    }
}
