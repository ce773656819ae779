// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Portable code of the Chrome9 family: registers and parameters, the kernel's own commands, the ring,
//! and the checker of clients' streams.
//!
//! Like `lapidary::portable` it is compiled both into the kernel module and into a host library. It uses only `core`,
//! does not allocate, has no `unsafe` and cannot panic.

#![forbid(unsafe_code)]

pub mod blit;
pub mod checker;
pub mod emit;
pub mod envelope;
pub mod frame_buffer;
pub mod place;
pub mod policy;
pub mod pte;
pub mod regs;
pub mod ring;
pub mod uapi;
