// SPDX-License-Identifier: GPL-2.0 OR MIT

//! HQV, the scaler and colour converter of video (L441-529), as far as memory is concerned.
//!
//! There are two engines with the same registers. No pixel is scaled. But when `HQV_CONTROL` is written with `ENABLE` and
//! `SOURCE_FLIP`, and the source is memory, a picture begins: what it may read and write is worked out from the registers
//! ([`picture`]) and judged, as that of a draw is. The picture ends at once. `SOURCE_FLIP` and `SUBPICTURE_FLIP` fall,
//! `END_OF_FRAME` rises, and with `INTERRUPT_ENABLE` the status of the engine in 200h.
//!
//! What depends on earlier pictures (fields, de-interlacing, the record of static pixels) and pictures of capture are not
//! followed: a picture with them is a finding.

mod picture;

use std::fmt;

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::mmio::{
    self, hqv_control as control, hqv_mode as mode, hqv_source_stride as source_stride,
    hqv_static_stride as static_stride,
};

use self::picture::Picture;
use crate::engine3d::judge;
use crate::{Chrome9, kind};

/// Bit of the control that says that the engine has nothing to do. It has nothing whenever it can be asked.
pub const IDLE: u32 = control::IDLE.mask();

/// Bits of the control that can only be read.
const READ_ONLY: u32 = control::FIFO_FULL.mask()
    | control::FLIP_STATE.mask()
    | control::IDLE.mask()
    | control::OUTPUT_BUFFER.mask();

/// Bits of the control that have to do with fields.
const FIELDS: u32 = control::ADVANCED_DEINTERLACE.mask()
    | control::CHROMA_FIELDS.mask()
    | control::INVERSE_FIELD.mask()
    | control::FRAME_TO_FIELD.mask()
    | control::FIELD_TO_FRAME.mask()
    | control::SOURCE_FIELD.mask();

/// What a picture touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// Packed pixels of the source.
    Packed,
    /// Brightness of the source.
    Luma,
    /// Colours of the source.
    Chroma,
    /// Sub-picture.
    Subpicture,
    /// A destination, counted from 1.
    Destination(u8),
    /// Pixels left of segments.
    Residue,
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Surface::Packed => f.write_str("source"),
            Surface::Luma => f.write_str("source Y"),
            Surface::Chroma => f.write_str("source UV"),
            Surface::Subpicture => f.write_str("sub-picture"),
            Surface::Destination(n) => write!(f, "destination {n}"),
            Surface::Residue => f.write_str("residue"),
        }
    }
}

impl Chrome9 {
    /// Write the control of an engine.
    pub(crate) fn write_hqv(&mut self, m: &mut Machine, engine: u32, value: u32) {
        let Some(place) = mmio::HQV_CONTROL.at(engine) else {
            return;
        };
        let ended = self.regs.get(place) & !value & control::END_OF_FRAME.mask();
        let mut word = value & !READ_ONLY & !control::END_OF_FRAME.mask() | ended;
        let starts = control::ENABLE.any(value) && control::SOURCE_FLIP.any(value);
        self.regs.set(place, word);
        if !starts || !self.picture(m, engine) {
            return;
        }
        word &= !control::SOURCE_FLIP.mask() & !control::SUBPICTURE_FLIP.mask();
        self.regs.set(place, word | control::END_OF_FRAME.mask());
        if control::INTERRUPT_ENABLE.any(word) {
            self.raise_hqv(m, engine);
        }
    }

    /// Judge a picture. Return whether it is one, right or wrong.
    fn picture(&mut self, m: &mut Machine, engine: u32) -> bool {
        let picture = Picture::new(&self.regs, engine);
        match control::SOURCE.get(picture.control) {
            control::source::SOFTWARE => {}
            control::source::RESERVED => {
                m.finding(kind::RESERVED_VALUE, format_args!("HQV {engine}: source 1"));
                return false;
            }
            camera => {
                m.finding(
                    kind::UNIMPLEMENTED_PARAMETER,
                    format_args!("HQV {engine}: pictures of capture, source {camera}"),
                );
                return false;
            }
        }
        m.counters.add("hqv_pictures", 1);
        m.trace
            .line(format_args!("HQV {engine}, not executed: {picture}"));
        let mut right = true;
        for what in unfollowed(&picture) {
            m.finding(
                kind::UNIMPLEMENTED_PARAMETER,
                format_args!("HQV {engine}: a picture with {what}"),
            );
            right = false;
        }
        for (kind, what) in picture.mistakes() {
            m.finding(kind, format_args!("HQV {engine}: {what}"));
            right = false;
        }
        if right {
            let footprints = picture.touched();
            judge::touch(m, &mut self.gart, &footprints);
            self.engine3d.record(&footprints);
        }
        true
    }
}

/// Return what of a picture the model does not follow.
fn unfollowed(picture: &Picture<'_>) -> Vec<String> {
    let bits = [
        ("HQV_CONTROL", picture.control & FIELDS),
        (
            "HQV_MODE",
            picture.get(mmio::HQV_MODE)
                & (mode::SYNCHRONIZE_FIELD.mask() | mode::INVERSE_DISPLAY_FIELD.mask()),
        ),
        (
            "HQV_SOURCE_STRIDE",
            picture.get(mmio::HQV_SOURCE_STRIDE)
                & (source_stride::LOAD_ADDRESS.mask()
                    | source_stride::RESET_STATIC.mask()
                    | source_stride::PULL_DOWN_LOW.mask()
                    | source_stride::CHECK_SEQUENCE_ONCE.mask()
                    | source_stride::ANY_SIZE.mask()),
        ),
        (
            "HQV_STATIC_STRIDE",
            picture.get(mmio::HQV_STATIC_STRIDE) & static_stride::STRIDE.mask(),
        ),
        ("HQV_DEINTERLACE", picture.get(mmio::HQV_DEINTERLACE)),
        (
            "HQV_EXTENDED_CONTROL",
            picture.get(mmio::HQV_EXTENDED_CONTROL),
        ),
    ];
    let set = bits.iter().filter(|(_, bits)| *bits != 0);
    set.map(|(name, bits)| format!("{name} = {bits:#x}"))
        .collect()
}
