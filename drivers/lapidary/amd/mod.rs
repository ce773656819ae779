// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the drivers of AMD's Radeon families share.
//!
//! From R5xx to Sea Islands a Radeon takes its commands from rings in system memory and reports to a page beside them.
//! Its video BIOS has programs that post the card. Each family has other registers for all of this. Each file here has the
//! part that is the same, and a small trait for what the family adds:
//!
//! | file | what | the family's part |
//! | --- | --- | --- |
//! | [`board`] | a card on the bus, until all of it has its place | whether the chip answers, where memory is |
//! | [`ring`] | a ring that the host fills, with reports in memory | [`Engine`](ring::Engine) |
//! | [`selftest`] | whether a ring executes and reports | [`Engine`](ring::Engine) |
//! | [`ih`] | the ring of interrupt vectors, from R6xx on | [`Registers`](ih::Registers) |
//! | [`bios`] | posting a card by its video BIOS | [`Chip`](bios::Chip) |
//! | [`picture`] | what the firmware shows, kept while the card sleeps | where it lies |
//!
//! The code is generic and names no chip. [`portable::pm4`](crate::portable::pm4) (packets) and
//! [`portable::atom`](crate::portable::atom) (the machine that runs the video BIOS) belong to it.

pub mod bios;
pub mod board;
pub mod ih;
pub mod picture;
pub mod ring;
pub mod selftest;
