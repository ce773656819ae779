// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The judge of a submission: the checker, then, if that lets it through, the model.
//!
//! The model executes the stream with the objects at scattered addresses, in VRAM and in the GART window,
//! and with the registers as hostile as another client can leave them. It computes every byte that its units
//! touch from its own reading of the manual; none may lie outside the objects.
//!
//! A third judge takes the answers that neither checker nor model gives to questions that the manual leaves open
//! ([`readings`]). By those that the checker bears nothing may leave the objects either; of the others it is counted
//! how many streams they would cost.

use fastrand::Rng;
use lapidary_fuzz::{
    place::{scatter, CONTENTS, PAGE},
    Family, Report, Verdict,
};
use lapidary_model_r500::{
    bench::Bench,
    kind::{self, Kind},
};
use lapidary_streams::Recording;
use r500::portable::{
    checker::{Chip, Object, Reason},
    pm4::{self, Header},
};

use crate::{
    hostile::Hostile,
    made,
    packets::{describe, packets},
    scene::{Case, GENEROUS},
    support::{
        footprint::{execute, ControlReading, Touch},
        readings::{self, Reading, BORNE, COSTLY},
        run, Checked,
    },
};

/// Findings that mean that a stream has left its objects, or has got the chip to do what only the kernel may.
const BREAKS: &[Kind] = &[
    kind::OUTSIDE_OBJECTS,
    kind::ADDRESS_UNMAPPED,
    kind::GART_FAULT,
    kind::DMA_FAULT,
    kind::UNDEFINED_PACKET,
    kind::UNDEFINED_REGISTER_WRITE,
    kind::IB_NESTING,
    kind::IB_TRIGGER_NOT_LAST,
    kind::CP_RECONFIGURED,
    kind::RING_POINTER,
    kind::ON_CHIP_RANGE,
    kind::DRAW_DATA_MISSING,
    kind::CACHE_NOT_EMPTY,
];

/// VRAM of a bench.
const VRAM: u64 = 80 << 20;
/// The first part of VRAM is another client's. [`crate::hostile::FOREIGN`] lies there.
const FOREIGN: u64 = 8 << 20;

const CHIPS: [(Chip, &str); 6] = [
    (Chip::Rv515, "rv515"),
    (Chip::R520, "r520"),
    (Chip::Rv530, "rv530"),
    (Chip::Rv560, "rv560"),
    (Chip::Rv570, "rv570"),
    (Chip::R580, "r580"),
];

/// Scatter objects over VRAM and the GART window, with memory between them that is not the stream's.
///
/// `None` if they do not fit.
fn place(rng: &mut Rng, objects: &[Object]) -> Option<Vec<u64>> {
    let vram = u64::from(Bench::VRAM);
    let gart = u64::from(Bench::GTT);
    let windows = [
        (vram + FOREIGN, vram + VRAM),
        (gart, gart + u64::from(Bench::GTT_LEN)),
    ];
    scatter(
        rng,
        windows,
        objects.iter().map(|object| (object.size, PAGE)),
    )
}

/// Both sides.
pub struct Judge {
    benches: Vec<(Bench, Hostile)>,
    report: Report<Reason>,
}

impl Judge {
    pub fn new() -> Self {
        let bench = |(chip, name)| {
            let mut bench = Bench::new(name, VRAM).expect("a bench can be set up");
            let hostile = Hostile::new(chip, &mut bench);
            // From now on it keeps the journal.
            bench.touched();
            (bench, hostile)
        };
        Self {
            benches: CHIPS.into_iter().map(bench).collect(),
            report: Report::default(),
        }
    }

    fn bench(&mut self, case: &Case) -> &mut (Bench, Hostile) {
        let chip = case.options.chip;
        let number = CHIPS.iter().position(|(other, _)| *other == chip);
        &mut self.benches[number.expect("every chip has a bench")]
    }
}

/// Return whether the checker lets a submission through, and how.
fn checked(case: &Case) -> Result<Checked, Reason> {
    run(&case.words, &case.objects, case.options).map_err(|refusal| {
        assert!(
            (refusal.position as usize) < case.words.len(),
            "{refusal:?} lies outside the stream"
        );
        refusal.reason
    })
}

impl Family for Judge {
    type Reason = Reason;

    const GENEROUS: u64 = GENEROUS;

    fn made(&mut self, rng: &mut Rng) -> Case {
        made::made(rng)
    }

    fn recorded(&mut self, rng: &mut Rng, recording: &Recording) -> Case {
        made::recorded(rng, recording)
    }

    fn garbage(&mut self, rng: &mut Rng) -> Case {
        made::garbage(rng)
    }

    fn other(&mut self, rng: &mut Rng, case: &Case) -> Case {
        Case {
            options: case.options,
            ..made::made(rng)
        }
    }

    fn add_object(&self, case: &mut Case) {
        case.objects.push(Object {
            size: GENEROUS,
            ..Object::default()
        });
    }

