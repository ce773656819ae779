// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own command sequences for the DMA engine: dword by dword, by length, and executed.

mod support;

use proptest::prelude::*;
use r600::portable::{dma::*, emit::ADDRESS_END};
use support::{collect, copies, dma, fills};

#[test]
fn short_sequences() {
    assert_eq!(FILLER, 0xf000_0000);
    let words = collect(WRITE_DWORDS, |out| write(out, 0x12_3456_789c, 7));
    assert_eq!(words, [0x2000_0001, 0x3456_789c, 0x12, 7]);
    let words = collect(FENCE_DWORDS, |out| fence(out, 0x12_3456_789c, 7));
    assert_eq!(words, [0x6000_0000, 0x3456_789c, 0x12, 7, 0x7000_0000]);
    let words = collect(SEMAPHORE_DWORDS, |out| signal(out, 0x12_3456_7898));
    assert_eq!(words, [0x5040_0000, 0x3456_7898, 0x12]);
    let words = collect(SEMAPHORE_DWORDS, |out| wait(out, 0x12_3456_7898));
    assert_eq!(words, [0x5000_0000, 0x3456_7898, 0x12]);
}

#[test]
fn an_indirect_buffer_ends_at_a_boundary() {
    for position in 0..64 {
        let padding = ib_padding(position);
        assert!(padding as usize <= MOST_IB_PADDING);
        let length = padding as usize + INDIRECT_BUFFER_DWORDS;
        assert_eq!((position as usize + length) % 8, 0);
        let words = collect(length, |out| {
            indirect_buffer(out, padding, 0x12_3456_78a0, 0x1234)
        });
        let (fillers, packet) = words.split_at(padding as usize);
        assert!(fillers.iter().all(|&word| word == FILLER));
        assert_eq!(packet, [0x4000_0000, 0x3456_78a0, 0x1234_0012]);
    }
    assert_eq!(ib_padding(u32::MAX), 6);
    assert_eq!((INDIRECT_ALIGNMENT, MOST_INDIRECT_DWORDS), (32, 0xffff));
}

#[test]
fn ranges_that_cannot_be_filled_or_copied() {
    let end = ADDRESS_END;
    assert_eq!(Fill::new(1, 4096, 0), Err(Error::Unaligned));
    assert_eq!(Fill::new(0, 4095, 0), Err(Error::Unaligned));
    assert_eq!(Fill::new(0, 0, 0), Err(Error::Unaligned));
    assert_eq!(Fill::new(end - 4096, 8192, 0), Err(Error::OutOfRange));
    assert!(Fill::new(0, end, 0).is_ok());
    assert_eq!(Copy::new(4096, 0, 8192), Err(Error::Overlap));
    assert_eq!(Copy::new(0, 4096, 8192), Err(Error::Overlap));
    assert_eq!(Copy::new(0, end, 4096), Err(Error::OutOfRange));
    assert_eq!(Copy::new(end, 0, 4096), Err(Error::OutOfRange));
    assert!(Copy::new(0, 8192, 8192).is_ok());
}

/// A page at a place above 4 GiB, dword by dword.
#[test]
fn a_page_is_filled_and_copied() {
    let fill = Fill::new(0x12_ffff_f000, 4096, 0x1234_5678).unwrap();
    let words = collect(4, |out| fill.emit(out));
    assert_eq!(words, [0xd000_0400, 0xffff_f000, 0x1234_5678, 0x12_0000]);
    let copy = Copy::new(0x12_ffff_f000, 0xff_0000_1000, 4096).unwrap();
    let words = collect(5, |out| copy.emit(out));
    assert_eq!(words, [0x3000_0400, 0xffff_f000, 0x1000, 0x12, 0xff]);
}

/// The largest steps need all the room that is asked for.
#[test]
fn steps_have_a_largest_size() {
    let copy = Copy::new(0, 1 << 39, 1 << 30).unwrap();
    assert_eq!(copy.bytes(), 1008 << 12);
    collect(Copy::DWORDS, |out| copy.emit(out));
    let fill = Fill::new(0, 1 << 30, 0).unwrap();
    assert_eq!(fill.bytes(), 1008 << 12);
    collect(Fill::DWORDS, |out| fill.emit(out));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_fill_writes_the_range_and_nothing_else(first in 1u64..200, pages in 1u64..3000, value: u32) {
        fills(first, pages, value, |memory, to, bytes| {
            let fill = Fill::new(to, bytes, value).unwrap();
            dma(memory, &support::all(Fill::DWORDS, |out| fill.emit(out)));
            fill.bytes()
        });
    }

    #[test]
    fn a_copy_writes_one_range_as_the_other_is(pages in 1u64..3000, gap in 0u64..5, down: bool) {
        copies(pages, gap, down, |memory, to, from, bytes| {
            let copy = Copy::new(to, from, bytes).unwrap();
            dma(memory, &support::all(Copy::DWORDS, |out| copy.emit(out)));
            copy.bytes()
        });
    }
}
