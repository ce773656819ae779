// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packet headers, page-table entries, microcode images.

use lapidary::portable::pm4::MAX_BODY;
use proptest::prelude::*;
use r500::portable::{
    firmware::{Error, Microcode, IMAGE_SIZE, WORDS},
    pm4::{decode, encode, operation, reserved_bits, write, write_one, Header, FILLER},
    pte::{Access, Entry, ADDRESS_BITS, PAGE_SIZE},
};

fn header() -> impl Strategy<Value = Header> {
    prop_oneof![
        (0u32..0x2000, 1..=MAX_BODY, any::<bool>()).prop_map(|(index, count, one_register)| {
            Header::Type0 {
                register: index * 4,
                count,
                one_register,
            }
        }),
        (0u32..0x800, 0u32..0x800).prop_map(|(first, second)| Header::Type1 {
            first: first * 4,
            second: second * 4,
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

    /// Every dword is a header, and but for reserved bits the header is all there is to it.
    #[test]
    fn dwords_come_back(word: u32) {
        let header = decode(word);
        prop_assert!(header.body() <= MAX_BODY);
        let again = encode(header).unwrap();
        if header == Header::Type2 {
            prop_assert_eq!(again, FILLER);
            prop_assert_eq!(reserved_bits(word), 0);
        } else {
            prop_assert_eq!(again, word & !reserved_bits(word));
        }
    }

    #[test]
    fn entries_come_back(page in 0u64..1 << (ADDRESS_BITS - 12), read: bool, write: bool, snooped: bool) {
        let access = Access { read, write, snooped };
        let entry = Entry::new(page * PAGE_SIZE, access).unwrap();
        prop_assert_eq!(entry.address(), page * PAGE_SIZE);
        prop_assert_eq!(entry.access(), access);
        prop_assert_eq!(Entry::decode(entry.word()), entry);
    }

    #[test]
    fn bad_addresses_have_no_entry(address: u64) {
        let good = address % PAGE_SIZE == 0 && address < 1 << ADDRESS_BITS;
        prop_assert_eq!(Entry::new(address, Access::READ_WRITE).is_some(), good);
    }

    #[test]
    fn images_are_pairs_of_big_endian_dwords(bytes in prop::collection::vec(any::<u8>(), IMAGE_SIZE)) {
        let mut bytes = bytes;
        for word in bytes.chunks_exact_mut(8) {
            word[..3].fill(0);
        }
        let words: Vec<_> = Microcode::new(&bytes).unwrap().words().collect();
        prop_assert_eq!(words.len(), WORDS);
        for (word, raw) in words.iter().zip(bytes.chunks_exact(8)) {
            let raw = u64::from_be_bytes(raw.try_into().unwrap());
            prop_assert_eq!((u64::from(word.high) << 32) | u64::from(word.low), raw);
        }
    }
}

/// Headers as the manual's tables have them, worked out by hand (R5xx 5.1).
#[test]
fn headers_bit_by_bit() {
    assert_eq!(write(0x15e0, 1), 0x0000_0578);
    assert_eq!(write(0x0738, 2), 0x0001_01ce);
    assert_eq!(write_one(0x17c0, 3), 0x0002_85f0);
    assert_eq!(operation(0x10, 1), 0xc000_1000);
    assert_eq!(operation(0x9a, 0x4000), 0xffff_9a00);
    assert_eq!(FILLER, 0x8000_0000);
    let pair = Header::Type1 {
        first: 4,
        second: 8,
    };
    assert_eq!(encode(pair), Some(0x4000_1001));
}

#[test]
fn what_no_header_can_say() {
    let write = |register, count| Header::Type0 {
        register,
        count,
        one_register: false,
    };
    assert!(encode(write(0x7ffc, 1)).is_some());
    for header in [
        write(0x8000, 1),
        write(2, 1),
        write(0, 0),
        write(0, MAX_BODY + 1),
        Header::Type1 {
            first: 0x2000,
            second: 0,
        },
        Header::Type1 {
            first: 0,
            second: 6,
        },
        Header::Type3 {
            opcode: 0x10,
            count: 0,
        },
        Header::Type3 {
            opcode: 0x10,
            count: MAX_BODY + 1,
        },
    ] {
        assert_eq!(encode(header), None, "{header:?}");
    }
    assert_eq!(reserved_bits(0x0000_6000), 0x0000_6000);
    assert_eq!(reserved_bits(0x7fff_ffff), 0x3fc0_0000);
    assert_eq!(reserved_bits(0xffff_ffff), 0x0000_00ff);
    assert_eq!(reserved_bits(0xbfff_ffff), 0);
}

/// Entries as Linux writes them (`rv370_pcie_gart_get_page_entry`).
#[test]
fn entries_bit_by_bit() {
    let entry = |address, access| Entry::new(address, access).unwrap().word();
    assert_eq!(entry(0xab_cdef_1000, Access::READ_WRITE), 0xabcd_ef1c);
    let read_only = Access {
        read: true,
        write: false,
        snooped: false,
    };
    assert_eq!(entry(0x1000, read_only), 0x0000_0019);
    assert_eq!(Entry::NONE.word(), 0);
    assert!(!Entry::NONE.access().read && !Entry::NONE.access().write);
}

#[test]
fn images_of_another_form_are_refused() {
    let image = vec![0; IMAGE_SIZE];
    assert!(Microcode::new(&image).is_ok());
    for size in [0, 8, IMAGE_SIZE - 8, IMAGE_SIZE - 1, IMAGE_SIZE + 8] {
        assert_eq!(
            Microcode::new(&vec![0; size]).err(),
            Some(Error::Size { found: size })
        );
    }
    for byte in 0..3 {
        let mut image = image.clone();
        image[8 * 77 + byte] = 1;
        assert_eq!(
            Microcode::new(&image).err(),
            Some(Error::Word { index: 77 })
        );
    }
}
