// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The video BIOS of a Radeon card: the clocks it sets, and the programs by which a driver posts the card.
//!
//! The image is the card's PCI expansion ROM. It begins with 55 AA; the word at 0x18 leads to a PCI data structure
//! that says for which kind of processor the code is. The word at 0x48 leads to the ATOM header, which has the
//! letters "ATOM" and pointers to two lists of tables. *Data tables* describe the card. *Command tables* are programs
//! for a small machine, which every driver implements. They move numbers between registers, clocks and words of memory,
//! compare, jump, wait and call each other. Command table 0, ASIC_Init, sets up bus, clocks and memory controller of a
//! card that has been powered on. (Source: Linux, `drivers/gpu/drm/radeon/{radeon_bios,atom,radeon_atombios}.c`,
//! `atom.h`, `atombios.h`.)
//!
//! | file | what |
//! | --- | --- |
//! | [`image`] | the way from the image's start to a table |
//! | [`clocks`](mod@clocks) | the clocks that the BIOS sets |
//! | [`code`] | the operations of the machine, and what an operation's operands mean |
//! | [`port`] | registers behind an index and a data register |
//! | [`run`](mod@run), `operand` | the machine, and what it reads and writes |
//! | [`card`] | what the machine asks of a driver |
//! | [`guard`] | which registers a program may write, by rules that the family brings |
//!
//! Nothing in an image is trusted. It may be cut off, damaged, or made to do harm. Every access is inside the bytes
//! that are there. Tables call each other a few levels deep. Steps and waits are counted, so that a program ends
//! whatever its bytes are.

pub mod card;
pub mod clocks;
pub mod code;
pub mod guard;
pub mod image;
mod operand;
pub mod port;
pub mod run;

pub use card::Card;
pub use clocks::{clocks, Clocks, HIGHEST_KHZ, HIGHEST_REFERENCE_KHZ};
pub use image::Error;
pub use run::{post, run, Stopped, Why, MEMORY, MOST_STEPS, MOST_WAIT_US};
