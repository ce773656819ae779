// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whatever the checker lets through touches no byte outside the objects it was given.
//!
//! Bounded and seeded: `LAPIDARY_FUZZ` streams (default 50000) from seed `SEED` (default: from the clock, and
//! printed), so that a failure can be repeated.

mod support;

use fastrand::Rng;
use support::{
    footprint::{execute, Touch},
    generate::{addresses, case, mutate, Case},
    run,
};

fn setting(name: &str, default: impl FnOnce() -> u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
        Err(_) => default(),
    }
}

/// Runs one submission; returns the number of operations if it was let through.
fn judge(case: &Case) -> Option<usize> {
    let checked = match run(&case.words, &case.objects, case.options) {
        Ok(checked) => checked,
        Err(refusal) => {
            assert!(
                (refusal.position as usize) < case.words.len(),
                "{refusal:?} lies outside the stream"
            );
            return None;
        }
    };
    let addresses = addresses(&case.objects);
    let placed = checked.placed(&addresses);
    let mut judge_touch = |touch: Touch| {
        let inside = addresses
            .iter()
            .zip(&checked.objects)
            .find(|(address, object)| {
                touch.start >= **address && touch.end <= **address + object.size
            });
        let Some((_, object)) = inside else {
            panic!("{touch:x?} is outside every object {addresses:x?} of {case:x?}");
        };
        assert!(
            if touch.write {
                object.access.writes
            } else {
                object.access.reads
            },
            "{touch:x?} was not announced in {case:x?}"
        );
    };
    execute(&placed, true, &mut judge_touch);
    let operations = execute(&placed, false, &mut judge_touch);
    // Nothing but pitch and offset words is changed.
    for (i, (before, after)) in case.words.iter().zip(&checked.words).enumerate() {
        if before != after {
            assert!(
                checked.fixups.iter().any(|fixup| fixup.dword as usize == i),
                "dword {i} was changed in {case:x?}"
            );
        }
    }
    Some(operations)
}

#[test]
fn what_is_let_through_stays_inside() {
    let seed = setting("SEED", || {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("the clock is past 1970")
            .as_nanos() as u64
    });
    let rounds = setting("LAPIDARY_FUZZ", || 50_000);
    println!("SEED={seed} LAPIDARY_FUZZ={rounds}");
    let mut rng = Rng::with_seed(seed);
    let (mut whole, mut whole_admitted, mut spoilt, mut spoilt_admitted, mut operations) =
        (0u64, 0u64, 0u64, 0u64, 0usize);
    for _ in 0..rounds {
        let mut case = case(&mut rng);
        whole += 1;
        if let Some(done) = judge(&case) {
            whole_admitted += 1;
            operations += done;
        }
        for _ in 0..rng.u32(1..6) {
            mutate(&mut rng, &mut case.words);
            spoilt += 1;
            if let Some(done) = judge(&case) {
                spoilt_admitted += 1;
                operations += done;
            }
        }
    }
    println!(
        "{whole_admitted} of {whole} whole and {spoilt_admitted} of {spoilt} spoilt streams let through, \
         {operations} operations"
    );
    // If the generator and the checker drift apart, this test looks at nothing.
    assert!(
        whole_admitted * 4 > whole,
        "most generated streams are refused"
    );
    assert!(
        spoilt_admitted * 20 > spoilt,
        "almost all spoilt streams are refused"
    );
    assert!(
        operations as u64 > rounds,
        "hardly an operation was executed"
    );
}

#[test]
fn garbage_is_refused_or_harmless() {
    let seed = setting("SEED", || 1);
    let mut rng = Rng::with_seed(seed);
    for _ in 0..20_000 {
        let words = (0..rng.usize(..64)).map(|_| rng.u32(..)).collect();
        let case = Case {
            words,
            ..case(&mut rng)
        };
        judge(&case);
    }
}
