// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses: what objects' places make of a checked stream.

use chrome9::portable::checker::Fixup;
use chrome9::portable::emit::Location;
use chrome9::portable::place::Place;
use chrome9::portable::regs::mmio;

use crate::picture::{at as register, PICTURE};
use crate::rule::{objects, PAGE};
use crate::support::*;

fn at(address: u32) -> Place {
    Place {
        location: Location::FrameBuffer,
        address,
    }
}

/// Return a copy's two fixups and where its bases stand.
fn copy() -> (Vec<Fixup>, [usize; 2]) {
    let stream = Blit {
        command: COPY,
        destination: (1, 0x40),
        source: (0, 0x7f8),
        ..BLIT
    }
    .stream();
    let checked = run(&stream.words, &stream.relocations, &objects(&[PAGE, PAGE])).unwrap();
    let bases = [mmio::DSTBASE, mmio::SRCBASE].map(|register| stream.value_of(register));
    (checked.fixups, bases)
}

#[test]
fn bases_are_in_units_of_8_bytes() {
    let (fixups, bases) = copy();
    let named: Vec<_> = fixups.iter().map(|f| (f.dword(), f.object())).collect();
    assert_eq!(named, [(bases[0], 1), (bases[1], 0)]);
    assert_eq!(fixups[0].apply(0, at(0x12_3000)), Some(0x12_3040 / 8));
    assert_eq!(fixups[1].apply(0, at(0)), Some(0xff));
    assert_eq!(fixups[1].apply(0, at(0x10_0000)), Some(0x10_07f8 / 8));
}

#[test]
fn a_place_that_the_engine_does_not_reach_is_no_address() {
    let (fixups, _) = copy();
    let gart = Place {
        location: Location::Gart,
        address: 0x1000,
    };
    for fixup in &fixups {
        assert_eq!(fixup.apply(0, gart), None, "not in the frame buffer");
        assert_eq!(fixup.apply(0, at(0x1004)), None, "no multiple of 8");
        assert!(fixup.apply(0, at(0x1fff_f000)).is_some());
        assert_eq!(fixup.apply(0, at(0x2000_0000)), None, "more than 26 bits");
        assert_eq!(fixup.apply(0, at(0xffff_ff00 & !7)), None);
    }
    assert_eq!(
        fixups[1].apply(0, at(0x1fff_f808)),
        None,
        "by its offset only"
    );
    assert_eq!(fixups[1].apply(0, at(0xffff_f808)), None, "beyond 32 bits");
}

#[test]
fn an_object_that_is_named_and_not_used_is_only_placed() {
    let mut stream = Stream::new();
    stream.pairs(&[base(mmio::SRCBASE, 0, 8)]);
    let checked = run(&stream.words, &stream.relocations, &objects(&[PAGE])).unwrap();
    let access = checked.objects[0].access;
    assert_eq!(
        (access.reads, access.writes, access.frame_buffer),
        (false, false, true)
    );
    assert_eq!(checked.fixups.len(), 1);
}

/// Surfaces of HQV are in the frame buffer, in units of 16 bytes, and the location of that is 0.
#[test]
fn surfaces_of_video_are_in_units_of_16_bytes_of_the_frame_buffer() {
    let stream = PICTURE.stream();
    let checked = run(&stream.words, &stream.relocations, &objects(&[PAGE, PAGE])).unwrap();
    let place = stream.value_of(register(mmio::HQV_DESTINATION_2, 0));
    let fixup = checked.fixups.iter().find(|f| f.dword() == place).unwrap();
    assert_eq!(fixup.object(), 1);
    let apply = |place| fixup.apply(0xc000_0000, place);
    assert_eq!(
        apply(at(0x12_3000)),
        Some(0xc012_3400),
        "the offset is 400h"
    );
    assert_eq!(apply(at(0x1fff_f000)), Some(0xdfff_f400));
    assert_eq!(apply(at(0x1fff_fc00)), None, "more than 29 bits");
    assert_eq!(apply(at(0x12_3008)), None, "no multiple of 16");
    let gart = Place {
        location: Location::Gart,
        address: 0x1000,
    };
    assert_eq!(apply(gart), None, "not in the frame buffer");
    assert_eq!(checked.fixups.len(), 4);
    assert!(checked.objects.iter().all(|o| o.access.frame_buffer));
}
