// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whatever the checker lets through touches no byte outside the objects it was given.
//!
//! Streams are made as clients make them, spoilt in many ways, mixed, and recorded from real programs; the
//! checker and the model, two programs by the same manual without common code, judge each of them
//! ([`judge`]). A round makes one stream and a few spoilt ones from a number of its own, so that any round
//! can be repeated alone.
//!
//! | setting | what |
//! | --- | --- |
//! | `LAPIDARY_FUZZ` | how many streams; 60000 if it is not set |
//! | `SEED` | number of the first round; 1 if it is not set |
//! | `LAPIDARY_STREAMS` | a folder of recorded streams to use as well; a round needs the same one to repeat |
//! | `LAPIDARY_JOBS` | how many threads; all processors if it is not set |

mod hostile;
mod judge;
mod minimize;
mod mutate;
mod report;
mod rounds;
mod scene;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod targets;
mod textures;
mod three_d;
mod two_d;
mod vertices;

use std::{
    panic::{catch_unwind, AssertUnwindSafe},
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        Mutex,
    },
    time::Instant,
};

use indicatif::{ProgressBar, ProgressStyle};
use lapidary_streams::Recording;

use crate::{judge::Judge, report::Report};

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
    )
}

/// Rounds until so many streams have been judged, on so many threads.
fn run(seed: u64, streams: u64, jobs: u64, recordings: &[Recording]) -> Result<Report, String> {
    let next = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let total = Mutex::new(Report::default());
    let fault = Mutex::new(None);
    let bar = ProgressBar::new(streams).with_style(
        ProgressStyle::with_template(
            "{wide_bar} {human_pos} of {human_len} streams, {per_sec}, {eta}",
        )
        .expect("the template is valid"),
    );
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                let mut judge = Judge::new();
                while done.load(Ordering::Relaxed) < streams && !stop.load(Ordering::Relaxed) {
                    let round = seed.wrapping_add(next.fetch_add(1, Ordering::Relaxed));
                    let before = judge.report.streams();
                    let result = catch_unwind(AssertUnwindSafe(|| {
                        rounds::round(&mut judge, round, recordings)
                    }));
                    let result = result.unwrap_or_else(|_| Err("a panic, see above".into()));
                    if let Err(text) = result {
                        stop.store(true, Ordering::Relaxed);
                        let judged = done.load(Ordering::Relaxed);
                        let text = format!(
                            "after {judged} streams; SEED={round} LAPIDARY_FUZZ=1 repeats it:\n{text}"
                        );
                        fault.lock().expect("no thread has panicked").get_or_insert(text);
                    }
                    let judged = judge.report.streams() - before;
                    let before = done.fetch_add(judged, Ordering::Relaxed);
                    if round % 64 == 0 {
                        bar.set_position(before);
                    }
                    // Without a terminal there is no bar.
                    let tenth = |n: u64| 10 * n / streams.max(1);
                    if bar.is_hidden() && streams >= 1_000_000 && tenth(before) != tenth(before + judged) {
                        println!("{} of {streams} streams", before + judged);
                    }
                }
                total.lock().expect("no thread has panicked").add(&judge.report);
            });
        }
    });
    bar.finish_and_clear();
    match fault.into_inner().expect("no thread has panicked") {
        Some(text) => Err(text),
        None => Ok(total.into_inner().expect("no thread has panicked")),
    }
}

#[test]
fn what_is_let_through_stays_inside() {
    let seed = setting("SEED").unwrap_or(1);
    let streams = setting("LAPIDARY_FUZZ").unwrap_or(60_000);
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let jobs = setting("LAPIDARY_JOBS").unwrap_or(processors);
    let recordings = lapidary_streams::from_environment().expect("recordings can be read");
    println!("SEED={seed} LAPIDARY_FUZZ={streams}");

    let start = Instant::now();
    let report = match run(seed, streams, jobs, &recordings.unwrap_or_default()) {
        Ok(report) => report,
        Err(fault) => panic!("{fault}"),
    };
    println!("{report}{:.1?}", start.elapsed());
    report.expect_substance();
}
