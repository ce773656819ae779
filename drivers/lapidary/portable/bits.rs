// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Bit fields of 32-bit words, arrays of registers, and registers as the row of a list names them.
//!
//! Portable code receives the facts of the register database as offsets, fields and arrays. These constants are
//! generated from `registers/*.xml`. No shift or mask is written by hand.

/// A contiguous bit field of a 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    lo: u32,
    max: u32,
}

impl Field {
    /// Return the field from bit `hi` down to bit `lo`, both inclusive, `31 >= hi >= lo`.
    ///
    /// Bit numbers outside that range are an error of the database, which its generator refuses. Here they would give
    /// a meaningless field, never a panic.
    pub const fn new(hi: u32, lo: u32) -> Self {
        let width_less_one = hi.wrapping_sub(lo);
        Self {
            lo,
            max: u32::MAX.wrapping_shr(31u32.wrapping_sub(width_less_one)),
        }
    }

    /// Return the value of the field in `word`, moved down to bit 0.
    #[inline]
    pub const fn get(self, word: u32) -> u32 {
        word.wrapping_shr(self.lo) & self.max
    }

    /// Return the bits that the field occupies.
    #[inline]
    pub const fn mask(self) -> u32 {
        self.max.wrapping_shl(self.lo)
    }

    /// Return `word` with the field replaced by `value`. Bits of `value` that do not fit are dropped.
    #[inline]
    pub const fn put(self, word: u32, value: u32) -> u32 {
        (word & !self.mask()) | (value & self.max).wrapping_shl(self.lo)
    }

    /// Return the largest value that the field holds.
    #[inline]
    pub const fn max(self) -> u32 {
        self.max
    }

    /// Return a word in which the field is `value` and all other bits are zero.
    #[inline]
    pub const fn of(self, value: u32) -> u32 {
        self.put(0, value)
    }

    /// Return whether any bit of the field is set in `word`.
    #[inline]
    pub const fn any(self, word: u32) -> bool {
        word & self.mask() != 0
    }
}

/// An array of `len` registers of the same kind, `stride` bytes apart, the first at `base`.
///
/// In an indirect register space, base and stride count index steps instead of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegArray {
    base: u32,
    len: u32,
    stride: u32,
}

impl RegArray {
    /// Return the array of `len` registers from `base` on, every `stride`.
    pub const fn new(base: u32, len: u32, stride: u32) -> Self {
        Self { base, len, stride }
    }

    /// Return the number of registers.
    #[inline]
    pub const fn len(self) -> u32 {
        self.len
    }

    /// Return whether the array has no register at all.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Return the offset of register `i`, if there is one.
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

    /// Return which register lies at `offset`, if there is one.
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

/// Registers by name, as a list has them.
#[derive(Clone, Copy, Debug)]
pub enum Registers {
    /// One register, by offset.
    One(u32),
    /// All registers of an array.
    Array(RegArray),
    /// Everything from one register to another, both included, with the holes between them.
    Block(u32, u32),
}

impl Registers {
    /// Return whether the register at `offset` is one of them.
    pub const fn has(self, offset: u32) -> bool {
        match self {
            Self::One(register) => register == offset,
            Self::Array(array) => array.index_of(offset).is_some(),
            Self::Block(first, last) => first <= offset && offset <= last,
        }
    }
}
