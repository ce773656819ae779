// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Surfaces, and which bytes of them a rectangle touches.
//!
//! A surface is a part of an object as lines of pixels. It has the address of its first byte, the distance of its lines
//! (pitch), and an arrangement of pixels. In a linear surface pixel (x, y) lies at `y * pitch + x * bytes`. In a tiled
//! one (R5xx 2) blocks of pixels are contiguous: micro-blocks of 32 bytes, and macro-blocks of 8 by 8 micro-blocks, 2
//! KiB, aligned to 2 KiB. A row of blocks takes `pitch` bytes for each of its lines. So with any order of pixels in a
//! block, lines 0 to y touch no byte behind the row of blocks that has line y.

use super::reason::Reason;

/// Coordinates of the 2D engine have 14 bits, signed.
const COORDINATES: core::ops::RangeInclusive<i32> = -8192..=8191;

/// Size of a macro-block.
const MACRO_BLOCK: u64 = 2048;
/// Alignment of the pitch of macro-tiled surfaces: the widest macro-block, 8 linear micro-blocks.
const MACRO_PITCH: u64 = 256;
/// Micro-blocks in a macro-block, in each direction.
const MACRO_BLOCKS: u64 = 8;

/// A point of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) x: i32,
    pub(super) y: i32,
}

/// Return the coordinate in a 16-bit half. It has 14 bits and a sign; the two upper bits are copies of the sign.
#[inline]
fn coordinate(half: u32) -> Result<i32, Reason> {
    let value = i32::from(half as u16 as i16);
    if within(value) {
        Ok(value)
    } else {
        Err(Reason::Coordinate)
    }
}

/// Return whether the engine can express a coordinate.
#[inline]
fn within(value: i32) -> bool {
    // One comparison instead of two.
    const RANGE: u32 = COORDINATES.end().abs_diff(*COORDINATES.start());
    value.wrapping_sub(*COORDINATES.start()) as u32 <= RANGE
}

impl Point {
    /// Return a point from a word that has y in its upper and x in its lower half.
    #[inline]
    pub(super) fn from_y_x(word: u32) -> Result<Self, Reason> {
        Ok(Self {
            x: coordinate(word)?,
            y: coordinate(word >> 16)?,
        })
    }
}

/// A non-empty rectangle of pixels. All bounds are inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

/// The direction in which the engine draws from the corner that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) left_to_right: bool,
    pub(super) top_to_bottom: bool,
}

impl Direction {
    pub(super) const FORWARD: Self = Self {
        left_to_right: true,
        top_to_bottom: true,
    };
}

/// Return the first and the last of `length` coordinates (16 bits) from `from` on.
#[inline]
fn span(from: i32, length: u32, forward: bool) -> Result<(i32, i32), Reason> {
    let more = (length & 0xffff) as i32;
    if more == 0 {
        return Err(Reason::EmptyArea);
    }
    // No overflow: 14 and 16 bits.
    let more = more.wrapping_sub(1);
    let (first, last, far) = if forward {
        let last = from.wrapping_add(more);
        (from, last, last)
    } else {
        let first = from.wrapping_sub(more);
        (first, from, first)
    };
    // The engine's counters wrap beyond these bounds, and the pixels would be anywhere.
    if within(far) {
        Ok((first, last))
    } else {
        Err(Reason::AreaRange)
    }
}

impl Area {
    /// Return the rectangle of `width` by `height` pixels (16 bits each) that starts at `corner`.
    #[inline]
    pub(super) fn rectangle(
        corner: Point,
        width: u32,
        height: u32,
        direction: Direction,
    ) -> Result<Self, Reason> {
        // Most rectangles. Separate code, because it is shorter.
        if direction == Direction::FORWARD {
            Self::spanned(corner, width, height, Direction::FORWARD)
        } else {
            Self::other_rectangle(corner, width, height, direction)
        }
    }

    #[inline(never)]
    fn other_rectangle(
        corner: Point,
        width: u32,
        height: u32,
        direction: Direction,
    ) -> Result<Self, Reason> {
        Self::spanned(corner, width, height, direction)
    }

    #[inline(always)]
    fn spanned(
        corner: Point,
        width: u32,
        height: u32,
        direction: Direction,
    ) -> Result<Self, Reason> {
        let (left, right) = span(corner.x, width, direction.left_to_right)?;
        let (top, bottom) = span(corner.y, height, direction.top_to_bottom)?;
        Ok(Self {
            left,
            top,
            right,
            bottom,
        })
    }

    /// Return the smallest area that has both ends of a line.
    pub(super) fn hull(a: Point, b: Point) -> Self {
        Self {
            left: a.x.min(b.x),
            top: a.y.min(b.y),
            right: a.x.max(b.x),
            bottom: a.y.max(b.y),
        }
    }

