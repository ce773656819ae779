// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a blit of the 2D engine touches.
//!
//! A picture is rows of pixels, `pitch` bytes apart from the base on. The engine computes the place of a pixel from its row and
//! its column. Columns beyond the pitch lie in the next row, and count there. A blit that goes from right to left or upwards
//! names the right or lower edge of its rectangle. Decision 11 says where the registers come from.
//!
//! A clipping rectangle takes pixels away. It is not known whether the engine reads pixels of the source that it then
//! clips, so that it makes nothing legal here.

use super::{
    relocate::Target,
    Reason, //
};

/// Size and direction of a rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Pixels of a row, at least 1.
    pub(super) width: u32,
    /// Rows, at least 1.
    pub(super) height: u32,
    /// Bytes of a pixel.
    pub(super) bytes: u32,
    /// It goes from right to left.
    pub(super) leftwards: bool,
    /// It goes upwards.
    pub(super) upwards: bool,
}

/// A rectangle in a picture, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    target: Target,
    pitch: u32,
    /// From the base to the first byte.
    first: u64,
    /// From the base to behind the last byte.
    end: u64,
}

/// Where in its picture a rectangle cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    /// Left of it or above.
    Edge,
    /// Beyond its object.
    Bounds,
    /// In a row that there is not.
    Pitch,
}

impl Shape {
    /// Return the bytes of a row.
    const fn row(self) -> u64 {
        (self.width as u64).wrapping_mul(self.bytes as u64)
    }

    /// Return the rectangle at a position of a picture in an object of `size` bytes.
    // No arithmetic overflows: positions, sizes and pitches have at most 15 bits, offsets 32.
    pub(super) fn place(
        self,
        target: Target,
        pitch: u32,
        (x, y): (u32, u32),
        size: u64,
    ) -> Result<Area, Outside> {
        let back = |backwards: bool, extent: u32| {
            if backwards {
                extent.wrapping_sub(1)
            } else {
                0
            }
        };
        let left = x.checked_sub(back(self.leftwards, self.width));
        let top = y.checked_sub(back(self.upwards, self.height));
        let (Some(left), Some(top)) = (left, top) else {
            return Err(Outside::Edge);
        };
        let bottom = top.wrapping_add(self.height.wrapping_sub(1));
        if pitch == 0 && bottom != 0 {
            return Err(Outside::Pitch);
        }
        let at = |row: u32| {
            u64::from(row)
                .wrapping_mul(u64::from(pitch))
                .wrapping_add(u64::from(left).wrapping_mul(u64::from(self.bytes)))
        };
        let first = at(top);
        let end = at(bottom).wrapping_add(self.row());
        if u64::from(target.offset).wrapping_add(end) > size {
            return Err(Outside::Bounds);
        }
        Ok(Area {
            target,
            pitch,
            first,
            end,
        })
    }

    /// Check that a copy within one object reads nothing that it has written.
    pub(super) fn overlap(self, from: &Area, to: &Area) -> Result<(), Reason> {
        let bytes = |area: &Area| {
            let base = u64::from(area.target.offset);
            (base.wrapping_add(area.first), base.wrapping_add(area.end))
        };
        let ((source, source_end), (destination, destination_end)) = (bytes(from), bytes(to));
        if source >= destination_end || destination >= source_end {
            return Ok(());
        }
        let pitch = i64::from(to.pitch);
        let row = self.row();
        let distance = (destination as i64).wrapping_sub(source as i64);
        // How far the destination is from the source: rows down, and bytes to the right. With some distances a row of one
        // meets two of the other.
        let nearest = if self.height == 1 {
            [(0, distance); 2]
        } else if from.pitch != to.pitch || row > u64::from(to.pitch) {
            // Rows lie across each other.
            return Err(Reason::CopyOverlap);
        } else {
            let down = distance.checked_div_euclid(pitch).unwrap_or(0);
            let right = distance.wrapping_sub(down.wrapping_mul(pitch));
            [
                (down, right),
                (down.wrapping_add(1), right.wrapping_sub(pitch)),
            ]
        };
        for (down, right) in nearest {
            let meets = right.unsigned_abs() < row && down.unsigned_abs() < u64::from(self.height);
            let reads_written = match (down, right) {
                (0, 0) => false,
                (0, right) => (right > 0) != self.leftwards,
                (down, _) => (down > 0) != self.upwards,
            };
            if meets && reads_written {
                return Err(Reason::CopyOverlap);
            }
        }
        Ok(())
    }

    /// Return the dwords of data of the CPU that the rectangle takes, in rows of pixels of `bits` bits, each padded to `unit`
    /// bits.
    pub(super) fn host_data(self, bits: u32, unit: u64) -> u64 {
        u64::from(self.width)
            .wrapping_mul(u64::from(bits))
            .checked_next_multiple_of(unit)
            .unwrap_or(0)
            .wrapping_mul(u64::from(self.height))
            .div_ceil(32)
    }
}
