// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring: its rules, and its life on the model.

use chrome9::portable::emit::{self, Location, PAD};
use chrome9::portable::ring::{Block, Ring, BLOCK};
use lapidary::portable::sink::SliceSink;
use lapidary_model::chip::{Chip, Step};
use lapidary_model::machine::Machine;
use lapidary_model_chrome9::{bench, Chrome9};
use lapidary_registers::chrome9::mmio;
use proptest::prelude::*;

const RING: u32 = 0x10_0000;
const BYTES: u32 = 0x1000;
const VRAM: u64 = 8 << 20;
/// Where guest RAM lies on the bus, and fences are written.
const RAM: u64 = 0x1_2340_0000;

fn ring() -> Ring {
    Ring::new(RING, BYTES, Location::FrameBuffer).unwrap()
}

#[test]
fn a_ring_has_whole_blocks_and_enough_of_them() {
    let new = |address, bytes| Ring::new(address, bytes, Location::Gart).is_some();
    assert!(new(0, 4 * BLOCK) && !new(0, 3 * BLOCK));
    assert!(!new(16, BYTES) && !new(0, BYTES + 16));
    assert!(new(0xffff_0000, 0xff80) && !new(0xffff_0000, 0x1_0000));
}

#[test]
fn blocks_follow_one_another_and_leave_the_last_one_free() {
    let mut ring = ring();
    let first = ring.reserve(1).unwrap();
    assert_eq!((first.at, first.bytes, first.skipped), (0, BLOCK, 0));
    let second = ring.reserve(BLOCK / 4 + 1).unwrap();
    assert_eq!((second.at, second.bytes), (BLOCK, 2 * BLOCK));
    ring.retire(second.end);
    assert!(ring.is_idle());
    // The longest has 15 of 32 blocks.
    assert_eq!(ring.reserve(15 * BLOCK / 4 + 1), None);
    let long = ring.reserve(15 * BLOCK / 4).unwrap();
    assert_eq!((long.at, long.bytes), (3 * BLOCK, ring.most()));
    let short = ring.reserve(1).unwrap();
    ring.retire(short.end);
    // 13 blocks are left, of which 12 can be used; 13 go to the start.
    let mut other = ring;
    let fits = other.reserve(12 * BLOCK / 4).unwrap();
    assert_eq!((fits.at, fits.skipped), (19 * BLOCK, 0));
    let wraps = ring.reserve(13 * BLOCK / 4).unwrap();
    assert_eq!(
        (wraps.at, wraps.skipped, wraps.skipped_at),
        (0, 13 * BLOCK, 19 * BLOCK)
    );
}

#[test]
fn a_ring_that_was_stopped_begins_anew() {
    let mut used = ring();
    let first = used.reserve(3 * BLOCK / 4).unwrap();
    used.reserve(BLOCK / 4).unwrap();
    used.retire(first.end);
    assert_eq!(used.offsets(), (4 * BLOCK, 3 * BLOCK));
    assert_eq!(used.emptied(), ring());
    assert_eq!(used.emptied().offsets(), (0, 0));
}

#[test]
fn what_is_not_done_is_not_overwritten() {
    let mut ring = ring();
    let first = ring.reserve(15 * BLOCK / 4).unwrap();
    ring.reserve(15 * BLOCK / 4).unwrap();
    let second = ring.reserve(1).unwrap();
    assert_eq!((second.at, second.skipped), (30 * BLOCK, 0));
    assert_eq!(
        ring.reserve(1),
        None,
        "the last block stays free, and the first is in use"
    );
    ring.retire(second.end + 1);
    ring.retire(u64::MAX);
    assert_eq!(ring.reserve(1), None, "no such position");
    ring.retire(first.end);
    assert!(ring.reserve(1).is_some());
    ring.retire(0);
    assert!(!ring.is_idle(), "nothing is done twice");
}

/// A chip and a driver's ring.
struct Bench {
    chip: Chrome9,
    m: Machine,
    ring: Ring,
    started: bool,
    /// Ends of blocks, by number of their fences.
    ends: Vec<u64>,
}

impl Bench {
    fn new() -> Bench {
        let (chip, mut m) = bench::chip(VRAM);
        m.functions[0].ram.map_anonymous(RAM, 0x1000).unwrap();
        Bench {
            chip,
            m,
            ring: ring(),
            started: false,
            ends: vec![0],
        }
    }

    fn put(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(self.m.vram.write((RING + at).into(), &bytes));
    }

