// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What holds on R5xx: its checker, its drawing, its registers and tiles, its answers.

mod bringup;
mod checker;
mod display;
mod drawing;
mod draws;
mod envelope;
mod hyperz;
mod info;
mod isolation;
mod objects;
mod page_table;
mod recovery;
mod sleep;
mod surfaces;
mod tiling;

use anyhow::Result;
use lapidary_engines::r500::R500;
use lapidary_guest::painter::only_on;
use lapidary_harness::Test;

/// Skip a test on chips of another family.
fn here() -> Result<()> {
    only_on(&R500)
}

/// Return all but [`last_tests`].
pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    tests.extend(info::tests());
    tests.extend(objects::tests());
    tests.extend(isolation::tests());
    tests.extend(envelope::tests());
    tests.extend(checker::tests());
    tests.extend(drawing::tests());
    tests.extend(draws::tests());
    tests.extend(hyperz::tests());
    tests.extend(tiling::tests());
    tests.extend(surfaces::tests());
    tests.extend(page_table::tests());
    tests.extend(display::tests());
    tests.extend(bringup::tests());
    tests.into_iter().map(|test| test.only_if(here)).collect()
}

/// Return those that may leave the device in need of a new probe.
pub fn last_tests() -> Vec<Test> {
    let mut tests = Vec::new();
    tests.extend(sleep::tests());
    tests.extend(recovery::tests());
    tests.extend(surfaces::last_tests());
    tests.into_iter().map(|test| test.only_if(here)).collect()
}
