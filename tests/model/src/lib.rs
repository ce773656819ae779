// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Functional models of GPUs, served to QEMU over vfio-user.
//!
//! This is what the models of all families share; a family is a crate of its own beside it, which hands over a table
//! of its chips ([`family`]). A chip (see [`chip::Chip`]) is registers ([`registers`]), memory behind a memory
//! controller, and a command processor that runs in its own thread. It is served as PCI functions ([`pci`]) over
//! vfio-user ([`server`]). Four parts make the model a test instrument:
//!
//! - a judge that names every use that the hardware does not promise to bear ([`judge`], [`kind`]);
//! - a trace ([`trace`]);
//! - switchable faults ([`fault`], [`power`]);
//! - a control port for tests ([`control`]).
//!
//! The models know the register databases and nothing about any driver.

pub mod amd;
pub mod area;
pub mod atom;
pub mod chip;
pub mod classes;
pub mod control;
pub mod family;
pub mod fault;
pub mod journal;
pub mod judge;
pub mod kind;
pub mod lines;
pub mod machine;
pub mod marks;
pub mod memory;
pub mod pci;
pub mod power;
pub mod registers;
pub mod rop;
pub mod run;
pub mod runs;
pub mod server;
pub mod trace;
