// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a user's command stream may do with a register.
//!
//! The register database says what a register *is*. This table says what the checker does when a stream writes it. It
//! is keyed by name and covers the two ranges that packets reach: configuration registers, of which there is one set,
//! and context registers, of which each context has a set. A register is [admitted], [tracked] or [refused], by
//! itself or with its block. Of a refused one the class says why. Registers that the database does not have are refused too.
//!
//! An admitted register is *free* if no value of it makes the chip access memory. Of others only certain values are
//! admitted. The rest is *tracked*: it names memory or bounds an access, and the checker judges it, at once or at a draw.
//!
//! Registers keep their values when a stream ends. Before the commands of another client the driver writes zero to all
//! admitted registers, so that none of their values passes from client to client. Zero is a value of each that makes
//! the chip access nothing.
//!
//! The compiler spreads the table over the two ranges, so that a look-up costs one load.

mod admitted;
mod refused;
mod tracked;

pub use admitted::ADMITTED;
pub use refused::REFUSED;
pub use tracked::TRACKED;

use lapidary::portable::{
    bits::Registers,
    policy::Lists, //
};

use super::regs::{
    mmio::{
        self,
        db_debug,
        db_watermarks,
        wait_until, //
    },
    mmio_r7xx,
    pm4::{
        set_config_reg as config,
        set_context_reg as context, //
    }, //
};

/// What the checker does when a stream writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// Refuses the stream: this register is not in the database.
    Unknown,
    /// Refuses the stream: command processor, clocks, interrupts, status.
    Kernel,
    /// Refuses the stream: what all clients share, as pipes, FIFOs and caches.
    SetUp,
    /// Refuses the stream: an address or a bound that no client needs.
    Memory,
    /// Refuses the stream: written by packets, which the checker knows in that form only.
    Packet,
    /// Does nothing: no value makes the chip access memory.
    Free,
    /// Does nothing on R7xx, as [`Free`](Self::Free). Refuses the stream on R6xx, which do not have the register.
    Newer,
    /// Admits only some values: [`values`].
    Values,
    /// Admits only some bits: [`bits`].
    Bits,
    /// Admits only bits that wait for something that always happens.
    WaitUntil,
    /// What the vertices of a draw make up: only primitives that are published for 3D draws.
    Primitive,
    /// Whether there is a geometry shader.
    GeometryMode,
    /// Colour targets: address.
    ColorBase,
    /// Colour targets: pitch and slice.
    ColorSize,
    /// Colour targets: slices.
    ColorView,
    /// Colour targets: format and tiling.
    ColorInfo,
    /// Colour targets: address of CMASK.
    ColorTile,
    /// Colour targets: address of FMASK.
    ColorFrag,
    /// Colour targets: sizes of CMASK and FMASK.
    ColorMask,
    /// Colour targets: which are written.
    TargetMask,
    /// Colour targets: special operations.
    ColorControl,
    /// Samples of a pixel.
    Samples,
    /// Depth target: pitch and slice.
    DepthSize,
    /// Depth target: slices.
    DepthView,
    /// Depth target: address.
    DepthBase,
    /// Depth target: format and tiling.
    DepthInfo,
    /// Depth target: address of HTILE.
    HtileBase,
    /// Depth target: layout of HTILE.
    HtileSurface,
    /// Right and lower edge of the screen scissor.
    ScreenScissor,
    /// Left and upper edge of the window scissor, and whether it moves with the window.
    WindowScissorStart,
    /// Right and lower edge of the window scissor.
    WindowScissorEnd,
    /// Where the window is.
    WindowOffset,
    /// Constant buffers: size.
    ConstantSize,
    /// Constant buffers: address.
    Constants,
    /// Address of a program.
    Program,
    /// Rings between shaders and scratch memory: address.
    RingBase,
    /// Rings between shaders and scratch memory: size.
    RingSize,
    /// Rings between shaders and scratch memory: size of an element.
    RingItem,
    /// Stream-out buffers: size.
    StreamOutSize,
    /// Stream-out buffers: distance of vertices.
    StreamOutStride,
    /// Stream-out buffers: address.
    StreamOutBase,
}

impl Policy {
    /// Return whether the stream is refused with any value.
    pub const fn refuses(self) -> bool {
        matches!(
            self,
            Self::Unknown | Self::Kernel | Self::SetUp | Self::Memory | Self::Packet
        )
    }

    /// Return whether all values of the register are admitted, and the checker forgets them.
    #[inline]
    pub const fn is_free(self) -> bool {
        matches!(self, Self::Free)
    }
}

