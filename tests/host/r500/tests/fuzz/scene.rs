// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Submissions: what one is, the chips and clients that there are, and their [scenes](lapidary_fuzz::scene).

use fastrand::Rng;
pub use lapidary_fuzz::chance::{extent, pick, rarely};
use r500::portable::{
    checker::{Chip, Object, Options},
    pm4,
};

use crate::support::Stream;

/// Size of objects before they are cut.
pub const GENEROUS: u64 = 32 << 20;
/// What a piece may take of an object, so that most streams are legal.
pub const ROOM: u64 = GENEROUS - (1 << 20);

/// A submission.
#[derive(Clone, Debug)]
pub struct Case {
    pub words: Vec<u32>,
    pub objects: Vec<Object>,
    pub options: Options,
}

/// Return what the checker is told of a chip: as the model has it, with no pipe broken.
pub fn facts(chip: Chip) -> Options {
    Options {
        chip,
        pixel_pipes: match chip {
            Chip::Rv515 | Chip::Rv530 => 1,
            Chip::Rv560 => 2,
            Chip::Rv570 => 3,
            Chip::R520 | Chip::R580 => 4,
        },
        z_pipes: if chip == Chip::Rv530 { 2 } else { 1 },
        ..Options::default()
    }
}

/// Return options of any client on any chip.
pub fn options(rng: &mut Rng) -> Options {
    let chip = pick(
        rng,
        &[
            Chip::Rv515,
            Chip::R520,
            Chip::Rv530,
            Chip::Rv560,
            Chip::Rv570,
            Chip::R580,
        ],
    );
    Options {
        keep_tiling: !rarely(rng, 4),
        hyperz: rarely(rng, 4),
        cmask: rarely(rng, 4),
        ..facts(chip)
    }
}

/// The client of a scene.
pub struct Client {
    pub options: Options,
}

impl lapidary_fuzz::scene::Client for Client {
    type Object = Object;
    type Stream = Stream;

    const MOST_OBJECTS: usize = 6;
    const FILLER: u32 = pm4::FILLER;

    fn object(&self, rng: &mut Rng) -> Object {
        Object {
            tiling: if rarely(rng, 4) { rng.u32(..4) } else { 0 },
            ..self.unused()
        }
    }

    fn unused(&self) -> Object {
        Object {
            size: GENEROUS,
            ..Object::default()
        }
    }

    fn offset(&self, rng: &mut Rng, align: u32) -> u32 {
        match rng.u32(..8) {
            0..=3 => 0,
            4 => align,
            5 => align * rng.u32(..16),
            _ => rng.u32(..0x4_0000) / align * align,
        }
    }
}

impl lapidary_fuzz::scene::Stream for Stream {
    fn words(&mut self, words: &[u32]) -> &mut Self {
        self.words(words)
    }

    fn writes(&mut self, register: u32, values: &[u32]) -> &mut Self {
        self.writes(register, values)
    }

    fn into_words(self) -> Vec<u32> {
        self.words
    }
}

/// A submission in the making.
pub type Scene<'a> = lapidary_fuzz::Scene<'a, Client>;

/// Begin a submission of any client.
pub fn begin(rng: &mut Rng) -> Scene<'_> {
    let options = options(rng);
    Scene::new(rng, Client { options })
}

/// Return the submission that a scene has become.
pub fn finish(scene: Scene<'_>) -> Case {
    let (words, objects, client) = scene.finish();
    Case {
        words,
        objects,
        options: client.options,
    }
}
