// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams of random blits, executed by the model and drawn by the CPU: every byte is equal.
//!
//! The two readings of the register descriptions were written apart. There is no driver here: the test puts objects at
//! addresses of its own, writes the addresses where the relocations are, and lets the regulator fetch the stream.

use fastrand::Rng;
use lapidary_chrome9_client::blit::{
    Blit, Depth, Keys, Padding, Rect, Source, Surface, needs_source,
};
use lapidary_chrome9_client::reference::{self, Memory};
use lapidary_chrome9_client::{Stream, emit, stream};
use lapidary_model::chip::{Chip, Step};
use lapidary_model::machine::Machine;
use lapidary_model_chrome9::{Chrome9, bench};
use lapidary_registers::chrome9::enums::{location, para_type};
use lapidary_registers::chrome9::mmio::{self, cr_setting, dstbase};
use lapidary_registers::chrome9::para_10::{self, agp_control, agp_pause_high, agp_start_low};

const VRAM: u64 = 8 << 20;
/// Where streams are.
const RING: u32 = 0x10_0000;
/// Where objects are, and how far apart.
const OBJECTS: u32 = 0x40_0000;
const APART: u32 = 0x2_0000;
/// Bytes of an object.
const BYTES: usize = 0x4000;
/// Dwords of a block, at whose end the fetch may end.
const BLOCK: usize = 32;
/// Blits of a stream, and streams of a test.
const BLITS: usize = 8;
const STREAMS: usize = 150;

struct Bench {
    chip: Chrome9,
    m: Machine,
}

impl Bench {
    fn new() -> Bench {
        let (chip, m) = bench::chip(VRAM);
        Bench { chip, m }
    }

    fn address(object: u32) -> u32 {
        OBJECTS + object * APART
    }

    fn load(&mut self, memory: &Memory) {
        for (object, bytes) in memory.iter().enumerate() {
            let at = Bench::address(object as u32).into();
            assert!(self.m.vram.write(at, bytes));
        }
    }

    fn store(&self) -> Memory {
        let object = |object| {
            let mut bytes = vec![0; BYTES];
            let at = Bench::address(object).into();
            assert!(self.m.vram.read(at, &mut bytes));
            bytes
        };
        (0..2).map(object).collect()
    }

    /// Write parameters of type 10h.
    fn parameters(&mut self, values: &[(u32, u32)]) {
        let setting = cr_setting::HPARATYPE.of(para_type::REGULATOR);
        self.chip
            .write(&mut self.m, mmio::CR_SETTING, setting, u32::MAX);
        let space = mmio::CR_SPACE.at(0).unwrap();
        for &(parameter, value) in values {
            let word = (parameter << 24) | (value & 0xff_ffff);
            self.chip.write(&mut self.m, space, word, u32::MAX);
        }
    }

    /// Execute a stream, whose objects are called 0 and 1.
    fn execute(&mut self, stream: &Stream) {
        let mut words = stream.words().to_vec();
        for relocation in stream.relocations() {
            let handle = stream.objects()[relocation.object as usize].handle;
            let address = Bench::address(handle) + relocation.offset;
            let word = &mut words[relocation.dword as usize];
            assert_eq!(dstbase::ADDRESS.get(*word), 0, "address bits");
            *word = dstbase::ADDRESS.put(*word, address / 8);
        }
        words.resize(words.len().next_multiple_of(BLOCK), stream::NULL);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(self.m.vram.write(RING.into(), &bytes));
        let end = RING + bytes.len() as u32;
        let pause = end - 16;
        self.parameters(&[
            (
                para_10::AGP_START_LOW,
                RING | agp_start_low::LOCATION.of(location::SYSTEM_LOCAL),
            ),
            (para_10::AGP_START_HIGH, RING >> 24),
            (para_10::AGP_END_LOW, end),
            (para_10::AGP_END_HIGH, end >> 24),
            (para_10::AGP_JUMP_LOW, u32::MAX << 4),
            (para_10::AGP_JUMP_HIGH, 0xff),
            (para_10::AGP_PAUSE_LOW, pause),
            (
                para_10::AGP_PAUSE_HIGH,
                (pause >> 24) | agp_pause_high::PAUSE_ID.of(agp_pause_high::pause_id::STOP),
            ),
            (para_10::AGP_CONTROL, agp_control::TRIGGER.mask()),
        ]);
        while self.chip.step(&mut self.m) == Step::More {}
        assert!(!self.chip.busy(), "something is left");
        let findings = self.m.judge.take();
        assert!(findings.is_empty(), "{findings:?}");
    }
}

