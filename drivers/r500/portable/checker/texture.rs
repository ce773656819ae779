// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: sixteen units, each with a chain of levels in one piece of an object.
//!
//! Level follows level, each half as large as the one before. All faces of a cube or layers of a volume lie together.
//! Every level is a picture of whole blocks (see [`layout`](super::layout)). A unit fetches from these pictures only,
//! with any coordinates. Sizes are rounded up to powers of two where the hardware needs this: where a coordinate wraps
//! or is mirrored, with levels or a filter between levels, and in the height of faces and layers. Lines that are
//! further apart than they are long (`TXPITCH`) may also be closer together (R5xx 2, 10.8; Mesa, `r300_texture_desc.c`,
//! `r300_state_derived.c`).
//!
//! The unit decides which levels are macro-tiled (`MACRO_SWITCH`), and there are two readings. The manual speaks of the
//! width only: a level is linear if it is narrower than a macro-block, with `MACRO_SWITCH` also if it is just as wide.
//! In Mesa, levels that are not as high as a macro-block are linear, too, and take less memory. The larger size counts
//! here: a level is macro-tiled if it is as wide as a macro-block, and the first level always is. (On the chip Mesa's
//! reading is seen to hold, see `Documentation/r500/checker.md`.) `MACRO_SWITCH` itself makes no difference. Sizes
//! below the first level are powers of two, so a level of just that width takes the same memory in both cases.
//!
//! Faces of a cube are square (R5xx 10.8, `TX_FORMAT0`).

use super::{
    buffer::Place,
    format,
    layout::{
        self,
        Block,
        Micro, //
    },
    Object,
    Reason, //
};
use crate::portable::regs::mmio::{
    tx_filter0 as filter0,
    tx_format0 as format0,
    tx_format1 as format1,
    tx_format2 as format2,
    tx_offset as offset, //
};

/// Number of units.
pub(super) const UNITS: usize = 16;
const UNITS_MASK: u32 = 0xffff;
/// Faces of a cube.
const FACES: u64 = 6;
/// The coarsest level that the unit can address: 12 for 4096 texels.
const LAST_LEVEL: u32 = 12;

/// The registers of one unit that decide what it fetches.
///
/// A unit of which nothing is known is all zeros, because every submission begins with sixteen of them.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    /// The registers that the stream has set, one bit each. The others are unknown.
    known: u32,
    place: Place,
    /// `TX_OFFSET`.
    offset: u32,
    format0: u32,
    format1: u32,
    format2: u32,
    filter0: u32,
}

/// In [`Unit::known`]: `TX_OFFSET` with its object.
const PLACE: u32 = 1 << 0;
/// In [`Unit::known`]: `TX_FORMAT0`.
const FORMAT0: u32 = 1 << 1;
/// In [`Unit::known`]: `TX_FORMAT1`.
const FORMAT1: u32 = 1 << 2;
/// In [`Unit::known`]: `TX_FORMAT2`.
const FORMAT2: u32 = 1 << 3;
/// In [`Unit::known`]: `TX_FILTER0`.
const FILTER0: u32 = 1 << 4;
/// In [`Unit::known`]: all that a draw needs.
const ALL: u32 = PLACE | FORMAT0 | FORMAT1 | FORMAT2 | FILTER0;

/// The texture state that a stream has set.
#[derive(Debug)]
pub(super) struct Textures {
    units: [Unit; UNITS],
    enabled: Option<u32>,
    /// Units that have changed since they were checked, one bit each.
    changed: u32,
}

/// Return whether a clamp mode stays within the given size. Other modes, among them
/// mirroring once, stay within the next power of two (Linux, `r100.c`, `r300.c`).
fn clamps(mode: u32) -> bool {
    matches!(mode, 2 | 4 | 6)
}

fn padded(size: u64, pad: bool) -> u64 {
    // At most 4096.
    if pad {
        size.checked_next_power_of_two().unwrap_or(size)
    } else {
        size
    }
}

/// Return the size of a level: halved and rounded down, and at least 1.
fn level_of(size: u64, level: u32) -> u64 {
    size.wrapping_shr(level).max(1)
}

/// Return the number of elements along an edge of `texels` texels.
fn elements(texels: u64, edge: u32) -> u64 {
    let rest = 1u64.wrapping_shl(edge).wrapping_sub(1);
    texels.wrapping_add(rest).wrapping_shr(edge)
}

