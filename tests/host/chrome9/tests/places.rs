// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where memory is: the frame buffer and its pictures, places behind the GART, entries of its table, and the numbers of a
//! submission.

use chrome9::portable::emit::Location;
use chrome9::portable::envelope::{check, reserved, reserved_sync, Error};
use chrome9::portable::frame_buffer::{bytes, shown};
use chrome9::portable::place::{Place, GART};
use chrome9::portable::pte::Entry;
use chrome9::portable::uapi::{
    Object, Submit, Sync, MOST_DWORDS, MOST_OBJECTS, MOST_RELOCATIONS, MOST_SYNCS,
};
use lapidary::portable::mapping::Flags;

const MIB: u64 = 1 << 20;

#[test]
fn the_host_bridge_codes_sizes_from_8_to_512_mib() {
    let sizes: Vec<_> = (0..8).map(|code| bytes(code << 12)).collect();
    let want = [8, 16, 32, 64, 128, 256, 512].map(|mib| Some(mib * MIB));
    assert_eq!(sizes[0], None);
    assert_eq!(sizes[1..], want);
    // Other bits of the word do not count.
    assert_eq!(bytes(0x8fff | (4 << 12)), Some(64 * MIB));
}

#[test]
fn pictures_of_both_displays_are_left_alone() {
    let none = 0..0;
    let both = |starts, bytes| shown(starts, bytes);
    assert_eq!(
        both([0, 0], 256 * MIB),
        [0..16 * MIB, none.clone(), none.clone(), none.clone()]
    );
    assert_eq!(
        both([32 * MIB, 0], 256 * MIB),
        [32 * MIB..48 * MIB, 0..16 * MIB, none.clone(), none.clone()]
    );
    // Pictures that touch are one range.
    assert_eq!(both([16 * MIB, 0], 256 * MIB)[0], 0..32 * MIB);
    assert_eq!(both([4 * MIB, 0], 256 * MIB)[0], 0..20 * MIB);
    // A small frame buffer keeps half for objects.
    assert_eq!(both([0, 4 * MIB], 8 * MIB)[0], 0..2 * MIB);
    assert_eq!(both([0, 4 * MIB], 8 * MIB)[1], 4 * MIB..6 * MIB);
    // Registers may say anything.
    for start in [8 * MIB, 8 * MIB - 1, u64::from(u32::MAX) << 3] {
        let ranges = both([start, 0], 8 * MIB);
        assert!(ranges.iter().all(|r| r.end <= 8 * MIB && r.start <= r.end));
    }
}

#[test]
fn an_address_has_a_location() {
    let place = |location, address| Some(Place { location, address });
    assert_eq!(Place::of(0x1234), place(Location::FrameBuffer, 0x1234));
    assert_eq!(
        Place::of(0xffff_ffff),
        place(Location::FrameBuffer, 0xffff_ffff)
    );
    assert_eq!(Place::of(GART), place(Location::Gart, 0));
    assert_eq!(
        Place::of(GART + 0xffff_ffff),
        place(Location::Gart, 0xffff_ffff)
    );
    assert_eq!(Place::of(2 * GART), None);
    let place = Place::of(GART + 0xffff_0000).unwrap();
    assert_eq!(place.behind(0xffff), Place::of(GART + 0xffff_ffff));
    assert_eq!(place.behind(0x1_0000), None);
}

#[test]
fn an_entry_has_a_page_or_none() {
    let entry = |address| Entry::new(address, Flags::READ_WRITE);
    assert_eq!(entry(0x12_3456_7000).map(Entry::word), Some(0x0123_4567));
    assert_eq!(entry((1 << 42) - 4096).map(Entry::word), Some(0x3fff_ffff));
    assert_eq!(entry(1 << 42), None);
    assert_eq!(entry(0x1800), None);
    assert_eq!(Entry::NONE.word(), 0x8000_0000);
    // An entry cannot forbid anything.
    for (read, write) in [(true, false), (false, true)] {
        let flags = Flags {
            read,
            write,
            snooped: true,
        };
        assert_eq!(Entry::new(0x1000, flags), None);
    }
}

#[test]
fn numbers_of_a_submission_have_limits() {
    let good = Submit {
        dwords: MOST_DWORDS,
        object_count: MOST_OBJECTS,
        relocation_count: MOST_RELOCATIONS,
        wait_count: MOST_SYNCS,
        signal_count: MOST_SYNCS,
        ..Submit::default()
    };
    assert_eq!(check(&good), Ok(()));
    let bad = |change: fn(&mut Submit)| {
        let mut submit = good;
        change(&mut submit);
        check(&submit).err()
    };
    assert_eq!(bad(|s| s.flags = 1 << 31), Some(Error::Flags));
    assert_eq!(bad(|s| s.dwords = 0), Some(Error::Empty));
    assert_eq!(bad(|s| s.dwords = 6), Some(Error::Units));
    assert_eq!(bad(|s| s.dwords += 4), Some(Error::TooLong));
    assert_eq!(bad(|s| s.object_count += 1), Some(Error::Objects));
    assert_eq!(bad(|s| s.relocation_count += 1), Some(Error::Relocations));
    assert_eq!(bad(|s| s.wait_count += 1), Some(Error::Syncs));
    assert_eq!(bad(|s| s.signal_count += 1), Some(Error::Syncs));

    let mut objects = [Object::default(); 3];
    assert_eq!(reserved(&objects), None);
    objects[1].reserved = 1;
    assert_eq!(reserved(&objects), Some(1));
    let mut syncs = [Sync::default(); 3];
    assert_eq!(reserved_sync(&syncs), None);
    syncs[2].reserved = 1;
    assert_eq!(reserved_sync(&syncs), Some(2));
}

#[test]
fn reasons_of_the_envelope_are_distinct() {
    let mut numbers: Vec<_> = Error::ALL.iter().map(|e| e.reason().number).collect();
    assert!(numbers.iter().all(|n| (0x100..0x200).contains(n)));
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), Error::ALL.len());
}
