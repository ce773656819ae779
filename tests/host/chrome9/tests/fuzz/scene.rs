// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Submissions: what one is, and how a client makes one.

use chrome9::portable::checker::Object;
use chrome9::portable::emit::PAD;
use chrome9::portable::regs::{header, mmio};
use fastrand::Rng;
pub use lapidary_fuzz::chance::{extent, pick, rarely};

use crate::grammar::marked_stream;
use crate::support::{head, set, Stream, UNIT};
use crate::{three_d, two_d, video};

/// Size of objects before they are cut.
pub const GENEROUS: u64 = 1 << 20;
/// The most objects of a submission.
const MOST_OBJECTS: u32 = 3;

/// A submission.
#[derive(Clone, Debug)]
pub struct Case {
    /// The stream, with relocations in it ([`crate::grammar`]).
    pub words: Vec<u32>,
    pub objects: Vec<Object>,
}

/// Return an object that is larger than anything needs.
pub fn generous() -> Object {
    Object {
        size: GENEROUS,
        ..Object::default()
    }
}

/// Return a dword without effect.
fn null(rng: &mut Rng) -> u32 {
    pick(
        rng,
        &[PAD, 0xcccc_ccc0, 0xcd00_0000, 0xdddd_0000, 0xee00_0001],
    )
}

/// Append what has no effect.
fn padding(rng: &mut Rng, stream: &mut Stream) {
    let window = match rng.u32(..3) {
        0 => {
            let wait = pick(rng, &[0, 0x0040_0000, 0x0080_0000, 0xc0c0_0000]);
            stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, wait)]);
            None
        }
        1 => Some((mmio::CR_SPACE.at(0), mmio::CR_SETTING)),
        _ => Some((mmio::SPACE_3D.at(0), mmio::SETTING_3D)),
    };
    if let Some((Some(space), setting)) = window {
        let first = head(header::PARAMETERS, space);
        stream.words(&[first, setting, 0x0030_0000, PAD]);
    }
    for _ in 0..rng.usize(..3) * UNIT {
        let word = null(rng);
        stream.words(&[word]);
    }
}

/// Make a stream as a client makes it.
pub fn made(rng: &mut Rng) -> Case {
    let objects = vec![generous(); rng.usize(1..=MOST_OBJECTS as usize)];
    let mut stream = Stream::new();
    for _ in 0..rng.u32(1..4) {
        if rarely(rng, 3) {
            padding(rng, &mut stream);
        }
        let objects = objects.len() as u32;
        match rng.u32(..5) {
            0..=1 => two_d::add(rng, &mut stream, objects),
            2..=3 => three_d::add(rng, &mut stream, objects),
            _ => video::add(rng, &mut stream, objects),
        }
    }
    Case {
        words: marked_stream(&stream),
        objects,
    }
}

/// Make headers with any contents.
pub fn garbage(rng: &mut Rng) -> Case {
    let mut stream = Stream::new();
    for _ in 0..rng.u32(..12) {
        match rng.u32(..8) {
            0 => {
                let words = [0; UNIT].map(|_| rng.u32(..));
                stream.words(&words);
            }
            1 => {
                let code = pick(rng, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 0x82, 0x83, 0x84]);
                let setting = rng.u32(..0x40) << 16;
                let first = pick(rng, &[mmio::CR_SETTING, mmio::SETTING_3D, 0x294, 0x8000, 3]);
                let address = pick(rng, &[0, 4, 0x420, 0x440, 0x43c]);
                stream.words(&[head(code, address), first, setting, null(rng)]);
            }
            2 => padding(rng, &mut stream),
            3 => {
                let register = 0x2358 + 0x1000 * rng.u32(..2) + 4 * rng.u32(..0x30);
                let value = rng.u32(..) >> rng.u32(..32);
                stream.video(&[set(register, value)]);
            }
            _ => {
                let register = 4 * rng.u32(..0x90);
                let value = rng.u32(..) >> rng.u32(..32);
                stream.pairs(&[set(register, value)]);
            }
        }
    }
    Case {
        words: marked_stream(&stream),
        objects: vec![generous()],
    }
}
