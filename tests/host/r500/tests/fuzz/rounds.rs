// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A round: one stream, and what can be made of it.

use fastrand::Rng;
use lapidary_streams::Recording;
use r500::portable::{
    checker::{Chip, Object, Options},
    pm4,
};

use crate::{
    judge::{Judge, Verdict},
    minimize::{describe, minimize},
    mutate::{mutate, splice},
    report::{Report, Share},
    scene::{facts, options, pick, rarely, Case, Scene, GENEROUS},
    state::WRITABLE,
    three_d, two_d,
};

/// Where a stream comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Made,
    Recorded,
    Garbage,
}

fn made(rng: &mut Rng) -> Case {
    let mut scene = Scene::new(rng);
    match scene.rng.u32(..8) {
        0 => two_d::add(&mut scene),
        1 => {
            two_d::add(&mut scene);
            three_d::add(&mut scene);
        }
        2 => {
            three_d::add(&mut scene);
            two_d::add(&mut scene);
        }
        _ => three_d::add(&mut scene),
    }
    scene.finish()
}

/// Return what a real program has sent, to the driver of an RV515 mostly, which let it use everything.
fn recorded(rng: &mut Rng, recording: &Recording) -> Case {
    let stream = &recording.stream;
    let mut options = options(rng);
    if !rarely(rng, 8) {
        options = Options {
            hyperz: true,
            cmask: true,
            ..facts(Chip::Rv515)
        };
    }
    options.keep_tiling =
        stream.flags & lapidary::portable::radeon::uapi::cs_flags::KEEP_TILING != 0;
    Case {
        words: stream.words.clone(),
        objects: stream
            .objects
            .iter()
            .map(|object| Object {
                size: object.size,
                tiling: object.tiling,
                ..Object::default()
            })
            .collect(),
        options,
    }
}

/// Packets with any contents, most of them for registers that may be written.
fn garbage(rng: &mut Rng) -> Case {
    let mut words = Vec::new();
    for _ in 0..rng.u32(..24) {
        let register = pick(rng, &WRITABLE);
        match rng.u32(..8) {
            0 => words.push(rng.u32(..)),
            1 => {
                let count = rng.u32(1..8);
                words.push(pm4::operation(rng.u8(..), count));
                words.extend((0..count).map(|_| rng.u32(..)));
            }
            2 => words.push(pm4::FILLER),
            _ => words.extend([pm4::write(register, 1), rng.u32(..) >> rng.u32(..32)]),
        }
    }
    let objects = vec![Object {
        size: 1 << rng.u32(12..24),
        ..Object::default()
    }];
    Case {
        words,
        objects,
        options: options(rng),
    }
}

/// Judge one submission. An error is a text for people, with the smallest stream that shows the fault.
fn one(
    judge: &mut Judge,
    rng: &mut Rng,
    case: &Case,
    share: impl Fn(&mut Report) -> &mut Share,
) -> Result<bool, String> {
    let seed = rng.get_seed();
    let verdict = judge.judge(rng, case);
    share(&mut judge.report).count(!matches!(verdict, Verdict::Refused));
    let Verdict::Broken(fault) = verdict else {
        return Ok(matches!(verdict, Verdict::Fine));
    };
    let kind = |fault: &str| {
        fault
            .split(['(', ';'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let mut last = fault.clone();
    let small = minimize(case, &mut |case| {
        judge.reset(case);
        match judge.judge(&mut Rng::with_seed(seed), case) {
            Verdict::Broken(text) if kind(&text) == kind(&fault) => {
                last = text;
                true
            }
            _ => false,
        }
    });
    Err(format!("{fault}\nsmallest: {last}\n{}", describe(&small)))
}

/// Objects a bit larger than the smallest size, or whole pages as the kernel has them, or just that.
fn loosen(rng: &mut Rng, case: &mut Case) {
    match rng.u32(..4) {
        0 => {
            for object in &mut case.objects {
                object.size = object.size.next_multiple_of(4096);
            }
        }
        1 => {
            for object in &mut case.objects {
                object.size += rng.u64(..0x1000) >> rng.u32(..12);
            }
        }
        _ => {}
    }
}

/// One stream and a few that are made from it.
pub fn round(judge: &mut Judge, number: u64, recordings: &[Recording]) -> Result<(), String> {
    let rng = &mut Rng::with_seed(number);
    let (mut case, origin) = if !recordings.is_empty() && rarely(rng, 48) {
        let recording = &recordings[rng.usize(..recordings.len())];
        (recorded(rng, recording), Origin::Recorded)
    } else if rarely(rng, 32) {
        (garbage(rng), Origin::Garbage)
    } else {
        (made(rng), Origin::Made)
    };
    if case.objects.is_empty() {
        case.objects.push(Object::default());
    }
    judge.reset(&case);
    let generous = case.clone();
    let admitted = judge.cut(&mut case);
    if admitted {
        loosen(rng, &mut case);
    }
    one(judge, rng, &case, |report| match origin {
        Origin::Made => &mut report.whole,
        Origin::Recorded => &mut report.recorded,
        Origin::Garbage => &mut report.garbage,
    })?;

    for _ in 0..rng.u32(2..8) {
        let mut spoilt = case.clone();
        let enlarge = !admitted || rarely(rng, 4);
        if enlarge {
            spoilt.objects = generous.objects.clone();
        }
        for _ in 0..rng.u32(1..4) {
            mutate(rng, &mut spoilt);
        }
        if enlarge && judge.cut(&mut spoilt) {
            loosen(rng, &mut spoilt);
        }
        one(judge, rng, &spoilt, |report| &mut report.spoilt)?;
    }
    if rarely(rng, 4) {
        let mut spliced = generous;
        let mut other = made(rng);
        other.options = spliced.options;
        splice(rng, &mut spliced, &other);
        while spliced.objects.len() < other.objects.len() {
            spliced.objects.push(Object {
                size: GENEROUS,
                ..Object::default()
            });
        }
        judge.cut(&mut spliced);
        one(judge, rng, &spliced, |report| &mut report.spliced)?;
    }
    Ok(())
}
