// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Generates the register constants of the driver's portable code.

include!("../generate.rs");

fn main() {
    generate("r600");
}
