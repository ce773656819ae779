// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hardware that families of different makers have in common.
//!
//! Each file has the part that is the same, and a small trait for what the family adds:
//!
//! | file | what | the family's part |
//! | --- | --- | --- |
//! | [`board`] | a device on the bus, until all of it has its place | whether the chip answers, where memory is |
//! | [`gart`] | the page table of the window on system memory | [`Entry`](gart::Entry), [`Translation`](gart::Translation) |
//! | [`indirect`] | registers behind an index and a data register | [`Pair`](indirect::Pair) |
//! | [`one_shot`] | the fence interrupt of a chip with one ring | [`Source`](one_shot::Source) |
//!
//! The code is generic and names no chip. What only Radeons have in common is in [`amd`](crate::amd).

pub mod board;
pub mod gart;
pub mod indirect;
pub mod one_shot;
