// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The model's side: chips on the bench, and what a stream does to them.

use fastrand::Rng;
use lapidary::portable::sink::SliceSink;
use lapidary_fuzz::place::{scatter, CONTENTS};
use lapidary_model_r600::{
    bench::{Bench, By, Checkpoint, Client, Touch},
    kind::{self, Kind},
};
use lapidary_registers::r600::mmio;
use r600::portable::{checker::Object, neutral};

use crate::{chips::Variant, scene::Ring, state::WRITABLE};

/// Findings that mean that a stream has left its objects, or has got the chip to do what only the kernel may.
const BREAKS: &[Kind] = &[
    kind::OUTSIDE_OBJECTS,
    kind::ADDRESS_UNMAPPED,
    kind::VM_FAULT,
    kind::VM_TABLE,
    kind::VM_MOVED,
    kind::MC_BUSY,
    kind::UNDEFINED_PACKET,
    kind::PACKET_CROSSES_BUFFER,
    kind::PACKET_LENGTH,
    kind::SET_RANGE,
    kind::IB_NESTING,
    kind::RING_POINTER,
    kind::RING_RECONFIGURED,
    kind::HOST_PATH_MISMATCH,
];

/// VRAM of a bench.
const VRAM: u64 = 256 << 20;
/// The first part of VRAM belongs to another client.
const FOREIGN: u64 = 8 << 20;
/// The driver's empty program, with which all shaders start in the neutral state.
const PROGRAM: u64 = 1 << 20;
/// Bytes of it.
const PROGRAM_LEN: u64 = 4 * neutral::PROGRAM_DWORDS as u64;
/// A stream with its objects in their places.
pub struct Placed {
    pub ring: Ring,
    pub words: Vec<u32>,
}

/// A chip that is ready, and its state when another client's commands begin.
pub struct Model {
    bench: Bench,
    neutral: Checkpoint,
    /// The driver's commands that make the chip neutral.
    words: Vec<u32>,
}

impl Model {
    pub fn new(chip: &Variant) -> Self {
        let mut bench = Bench::with_vram(chip.name, VRAM).expect("a bench can be set up");
        // From now on it keeps the journal.
        bench.touched();
        // All that clients can have left, and more.
        for register in WRITABLE.iter() {
            bench.write(*register, u32::MAX);
        }
        for (array, dwords) in [
            (mmio::SQ_TEX_RESOURCE_WORD0, 7),
            (mmio::SQ_TEX_SAMPLER_WORD0, 3),
        ] {
            for first in (0..array.len()).filter_map(|n| array.at(n)) {
                for dword in 0..dwords {
                    bench.write(first + 4 * dword, u32::MAX);
                }
            }
        }
        let program: Vec<u8> = neutral::PROGRAM
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        bench.put(PROGRAM, &program);
        let mut words = vec![0; neutral::DWORDS];
        let mut sink = SliceSink::new(&mut words);
        let (generation, base_update) = (chip.checker.generation, chip.checker.base_update);
        neutral::emit(&mut sink, generation, base_update, PROGRAM).expect("there is room");
        let length = sink.written();
        words.truncate(length);
        assert!(bench.execute(&words), "the neutral commands end");
        bench.findings();
        let neutral = bench.checkpoint();
        Self {
            bench,
            neutral,
            words,
        }
    }
}

/// Scatter objects, each with a size and an alignment, over VRAM and system memory. `None` if they do not fit.
pub fn places(rng: &mut Rng, objects: impl Iterator<Item = (u64, u64)>) -> Option<Vec<u64>> {
    let windows = [
        (FOREIGN, VRAM - (1 << 20)),
        (Bench::GTT, Bench::GTT + Bench::GTT_LEN),
    ];
    scatter(rng, windows, objects)
}

