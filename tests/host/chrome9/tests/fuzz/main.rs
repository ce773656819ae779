// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whatever the checker admits touches no byte outside the objects that it was given, and nothing that another client has
//! left in the engines shows in them.
//!
//! Streams are made as clients make them, spoilt in many ways, and mixed. The checker and the model, two programs by the same
//! register database without common code, judge each of them ([`judge`]). [`lapidary_fuzz`] has the rounds, the settings, and
//! the ways to spoil a stream.

#[path = "../checker/bench.rs"]
mod bench;
mod grammar;
mod judge;
#[path = "../checker/picture.rs"]
mod picture;
mod scene;
#[path = "../checker/scene3d.rs"]
mod scene3d;
#[path = "../checker/support.rs"]
mod support;
mod three_d;
mod two_d;
mod video;

use chrome9::portable::checker::Reason;
use lapidary_fuzz::Report;

use judge::Judge;

/// What must be seen at work, by the names of the model's counters.
const WORK: [&str; 5] = ["fills", "copies", "uploads", "primitives", "hqv_pictures"];

#[test]
fn what_is_admitted_stays_inside() {
    let report = lapidary_fuzz::run_from_environment(60_000, &[], Judge::new);
    expect_substance(&report);
}

/// Fail if the generator and the checker have drifted apart, so that a run looks at next to nothing.
fn expect_substance(report: &Report<Reason>) {
    // Shares of few streams say nothing.
    if report.streams() < 50_000 {
        return;
    }
    report.expect_shares(&[
        ("whole", report.whole, 40),
        ("spoilt", report.spoilt, 12),
        ("spliced", report.spliced, 10),
        ("as small as can be", report.bounds, 20),
    ]);
    report.expect_units(&WORK, 50);
    // Relocations of cases are whole, and have room.
    let never = [Reason::TooManyFixups, Reason::RelocationLength];
    report.expect_reasons(Reason::ALL, &never, 10);
}
