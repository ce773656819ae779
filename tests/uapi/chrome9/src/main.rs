// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the `chrome9` user interface from user space: what it promises, what it refuses, what it draws, and what one
//! client can see of another. They run in the guest on the device model, or on a real chip; there the tests that need the
//! model are skipped.
//!
//! `lapidary-chrome9-tests [--list] [WORD...]`: all tests, or those whose name contains a word.
//!
//! | file | what |
//! | --- | --- |
//! | `params` | GET_PARAM, names and capabilities |
//! | `create`, `mapping`, `waiting` | the three calls for objects |
//! | `calls` | calls that do not exist, of another size, with bad pointers |
//! | `envelope` | SUBMIT's structure, lists and flags |
//! | `relocations`, `streams` | what the checker refuses, with reason and position |
//! | `addresses` | addresses of the 3D engine, as they arrive |
//! | `syncobj` | synchronisation objects on submissions |
//! | `hqv` | pictures of the scaler of video: accepted, refused, and where their objects are |
//! | `drawing` | pixels of the 2D engine, compared with the CPU's |
//! | `memory` | objects that move between system pages and frame buffer, and more of them than there is room |
//! | `isolation` | clients that look for each other's data |
//! | `prime` | objects shared between clients, and with another driver |
//! | `stress` | processes and threads at the same time |
//! | `failures` | each allocation of each call denied |
//! | `observing` | tracepoints, and files in debugfs |
//! | `fdinfo` | what `/proc/PID/fdinfo` says |
//! | `sleep` | sleep of the machine, rehearsed |
//! | `recovery`, `faults` | hangs, and a device that misbehaves in other ways |
//! | `binding` | the device is taken away from its driver |
//! | `removal` | the device is removed in use, and put back |
//! | `support` | what several of these use |

mod addresses;
mod binding;
mod calls;
mod create;
mod drawing;
mod envelope;
mod failures;
mod faults;
mod fdinfo;
mod hqv;
mod isolation;
mod mapping;
mod memory;
mod observing;
mod params;
mod prime;
mod recovery;
mod relocations;
mod removal;
mod sleep;
mod streams;
mod stress;
mod support;
mod syncobj;
mod waiting;

use lapidary_chrome9_client::device;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut tests = Vec::new();
    tests.extend(params::tests());
    tests.extend(create::tests());
    tests.extend(mapping::tests());
    tests.extend(waiting::tests());
    tests.extend(calls::tests());
    tests.extend(envelope::tests());
    tests.extend(relocations::tests());
    tests.extend(streams::tests());
    tests.extend(addresses::tests());
    tests.extend(hqv::tests());
    tests.extend(syncobj::tests());
    tests.extend(drawing::tests());
    tests.extend(memory::tests());
    tests.extend(isolation::tests());
    tests.extend(prime::tests());
    tests.extend(stress::tests());
    tests.extend(failures::tests());
    tests.extend(fdinfo::tests());
    tests.extend(observing::tests());
    // These leave the device in need of a new probe.
    tests.extend(sleep::tests());
    tests.extend(recovery::tests());
    tests.extend(faults::tests());
    tests.extend(binding::tests());
    tests.extend(removal::tests());
    lapidary_harness::main(device::driver, tests)
}
