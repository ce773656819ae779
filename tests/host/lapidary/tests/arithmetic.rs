// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Bit fields, register arrays, rings, dword sinks.

use lapidary::portable::{
    bits::{Field, RegArray},
    ring::{Geometry, Run},
    sink::{CountingSink, Full, Sink, SliceSink},
};
use proptest::prelude::*;

#[test]
fn field_extremes() {
    let whole = Field::new(31, 0);
    assert_eq!((whole.mask(), whole.max()), (u32::MAX, u32::MAX));
    let top = Field::new(31, 31);
    assert_eq!((top.mask(), top.max()), (1 << 31, 1));
    assert_eq!(top.put(0, 3), 1 << 31);
    assert!(top.any(1 << 31) && !top.any(!(1 << 31)));
}

#[test]
fn array_edges() {
    let array = RegArray::new(0x15e0, 8, 4);
    assert_eq!(array.at(0), Some(0x15e0));
    assert_eq!(array.at(7), Some(0x15fc));
    assert_eq!(array.at(8), None);
    assert_eq!(array.index_of(0x15fc), Some(7));
    assert_eq!(array.index_of(0x1600), None);
    assert_eq!(array.index_of(0x15dc), None);
    assert_eq!(array.index_of(0x15e2), None);
    assert_eq!(RegArray::new(8, 2, 0).index_of(8), None);
    assert_eq!(RegArray::new(u32::MAX - 3, 3, 4).at(2), None);
    assert!(RegArray::new(0, 0, 4).is_empty());
    assert_eq!(array.len(), 8);
}

#[test]
fn rings_that_cannot_be() {
    for (dwords, align) in [(0, 1), (1, 1), (3, 1), (16, 3), (16, 0), (16, 16), (2, 2)] {
        assert_eq!(Geometry::new(dwords, align), None, "{dwords} {align}");
    }
    let ring = Geometry::new(1 << 18, 16).unwrap();
    // 1 MiB: RB_BUFSZ is 17.
    assert_eq!(ring.log2_qwords(), 17);
    assert_eq!((ring.dwords(), ring.align()), (1 << 18, 16));
}

#[test]
fn an_empty_ring_is_not_a_full_one() {
    let ring = Geometry::new(64, 16).unwrap();
    assert_eq!(ring.free(5, 5), 63);
    assert_eq!(ring.used(5, 5), 0);
    assert_eq!(ring.free(6, 5), 0);
    assert_eq!(ring.capacity(), 48);
    assert_eq!(ring.padded(0, 49), None);
    assert_eq!(ring.padded(0, u32::MAX), None);
    // Not from an aligned position: the rest of the block comes on top.
    assert_eq!(ring.padded(1, 1), Some(15));
}

#[test]
fn sinks_count_and_stop() {
    let mut words = [0; 3];
    let mut sink = SliceSink::new(&mut words);
    assert_eq!(sink.put_all(&[1, 2]), Ok(()));
    assert_eq!(sink.written(), 2);
    assert_eq!(sink.put_all(&[3, 4]), Err(Full));
    assert_eq!(sink.written(), 3);
    assert_eq!(sink.put(5), Err(Full));
    assert_eq!(words, [1, 2, 3]);
    let mut count = CountingSink::default();
    count.put_all(&[0; 7]).unwrap();
    assert_eq!(count.0, 7);
}

prop_compose! {
    fn field()(lo in 0u32..32)(hi in lo..32, lo in Just(lo)) -> (Field, u32, u32) {
        (Field::new(hi, lo), hi, lo)
    }
}

prop_compose! {
    fn ring()(size in 2u32..20)(align in 0..size, size in Just(size)) -> Geometry {
        Geometry::new(1 << size, 1 << align).expect("two alignments long at least")
    }
}

proptest! {
    #[test]
    fn what_is_put_is_got((field, hi, lo) in field(), word: u32, value: u32) {
        let put = field.put(word, value);
        prop_assert_eq!(field.get(put), value & field.max());
        prop_assert_eq!(put & !field.mask(), word & !field.mask());
        prop_assert_eq!(field.mask().count_ones(), hi - lo + 1);
        prop_assert_eq!(field.mask().trailing_zeros(), lo);
        prop_assert_eq!(field.of(value), field.put(0, value));
    }

    #[test]
    fn arrays_invert(base: u32, len in 0u32..1000, stride in 1u32..100, i in 0u32..1200) {
        let array = RegArray::new(base, len, stride);
        if let Some(offset) = array.at(i) {
            prop_assert!(i < len);
            prop_assert_eq!(array.index_of(offset), Some(i));
        }
    }

    /// Against a plain model: a ring as a set of positions.
    #[test]
    fn pointers_agree_with_counting(ring in ring(), read: u32, write: u32, count: u32) {
        let size = ring.dwords();
        let (r, w) = (read % size, write % size);
        let mut used = 0;
        let mut at = r;
        while at != w {
            at = (at + 1) % size;
            used += 1;
        }
        prop_assert_eq!(ring.used(read, write), used);
        prop_assert_eq!(ring.free(read, write), size - 1 - used);
        let end = (u64::from(w) + u64::from(count)) % u64::from(size);
        // 2^32 is a multiple of every size, so wrapping before or after is the same.
        prop_assert_eq!(u64::from(ring.advance(write, count)), end);
    }

    #[test]
    fn padding_aligns(ring in ring(), position: u32, count: u32) {
        let padded = ring.wrap(position) + ring.padding(position);
        prop_assert_eq!(padded % ring.align(), 0);
        prop_assert!(ring.padding(position) < ring.align());
        if let Some(total) = ring.padded(position, count) {
            prop_assert!(total >= count && total - count < ring.align());
            prop_assert!(total < ring.dwords());
            prop_assert_eq!(ring.advance(position, total) % ring.align(), 0);
        }
    }

    #[test]
    fn pieces_make_the_whole(ring in ring(), position: u32, count in 0u32..3_000_000) {
        match ring.split(position, count) {
            None => prop_assert!(count > ring.dwords()),
            Some((first, second)) => {
                prop_assert_eq!(first.len + second.len, count);
                prop_assert_eq!(first.start, ring.wrap(position));
                prop_assert!(first.start + first.len <= ring.dwords());
                let rest = Run { start: 0, len: count - first.len };
                prop_assert_eq!(second, rest);
                prop_assert!(second.len == 0 || first.start + first.len == ring.dwords());
            }
        }
    }
}
