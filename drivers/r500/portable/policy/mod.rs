// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a user's command stream may do with a register.
//!
//! The register database says what a register *is*. This table says what the checker does when a stream writes it. It
//! is keyed by name and covers the database. A register is either [admitted], perhaps after a check of the value, or
//! [refused], by itself or with its block; then the class says why. Registers that the database does not have are
//! refused too.
//!
//! The compiler spreads the table over the space that a type-0 packet can reach, so that a look-up costs one load.

mod admitted;
mod refused;

pub use admitted::ADMITTED;
pub use refused::REFUSED;

use lapidary::portable::{
    bits::Registers,
    policy::Lists, //
};

use super::regs::mmio::{
    clr_cmp_cntl,
    dp_cntl,
    dp_cntl_xdir_ydir_ymajor,
    dstcache_ctlstat,
    rb2d_dstcache_ctlstat,
    rb3d_aaresolve_offset,
    rb3d_cctl,
    rb3d_coloroffset,
    rb3d_dstcache_ctlstat,
    rbbm_guicntl,
    wait_until,
    zb_depthoffset,
    zb_zcache_ctlstat,
    zb_zpass_addr, //
};

/// What the checker does when a stream writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// Refuses the stream: this register is not in the database.
    Unknown,
    /// Refuses the stream: command processor, bus, memory, clocks, interrupts.
    Kernel,
    /// Refuses the stream: display, and other blocks that lead out of the chip.
    Display,
    /// Refuses the stream: pipes and FIFOs, which all clients share.
    SetUp,
    /// Refuses the stream: another way to set something that is tracked in one form only.
    Alias,
    /// Refuses the stream: starts or feeds a draw without a draw packet.
    DirectDraw,
    /// Refuses the stream: reads or writes a memory on the chip word by word.
    OnChip,

    /// Does nothing: no value of it makes the chip access memory or hang.
    Free,

    /// Admits only bits that wait for something that always happens.
    WaitUntil,
    /// Admits only flush and free.
    CacheControl,
    /// Admits only flush and free, without the pulse to the command processor.
    ColorCacheControl,
    /// Admits only flush and free.
    ZCacheControl,
    /// Admits only the swap mode.
    HostSwap,

    /// 2D engine: address and pitch of the source, relocated and tracked.
    SourcePitchOffset,
    /// 2D engine: address and pitch of the destination, relocated and tracked.
    DestinationPitchOffset,
    /// 2D engine: GUI control word, tracked.
    Control,
    /// 2D engine: direction, tracked.
    Direction,
    /// 2D engine: direction, in the form for lines; makes the other form unknown.
    LineDirection,
    /// 2D engine: colour compare, tracked because it can make the engine read the source.
    ColorCompare,
    /// 2D engine: corner of the destination scissor, tracked.
    ScissorTopLeft,
    /// 2D engine: other corner of the destination scissor, tracked.
    ScissorBottomRight,
    /// 2D engine: corner of the source, tracked.
    SourceCorner,
    /// 2D engine: corner of the destination, tracked.
    DestinationCorner,
    /// 2D engine: size with the height in the upper half; starts a rectangle.
    HeightWidth,
    /// 2D engine: size with the width in the upper half; starts a rectangle.
    WidthHeight,
    /// 2D engine: start of a line, tracked.
    LineStart,
    /// 2D engine: end of a line; starts it.
    LineEnd,
    /// 2D engine: a dword of host data.
    HostData,
    /// 2D engine: the last dword of host data.
    HostDataLast,

    /// Colour: address of a target, relocated and tracked.
    ColorOffset,
    /// Colour: pitch, tiling and format of a target, tracked.
    ColorPitch,
    /// Colour: replication, compression, tracked.
    ColorControl,
    /// Colour: channels that are written, tracked.
    ColorMask,
    /// Colour: whether the destination is read, tracked.
    Blend,
    /// Colour: whether the shader has an output, tracked.
    OutputFormat,
    /// Colour: samples of a pixel, tracked.
    AntiAlias,
    /// Colour: address of the resolved picture, relocated and tracked.
    ResolveOffset,
    /// Colour: pitch of the resolved picture, tracked.
    ResolvePitch,
    /// Colour: whether samples are resolved, tracked.
    ResolveControl,
    /// Colour: layout of the colour mask memory, for its owner only.
    ColorMaskMemory,

    /// Depth: what is tested and written, tracked.
    DepthControl,
    /// Depth: format, tracked.
    DepthFormat,
    /// Depth: compression, hierarchical Z, help for colour; tracked, in parts for the owner only.
    DepthBandwidth,
    /// Depth: address, relocated and tracked.
    DepthOffset,
    /// Depth: pitch and tiling, tracked.
    DepthPitch,
    /// Depth: size of plane equations, tracked; not zero for the owner only.
    PlaneEquations,
    /// Depth: layout of hierarchical Z and depth mask memory; not zero for the owner only.
    DepthMemory,
    /// Scan converter: hierarchical Z; switched off for all but the owner.
    ScanHyperZ,
    /// Depth: where a count of pixels is stored, relocated.
    PassAddress,

    /// Rasteriser: what shader model 3.0 gets from the vertex shader; no draw may follow directly.
    ShaderFormat,
    /// Scan converter: lower right corner of the scissor, tracked.
    Scissor,
    /// Which pixel pipes register writes reach, tracked.
    PipeSelect,
    /// Which Z pipes register writes reach, tracked; exists on one chip only.
    ZPipeSelect,

    /// Texture: which units fetch, tracked.
    TextureEnable,
    /// Texture: clamping and levels, tracked.
    TextureFilter0,
    /// Texture: size, tracked.
    TextureFormat0,
    /// Texture: format, tracked.
    TextureFormat1,
    /// Texture: pitch, tracked.
    TextureFormat2,
    /// Texture: address and tiling, relocated and tracked.
    TextureOffset,

    /// Vertices: size of those in the stream, tracked.
    VertexSize,
    /// Vertices: largest index, tracked.
    VertexMax,
    /// Vertices: smallest index, tracked.
    VertexMin,
    /// Vertices: number beyond 16 bits, tracked.
    VertexCount,
    /// Vertices: what is added to indices, tracked.
    IndexOffset,
}

