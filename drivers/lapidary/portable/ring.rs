// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Arithmetic of a ring buffer that a host fills and a command processor empties.
//!
//! The ring is a block of dwords whose length is a power of two. The host writes at the write pointer and then tells
//! the chip. The chip reads at the read pointer and reports it to memory. Equal pointers mean *empty*, so at least
//! one dword must always stay unused (R5xx 4.4). Pointers count dwords from the start of the ring and wrap at its
//! end.
//!
//! No pointer is trusted. A value outside the ring, which only a dead or faulty device reports, is first reduced to
//! the ring.

/// Size and alignment of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    dwords: u32,
    align: u32,
}

/// A contiguous piece of a ring, in dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First dword.
    pub start: u32,
    /// Number of dwords.
    pub len: u32,
}

impl Geometry {
    /// Return a ring of `dwords` whose write pointer the host leaves at multiples of `align` dwords.
    ///
    /// Both must be powers of two. The ring must be at least two dwords and two alignments long.
    pub const fn new(dwords: u32, align: u32) -> Option<Self> {
        if !dwords.is_power_of_two() || !align.is_power_of_two() {
            return None;
        }
        if dwords < 2 || dwords / 2 < align {
            return None;
        }
        Some(Self { dwords, align })
    }

    /// Return the size in dwords.
    pub const fn dwords(self) -> u32 {
        self.dwords
    }

    /// Return the alignment of the write pointer in dwords.
    pub const fn align(self) -> u32 {
        self.align
    }

    /// Return the logarithm to base 2 of the size in 8-byte units, as `RB_BUFSZ` fields count it.
    pub const fn log2_qwords(self) -> u32 {
        // The constructor guarantees a size of at least two dwords.
        self.dwords.trailing_zeros().saturating_sub(1)
    }

    const fn mask(self) -> u32 {
        self.dwords.wrapping_sub(1)
    }

    /// Reduce a position to the ring.
    #[inline]
    pub const fn wrap(self, position: u32) -> u32 {
        position & self.mask()
    }

    /// Return the position `count` dwords after `position`.
    #[inline]
    pub const fn advance(self, position: u32, count: u32) -> u32 {
        self.wrap(position.wrapping_add(count))
    }

    /// Return the number of dwords that the chip has not consumed yet.
    #[inline]
    pub const fn used(self, read: u32, write: u32) -> u32 {
        self.wrap(write.wrapping_sub(read))
    }

    /// Return the number of dwords that may be written before the pointers would meet.
    #[inline]
    pub const fn free(self, read: u32, write: u32) -> u32 {
        self.mask().wrapping_sub(self.used(read, write))
    }

    /// Return the largest number of dwords that fit into an empty ring, padding included.
    pub const fn capacity(self) -> u32 {
        self.mask() & !(self.align.wrapping_sub(1))
    }

    /// Return the number of filler dwords that bring `position` to the alignment.
    #[inline]
    pub const fn padding(self, position: u32) -> u32 {
        position.wrapping_neg() & self.align.wrapping_sub(1)
    }

    /// Return the number of dwords that `count` dwords at `position` occupy once they are padded to the alignment.
    /// `None` if not even an empty ring has room for them.
    #[inline]
    pub const fn padded(self, position: u32, count: u32) -> Option<u32> {
        let Some(end) = self.wrap(position).checked_add(count) else {
            return None;
        };
        let Some(total) = count.checked_add(self.padding(end)) else {
            return None;
        };
        if total > self.mask() {
            None
        } else {
            Some(total)
        }
    }

    /// Return the one or two contiguous pieces that `count` dwords at `position` occupy. The second one starts at 0
    /// and may be empty. `None` if the ring is shorter than `count`.
    #[inline]
    pub const fn split(self, position: u32, count: u32) -> Option<(Run, Run)> {
        if count > self.dwords {
            return None;
        }
        let start = self.wrap(position);
        let to_end = self.dwords.wrapping_sub(start);
        let first = if count < to_end { count } else { to_end };
        Some((
            Run { start, len: first },
            Run {
                start: 0,
                len: count.wrapping_sub(first),
            },
        ))
    }
}
