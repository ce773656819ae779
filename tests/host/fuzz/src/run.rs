// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A run: rounds on many threads, until so many streams have been judged.
//!
//! | setting | what |
//! | --- | --- |
//! | `LAPIDARY_FUZZ` | how many streams; a test has its own number if it is not set |
//! | `SEED` | number of the first round; 1 if it is not set |
//! | `LAPIDARY_STREAMS` | a folder of recorded streams to use as well; a round needs the same one to repeat |
//! | `LAPIDARY_JOBS` | how many threads; all processors if it is not set |

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use lapidary_streams::Recording;

use crate::family::Family;
use crate::report::Report;
use crate::rounds::round;

/// How long a run is, and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Number of the first round.
    pub seed: u64,
    /// How many streams are judged.
    pub streams: u64,
    /// How many threads.
    pub jobs: u64,
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
    )
}

impl Settings {
    /// Return the settings of the environment, with `streams` if it does not say how many.
    ///
    /// # Panics
    /// If a variable is not a number.
    pub fn from_environment(streams: u64) -> Settings {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        Settings {
            seed: setting("SEED").unwrap_or(1),
            streams: setting("LAPIDARY_FUZZ").unwrap_or(streams),
            jobs: setting("LAPIDARY_JOBS").unwrap_or(processors),
        }
    }
}

/// Judge as many streams as the environment says, or `streams`. Print the seed, then what the run has looked at, and
/// return that.
///
/// # Panics
/// With a text for people, as [`run`].
pub fn run_from_environment<F: Family>(
    streams: u64,
    recordings: &[Recording],
    family: impl Fn() -> F + Sync,
) -> Report<F::Reason> {
    let settings = Settings::from_environment(streams);
    println!("SEED={} LAPIDARY_FUZZ={}", settings.seed, settings.streams);
    let start = Instant::now();
    match run(settings, recordings, family) {
        Ok(report) => {
            println!("{report}{:.1?}", start.elapsed());
            report
        }
        Err(fault) => panic!("{fault}"),
    }
}

/// Judge rounds until so many streams have been judged.
///
/// # Errors
/// A text for people: an admitted stream does what it must not, or something has panicked.
pub fn run<F: Family>(
    settings: Settings,
    recordings: &[Recording],
    family: impl Fn() -> F + Sync,
) -> Result<Report<F::Reason>, String> {
    let Settings {
        seed,
        streams,
        jobs,
    } = settings;
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
                let mut family = family();
                while done.load(Ordering::Relaxed) < streams && !stop.load(Ordering::Relaxed) {
                    let number = seed.wrapping_add(next.fetch_add(1, Ordering::Relaxed));
                    let before = family.report().streams();
                    let result = catch_unwind(AssertUnwindSafe(|| {
                        round(&mut family, number, recordings)
                    }));
                    let result = result.unwrap_or_else(|_| Err("a panic, see above".into()));
                    if let Err(text) = result {
                        stop.store(true, Ordering::Relaxed);
                        let judged = done.load(Ordering::Relaxed);
                        let text = format!(
                            "after {judged} streams; SEED={number} LAPIDARY_FUZZ=1 repeats it:\n{text}"
                        );
                        fault.lock().expect("no thread has panicked").get_or_insert(text);
                    }
                    let judged = family.report().streams() - before;
                    let before = done.fetch_add(judged, Ordering::Relaxed);
                    if number % 64 == 0 {
                        bar.set_position(before);
                    }
                    // Without a terminal there is no bar.
                    let tenth = |n: u64| 10 * n / streams.max(1);
                    if bar.is_hidden() && streams >= 1_000_000 && tenth(before) != tenth(before + judged) {
                        println!("{} of {streams} streams", before + judged);
                    }
                }
                total.lock().expect("no thread has panicked").add(family.report());
            });
        }
    });
    bar.finish_and_clear();
    match fault.into_inner().expect("no thread has panicked") {
        Some(text) => Err(text),
        None => Ok(total.into_inner().expect("no thread has panicked")),
    }
}
