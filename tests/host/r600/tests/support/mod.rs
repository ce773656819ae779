// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the tests share: collecting sequences, and a memory with two engines that execute copies and fills. They read
//! packets by numbers, not by the constants of the code that they test.

#![allow(dead_code)]

pub mod footprint;
pub mod resources;
pub mod texels;

use lapidary::portable::{
    residue::Residue,
    sink::{Full, SliceSink},
};
use r600::portable::{
    checker::{max_fixups, place, reason::Refusal, Chip, Fixup, Object},
    Generation,
};

/// Return the dwords of a sequence, of which there are at most `most`.
pub fn all(most: usize, emit: impl Fn(&mut SliceSink<'_>) -> Result<(), Full>) -> Vec<u32> {
    let mut words = vec![0xdead_beef; most];
    let mut sink = SliceSink::new(&mut words);
    emit(&mut sink).expect("the length is as announced");
    let written = sink.written();
    words.truncate(written);
    words
}

/// Collect a sequence of `length` dwords; the length is checked by giving just that much room, and less.
pub fn collect(length: usize, emit: impl Fn(&mut SliceSink<'_>) -> Result<(), Full>) -> Vec<u32> {
    let words = all(length, &emit);
    assert_eq!(words.len(), length, "shorter than announced");
    for shorter in 0..length {
        let mut few = vec![0; shorter];
        assert_eq!(emit(&mut SliceSink::new(&mut few)), Err(Full));
    }
    words
}

/// Call `step` with the number of bytes that are done, until all are. It returns how many it did.
pub fn steps(bytes: u64, mut step: impl FnMut(u64) -> u64) {
    let mut done = 0;
    while done < bytes {
        let more = step(done);
        assert!(more > 0 && more % 4096 == 0);
        done += more;
    }
    assert_eq!(done, bytes);
}

/// Memory from an address on. Every dword is another one.
#[derive(Clone, Debug)]
pub struct Memory {
    pub start: u64,
    pub words: Vec<u32>,
}

impl Memory {
    pub fn new(start: u64, dwords: usize) -> Self {
        let words = (0..dwords as u32).map(|i| i.wrapping_mul(0x9e37_79b1) ^ 0x5555);
        Self {
            start,
            words: words.collect(),
        }
    }

    fn range(&self, address: u64, bytes: u64) -> std::ops::Range<usize> {
        assert!(address % 4 == 0 && bytes % 4 == 0);
        let first = address.checked_sub(self.start).expect("in memory") / 4;
        let range = first as usize..(first + bytes / 4) as usize;
        assert!(range.end <= self.words.len(), "behind the end of memory");
        range
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        let (to, from) = (self.range(to, bytes), self.range(from, bytes));
        assert!(to.end <= from.start || from.end <= to.start, "overlap");
        self.words.copy_within(from, to.start);
    }

    fn fill(&mut self, to: u64, bytes: u64, value: u32) {
        let range = self.range(to, bytes);
        self.words[range].fill(value);
    }
}

/// Return the address of a lower and an upper dword.
fn address(low: u32, high: u32) -> u64 {
    (u64::from(high & 0xff) << 32) | u64::from(low)
}

/// Execute a sequence of the command processor: register writes, writes to memory and copies.
pub fn gfx(memory: &mut Memory, words: &[u32]) {
    let mut rest = words;
    while let [header, tail @ ..] = rest {
        let (body, next) = tail.split_at(((header >> 16) & 0x3fff) as usize + 1);
        assert_eq!(header >> 30, 3);
        match ((header >> 8) & 0xff, body) {
            (0x68, [0x10, 0x2_8000 | 0x100]) => {}
            (0x3d, &[low, high, a, b]) => {
                assert_eq!(high & !0xff, 0x2_0000);
                assert_eq!(a, b);
                memory.fill(address(low, high), 8, a);
            }
            (0x41, &[from, from_high, to, to_high, bytes]) => {
                assert!((1..0x20_0000).contains(&bytes));
                let from = address(from, from_high);
                memory.copy(address(to, to_high), from, bytes.into());
            }
            other => panic!("unexpected packet {other:x?}"),
        }
        rest = next;
    }
}

/// Execute a sequence of the DMA engine of R7xx: copies and fills.
pub fn dma(memory: &mut Memory, words: &[u32]) {
    let mut rest = words;
    while let [header, tail @ ..] = rest {
        let bytes = u64::from(header & 0xffff) * 4;
        assert_eq!(header & 0x0fff_0000, 0);
        rest = match (header >> 28, tail) {
            (0x3, &[to, from, to_high, from_high, ref next @ ..]) => {
                memory.copy(address(to, to_high), address(from, from_high), bytes);
                next
            }
            (0xd, &[to, value, to_high, ref next @ ..]) => {
                assert_eq!(to_high & !0xff_0000, 0);
                memory.fill(address(to, to_high >> 16), bytes, value);
                next
            }
            other => panic!("unexpected packet {other:x?}"),
        };
    }
}

/// Fill `pages` pages from page `first` on by calls of `step` with memory, address and bytes, which returns how many bytes
/// it has filled. Check that they all have `value`, and that their neighbours are as before.
pub fn fills(
    first: u64,
    pages: u64,
    value: u32,
    mut step: impl FnMut(&mut Memory, u64, u64) -> u64,
) {
    let base = 0x13_ffff_0000 + first * 4096;
    let mut memory = Memory::new(base - 4096, (pages + 2) as usize * 1024);
    let before = memory.clone();
    let bytes = pages * 4096;
    steps(bytes, |done| step(&mut memory, base + done, bytes - done));
    let (words, untouched) = (&memory.words, &before.words);
    assert_eq!(&words[..1024], &untouched[..1024]);
    let end = words.len() - 1024;
    assert!(words[1024..end].iter().all(|&word| word == value));
    assert_eq!(&words[end..], &untouched[end..]);
}

/// Copy `pages` pages `down` or up, over a gap of so many pages, by calls of `step` with memory, both addresses and
/// bytes, which returns how many bytes it has copied. Check that nothing but the copy is other than before.
pub fn copies(
    pages: u64,
    gap: u64,
    down: bool,
    mut step: impl FnMut(&mut Memory, u64, u64, u64) -> u64,
) {
    let base = 0x13_ffff_0000;
    let mut memory = Memory::new(base, (2 * pages + gap) as usize * 1024);
    let before = memory.clone();
    let (low, high) = (base, base + (pages + gap) * 4096);
    let (to, from) = if down { (low, high) } else { (high, low) };
    let bytes = pages * 4096;
    steps(bytes, |done| {
        step(&mut memory, to + done, from + done, bytes - done)
    });
    let range = |address: u64| {
        let first = ((address - base) / 4) as usize;
        first..first + pages as usize * 1024
    };
    let mut expected = before.words.clone();
    expected[range(to)].copy_from_slice(&before.words[range(from)]);
    assert_eq!(memory.words, expected);
}

/// RV770.
pub const RV770: Chip = Chip {
    generation: Generation::R7xx,
    pipes: 8,
    banks: 8,
    group_bytes: 256,
    backends: 4,
    base_update: false,
};
/// R600.
pub const R600: Chip = Chip {
    generation: Generation::R6xx,
    ..RV770
};
/// RV610, which has one of everything, with half the memory banks.
pub const RV610: Chip = Chip {
    generation: Generation::R6xx,
    pipes: 1,
    banks: 4,
    group_bytes: 256,
    backends: 1,
    base_update: true,
};

/// All chips, by the names that folders of recordings have.
pub const CHIPS: [(&str, Chip); 8] = [
    ("r600", R600),
    ("rv610", chip(Generation::R6xx, 1, 1)),
    ("rv635", chip(Generation::R6xx, 2, 1)),
    ("rv670", chip(Generation::R6xx, 4, 4)),
    ("rv770", RV770),
    ("rv730", chip(Generation::R7xx, 4, 2)),
    ("rv710", chip(Generation::R7xx, 2, 1)),
    ("rv740", chip(Generation::R7xx, 4, 4)),
];

/// Return a chip as most are: eight banks, groups of 256 bytes; the CP of R6xx is told of addresses.
const fn chip(generation: Generation, pipes: u32, backends: u32) -> Chip {
    Chip {
        generation,
        pipes,
        banks: 8,
        group_bytes: 256,
        backends,
        base_update: matches!(generation, Generation::R6xx),
    }
}

/// A checker.
pub type Check =
    fn(&mut [u32], &mut [Object], &Chip, &mut [Fixup], &mut Residue) -> Result<usize, Refusal>;

/// A stream that was let through.
#[derive(Clone, Debug)]
pub struct Checked {
    pub words: Vec<u32>,
    pub fixups: Vec<Fixup>,
    pub objects: Vec<Object>,
    /// What it leaves in the chip.
    pub residue: Residue,
}

impl Checked {
    /// Return the words with objects placed at `addresses`.
    pub fn placed(&self, addresses: &[u64]) -> Vec<u32> {
        let mut words = self.words.clone();
        for fixup in &self.fixups {
            place(fixup, addresses[fixup.object as usize], &mut words).expect("an aligned address");
        }
        words
    }
}

/// Run a checker as [`run_any`]. It changes no dword.
pub fn run(check: Check, words: &[u32], sizes: &[u64], chip: &Chip) -> Result<Checked, Refusal> {
    let checked = run_any(check, words, sizes, chip)?;
    assert_eq!(checked.words, words);
    Ok(checked)
}

/// Run a checker with a buffer of just the size that it asks for.
pub fn run_any(
    check: Check,
    words: &[u32],
    sizes: &[u64],
    chip: &Chip,
) -> Result<Checked, Refusal> {
    let mut checked = Checked {
        words: words.to_vec(),
        fixups: vec![Fixup::default(); max_fixups(words.len())],
        objects: sizes.iter().map(|&size| object(size)).collect(),
        residue: Residue::default(),
    };
    let fixups = check(
        &mut checked.words,
        &mut checked.objects,
        chip,
        &mut checked.fixups,
        &mut checked.residue,
    )?;
    checked.fixups.truncate(fixups);
    Ok(checked)
}

/// Return an object of `size` bytes.
pub fn object(size: u64) -> Object {
    Object {
        size,
        ..Object::default()
    }
}

/// Check that a stream is let through, and return what it does to objects of these sizes, reads and writes.
#[track_caller]
pub fn passes(check: Check, words: &[u32], sizes: &[u64], chip: &Chip) -> Vec<(bool, bool)> {
    let checked = run(check, words, sizes, chip).expect("lets it through");
    let access = |object: &Object| (object.access.reads, object.access.writes);
    checked.objects.iter().map(access).collect()
}

/// Place the objects of a stream one behind the other with holes, and check that what it accesses lies in them. `touches`
/// computes that. Each access must lie in an object that the checker says is accessed in this way.
pub fn confined(checked: &Checked, touches: impl Fn(&[u32]) -> Vec<footprint::Touch>) {
    let mut next = 0x12_fff0_0000u64;
    let mut addresses = Vec::new();
    for object in &checked.objects {
        addresses.push(next);
        next = (next + object.size + 0x10_0000).next_multiple_of(0x1_0000);
    }
    for touch in touches(&checked.placed(&addresses)) {
        let inside = addresses
            .iter()
            .zip(&checked.objects)
            .any(|(&start, object)| {
                let allowed = match touch.write {
                    true => object.access.writes,
                    false => object.access.reads,
                };
                allowed
                    && start <= touch.address
                    && touch.address + touch.bytes <= start + object.size
            });
        assert!(
            inside,
            "{touch:x?} outside {addresses:x?} {:x?}",
            checked.objects
        );
    }
}
