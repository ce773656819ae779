// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Portable code of the R6xx and R7xx family: registers, packets, page-table entries, microcode images, the kernel's own
//! command sequences for both rings, what makes the chip neutral between clients, the checkers of user command streams and
//! what those may write, and the lists of
//! what the video BIOS may write.
//!
//! Like `lapidary::portable` it is compiled both into the kernel module and into a host library. It uses only `core`,
//! does not allocate, has no `unsafe` and cannot panic.

#![forbid(unsafe_code)]

pub mod checker;
pub mod dma;
pub mod emit;
pub mod firmware;
pub mod neutral;
pub mod pm4;
pub mod policy;
pub mod posting;
pub mod pte;
pub mod regs;

/// The two generations of the family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// R600, RV610, RV635 and RV670.
    #[default]
    R6xx,
    /// RV770, RV730, RV710 and RV740.
    R7xx,
}
