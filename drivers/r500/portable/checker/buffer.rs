// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A place in an object, which a register with an address names, and the part of the object that a draw touches.

use super::{
    layout::{
        self,
        Block,
        Micro, //
    },
    Object,
    Reason, //
};

/// Where a picture begins: an object and an offset in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Number of the object.
    pub(super) object: u32,
    /// Bytes from its start, less than its size.
    pub(super) offset: u32,
}

impl Place {
    /// Return the bytes from here to the end of the object.
    pub(super) fn length(self, objects: &[Object]) -> u64 {
        objects.get(self.object as usize).map_or(0, |object| {
            object.size.saturating_sub(u64::from(self.offset))
        })
    }

    /// Note that the object is read.
    pub(super) fn reads(self, objects: &mut [Object]) {
        if let Some(object) = objects.get_mut(self.object as usize) {
            object.access.reads = true;
        }
    }

    /// Note that the object is written, and perhaps read.
    pub(super) fn writes(self, objects: &mut [Object]) {
        if let Some(object) = objects.get_mut(self.object as usize) {
            object.access.writes = true;
        }
    }
}

/// A picture that is drawn to: colour, depth or the resolved picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buffer {
    pub(super) place: Place,
    /// Pixels from line to line.
    pub(super) pitch: u64,
    /// Log2 of bytes of a pixel.
    pub(super) pixel: u32,
    pub(super) micro: Micro,
    pub(super) macro_tiled: bool,
    /// Values of a pixel that are stored.
    pub(super) samples: u64,
}

impl Buffer {
    /// Return how many columns may be drawn if `lines` lines are; `None` if the object is too small for that.
    ///
    /// The arrangement of multi-sampled buffers is fixed: micro- and macro-tiled, one block of that kind for each
    /// sample (Mesa, `r300_texture_desc.c`, `r300_blit.c`; R5xx 9.4.8 for four samples). The manual does not say what
    /// the chip does if the register has another arrangement, so the buffer has to fit with both.
    pub(super) fn columns(self, lines: u64, objects: &[Object]) -> Result<Option<u64>, Reason> {
        if self.samples == 1 {
            return self.arranged(self.micro, self.macro_tiled, lines, objects);
        }
        if self.micro == Micro::Square {
            return Err(Reason::TilingMode);
        }
        let fixed = self.arranged(Micro::Tiled, true, lines, objects)?;
        let said = self.arranged(self.micro, self.macro_tiled, lines, objects)?;
        Ok(match (fixed, said) {
            (Some(fixed), Some(said)) => Some(fixed.min(said)),
            _ => None,
        })
    }

    /// Return [`Buffer::columns`] for one arrangement.
    fn arranged(
        self,
        micro: Micro,
        macro_tiled: bool,
        lines: u64,
        objects: &[Object],
    ) -> Result<Option<u64>, Reason> {
        let block = Block::new(self.pixel, micro, macro_tiled)?;
        layout::aligned(block, macro_tiled, self.pitch, u64::from(self.place.offset))?;
        Ok(block.fitting_columns(self.pitch, lines, self.samples, self.place.length(objects)))
    }
}
