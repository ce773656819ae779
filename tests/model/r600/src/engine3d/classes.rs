// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the model makes of the registers of the 3D pipe: those that bound what a draw may touch, or by which it is judged, are
//! implemented. The others steer what becomes of pixels.

use lapidary_model::classes::Block;
use lapidary_model::classes::Names::Rest;

const NOT_DRAWN: &str = "state of the 3D pipe, which is not executed";

/// Return a block of the 3D pipe with the registers on which the model acts.
const fn block(name: &'static str, implemented: &'static [&'static str]) -> Block {
    Block {
        name,
        implemented,
        stored: &[(NOT_DRAWN, Rest)],
        missing: &[],
    }
}

/// Return a block with none of them.
pub const fn stored(name: &'static str) -> Block {
    block(name, &[])
}

/// The vertex grouper.
pub const VGT: Block = block(
    "VGT",
    &[
        "VGT_PRIMITIVE_TYPE",
        "VGT_INDEX_TYPE",
        "VGT_STRMOUT_BUFFER_FILLED_SIZE",
        "VGT_NUM_INDICES",
        "VGT_NUM_INSTANCES",
        "VGT_DMA_BASE_HI",
        "VGT_DMA_BASE",
        "VGT_DRAW_INITIATOR",
        "VGT_EVENT_INITIATOR",
        "VGT_EVENT_ADDRESS_REG",
        "VGT_GS_MODE",
        "VGT_DMA_SIZE",
        "VGT_DMA_INDEX_TYPE",
        "VGT_STRMOUT_EN",
        "VGT_STRMOUT_BUFFER_SIZE",
        "VGT_STRMOUT_BUFFER_BASE",
        "VGT_STRMOUT_BUFFER_OFFSET",
        "VGT_STRMOUT_BUFFER_EN",
    ],
);

/// The scan converter.
pub const SC: Block = block(
    "SC",
    &[
        "PA_SC_SCREEN_SCISSOR_TL",
        "PA_SC_SCREEN_SCISSOR_BR",
        "PA_SC_WINDOW_SCISSOR_TL",
        "PA_SC_WINDOW_SCISSOR_BR",
        "PA_SC_GENERIC_SCISSOR_TL",
        "PA_SC_GENERIC_SCISSOR_BR",
        "PA_SC_AA_CONFIG",
    ],
);

/// The sequencer.
pub const SQ: Block = block(
    "SQ",
    &[
        "SQ_CONFIG",
        "SQ_GPR_RESOURCE_MGMT_1",
        "SQ_GPR_RESOURCE_MGMT_2",
        "SQ_THREAD_RESOURCE_MGMT",
        "SQ_ESGS_RING_BASE",
        "SQ_ESGS_RING_SIZE",
        "SQ_GSVS_RING_BASE",
        "SQ_GSVS_RING_SIZE",
        "SQ_ESTMP_RING_BASE",
        "SQ_ESTMP_RING_SIZE",
        "SQ_GSTMP_RING_BASE",
        "SQ_GSTMP_RING_SIZE",
        "SQ_VSTMP_RING_BASE",
        "SQ_VSTMP_RING_SIZE",
        "SQ_PSTMP_RING_BASE",
        "SQ_PSTMP_RING_SIZE",
        "SQ_FBUF_RING_BASE",
        "SQ_FBUF_RING_SIZE",
        "SQ_REDUC_RING_BASE",
        "SQ_REDUC_RING_SIZE",
        "SQ_ALU_CONST_BUFFER_SIZE_PS",
        "SQ_ALU_CONST_BUFFER_SIZE_VS",
        "SQ_ALU_CONST_BUFFER_SIZE_GS",
        "SQ_PGM_START_PS",
        "SQ_PGM_RESOURCES_PS",
        "SQ_PGM_EXPORTS_PS",
        "SQ_PGM_START_VS",
        "SQ_PGM_RESOURCES_VS",
        "SQ_PGM_START_GS",
        "SQ_PGM_RESOURCES_GS",
        "SQ_PGM_START_ES",
        "SQ_PGM_RESOURCES_ES",
        "SQ_PGM_START_FS",
        "SQ_PGM_RESOURCES_FS",
        "SQ_ESGS_RING_ITEMSIZE",
        "SQ_GSVS_RING_ITEMSIZE",
        "SQ_ESTMP_RING_ITEMSIZE",
        "SQ_GSTMP_RING_ITEMSIZE",
        "SQ_VSTMP_RING_ITEMSIZE",
        "SQ_PSTMP_RING_ITEMSIZE",
        "SQ_FBUF_RING_ITEMSIZE",
        "SQ_REDUC_RING_ITEMSIZE",
        "SQ_PGM_CF_OFFSET_PS",
        "SQ_PGM_CF_OFFSET_VS",
        "SQ_PGM_CF_OFFSET_GS",
        "SQ_PGM_CF_OFFSET_ES",
        "SQ_PGM_CF_OFFSET_FS",
        "SQ_ALU_CONST_CACHE_PS",
        "SQ_ALU_CONST_CACHE_VS",
        "SQ_ALU_CONST_CACHE_GS",
        "SQ_TEX_RESOURCE_WORD0",
        "SQ_TEX_RESOURCE_WORD1",
        "SQ_TEX_RESOURCE_WORD2",
        "SQ_TEX_RESOURCE_WORD3",
        "SQ_TEX_RESOURCE_WORD4",
        "SQ_TEX_RESOURCE_WORD5",
        "SQ_VTX_CONSTANT_WORD0",
        "SQ_VTX_CONSTANT_WORD1",
        "SQ_VTX_CONSTANT_WORD2",
        "SQ_VTX_CONSTANT_WORD6",
    ],
);

/// Shader export.
pub const SX: Block = block("SX", &["SX_MEMORY_EXPORT_BASE", "SX_MEMORY_EXPORT_SIZE"]);

/// Depth.
pub const DB: Block = block(
    "DB",
    &[
        "DB_DEPTH_SIZE",
        "DB_DEPTH_VIEW",
        "DB_DEPTH_BASE",
        "DB_DEPTH_INFO",
        "DB_HTILE_DATA_BASE",
        "DB_STENCILREFMASK",
        "DB_DEPTH_CONTROL",
        "DB_SHADER_CONTROL",
        "DB_RENDER_CONTROL",
        "DB_RENDER_OVERRIDE",
        "DB_HTILE_SURFACE",
    ],
);

/// Colour.
pub const CB: Block = block(
    "CB",
    &[
        "CB_COLOR_BASE",
        "CB_COLOR_SIZE",
        "CB_COLOR_VIEW",
        "CB_COLOR_INFO",
        "CB_COLOR_TILE",
        "CB_COLOR_FRAG",
        "CB_COLOR_MASK",
        "CB_TARGET_MASK",
        "CB_SHADER_MASK",
        "CB_COLOR_CONTROL",
    ],
);
