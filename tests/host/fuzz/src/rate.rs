// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How fast a checker is, in dwords per second. A bench prints figures and judges nothing.
//!
//! Words on the command line choose the streams by their names. `--rounds N` checks each just so often and takes no
//! time. That is for a program that counts instructions: the difference between two numbers of rounds is that of the
//! checker alone.

use std::time::{Duration, Instant};

/// Dwords that are timed together, about. The fastest batch counts: the others shared the processor.
const BATCH: usize = 100_000;
/// How long a stream is checked.
const TIME: Duration = Duration::from_secs(1);

/// What the command line says.
pub struct Bench {
    words: Vec<String>,
    rounds: Option<usize>,
}

impl Bench {
    /// Read the command line.
    ///
    /// # Panics
    /// If it makes no sense.
    pub fn from_arguments() -> Self {
        // cargo adds one of its own.
        let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
        let mut bench = Self {
            words: Vec::new(),
            rounds: None,
        };
        while let Some(word) = arguments.next() {
            if word == "--rounds" {
                let number = arguments.next().and_then(|number| number.parse().ok());
                bench.rounds = Some(number.expect("--rounds takes a number"));
            } else {
                bench.words.push(word);
            }
        }
        bench
    }

    /// Return whether the streams with this name are wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// Print how fast `check` is, which checks streams of so many dwords once. They are called `name`.
    pub fn measure(&self, name: &str, dwords: usize, mut check: impl FnMut()) {
        if !self.wants(name) {
            return;
        }
        let number = self.rounds.unwrap_or(BATCH.div_ceil(dwords));
        let mut rounds = || (0..number).for_each(|_| check());
        if self.rounds.is_some() {
            rounds();
            println!("checker {name}: {dwords} dwords, {number} times");
            return;
        }
        let mut fastest = Duration::MAX;
        let start = Instant::now();
        while start.elapsed() < TIME {
            let batch = Instant::now();
            rounds();
            fastest = fastest.min(batch.elapsed());
        }
        let rate = (number * dwords) as f64 / fastest.as_secs_f64();
        println!("checker {name}: {:.0} million dwords/s", rate / 1e6);
    }
}
