// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How fast the checker is: dwords per second on a recorded mix of 500 dwords with two relocations, and on
//! what it has to copy most of, host data. Figures, no judgement.

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use r500::portable::{
    checker::{check, max_fixups, Fixup, Object, Options},
    regs::pm4::op,
};
use support::{host_control, objects, recorded_mix, recorded_objects, surface, y_x, Stream};

/// Streams that are timed together. The fastest batch counts: the others shared the processor.
const BATCH: usize = 200;

fn measure(name: &str, words: &[u32], mut objects: Vec<Object>) {
    let mut out = vec![0; words.len()];
    let mut fixups = vec![Fixup::default(); max_fixups(words.len())];
    let mut fastest = Duration::MAX;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        let batch = Instant::now();
        for _ in 0..BATCH {
            let result = check(
                black_box(words),
                &mut objects,
                Options {
                    keep_tiling: true,
                    ..Options::default()
                },
                &mut out,
                &mut fixups,
            );
            assert!(black_box(result).is_ok());
        }
        fastest = fastest.min(batch.elapsed());
    }
    let rate = (BATCH * words.len()) as f64 / fastest.as_secs_f64();
    println!("checker {name}: {:.0} million dwords/s", rate / 1e6);
}

fn main() {
    measure("recorded mix", &recorded_mix(), recorded_objects());

    let mut body = vec![
        host_control(),
        surface(4096, 0),
        0,
        0,
        0,
        y_x(256, 256),
        2048,
    ];
    body.extend(0..2048);
    let mut stream = Stream::new();
    stream
        .write(r500::portable::regs::mmio::DP_CNTL, 3)
        .packet(op::HOSTDATA_BLT, &body)
        .marker(0);
    measure("host data", &stream.words, objects(&[4096 * 256]));
}
