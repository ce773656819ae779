// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where streams come from: made as clients make them, recorded, or of packets with any contents.

use fastrand::Rng;
use lapidary_streams::Recording;
use r500::portable::{
    checker::{Chip, Object, Options},
    pm4,
};

use crate::{
    scene::{begin, facts, finish, options, pick, rarely, Case},
    state::WRITABLE,
    three_d, two_d,
};

/// Make a stream as a client makes it.
pub fn made(rng: &mut Rng) -> Case {
    let mut scene = begin(rng);
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
    finish(scene)
}

/// Return what a real program has sent, to the driver of an RV515 mostly, which let it use everything.
pub fn recorded(rng: &mut Rng, recording: &Recording) -> Case {
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

/// Make packets with any contents, most of them for registers that may be written.
pub fn garbage(rng: &mut Rng) -> Case {
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
