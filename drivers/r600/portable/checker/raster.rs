// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What bounds the pixels of a draw: scissors, and the samples of a pixel.
//!
//! The size of a slice bounds what colour and depth unit access. The manual still expects that the screen scissor limits
//! a draw to the surface (R6xx 3.3), and nothing public says what the units do with pixels beyond the last tile. So the
//! checker demands both: what the screen scissor and the window scissor leave must lie in each target. Other scissors and
//! clip rectangles only take pixels away.
//!
//! The window scissor moves with the window, unless it says that it does not. A window that is moved is not followed: its
//! scissor counts as none.

use super::{
    gfx::Checker,
    Reason, //
};
use crate::portable::regs::mmio::{
    pa_sc_aa_config as samples,
    pa_sc_screen_scissor_br as screen,
    pa_sc_window_scissor_br as window,
    pa_sc_window_scissor_tl as start, //
};

/// Pixels of a tile in either direction.
const TILE: u64 = 8;

/// The column and the line behind the last ones that a draw touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    columns: u64,
    lines: u64,
}

impl Edge {
    /// No bound.
    const NONE: Self = Self {
        columns: u64::MAX,
        lines: u64::MAX,
    };

    /// Return what both edges leave.
    fn and(self, other: Self) -> Self {
        Self {
            columns: self.columns.min(other.columns),
            lines: self.lines.min(other.lines),
        }
    }

    /// Check that the edge lies in a target with `pitch` tiles in a line and `slice` tiles in a slice.
    ///
    /// # Errors
    ///
    /// [`Reason::ScissorBounds`].
    pub(super) fn within(self, pitch: u64, slice: u64) -> Result<(), Reason> {
        // At most 2^10 and 2^20 tiles of 64 pixels.
        let columns = pitch.wrapping_mul(TILE);
        let lines = slice
            .wrapping_mul(TILE * TILE)
            .checked_div(columns)
            .unwrap_or(0);
        if self.columns > columns || self.lines > lines {
            return Err(Reason::ScissorBounds);
        }
        Ok(())
    }
}

/// Scissors and samples that a stream has set.
#[derive(Debug, Default)]
pub(super) struct Raster {
    samples: Option<u32>,
    screen: Option<u32>,
    window_start: Option<u32>,
    window_end: Option<u32>,
    window_offset: Option<u32>,
}

impl Raster {
    /// Track a write to `PA_SC_AA_CONFIG`.
    pub(super) fn set_samples(&mut self, word: u32) {
        self.samples = Some(word);
    }

    /// Track a write to `PA_SC_SCREEN_SCISSOR_BR`.
    pub(super) fn set_screen(&mut self, word: u32) {
        self.screen = Some(word);
    }

    /// Track a write to `PA_SC_WINDOW_SCISSOR_TL`.
    pub(super) fn set_window_start(&mut self, word: u32) {
        self.window_start = Some(word);
    }

    /// Track a write to `PA_SC_WINDOW_SCISSOR_BR`.
    pub(super) fn set_window_end(&mut self, word: u32) {
        self.window_end = Some(word);
    }

    /// Track a write to `PA_SC_WINDOW_OFFSET`.
    pub(super) fn set_window_offset(&mut self, word: u32) {
        self.window_offset = Some(word);
    }

    /// Return log2 of the samples of a pixel.
    fn samples(&self) -> Result<u32, Reason> {
        let word = self.samples.ok_or(Reason::NoSamples)?;
        Ok(samples::MSAA_NUM_SAMPLES.get(word))
    }

    /// Return where draws end.
    fn edge(&self) -> Edge {
        let screen = self.screen.map_or(Edge::NONE, |word| Edge {
            columns: screen::BR_X.get(word).into(),
            lines: screen::BR_Y.get(word).into(),
        });
        let fixed = self
            .window_start
            .is_some_and(|word| start::WINDOW_OFFSET_DISABLE.any(word))
            || self.window_start.is_some() && self.window_offset == Some(0);
        let window = match self.window_end {
            Some(word) if fixed => Edge {
                columns: window::BR_X.get(word).into(),
                lines: window::BR_Y.get(word).into(),
            },
            _ => Edge::NONE,
        };
        screen.and(window)
    }
}

impl Checker<'_> {
    /// Check what a draw accesses in colour and depth targets.
    pub(super) fn judge_targets(&mut self) -> Result<(), Reason> {
        let log2 = self.raster.samples()?;
        let edge = self.raster.edge();
        self.judge_color(log2, edge)?;
        self.judge_depth(log2, edge)
    }
}
