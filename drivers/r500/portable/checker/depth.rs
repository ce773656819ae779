// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Depth and stencil, and the memories on the chip that speed them up.
//!
//! The depth buffer is touched by the tests and writes that `ZB_CNTL` switches on. It is also touched when the unit
//! helps to clear colour (`ZB_BW_CNTL.ZB_CB_CLEAR`), whatever `ZB_CNTL` says. Hierarchical Z, depth compression and
//! fast clears keep their data in memories on the chip. All clients share these, so only one client at a time, the
//! owner, may use them (R5xx 8, 10.11).
//!
//! Depth of 16 bits and one sample lies in square micro-tiles or is not micro-tiled: the unit has no other arrangement
//! (R5xx 2.2). Fast fill and compression need micro-tiles and exist in some combinations only. Together with 16 bits
//! they hang the chip (R5xx 9.4.4). They work on squares of 4 or 8 pixels, so a row must consist of whole squares.

use super::{
    buffer::{
        Buffer,
        Place, //
    },
    layout::Micro,
    Reason, //
};
use crate::portable::regs::mmio::{
    gb_z_peq_config as planes,
    zb_bw_cntl as bandwidth,
    zb_cntl as control,
    zb_depthpitch as pitch,
    zb_format as format, //
};

/// The depth state that a stream has set.
#[derive(Debug, Default)]
pub(super) struct Depth {
    place: Option<Place>,
    pitch: Option<u32>,
    /// Log2 of bytes of a pixel.
    pixel: Option<u32>,
    control: Option<u32>,
    bandwidth: Option<u32>,
    planes: Option<u32>,
}

/// How a draw touches the depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    No,
    Reads,
    Writes,
}

/// Log2 of bytes of a pixel of 16 bits.
const PIXEL_16: u32 = 1;
/// The bits of `ZB_BW_CNTL` that use memories on the chip.
const COMPRESSION: u32 = bandwidth::FAST_FILL.mask()
    | bandwidth::RD_COMP_ENABLE.mask()
    | bandwidth::WR_COMP_ENABLE.mask();

impl Depth {
    pub(super) fn set_offset(&mut self, place: Place) {
        self.place = Some(place);
    }

    pub(super) fn set_pitch(&mut self, word: u32) {
        self.pitch = Some(word);
    }

    /// Track a write to `ZB_FORMAT`.
    pub(super) fn set_format(&mut self, word: u32) -> Result<(), Reason> {
        use format::depthformat as code;
        self.pixel = Some(match format::DEPTHFORMAT.get(word) {
            code::INTEGER_16 | code::FLOAT_13E3 => PIXEL_16,
            code::INTEGER_24_STENCIL_8 => 2,
            _ => return Err(Reason::DepthFormat),
        });
        Ok(())
    }

    pub(super) fn set_control(&mut self, word: u32) {
        self.control = Some(word);
    }

    /// Track a write to `ZB_BW_CNTL`.
    pub(super) fn set_bandwidth(&mut self, word: u32, owner: bool) -> Result<(), Reason> {
        if !owner && (word & COMPRESSION != 0 || bandwidth::HIZ_ENABLE.any(word)) {
            return Err(Reason::NotHyperZOwner);
        }
        let (fills, reads, writes) = (
            bandwidth::FAST_FILL.any(word),
            bandwidth::RD_COMP_ENABLE.any(word),
            bandwidth::WR_COMP_ENABLE.any(word),
        );
        // Allowed: nothing; fast fill alone; fast fill with compressed reads, or with compressed reads and writes.
        if reads && !fills || writes && !reads {
            return Err(Reason::DepthCompression);
        }
        self.bandwidth = Some(word);
        Ok(())
    }

    /// Track a write to `GB_Z_PEQ_CONFIG`.
    pub(super) fn set_planes(&mut self, word: u32) {
        self.planes = Some(word);
    }

    /// Return whether the unit helps to clear colour.
    pub(super) fn helps_color(&self) -> Result<bool, Reason> {
        let word = self.bandwidth.ok_or(Reason::NoDepthBandwidth)?;
        Ok(bandwidth::ZB_CB_CLEAR.any(word))
    }

    /// Return what a draw does with the depth buffer.
    pub(super) fn used(&self) -> Result<Use, Reason> {
        let word = self.control.ok_or(Reason::NoDepthControl)?;
        let compressed = self.bandwidth.ok_or(Reason::NoDepthBandwidth)? & COMPRESSION != 0;
        let tests = control::Z_ENABLE.any(word);
        let writes = control::ZWRITEENABLE.any(word) || control::STENCIL_ENABLE.any(word);
        Ok(if writes || self.helps_color()? || tests && compressed {
            Use::Writes
        } else if tests {
            Use::Reads
        } else {
            Use::No
        })
    }

    /// Return log2 of the edge in pixels of the squares that are read and written as one.
    fn square(&self) -> u32 {
        let compressed = self.bandwidth.is_some_and(|word| word & COMPRESSION != 0);
        let small = self
            .planes
            .is_some_and(|word| planes::Z_PEQ_SIZE.get(word) == planes::z_peq_size::SIZE_4X4);
        match (compressed, small) {
            (false, _) => 0,
            (true, true) => 2,
            (true, false) => 3,
        }
    }

    /// Return the buffer, and log2 of the edge in pixels of the squares in which it is touched.
    pub(super) fn buffer(&self, samples: u64) -> Result<(Buffer, u32), Reason> {
        let (Some(place), Some(word), Some(pixel)) = (self.place, self.pitch, self.pixel) else {
            return Err(Reason::NoDepthBuffer);
        };
        let micro = Micro::new(pitch::DEPTHMICROTILE.get(word))?;
        let columns = u64::from(pitch::DEPTHPITCH.get(word)).wrapping_mul(4);
        if pixel == PIXEL_16 && micro == Micro::Tiled && samples == 1 {
            return Err(Reason::DepthTiles);
        }
        let mode = self.bandwidth.unwrap_or(0);
        if mode & COMPRESSION != 0 && micro == Micro::Linear && samples == 1 {
            return Err(Reason::CompressedTiles);
        }
        if pixel == PIXEL_16 && bandwidth::RD_COMP_ENABLE.any(mode) {
            return Err(Reason::CompressedFormat);
        }
        let square = self.square();
        if columns & 1u64.wrapping_shl(square).wrapping_sub(1) != 0 {
            return Err(Reason::CompressedPitch);
        }
        let buffer = Buffer {
            place,
            pitch: columns,
            pixel,
            micro,
            macro_tiled: pitch::DEPTHMACROTILE.any(word),
            samples,
        };
        Ok((buffer, square))
    }
}
