// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Portable code of the R5xx family: registers, packets, page-table entries, microcode images, memories on the chip,
//! the kernel's own command sequences, the CPU's view through surfaces, the checker of user command streams, and the
//! lists of what the video BIOS may write.
//!
//! Like `lapidary::portable` it is compiled both into the kernel module and into a host library. It uses only `core`,
//! does not allocate, has no `unsafe` and cannot panic.

#![forbid(unsafe_code)]

pub mod checker;
pub mod cpu_surface;
pub mod emit;
pub mod firmware;
pub mod onchip;
pub mod pm4;
pub mod policy;
pub mod posting;
pub mod pte;
pub mod regs;
