// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a stream leaves in the chip: each kind of state that names memory shows, and is stated again by the same commands
//! and by those that switch it off.

use lapidary::portable::residue::Residue;
use r600::portable::{
    checker::{check_gfx, max_fixups, Chip, Fixup, Object},
    pm4::{self, operation},
    regs::{mmio, pm4::op},
};

/// A marker that names the only object.
const MARKER: [u32; 2] = [operation(op::NOP, 1), 0];
const CHIP: Chip = Chip {
    generation: r600::portable::Generation::R7xx,
    pipes: 8,
    banks: 8,
    group_bytes: 256,
    backends: 4,
    base_update: false,
};

fn check(words: &[u32], residue: &mut Residue) {
    let mut words = words.to_vec();
    let mut objects = [Object {
        size: 1 << 20,
        ..Object::default()
    }];
    let mut fixups = vec![Fixup::default(); max_fixups(words.len())];
    check_gfx(&mut words, &mut objects, &CHIP, &mut fixups, residue)
        .unwrap_or_else(|refusal| panic!("{refusal:?}"));
}

fn residue(words: &[u32]) -> Residue {
    let mut residue = Residue::default();
    check(words, &mut residue);
    residue
}

fn config(register: u32, value: u32) -> Vec<u32> {
    vec![
        operation(op::SET_CONFIG_REG, 2),
        pm4::config(register),
        value,
    ]
}

fn context(register: u32, value: u32) -> Vec<u32> {
    vec![
        operation(op::SET_CONTEXT_REG, 2),
        pm4::context(register),
        value,
    ]
}

fn named(words: Vec<u32>) -> Vec<u32> {
    [words, MARKER.to_vec()].concat()
}

fn buffer(slot: u32) -> Vec<u32> {
    let head = [operation(op::SET_RESOURCE, 8), slot * 7];
    let resource = [0, 255, 16 << 8, 0, 0, 0, 3 << 30];
    named([&head[..], &resource].concat())
}

/// Return a write to a ring register, which changes only while nothing draws.
fn ring(register: u32, value: u32) -> Vec<u32> {
    [config(mmio::WAIT_UNTIL, 1 << 15), config(register, value)].concat()
}

fn predication(words: [u32; 2]) -> Vec<u32> {
    [&[operation(op::SET_PREDICATION, 2)][..], &words].concat()
}

/// Return whether the draws of `next` could find what `first` has left.
fn stale(first: &[u32], next: &[u32]) -> bool {
    let mut behind = residue(next);
    behind.draw();
    residue(first).follow(&behind)
}

#[test]
fn each_resource_is_left_until_it_is_stated_again() {
    for slot in [0, 1, 159, 160, 335, 336, 495] {
        assert!(stale(&buffer(slot), &[]), "{slot}");
        assert!(stale(&buffer(slot), &buffer((slot + 1) % 496)), "{slot}");
        assert!(!stale(&buffer(slot), &buffer(slot)), "{slot}");
    }
}

#[test]
fn each_resource_of_a_packet_counts() {
    let resource = [0, 255, 16 << 8, 0, 0, 0, 3 << 30];
    let head = [operation(op::SET_RESOURCE, 15), 5 * 7];
    let both = [&head[..], &resource, &resource, &MARKER, &MARKER].concat();
    for slot in [5, 6] {
        assert!(!stale(&buffer(slot), &both));
    }
    assert!(stale(&both, &buffer(5)) && stale(&both, &buffer(6)));
    assert!(!stale(&both, &[buffer(6), buffer(5)].concat()));
}

/// Return what names memory, and what switches it off.
fn pairs() -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut pairs = Vec::new();
    for (places, sizes) in [
        (
            mmio::SQ_ALU_CONST_CACHE_PS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_PS,
        ),
        (
            mmio::SQ_ALU_CONST_CACHE_VS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_VS,
        ),
        (
            mmio::SQ_ALU_CONST_CACHE_GS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_GS,
        ),
    ] {
        for number in [0, 15] {
            let (place, size) = (places.at(number).unwrap(), sizes.at(number).unwrap());
            pairs.push((named(context(place, 0)), context(size, 0)));
            pairs.push((context(size, 1), context(size, 0)));
        }
    }
    for base in [
        mmio::SQ_ESGS_RING_BASE,
        mmio::SQ_GSVS_RING_BASE,
        mmio::SQ_ESTMP_RING_BASE,
        mmio::SQ_GSTMP_RING_BASE,
        mmio::SQ_VSTMP_RING_BASE,
        mmio::SQ_PSTMP_RING_BASE,
    ] {
        pairs.push((named(ring(base, 0)), ring(base + 4, 0)));
        pairs.push((ring(base + 4, 1), ring(base + 4, 0)));
    }
    for number in 0..4 {
        let base = mmio::VGT_STRMOUT_BUFFER_BASE.at(number).unwrap();
        let size = mmio::VGT_STRMOUT_BUFFER_SIZE.at(number).unwrap();
        pairs.push((named(context(base, 0)), context(size, 0)));
        pairs.push((context(size, 1), context(size, 0)));
    }
    pairs.push((named(predication([0, 1 << 16])), predication([0, 0])));
    pairs
}

#[test]
fn what_names_memory_is_left_until_it_is_off() {
    let pairs = pairs();
    for (number, (on, off)) in pairs.iter().enumerate() {
        assert!(stale(on, &[]), "{number}");
        assert!(!stale(on, on) && !stale(on, off), "{number}");
        assert!(!stale(off, &[]), "{number}");
        assert!(!stale(&[on.clone(), off.clone()].concat(), &[]), "{number}");
        // Nothing else states it again.
        let of_other = |(other, _): &(Vec<u32>, Vec<u32>)| !stale(on, other);
        let alike = pairs.iter().filter(|pair| of_other(pair)).count();
        assert!(alike <= 2, "{number}: {alike}");
    }
}

#[test]
fn programs_are_left_until_others_start() {
    let programs = [
        mmio::SQ_PGM_START_PS,
        mmio::SQ_PGM_START_VS,
        mmio::SQ_PGM_START_GS,
        mmio::SQ_PGM_START_ES,
        mmio::SQ_PGM_START_FS,
    ];
    for left in programs {
        for next in programs {
            let start = |register| named(context(register, 0));
            assert_eq!(stale(&start(left), &start(next)), left != next);
        }
    }
}

#[test]
fn one_residue_serves_all_streams() {
    let mut all = Residue::default();
    for words in [buffer(3), buffer(5), vec![], predication([0, 0]), buffer(3)] {
        check(&words, &mut all);
        assert_eq!(all, residue(&words));
    }
}

#[test]
fn a_stream_leaves_nothing_of_targets() {
    let target = named(context(mmio::CB_COLOR_BASE.at(0).unwrap(), 0));
    assert!(!stale(&target, &[]));
}
