// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own command sequences for the command processor: dword by dword, by length, and executed.

mod support;

use proptest::prelude::*;
use r600::portable::{
    emit::*,
    pm4::{operation, Header},
    regs::{mmio, pm4::op},
    Generation,
};
use support::{collect, copies, fills, gfx};

#[test]
fn a_fence_drops_caches_flushes_writes_and_interrupts() {
    let words = |generation| {
        collect(FENCE_DWORDS, |out| {
            let address = 0xab_1234_5674;
            fence(
                out,
                Fence {
                    generation,
                    address,
                    sequence: 0x89ab_cdef,
                },
            )
        })
    };
    let event = [
        0xc004_4700,
        0x0514,
        0x1234_5674,
        0x2200_00ab,
        0x89ab_cdef,
        0,
    ];
    let r6xx = words(Generation::R6xx);
    assert_eq!(r6xx[..5], [0xc003_4300, 0x0980_0000, u32::MAX, 0, 10]);
    assert_eq!(r6xx[5..], event);
    let r7xx = words(Generation::R7xx);
    assert_eq!(r7xx[..5], [0xc003_4300, 0x0990_0000, u32::MAX, 0, 10]);
    assert_eq!(r7xx[5..], event);
}

#[test]
fn the_micro_engine_is_started_for_its_generation_and_contexts() {
    let words = |generation, contexts| {
        collect(ME_INITIALIZE_DWORDS, |out| {
            me_initialize(out, generation, contexts)
        })
    };
    let expected = |mode, contexts| [0xc005_4400, 1, mode, contexts, 0x1_0000, 0, 0];
    assert_eq!(words(Generation::R6xx, 8), expected(3, 7));
    assert_eq!(words(Generation::R7xx, 4), expected(0, 3));
    assert_eq!(words(Generation::R7xx, 0), expected(0, 0));
}

#[test]
fn short_sequences() {
    let words = collect(SCRATCH_DWORDS, |out| scratch(out, 3, 0xdead_beef));
    assert_eq!(words, [0xc001_6800, 0x143, 0xdead_beef]);
    assert_eq!(collect(SCRATCH_DWORDS, |out| scratch(out, 8, 1))[1], 0x140);
    let words = collect(INDIRECT_BUFFER_DWORDS, |out| {
        indirect_buffer(out, 0x12_c012_3400, 552)
    });
    assert_eq!(words, [0xc002_3200, 0xc012_3400, 0x12, 552]);
    let words = collect(SEMAPHORE_DWORDS, |out| signal(out, 0x12_c012_3408));
    assert_eq!(words, [0xc001_3900, 0xc012_3408, 0xc000_1012]);
    let words = collect(SEMAPHORE_DWORDS, |out| wait(out, 0x12_c012_3408));
    assert_eq!(words, [0xc001_3900, 0xc012_3408, 0xe000_1012]);
    assert_eq!(FILLER, 0x8000_0000);
}

#[test]
fn ranges_that_cannot_be_filled_or_copied() {
    let end = ADDRESS_END;
    assert_eq!(end, 1 << 40);
    assert_eq!(Fill::new(1, 4096, 0), Err(Error::Unaligned));
    assert_eq!(Fill::new(0, 4095, 0), Err(Error::Unaligned));
    assert_eq!(Fill::new(0, 0, 0), Err(Error::Unaligned));
    assert_eq!(Fill::new(end - 4096, 8192, 0), Err(Error::OutOfRange));
    assert_eq!(Fill::new(u64::MAX & !4095, 8192, 0), Err(Error::OutOfRange));
    assert!(Fill::new(end - 4096, 4096, 0).is_ok());
    assert!(Fill::new(0, end, 0).is_ok());
    assert_eq!(Copy::new(4096, 0, 8192), Err(Error::Overlap));
    assert_eq!(Copy::new(0, 4096, 8192), Err(Error::Overlap));
    assert_eq!(Copy::new(0, end, 4096), Err(Error::OutOfRange));
    assert!(Copy::new(0, 8192, 8192).is_ok());
}

