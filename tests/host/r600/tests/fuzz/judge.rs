// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The judge of a submission: the checker, then, if that admits it, the model.
//!
//! The model executes the stream with the objects at scattered addresses, in VRAM and behind VM context 0. It begins
//! in the neutral state, in which the driver leaves the chip for another client, or behind another stream. Behind one of
//! the same client the driver's commands that make it neutral are executed only if the residue of that stream says so,
//! and behind one of another client always. The model computes each byte that its units access from its own registers
//! and its own reading of the manual. None may lie outside the objects of its stream, and none may be accessed in
//! another way than the checker has noted.

use std::rc::Rc;

use fastrand::Rng;
use lapidary::portable::residue::Residue;
use lapidary_fuzz::{place::PAGE, rounds::cut, Family, Report, Verdict};
use lapidary_registers::r600::pm4::op;
use lapidary_streams::Recording;
use r600::portable::checker::{
    check_dma, check_gfx, check_gfx_tiled_by_objects, place, reason::Reason, Access, Fixup,
};

use crate::{
    chips::{Variant, CHIPS},
    coverage::draws,
    made,
    model::{places, Model, Placed},
    packets::{describe, packets},
    scene::{header, Case, Ring, GENEROUS},
    support::{footprint, run_any, Check, Checked},
};

/// The largest alignment of an object that is tried.
const MOST_ALIGNED: u64 = 4 << 20;

/// What the report calls streams that begin with the state of another one.
pub const BEHIND: &str = "behind another stream of the client:";
/// What the report calls streams before which the driver makes the chip neutral.
pub const NEUTRAL: &str = "made neutral before:";
/// What the report calls streams behind those of another client.
pub const FOREIGN: &str = "behind a stream of another client:";

/// Both sides.
pub struct Judge {
    chips: Vec<&'static Variant>,
    models: Vec<Option<Model>>,
    report: Report<Reason>,
}

impl Judge {
    pub fn new() -> Self {
        Self {
            chips: made::chips(),
            models: CHIPS.iter().map(|_| None).collect(),
            report: Report::default(),
        }
    }
}

/// Return whether the checker admits a submission, and how.
fn checked(case: &Case) -> Result<Checked, Reason> {
    let check: Check = match case.ring {
        Ring::Gfx if case.by_objects => check_gfx_tiled_by_objects,
        Ring::Gfx => check_gfx,
        Ring::Dma => check_dma,
    };
    let checked = run_any(check, &case.words, &case.objects, &case.chip.checker);
    checked
        .map_err(|refusal| {
            assert!(
                (refusal.position as usize) < case.words.len(),
                "{refusal:?} lies outside the stream"
            );
            refusal.reason
        })
        .inspect(|checked| {
            for fixup in &checked.fixups {
                assert!((fixup.dword as usize) < case.words.len());
                assert!((fixup.object as usize) < case.objects.len());
            }
            changes(case, checked);
        })
}

/// Check that only sizes of buffers have been changed, and only to smaller ones.
fn changes(case: &Case, checked: &Checked) {
    if case.words == checked.words {
        return;
    }
    for packet in packets(case) {
        let set = header(op::SET_RESOURCE, 8);
        let changed = |at: &usize| case.words[*at] != checked.words[*at];
        let Some(at) = packet.clone().find(changed) else {
            continue;
        };
        // A size is dword 1 of seven.
        let size = (case.words[packet.start] >> 8) & 0xff == (set >> 8) & 0xff
            && packet
                .clone()
                .filter(changed)
                .all(|at| (at - packet.start - 2) % 7 == 1);
        assert!(
            size && checked.words[at] < case.words[at],
            "dword {at} has become {:#x}",
            checked.words[at]
        );
    }
}

/// Return the smallest alignments that the objects of a stream may have.
fn alignments(checked: &Checked) -> Vec<u64> {
    let mut alignments = vec![PAGE; checked.objects.len()];
    let mut words = checked.words.clone();
    let mut fits = |fixup: &Fixup, base: u64| {
        words.clone_from(&checked.words);
        place(fixup, base, &mut words).is_some()
    };
    for fixup in &checked.fixups {
        let alignment = &mut alignments[fixup.object as usize];
        while *alignment < MOST_ALIGNED && !fits(fixup, *alignment) {
            *alignment *= 2;
        }
    }
    alignments
}

impl Family for Judge {
    type Reason = Reason;

    const GENEROUS: u64 = GENEROUS;

    fn made(&mut self, rng: &mut Rng) -> Case {
        let mut case = made::made(rng, &self.chips);
        if let Some(before) = case.before.take() {
            let mut before = Rc::unwrap_or_clone(before);
            // One that the driver would not execute leaves nothing.
            case.before = cut(self, &mut before).then(|| Rc::new(before));
        }
        case
    }

    fn recorded(&mut self, _: &mut Rng, recording: &Recording) -> Case {
        made::recorded(recording)
    }

    fn garbage(&mut self, rng: &mut Rng) -> Case {
        made::garbage(rng, &self.chips)
    }

