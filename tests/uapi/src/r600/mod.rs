// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What holds on R6xx and R7xx: their rings, their answers.

mod dma;
mod info;

use anyhow::Result;
use lapidary_engines::r600::R600;
use lapidary_guest::painter::only_on;
use lapidary_harness::Test;

/// Skip a test on chips of another family.
fn here() -> Result<()> {
    only_on(&R600)
}

/// Return all tests.
pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    tests.extend(info::tests());
    tests.extend(dma::tests());
    tests.into_iter().map(|test| test.only_if(here)).collect()
}
