// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a user's command stream may do with a register.
//!
//! What a register *is* stands in the register database; this table says what the checker does about it. It
//! is an allow-list keyed by name: a register that is not in it cannot be written by user space, whatever it
//! does. Aliases of allowed registers (`DST_OFFSET`, `DST_X`, `DP_DATATYPE`, …) are left out on purpose: the
//! less there is to track, the less there is to get wrong, and neither Mesa nor xf86-video-ati writes them.

use lapidary::portable::bits::RegArray;

use super::regs::mmio::{
    self,
    clr_cmp_cntl,
    dp_cntl,
    dp_cntl_xdir_ydir_ymajor,
    dstcache_ctlstat,
    rb2d_dstcache_ctlstat,
    rb3d_dstcache_ctlstat,
    rbbm_guicntl,
    wait_until,
    zb_zcache_ctlstat, //
};

/// What the checker does when a stream writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// Refuses the stream.
    Forbidden,
    /// Nothing: no value of it makes the chip touch memory or hang.
    Free,

    /// Lets only bits through that wait for something that always comes.
    WaitUntil,
    /// Lets only flush and free through.
    CacheControl,
    /// Lets only flush and free through, without the pulse to the command processor.
    ColorCacheControl,
    /// Lets only flush and free through.
    ZCacheControl,
    /// Lets only the swap mode through.
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
}

impl Policy {
    /// The bits that a value may have set, for policies that only look at that.
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
            Self::Forbidden => 0,
            _ => u32::MAX,
        }
    }
}

/// One register or an array of them.
#[derive(Clone, Copy, Debug)]
pub enum Registers {
    /// One register, by offset.
    One(u32),
    /// All registers of an array.
    Array(RegArray),
}

use Registers::{
    Array,
    One, //
};

/// The allow-list.
pub const ALLOWED: &[(Registers, Policy)] = &[
    // 2D engine: surfaces.
    (One(mmio::SRC_PITCH_OFFSET), Policy::SourcePitchOffset),
    (One(mmio::DST_PITCH_OFFSET), Policy::DestinationPitchOffset),
    // 2D engine: geometry.
    (One(mmio::SRC_Y_X), Policy::SourceCorner),
    (One(mmio::DST_Y_X), Policy::DestinationCorner),
    (One(mmio::DST_HEIGHT_WIDTH), Policy::HeightWidth),
    (One(mmio::DST_WIDTH_HEIGHT), Policy::WidthHeight),
    (One(mmio::DST_LINE_START), Policy::LineStart),
    (One(mmio::DST_LINE_END), Policy::LineEnd),
    (One(mmio::DST_LINE_PATCOUNT), Policy::Free),
    (One(mmio::DP_CNTL), Policy::Direction),
    (One(mmio::DP_CNTL_XDIR_YDIR_YMAJOR), Policy::LineDirection),
    // 2D engine: scissors. Those of the source and the default ones only ever take pixels away.
    (One(mmio::SC_TOP_LEFT), Policy::ScissorTopLeft),
    (One(mmio::SC_BOTTOM_RIGHT), Policy::ScissorBottomRight),
    (One(mmio::SRC_SC_BOTTOM_RIGHT), Policy::Free),
    (One(mmio::DEFAULT_SC_BOTTOM_RIGHT), Policy::Free),
    // 2D engine: colours, brushes, comparison.
    (One(mmio::DP_GUI_MASTER_CNTL), Policy::Control),
    (One(mmio::BRUSH_Y_X), Policy::Free),
    (One(mmio::DP_BRUSH_BKGD_CLR), Policy::Free),
    (One(mmio::DP_BRUSH_FRGD_CLR), Policy::Free),
    (Array(mmio::BRUSH_DATA), Policy::Free),
    (One(mmio::DP_SRC_FRGD_CLR), Policy::Free),
    (One(mmio::DP_SRC_BKGD_CLR), Policy::Free),
    (One(mmio::DP_WRITE_MASK), Policy::Free),
    (One(mmio::CLR_CMP_CNTL), Policy::ColorCompare),
    (One(mmio::CLR_CMP_CLR_SRC), Policy::Free),
    (One(mmio::CLR_CMP_CLR_DST), Policy::Free),
    (One(mmio::CLR_CMP_MASK), Policy::Free),
    // 2D engine: host data.
    (Array(mmio::HOST_DATA), Policy::HostData),
    (One(mmio::HOST_DATA_LAST), Policy::HostDataLast),
    (One(mmio::RBBM_GUICNTL), Policy::HostSwap),
    // Order and caches.
    (One(mmio::WAIT_UNTIL), Policy::WaitUntil),
    (One(mmio::DSTCACHE_CTLSTAT), Policy::CacheControl),
    (One(mmio::RB2D_DSTCACHE_CTLSTAT), Policy::CacheControl),
    (One(mmio::RB3D_DSTCACHE_CTLSTAT), Policy::ColorCacheControl),
    (One(mmio::ZB_ZCACHE_CTLSTAT), Policy::ZCacheControl),
];

/// Registers that a type-0 packet can reach.
const REACHABLE: usize = 1 << 13;

static TABLE: [Policy; REACHABLE] = table();

/// Spreads the allow-list over the register space. Evaluated by the compiler: a register out of reach or one
/// named twice does not compile.
const fn table() -> [Policy; REACHABLE] {
    const fn set(table: &mut [Policy; REACHABLE], register: u32, policy: Policy) {
        assert!(register % 4 == 0);
        let entry = &mut table[(register / 4) as usize];
        assert!(matches!(*entry, Policy::Forbidden));
        *entry = policy;
    }
    let mut table = [Policy::Forbidden; REACHABLE];
    let mut i = 0;
    while i < ALLOWED.len() {
        let (registers, policy) = ALLOWED[i];
        match registers {
            One(register) => set(&mut table, register, policy),
            Array(array) => {
                let mut n = 0;
                while let Some(register) = array.at(n) {
                    set(&mut table, register, policy);
                    n += 1;
                }
            }
        }
        i += 1;
    }
    table
}

/// What to do about the register at byte offset `register`.
#[inline]
pub fn of(register: u32) -> Policy {
    match TABLE.get((register >> 2) as usize) {
        Some(policy) => *policy,
        None => Policy::Forbidden,
    }
}

/// Whether a register belongs to the blocks of the 3D pipeline (R5xx 10), for a better message.
pub fn is_3d(register: u32) -> bool {
    (mmio::VAP_VPORT_XSCALE..mmio::RB2D_DSTCACHE_MODE).contains(&register)
        || (mmio::GB_ENABLE..=mmio::ZB_STENCILREFMASK_BF).contains(&register)
}