    fn other(&mut self, rng: &mut Rng, case: &Case) -> Case {
        made::other(rng, case)
    }

    fn add_object(&self, case: &mut Case) {
        case.objects.push(GENEROUS);
    }

    fn reset(&mut self, _: &Case) {}

    fn check(&mut self, case: &Case) -> Result<(), Reason> {
        checked(case).map(drop)
    }

    fn describe(&self, case: &Case) -> String {
        describe(case)
    }

    fn report(&mut self) -> &mut Report<Reason> {
        &mut self.report
    }

    fn judge(&mut self, rng: &mut Rng, case: &Case) -> Verdict {
        let now = match checked(case) {
            Ok(checked) => checked,
            Err(reason) => {
                self.report.refused(reason);
                return Verdict::Refused;
            }
        };
        // The stream before counts if it is one that the driver executes.
        let before = case
            .before
            .as_deref()
            .filter(|before| before.chip.name == case.chip.name);
        let mut residue = Residue::default();
        let before = before.and_then(|before| {
            let checked = checked(before).ok()?;
            residue.follow(&checked.residue);
            Some((before.ring, checked))
        });
        // What the driver asks before a stream: is it another client's, or could a draw use what is left?
        let neutral = case.another || residue.follow(&now.residue);

        let mut objects = Vec::new();
        let mut sizes = Vec::new();
        for checked in before.iter().map(|(_, checked)| checked).chain([&now]) {
            sizes.extend(
                checked
                    .objects
                    .iter()
                    .map(|object| object.size)
                    .zip(alignments(checked)),
            );
            objects.extend(checked.objects.iter().copied());
        }
        let Some(addresses) = places(rng, sizes.into_iter()) else {
            self.report.too_large += 1;
            return Verdict::Refused;
        };
        let first = before
            .as_ref()
            .map_or(0, |(_, checked)| checked.objects.len());
        let last = Placed {
            ring: case.ring,
            words: now.placed(&addresses[first..]),
        };
        let before = before.map(|(ring, checked)| Placed {
            ring,
            words: checked.placed(&addresses[..first]),
        });
        if case.ring == Ring::Dma {
            if let Some(fault) = by_pixel(&last.words, case.chip, &addresses[first..], &now) {
                return Verdict::Broken(fault);
            }
        }

        let number = CHIPS.iter().position(|chip| chip.name == case.chip.name);
        let model = &mut self.models[number.expect("it is one of them")];
        let model = model.get_or_insert_with(|| Model::new(case.chip));
        model.begin(&objects, &addresses);
        let mut ends = vec![None; objects.len()];
        let before = before.iter().map(|placed| (placed, first));
        for (stream, most) in before.chain([(&last, objects.len())]) {
            if most > first && first > 0 {
                if neutral {
                    if let Err(fault) = model.neutralise() {
                        return Verdict::Broken(fault);
                    }
                }
                // Memory of an earlier stream may have been given back, and may be another client's by now.
                for object in &mut objects[..first] {
                    object.access = Access::default();
                }
            }
            let done = match model.execute(stream, &objects[..most], &addresses[..most]) {
                Ok(done) => done,
                Err(fault) => return Verdict::Broken(fault),
            };
            for (kind, count, detail) in &done.findings {
                self.report.found(*kind, *count, detail);
            }
            for (unit, number, end) in done.touched {
                self.report.touched(&unit);
                ends[number] = ends[number].max(Some(end));
            }
            // A wait in memory may be for what never comes. The watchdog ends it.
            self.report.share("comes to an end:", done.ended);
            if !done.ended {
                break;
            }
        }
        self.report.executed += 1;
        if first > 0 && !case.another {
            self.report.share(NEUTRAL, neutral);
        }
        self.count(case, first > 0);
        for (object, end) in objects.iter().zip(ends) {
            if let Some(end) = end {
                self.report.bounds.count(end == object.size);
            }
        }
        Verdict::Fine
    }
}

/// Judge a stream for the DMA ring by the calculator that goes from pixel to pixel. Return what it finds.
fn by_pixel(
    placed: &[u32],
    chip: &Variant,
    addresses: &[u64],
    checked: &Checked,
) -> Option<String> {
    let outside = footprint::dma(placed, &chip.checker)
        .into_iter()
        .find(|touch| {
            !addresses
                .iter()
                .zip(&checked.objects)
                .any(|(start, object)| {
                    let access = object.access;
                    (access.writes || access.reads && !touch.write)
                        && *start <= touch.address
                        && touch.address + touch.bytes <= start + object.size
                })
        })?;
    Some(format!(
        "pixel by pixel (): {outside:x?}; objects at {addresses:x?}"
    ))
}

impl Judge {
    /// Count what an admitted stream has done.
    fn count(&mut self, case: &Case, behind: bool) {
        if case.ring == Ring::Dma {
            return;
        }
        let draws = draws(case);
        self.report.share("draws:", !draws.is_empty());
        self.report.share(BEHIND, behind && !case.another);
        self.report.share(FOREIGN, behind && case.another);
        for kinds in draws {
            for kind in kinds {
                self.report.share(&kind, true);
            }
        }
    }
}