    /// Return the number of columns.
    pub(super) fn columns(self) -> u32 {
        self.right.abs_diff(self.left).saturating_add(1)
    }

    /// Return the number of lines.
    pub(super) fn lines(self) -> u32 {
        self.bottom.abs_diff(self.top).saturating_add(1)
    }

    /// Return the intersection of two areas.
    #[inline]
    pub(super) fn intersection(self, other: Self) -> Option<Self> {
        let common = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        (common.left <= common.right && common.top <= common.bottom).then_some(common)
    }
}

/// Arrangement of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    pub(super) macro_tiled: bool,
    pub(super) micro_tiled: bool,
}

/// Bits per pixel that the engine reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// Monochrome, of a source only.
    Mono,
    /// 8 bits.
    Eight,
    /// 16 bits.
    Sixteen,
    /// 32 bits.
    ThirtyTwo,
}

impl Depth {
    pub(super) const fn bits(self) -> u64 {
        match self {
            Self::Mono => 1,
            Self::Eight => 8,
            Self::Sixteen => 16,
            Self::ThirtyTwo => 32,
        }
    }

    /// Return the bytes of the first `columns` pixels of a line.
    #[inline]
    const fn bytes(self, columns: u64) -> u64 {
        match self {
            Self::Mono => columns.div_ceil(8),
            Self::Eight => columns,
            Self::Sixteen => columns.wrapping_mul(2),
            Self::ThirtyTwo => columns.wrapping_mul(4),
        }
    }

    /// Return the lines of a tiled micro-block (R5xx 2.2). 16-bit pixels are tiled as 8 by 2 or as 4 by 4. The larger
    /// number covers both.
    const fn micro_lines(self) -> u64 {
        match self {
            Self::Mono => 1,
            Self::Eight | Self::Sixteen => 4,
            Self::ThirtyTwo => 2,
        }
    }
}

/// A part of an object as lines of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Surface {
    /// Index of the object.
    pub(super) object: u32,
    /// Bytes from the start of the surface to the end of the object.
    length: u64,
    /// Bytes from line to line.
    pitch: u64,
    tiling: Tiling,
}

impl Surface {
    /// Return the surface that starts `offset` bytes into object number `object`, which has `size` bytes.
    pub(super) fn new(
        object: u32,
        size: u64,
        offset: u64,
        pitch: u64,
        tiling: Tiling,
    ) -> Result<Self, Reason> {
        let length = size
            .checked_sub(offset)
            .filter(|length| *length > 0)
            .ok_or(Reason::OffsetBeyondObject)?;
        if pitch == 0 {
            return Err(Reason::ZeroPitch);
        }
        if tiling.macro_tiled {
            if pitch % MACRO_PITCH != 0 {
                return Err(Reason::TiledPitch);
            }
            if offset % MACRO_BLOCK != 0 {
                return Err(Reason::TiledOffset);
            }
        }
        Ok(Self {
            object,
            length,
            pitch,
            tiling,
        })
    }

    /// Check that every byte of the pixels in `area` lies in the object. The error is `outside` if not.
    #[inline(always)]
    pub(super) fn holds(&self, area: Area, depth: Depth, outside: Reason) -> Result<(), Reason> {
        // Negative coordinates lie before the surface. Right and bottom are not smaller.
        if area.left | area.top < 0 {
            return Err(outside);
        }
        let (right, bottom) = (area.right as u32, area.bottom as u32);
        // No overflow: coordinates have 13 bits here, the pitch 14.
        let columns = u64::from(right).wrapping_add(1);
        let lines = u64::from(bottom).wrapping_add(1);
        let width = depth.bytes(columns);
        let Tiling {
            macro_tiled,
            micro_tiled,
        } = self.tiling;
        let end = if macro_tiled || micro_tiled {
            if depth == Depth::Mono {
                return Err(Reason::TiledMono);
            }
            // The order of blocks beyond the pitch is not known.
            if width > self.pitch {
                return Err(outside);
            }
            let mut block_lines = if micro_tiled { depth.micro_lines() } else { 1 };
            if macro_tiled {
                block_lines = block_lines.wrapping_mul(MACRO_BLOCKS);
            }
            // A power of two.
            let last = block_lines.wrapping_sub(1);
            (lines.wrapping_add(last) & !last).checked_mul(self.pitch)
        } else {
            lines
                .wrapping_sub(1)
                .checked_mul(self.pitch)
                .and_then(|start| start.checked_add(width))
        };
        match end {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(outside),
        }
    }
}
