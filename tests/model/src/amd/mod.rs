// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hardware that AMD's families share: the same in all of them except for registers and packets, which their crates
//! have.

pub mod card;
pub mod display;
pub mod ring;
pub mod swap;
