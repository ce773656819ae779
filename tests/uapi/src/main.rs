// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the `radeon` user interface from user space: what it promises, what it refuses, and what
//! one client can see of another. They run in the guest on the device model, or on a real card; there
//! the tests that need the model are skipped.
//!
//! `lapidary-uapi-tests [--list] [WORD...]`: all tests, or those whose name contains a word.

mod binding;
mod bringup;
mod caching;
mod checker;
mod coredump;
mod create;
mod debugfs;
mod display;
mod domains;
mod drawing;
mod draws;
mod envelope;
mod failures;
mod faults;
mod fdinfo;
mod hyperz;
mod info;
mod isolation;
mod malformed;
mod mapping;
mod memory;
mod moves;
mod objects;
mod prime;
mod recovery;
mod refusal;
mod removal;
mod sharing;
mod sleep;
mod stress;
mod support;
mod surfaces;
mod syncobj;
mod tiling;
mod trace;
mod userptr;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut tests = Vec::new();
    tests.extend(info::tests());
    tests.extend(create::tests());
    tests.extend(mapping::tests());
    tests.extend(caching::tests());
    tests.extend(objects::tests());
    tests.extend(domains::tests());
    tests.extend(isolation::tests());
    tests.extend(sharing::tests());
    tests.extend(prime::tests());
    tests.extend(userptr::tests());
    tests.extend(envelope::tests());
    tests.extend(refusal::tests());
    tests.extend(syncobj::tests());
    tests.extend(fdinfo::tests());
    tests.extend(debugfs::tests());
    tests.extend(trace::tests());
    tests.extend(checker::tests());
    tests.extend(drawing::tests());
    tests.extend(draws::tests());
    tests.extend(hyperz::tests());
    tests.extend(tiling::tests());
    tests.extend(surfaces::tests());
    tests.extend(malformed::tests());
    tests.extend(memory::tests());
    tests.extend(moves::tests());
    tests.extend(stress::tests());
    tests.extend(display::tests());
    tests.extend(bringup::tests());
    tests.extend(failures::tests());
    // Those that leave the device in need of a new probe come last.
    tests.extend(sleep::tests());
    tests.extend(recovery::tests());
    tests.extend(coredump::tests());
    tests.extend(moves::last_tests());
    tests.extend(surfaces::last_tests());
    tests.extend(prime::last_tests());
    tests.extend(faults::tests());
    tests.extend(binding::tests());
    tests.extend(removal::tests());
    lapidary_harness::main(lapidary_guest::device::driver, tests)
}
