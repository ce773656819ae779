// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The caches of the colour and the depth unit. Some registers may change only while one of them is empty.
//!
//! Both units draw into a cache. The address of a line is computed when the line is written back. If address, pitch or
//! format have changed in between, the line is written to a place that no draw was checked for. So the manual allows
//! the address, pitch and format of colour, its compression, and the resolved picture to change only while the colour
//! cache is empty (R5xx 10.1). It does not say this of depth. But the depth cache is purged in the same way (R5xx
//! 9.5.3, 10.11), and all known clients purge both together, so the checker demands the same for depth. The number of
//! samples counts for both, because it decides how far apart pixels lie.
//!
//! A purge writes back and drops all lines. One without the other leaves lines in the cache, or loses what was drawn. A
//! purge takes effect in the order of the stream. It and the registers that it is for wait in the unit for what has
//! been drawn before them ("unpipelined", R5xx 9.3.2). Mesa also waits for the 3D engine; xf86-video-ati does not
//! everywhere.
//!
//! At the start of a stream both caches are empty, because a fence purges them behind every submission.

use super::Reason;
use crate::portable::regs::mmio::{
    rb3d_dstcache_ctlstat as color_control,
    zb_zcache_ctlstat as depth_control, //
};

/// The colour cache.
const COLOR: u8 = 1 << 0;
/// The depth cache.
const DEPTH: u8 = 1 << 1;

/// What may be in the caches, by the stream so far.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// The caches that a draw goes through in the present state, one bit each.
    used: u8,
    /// The caches that may hold lines, one bit each.
    full: u8,
}

impl Caches {
    /// Note through which caches a draw goes now, after the state of colour or depth has changed.
    pub(super) fn set_used(&mut self, color: bool, depth: bool) {
        self.used = if color { COLOR } else { 0 } | if depth { DEPTH } else { 0 };
    }

    /// Track a draw.
    pub(super) fn draw(&mut self) {
        self.full |= self.used;
    }

    /// Track a write to `RB3D_DSTCACHE_CTLSTAT` that reaches all pipes.
    pub(super) fn purge_color(&mut self, word: u32) {
        let flushes = color_control::DC_FLUSH.get(word) >= color_control::dc_flush::FLUSH;
        let frees = color_control::DC_FREE.get(word) >= color_control::dc_free::FREE;
        if flushes && frees {
            self.full &= !COLOR;
        }
    }

    /// Track a write to `ZB_ZCACHE_CTLSTAT` that reaches all pipes.
    pub(super) fn purge_depth(&mut self, word: u32) {
        if depth_control::ZC_FLUSH.any(word) && depth_control::ZC_FREE.any(word) {
            self.full &= !DEPTH;
        }
    }

    /// Refuse a write to a register that may change only while the colour cache is empty, if it is not.
    pub(super) fn color_is_empty(&self) -> Result<(), Reason> {
        if self.full & COLOR == 0 {
            Ok(())
        } else {
            Err(Reason::ColorCache)
        }
    }

    /// Refuse a write to a register that may change only while the depth cache is empty, if it is not.
    pub(super) fn depth_is_empty(&self) -> Result<(), Reason> {
        if self.full & DEPTH == 0 {
            Ok(())
        } else {
            Err(Reason::DepthCache)
        }
    }
}
