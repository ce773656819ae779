// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A chip that executes streams as the driver has it do that: each is called by a branch from a ring, with a fence behind.

use chrome9::portable::emit::{self, Location, PAD};
use chrome9::portable::ring::{Ring, BLOCK};
use lapidary::portable::sink::SliceSink;
use lapidary_model::chip::{Chip, Step};
use lapidary_model::judge::Finding;
use lapidary_model::machine::{Machine, Object, SPACE};
use lapidary_model_chrome9::{bench, Chrome9};
use lapidary_registers::chrome9::mmio;

/// Memory that is nobody's object: ring and stream.
pub const KERNEL: u64 = 1 << 20;
const RING: u32 = 0;
const RING_BYTES: u32 = 0x1000;
/// Where streams lie.
const STREAM: u32 = 0x2000;
/// Where guest RAM lies on the bus, and fences are written.
const RAM: u64 = 0x1_2340_0000;
/// Steps until a stream counts as endless.
const STEPS: usize = 1 << 24;

/// The chip.
pub struct Bench {
    pub chip: Chrome9,
    pub m: Machine,
    ring: Ring,
    started: bool,
    number: u32,
}

impl Bench {
    /// Return a chip with that much memory, of which the first [`KERNEL`] bytes are in use.
    pub fn new(vram: u64) -> Self {
        let (chip, mut m) = bench::chip(vram);
        m.functions[0].ram.map_anonymous(RAM, 0x1000).unwrap();
        Self {
            chip,
            m,
            ring: Ring::new(RING, RING_BYTES, Location::FrameBuffer).unwrap(),
            started: false,
            number: 0,
        }
    }

    /// Declare an object to the judge.
    pub fn object(&mut self, start: u64, len: u64) {
        self.m.objects.push(Object {
            space: SPACE,
            start,
            len,
            name: "object".into(),
        });
    }

    fn put(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(self.m.vram.write(at.into(), &bytes));
    }

    /// Let the chip work. Return false if it does not end.
    fn steps(&mut self) -> bool {
        (0..STEPS).any(|_| self.chip.step(&mut self.m) != Step::More)
    }

    /// Execute a stream. Return whether its fence has been reached.
    pub fn execute(&mut self, words: &[u32]) -> bool {
        self.put(STREAM, words);
        let block = self.ring.reserve(BLOCK / 4).expect("the ring is idle");
        self.put(
            RING + block.skipped_at,
            &vec![PAD; block.skipped as usize / 4],
        );
        self.number += 1;
        let mut ring = vec![PAD; block.bytes as usize / 4];
        let bytes = 4 * words.len() as u32;
        let (call, fence) = ring.split_at_mut(block.bytes as usize / 4 - emit::FENCE_DWORDS);
        if bytes != 0 {
            let address = STREAM.into();
            emit::branch(
                &mut SliceSink::new(call),
                address,
                bytes,
                Location::FrameBuffer,
            )
            .expect("a stream fits");
        }
        emit::fence(&mut SliceSink::new(fence), RAM, self.number).unwrap();
        self.put(RING + block.at, &ring);
        let parameters = if self.started {
            self.ring.kick(&block).to_vec()
        } else {
            self.ring.start(&block).to_vec()
        };
        self.started = true;
        self.chip
            .write(&mut self.m, mmio::CR_SETTING, 0x10 << 16, u32::MAX);
        for parameter in parameters {
            self.chip
                .write(&mut self.m, mmio::CR_SPACE.base(), parameter, u32::MAX);
        }
        let ended = self.steps();
        self.ring.retire(block.end);
        let mut done = [0; 4];
        assert!(self.m.functions[0].ram.read(RAM, &mut done));
        ended && u32::from_le_bytes(done) == self.number && !self.chip.busy()
    }

    /// Take what the judge has found.
    pub fn findings(&mut self) -> Vec<Finding> {
        self.m.judge.take()
    }
}
