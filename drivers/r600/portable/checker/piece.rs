// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The pieces of state that name memory and may outlast the stream that has set them, for
//! [`Residue`](lapidary::portable::residue::Residue).
//!
//! Targets are not among them, because a draw demands them of its own stream.

use lapidary::portable::residue::PIECES;

/// Resources, by slot.
pub(super) const RESOURCES: usize = 0;
/// Constant buffers, by number.
pub(super) const CONSTANTS: usize = RESOURCES + 496;
/// Rings, by number.
pub(super) const RINGS: usize = CONSTANTS + 48;
/// Stream-out buffers, by number.
pub(super) const STREAM_OUT: usize = RINGS + 6;
/// Programs, by number.
pub(super) const PROGRAMS: usize = STREAM_OUT + 4;
/// The result that draws are predicated by.
pub(super) const PREDICATION: usize = PROGRAMS + 5;
/// How many pieces there are.
pub const ALL: usize = PREDICATION + 1;

const _: () = assert!(ALL <= PIECES);
