// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Entries of the page table.

use proptest::prelude::*;
use r600::portable::pte::{Access, Entry, ADDRESS_BITS, PAGE_SIZE};

const ALL: Access = Access {
    read: true,
    write: true,
    snooped: true,
};
const NONE: Access = Access {
    read: false,
    write: false,
    snooped: false,
};

/// The bits are those that Linux defines.
#[test]
fn each_bit_says_one_thing() {
    let word = |access| Entry::system(0xab_cdef_0000, access).map(Entry::word);
    assert_eq!(word(NONE), Some(0xab_cdef_0003));
    assert_eq!(word(ALL), Some(0xab_cdef_0067));
    let cases = [
        (
            Access {
                snooped: true,
                ..NONE
            },
            4,
        ),
        (Access { read: true, ..NONE }, 0x20),
        (
            Access {
                write: true,
                ..NONE
            },
            0x40,
        ),
    ];
    for (access, bit) in cases {
        assert_eq!(word(access), Some(0xab_cdef_0003 | bit));
    }
    assert_eq!(Entry::NONE.word(), 0);
    assert!(!Entry::NONE.is_valid());
}

#[test]
fn addresses_are_of_pages_and_have_40_bits() {
    assert_eq!(Entry::system(0x800, ALL), None);
    assert_eq!(Entry::system(1 << ADDRESS_BITS, ALL), None);
    assert_eq!(Entry::system(u64::MAX - (PAGE_SIZE - 1), ALL), None);
    let last = (1 << ADDRESS_BITS) - PAGE_SIZE;
    assert_eq!(Entry::system(last, ALL).map(Entry::address), Some(last));
}

proptest! {
    #[test]
    fn an_entry_is_what_it_was_made_of(
        page in 0u64..1 << 28, read: bool, write: bool, snooped: bool, noise: u64,
    ) {
        let access = Access { read, write, snooped };
        let address = page * PAGE_SIZE;
        let entry = Entry::system(address, access).unwrap();
        prop_assert!(entry.is_valid() && entry.is_system());
        prop_assert_eq!(entry.address(), address);
        prop_assert_eq!(entry.access(), access);
        // Bits without a meaning do not count.
        let meant = Entry::decode(u64::MAX).word();
        prop_assert_eq!(Entry::decode(entry.word() | noise & !meant), entry);
    }
}
