// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which pixels can be reached at all: the colour window and the scissor window (L1091).
//!
//! Whatever the vertices say, a draw touches no pixel outside of both. Edges go from 0 to 2048, and surfaces have at most
//! 2048 pixels a row. So the right and the lower edge do not belong to the window: otherwise the last value would say
//! nothing that the one before does not.

use lapidary_registers::chrome9::para_01::{self, misc_1 as rows, misc_2 as columns};

use super::state::State;

/// The largest edge.
const LAST: u32 = 2048;

/// Pixels from (`x0`, `y0`) on, to before (`x1`, `y1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x0: u64,
    /// Upper edge.
    pub y0: u64,
    /// Right edge.
    pub x1: u64,
    /// Lower edge.
    pub y1: u64,
}

impl Rect {
    /// Return whether no pixel is inside.
    pub fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
}

/// Return the pixels that a draw can reach.
pub fn visible(state: &State<'_>) -> Rect {
    let one = |name, vertical: u32, horizontal: u32| {
        let (v, h) = (state.attribute(vertical), state.attribute(horizontal));
        // Both windows have the same layout.
        let edges = [
            columns::LEFT.get(h),
            rows::TOP.get(v),
            columns::RIGHT.get(h),
            rows::BOTTOM.get(v),
        ];
        if edges.iter().any(|e| *e > LAST) {
            state.wrong(format!("the {name} window has an edge beyond {LAST}"));
        }
        edges.map(u64::from)
    };
    let color = one("colour", para_01::MISC_1, para_01::MISC_2);
    let scissor = one("scissor", para_01::MISC_3, para_01::MISC_4);
    Rect {
        x0: color[0].max(scissor[0]),
        y0: color[1].max(scissor[1]),
        x1: color[2].min(scissor[2]),
        y1: color[3].min(scissor[3]),
    }
}
