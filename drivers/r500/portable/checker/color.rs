// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Colour: up to four targets, and the picture that multiple samples are resolved to.
//!
//! The fragment shader has four outputs. Each one that `US_OUT_FMT` does not call unused is written to the target of
//! the same number. `RB3D_CCTL.NUM_MULTIWRITES` also copies the first output to further targets. A target whose
//! channels are all masked is not written. If blending does not read it either, it is not touched, unless the depth
//! unit helps to clear it (R5xx 10.1, 10.11).
//!
//! State that the stream has not set is unknown. An output is in use until the stream calls it unused.

use super::{
    buffer::{
        Buffer,
        Place, //
    },
    layout::Micro,
    Reason, //
};
use crate::portable::regs::mmio::{
    gb_aa_config as aa,
    rb3d_aaresolve_ctl as resolve_control,
    rb3d_aaresolve_pitch as resolve_pitch,
    rb3d_blendcntl as blend,
    rb3d_cctl as control,
    rb3d_colorpitch as pitch,
    us_out_fmt as output, //
};

/// Number of targets.
pub(super) const TARGETS: usize = 4;
/// Channels of a target in the channel mask.
const CHANNELS: u32 = 4;

/// One target.
#[derive(Clone, Copy, Debug, Default)]
struct Target {
    place: Option<Place>,
    /// `RB3D_COLORPITCH`.
    pitch: Option<u32>,
}

/// The colour state that a stream has set.
#[derive(Debug)]
pub(super) struct Color {
    targets: [Target; TARGETS],
    control: Option<u32>,
    mask: Option<u32>,
    blend_reads: bool,
    /// Outputs that may be in use, one bit each.
    outputs: u32,
    antialias: Option<u32>,
    resolve: Option<Place>,
    resolve_pitch: Option<u32>,
    resolve_control: Option<u32>,
}

/// Return log2 of the bytes of a pixel; `None` for formats that the 3D pipeline does not draw.
fn pixel(format: u32) -> Option<u32> {
    use pitch::colorformat as format_of;
    match format {
        format_of::I8 => Some(0),
        format_of::ARGB1555
        | format_of::RGB565
        | format_of::UV88
        | format_of::ARGB4444
        | format_of::VYUY
        | format_of::YVYU => Some(1),
        format_of::ARGB2101010 | format_of::ARGB8888 => Some(2),
        format_of::ARGB16161616 => Some(3),
        format_of::ARGB32323232 => Some(4),
        _ => None,
    }
}