/// A page at a place above 4 GiB, dword by dword.
#[test]
fn a_page_is_filled_and_copied() {
    let fill = Fill::new(0x12_ffff_f000, 4096, 0x1234_5678).unwrap();
    let words = collect(11 + 6 * 9, |out| fill.emit(out));
    assert_eq!(words[..3], [0xc001_6800, 0x10, 0x2_8000]);
    let seed = [0xc003_3d00, 0xffff_f000, 0x2_0012, 0x1234_5678, 0x1234_5678];
    assert_eq!(words[3..8], seed);
    let double = [0xc004_4100, 0xffff_f000, 0x8000_0012, 0xffff_f008, 0x12, 8];
    assert_eq!(words[8..14], double);
    assert_eq!(words[words.len() - 3..], [0xc001_6800, 0x10, 0x100]);

    let copy = Copy::new(0x12_ffff_f000, 0xff_0000_1000, 4096).unwrap();
    let words = collect(12, |out| copy.emit(out));
    assert_eq!(words[..3], [0xc001_6800, 0x10, 0x2_8000]);
    let piece = [0xc004_4100, 0x1000, 0x8000_00ff, 0xffff_f000, 0x12, 4096];
    assert_eq!(words[3..9], piece);
    assert_eq!(words[9..], [0xc001_6800, 0x10, 0x100]);
}

/// The largest steps need all the room that is asked for.
#[test]
fn steps_have_a_largest_size() {
    let copy = Copy::new(0, 1 << 39, 1 << 30).unwrap();
    assert_eq!(copy.bytes(), 4088 << 12);
    collect(Copy::DWORDS, |out| copy.emit(out));
    let fill = Fill::new(0, 1 << 30, 0).unwrap();
    assert_eq!(fill.bytes(), 4096 << 12);
    collect(Fill::DWORDS, |out| fill.emit(out));
}

/// Only the last copy of a step stops the CP. In a fill every copy does, because the next one reads what it writes.
#[test]
fn the_cp_waits_where_it_must() {
    let syncs = |words: Vec<u32>| -> Vec<bool> {
        let mut at = 0;
        let mut syncs = Vec::new();
        while let Some(&word) = words.get(at) {
            if word == operation(op::CP_DMA, 5) {
                syncs.push(words[at + 2] >> 31 == 1);
            }
            let header = r600::portable::pm4::decode(word);
            assert!(matches!(header, Header::Type3 { .. }));
            at += 1 + header.body() as usize;
        }
        syncs
    };
    let copy = Copy::new(0, 1 << 39, 1 << 30).unwrap();
    let copy = syncs(collect(Copy::DWORDS, |out| copy.emit(out)));
    assert_eq!(copy.len(), 8);
    assert!(copy[7] && !copy[..7].contains(&true));
    let fill = Fill::new(0, 1 << 30, 0).unwrap();
    let fill = syncs(collect(Fill::DWORDS, |out| fill.emit(out)));
    assert_eq!(fill.len(), 32);
    assert!(!fill.contains(&false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_fill_writes_the_range_and_nothing_else(first in 1u64..200, pages in 1u64..6000, value: u32) {
        fills(first, pages, value, |memory, to, bytes| {
            let fill = Fill::new(to, bytes, value).unwrap();
            gfx(memory, &support::all(Fill::DWORDS, |out| fill.emit(out)));
            fill.bytes()
        });
    }

    #[test]
    fn a_copy_writes_one_range_as_the_other_is(pages in 1u64..6000, gap in 0u64..5, down: bool) {
        copies(pages, gap, down, |memory, to, from, bytes| {
            let copy = Copy::new(to, from, bytes).unwrap();
            gfx(memory, &support::all(Copy::DWORDS, |out| copy.emit(out)));
            copy.bytes()
        });
    }
}

#[test]
fn registers_are_where_the_packets_say() {
    assert_eq!(mmio::WAIT_UNTIL, 0x8000 + 4 * 0x10);
    assert_eq!(mmio::SCRATCH_REG.at(0), Some(0x8000 + 4 * 0x140));
}
