// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The portable code of `chrome9.ko`, compiled for the host.
//!
//! The modules are the driver's own source files. This crate exists so that tests, fuzzing and benches can
//! reach them without a kernel.

#![no_std]

#[path = "../../../../drivers/chrome9/portable/mod.rs"]
pub mod portable;
