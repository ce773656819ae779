// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How fast the checker is ([`lapidary_fuzz::rate`]). The streams are
//!
//! - 2D operations as an X server sends them: fills, copies, and glyphs from the CPU, each with all of its registers;
//! - host data;
//! - registers without a command in the sizes that the side-by-side comparison of the drivers uses.

// Other tests use more of it.
#[allow(dead_code)]
#[path = "../tests/checker/support.rs"]
mod support;

use std::hint::black_box;

use chrome9::portable::checker::{check, most_fixups, Fixup, Object};
use chrome9::portable::regs::mmio;
use lapidary_fuzz::rate::Bench;
use support::{base, set, Blit, Stream, BLIT, COPY, MONO, UNIT, UPLOAD};

/// Registers that are set again and again, in this order.
const STATE: [u32; 11] = [
    mmio::GEMODE,
    mmio::PITCH,
    mmio::DIMENSION,
    mmio::DSTPOS,
    mmio::KEYCONTROL,
    mmio::MONOPATFGC,
    mmio::SRCPOS,
    mmio::FGCOLOR,
    mmio::BGCOLOR,
    mmio::CLIPTL,
    mmio::CLIPBR,
];
/// A surface of 1024 x 768 pixels of 32 bits.
const SCREEN: Blit = Blit {
    bytes: 4,
    to_pitch: 4096,
    from_pitch: 4096,
    ..BLIT
};
const SCREEN_BYTES: u64 = 4096 * 768;

fn measure(bench: &Bench, name: &str, stream: &Stream) {
    let relocations = stream.relocations.concat();
    let mut objects = [Object::default(); 2].map(|object| Object {
        size: SCREEN_BYTES,
        ..object
    });
    let mut fixups = vec![Fixup::default(); most_fixups(stream.relocations.len())];
    bench.measure(name, stream.words.len(), || {
        let words = black_box(&stream.words);
        let result = check(words, &relocations, &mut objects, &mut fixups);
        black_box(result).expect("the checker lets it through");
    });
}

/// Return a stream of `dwords` dwords with `relocations` bases in between.
fn state(dwords: usize, relocations: usize) -> Stream {
    let pairs = (dwords - UNIT) / 2;
    let mut registers = STATE.iter().cycle();
    let mut all = Vec::new();
    for i in 0..relocations {
        all.push(base(mmio::DSTBASE, i as u32 % 2, 0));
        let more = pairs * (i + 1) / relocations - all.len();
        all.extend(
            registers
                .by_ref()
                .take(more)
                .map(|&register| set(register, 0)),
        );
    }
    let mut stream = Stream::new();
    stream.pairs(&all);
    stream
}

/// Return a stream that draws windows: a frame of rectangles, pictures from another surface, and lines of text, a glyph of
/// 8 by 13 pixels each.
fn desktop() -> Stream {
    let mut stream = Stream::new();
    for window in 0..8 {
        let (x, y) = (40 * window, 24 * window);
        for edge in 0..6 {
            let fill = Blit {
                size: (300 - 2 * edge, 200 - 2 * edge),
                to: (x + edge, y + edge),
                ..SCREEN
            };
            stream.pairs(&fill.pairs());
        }
        for icon in 0..12 {
            let copy = Blit {
                command: COPY,
                size: (16, 16),
                from: (0, 16 * icon),
                to: (x + 8, y + 20 + 14 * icon),
                ..SCREEN
            };
            stream.pairs(&copy.pairs());
        }
        for glyph in 0..60 {
            let (column, row) = (glyph % 20, glyph / 20);
            let text = Blit {
                command: MONO,
                size: (8, 13),
                to: (x + 80 + 8 * column, y + 20 + 14 * row),
                ..SCREEN
            };
            // Rows of 32 bits.
            stream.pairs(&text.pairs()).host(0, &[glyph; 13]);
        }
    }
    stream
}

/// Return a picture of 256 by 256 pixels, by host data.
fn host_data() -> Stream {
    let picture = Blit {
        command: UPLOAD,
        size: (256, 256),
        to: (0, 0),
        ..SCREEN
    };
    let mut stream = picture.stream();
    stream.host(0, &vec![0; 256 * 256]);
    stream
}

fn main() {
    let bench = &Bench::from_arguments();
    measure(bench, "2D desktop", &desktop());
    measure(bench, "2D host data", &host_data());
    for (dwords, relocations) in [(8, 1), (500, 2), (4096, 64), (16384, 512)] {
        let name = format!("state {dwords}/{relocations}");
        measure(bench, &name, &state(dwords, relocations));
    }
}
