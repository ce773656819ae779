// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rectangles and scissors.
//!
//! The engine draws only inside the destination scissor, whose corners are `SC_TOP_LEFT` and
//! `SC_BOTTOM_RIGHT`, and reads only above and to the left of `SRC_SC_BOTTOM_RIGHT` (R5xx 5.2.2, SETUP_BODY; the
//! other two edges of the source scissor are those of the source itself). Facts that the manual leaves out come from
//! xf86-video-ati:
//!
//! - the bottom and right edges are the first row and column *outside* (its host-data code writes `y + h`, `x + w`);
//! - a corner is sign and magnitude: bits 13:0 and bit 15 for x, bits 29:16 and bit 31 for y
//!   (`RADEON_SC_SIGN_MASK_LO`, `_HI`), while positions are two's complement in 14 bits.
//!
//! Decided here: pixels with a negative coordinate do not exist, whatever the scissor says. Nothing is ever drawn to or
//! read from the bytes before a surface.

use std::fmt;

use lapidary_registers::r500::mmio::sc_top_left;

/// A half-open rectangle of pixels: `left <= x < right`, `top <= y < bottom`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First column inside.
    pub left: i32,
    /// First row inside.
    pub top: i32,
    /// First column outside.
    pub right: i32,
    /// First row outside.
    pub bottom: i32,
}

impl Rect {
    /// Return the rectangle of that size at that corner. Sizes are at most 16383.
    pub fn new(left: i32, top: i32, width: u32, height: u32) -> Rect {
        let end =
            |start: i32, size: u32| start.saturating_add(i32::try_from(size).unwrap_or(i32::MAX));
        Rect {
            left,
            top,
            right: end(left, width),
            bottom: end(top, height),
        }
    }

    /// Return what lies in both.
    pub fn intersection(self, other: Rect) -> Rect {
        Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    /// Return whether no pixel is inside.
    pub fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    /// Return whether a pixel is inside.
    pub fn contains(self, x: i32, y: i32) -> bool {
        self.left <= x && x < self.right && self.top <= y && y < self.bottom
    }

    /// Return the same rectangle elsewhere.
    pub fn moved(self, x: i32, y: i32) -> Rect {
        Rect {
            left: self.left.saturating_add(x),
            top: self.top.saturating_add(y),
            right: self.right.saturating_add(x),
            bottom: self.bottom.saturating_add(y),
        }
    }

    /// Return the destination scissor of two register values.
    pub fn scissor(top_left: u32, bottom_right: u32) -> Rect {
        let (left, top) = corner(top_left);
        let (right, bottom) = corner(bottom_right);
        Rect {
            left: left.max(0),
            top: top.max(0),
            right,
            bottom,
        }
    }

    /// Return what the source scissor leaves of the plane.
    pub fn source_scissor(bottom_right: u32) -> Rect {
        let (right, bottom) = corner(bottom_right);
        Rect {
            left: 0,
            top: 0,
            right,
            bottom,
        }
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "({}, {})..({}, {})",
            self.left, self.top, self.right, self.bottom
        )
    }
}

/// Return the (x, y) of a scissor register; all of them have the same layout.
fn corner(value: u32) -> (i32, i32) {
    let signed = |magnitude: u32, negative: u32| {
        // At most 14 bits, so the conversion cannot fail.
        let magnitude = i32::try_from(magnitude).unwrap_or(0);
        if negative != 0 { -magnitude } else { magnitude }
    };
    (
        signed(
            sc_top_left::LEFT.get(value),
            sc_top_left::SIGN_LEFT.get(value),
        ),
        signed(
            sc_top_left::TOP.get(value),
            sc_top_left::SIGN_TOP.get(value),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn corners_are_sign_and_magnitude_and_edges_exclusive() {
        assert_eq!(
            Rect::scissor(0x0002_0001, 0x0014_000a),
            Rect {
                left: 1,
                top: 2,
                right: 10,
                bottom: 20
            }
        );
        // Bit 15 makes x negative: -5; the drawable plane starts at 0 all the same.
        assert_eq!(Rect::scissor(0x0000_8005, 0x0001_0001).left, 0);
        assert!(Rect::scissor(0, 0x8003_0005).is_empty());
        assert_eq!(Rect::source_scissor(0x1fff_1fff).right, 8191);
        // Bits 14 and 30 belong to nothing.
        assert_eq!(
            Rect::source_scissor(0x4001_4001),
            Rect {
                left: 0,
                top: 0,
                right: 1,
                bottom: 1
            }
        );
    }

    proptest! {
        #[test]
        fn intersection_is_pixelwise_and(
            a in rect(), b in rect(), x in -20_i32..20, y in -20_i32..20,
        ) {
            prop_assert_eq!(a.intersection(b).contains(x, y), a.contains(x, y) && b.contains(x, y));
        }

        #[test]
        fn scissors_hold_only_pixels_that_exist(a: u32, b: u32) {
            let r = Rect::scissor(a, b);
            prop_assert!(r.is_empty() || (r.left >= 0 && r.top >= 0 && r.right < 16384 && r.bottom < 16384));
        }
    }

    fn rect() -> impl Strategy<Value = Rect> {
        (-20_i32..20, -20_i32..20, 0_u32..20, 0_u32..20)
            .prop_map(|(x, y, w, h)| Rect::new(x, y, w, h))
    }
}
