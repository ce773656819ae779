// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers and packets of R5xx by name, generated from `drivers/r500/registers/r500.xml`.
//!
//! There is one module for each address space (`mmio` in bytes, the indirect ones in index steps) and one for the
//! packets of the command processor. A register `NAME` has its fields in a module `name`.

// It has every register of the database. Portable code uses some.
#![allow(clippy::module_inception, dead_code, missing_docs, unused_imports)]

use lapidary::portable::bits::{
    Field,
    RegArray, //
};

include!(concat!(env!("R500_GENERATED"), "/portable.rs"));
