// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packet headers and microcode images.

use lapidary::portable::pm4::MAX_BODY;
use proptest::prelude::*;
use r600::portable::{
    firmware::{instruction_dwords, instructions, size, words, Processor},
    pm4::{config, context, decode, encode, operation, reserved_bits, Header, FILLER},
    Generation,
};

fn header() -> impl Strategy<Value = Header> {
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
    fn headers_come_back(header in header()) {
        let word = encode(header).unwrap();
        prop_assert_eq!(decode(word), header);
        prop_assert_eq!(reserved_bits(word), 0);
    }

    /// Every dword but a type-1 header is a header, and but for reserved bits and the predicate it is all there is.
    #[test]
    fn dwords_come_back(word: u32) {
        let header = decode(word);
        prop_assert!(header.body() <= MAX_BODY);
        match (word >> 30, encode(header)) {
            (1, again) => prop_assert_eq!(again, None),
            (2, again) => prop_assert_eq!(again, Some(FILLER)),
            (3, again) => prop_assert_eq!(again, Some(word & !reserved_bits(word) & !1)),
            (_, again) => prop_assert_eq!(again, Some(word & !reserved_bits(word))),
        }
    }

    #[test]
    fn images_are_big_endian_dwords(image in prop::collection::vec(any::<u32>(), 0..2000)) {
        let bytes: Vec<u8> = image.iter().flat_map(|word| word.to_be_bytes()).collect();
        prop_assert_eq!(words(&bytes).collect::<Vec<_>>(), image);
    }
}

/// Headers as the manual's tables have them, worked out by hand (R6xx 5.2).
#[test]
fn headers_bit_by_bit() {
    let write = Header::Type0 {
        register: 0x8040,
        count: 2,
        one_register: false,
    };
    assert_eq!(encode(write), Some(0x0001_2010));
    assert_eq!(operation(0x10, 1), 0xc000_1000);
    assert_eq!(operation(0x68, 0x4000), 0xffff_6800);
    assert_eq!(FILLER, 0x8000_0000);
    // Predicated packets are as others.
    assert_eq!(reserved_bits(0xc000_2d01), 0);
    assert_eq!(reserved_bits(0xffff_ffff), 0xfe);
    assert_eq!(reserved_bits(0x3fff_ffff), 0);
    assert_eq!(reserved_bits(0x4000_0001), 1);
    assert_eq!(config(0x8040), 0x10);
    assert_eq!(context(0x28350), 0xd4);
}

#[test]
fn what_no_header_can_say() {
    let write = |register, count, one_register| Header::Type0 {
        register,
        count,
        one_register,
    };
    assert!(encode(write(0x3_fffc, 1, false)).is_some());
    for header in [
        write(0x4_0000, 1, false),
        write(2, 1, false),
        write(0, 0, false),
        write(0, 1, true),
        write(0, MAX_BODY + 1, false),
        Header::Type1 {
            first: 0,
            second: 4,
        },
        Header::Type3 {
            opcode: 0x10,
            count: 0,
        },
    ] {
        assert_eq!(encode(header), None, "{header:?}");
    }
}

/// The sizes of the files of linux-firmware.
#[test]
fn images_have_the_sizes_of_their_files() {
    let sizes = |generation| Processor::ALL.map(|processor| size(generation, processor));
    assert_eq!(sizes(Generation::R6xx), [2304, 21504, 3072]);
    assert_eq!(sizes(Generation::R7xx), [3392, 5440, 4096]);
    for generation in [Generation::R6xx, Generation::R7xx] {
        for processor in Processor::ALL {
            let image = vec![0; size(generation, processor)];
            let dwords =
                instructions(generation, processor) * instruction_dwords(generation, processor);
            assert_eq!(words(&image).count(), dwords);
        }
    }
    assert_eq!(instruction_dwords(Generation::R6xx, Processor::Me), 3);
}