impl Policy {
    /// Return whether the stream is refused with any value.
    pub const fn refuses(self) -> bool {
        matches!(
            self,
            Self::Unknown
                | Self::Kernel
                | Self::Display
                | Self::SetUp
                | Self::Alias
                | Self::DirectDraw
                | Self::OnChip
        )
    }

    /// Return whether this is a register of the 2D engine whose value is checked.
    #[inline]
    pub const fn is_engine2d(self) -> bool {
        Self::SourcePitchOffset as u8 <= self as u8 && self as u8 <= Self::HostDataLast as u8
    }

    /// Return the bits that a value may have set. For policies that do not check this, all of them.
    pub const fn allowed_bits(self) -> u32 {
        match self {
            Self::WaitUntil => {
                wait_until::WAIT_DMA_GUI_IDLE.mask()
                    | wait_until::WAIT_2D_IDLE.mask()
                    | wait_until::WAIT_3D_IDLE.mask()
                    | wait_until::WAIT_2D_IDLECLEAN.mask()
                    | wait_until::WAIT_3D_IDLECLEAN.mask()
                    | wait_until::WAIT_HOST_IDLECLEAN.mask()
                    | wait_until::WAIT_VAP_IDLE.mask()
            }
            Self::CacheControl => {
                dstcache_ctlstat::DC_FLUSH.mask()
                    | dstcache_ctlstat::DC_FREE.mask()
                    | rb2d_dstcache_ctlstat::DC_FLUSH.mask()
                    | rb2d_dstcache_ctlstat::DC_FREE.mask()
            }
            Self::ColorCacheControl => {
                rb3d_dstcache_ctlstat::DC_FLUSH.mask() | rb3d_dstcache_ctlstat::DC_FREE.mask()
            }
            Self::ZCacheControl => {
                zb_zcache_ctlstat::ZC_FLUSH.mask() | zb_zcache_ctlstat::ZC_FREE.mask()
            }
            Self::HostSwap => rbbm_guicntl::HOST_DATA_SWAP.mask(),
            Self::Direction => {
                // The tiling bits of this register would change what an address means.
                dp_cntl::DST_X_LEFT_TO_RIGHT.mask() | dp_cntl::DST_Y_TOP_TO_BOTTOM.mask()
            }
            Self::LineDirection => {
                dp_cntl_xdir_ydir_ymajor::DST_Y_MAJOR.mask()
                    | dp_cntl_xdir_ydir_ymajor::DST_Y_DIR_TOP_TO_BOTTOM.mask()
                    | dp_cntl_xdir_ydir_ymajor::DST_X_DIR_LEFT_TO_RIGHT.mask()
            }
            Self::ColorCompare => {
                clr_cmp_cntl::CLR_CMP_SRC.mask()
                    | clr_cmp_cntl::CLR_CMP_DST.mask()
                    | clr_cmp_cntl::CMP_ENABLE.mask()
            }
            Self::ColorControl => {
                rb3d_cctl::NUM_MULTIWRITES.mask()
                    | rb3d_cctl::CLRCMP_FLIPE_ENABLE.mask()
                    | rb3d_cctl::AA_COMPRESSION_ENABLE.mask()
                    | rb3d_cctl::CMASK_ENABLE.mask()
                    | rb3d_cctl::INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE.mask()
                    | rb3d_cctl::WRITE_COMPRESSION_DISABLE.mask()
                    | rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.mask()
            }
            // Low bits of addresses, which the units ignore.
            Self::ColorOffset => rb3d_coloroffset::COLOROFFSET.mask(),
            Self::ResolveOffset => rb3d_aaresolve_offset::AARESOLVE_OFFSET.mask(),
            Self::DepthOffset => zb_depthoffset::DEPTHOFFSET.mask(),
            Self::PassAddress => zb_zpass_addr::ZPASS_ADDR.mask(),
            _ => u32::MAX,
        }
    }
}

/// Registers that a type-0 packet can reach.
pub const REACHABLE: usize = 1 << 13;

static TABLE: [Policy; REACHABLE] = table();

/// Spread both lists over the register space. A register that is out of reach or named twice does not compile.
const fn table() -> [Policy; REACHABLE] {
    let lists = Lists {
        beyond: false,
        rest: false,
    };
    lists.spread(0, &[ADMITTED, REFUSED], Policy::Unknown)
}

/// Return what to do when a stream writes the register at byte offset `register`.
#[inline]
pub fn of(register: u32) -> Policy {
    match TABLE.get((register >> 2) as usize) {
        Some(policy) => *policy,
        None => Policy::Unknown,
    }
}

/// For each register the number of free ones from it on.
static FREE: [u16; REACHABLE] = free();

const fn free() -> [u16; REACHABLE] {
    let table = table();
    let mut free = [0; REACHABLE];
    let mut run = 0;
    let mut i = REACHABLE;
    while i > 0 {
        i -= 1;
        run = match table[i] {
            Policy::Free => run + 1,
            _ => 0,
        };
        free[i] = run;
    }
    free
}

/// Return how many consecutive registers from byte offset `first` on are [free](Policy::Free). Streams write them in
/// runs, so this saves look-ups.
#[inline]
pub fn free_from(first: u32) -> usize {
    match FREE.get((first >> 2) as usize) {
        Some(run) => *run as usize,
        None => 0,
    }
}
