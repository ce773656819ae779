// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Bit fields of 32-bit words and arrays of registers: the two shapes in which the register database hands
//! its facts to portable code.
//!
//! Constants of both types are generated from `registers/*.xml`; nobody types a shift or a mask by hand.

/// A contiguous bit field of a 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    lo: u32,
    max: u32,
}

impl Field {
    /// The field from bit `hi` down to bit `lo`, both inclusive, `31 >= hi >= lo`.
    ///
    /// Bit numbers outside that range are a fault of the database, which its generator refuses. They would
    /// give a meaningless field here, never a panic.
    pub const fn new(hi: u32, lo: u32) -> Self {
        let width_less_one = hi.wrapping_sub(lo);
        Self {
            lo,
            max: u32::MAX.wrapping_shr(31u32.wrapping_sub(width_less_one)),
        }
    }

    /// The value of the field in `word`, moved down to bit 0.
    #[inline]
    pub const fn get(self, word: u32) -> u32 {
        word.wrapping_shr(self.lo) & self.max
    }

    /// The bits that the field occupies.
    #[inline]
    pub const fn mask(self) -> u32 {
        self.max.wrapping_shl(self.lo)
    }

    /// `word` with the field replaced by `value`. Bits of `value` that do not fit are dropped.
    #[inline]
    pub const fn put(self, word: u32, value: u32) -> u32 {
        (word & !self.mask()) | (value & self.max).wrapping_shl(self.lo)
    }

    /// The largest value that the field holds.
    #[inline]
    pub const fn max(self) -> u32 {
        self.max
    }

    /// A word that is zero but for the field.
    #[inline]
    pub const fn of(self, value: u32) -> u32 {
        self.put(0, value)
    }

    /// Whether any bit of the field is set in `word`.
    #[inline]
    pub const fn any(self, word: u32) -> bool {
        word & self.mask() != 0
    }
}

/// An array of registers of the same kind: `len` of them, `stride` bytes apart, the first at `base`.
///
/// In an indirect register space base and stride count index steps instead of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegArray {
    base: u32,
    len: u32,
    stride: u32,
}

impl RegArray {
    /// The array of `len` registers from `base` on, every `stride`.
    pub const fn new(base: u32, len: u32, stride: u32) -> Self {
        Self { base, len, stride }
    }

    /// Number of registers.
    #[inline]
    pub const fn len(self) -> u32 {
        self.len
    }

    /// Whether the array has no register at all.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Offset of register `i`, if there is one.
    #[inline]
    pub const fn at(self, i: u32) -> Option<u32> {
        if i >= self.len {
            return None;
        }
        match i.checked_mul(self.stride) {
            Some(distance) => self.base.checked_add(distance),
            None => None,
        }
    }

    /// Which register lies at `offset`, if one does.
    #[inline]
    pub const fn index_of(self, offset: u32) -> Option<u32> {
        let Some(distance) = offset.checked_sub(self.base) else {
            return None;
        };
        let (Some(index), Some(0)) = (
            distance.checked_div(self.stride),
            distance.checked_rem(self.stride),
        ) else {
            return None;
        };
        if index < self.len {
            Some(index)
        } else {
            None
        }
    }
}
