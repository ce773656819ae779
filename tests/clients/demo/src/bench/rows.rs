// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is measured: one row each.

use crate::client::{Op, Place};
use crate::radeon::Radeon;
use crate::radeon::family::family;
use crate::side::Side;
use anyhow::{Context, Result};
use lapidary_guest::{Bo, Stream};
use lapidary_streams::Recording;
use std::rc::Rc;

/// Makes on one side what a row needs.
type Make = Box<dyn Fn(&Side) -> Result<Op>>;

/// What kind of cost a row shows; decides the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A submission for which no client waits.
    Submission,
    /// The same, of the 2D engine: what an operation touches is worked out for each rectangle.
    Submission2d,
    /// A submission that is refused.
    Refusal,
    /// A submission, and a client that sleeps until it is done.
    Wait,
    /// A large object in system memory whose pages are all written to.
    LargeTouched,
    /// An object in video memory that is made and closed.
    Vram,
    /// Something else.
    Other,
}

/// One row of the table.
pub struct Row {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub kind: Kind,
    /// How often it is done in a round. Few enough that neither ring nor indirect buffers fill up, which
    /// would make a client wait.
    pub times: usize,
    make: Make,
}

impl Row {
    fn new(
        name: impl Into<String>,
        kind: Kind,
        times: usize,
        make: impl Fn(&Side) -> Result<Op> + 'static,
    ) -> Row {
        Row {
            name: name.into(),
            kind,
            times,
            make: Box::new(make),
        }
    }

    /// Return the row of a submission of the `radeon` interface that is made `times` times in a round. `make` returns its stream, and the objects
    /// that it names.
    pub fn submission(
        name: String,
        times: usize,
        make: impl Fn(&Radeon) -> Result<(Stream, Vec<Bo>)> + 'static,
    ) -> Row {
        Row::new(name, Kind::Submission, times, move |side| {
            let radeon = side.client.radeon().context("another interface")?;
            let (stream, objects) = make(radeon)?;
            Ok(radeon.again(&stream, objects))
        })
    }

    /// Make what it needs on one side.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn make(&self, side: &Side) -> Result<Op> {
        (self.make)(side).with_context(|| format!("{} on {}", self.name, side.driver))
    }
}

/// Return all rows that all sides have; those of recorded submissions if there are any.
pub fn all(sides: &[Side], recordings: Vec<Recording>) -> Vec<Row> {
    let only_radeon = sides.iter().all(|side| side.client.radeon().is_some());
    let mut rows = Vec::new();
    for (dwords, objects, times) in [(8, 1, 128), (500, 2, 128), (4096, 64, 32), (16384, 512, 8)] {
        rows.push(Row::new(
            format!("cs {dwords}/{objects}"),
            Kind::Submission,
            times,
            move |side| side.client.submission(dwords, objects),
        ));
    }
    rows.push(Row::new(
        "cs 500/2 by turns",
        Kind::Submission,
        128,
        |side| side.client.by_turns(),
    ));
    if only_radeon {
        rows.extend(family().rows());
        rows.extend(replays(recordings));
    } else {
        // Recordings have rectangles, too.
        rows.push(Row::new("cs of 20 fills", Kind::Submission2d, 64, |side| {
            side.client.fills(20)
        }));
    }
    rows.push(Row::new(
        "cs refused at its end",
        Kind::Refusal,
        32,
        |side| side.client.refusal(),
    ));
    rows.push(Row::new("cs and wait", Kind::Wait, 8, |side| {
        side.client.wait()
    }));
    for place in [Place::Vram, Place::System] {
        for (size, name) in [(4 << 10, "4 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")] {
            for touch in [false, true] {
                let title = match place {
                    Place::Vram => "VRAM",
                    Place::System => "GTT",
                };
                let used = if touch { " touched" } else { "" };
                let kind = if place == Place::System && size >= 1 << 20 && touch {
                    Kind::LargeTouched
                } else if place == Place::Vram && !touch {
                    Kind::Vram
                } else {
                    Kind::Other
                };
                rows.push(Row::new(
                    format!("{title} {name}{used}"),
                    kind,
                    16,
                    move |side| side.client.life(size, place, touch),
                ));
            }
        }
    }
    rows
}

/// Return how often a program's submissions are made in one round: so that there are some, but not more than fit in
/// the indirect buffers of both drivers, 1 MiB.
fn repeats(recordings: &[Recording]) -> usize {
    let words: usize = recordings
        .iter()
        .map(|recording| recording.stream.words.len().next_multiple_of(64))
        .sum();
    (128 * 1024 / words).min(96 / recordings.len()).max(1)
}

/// Return the rows of recorded submissions.
fn replays(recordings: Vec<Recording>) -> Vec<Row> {
    let mut rows = Vec::new();
    let recordings = Rc::new(recordings);
    let mut programs: Vec<&str> = recordings
        .iter()
        .map(|recording| recording.stream.program.as_str())
        .collect();
    programs.dedup();
    for program in programs {
        let of_program: Rc<Vec<Recording>> = Rc::new(
            recordings
                .iter()
                .filter(|recording| recording.stream.program == program)
                .cloned()
                .collect(),
        );
        rows.push(Row::new(
            format!("cs of {program}"),
            if program.starts_with("libdrm-") {
                Kind::Submission2d
            } else {
                Kind::Submission
            },
            of_program.len() * repeats(&of_program),
            move |side| {
                let radeon = side.client.radeon().context("another interface")?;
                radeon.replay(&of_program)
            },
        ));
    }
    rows
}
