// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The judge of a submission: the checker, then, if that lets it through, the model.
//!
//! The model executes the stream with the objects at scattered addresses, in VRAM and in the GART window,
//! and with the registers as hostile as another client can leave them. It computes every byte that its units
//! touch from its own reading of the manual; none may lie outside the objects.
//!
//! Objects are cut to the smallest size that the checker admits before the model sees them. So a bound that is too weak
//! by one byte shows, and only the two that are compared calculate what a draw needs.
//!
//! A third judge takes the answers that neither checker nor model gives to questions that the manual leaves open
//! ([`readings`]). By those that the checker bears nothing may leave the objects either; of the others it is counted
//! how many streams they would cost.

use fastrand::Rng;
use lapidary_model_r500::{
    bench::Bench,
    kind::{self, Kind},
};
use r500::portable::{
    checker::{Chip, Object},
    pm4::{self, Header},
};

use crate::{
    hostile::Hostile,
    mutate::packets,
    report::Report,
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

const PAGE: u64 = 4096;
/// VRAM of a bench.
const VRAM: u64 = 80 << 20;
/// The first part of VRAM is another client's. [`crate::hostile::FOREIGN`] lies there.
const FOREIGN: u64 = 8 << 20;

/// The first bytes of every object: large, small and odd numbers of 16 and of 32 bits.
static CONTENTS: [u8; 1024] = contents();

const fn contents() -> [u8; 1024] {
    let mut bytes = [0; 1024];
    let mut noise = 0x2545_f491u32;
    let mut i = 0;
    while i < bytes.len() {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        bytes[i] = match (i / 16) % 4 {
            0 => 0xff,
            1 if i % 4 == 0 => noise as u8,
            2 => noise as u8,
            _ => 0,
        };
        i += 1;
    }
    bytes
}

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
    let mut windows = [
        (vram + FOREIGN, vram + VRAM),
        (gart, gart + u64::from(Bench::GTT_LEN)),
    ];
    objects
        .iter()
        .map(|object| {
            let first = rng.usize(..2);
            [first, 1 - first].into_iter().find_map(|window| {
                let (start, end) = &mut windows[window];
                let address = *start + PAGE * rng.u64(1..64);
                let next = (address + object.size.max(1)).next_multiple_of(PAGE);
                (next + PAGE <= *end).then(|| {
                    *start = next;
                    address
                })
            })
        })
        .collect()
}

/// What became of a submission.
pub enum Verdict {
    /// The checker has refused it.
    Refused,
    /// It was executed and stayed inside.
    Fine,
    /// It was let through and does what it must not.
    Broken(String),
}

/// Both sides.
pub struct Judge {
    benches: Vec<(Bench, Hostile)>,
    pub report: Report,
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

    /// Everything to the state before the first stream.
    pub fn reset(&mut self, case: &Case) {
        let (bench, hostile) = self.bench(case);
        hostile.reset(bench);
    }

    fn bench(&mut self, case: &Case) -> &mut (Bench, Hostile) {
        let chip = case.options.chip;
        let number = CHIPS.iter().position(|(other, _)| *other == chip);
        &mut self.benches[number.expect("every chip has a bench")]
    }

    /// Return whether the checker lets a submission through, and how.
    fn check(&mut self, case: &Case) -> Option<Checked> {
        match run(&case.words, &case.objects, case.options) {
            Ok(checked) => Some(checked),
            Err(refusal) => {
                assert!(
                    (refusal.position as usize) < case.words.len(),
                    "{refusal:?} lies outside the stream"
                );
                self.report.refused(refusal.reason);
                None
            }
        }
    }

    /// Make every object as small as the checker allows. False if it does not let the stream through at all.
    pub fn cut(&mut self, case: &mut Case) -> bool {
        if self.check(case).is_none() {
            return false;
        }
        for i in 0..case.objects.len() {
            let (mut no, mut yes) = (0, case.objects[i].size);
            // Most objects are not used to their ends.
            let mut guess = 4096.min(yes);
            while no + 1 < yes {
                case.objects[i].size = guess;
                match run(&case.words, &case.objects, case.options) {
                    Ok(_) => yes = guess,
                    Err(refusal) => {
                        self.report.refused(refusal.reason);
                        no = guess;
                    }
                }
                guess = if yes == GENEROUS {
                    (no * 16).min((no + yes) / 2)
                } else {
                    (no + yes) / 2
                };
            }
            case.objects[i].size = yes;
        }
        true
    }

    pub fn judge(&mut self, rng: &mut Rng, case: &Case) -> Verdict {
        let Some(checked) = self.check(case) else {
            return Verdict::Refused;
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
                self.report.would_cost(reading, leaves.is_some());
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
            self.report.touched(&touch.who);
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

/// Only dwords that carry addresses or tiling bits are changed by the checker, and addresses by fixups.
fn changes(case: &Case, checked: &Checked) -> Option<String> {
    for fixup in &checked.fixups {
        let (dword, object) = (fixup.dword as usize, fixup.object as usize);
        if dword >= case.words.len() || object >= case.objects.len() {
            return Some(format!("{fixup:?} does not exist"));
        }
    }
    None
}

/// A stream that only has the 2D engine draw is also judged by a calculator that takes every choice which the
/// manual leaves to the hardware for the worse.
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
