// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Lines.
//!
//! `DST_LINE_START` takes the first point, and a write of `DST_LINE_END` draws; `POLYLINE` (R5xx 5.2.2.4) does that
//! for a list of points. The manual does not say which pixels a line has. xf86-video-ati does, by what it
//! draws itself and by the "zero line bias" it declares to the server:
//!
//! - one pixel per step of the major axis, the nearest to the ideal line (Bresenham), both axes major alike;
//! - where two pixels are equally near, the minor axis does not step if y increases and steps if it decreases
//!   (octants 5 to 8 are biased), so that a line and its reverse have the same pixels;
//! - the last pixel is left out, except if `DP_CNTL.DST_LAST_PEL` asks for it (that bit: the kernel's
//!   include/video/radeon.h).
//!
//! The pattern of a pen advances by one a step, also over pixels that the scissor hides. A line begins at the phase in
//! `DST_LINE_PATCOUNT`, which `BRUSH_Y_X` bits 20:16 set too, and reloads it from `BRUSH_X` at its end; in a
//! `POLYLINE` the phase runs on from line to line.

use super::clip::Rect;

/// One line from its first to its last point.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    start: (i32, i32),
    /// Steps of the major axis from the first to the last point.
    length: i64,
    /// Steps of the minor axis on the way.
    minor: i64,
    x_major: bool,
    sign: (i32, i32),
    bias: i64,
    last: bool,
}

/// A pixel of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Column.
    pub x: i32,
    /// Row.
    pub y: i32,
    /// Index along the line.
    pub n: u32,
}

impl Line {
    /// Return a line; coordinates are 14-bit. `last` asks for the last pixel.
    pub fn new(start: (i32, i32), end: (i32, i32), last: bool) -> Line {
        let (dx, dy) = (
            i64::from(end.0) - i64::from(start.0),
            i64::from(end.1) - i64::from(start.1),
        );
        let x_major = dx.abs() >= dy.abs();
        let (length, minor) = if x_major {
            (dx.abs(), dy.abs())
        } else {
            (dy.abs(), dx.abs())
        };
        Line {
            start,
            length,
            minor,
            x_major,
            sign: (if dx < 0 { -1 } else { 1 }, if dy < 0 { -1 } else { 1 }),
            bias: i64::from(dy >= 0),
            last,
        }
    }

    /// Return the number of pixels, clipped or not.
    pub fn pixels(&self) -> u32 {
        // At most 2^14 for 14-bit coordinates.
        u32::try_from(self.length + i64::from(self.last)).unwrap_or(0)
    }

    /// Return the pixels inside a rectangle, in drawing order. Steps outside along the major axis are never visited.
    pub fn inside(self, clip: Rect) -> impl Iterator<Item = Step> {
        let (origin, sign, low, high) = if self.x_major {
            (self.start.0, self.sign.0, clip.left, clip.right)
        } else {
            (self.start.1, self.sign.1, clip.top, clip.bottom)
        };
        let (origin, low, high) = (i64::from(origin), i64::from(low), i64::from(high));
        // Steps n with low <= origin + sign * n < high.
        let (from, to) = if sign > 0 {
            (low - origin, high - origin)
        } else {
            (origin - high + 1, origin - low + 1)
        };
        let end = i64::from(self.pixels());
        let from = from.max(0);
        let to = to.min(end);
        (from..to)
            .map(move |n| self.step(n))
            .filter(move |s| clip.contains(s.x, s.y))
    }

