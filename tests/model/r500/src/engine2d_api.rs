// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The boundary between the command processor and the 2D engine.
//!
//! The 2D engine has no command stream of its own. It sees register writes (from the CPU or from type-0
//! and type-1 packets), some of which start a drawing operation (`DST_HEIGHT_WIDTH` and its like) or
//! deliver host data (`HOST_DATA0` … `HOST_DATA_LAST`), and it sees the thirteen type-3 packets of R5xx
//! 5.2.2 with their bodies. What it needs from the rest of the chip is memory behind the memory
//! controller, the register file, and the judge: that is [`Port`].
//!
//! Rules of the boundary:
//! - The register file is plain state. The core stores a written value first and then calls
//!   [`Engine2d::register_written`]; aliases (`DST_Y_X` against `DST_X` and `DST_Y`) are the engine's business,
//!   by [`Port::set_register`], which has no side effects.
//! - Addresses are 32-bit GPU addresses, translated by the memory controller; an access that
//!   hits nothing is a finding made by the memory controller, and a read then yields all ones.
//! - What the engine writes lies in its destination cache until `DSTCACHE_CTLSTAT` or `RB2D_DSTCACHE_CTLSTAT` flushes
//!   it. The core keeps that book (by the [`Unit::Engine2d`] tag of the access); the engine writes through.
//! - Calls run to completion: the engine is idle when a call returns.

use std::fmt;

pub use crate::kind::Kind;
pub use crate::unit::Unit;

/// What the 2D engine sees of the rest of the chip.
pub trait Port {
    /// Read `bytes.len()` bytes at a GPU address through the memory controller.
    fn read(&mut self, unit: Unit, address: u32, bytes: &mut [u8]);
    /// Write bytes at a GPU address through the memory controller.
    fn write(&mut self, unit: Unit, address: u32, bytes: &[u8]);
    /// Return the stored value of a register (byte offset, multiple of 4; anything else reads 0).
    fn register(&self, offset: u32) -> u32;
    /// Store a register without side effects.
    fn set_register(&mut self, offset: u32, value: u32);
    /// Tell the judge; the core adds which packet did it.
    fn finding(&mut self, kind: Kind, detail: fmt::Arguments<'_>);
    /// Write one line to the trace, if there is one.
    fn trace(&mut self, line: fmt::Arguments<'_>);
    /// Add to a named counter (see the control port's `counters`).
    fn count(&mut self, name: &'static str, n: u64);
}

/// A 2D engine as the core drives it.
pub trait Engine2d: Send {
    /// Go back to the state after a soft reset of E2. Pending host data and packet state are forgotten. Registers are
    /// the core's.
    fn reset(&mut self);

    /// Return whether writes to this register (byte offset) concern the engine. Must be cheap.
    fn owns(&self, offset: u32) -> bool;

    /// Act on a write to a register that the engine owns. The register file already holds `value`.
    fn register_written(&mut self, port: &mut dyn Port, offset: u32, value: u32);

    /// Return whether a type-3 opcode is one of the thirteen 2D packets.
    fn is_packet(&self, opcode: u8) -> bool;

    /// Execute a 2D packet; `body` is what follows the header, complete.
    fn packet(&mut self, port: &mut dyn Port, opcode: u8, body: &[u32]);
}
