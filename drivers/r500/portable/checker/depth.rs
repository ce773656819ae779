// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Depth and stencil, and the memories on the chip that speed them up.
//!
//! The depth buffer is touched by the tests and writes that `ZB_CNTL` switches on, and when the unit helps
//! clearing colour (`ZB_BW_CNTL.ZB_CB_CLEAR`), which `ZB_CNTL` does not know of. Hierarchical Z, depth
//! compression and fast clears keep their data in memories on the chip that all clients share, so they are
//! for one client at a time, the owner (R5xx 8, 10.11).

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

/// What a stream has said about depth.
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

    /// `ZB_FORMAT`.
    pub(super) fn set_format(&mut self, word: u32) -> Result<(), Reason> {
        use format::depthformat as code;
        self.pixel = Some(match format::DEPTHFORMAT.get(word) {
            code::INTEGER_16 | code::FLOAT_13E3 => 1,
            code::INTEGER_24_STENCIL_8 => 2,
            _ => return Err(Reason::DepthFormat),
        });
        Ok(())
    }

    pub(super) fn set_control(&mut self, word: u32) {
        self.control = Some(word);
    }

    /// `ZB_BW_CNTL`.
    pub(super) fn set_bandwidth(&mut self, word: u32, owner: bool) -> Result<(), Reason> {
        if !owner && (word & COMPRESSION != 0 || bandwidth::HIZ_ENABLE.any(word)) {
            return Err(Reason::NotHyperZOwner);
        }
        self.bandwidth = Some(word);
        Ok(())
    }

    /// `GB_Z_PEQ_CONFIG`.
    pub(super) fn set_planes(&mut self, word: u32) {
        self.planes = Some(word);
    }

    /// Whether this unit helps clearing colour.
    pub(super) fn helps_color(&self) -> Result<bool, Reason> {
        let word = self.bandwidth.ok_or(Reason::NoDepthBandwidth)?;
        Ok(bandwidth::ZB_CB_CLEAR.any(word))
    }

    /// What a draw does with the depth buffer.
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

    /// The buffer, and how many lines of it are touched if `lines` are drawn: compressed depth comes in
    /// squares of 4 or 8 pixels.
    pub(super) fn buffer(&self, samples: u64, lines: u64) -> Result<(Buffer, u64), Reason> {
        let (Some(place), Some(word), Some(pixel)) = (self.place, self.pitch, self.pixel) else {
            return Err(Reason::NoDepthBuffer);
        };
        let compressed = self.bandwidth.is_some_and(|word| word & COMPRESSION != 0);
        let small = self
            .planes
            .is_some_and(|word| planes::Z_PEQ_SIZE.get(word) == planes::z_peq_size::SIZE_4X4);
        let rest = match (compressed, small) {
            (false, _) => 0,
            (true, true) => 3,
            (true, false) => 7,
        };
        let buffer = Buffer {
            place,
            pitch: u64::from(pitch::DEPTHPITCH.get(word)).wrapping_mul(4),
            pixel,
            micro: Micro::new(pitch::DEPTHMICROTILE.get(word))?,
            macro_tiled: pitch::DEPTHMACROTILE.any(word),
            samples,
        };
        Ok((buffer, lines.wrapping_add(rest) & !rest))
    }
}