    fn done(&self) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.m.functions[0].ram.read(RAM, &mut bytes));
        u32::from_le_bytes(bytes)
    }

    /// Write a block with a fence, as long as told, and tell the chip. Return false if there is no room.
    fn submit(&mut self, dwords: u32) -> bool {
        self.ring.retire(self.ends[self.done() as usize]);
        let Some(block) = self.ring.reserve(dwords) else {
            return false;
        };
        let Block {
            at,
            bytes,
            skipped,
            skipped_at,
            end,
        } = block;
        self.put(skipped_at, &vec![PAD; skipped as usize / 4]);
        let mut words = vec![PAD; bytes as usize / 4];
        let number = self.ends.len() as u32;
        // The fence is the end of the block.
        let (_, last) = words.split_at_mut(bytes as usize / 4 - emit::FENCE_DWORDS);
        emit::fence(&mut SliceSink::new(last), RAM, number).unwrap();
        self.put(at, &words);
        self.ends.push(end);
        // By turns the two ways to move the pause address.
        if self.started && number % 2 == 0 {
            let pause = self.ring.pause_address(&block);
            let port = mmio::AGP_PAUSE_ADDRESS_PORT;
            self.chip.write(&mut self.m, port, pause, u32::MAX);
            return true;
        }
        let parameters = if self.started {
            self.ring.kick(&block).to_vec()
        } else {
            self.ring.start(&block).to_vec()
        };
        let first = !self.started;
        self.started = true;
        self.parameters(&parameters);
        // The register overtakes parameters that are queued, so the first block has to be done.
        assert!(!first || self.finishes());
        true
    }

    /// Let the chip do all that it has to. Return whether the last fence has been reached.
    fn finishes(&mut self) -> bool {
        while self.steps(1) {}
        self.done() as usize == self.ends.len() - 1
    }

    fn parameters(&mut self, parameters: &[u32]) {
        self.chip
            .write(&mut self.m, mmio::CR_SETTING, 0x10 << 16, u32::MAX);
        for parameter in parameters {
            self.chip
                .write(&mut self.m, mmio::CR_SPACE.base(), *parameter, u32::MAX);
        }
    }

    /// Let the chip do so many steps. Return whether it has more to do.
    fn steps(&mut self, n: usize) -> bool {
        (0..n).all(|_| self.chip.step(&mut self.m) == Step::More)
    }
}

#[test]
fn the_register_overtakes_parameters_that_are_queued() {
    let mut b = Bench::new();
    let blocks = [8, 8].map(|dwords| b.ring.reserve(dwords).unwrap());
    for (number, block) in (1..).zip(&blocks) {
        let mut words = [PAD; BLOCK as usize / 4];
        let last = BLOCK as usize / 4 - emit::FENCE_DWORDS;
        emit::fence(&mut SliceSink::new(&mut words[last..]), RAM, number).unwrap();
        b.put(block.at, &words);
    }
    let start = b.ring.start(&blocks[0]);
    b.parameters(&start);
    let port = mmio::AGP_PAUSE_ADDRESS_PORT;
    let pause = b.ring.pause_address(&blocks[1]);
    b.chip.write(&mut b.m, port, pause, u32::MAX);
    while b.steps(1) {}
    assert_eq!(b.done(), 1, "the kick is lost");
    b.chip.write(&mut b.m, port, pause, u32::MAX);
    while b.steps(1) {}
    assert_eq!(b.done(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever the lengths are and however far the chip lags behind, each fence is executed once and in order, and the
    /// judge finds nothing.
    #[test]
    fn every_block_is_executed_once(
        work in prop::collection::vec((1u32..600, 0usize..200), 1..120)
    ) {
        let mut b = Bench::new();
        for (dwords, steps) in &work {
            let dwords = (*dwords).max(emit::FENCE_DWORDS as u32).min(b.ring.most() / 4);
            let mut last = b.done();
            while !b.submit(dwords) {
                prop_assert!(b.steps(1), "no room, and nothing to do");
                prop_assert!(b.done() == last || b.done() == last + 1);
                last = b.done();
            }
            b.steps(*steps);
        }
        while b.steps(1) {}
        prop_assert_eq!(b.done() as usize, work.len());
        prop_assert_eq!(b.m.counters.get("headers"), work.len() as u64);
        // And an end.
        b.ring.retire(b.ends[work.len()]);
        let block = b.ring.reserve(1).unwrap();
        b.put(block.skipped_at, &vec![PAD; block.skipped as usize / 4]);
        b.put(block.at, &[PAD; BLOCK as usize / 4]);
        let stop = b.ring.stop(&block);
        b.parameters(&stop);
        while b.steps(1) {}
        prop_assert!(!b.chip.busy() && !b.chip.listens());
        let found = b.m.judge.take();
        prop_assert!(found.is_empty(), "{:?}", found);
    }
}
