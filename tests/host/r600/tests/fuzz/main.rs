// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the checkers of both rings admit accesses no byte outside the objects of the stream.
//!
//! Streams are made as clients make them, spoilt in many ways, mixed, and recorded from real programs. The checker
//! and the model, two programs by the same manual without common code, judge each of them ([`judge`]).
//! [`lapidary_fuzz`] has the rounds, the settings, and the ways to spoil a stream.
//!
//! | setting | what |
//! | --- | --- |
//! | `LAPIDARY_CHIP` | a chip; all of them have their turns if it is not set |
//! | `LAPIDARY_STREAMS` | recorded streams of a chip, or a folder with a folder of them for each chip |
//! | others | as [`lapidary_fuzz`] has them |

mod change;
mod chips;
mod coverage;
mod dma;
mod draw;
mod judge;
mod made;
mod memory;
mod model;
mod packets;
mod resource;
mod scene;
mod stages;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod target;
mod tiles;

use lapidary_fuzz::Report;
use r600::portable::checker::reason::Reason;

use crate::{coverage::KINDS, judge::Judge};

/// Units that must be seen at work, by the names that the model gives them.
const UNITS: [&str; 26] = [
    "the CP",
    "CP_DMA",
    "an event",
    "the DMA engine",
    "index fetch",
    "vertex shader's program",
    "pixel shader's program",
    "fetch shader's program",
    "export shader's program",
    "geometry shader's program",
    "vertex shader's constants",
    "pixel shader's constants",
    "geometry shader's constants",
    "buffer resource",
    "texture resource",
    "colour target",
    "CMASK",
    "FMASK",
    "depth target",
    "HTILE data",
    "stream-out buffer",
    "ES to GS ring",
    "GS to VS ring",
    "scratch memory of the vertex shader",
    "scratch memory of the pixel shader",
    "scratch memory of the geometry shader",
];

/// Reasons that no stream of a fuzz is refused for.
const NEVER: [Reason; 2] = [
    // A caller's mistake.
    Reason::TooManyFixups,
    // The streams for the DMA ring are shorter.
    Reason::StreamTooLong,
];

/// Reasons that only one of both generations has.
const ONE_GENERATION: [Reason; 2] = [Reason::CountTooLarge, Reason::StreamOutBase];

#[test]
fn what_is_admitted_stays_inside() {
    let recordings = made::recordings().expect("recordings can be read");
    let report = lapidary_fuzz::run_from_environment(100_000, &recordings, Judge::new);
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
        ("spoilt", report.spoilt, 12),
        ("spliced", report.spliced, 20),
        ("touched to the last byte", report.bounds, 30),
        ("with draws", report.of("draws:"), 40),
        ("to the end", report.of("comes to an end:"), 90),
        ("behind another stream", report.of(judge::BEHIND), 3),
        ("behind another client", report.of(judge::FOREIGN), 3),
        ("made neutral", report.of(judge::NEUTRAL), 20),
    ]);
    let neutral = report.of(judge::NEUTRAL);
    assert!(
        neutral.percent() <= 90,
        "nothing is left in the chip: {neutral}"
    );
    if !report.recorded.is_empty() {
        assert_eq!(report.recorded.percent(), 100, "Mesa's streams are refused");
    }
    report.expect_units(&UNITS, 400);
    for kind in KINDS {
        let draws = report.of(kind).all;
        assert!(draws * 500 > streams, "{kind}: {draws} draws only");
    }
    let mut never = NEVER.to_vec();
    if made::chips().len() == 1 {
        never.extend(ONE_GENERATION);
    }
    report.expect_reasons(Reason::ALL, &never, 8);
}
