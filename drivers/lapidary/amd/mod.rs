// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the drivers of AMD's Radeon families share.
//!
//! From R5xx to Sea Islands a Radeon takes its commands from rings in system memory and reports to a page beside them,
//! reaches system memory through a flat table of page entries, has registers behind index and data registers, and a
//! video BIOS in byte code that posts it. Each family has other registers for all of this. So each file here has the
//! part that is the same, and a small trait of what the family adds:
//!
//! | file | what | the family's part |
//! | --- | --- | --- |
//! | [`indirect`] | registers behind an index and a data register | [`Pair`](indirect::Pair) |
//! | [`gart`] | the page table of the window on system memory | [`Entry`](gart::Entry), [`Translation`](gart::Translation) |
//! | [`ring`] | a ring that the host fills, with reports in memory | [`Engine`](ring::Engine) |
//! | [`selftest`] | whether a ring executes and reports | [`Engine`](ring::Engine) |
//! | [`bios`] | posting a card by its video BIOS | [`Chip`](bios::Chip) |
//! | [`picture`] | what the firmware shows, kept while the card sleeps | where it lies |
//!
//! The code is generic and knows no chip. [`portable::pm4`](crate::portable::pm4) and
//! [`portable::atom`](crate::portable::atom) belong to it: packets, and the machine that runs the video BIOS.

pub mod bios;
pub mod gart;
pub mod indirect;
pub mod picture;
pub mod ring;
pub mod selftest;
