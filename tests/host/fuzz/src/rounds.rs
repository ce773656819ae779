// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A round: one stream, and what can be made of it.
//!
//! Objects are cut to the smallest size that the checker admits before the model sees them. So a bound that is too weak
//! by one byte shows, and only the two that are compared calculate what a draw needs.

use fastrand::Rng;
use lapidary_streams::Recording;

use crate::chance::rarely;
use crate::family::{Case, Family, Verdict};
use crate::minimize::minimize;
use crate::mutate::{mutate, splice};
use crate::report::{Report, Share};

/// Where a stream comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Made,
    Recorded,
    Garbage,
}

/// Return whether the checker admits a submission, and count the reason if it does not.
pub fn admits<F: Family>(family: &mut F, case: &F::Case) -> bool {
    match family.check(case) {
        Ok(()) => true,
        Err(reason) => {
            family.report().refused(reason);
            false
        }
    }
}

/// Make each object as small as the checker allows. False if it does not admit the stream at all.
pub fn cut<F: Family>(family: &mut F, case: &mut F::Case) -> bool {
    if !admits(family, case) {
        return false;
    }
    for i in 0..case.objects() {
        let (mut no, mut yes) = (0, case.size(i));
        // Most objects are not used to their ends.
        let mut guess = 4096.min(yes);
        while no + 1 < yes {
            case.resize(i, guess);
            match admits(family, case) {
                true => yes = guess,
                false => no = guess,
            }
            guess = if yes == F::GENEROUS {
                (no * 16).min((no + yes) / 2)
            } else {
                (no + yes) / 2
            };
        }
        case.resize(i, yes);
    }
    true
}

/// Judge one submission. An error is a text for people, with the smallest stream that shows the fault.
fn one<F: Family>(
    family: &mut F,
    rng: &mut Rng,
    case: &F::Case,
    share: impl Fn(&mut Report<F::Reason>) -> &mut Share,
) -> Result<bool, String> {
    let seed = rng.get_seed();
    let verdict = family.judge(rng, case);
    share(family.report()).count(!matches!(verdict, Verdict::Refused));
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
    let small = minimize(family, case, &mut |family, case| {
        family.reset(case);
        match family.judge(&mut Rng::with_seed(seed), case) {
            Verdict::Broken(text) if kind(&text) == kind(&fault) => {
                last = text;
                true
            }
            _ => false,
        }
    });
    let text = family.describe(&small);
    Err(format!("{fault}\nsmallest: {last}\n{text}"))
}

/// Make objects a bit larger than the smallest size, or whole pages as the kernel has them, or leave them.
fn loosen<C: Case>(rng: &mut Rng, case: &mut C) {
    match rng.u32(..4) {
        0 => {
            for i in 0..case.objects() {
                case.resize(i, case.size(i).next_multiple_of(4096));
            }
        }
        1 => {
            for i in 0..case.objects() {
                let more = rng.u64(..0x1000) >> rng.u32(..12);
                case.resize(i, case.size(i) + more);
            }
        }
        _ => {}
    }
}

/// Judge one stream and a few that are made from it.
///
/// # Errors
/// A text for people: an admitted stream does what it must not.
pub fn round<F: Family>(
    family: &mut F,
    number: u64,
    recordings: &[Recording],
) -> Result<(), String> {
    let rng = &mut Rng::with_seed(number);
    let (mut case, origin) = if !recordings.is_empty() && rarely(rng, 48) {
        let recording = &recordings[rng.usize(..recordings.len())];
        (family.recorded(rng, recording), Origin::Recorded)
    } else if rarely(rng, 32) {
        (family.garbage(rng), Origin::Garbage)
    } else {
        (family.made(rng), Origin::Made)
    };
    if case.objects() == 0 {
        family.add_object(&mut case);
        case.resize(0, 0);
    }
    family.reset(&case);
    let generous = case.clone();
    let admitted = cut(family, &mut case);
    if admitted {
        loosen(rng, &mut case);
    }
    one(family, rng, &case, |report| match origin {
        Origin::Made => &mut report.whole,
        Origin::Recorded => &mut report.recorded,
        Origin::Garbage => &mut report.garbage,
    })?;

    for _ in 0..rng.u32(2..8) {
        let mut spoilt = case.clone();
        let enlarge = !admitted || rarely(rng, 4);
        if enlarge {
            for i in 0..spoilt.objects() {
                spoilt.resize(i, generous.size(i));
            }
        }
        for _ in 0..rng.u32(1..4) {
            mutate(family, rng, &mut spoilt);
        }
        if enlarge && cut(family, &mut spoilt) {
            loosen(rng, &mut spoilt);
        }
        one(family, rng, &spoilt, |report| &mut report.spoilt)?;
    }
    if rarely(rng, 4) {
        let mut spliced = generous;
        let other = family.other(rng, &spliced);
        splice(family, rng, &mut spliced, &other);
        while spliced.objects() < other.objects() {
            family.add_object(&mut spliced);
        }
        cut(family, &mut spliced);
        one(family, rng, &spliced, |report| &mut report.spliced)?;
    }
    Ok(())
}
