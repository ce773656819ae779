// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the `radeon` user interface from user space: what it promises, what it refuses, and what
//! one client can see of another. They run in the guest on the device model, or on a real card; there
//! the tests that need the model are skipped.
//!
//! What holds for every family is in a crate of its own (`radeon/`), which knows no family. It draws by the painter of
//! the device's family. A folder here has what holds for one family.
//!
//! `lapidary-uapi-tests [--list] [WORD...]`: all tests, or those whose name contains a word.

mod r500;
mod r600;

use lapidary_guest::{device, painter};
use std::process::ExitCode;

fn main() -> ExitCode {
    painter::supply(&[&lapidary_engines::r500::R500, &lapidary_engines::r600::R600]);
    let mut tests = lapidary_uapi_radeon::tests();
    tests.extend(r500::tests());
    tests.extend(r600::tests());
    tests.extend(lapidary_uapi_radeon::last_tests());
    tests.extend(r500::last_tests());
    tests.extend(r600::last_tests());
    lapidary_harness::main(device::driver, tests)
}