    fn step(&self, n: i64) -> Step {
        let across = if self.length == 0 {
            0
        } else {
            (2 * n * self.minor + self.length - self.bias).div_euclid(2 * self.length)
        };
        // Both are at most the line's extent, which fits.
        let (along, across) = (n as i32, across as i32);
        let (x, y) = if self.x_major {
            (along, across)
        } else {
            (across, along)
        };
        Step {
            x: self.start.0.saturating_add(self.sign.0 * x),
            y: self.start.1.saturating_add(self.sign.1 * y),
            n: n as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EVERYTHING: Rect = Rect {
        left: -10000,
        top: -10000,
        right: 10000,
        bottom: 10000,
    };

    fn pixels(start: (i32, i32), end: (i32, i32)) -> Vec<(i32, i32)> {
        Line::new(start, end, false)
            .inside(EVERYTHING)
            .map(|s| (s.x, s.y))
            .collect()
    }

    #[test]
    fn straight_and_diagonal() {
        assert_eq!(pixels((1, 1), (4, 1)), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(pixels((1, 4), (1, 1)), [(1, 4), (1, 3), (1, 2)]);
        assert_eq!(pixels((0, 0), (-3, 3)), [(0, 0), (-1, 1), (-2, 2)]);
        assert_eq!(pixels((5, 5), (5, 5)), []);
    }

    #[test]
    fn last_pixel_on_request() {
        let drawn: Vec<_> = Line::new((0, 0), (2, 0), true)
            .inside(EVERYTHING)
            .map(|s| s.x)
            .collect();
        assert_eq!(drawn, [0, 1, 2]);
        assert_eq!(
            Line::new((7, 7), (7, 7), true).inside(EVERYTHING).count(),
            1
        );
    }

    #[test]
    fn shallow_line_without_ties() {
        // Slope 2/5: ideal heights 0, 0.4, 0.8, 1.2, 1.6.
        assert_eq!(
            pixels((0, 0), (5, 2)),
            [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)]
        );
        assert_eq!(
            pixels((0, 0), (2, 5)),
            [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4)]
        );
    }

    #[test]
    fn ties_step_only_when_y_decreases() {
        // Slope 1/2: the pixel at step 1 lies exactly between two rows (or columns).
        assert_eq!(pixels((0, 0), (4, 2)), [(0, 0), (1, 0), (2, 1), (3, 1)]);
        assert_eq!(pixels((0, 2), (4, 0)), [(0, 2), (1, 1), (2, 1), (3, 0)]);
        assert_eq!(pixels((0, 0), (2, 4)), [(0, 0), (0, 1), (1, 2), (1, 3)]);
        assert_eq!(pixels((0, 4), (2, 0)), [(0, 4), (1, 3), (1, 2), (2, 1)]);
        assert_eq!(pixels((4, 0), (0, 2)), [(4, 0), (3, 0), (2, 1), (1, 1)]);
        assert_eq!(pixels((4, 2), (0, 0)), [(4, 2), (3, 1), (2, 1), (1, 0)]);
    }

    proptest! {
        #[test]
        fn a_line_and_its_reverse_have_the_same_pixels(x in -60_i32..60, y in -60_i32..60) {
            let mut there: Vec<_> = Line::new((0, 0), (x, y), true).inside(EVERYTHING).map(|s| (s.x, s.y)).collect();
            let mut back: Vec<_> = Line::new((x, y), (0, 0), true).inside(EVERYTHING).map(|s| (s.x, s.y)).collect();
            there.sort_unstable();
            back.sort_unstable();
            prop_assert_eq!(there, back);
        }

        #[test]
        fn every_pixel_is_nearest_to_the_line(x in -60_i32..60, y in -60_i32..60) {
            for s in Line::new((0, 0), (x, y), true).inside(EVERYTHING) {
                // |cross product| / major length is the distance along the minor axis: at most one half.
                let major = x.abs().max(y.abs());
                prop_assert!((s.x * y - s.y * x).abs() * 2 <= major.max(0));
            }
        }

        #[test]
        fn clipping_takes_pixels_away_and_nothing_else(
            a in (-40_i32..40, -40_i32..40), b in (-40_i32..40, -40_i32..40), left in -40_i32..40, top in -40_i32..40, size in 0_u32..50,
        ) {
            let clip = Rect::new(left, top, size, size);
            let clipped: Vec<_> = Line::new(a, b, false).inside(clip).collect();
            let expected: Vec<_> =
                Line::new(a, b, false).inside(EVERYTHING).filter(|s| clip.contains(s.x, s.y)).collect();
            prop_assert_eq!(clipped, expected);
        }
    }
}
