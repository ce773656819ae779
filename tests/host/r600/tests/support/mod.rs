// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the tests share: collecting sequences, and a memory with two engines that execute copies and fills. They read
//! packets by numbers, not by the constants of the code that they test.

#![allow(dead_code)]

use lapidary::portable::sink::{Full, SliceSink};

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