/// What a stream has done, as far as it may.
#[derive(Default)]
pub struct Done {
    /// Whether it has come to an end.
    pub ended: bool,
    /// Findings that are no breaks.
    pub findings: Vec<(Kind, u64, String)>,
    /// What it has touched: what the unit is called, which object, up to which byte.
    pub touched: Vec<(String, usize, u64)>,
}

impl Model {
    /// Set the chip to the neutral state, with objects at their addresses.
    pub fn begin(&mut self, objects: &[Object], addresses: &[u64]) {
        let bench = &mut self.bench;
        bench.clear_objects();
        bench.restore(&self.neutral);
        bench.object(PROGRAM, PROGRAM_LEN, "the driver's program");
        for (object, address) in objects.iter().zip(addresses) {
            bench.object(*address, object.size, "object");
            // Whatever is fetched from an object, indices in particular, is the client's and may be anything.
            let some = CONTENTS.len().min(object.size as usize);
            bench.put(*address, &CONTENTS[..some]);
        }
    }

    /// Execute what the driver executes before the stream of another client.
    ///
    /// # Errors
    /// A text for people: it does not end, or touches memory.
    pub fn neutralise(&mut self) -> Result<(), String> {
        if !self.bench.execute(&self.words) {
            return Err("the neutral commands do not end".into());
        }
        self.bench.findings();
        match self.bench.touched().first() {
            Some(touch) => Err(format!("the neutral commands (): {touch:x?}")),
            None => Ok(()),
        }
    }

    /// Execute a stream that may use the first of the objects that [`begin`](Self::begin) was told of.
    ///
    /// # Errors
    /// A text for people: the stream does what it must not.
    pub fn execute(
        &mut self,
        stream: &Placed,
        objects: &[Object],
        addresses: &[u64],
    ) -> Result<Done, String> {
        let mut done = Done {
            ended: run(&mut self.bench, stream),
            ..Done::default()
        };
        for (kind, count, detail) in self.bench.findings() {
            if BREAKS.contains(&kind) {
                let name = kind.name();
                return Err(format!(
                    "{name} ({count}): {detail}; objects at {addresses:x?}"
                ));
            }
            done.findings.push((kind, count, detail));
        }
        for touch in self.bench.touched() {
            let program = matches!(touch.who.by, By::Client(Client::Program(_)));
            if touch.object == Some(0) && program && !touch.write {
                continue;
            }
            let number = touch.object.and_then(|number| number.checked_sub(1));
            let inside = number.filter(|number| {
                let Some((object, start)) = objects.get(*number).zip(addresses.get(*number)) else {
                    return false;
                };
                let access = object.access;
                let allowed = access.writes || access.reads && !touch.write;
                allowed && *start <= touch.start && touch.end <= start + object.size
            });
            let name = name(&touch);
            let Some(number) = inside else {
                return Err(format!(
                    "not announced ({name}): {touch:x?}; objects at {addresses:x?}"
                ));
            };
            done.touched
                .push((name, number, touch.end - addresses[number]));
        }
        Ok(done)
    }
}

/// Execute a stream to its end. False if it waits for what does not come.
fn run(bench: &mut Bench, stream: &Placed) -> bool {
    match stream.ring {
        Ring::Gfx => bench.execute(&stream.words),
        Ring::Dma => {
            let base = bench.dma_buffer(&stream.words);
            // The packet ends at a multiple of eight dwords.
            let fillers = (5 + 8 - bench.dma_position() % 8) % 8;
            let mut words = vec![0xf000_0000; fillers as usize];
            let length = (stream.words.len() as u32) << 16;
            words.extend([0x4000_0000, base as u32, (base >> 32) as u32 | length]);
            bench.dma(&words)
        }
    }
}

/// Return what a unit is called in the report, without the numbers of slots.
fn name(touch: &Touch) -> String {
    match touch.who.by {
        By::Client(Client::Cmask(_)) => "CMASK".into(),
        By::Client(Client::Fmask(_)) => "FMASK".into(),
        other => other.to_string(),
    }
}
