// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checkers of user command streams, one for each ring.
//!
//! R6xx and R7xx have one flat address space for all clients: VRAM and the GART window. A client that could send any
//! packet could read and write the memory of all others. So a checker walks once through the driver's copy of a client's
//! stream before it is executed. It
//!
//! - admits only packets, events and registers of an allow-list;
//! - demands that every address is relative to an object, which a relocation entry names. The address becomes a
//!   [`Fixup`];
//! - demands that all bytes that a packet accesses lie within the objects.
//!
//! The result does not depend on where the objects are. [`place`] inserts the addresses later, when the objects have
//! been locked and placed. The form of streams is that of Linux' `radeon` driver. On the graphics ring a marker behind a
//! packet names the entry ([`lapidary::portable::pm4`]). On the DMA ring packets take the entries of the list in order.
//!
//! Nothing is known at the start of a stream for the graphics ring. The registers of a group of state, as the colour
//! targets, have been left alone by the stream, or the stream has stated all of them, or the next draw is refused. Before
//! the commands of another client the driver sets all state to what makes the chip access nothing, so that a group that
//! a stream leaves alone is harmless. Which registers belong to a group, which are free and which are refused is a table
//! ([`policy`](super::policy)). Shader programs are not checked, because a client can change them at any time. All that a
//! shader can access is bounded by state that is checked.
//!
//! | file | what |
//! | --- | --- |
//! | `place` | offsets, ranges of bytes, and how an address is inserted |
//! | `dma` | the walk through a stream for the DMA ring |
//! | `tiled` | the tiled surfaces of the DMA engine |
//! | `gfx` | the walk through a stream for the graphics ring, and which packets there are |
//! | `registers` | writes to registers |
//! | `draw` | draws, their indices, predication |
//! | `raster` | samples and scissors |
//! | `color`, `depth` | targets |
//! | `layout` | how targets and textures lie in memory |
//! | `resource`, `texture`, `buffer`, `format` | what shaders fetch from |
//! | `constants` | constants on the chip, samplers |
//! | `constant_buffer` | constants in memory |
//! | `rings` | memory between shaders, and what they spill |
//! | `stream_out` | buffers for vertices |
//! | `surface` | addresses in registers |
//! | `memory` | packets that access memory: copies, writes, waits |
//! | `event` | events, and what they write |
//! | `reason` | refusals |

mod buffer;
mod color;
mod constant_buffer;
mod constants;
mod depth;
mod dma;
mod draw;
mod event;
mod format;
mod gfx;
mod layout;
mod memory;
pub mod piece;
mod place;
mod raster;
pub mod reason;
mod registers;
mod resource;
mod rings;
mod stream_out;
mod surface;
mod texture;
mod tiled;

pub use dma::check as check_dma;
pub use gfx::{
    check as check_gfx,
    check_tiled_by_objects as check_gfx_tiled_by_objects, //
};
pub use place::{
    max_fixups,
    place,
    Fixup, //
};

use self::reason::Reason;
use super::Generation;

/// An object that a stream may use. A relocation entry names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Size in bytes.
    pub size: u64,
    /// What the stream does with the object; filled in by the checker.
    pub access: Access,
}

/// What a stream does with an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// It is read.
    pub reads: bool,
    /// It is written, and perhaps read.
    pub writes: bool,
}

/// What the checkers must know of a chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chip {
    /// The generation.
    pub generation: Generation,
    /// Memory pipes that tiles are spread over: 1, 2, 4 or 8.
    pub pipes: u32,
    /// Memory banks that tiles are spread over: 4 or 8.
    pub banks: u32,
    /// Bytes that lie in one pipe and bank side by side: 256 or 512.
    pub group_bytes: u32,
    /// One more than the highest number of a render backend that works. Each stores counts of its own.
    pub backends: u32,
    /// The command processor wants to be told which addresses of surfaces have been written: RV610, RV635, RV670.
    pub base_update: bool,
}
