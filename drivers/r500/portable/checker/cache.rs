// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The caches of the colour and the depth unit, as far as registers may change only while one is empty.
//!
//! Both units draw into a cache, and where a line of it goes is known when it is written back: with an address,
//! a pitch or a format that has changed in between it goes somewhere that no draw was checked for. So the manual
//! lets the address, pitch and format of colour, its compression, and what samples are resolved to change only
//! while the colour cache is empty (R5xx 10.1). It says no such thing of depth, but the depth cache is purged in the
//! same way (R5xx 9.5.3, 10.11), and all known clients purge both together, so the same holds for depth here. The
//! number of samples belongs to both: it decides how far apart pixels lie.
//!
//! A purge writes back and drops all lines; one without the other leaves lines in the cache, or loses what was drawn.
//! It takes effect in the order of the stream: it and the registers that it is for wait in the unit for what has
//! been drawn before them ("unpipelined", R5xx 9.3.2). Mesa waits for the 3D engine besides, xf86-video-ati does
//! not everywhere.
//!
//! At the start of a stream both are empty: a fence purges them behind every submission.

use super::Reason;
use crate::portable::regs::mmio::{
    rb3d_dstcache_ctlstat as color_control,
    zb_zcache_ctlstat as depth_control, //
};

/// The colour cache.
const COLOR: u8 = 1 << 0;
/// The depth cache.
const DEPTH: u8 = 1 << 1;

/// What is in the caches, as far as the stream tells.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// The caches that a draw goes through in the present state, one bit each.
    used: u8,
    /// The caches that may hold lines, one bit each.
    full: u8,
}

impl Caches {
    /// The state of colour and depth has changed: what a draw reads or writes through now.
    pub(super) fn set_used(&mut self, color: bool, depth: bool) {
        self.used = if color { COLOR } else { 0 } | if depth { DEPTH } else { 0 };
    }

    /// A draw.
    pub(super) fn draw(&mut self) {
        self.full |= self.used;
    }

    /// `RB3D_DSTCACHE_CTLSTAT`, in all pipes.
    pub(super) fn purge_color(&mut self, word: u32) {
        let flushes = color_control::DC_FLUSH.get(word) >= color_control::dc_flush::FLUSH;
        let frees = color_control::DC_FREE.get(word) >= color_control::dc_free::FREE;
        if flushes && frees {
            self.full &= !COLOR;
        }
    }

    /// `ZB_ZCACHE_CTLSTAT`, in all pipes.
    pub(super) fn purge_depth(&mut self, word: u32) {
        if depth_control::ZC_FLUSH.any(word) && depth_control::ZC_FREE.any(word) {
            self.full &= !DEPTH;
        }
    }

    /// For a register that may change only while the colour cache is empty.
    pub(super) fn color_is_empty(&self) -> Result<(), Reason> {
        if self.full & COLOR == 0 {
            Ok(())
        } else {
            Err(Reason::ColorCache)
        }
    }

    /// For a register that may change only while the depth cache is empty.
    pub(super) fn depth_is_empty(&self) -> Result<(), Reason> {
        if self.full & DEPTH == 0 {
            Ok(())
        } else {
            Err(Reason::DepthCache)
        }
    }
}
