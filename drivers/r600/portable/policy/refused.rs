// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers that no stream may write, and why.
//!
//! Safety does not depend on this list, because a register that is in neither list is refused as well. The list records
//! that a register was left out on purpose. A block means the registers in it that the other lists do not have.

use super::{
    Policy,
    Registers::{
        self,
        Array,
        Block,
        One, //
    },
};
use crate::portable::regs::{
    mmio,
    mmio_r7xx, //
};

/// Registers that streams may not write, by themselves or with their block.
pub const REFUSED: &[(Registers, Policy)] = &[
    // Status, resets and interrupts of the 3D pipe; the command processor.
    (
        Block(mmio::GRBM_CNTL, mmio::GRBM_SOFT_RESET),
        Policy::Kernel,
    ),
    (
        Block(mmio::GRBM_READ_ERROR, mmio::CP_PERFMON_CNTL),
        Policy::Kernel,
    ),
    // Vertices: caches, groups; what draw packets write.
    (
        Block(mmio::VGT_VTX_VECT_EJECT_REG, mmio::VGT_CNTL_STATUS),
        Policy::SetUp,
    ),
    (
        Block(mmio::VGT_PRIMITIVE_TYPE, mmio::VGT_NUM_INSTANCES),
        Policy::Packet,
    ),
    // Shader pipes that are off, clock gating, FIFOs and debugging of the front of the pipe.
    (
        Block(
            mmio::CC_GC_SHADER_PIPE_CONFIG,
            mmio::GC_USER_SHADER_PIPE_CONFIG,
        ),
        Policy::SetUp,
    ),
    (
        Block(mmio_r7xx::CGTT_VGT_CLK_CTRL, mmio::PA_SC_ENHANCE),
        Policy::SetUp,
    ),
    // Rings that no client uses.
    (
        Block(mmio::SQ_ESGS_RING_BASE, mmio::SQ_REDUC_RING_SIZE),
        Policy::Memory,
    ),
    (
        Block(mmio::SQ_MS_FIFO_SIZES, mmio::SX_EXPORT_BUFFER_SIZES),
        Policy::SetUp,
    ),
    (
        Block(mmio::SX_MEMORY_EXPORT_BASE, mmio::SX_MEMORY_EXPORT_SIZE),
        Policy::Memory,
    ),
    // Clock gating, caches, debugging, tiling and render backends.
    (
        Block(mmio_r7xx::CGTT_SX_CLK_CTRL0, mmio_r7xx::CFG_A20C),
        Policy::SetUp,
    ),
    // Kernels of filters.
    (Array(mmio::TD_PS_SAMPLER_CLEARTYPE_KERNEL), Policy::SetUp),
    // State of each context that only packets write.
    (One(mmio::VGT_DMA_BASE_HI), Policy::Packet),
    (One(mmio::VGT_DMA_BASE), Policy::Packet),
    (One(mmio::VGT_DMA_SIZE), Policy::Packet),
    (One(mmio::VGT_DMA_INDEX_TYPE), Policy::Packet),
    (One(mmio::VGT_DMA_NUM_INSTANCES), Policy::Packet),
    (One(mmio::VGT_DRAW_INITIATOR), Policy::Packet),
    (One(mmio::VGT_IMMED_DATA), Policy::Packet),
    (One(mmio::VGT_EVENT_ADDRESS_REG), Policy::Packet),
    (One(mmio::VGT_EVENT_INITIATOR), Policy::Packet),
    // State of each context with addresses or places in buffers.
    (Array(mmio::COHER_DEST_BASE), Policy::Memory),
    (Array(mmio::VGT_STRMOUT_BUFFER_OFFSET), Policy::Memory),
    (Array(mmio::VGT_STRMOUT_BASE_OFFSET), Policy::Memory),
    (Array(mmio::VGT_STRMOUT_BASE_OFFSET_HI), Policy::Memory),
];
