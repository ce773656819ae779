// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The judge of a submission: the checker, then, if that admits it, the model.
//!
//! The model executes the stream with the objects at scattered places, and with the registers as hostile as another client can
//! leave them. It computes every byte that its units touch from its own reading of the database. None may lie outside the
//! objects that are announced, none may be written that is announced as read, and no other finding may come.
//!
//! Some streams are executed twice, after different clients. What is in the objects then must be the same.

use chrome9::portable::checker::{Object, Reason};
use chrome9::portable::emit::Location;
use chrome9::portable::place::Place;
use chrome9::portable::regs::{
    enums::rt_format,
    mmio,
    para_01::{self, z_3},
    para_02_stage::texture_control_1,
};
use fastrand::Rng;
use lapidary_fuzz::place::{scatter, CONTENTS, PAGE};
use lapidary_fuzz::{Family, Report, Verdict};
use lapidary_model::chip::Chip;
use lapidary_model_chrome9::kind::OUTSIDE_OBJECTS;
use lapidary_streams::Recording;

use crate::bench::{Bench, KERNEL};
use crate::grammar::{describe, split};
use crate::scene::{self, generous, Case, GENEROUS};
use crate::scene3d::{attribute, Scene, Texture, TEXTURE, TILED_16};
use crate::support::{point, run, Checked, Stream};
use crate::video;

/// Memory of a bench.
const VRAM: u64 = 12 << 20;
/// Another client's memory.
const FOREIGN: u64 = KERNEL;
const FOREIGN_BYTES: u64 = 1 << 20;
/// Objects lie behind it, on both sides of this.
const MIDDLE: u64 = 7 << 20;
/// The most dwords of a stream that the bench has room for.
const MOST_DWORDS: usize = 0x2_0000;

/// What the model counts.
const COUNTERS: [&str; 5] = ["fills", "copies", "uploads", "primitives", "hqv_pictures"];

/// Return the registers of the 2D engine as another client can leave them: bases in its memory, and sizes as large as can
/// be, or anything.
fn left(rng: &mut Rng) -> [(u32, u32); 13] {
    let any = rng.bool();
    let mut value = |worst: u32| if any { rng.u32(..) } else { worst };
    [
        (mmio::GEMODE, value(0x300)),
        (mmio::PITCH, value(0x07ff_07ff)),
        (mmio::DIMENSION, value(0x0fff_0fff)),
        (mmio::DSTPOS, value(point(0xfff, 0xfff))),
        (mmio::SRCPOS, value(point(0xfff, 0xfff))),
        (mmio::DSTBASE, value(FOREIGN as u32 / 8)),
        (mmio::SRCBASE, value(FOREIGN as u32 / 8)),
        (mmio::CLIPTL, value(0)),
        (mmio::CLIPBR, value(u32::MAX)),
        (mmio::KEYCONTROL, value(u32::MAX)),
        (mmio::FGCOLOR, value(0x1111_1111)),
        (mmio::BGCOLOR, value(0x2222_2222)),
        (mmio::MONOPATFGC, value(0x3333_3333)),
    ]
}

/// Return the state of the 3D engine as another client can leave it: everything is on, and every address is in its memory.
fn left_3d() -> Vec<u32> {
    let mut scene = Scene::default();
    let place = (0, 0);
    scene
        .window(2048, 2048)
        .depth(place, z_3::format::Z24S8_ASSUMED, 0x3ff)
        .stencil(place)
        .coarse(place, 0x1ff)
        .shader(&Texture {
            at: place,
            kind: texture_control_1::kind::CUBE,
            size: (2048, 2048),
            last: 8,
            ..TEXTURE
        })
        .indexed(place, 0xff, 0x00ff_ffff, true);
    for number in 0..4 {
        scene.target(number, place, rt_format::ARGB8888, 0x3ff, TILED_16);
    }
    scene.also(attribute(para_01::ENABLE_2), 0x0000_e27f);
    let mut stream = Stream::new();
    scene.state(&mut stream);
    let object = Object {
        size: 1 << 32,
        ..Object::default()
    };
    let checked = run(&stream.words, &stream.relocations, &[object]);
    let checked = checked.expect("state may be anything");
    let place = Place {
        location: Location::FrameBuffer,
        address: FOREIGN as u32,
    };
    checked
        .placed(&stream.words, &[place])
        .expect("addresses fit")
}

/// Both sides.
pub struct Judge {
    bench: Bench,
    /// What another client leaves in the 3D engine.
    foreign: Vec<u32>,
    report: Report<Reason>,
}

/// An admitted stream, ready to be executed.
struct Ready<'a> {
    checked: &'a Checked,
    placed: Vec<u32>,
    places: Vec<u64>,
}

impl Judge {
    pub fn new() -> Self {
        Self {
            bench: Bench::new(VRAM),
            foreign: left_3d(),
            report: Report::default(),
        }
    }

    /// Put contents into the objects, and what another client leaves into the registers.
    fn prepare(&mut self, rng: &mut Rng, ready: &Ready<'_>) {
        for (object, place) in ready.checked.objects.iter().zip(&ready.places) {
            let mut bytes = CONTENTS.repeat(object.size as usize / CONTENTS.len() + 1);
            bytes.truncate(object.size as usize);
            assert!(self.bench.m.vram.write(*place, &bytes));
        }
        if rng.u32(..4) == 0 {
            assert!(self.bench.execute(&self.foreign));
            assert!(self.bench.findings().is_empty());
        }
        let Bench { chip, m, .. } = &mut self.bench;
        let video = video::left(rng, FOREIGN as u32);
        for (register, value) in left(rng).into_iter().chain(video) {
            chip.write(m, register, value, u32::MAX);
        }
    }