    fn reset(&mut self, case: &Case) {
        let (bench, hostile) = self.bench(case);
        hostile.reset(bench);
    }

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
        let checked = match checked(case) {
            Ok(checked) => checked,
            Err(reason) => {
                self.report.refused(reason);
                return Verdict::Refused;
            }
        };
        let Some(addresses) = place(rng, &case.objects) else {
            self.report.too_large += 1;
            return Verdict::Refused;
        };
        if let Some(fault) = changes(case, &checked) {
            return Verdict::Broken(fault);
        }
        let placed = checked.placed(&addresses);
        if let Some(fault) = engine2d(&placed, &addresses, &checked.objects) {
            return Verdict::Broken(fault);
        }
        if let Some(fault) = other_readings(&placed, &addresses, &checked.objects) {
            return Verdict::Broken(fault);
        }
        if rng.u32(..16) == 0 {
            for reading in COSTLY {
                let leaves = leaves(&placed, &addresses, &checked.objects, &[reading]);
                let name = format!("by {reading:?} would stay inside");
                self.report.share(&name, leaves.is_none());
            }
        }
        let (bench, hostile) = self.bench(case);
        bench.clear_objects();
        hostile.leave(rng, bench);
        bench.findings();
        bench.touched();
        for (object, address) in case.objects.iter().zip(&addresses) {
            let address = *address as u32;
            bench.object(address, object.size, "object");
            // Whatever is fetched from an object, indices in particular, is the client's and may be anything.
            let some = CONTENTS.len().min(object.size as usize);
            bench.put(address, &CONTENTS[..some]);
        }
        let ended = bench.execute(&placed);
        let findings = bench.findings();
        let touched = bench.touched();
        if !ended {
            hostile.reset(bench);
            return Verdict::Broken("the stream does not end".into());
        }
        self.report.executed += 1;
        for (kind, count, detail) in &findings {
            if BREAKS.contains(kind) {
                let name = kind.name();
                return Verdict::Broken(format!(
                    "{name} ({count}): {detail}; objects at {addresses:x?}"
                ));
            }
            self.report.found(*kind, *count, detail);
        }
        let mut ends = vec![None; case.objects.len()];
        for touch in &touched {
            self.report.touched(&touch.who.to_string());
            // Memory that no object holds is a finding, or the CP's own.
            let Some(number) = touch.object else {
                continue;
            };
            let access = checked.objects[number].access;
            if !(access.writes || access.reads && !touch.write) {
                return Verdict::Broken(format!("not announced: {touch:x?}"));
            }
            let end = touch.end - addresses[number];
            ends[number] = ends[number].max(Some(end));
        }
        for (object, end) in case.objects.iter().zip(ends) {
            if let Some(end) = end {
                self.report.bounds.count(end == object.size);
            }
        }
        Verdict::Fine
    }
}

/// Check that the checker changes only dwords that carry addresses or tiling bits, and addresses by fixups.
fn changes(case: &Case, checked: &Checked) -> Option<String> {
    for fixup in &checked.fixups {
        let (dword, object) = (fixup.dword as usize, fixup.object as usize);
        if dword >= case.words.len() || object >= case.objects.len() {
            return Some(format!("{fixup:?} does not exist"));
        }
    }
    None
}

/// Judge a stream that only has the 2D engine draw, also by a calculator that takes every choice which the manual
/// leaves to the hardware for the worse.
fn engine2d(placed: &[u32], addresses: &[u64], objects: &[Object]) -> Option<String> {
    let three_d = packets(placed).into_iter().any(|packet| {
        let Header::Type3 { opcode, .. } = pm4::decode(placed[packet.start]) else {
            return false;
        };
        (0x20..=0x3f).contains(&opcode)
    });
    if three_d {
        return None;
    }
    let mut fault = None;
    let mut report = |touch: Touch| {
        let object = addresses.iter().zip(objects).find(|(address, object)| {
            touch.start >= **address && touch.end <= **address + object.size
        });
        let announced = object.is_some_and(|(_, object)| {
            if touch.write {
                object.access.writes
            } else {
                object.access.reads
            }
        });
        if !announced && fault.is_none() {
            fault = Some(format!(
                "worst reading: {touch:x?} with objects at {addresses:x?}"
            ));
        }
    };
    for reading in ControlReading::ALL {
        execute(placed, reading, &mut report);
    }
    fault
}

/// Return what a stream touches outside the objects that were announced for it, if the chip works as the readings have
/// it.
fn leaves(
    placed: &[u32],
    addresses: &[u64],
    objects: &[Object],
    readings: &[Reading],
) -> Option<Touch> {
    let mut fault = None;
    readings::execute(placed, readings, &mut |touch: Touch| {
        let inside = addresses.iter().zip(objects).any(|(address, object)| {
            let access = object.access;
            touch.start >= *address
                && touch.end <= *address + object.size
                && (access.writes || access.reads && !touch.write)
        });
        if !inside {
            fault.get_or_insert(touch);
        }
    });
    fault
}

/// Check that draws stay inside by all readings that the checker allows. If they do not, say by which.
fn other_readings(placed: &[u32], addresses: &[u64], objects: &[Object]) -> Option<String> {
    let touch = leaves(placed, addresses, objects, &BORNE)?;
    let alone: Vec<_> = BORNE
        .into_iter()
        .filter(|reading| leaves(placed, addresses, objects, &[*reading]).is_some())
        .collect();
    Some(format!(
        "another reading, {alone:?} alone: {touch:x?} with objects at {addresses:x?}"
    ))
}
