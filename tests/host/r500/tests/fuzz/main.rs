// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whatever the checker lets through touches no byte outside the objects it was given.
//!
//! Streams are made as clients make them, spoilt in many ways, mixed, and recorded from real programs; the
//! checker and the model, two programs by the same manual without common code, judge each of them
//! ([`judge`]). [`lapidary_fuzz`] has the rounds, the settings, and the ways to spoil a stream.

mod hostile;
mod judge;
mod made;
mod packets;
mod scene;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod targets;
mod textures;
mod three_d;
mod two_d;
mod vertices;

use lapidary_fuzz::Report;
use r500::portable::checker::Reason;

use crate::judge::Judge;

/// Units that must be seen at work, by the names that the model gives them.
const UNITS: [&str; 8] = [
    "Engine2d",
    "Index",
    "ZPass",
    "vertex array",
    "texture",
    "colour target",
    "depth buffer",
    "resolve target",
];

#[test]
fn what_is_let_through_stays_inside() {
    let recordings = lapidary_streams::from_environment().expect("recordings can be read");
    let recordings = recordings.unwrap_or_default();
    let report = lapidary_fuzz::run_from_environment(60_000, &recordings, Judge::new);
    expect_substance(&report);
}

/// Fail if the generator and the checker have drifted apart, so that a run looks at next to nothing.
fn expect_substance(report: &Report<Reason>) {
    let streams = report.streams();
    // Shares of few streams say nothing.
    if streams < 50_000 {
        return;
    }
    report.expect_shares(&[
        ("whole", report.whole, 45),
        ("spoilt", report.spoilt, 15),
        ("spliced", report.spliced, 10),
        ("touched to the last byte", report.bounds, 20),
    ]);
    report.expect_units(&UNITS, 200);
    // Only a caller's mistake can have this.
    report.expect_reasons(Reason::ALL, &[Reason::TooManyFixups], 3);
}
