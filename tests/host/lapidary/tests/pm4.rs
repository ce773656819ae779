// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PM4 as all families have it: headers of a form that is not R5xx', streams, bodies, markers, fixups.

use std::collections::BTreeSet;

use lapidary::portable::{
    bits::Field,
    pm4::{
        header, max_fixups, operation, Body, Fault, Fixup, Fixups, Form, Header, Kind, Stream,
        FILLER, MARKER, MAX_BODY, NOP,
    },
};
use proptest::prelude::*;

/// Headers of R6xx and R7xx: 16 bits of register index, no other form of type 0, no type 1, a predicate bit.
struct R6xx;

impl Form for R6xx {
    const REGISTER: Field = Field::new(15, 0);
    const ONE_REGISTER: Option<Field> = None;
    const PAIR: Option<(Field, Field)> = None;
    const QUALIFIERS: u32 = 1;
}

fn encodable() -> impl Strategy<Value = Header> {
    prop_oneof![
        (0u32..0x1_0000, 1..=MAX_BODY).prop_map(|(index, count)| Header::Type0 {
            register: index * 4,
            count,
            one_register: false,
        }),
        Just(Header::Type2),
        (any::<u8>(), 1..=MAX_BODY).prop_map(|(opcode, count)| Header::Type3 { opcode, count }),
    ]
}

proptest! {
    #[test]
    fn headers_of_another_form_come_back(header in encodable()) {
        let word = header.encode::<R6xx>().unwrap();
        prop_assert_eq!(Header::decode::<R6xx>(word), header);
        prop_assert_eq!(Header::reserved::<R6xx>(word), 0);
        let is_write = matches!(header, Header::Type0 { .. });
        prop_assert_eq!(header::is_write::<R6xx>(word), is_write);
        if let Header::Type0 { register, count, one_register } = header {
            prop_assert_eq!(header::write_of::<R6xx>(word), (register, count as usize, one_register));
        }
        let is_operation = matches!(header, Header::Type3 { .. });
        prop_assert_eq!(header::is_operation::<R6xx>(word), is_operation);
        if let Header::Type3 { opcode, count } = header {
            prop_assert_eq!(header::operation_of(word), (opcode, count as usize));
        }
    }

    /// The short ways to a header agree with the long one.
    #[test]
    fn writes_and_operations_have_no_reserved_bits(word in any::<u32>()) {
        let clean = Header::reserved::<R6xx>(word) == 0;
        let header = Header::decode::<R6xx>(word);
        prop_assert_eq!(
            header::is_write::<R6xx>(word),
            clean && matches!(header, Header::Type0 { .. })
        );
        prop_assert_eq!(
            header::is_operation::<R6xx>(word),
            clean && matches!(header, Header::Type3 { .. })
        );
    }

    /// Whatever the dwords are: a packet ends within the stream or is refused, and the walk goes forward.
    #[test]
    fn packets_end_within_the_stream(words in prop::collection::vec(any::<u32>(), 1..200)) {
        let copy = words.clone();
        let mut words = words;
        let len = words.len();
        let mut stream = Stream::new(&mut words);
        let mut start = 0;
        while start < len {
            match stream.packet::<R6xx>(start, copy[start]) {
                Ok((header, body)) => {
                    prop_assert_eq!(body.len(), header.body() as usize);
                    prop_assert_eq!(stream.next(), start + 1 + body.len());
                    prop_assert!(stream.next() <= len);
                    start = stream.next();
                }
                Err(Fault::Truncated) => {
                    prop_assert!(start + 1 + Header::decode::<R6xx>(copy[start]).body() as usize > len);
                    break;
                }
                Err(fault) => {
                    prop_assert_eq!(fault, Fault::ReservedHeaderBits);
                    prop_assert_ne!(Header::reserved::<R6xx>(copy[start]), 0);
                    break;
                }
            }
        }
    }
}

#[test]
fn what_a_family_lacks_has_no_header() {
    let write = |register, one_register| Header::Type0 {
        register,
        count: 1,
        one_register,
    };
    assert_eq!(write(0x3_fffc, false).encode::<R6xx>(), Some(0xffff));
    assert_eq!(write(0x4_0000, false).encode::<R6xx>(), None);
    assert_eq!(write(0, true).encode::<R6xx>(), None);
    let pair = Header::Type1 {
        first: 0,
        second: 0,
    };
    assert_eq!(pair.encode::<R6xx>(), None);
    assert_eq!(Header::decode::<R6xx>(0x4012_3456), pair);
    assert_eq!(Header::reserved::<R6xx>(0x4012_3456), 0x0012_3456);
    // The predicate bit is not reserved, its neighbours are.
    assert_eq!(Header::reserved::<R6xx>(operation(0x2d, 2) | 0xff), 0xfe);
}

