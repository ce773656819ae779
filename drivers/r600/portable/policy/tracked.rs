// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers that name memory or bound what a draw accesses, and that streams may write.
//!
//! The checker remembers what the stream has written to them, and judges it at once or at the next draw.

use super::{
    Policy,
    Registers::{
        self,
        Array,
        One, //
    },
};
use crate::portable::regs::mmio;

/// Registers that streams may write, and which group of state they belong to.
pub const TRACKED: &[(Registers, Policy)] = &[
    // Colour targets.
    (Array(mmio::CB_COLOR_BASE), Policy::ColorBase),
    (Array(mmio::CB_COLOR_SIZE), Policy::ColorSize),
    (Array(mmio::CB_COLOR_VIEW), Policy::ColorView),
    (Array(mmio::CB_COLOR_INFO), Policy::ColorInfo),
    (Array(mmio::CB_COLOR_TILE), Policy::ColorTile),
    (Array(mmio::CB_COLOR_FRAG), Policy::ColorFrag),
    (Array(mmio::CB_COLOR_MASK), Policy::ColorMask),
    (One(mmio::CB_TARGET_MASK), Policy::TargetMask),
    (One(mmio::CB_COLOR_CONTROL), Policy::ColorControl),
    (One(mmio::PA_SC_AA_CONFIG), Policy::Samples),
    // The depth target.
    (One(mmio::DB_DEPTH_SIZE), Policy::DepthSize),
    (One(mmio::DB_DEPTH_VIEW), Policy::DepthView),
    (One(mmio::DB_DEPTH_BASE), Policy::DepthBase),
    (One(mmio::DB_DEPTH_INFO), Policy::DepthInfo),
    (One(mmio::DB_HTILE_DATA_BASE), Policy::HtileBase),
    (One(mmio::DB_HTILE_SURFACE), Policy::HtileSurface),
    // Scissors of both.
    (One(mmio::PA_SC_SCREEN_SCISSOR_BR), Policy::ScreenScissor),
    (
        One(mmio::PA_SC_WINDOW_SCISSOR_TL),
        Policy::WindowScissorStart,
    ),
    (One(mmio::PA_SC_WINDOW_SCISSOR_BR), Policy::WindowScissorEnd),
    (One(mmio::PA_SC_WINDOW_OFFSET), Policy::WindowOffset),
    // Constant buffers.
    (
        Array(mmio::SQ_ALU_CONST_BUFFER_SIZE_PS),
        Policy::ConstantSize,
    ),
    (
        Array(mmio::SQ_ALU_CONST_BUFFER_SIZE_VS),
        Policy::ConstantSize,
    ),
    (
        Array(mmio::SQ_ALU_CONST_BUFFER_SIZE_GS),
        Policy::ConstantSize,
    ),
    (Array(mmio::SQ_ALU_CONST_CACHE_PS), Policy::Constants),
    (Array(mmio::SQ_ALU_CONST_CACHE_VS), Policy::Constants),
    (Array(mmio::SQ_ALU_CONST_CACHE_GS), Policy::Constants),
    // Programs.
    (One(mmio::SQ_PGM_START_PS), Policy::Program),
    (One(mmio::SQ_PGM_START_VS), Policy::Program),
    (One(mmio::SQ_PGM_START_GS), Policy::Program),
    (One(mmio::SQ_PGM_START_ES), Policy::Program),
    (One(mmio::SQ_PGM_START_FS), Policy::Program),
    // Rings from shader to shader, scratch memory.
    (One(mmio::VGT_GS_MODE), Policy::GeometryMode),
    (One(mmio::SQ_ESGS_RING_BASE), Policy::RingBase),
    (One(mmio::SQ_ESGS_RING_SIZE), Policy::RingSize),
    (One(mmio::SQ_GSVS_RING_BASE), Policy::RingBase),
    (One(mmio::SQ_GSVS_RING_SIZE), Policy::RingSize),
    (One(mmio::SQ_ESTMP_RING_BASE), Policy::RingBase),
    (One(mmio::SQ_ESTMP_RING_SIZE), Policy::RingSize),
    (One(mmio::SQ_GSTMP_RING_BASE), Policy::RingBase),
    (One(mmio::SQ_GSTMP_RING_SIZE), Policy::RingSize),
    (One(mmio::SQ_VSTMP_RING_BASE), Policy::RingBase),
    (One(mmio::SQ_VSTMP_RING_SIZE), Policy::RingSize),
    (One(mmio::SQ_PSTMP_RING_BASE), Policy::RingBase),
    (One(mmio::SQ_PSTMP_RING_SIZE), Policy::RingSize),
    (One(mmio::SQ_ESGS_RING_ITEMSIZE), Policy::RingItem),
    (One(mmio::SQ_GSVS_RING_ITEMSIZE), Policy::RingItem),
    (One(mmio::SQ_ESTMP_RING_ITEMSIZE), Policy::RingItem),
    (One(mmio::SQ_GSTMP_RING_ITEMSIZE), Policy::RingItem),
    (One(mmio::SQ_VSTMP_RING_ITEMSIZE), Policy::RingItem),
    (One(mmio::SQ_PSTMP_RING_ITEMSIZE), Policy::RingItem),
    // Stream-out buffers.
    (Array(mmio::VGT_STRMOUT_BUFFER_SIZE), Policy::StreamOutSize),
    (Array(mmio::VGT_STRMOUT_VTX_STRIDE), Policy::StreamOutStride),
    (Array(mmio::VGT_STRMOUT_BUFFER_BASE), Policy::StreamOutBase),
];
