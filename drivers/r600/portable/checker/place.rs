// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses in a stream: the bytes of an object that a packet accesses, and how the address of the object is added.
//!
//! A stream has offsets from the beginning of an object where the chip wants addresses. Addresses have 40 bits. Most
//! packets have them in two dwords: bits 31:0, and somewhere behind it bits 39:32. Surfaces have one dword in units of
//! 256 bytes. The checker notes each address once ([`Fixup`]); [`place`] adds the address of the object to both parts, so
//! that a carry is not lost.

use lapidary::portable::bits::Field;

use super::{
    Object,
    Reason, //
};
use crate::portable::emit::ADDRESS_END;

/// Unit of surfaces' addresses in bytes.
pub(super) const SURFACE_UNIT: u64 = 256;

/// The upper part of an address, at the low end of a dword.
const HIGH: Field = Field::new(7, 0);
/// The upper part of an address, in the upper half of a dword.
const HIGH_UPPER: Field = Field::new(23, 16);

/// Where the parts of an address are, from the dword that the fixup names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The upper part is in the next dword.
    #[default]
    Next,
    /// The upper part is in the dword after the next.
    Second,
    /// The upper part is in the upper half of the dword after the next.
    SecondUpper,
    /// There is one dword, in units of 256 bytes.
    Surface {
        /// Log2 of what the final address must be a multiple of, in bytes. The object's owner sees to that by the
        /// alignment of the object.
        alignment: u8,
    },
}

/// An address in a checked stream that depends on where an object lies.
pub type Fixup = lapidary::portable::pm4::Fixup<Form>;

/// Return the most fixups that a stream of `dwords` dwords can have. The shortest packet with two addresses is a copy
/// of the DMA engine of R6xx, with four dwords.
pub const fn max_fixups(dwords: usize) -> usize {
    dwords / 2
}

/// Write the address of the object that `fixup` needs into a checked stream. It lies at `base`.
///
/// `None` if the stream is not the checked one, if the address is beyond the 40 bits of the chip, or if `base` is not
/// aligned as the surface needs it. Then `words` is unchanged.
#[inline]
pub fn place(fixup: &Fixup, base: u64, words: &mut [u32]) -> Option<()> {
    let words = words.get_mut(fixup.dword as usize..)?;
    match fixup.kind {
        Form::Next => add(words.get_mut(..2)?, HIGH, base),
        Form::Second => add(words.get_mut(..3)?, HIGH, base),
        Form::SecondUpper => add(words.get_mut(..3)?, HIGH_UPPER, base),
        Form::Surface { alignment } => {
            let word = words.first_mut()?;
            let address = u64::from(*word)
                .checked_mul(SURFACE_UNIT)?
                .checked_add(base)?;
            let unit = 1u64.wrapping_shl(alignment.into()).max(SURFACE_UNIT);
            // The unit is a power of two.
            if address >= ADDRESS_END || address & unit.wrapping_sub(1) != 0 {
                return None;
            }
            *word = (address / SURFACE_UNIT) as u32;
            Some(())
        }
    }
}

/// Add `base` to the address whose lower part is the first of `words`, and whose upper part is `field` of the last. As
/// [`place`].
#[inline(always)]
fn add(words: &mut [u32], field: Field, base: u64) -> Option<()> {
    let [low, .., high] = words else {
        return None;
    };
    let offset = u64::from(*low) | (u64::from(field.get(*high)) << 32);
    let address = offset.checked_add(base)?;
    if address >= ADDRESS_END {
        return None;
    }
    *low = address as u32;
    *high = field.put(*high, (address >> 32) as u32);
    Some(())
}

/// What a packet does with bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Reads,
    Writes,
}

impl Doing {
    /// Return the reason for a range outside the object.
    const fn outside(self) -> Reason {
        match self {
            Self::Reads => Reason::SourceBounds,
            Self::Writes => Reason::DestinationBounds,
        }
    }

    /// Note it.
    pub(super) fn note(self, object: &mut Object) {
        match self {
            Self::Reads => object.access.reads = true,
            Self::Writes => object.access.writes = true,
        }
    }
}

/// Check that the `bytes` bytes from `offset` on lie in `object`, and note what is done with them.
///
/// # Errors
///
/// [`Reason::SourceBounds`] or [`Reason::DestinationBounds`].
pub(super) fn range(
    object: &mut Object,
    offset: u64,
    bytes: u64,
    doing: Doing,
) -> Result<(), Reason> {
    match offset.checked_add(bytes) {
        Some(end) if end <= object.size => {}
        _ => return Err(doing.outside()),
    }
    doing.note(object);
    Ok(())
}

/// Return the offset that a lower and an upper part say. `upper` may have other bits only if they are in `others`.
///
/// # Errors
///
/// [`Reason::ForbiddenBits`]; [`Reason::Unaligned`] if the offset is not a multiple of `unit`, a power of two.
pub(super) fn offset(lower: u32, upper: u32, others: u32, unit: u64) -> Result<u64, Reason> {
    if upper & !(HIGH.mask() | others) != 0 {
        return Err(Reason::ForbiddenBits);
    }
    let offset = u64::from(lower) | (u64::from(HIGH.get(upper)) << 32);
    if offset & unit.wrapping_sub(1) != 0 {
        return Err(Reason::Unaligned);
    }
    Ok(offset)
}
