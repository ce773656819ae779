// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers that no stream may write, and why.
//!
//! Safety does not depend on this list, because a register that is in neither list is refused as well. The list records
//! that a register was left out on purpose.

use super::{
    Policy,
    Registers::{
        self,
        Array,
        Block,
        One, //
    },
};
use crate::portable::regs::mmio;

/// Registers that streams may not write, by themselves or with their block.
pub const REFUSED: &[(Registers, Policy)] = &[
    // Indirect access to every other register, BIOS scratch, interrupts, bus, resets, memory.
    (Block(mmio::MM_INDEX, mmio::AIC_CNTL), Policy::Kernel),
    // VGA, display clocks.
    (
        Block(mmio::VGA_RENDER_CONTROL, mmio::PCLK_CRTC2_CNTL),
        Policy::Display,
    ),
    // The command processor itself and its DMA engines, which reach all memory.
    (Block(mmio::CP_RB_BASE, mmio::CP_CSQ2_STAT), Policy::Kernel),
    // Surfaces of CPU accesses, video port.
    (
        Block(mmio::SURFACE_CNTL, mmio::SURFACE_ACCESS_CLR),
        Policy::Kernel,
    ),
    (One(mmio::VIPH_CONTROL), Policy::Display),
    // Status and waits of the register backbone outside the queue; PCI configuration.
    (
        Block(mmio::RBBM_STATUS, mmio::RBBM_CMDFIFO_STAT),
        Policy::Kernel,
    ),
    (Array(mmio::CONFIG_SPACE), Policy::Kernel),
    // Ways into the queue that bypass the checker.
    (Array(mmio::CP_CSQ_APER_PRIMARY), Policy::Kernel),
    (Array(mmio::CP_CSQ_APER_INDIRECT2), Policy::Kernel),
    (Array(mmio::CP_CSQ_APER_INDIRECT), Policy::Kernel),
    // Fences are written here.
    (Array(mmio::SCRATCH_REG), Policy::Kernel),
    // Automatic waits between engines. Without them the order of 2D and 3D work is undefined.
    (One(mmio::ISYNC_CNTL), Policy::Kernel),
    // 2D engine: parts of words that are tracked as a whole, and operations that are started in another way.
    (Block(mmio::DST_OFFSET, mmio::DST_Y), Policy::Alias),
    (One(mmio::BRUSH_SCALE), Policy::Alias),
    (Block(mmio::DST_WIDTH_X, mmio::DST_X_Y), Policy::Alias),
    (
        Block(mmio::DST_WIDTH_X_INCY, mmio::DST_HEIGHT_WIDTH_BW),
        Policy::Alias,
    ),
    (One(mmio::DP_DST_ENDIAN), Policy::Alias),
    (One(mmio::DP_SRC_ENDIAN), Policy::Alias),
    (
        Block(mmio::TRAIL_BRES_ERR, mmio::DST_BRES_LNTH_SUB),
        Policy::Alias,
    ),
    (Block(mmio::SC_LEFT, mmio::SRC_SC_BOTTOM), Policy::Alias),
    (One(mmio::AUX_SC_CNTL), Policy::Alias),
    (Array(mmio::AUX_SC_LEFT), Policy::Alias),
    (Array(mmio::AUX_SC_RIGHT), Policy::Alias),
    (Array(mmio::AUX_SC_TOP), Policy::Alias),
    (Array(mmio::AUX_SC_BOTTOM), Policy::Alias),
    (One(mmio::DP_DATATYPE), Policy::Alias),
    (One(mmio::DP_MIX), Policy::Alias),
    (One(mmio::DEFAULT2_SC_BOTTOM_RIGHT), Policy::Alias),
    // A control word falls back to the default surfaces. A stream may not use them.
    (One(mmio::DEFAULT_PITCH_OFFSET), Policy::Alias),
    (One(mmio::DEFAULT_PITCH), Policy::Alias),
    (One(mmio::DEFAULT2_PITCH_OFFSET), Policy::Alias),
    (One(mmio::DST_TILE), Policy::Alias),
    (One(mmio::SRC_TILE), Policy::Alias),
    (One(mmio::DP_XOP), Policy::Alias),
    // 2D engine: palettes, which only refused source types use; set-up.
    (
        Block(mmio::SRC_CLUT_ADDRESS, mmio::SRC_CLUT_DATA_RD),
        Policy::OnChip,
    ),
    (One(mmio::DST_PIPE_CONFIG), Policy::SetUp),
    (One(mmio::DSTCACHE_MODE), Policy::SetUp),
    (One(mmio::RB2D_DSTCACHE_MODE), Policy::SetUp),
    // Draws without a packet, and what draw packets write.
    (Array(mmio::VAP_PORT_DATA), Policy::DirectDraw),
    (Array(mmio::VAP_PORT_IDX), Policy::DirectDraw),
    (One(mmio::VAP_VF_CNTL), Policy::DirectDraw),
    (One(mmio::VAP_PORT_DATA_IDX_128), Policy::DirectDraw),
    (One(mmio::VAP_VTX_NUM_ARRAYS), Policy::DirectDraw),
    (Array(mmio::VAP_VTX_AOS_ATTR), Policy::DirectDraw),
    (Array(mmio::VAP_VTX_AOS_ADDR_EVEN), Policy::DirectDraw),
    (Array(mmio::VAP_VTX_AOS_ADDR_ODD), Policy::DirectDraw),
    // Immediate mode: one register a component, the last one of a vertex draws.
    (
        Block(mmio::VAP_VTX_ST_POS_0_X_4, mmio::VAP_VTX_ST_END_OF_PKT),
        Policy::DirectDraw,
    ),
    (
        Block(mmio::VAP_VPORT_XSCALE_ALIAS, mmio::VAP_VPORT_ZOFFSET_ALIAS),
        Policy::Alias,
    ),
    // Pipes, FIFOs, debugging.
    (One(mmio::GB_TILE_CONFIG), Policy::SetUp),
    (One(mmio::GB_FIFO_SIZE), Policy::SetUp),
    (One(mmio::GB_PIPE_SELECT), Policy::SetUp),
    (One(mmio::GB_FIFO_SIZE1), Policy::SetUp),
    (One(mmio::GB_PIPE_SELECT2), Policy::SetUp),
    (One(mmio::GB_FIFO_SIZE2), Policy::SetUp),
    (One(mmio::GA_IDLE), Policy::SetUp),
    (One(mmio::GA_FIFO_CNTL), Policy::SetUp),
    (One(mmio::GA_ENHANCE), Policy::SetUp),
    (One(mmio::GA_SOFT_RESET), Policy::SetUp),
    (One(mmio::RB3D_DEBUG_CTL), Policy::SetUp),
    (One(mmio::RB3D_FIFO_SIZE), Policy::SetUp),
    (One(mmio::ZB_FIFO_SIZE), Policy::SetUp),
    // It moves the depth buffer under the scissor, and no client needs it.
    (One(mmio::ZB_DEPTHXY_OFFSET), Policy::SetUp),
    // Mask memories word by word. Their owner clears them by packet.
    (One(mmio::RB3D_CMASK_WRINDEX), Policy::OnChip),
    (One(mmio::RB3D_CMASK_DWORD), Policy::OnChip),
    (One(mmio::RB3D_CMASK_RDINDEX), Policy::OnChip),
    (One(mmio::ZB_ZMASK_WRINDEX), Policy::OnChip),
    (One(mmio::ZB_ZMASK_DWORD), Policy::OnChip),
    (One(mmio::ZB_ZMASK_RDINDEX), Policy::OnChip),
    (One(mmio::ZB_HIZ_WRINDEX), Policy::OnChip),
    (One(mmio::ZB_HIZ_DWORD), Policy::OnChip),
    (One(mmio::ZB_HIZ_RDINDEX), Policy::OnChip),
    // Display, outputs, connectors.
    (
        Block(mmio::D1CRTC_H_TOTAL, mmio::DOUT_POWER_MANAGEMENT_CNTL),
        Policy::Display,
    ),
];
