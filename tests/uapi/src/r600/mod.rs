// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What holds on R6xx and R7xx: their rings, their answers.

mod dma;
mod info;
mod life;

use anyhow::Result;
use lapidary_engines::r600::R600;
use lapidary_guest::painter::only_on;
use lapidary_harness::Test;

/// Skip a test on chips of another family.
fn here() -> Result<()> {
    only_on(&R600)
}

/// Return all but [`last_tests`].
pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    tests.extend(info::tests());
    tests.extend(dma::tests());
    tests.extend(life::tests());
    tests.into_iter().map(|test| test.only_if(here)).collect()
}

/// Return those that leave the device in need of a new probe.
pub fn last_tests() -> Vec<Test> {
    let tests = life::last_tests();
    tests.into_iter().map(|test| test.only_if(here)).collect()
}