#[test]
fn a_marker_names_an_entry() {
    let mut words = [operation(0x2d, 1), 7, MARKER, 4 * 9, MARKER, 4 * 2, FILLER];
    let mut stream = Stream::new(&mut words);
    let mut position = 0;
    let (header, body) = stream.packet::<R6xx>(0, operation(0x2d, 1)).unwrap();
    assert_eq!(
        header,
        Header::Type3 {
            opcode: 0x2d,
            count: 1
        }
    );
    assert_eq!(body.len(), 1);
    assert_eq!(stream.relocation(&mut position), Ok(9));
    assert_eq!(stream.relocation(&mut position), Ok(2));
    assert_eq!(stream.next(), 6);
    assert_eq!(
        stream.relocation(&mut position),
        Err(Fault::MissingRelocation)
    );
    assert_eq!((stream.next(), position), (6, 0));
    assert_eq!(MARKER, operation(NOP, 1));
}

#[test]
fn a_marker_is_whole_and_counts_entries() {
    let mut position = 77;
    for bad in [1, 2, 3, 4 * 5 + 1] {
        let mut words = [MARKER, bad];
        let mut stream = Stream::new(&mut words);
        assert_eq!(stream.relocation(&mut position), Err(Fault::BadRelocation));
        assert_eq!(position, 1);
    }
    // A marker without its dword, and a NOP of another length.
    for words in [&mut [MARKER][..], &mut [operation(NOP, 2), 0, 0][..]] {
        let mut stream = Stream::new(words);
        assert_eq!(
            stream.relocation(&mut position),
            Err(Fault::MissingRelocation)
        );
    }
}

#[test]
fn a_body_is_taken_from_first_to_last() {
    let mut words = [operation(0x2d, 2), 5, 6, 99];
    let mut stream = Stream::new(&mut words);
    let (_, cells) = stream.packet::<R6xx>(0, operation(0x2d, 2)).unwrap();
    let mut body = Body::new(cells, 1);
    assert_eq!((body.len(), body.position()), (2, 1));
    assert_eq!(body.take(), Ok(5));
    assert_eq!(body.end(), Err(Fault::PacketLength));
    assert_eq!((body.take(), body.position()), (Ok(6), 3));
    assert!(body.is_empty());
    assert_eq!(body.end(), Ok(()));
    assert_eq!(body.take(), Err(Fault::PacketLength));
    assert_eq!(body.position(), 3);
}

#[test]
fn what_is_replaced_is_read_back() {
    let mut words = [1, 2];
    let stream = Stream::new(&mut words);
    assert_eq!(stream.replace(1, 8), Ok(()));
    assert_eq!(stream.replace(2, 8), Err(Fault::Truncated));
    assert_eq!(words, [1, 8]);
}

/// Addresses in units of 256 bytes, as R6xx has them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pages;

impl Kind for Pages {
    fn apply(self, word: u32, address: u64) -> Option<u32> {
        word.checked_add(u32::try_from(address >> 8).ok()?)
    }
}

#[test]
fn fixups_have_room_for_as_many_as_there_can_be() {
    let mut all = vec![Fixup::default(); max_fixups(8)];
    assert_eq!(all.len(), 2);
    let mut fixups = Fixups::new(&mut all);
    assert_eq!(fixups.push(1, 4, Pages), Ok(()));
    assert_eq!(fixups.push(2, 5, Pages), Ok(()));
    assert_eq!(fixups.push(3, 6, Pages), Err(Fault::TooManyFixups));
    assert_eq!(fixups.count(), 2);
    let second = Fixup {
        dword: 2,
        object: 5,
        kind: Pages,
    };
    assert_eq!(all[1], second);
    assert_eq!(second.apply(3, 0x1_0000_0000), Some(0x0100_0003));
    assert_eq!(second.apply(3, u64::MAX), None);
}

#[test]
fn each_fault_has_a_number_of_its_own() {
    let numbers: BTreeSet<u32> = Fault::ALL.iter().map(|fault| fault.number()).collect();
    assert_eq!(numbers.len(), Fault::ALL.len());
    assert!(numbers
        .iter()
        .all(|number| (0x1001..0x2000).contains(number)));
    assert!(Fault::ALL.iter().all(|fault| fault.text().is_ascii()));
}
