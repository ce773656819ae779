// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What differs between the chips of the family, block by block.
//!
//! A block that differs from chip to chip has a trait here, and a unit struct for each kind of it. The function `of`
//! returns the one for a [`Chipset`](crate::chip::Chipset). The code of a block uses only its own trait.
//!
//! | file | block |
//! | --- | --- |
//! | [`memory`] | memory controller |
//! | [`pipes`] | pixel and Z pipes |
//! | [`post`] | posting by the video BIOS |
//! | [`interrupt`] | interrupts |
//!
//! The facts are Linux' (`radeon`: `rv515.c`, `r520.c`, `r420.c`, `atom.c`, `radeon_irq_kms.c`).

pub(crate) mod interrupt;
pub(crate) mod memory;
pub(crate) mod pipes;
pub(crate) mod post;
