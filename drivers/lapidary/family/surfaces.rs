// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pictures in VRAM, as the CPU sees them.

use core::ops::Range;

/// A part of VRAM that the CPU has to see as lines.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Bytes from the start of VRAM, whole pages.
    pub range: Range<u64>,
    /// How its pixels lie there.
    pub arrangement: Arrangement,
}

/// How the pixels of an object lie in memory, as user space states it. It may have any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// The family's user-space interface and its [`Surfaces`] define the meaning.
    pub flags: u32,
    /// Bytes from line to line.
    pub pitch: u32,
}

/// Registers through which the CPU sees such VRAM as lines.
///
/// The generic memory code decides which of them are taken. No method allocates or sleeps.
pub trait Surfaces: Send + Sync {
    /// Return the registers that can be used, as a set. There are at most eight. Never changes.
    fn usable(&self) -> u32;

    /// Return whether a register makes a difference to `surface`, because the chip can undo its arrangement.
    fn reorders(&self, surface: &Surface) -> bool;

    /// Make register `index` show `surface`, for which [`Surfaces::reorders`] holds, or nothing. Later accesses of
    /// the CPU see it so.
    fn set(&self, index: u32, surface: Option<&Surface>);
}
