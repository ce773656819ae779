// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The video BIOS of a Radeon, in the ATOM format: made, checked, and executed.
//!
//! A Radeon's ROM is an ordinary PCI expansion ROM that also holds ATOM tables: data tables that describe the card
//! (clocks, power states, connectors), and command tables, byte code that the firmware and later the driver
//! interpret. The model makes such an image from a description in Rust. Only tables that say something true of the
//! model are in it: no display output is described, so a driver comes up without any.
//!
//! | file | what |
//! | --- | --- |
//! | [`code`] | an assembler for command tables |
//! | [`port`] | an assembler for indirect accesses |
//! | [`clocks`] | the data tables about clocks and power states |
//! | [`tables`] | command tables that all families have alike |
//! | [`image`] | the ROM around them |
//! | [`dump`] | is a given file such a ROM? |
//! | [`run`] | an interpreter, by which the modelled firmware posts the card |
//!
//! What a chip's tables do is the business of its family.

pub mod clocks;
pub mod code;
pub mod dump;
pub mod image;
pub mod port;
pub mod run;
pub mod tables;