impl Color {
    // Inlined, so that it is built in place. Copying it would cost as much as a small stream.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            targets: [Target::default(); TARGETS],
            control: None,
            mask: None,
            blend_reads: true,
            outputs: 0xf,
            antialias: None,
            resolve: None,
            resolve_pitch: None,
            resolve_control: None,
        }
    }

    // --- state ---------------------------------------------------------------------------------------

    pub(super) fn set_offset(&mut self, target: usize, place: Place) {
        if let Some(target) = self.targets.get_mut(target) {
            target.place = Some(place);
        }
    }

    /// Track a write to `RB3D_COLORPITCH`.
    pub(super) fn set_pitch(&mut self, target: usize, word: u32) -> Result<(), Reason> {
        pixel(pitch::COLORFORMAT.get(word)).ok_or(Reason::ColorFormat)?;
        if let Some(target) = self.targets.get_mut(target) {
            target.pitch = Some(word);
        }
        Ok(())
    }

    /// Track a write to `RB3D_CCTL`. Compression needs the colour mask memory.
    pub(super) fn set_control(&mut self, word: u32, owner: bool) -> Result<(), Reason> {
        let compressed =
            control::CMASK_ENABLE.any(word) || control::AA_COMPRESSION_ENABLE.any(word);
        if compressed && !owner {
            return Err(Reason::NotCmaskOwner);
        }
        self.control = Some(word);
        Ok(())
    }

    pub(super) fn set_mask(&mut self, word: u32) {
        self.mask = Some(word);
    }

    pub(super) fn set_blend(&mut self, word: u32) {
        self.blend_reads = blend::READ_ENABLE.any(word);
    }

    /// Track a write to `US_OUT_FMT`.
    pub(super) fn set_output(&mut self, index: u32, word: u32) {
        let bit = 1u32.wrapping_shl(index);
        if output::OUT_FMT.get(word) == output::out_fmt::UNUSED {
            self.outputs &= !bit;
        } else {
            self.outputs |= bit;
        }
    }

    /// Track a write to `GB_AA_CONFIG`.
    pub(super) fn set_antialias(&mut self, word: u32) {
        self.antialias = Some(word);
    }

    pub(super) fn set_resolve(&mut self, place: Place) {
        self.resolve = Some(place);
    }

    pub(super) fn set_resolve_pitch(&mut self, word: u32) {
        self.resolve_pitch = Some(word);
    }

    pub(super) fn set_resolve_control(&mut self, word: u32) {
        self.resolve_control = Some(word);
    }

    // --- what a draw touches -------------------------------------------------------------------------

    /// Return the number of samples of a pixel.
    pub(super) fn samples(&self) -> Result<u64, Reason> {
        use aa::num_aa_subsamples as number;
        let word = self.antialias.ok_or(Reason::NoAntiAlias)?;
        if !aa::AA_ENABLE.any(word) {
            return Ok(1);
        }
        Ok(match aa::NUM_AA_SUBSAMPLES.get(word) {
            number::SAMPLES_2 => 2,
            number::SAMPLES_3 => 3,
            number::SAMPLES_4 => 4,
            _ => 6,
        })
    }

    /// Return whether samples are resolved.
    fn resolving(&self) -> Result<bool, Reason> {
        let word = self.resolve_control.ok_or(Reason::NoResolveControl)?;
        Ok(resolve_control::AARESOLVE_MODE.any(word))
    }

    /// Return the targets that a draw touches, one bit each. With `depth_helps` the depth unit clears colour too.
    pub(super) fn used(&self, depth_helps: bool) -> Result<u32, Reason> {
        let word = self.control.ok_or(Reason::NoColorControl)?;
        let mask = self.mask.ok_or(Reason::NoColorMask)?;
        let copies = control::NUM_MULTIWRITES.get(word);
        let outputs = self.outputs | 1 | 2u32.wrapping_shl(copies).wrapping_sub(1);
        let first = 1u32.wrapping_shl(CHANNELS).wrapping_sub(1);
        let independent = control::INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE.any(word);
        let everywhere = depth_helps || self.blend_reads || self.resolving()?;
        let mut used = 0;
        for target in 0..TARGETS as u32 {
            let shift = if independent {
                CHANNELS.wrapping_mul(target)
            } else {
                0
            };
            let bit = 1u32.wrapping_shl(target);
            if outputs & bit != 0 && (everywhere || mask.wrapping_shr(shift) & first != 0) {
                used |= bit;
            }
        }
        Ok(used)
    }

    /// Return the buffer of a target that is in use. While samples are resolved, the tiling in its register is not its
    /// own (see [`Self::resolved`]).
    pub(super) fn buffer(&self, target: usize) -> Result<Buffer, Reason> {
        let buffer = self.described(target)?;
        Ok(if self.resolving()? && buffer.samples > 1 {
            Buffer {
                micro: Micro::Tiled,
                macro_tiled: true,
                ..buffer
            }
        } else {
            buffer
        })
    }

    /// Return a target as its registers describe it.
    fn described(&self, target: usize) -> Result<Buffer, Reason> {
        let first = self.targets.first().and_then(|target| target.pitch);
        let target = self.targets.get(target).ok_or(Reason::NoColorBuffer)?;
        let (Some(place), Some(word)) = (target.place, target.pitch) else {
            return Err(Reason::NoColorBuffer);
        };
        let own = pixel(pitch::COLORFORMAT.get(word)).ok_or(Reason::ColorFormat)?;
        // If targets do not have formats of their own, they have that of the first.
        let independent = self
            .control
            .is_some_and(|word| control::INDEPENDENT_COLORFORMAT_ENABLE.any(word));
        let pixel = if independent {
            own
        } else {
            let first = first.ok_or(Reason::NoColorBuffer)?;
            pixel(pitch::COLORFORMAT.get(first)).ok_or(Reason::ColorFormat)?
        };
        Ok(Buffer {
            place,
            pitch: u64::from(pitch::COLORPITCH.get(word)).wrapping_mul(2),
            pixel,
            micro: Micro::new(pitch::COLORMICROTILE.get(word))?,
            macro_tiled: pitch::COLORTILE.any(word),
            samples: self.samples()?,
        })
    }

    /// Return the resolved picture, if samples are resolved. Format and tiling are those of the first target. Its
    /// tiling means this buffer then (Mesa, `r300_blit.c`).
    pub(super) fn resolved(&self) -> Result<Option<Buffer>, Reason> {
        if !self.resolving()? {
            return Ok(None);
        }
        let (Some(place), Some(word)) = (self.resolve, self.resolve_pitch) else {
            return Err(Reason::NoResolveBuffer);
        };
        Ok(Some(Buffer {
            place,
            pitch: u64::from(resolve_pitch::AARESOLVE_PITCH.get(word)).wrapping_mul(2),
            samples: 1,
            ..self.described(0)?
        }))
    }
}
