// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What differs between the chips of the family, block by block.
//!
//! A block of the chip that is not the same everywhere has a trait here, and a unit struct for each kind of it. A function
//! chooses by the [`Chipset`](crate::chip::Chipset), so that the code of a block asks its own trait and no other.
//!
//! | file | block |
//! | --- | --- |
//! | [`memory`] | memory controller |
//! | [`pipes`] | pixel and Z pipes |
//! | [`post`] | what posting by the video BIOS has to know |
//! | [`interrupt`] | interrupts |
//!
//! The facts are Linux' (`radeon`: `rv515.c`, `r520.c`, `r420.c`, `atom.c`, `radeon_irq_kms.c`).

pub(crate) mod interrupt;
pub(crate) mod memory;
pub(crate) mod pipes;
pub(crate) mod post;