/// Return a random blit whose pixels are in objects of [`BYTES`] bytes.
fn random(rng: &mut Rng) -> Blit {
    let depth = rng.choice(Depth::ALL).unwrap();
    let surface = |rng: &mut Rng| Surface {
        object: rng.usize(0..2),
        offset: rng.u32(0..64) * 8,
        pitch: 8 * rng.u32(16..32),
    };
    // The smallest pitch has 128 bytes, which are 32 pixels of 32 bits; 60 rows of the longest one are in an object.
    let (width, height) = (rng.u32(1..=20), rng.u32(1..=20));
    let at = |rng: &mut Rng| (rng.u32(0..=12), rng.u32(0..=40));
    let target = surface(rng);
    let (x, y) = at(rng);
    let rect = Rect::new(x, y, width, height);
    let count = (width * height) as usize;
    // Few values, so that keys meet their colours.
    let colour = |rng: &mut Rng| {
        rng.choice([0, 1, 0x55aa_55aa, 0xff00_ff00, u32::MAX])
            .unwrap()
    };
    let mut blit = match rng.u8(0..5) {
        0 => Blit::fill(depth, target, rect, 0),
        1 => Blit::copy(depth, target, rect, target, at(rng)),
        2 => {
            let mut from = surface(rng);
            from.object = 1 - target.object;
            let mut copy = Blit::copy(depth, target, rect, from, at(rng));
            (copy.leftwards, copy.upwards) = (rng.bool(), rng.bool());
            copy
        }
        3 => {
            let bits = (0..count).map(|_| rng.bool()).collect();
            let zeroes = rng.bool().then(|| colour(rng));
            let mut mono = Blit::mono(depth, target, rect, bits, colour(rng), zeroes);
            if let Source::Mono { padding, .. } = &mut mono.source {
                *padding = rng.choice(Padding::ALL).unwrap();
            }
            mono
        }
        _ => {
            let pixels = (0..count).map(|_| colour(rng)).collect();
            Blit::upload(depth, target, rect, pixels)
        }
    };
    blit.pattern = colour(rng);
    let any = rng.u8(..);
    if rng.bool() && needs_source(any) == (blit.source != Source::None) {
        blit.rop = any;
    }
    if rng.bool() {
        let clip = Rect::new(
            rng.u32(0..20),
            rng.u32(0..40),
            rng.u32(1..20),
            rng.u32(1..20),
        );
        blit.clip = Some(clip);
    }
    if rng.u8(0..3) == 0 {
        blit.kept = rng.u32(0..16);
    }
    if !matches!(blit.source, Source::Mono { .. }) {
        blit.keys = Keys {
            source: (blit.source != Source::None && rng.bool()).then(|| colour(rng)),
            destination: rng.bool().then(|| colour(rng)),
            inverted: rng.bool(),
        };
    }
    blit
}

#[test]
fn the_model_and_the_cpu_draw_the_same() {
    let mut rng = Rng::with_seed(9);
    let mut bench = Bench::new();
    let mut changed = 0;
    for round in 0..STREAMS {
        let mut memory: Memory = (0..2)
            .map(|_| {
                (0..BYTES)
                    .map(|_| rng.choice([0, 1, 0x55, 0xaa, 0xff]).unwrap())
                    .collect()
            })
            .collect();
        bench.load(&memory);
        let blits: Vec<Blit> = (0..BLITS).map(|_| random(&mut rng)).collect();
        let mut stream = Stream::new();
        for blit in &blits {
            emit::blit(&mut stream, &[0, 1], blit);
            let before = memory.clone();
            reference::draw(&mut memory, blit);
            changed += usize::from(memory != before);
        }
        bench.execute(&stream);
        let seen = bench.store();
        for (object, (seen, expected)) in seen.iter().zip(&memory).enumerate() {
            let differs = seen.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!(differs, None, "round {round}, object {object}: {blits:#x?}");
        }
    }
    // What changes nothing shows nothing.
    assert!(
        changed > STREAMS * BLITS / 2,
        "{changed} blits changed something"
    );
    for counter in ["fills", "copies", "uploads"] {
        let mut counters = bench.m.counters.all();
        let count = counters.find(|(name, _)| *name == counter);
        assert!(count.is_some_and(|(_, n)| n > 100), "{counter}: {count:?}");
    }
}
