// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers and packets of R5xx by name, generated from `drivers/r500/registers/r500.xml`.
//!
//! One module for each address space (`mmio` in bytes, the indirect ones in index steps) and one for the
//! packets of the command processor; a register `NAME` has its fields in a module `name`.

// Every register of the database is there; portable code uses some.
#![allow(clippy::module_inception, dead_code, missing_docs, unused_imports)]

use lapidary::portable::bits::{
    Field,
    RegArray, //
};

include!(concat!(env!("R500_GENERATED"), "/portable.rs"));
