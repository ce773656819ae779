// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `tsc-khz`: prints the frequency of the host's time stamp counter in kHz.
//!
//! Under TCG the guest's counter is the host's. The guest would calibrate it against an emulated timer, which
//! goes wrong on a loaded host, and then all its timeouts are wrong; so `scripts/boot` tells it.

use std::{
    arch::x86_64::_rdtsc,
    thread,
    time::{
        Duration,
        Instant, //
    },
};

/// Return the counter and the clock, read so close to each other that nothing can have come between them.
fn sample() -> (u64, Instant) {
    let mut best: Option<(u64, u64, Instant)> = None;
    for _ in 0..100 {
        // SAFETY: every x86-64 processor has the instruction, and Linux allows it by default.
        let before = unsafe { _rdtsc() };
        let now = Instant::now();
        // SAFETY: As above.
        let after = unsafe { _rdtsc() };
        let gap = after.saturating_sub(before);
        if best.is_none_or(|(smallest, ..)| gap < smallest) {
            best = Some((gap, before + gap / 2, now));
        }
    }
    best.map_or_else(|| (0, Instant::now()), |(_, ticks, now)| (ticks, now))
}

fn main() {
    let (ticks, begin) = sample();
    thread::sleep(Duration::from_millis(50));
    let (later, end) = sample();
    let khz = (later - ticks) as f64 / (end - begin).as_secs_f64() / 1000.0;
    println!("{khz:.0}");
}
