// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own command sequences: dword by dword, by length, and executed.

mod support;

use lapidary::portable::sink::{Full, Sink, SliceSink};
use proptest::prelude::*;
use r500::portable::{
    emit::*,
    pm4::{self, operation, Header},
    regs::{mmio, pm4::op},
};
use support::footprint::{execute, ControlReading, Touch};

/// Collect a sequence; the length is checked by giving just that much room.
fn collect(length: usize, emit: impl Fn(&mut SliceSink<'_>) -> Result<(), Full>) -> Vec<u32> {
    let mut words = vec![0xdead_beef; length];
    let mut sink = SliceSink::new(&mut words);
    emit(&mut sink).expect("the length is as announced");
    assert_eq!(
        sink.written(),
        length,
        "the sequence is shorter than announced"
    );
    for shorter in 0..length {
        let mut few = vec![0; shorter];
        assert_eq!(emit(&mut SliceSink::new(&mut few)), Err(Full));
    }
    words
}

/// Return a sequence as pairs of register and value.
fn writes(words: &[u32]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Header::Type0 {
            register,
            count,
            one_register: false,
        } = pm4::decode(words[at])
        else {
            panic!("not a plain register write: {:#x}", words[at]);
        };
        for i in 0..count {
            pairs.push((register + 4 * i, words[at + 1 + i as usize]));
        }
        at += 1 + count as usize;
    }
    pairs
}

#[test]
fn a_fence_flushes_waits_writes_and_interrupts_in_that_order() {
    let words = collect(FENCE_DWORDS, |out| {
        fence(
            out,
            Fence {
                scratch: 3,
                sequence: 0x1234_5678,
                host_path_cntl: 0x0080_0000,
            },
        )
    });
    assert_eq!(
        writes(&words),
        [
            (mmio::SC_SCISSOR0, 0),
            (mmio::SC_SCISSOR1, 0),
            (mmio::RB3D_DSTCACHE_CTLSTAT, 0xf),
            (mmio::ZB_ZCACHE_CTLSTAT, 3),
            (mmio::DSTCACHE_CTLSTAT, 0xf),
            (mmio::TX_INVALTAGS, 0),
            (mmio::WAIT_UNTIL, 0x0007_0000),
            (mmio::HOST_PATH_CNTL, 0x0880_0000),
            (mmio::HOST_PATH_CNTL, 0x0080_0000),
            (0x15e0 + 4 * 3, 0x1234_5678),
            (mmio::GEN_INT_STATUS, 1 << 26),
        ]
    );
}

#[test]
fn the_size_of_an_indirect_buffer_comes_last() {
    let words = collect(INDIRECT_BUFFER_DWORDS, |out| {
        indirect_buffer(out, 0xc012_3400, 552)
    });
    assert_eq!(
        writes(&words),
        [(mmio::CP_IB_BASE, 0xc012_3400), (mmio::CP_IB_BUFSZ, 552)]
    );
}

#[test]
fn short_sequences() {
    let words = collect(SCRATCH_DWORDS, |out| scratch(out, 0, 0xdead_beef));
    assert_eq!(words, [0x578, 0xdead_beef]);
    assert_eq!(collect(SCRATCH_DWORDS, |out| scratch(out, 8, 1))[0], 0x578);
    collect(WAIT_IDLE_DWORDS, |out| wait_idle(out));
    let words = collect(FLUSH_DWORDS, |out| flush(out));
    assert_eq!(
        writes(&words).last(),
        Some(&(mmio::WAIT_UNTIL, 0x0007_0000))
    );
}

#[test]
fn ranges_that_cannot_be_filled_or_copied() {
    let end = 1u64 << 32;
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

/// Ranges of bytes, start and end.
type Ranges = Vec<(u64, u64)>;

/// Run a sequence on the engine that another client has left in the worst state; return what is written
/// and read, in order, and merged.
fn touched(words: &[u32]) -> (Ranges, Ranges) {
    let mut result = None;
    for reading in ControlReading::ALL {
        let (mut written, mut read) = (Ranges::new(), Ranges::new());
        execute(words, reading, &mut |touch: Touch| {
            let list = if touch.write { &mut written } else { &mut read };
            match list.last_mut() {
                Some(last) if last.1 == touch.start => last.1 = touch.end,
                _ => list.push((touch.start, touch.end)),
            }
        });
        let now = (written, read);
        assert_eq!(*result.get_or_insert(now.clone()), now);
    }
    result.expect("the loop ran")
}

/// Return the words of all steps. `step` gets the number of bytes that are done, and says how many it does.
fn steps(bytes: u64, mut step: impl FnMut(u64) -> (Vec<u32>, u64)) -> Vec<u32> {
    let (mut words, mut done) = (Vec::new(), 0);
    while done < bytes {
        let (more, bytes) = step(done);
        assert!(bytes > 0 && bytes % 4096 == 0);
        words.extend(more);
        done += bytes;
    }
    assert_eq!(done, bytes);
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_fill_writes_the_range_and_nothing_else(first in 0u64..1 << 20, pages in 1u64..40_000, value: u32) {
        let pages = pages.min((1 << 20) - first);
        let words = steps(pages * 4096, |done| {
            let fill = Fill::new(first * 4096 + done, pages * 4096 - done, value).unwrap();
            (collect(Fill::DWORDS, |out| fill.emit(out)), fill.bytes())
        });
        prop_assert_eq!(words.len() as u64, 20 * pages.div_ceil(8191));
        let (written, read) = touched(&words);
        prop_assert_eq!(written, [(first * 4096, (first + pages) * 4096)]);
        prop_assert_eq!(read, []);
        prop_assert!(writes(&words).contains(&(mmio::DP_BRUSH_FRGD_CLR, value)));
        prop_assert!(writes(&words).contains(&(mmio::DP_WRITE_MASK, u32::MAX)));
    }

    #[test]
    fn a_copy_reads_one_range_and_writes_the_other(to in 0u64..1 << 19, pages in 1u64..20_000, gap in 0u64..1000) {
        let from = to + pages + gap;
        for (destination, source) in [(to, from), (from, to)] {
            let words = steps(pages * 4096, |done| {
                let (to, from) = (destination * 4096 + done, source * 4096 + done);
                let copy = Copy::new(to, from, pages * 4096 - done).unwrap();
                (collect(Copy::DWORDS, |out| copy.emit(out)), copy.bytes())
            });
            prop_assert_eq!(words.len() as u64, 22 * pages.div_ceil(8191));
            let (written, read) = touched(&words);
            prop_assert_eq!(written, [(destination * 4096, (destination + pages) * 4096)]);
            prop_assert_eq!(read, [(source * 4096, (source + pages) * 4096)]);
        }
    }
}

/// The executing test engine would not notice a sequence that waits for nothing.
#[test]
fn fills_and_copies_end_clean() {
    let fill = Fill::new(0, 4096, 7).unwrap();
    let words = collect(Fill::DWORDS, |out| fill.emit(out));
    let copy = Copy::new(0, 4096, 4096).unwrap();
    for words in [words, collect(Copy::DWORDS, |out| copy.emit(out))] {
        let end = [
            (mmio::DSTCACHE_CTLSTAT, 0xf),
            (mmio::WAIT_UNTIL, 0x0007_0000),
        ];
        assert!(writes(&words).ends_with(&end));
        // Only registers: no packet whose meaning depends on microcode.
        assert!(!words.contains(&operation(op::NOP, 1)));
    }
    let mut nowhere = SliceSink::new(&mut []);
    assert_eq!(nowhere.put(1), Err(Full));
}
