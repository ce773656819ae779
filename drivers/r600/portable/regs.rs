// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers and packets of R6xx and R7xx by name, generated from `drivers/r600/registers/r600.xml`.
//!
//! There is one module for the registers that both generations have (`mmio`), one for those of each generation
//! (`mmio_r6xx`, `mmio_r7xx`), one for the packets of the command processor and one for those of the DMA engine. A
//! register `NAME` has its fields in a module `name`.

// It has every register of the database. Portable code uses some.
#![allow(clippy::module_inception, dead_code, missing_docs, unused_imports)]

use lapidary::portable::bits::{
    Field,
    RegArray, //
};

include!(concat!(env!("R600_GENERATED"), "/portable.rs"));