impl Unit {
    /// Return the bytes from the address to the end of the last level, if all registers are known.
    fn length(&self) -> Result<u64, Reason> {
        let (word0, word1, word2) = (self.format0, self.format1, self.format2);
        let filter = self.filter0;
        let element = format::element(word1, word2).ok_or(Reason::TextureFormat)?;
        // The finest level may be set beyond the coarsest. It is not known what the unit does then.
        let finest = filter0::MAX_MIP_LEVEL.get(filter);
        let last_level = format0::NUM_LEVELS.get(word0).max(finest);
        if last_level > LAST_LEVEL {
            return Err(Reason::TextureLevels);
        }
        let mipmapped = last_level > 0;
        let by_pitch = format0::TXPITCH_EN.any(word0);
        // The unit would have to halve the pitch. It is not known how.
        if mipmapped && by_pitch {
            return Err(Reason::TextureLevels);
        }
        let macro_tiled = offset::MACRO_TILE.any(self.offset);
        let micro = Micro::new(offset::MICRO_TILE.get(self.offset))?;
        let shape = format1::TEX_COORD_TYPE.get(word1);
        let plane = shape == format1::tex_coord_type::TEX_2D;
        let (layers, faces) = match shape {
            format1::tex_coord_type::TEX_2D => (1, 1),
            format1::tex_coord_type::TEX_3D => (1u64.wrapping_shl(format0::TXDEPTH.get(word0)), 1),
            format1::tex_coord_type::CUBE => (1, FACES),
            _ => return Err(Reason::TextureFormat),
        };

        let high = |field: bool| if field { 1u64 << 11 } else { 0 };
        let width = u64::from(format0::TXWIDTH.get(word0)) | high(format2::TXWIDTH_11.any(word2));
        let height =
            u64::from(format0::TXHEIGHT.get(word0)) | high(format2::TXHEIGHT_11.any(word2));
        let filtered = filter0::MIP_FILTER.get(filter) != filter0::mip_filter::NONE;
        let padded_s = mipmapped || filtered || !clamps(filter0::CLAMP_S.get(filter));
        let padded_t = mipmapped || filtered || !clamps(filter0::CLAMP_T.get(filter)) || !plane;
        if shape == format1::tex_coord_type::CUBE && width != height {
            return Err(Reason::CubeShape);
        }
        let width = padded(width.wrapping_add(1), padded_s);
        let height = padded(height.wrapping_add(1), padded_t);
        let pitch = u64::from(format2::TXPITCH.get(word2)).wrapping_add(1);

        let linear = Block::new(element.bytes, micro, false)?;
        let tiled = Block::new(element.bytes, micro, true)?;
        let mut length = 0u64;
        for level in 0..=last_level {
            let columns = level_of(width, level);
            let lines = level_of(height, level);
            let row = if by_pitch { pitch } else { columns };
            let across = elements(columns, element.edge);
            let wide = level == 0 || across >= tiled.columns();
            let block = if macro_tiled && wide { tiled } else { linear };
            let picture = block.picture(
                elements(row, element.edge),
                across,
                elements(lines, element.edge),
            );
            let pictures = level_of(layers, level).wrapping_mul(faces);
            // A picture is below 2^48 and their number below 2^15. The sum saturates.
            length = length.saturating_add(picture.saturating_mul(pictures));
        }
        Ok(length)
    }

    fn check(&self, objects: &mut [Object]) -> Result<(), Reason> {
        if self.known != ALL {
            return Err(Reason::NoTexture);
        }
        let place = self.place;
        layout::start_aligned(offset::MACRO_TILE.any(self.offset), u64::from(place.offset))?;
        if self.length()? > place.length(objects) {
            return Err(Reason::TextureBounds);
        }
        place.reads(objects);
        Ok(())
    }
}

impl Textures {
    // Inlined, so that it is built in place. Copying it would cost as much as a small stream.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            units: [Unit::default(); UNITS],
            enabled: None,
            changed: UNITS_MASK,
        }
    }

    /// Change unit `unit` by `set`, which sets the register with the bit `register` in [`Unit::known`].
    fn change(&mut self, unit: u32, register: u32, set: impl FnOnce(&mut Unit)) {
        if let Some(entry) = self.units.get_mut(unit as usize) {
            entry.known |= register;
            set(entry);
            self.changed |= 1u32.wrapping_shl(unit);
        }
    }

    /// Track a write to `TX_ENABLE`.
    pub(super) fn set_enabled(&mut self, word: u32) {
        self.enabled = Some(word & UNITS_MASK);
    }

    /// Track a write to `TX_OFFSET`, with the tiling bits that the unit will use.
    pub(super) fn set_offset(&mut self, unit: u32, word: u32, place: Place) {
        self.change(unit, PLACE, |unit| {
            unit.offset = word;
            unit.place = place;
        });
    }

    pub(super) fn set_format0(&mut self, unit: u32, word: u32) {
        self.change(unit, FORMAT0, |unit| unit.format0 = word);
    }

    pub(super) fn set_format1(&mut self, unit: u32, word: u32) {
        self.change(unit, FORMAT1, |unit| unit.format1 = word);
    }

    pub(super) fn set_format2(&mut self, unit: u32, word: u32) {
        self.change(unit, FORMAT2, |unit| unit.format2 = word);
    }

    pub(super) fn set_filter0(&mut self, unit: u32, word: u32) {
        self.change(unit, FILTER0, |unit| unit.filter0 = word);
    }

    /// Check for a draw that everything that the units may fetch lies in the objects.
    pub(super) fn check(&mut self, objects: &mut [Object]) -> Result<(), Reason> {
        let enabled = self.enabled.ok_or(Reason::NoTextureEnable)?;
        let due = enabled & self.changed;
        if due == 0 {
            return Ok(());
        }
        let mut bits = due;
        for unit in &self.units {
            if bits & 1 != 0 {
                unit.check(objects)?;
            }
            bits >>= 1;
        }
        self.changed &= !due;
        Ok(())
    }
}
