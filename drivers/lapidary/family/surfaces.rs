// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the CPU sees of pictures in VRAM.

use core::ops::Range;

/// Part of VRAM that the CPU is to see as lines.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Bytes from the start of VRAM, whole pages.
    pub range: Range<u64>,
    /// How its pixels lie there.
    pub arrangement: Arrangement,
}

/// How the pixels of an object lie in memory, as user space says: anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// What they mean is between the family's user-space interface and its [`Surfaces`].
    pub flags: u32,
    /// Bytes from line to line.
    pub pitch: u32,
}

/// Registers through which the CPU sees such VRAM as lines.
///
/// The generic memory code owns which of them are taken. Nothing here takes memory or sleeps.
pub trait Surfaces: Send + Sync {
    /// The registers that can be used, as a set; at most eight. Stays the same.
    fn usable(&self) -> u32;

    /// Whether a register makes a difference to `surface`: its arrangement is one that the chip can undo.
    fn reorders(&self, surface: &Surface) -> bool;

    /// Has register `index` show `surface`, which [`Surfaces::reorders`], or nothing. The CPU's accesses that come
    /// later see it so.
    fn set(&self, index: u32, surface: Option<&Surface>);
}
