// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests that every driver of the `radeon` interface must pass. They know no family: the dependencies of this crate
//! have no family's registers and no family's engines. Where a test needs the GPU to do something, the painter of the
//! device's family does it ([`lapidary_guest::painter`]).

mod binding;
mod caching;
mod coredump;
mod create;
mod debugfs;
mod domains;
pub mod envelope;
mod failures;
mod faults;
mod fdinfo;
mod info;
mod isolation;
mod malformed;
mod mapping;
pub mod memory;
mod moves;
mod objects;
mod prime;
pub mod recovery;
mod refusal;
pub mod removal;
mod sharing;
pub mod sleep;
mod stress;
pub mod support;
mod syncobj;
mod trace;
pub mod userptr;

use lapidary_harness::Test;

/// Return all but [`last_tests`].
pub fn tests() -> Vec<Test> {
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
    tests.extend(malformed::tests());
    tests.extend(memory::tests());
    tests.extend(moves::tests());
    tests.extend(stress::tests());
    tests.extend(failures::tests());
    tests
}

/// Return those that leave the device in need of a new probe.
pub fn last_tests() -> Vec<Test> {
    let mut tests = Vec::new();
    tests.extend(sleep::tests());
    tests.extend(recovery::tests());
    tests.extend(coredump::tests());
    tests.extend(moves::last_tests());
    tests.extend(prime::last_tests());
    tests.extend(faults::tests());
    tests.extend(binding::tests());
    tests.extend(removal::tests());
    tests
}