/// The bits of `WAIT_UNTIL` that a stream may set.
pub const WAITS: u32 = wait_until::WAIT_CP_DMA_IDLE.mask()
    | wait_until::WAIT_2D_IDLE.mask()
    | wait_until::WAIT_2D_IDLECLEAN.mask()
    | WAITS_FOR_3D;
/// Those of them that let the CP wait until all draws are done.
pub const WAITS_FOR_3D: u32 =
    wait_until::WAIT_3D_IDLE.mask() | wait_until::WAIT_3D_IDLECLEAN.mask();

/// Return the values that a stream may write to a register with [`Policy::Values`]. Clients write these to registers
/// that nothing public describes well enough to admit others.
pub const fn values(register: u32) -> &'static [u32] {
    match register {
        // R7xx, and R6xx (Mesa, `r600_state.c`; Linux, `r600.c`).
        mmio::DB_DEBUG => DEBUG,
        mmio::DB_WATERMARKS => WATERMARKS,
        mmio_r7xx::SQ_DYN_GPR_CNTL_PS_FLUSH_REQ => SHARES,
        mmio::VGT_ENHANCE => &[0, 4],
        // Debug words, the handshake of stream-out, programs that begin later than they say, several passes of a
        // draw, F buffer, reduction buffer.
        _ => &[0],
    }
}

const DEBUG: &[u32] = &[
    0,
    db_debug::PREZ_MUST_WAIT_FOR_POSTZ_DONE.mask() | DB_DEBUG_R6XX,
];
const WATERMARKS: &[u32] = &[0, watermarks(4, 16), watermarks(4, 4)];
const SHARES: &[u32] = &[
    0,
    mmio_r7xx::sq_dyn_gpr_cntl_ps_flush_req::VS_PC_LIMIT_ENABLE.mask(),
];

/// A bit of `DB_DEBUG` that Mesa and Linux set on R6xx, without a name.
const DB_DEBUG_R6XX: u32 = 1 << 25;

/// Return `DB_WATERMARKS` as Mesa has it, with as many free cache lines.
const fn watermarks(free: u32, lines: u32) -> u32 {
    db_watermarks::DEPTH_FREE.of(free)
        | db_watermarks::DEPTH_FLUSH.of(16)
        | db_watermarks::DEPTH_PENDING_FREE.of(4)
        | db_watermarks::DEPTH_CACHELINE_FREE.of(lines)
}

/// Return the bits that a stream may set in a register with [`Policy::Bits`].
pub const fn bits(register: u32) -> u32 {
    match register {
        // Everything but the modes of several chips that draw one picture, and draws without scissors.
        mmio::PA_SC_MODE_CNTL => {
            use mmio::pa_sc_mode_cntl::*;
            !(MULTI_CHIP_PRIM_DISCARD_ENAB.mask()
                | MULTI_CHIP_SUPERTILE_ENABLE.mask()
                | TILE_COVER_NO_SCISSOR.mask())
        }
        _ => 0,
    }
}

/// Registers of a range.
const fn registers(base: u32, end: u32) -> usize {
    ((end - base) / 4) as usize
}

const CONFIGS: usize = registers(config::BASE, config::END);
const CONTEXTS: usize = registers(context::BASE, context::END);

static CONFIG: [Policy; CONFIGS] = table(config::BASE);
static CONTEXT: [Policy; CONTEXTS] = table(context::BASE);

/// Spread the lists over the range of `N` registers from `base` on. A register that is named twice does not compile. A
/// block means the registers in it that are not named.
const fn table<const N: usize>(base: u32) -> [Policy; N] {
    let lists = Lists {
        beyond: true,
        rest: true,
    };
    lists.spread(base, &[ADMITTED, TRACKED, REFUSED], Policy::Unknown)
}

/// Return what to do with the context registers from number `first` on, counted from the first one of the range.
///
/// `None` if not all of the `count` registers are in the range.
#[inline]
pub fn context_registers(first: usize, count: usize) -> Option<&'static [Policy]> {
    CONTEXT.get(first..first.checked_add(count)?)
}

/// Return what to do with configuration registers, as [`context_registers`].
#[inline]
pub fn config_registers(first: usize, count: usize) -> Option<&'static [Policy]> {
    CONFIG.get(first..first.checked_add(count)?)
}

/// Return what to do when a stream writes the register at byte offset `register`.
#[inline]
pub fn of(register: u32) -> Policy {
    let entry = if register >= context::BASE {
        CONTEXT.get((register.wrapping_sub(context::BASE) >> 2) as usize)
    } else {
        CONFIG.get((register.wrapping_sub(config::BASE) >> 2) as usize)
    };
    match entry {
        Some(policy) => *policy,
        None => Policy::Unknown,
    }
}
