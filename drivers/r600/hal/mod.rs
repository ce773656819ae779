// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What differs between the chips of the family, block by block.
//!
//! A block that differs from chip to chip has a trait here, and a unit struct or a table for each kind of it. The
//! function `of` returns the one for a [`Chipset`](crate::chip::Chipset). The code of a block uses only its own trait.
//!
//! | file | block |
//! | --- | --- |
//! | [`memory`] | memory controller |
//! | [`vm`] | page table and its caches |
//! | [`display`] | plugs of the display |
//! | [`engines`] | pipes, SIMDs, backends and their settings |
//! | [`post`] | posting by the video BIOS |
//! | [`microcode`] | images of the processors |
//! | [`reset`] | halt and reset |
//!
//! The facts are Linux' (`radeon`: `r600.c`, `rv770.c`, `rv515.c`).

pub(crate) mod display;
pub(crate) mod engines;
pub(crate) mod memory;
pub(crate) mod microcode;
pub(crate) mod post;
pub(crate) mod reset;
pub(crate) mod vm;
