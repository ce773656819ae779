// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Functional models of GPUs, served to QEMU over vfio-user.
//!
//! A chip (see [`chip::Chip`]) is registers, memory behind a memory controller, and a command processor that
//! runs in its own thread. Around it stand a PCI function ([`pci`]), the vfio-user server ([`server`]), and what
//! makes the model a test instrument: a judge that names every use the hardware does not promise to bear ([`judge`]),
//! a trace ([`trace`]), switchable faults ([`fault`], [`power`]) and a control port for tests ([`control`]). Without
//! QEMU, host programs run command streams on a chip by [`bench`].
//!
//! The model knows the register database and nothing about any driver.

pub mod atom;
pub mod bench;
pub mod chip;
pub mod control;
pub mod fault;
pub mod judge;
pub mod machine;
pub mod memory;
pub mod pci;
pub mod power;
pub mod r5xx;
pub mod run;
pub mod server;
pub mod trace;
