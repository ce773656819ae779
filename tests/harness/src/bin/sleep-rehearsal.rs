// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `sleep-rehearsal`: lets the guest's devices go to sleep as deep as S3 takes them, and wake up, for jobs that do so with
//! another driver than ours.

use std::process::ExitCode;

use lapidary_harness::machine::{Depth, Kind, rehearse};

fn main() -> ExitCode {
    match rehearse(Kind::Memory, Depth::Platform) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sleep-rehearsal: {error:#}");
            ExitCode::FAILURE
        }
    }
}
