// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The life of a ring as public drivers write it: VIA's kernel driver of 2008 and 2009, by register and value.
//!
//! The ring lies in system pages behind the GART, as that driver has it. Each step is a table of writes, and no write is a
//! finding. The numbers of the driver's order of writes are facts; the addresses are ours.

use super::{Bench, RAM};
use lapidary_model::chip::Chip;
use lapidary_registers::chrome9::{mmio, mmio_read};

/// The table in the frame buffer.
const TABLE: u64 = 0x7f_0000;
/// Pages of the ring, and the pages of RAM from the second one on.
const PAGES: u64 = 4;
/// The page to which fences are written: the first of RAM.
const FENCE: u64 = RAM;
/// Where the ring lies behind the GART.
const RING: u32 = 0x0010_0000;
const END: u32 = RING + PAGES as u32 * 0x1000;
/// A branch behind it.
const BRANCH: u32 = END;
const PAD: u32 = 0xcc00_0000;

/// A step of a driver: writes of dwords to BAR1.
type Writes<'a> = &'a [(u32, u32)];

impl Bench {
    fn replay(&mut self, writes: Writes<'_>) {
        for (offset, value) in writes {
            self.write(*offset, *value);
        }
        let found = self.m.judge.take();
        assert!(found.is_empty(), "{found:?}");
    }

    fn sequencer_writes(&mut self, writes: &[(u8, u8)]) {
        for (index, value) in writes {
            let (index, value) = (u32::from(*index), u32::from(*value));
            self.chip.write(&mut self.m, 0x83c4, index, 0xff);
            self.chip.write(&mut self.m, 0x83c4, value << 8, 0xff00);
        }
        assert_eq!(self.found(), []);
    }

    /// Put dwords behind the GART.
    fn behind(&mut self, address: u32, words: &[u32]) {
        let at = RAM + 0x1000 + u64::from(address - RING);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(self.m.functions[0].ram.write(at, &bytes));
    }

    fn fence_word(&self) -> u32 {
        let mut bytes = [0; 4];
        assert!(self.m.functions[0].ram.read(FENCE, &mut bytes));
        u32::from_le_bytes(bytes)
    }
}

/// Return a block: a branch if there is one, a fence with that number in memory, and padding up to 80h bytes.
fn block(branch: bool, number: u32) -> Vec<u32> {
    let mut words = Vec::new();
    if branch {
        words.extend([0xfe02_0420, 0x41c, 0x0011_0000, PAD]);
        words.extend([
            0x6800_0000,
            0x6900_0000 | BRANCH & 0xff_fffe,
            0x6a40_0000 | (BRANCH >> 24),
            0x6b00_0001,
        ]);
        words.extend([0xfe82_0420, 0x41c, 0x0030_0000, PAD]);
    }
    words.extend([0xfe02_0420, 0x41c, 0x0011_0000, PAD]);
    words.extend([
        0x0400_0000 | (FENCE >> 24) as u32,
        0x0500_0000 | FENCE as u32 & 0xff_fff0,
        0x0600_0000 | number & 0xff_ffff,
        // Trigger, when all is idle, to memory.
        0x0715_0000 | (number >> 24 << 8),
    ]);
    words.resize(words.len().next_multiple_of(32), PAD);
    words
}

#[test]
fn a_ring_lives_as_a_public_driver_writes_it() {
    let mut b = Bench::new();
    b.m.functions[0].ram.clear();
    b.m.functions[0]
        .ram
        .map_anonymous(RAM, 0x1000 * (PAGES + 2))
        .unwrap();

    // The GART: unprotected, its table's base, the table, protected, flushed.
    b.sequencer_writes(&[(0x6c, 0x00), (0x6a, 0xf0), (0x6b, 0x07)]);
    for page in 0..=PAGES {
        let entry = ((RAM + 0x1000) >> 12) as u32 + page as u32;
        let slot = TABLE + (u64::from(RING) / 0x1000 + page) * 4;
        assert!(b.m.vram.write(slot, &entry.to_le_bytes()));
    }
    b.sequencer_writes(&[(0x6c, 0x80), (0x6f, 0x80)]);

    // Start: a block whose last unit is the first pause address.
    let first = block(false, 1);
    let mut behind = RING + first.len() as u32 * 4;
    b.behind(RING, &first);
    let low = |at: u32| at & 0xff_ffff;
    let pause = behind - 16;
    b.replay(&[
        (0x41c, 0x0010_0000),
        (0x420, 0x6000_0001 | low(RING)),
        (0x420, 0x6100_0000 | (RING >> 24)),
        (0x420, 0x6200_0000 | low(END)),
        (0x420, 0x6300_0000 | (END >> 24)),
        (0x420, 0x6400_0000 | low(pause)),
        (0x420, 0x6500_0000 | (pause >> 24)),
        (0x420, 0x66ff_fff0),
        (0x420, 0x6700_00ff),
        (0x420, 0x680a_0001),
    ]);
    assert_eq!(b.fence_word(), 1);

    // Kicks, the second with a branch that draws nothing, until the ring is nearly full.
    b.behind(BRANCH, &[0xfe06_0000, 0, 0, PAD]);
    let mut number = 1;
    loop {
        number += 1;
        let next = block(number == 3, number);
        let end = behind + next.len() as u32 * 4;
        if end + 0x80 > END {
            break;
        }
        b.behind(behind, &next);
        behind = end;
        let pause = behind - 16;
        b.replay(&[
            (0x41c, 0x0010_0000),
            (0x420, 0x6400_0000 | low(pause)),
            (0x420, 0x6500_0000 | (pause >> 24)),
        ]);
        assert_eq!(b.fence_word(), number);
    }
    assert_eq!(b.m.counters.get("branches"), 1);

    // Wrap: padding at the tail, whose last unit is the jump address, and the next block at the start.
    b.behind(behind, &[PAD; 32]);
    let jump = behind + 0x70;
    b.behind(RING, &block(false, number));
    let pause = RING + 0x70;
    b.replay(&[
        (0x41c, 0x0010_0000),
        (0x420, 0x6600_0000 | low(jump)),
        (0x420, 0x6700_0000 | (jump >> 24)),
        (0x420, 0x6400_0000 | low(pause)),
        (0x420, 0x6500_0000 | (pause >> 24)),
    ]);
    assert_eq!(b.fence_word(), number);
    assert_eq!(b.read(mmio_read::AGP_FETCH), pause + 16);

    // Stop: a block of padding, at whose end the fetch ends, and nothing is busy.
    b.behind(RING + 0x80, &[PAD; 32]);
    let pause = RING + 0xf0;
    b.replay(&[
        (0x41c, 0x0010_0000),
        (0x420, 0x6400_0000 | low(pause)),
        (0x420, 0x6500_0200 | (pause >> 24)),
    ]);
    assert_eq!(b.read(mmio::ENGINE_STATUS), 0);
    assert_eq!(b.read(mmio_read::AGP_STATE), 0, "it waits for nothing");
    assert_eq!(b.read(mmio_read::FENCE_ID), number);
    assert_eq!(b.found(), []);
}
