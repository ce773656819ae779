// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers and parameters of Chrome9 by name, generated from `drivers/chrome9/registers/chrome9.xml`.
//!
//! There is one module for the registers in BAR1 (`mmio`), one for what reads find where parameters are written
//! (`mmio_read`), one for each type of parameters (`para_10` and others), and one for headers (`header`). A register `NAME`
//! has its fields in a module `name`.

// It has every register of the database. Portable code uses some.
#![allow(clippy::module_inception, dead_code, missing_docs, unused_imports)]

use lapidary::portable::bits::{
    Field,
    RegArray, //
};

include!(concat!(env!("CHROME9_GENERATED"), "/portable.rs"));
