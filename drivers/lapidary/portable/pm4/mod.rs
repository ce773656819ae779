// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PM4: the packets that a stream of commands consists of, and how a checker walks through them.
//!
//! All Radeon families have the same packets of four types (R5xx 5.1, R6xx/R7xx 2.1). They differ in how many registers
//! a header reaches, in what type 3 can do, and in which registers and operations there are. The family's [`Form`] and
//! its checker say this. These files have what is the same.
//!
//! User space does not know where its objects are. Behind a packet that carries addresses it puts a *relocation marker*
//! for each of them, in the order of the addresses. A marker is a NOP with one dword. The dword is [`MARKER_UNIT`]
//! times the number of the object's entry in the submission (Linux, `radeon_cs.c`: `radeon_cs_packet_next_reloc`).
//!
//! | file | what |
//! | --- | --- |
//! | [`header`] | what a packet's first dword says |
//! | [`stream`] | the dwords of a stream, its packets and markers |
//! | [`body`] | the dwords of one packet in order |
//! | [`fixup`] | dwords that depend on where an object lies |
//! | [`reason`] | why any family refuses a stream |

pub mod body;
pub mod fixup;
pub mod header;
pub mod reason;
pub mod stream;

pub use body::Body;
pub use fixup::{max_fixups, Fixup, Fixups, Kind};
pub use header::{operation, Form, Header, FILLER, MAX_BODY, NOP};
pub use reason::Fault;
pub use stream::{Stream, MARKER, MARKER_UNIT};
