// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a stream may do with a register of the 2D engine's space, 0h to 1FFh.
//!
//! This table says what the checker does when a pair of header 0 names a register. It
//! is keyed by name and covers the database. What it does not name is refused.
//!
//! Admitted are the registers that public drivers use on this chip for fills, copies and pictures from the CPU (decision 11).
//! Patterns of 8 x 8 pixels and lines are used by no public driver here, so that their registers are refused.

use lapidary::portable::{
    bits::Registers,
    policy::Lists, //
};

use crate::portable::regs::mmio;

/// What the checker does when a stream writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Refuses the stream: no register, or one of which nothing is public.
    Unknown,
    /// Refuses the stream: patterns of 8 x 8 pixels, and lines.
    Pattern,
    /// Refuses the stream: marks of the regulator, with which the kernel orders engines.
    Kernel,
    /// Admits only waits for an engine that will surely be idle.
    Wait,
    /// Starts a command of the 2D engine.
    Command,
    /// Keeps the depth of pixels.
    Mode,
    /// Keeps both pitches.
    Pitch,
    /// Keeps the size of the rectangle.
    Dimension,
    /// Keeps where in the destination the rectangle begins.
    DestinationPosition,
    /// Keeps the beginning of the destination.
    DestinationBase,
    /// Keeps where in the source the rectangle begins.
    SourcePosition,
    /// Keeps the beginning of the source.
    SourceBase,
    /// Notes that a corner of the clipping rectangle is the stream's.
    ClipTopLeft,
    /// Notes that a corner of the clipping rectangle is the stream's.
    ClipBottomRight,
    /// Keeps which colour keys there are.
    Key,
    /// Notes that the colour is the stream's.
    Foreground,
    /// Notes that the colour is the stream's.
    Background,
    /// Notes that the colour is the stream's.
    PatternColor,
}

/// Registers of the space.
const REGISTERS: usize = 0x200 / 4;

/// Admitted registers.
pub const ADMITTED: &[(Registers, Policy)] = &[
    (Registers::One(mmio::GECMD), Policy::Command),
    (Registers::One(mmio::GEMODE), Policy::Mode),
    (Registers::One(mmio::PITCH), Policy::Pitch),
    (Registers::One(mmio::DIMENSION), Policy::Dimension),
    (Registers::One(mmio::DSTPOS), Policy::DestinationPosition),
    (Registers::One(mmio::DSTBASE), Policy::DestinationBase),
    (Registers::One(mmio::SRCPOS), Policy::SourcePosition),
    (Registers::One(mmio::SRCBASE), Policy::SourceBase),
    (Registers::One(mmio::CLIPTL), Policy::ClipTopLeft),
    (Registers::One(mmio::CLIPBR), Policy::ClipBottomRight),
    (Registers::One(mmio::KEYCONTROL), Policy::Key),
    (Registers::One(mmio::FGCOLOR), Policy::Foreground),
    (Registers::One(mmio::BGCOLOR), Policy::Background),
    (Registers::One(mmio::MONOPATFGC), Policy::PatternColor),
    (Registers::One(mmio::WAIT_CONTROL_2D_3D), Policy::Wait),
];

/// Refused registers.
pub const REFUSED: &[(Registers, Policy)] = &[
    (Registers::One(mmio::PATADDR), Policy::Pattern),
    (Registers::Array(mmio::MONOPAT), Policy::Pattern),
    (Registers::One(mmio::MONOPATBGC), Policy::Pattern),
    (Registers::Array(mmio::COLORPAT), Policy::Pattern),
    (Registers::One(mmio::OFFSET), Policy::Pattern),
    (Registers::One(mmio::COMMAND_ID_2D_3D), Policy::Kernel),
];

static TABLE: [Policy; REGISTERS] = Lists {
    beyond: false,
    rest: false,
}
.spread(0, &[ADMITTED, REFUSED], Policy::Unknown);

/// Return the bytes of the space that pairs may name.
pub const END: u32 = REGISTERS as u32 * 4;

/// Return what the checker does with the register at a byte offset, a multiple of 4.
#[inline]
pub fn of(register: u32) -> Policy {
    TABLE
        .get((register >> 2) as usize)
        .copied()
        .unwrap_or(Policy::Unknown)
}