    /// Declare the objects that are announced, the one with that number a byte too small.
    fn declare(&mut self, ready: &Ready<'_>, short: Option<usize>) {
        self.bench.m.objects.clear();
        // With none declared, everything would be allowed.
        self.bench.object(0, 0);
        for (i, (object, place)) in ready.checked.objects.iter().zip(&ready.places).enumerate() {
            if object.access.reads || object.access.writes {
                let size = object.size - u64::from(short == Some(i));
                self.bench.object(*place, size);
            }
        }
    }

    /// Return what is in the objects.
    fn contents(&self, ready: &Ready<'_>) -> Vec<Vec<u8>> {
        let objects = ready.checked.objects.iter().zip(&ready.places);
        objects
            .map(|(object, place)| {
                let mut bytes = vec![0; object.size as usize];
                assert!(self.bench.m.vram.read(*place, &mut bytes));
                bytes
            })
            .collect()
    }

    /// Execute a stream, and say what is wrong.
    fn execute(&mut self, ready: &Ready<'_>) -> Option<String> {
        let ended = self.bench.execute(&ready.placed);
        let findings = self.bench.findings();
        if let Some(finding) = findings.first() {
            return Some(format!(
                "{} ({}): {}; objects at {:x?}",
                finding.kind.name(),
                finding.count,
                finding.detail,
                ready.places
            ));
        }
        (!ended).then(|| "the stream does not end".into())
    }

    /// Judge an admitted stream. Return what is wrong.
    fn judged(&mut self, rng: &mut Rng, ready: &Ready<'_>) -> Option<String> {
        self.declare(ready, None);
        self.prepare(rng, ready);
        let before = COUNTERS.map(|name| self.bench.m.counters.get(name));
        if let Some(fault) = self.execute(ready) {
            return Some(fault);
        }
        self.report.executed += 1;
        for (name, before) in COUNTERS.iter().zip(before) {
            if self.bench.m.counters.get(name) != before {
                self.report.touched(name);
            }
        }
        let after = self.contents(ready);
        for (i, (object, after)) in ready.checked.objects.iter().zip(&after).enumerate() {
            let same = after
                .iter()
                .enumerate()
                .all(|(i, byte)| *byte == CONTENTS[i % CONTENTS.len()]);
            if !object.access.writes && !same {
                return Some(format!("not announced: object {i} is written"));
            }
        }
        if rng.u32(..4) == 0 {
            self.prepare(rng, ready);
            if let Some(fault) = self.execute(ready) {
                return Some(fault);
            }
            if self.contents(ready) != after {
                return Some("what another client has left shows".into());
            }
        }
        if rng.u32(..8) == 0 {
            self.bound(rng, ready);
        }
        None
    }

    /// Count whether an object is as small as it can be: with one byte less the model would leave it.
    fn bound(&mut self, rng: &mut Rng, ready: &Ready<'_>) {
        let number = rng.usize(..ready.places.len());
        let Object { size, access, .. } = ready.checked.objects[number];
        if size == 0 || !access.reads && !access.writes {
            return;
        }
        self.declare(ready, Some(number));
        self.bench.execute(&ready.placed);
        let findings = self.bench.findings();
        let outside = findings.iter().any(|f| f.kind == OUTSIDE_OBJECTS);
        self.report.bounds.count(outside);
    }
}

/// Return whether the checker admits a submission, and how.
fn checked(case: &Case) -> Result<(Vec<u32>, Checked), Reason> {
    let split = split(&case.words);
    match run(&split.words, &split.relocations, &case.objects) {
        Ok(checked) => Ok((split.words, checked)),
        Err(refusal) => {
            let positions = if refusal.reason.of_relocation() {
                split.relocations.len()
            } else {
                split.words.len() + 1
            };
            assert!(
                (refusal.position as usize) < positions,
                "{refusal:?} lies outside the submission"
            );
            Err(refusal.reason)
        }
    }
}

impl Family for Judge {
    type Reason = Reason;

    const GENEROUS: u64 = GENEROUS;

    fn made(&mut self, rng: &mut Rng) -> Case {
        scene::made(rng)
    }

    /// Make a stream: nothing public records any.
    fn recorded(&mut self, rng: &mut Rng, _: &Recording) -> Case {
        scene::made(rng)
    }

    fn garbage(&mut self, rng: &mut Rng) -> Case {
        scene::garbage(rng)
    }

    fn other(&mut self, rng: &mut Rng, _: &Case) -> Case {
        scene::made(rng)
    }

    fn add_object(&self, case: &mut Case) {
        case.objects.push(generous());
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
        let (words, checked) = match checked(case) {
            Ok(admitted) => admitted,
            Err(reason) => {
                self.report.refused(reason);
                return Verdict::Refused;
            }
        };
        let windows = [(FOREIGN + FOREIGN_BYTES, MIDDLE), (MIDDLE, VRAM)];
        let sizes = checked.objects.iter().map(|object| (object.size, PAGE));
        let Some(places) = scatter(rng, windows, sizes).filter(|_| words.len() <= MOST_DWORDS)
        else {
            self.report.too_large += 1;
            return Verdict::Refused;
        };
        let by_address = |address: &u64| Place {
            location: Location::FrameBuffer,
            address: *address as u32,
        };
        let known: Vec<Place> = places.iter().map(by_address).collect();
        let Some(placed) = checked.placed(&words, &known) else {
            return Verdict::Broken("an address does not fit".into());
        };
        let ready = Ready {
            checked: &checked,
            placed,
            places,
        };
        match self.judged(rng, &ready) {
            Some(fault) => {
                // Nothing of it may be left for the next one.
                self.bench = Bench::new(VRAM);
                Verdict::Broken(fault)
            }
            None => Verdict::Fine,
        }
    }
}
