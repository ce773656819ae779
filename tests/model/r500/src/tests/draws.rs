// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws on the whole chip: what the memory side says to their footprints, caches, counters, clears.

use lapidary_registers::RegArray;
use lapidary_registers::r500::pm4::op;
use lapidary_registers::r500::{REGISTERS, mmio};

use proptest::collection::vec;
use proptest::prelude::*;

use super::{type0, type3};
use crate::bench::{Bench, Touch, Who};
use crate::engine3d::area::Client;
use crate::kind::{self, Kind};
use crate::unit::Unit;

const COLOR: u32 = Bench::VRAM;
const DEPTH: u32 = Bench::VRAM + 0x1_0000;
const TEXTURE: u32 = Bench::VRAM + 0x2_0000;
const VERTICES: u32 = Bench::GTT;
const INDICES: u32 = Bench::GTT + 0x1000;

fn first(array: RegArray) -> u32 {
    array.at(0).unwrap()
}

/// Return a scene of 32 by 16 pixels of colour and depth, a texture as large, and vertices of 16 bytes.
fn scene() -> Vec<u32> {
    [
        (mmio::VAP_VTX_NUM_ARRAYS, 1),
        (first(mmio::VAP_VTX_AOS_ATTR), 0x0404),
        (first(mmio::VAP_VTX_AOS_ADDR_EVEN), VERTICES),
        (mmio::VAP_VF_MAX_VTX_INDX, 0xff),
        (mmio::VAP_VF_MIN_VTX_INDX, 0),
        (mmio::TX_INVALTAGS, 0),
        (mmio::TX_ENABLE, 1),
        (first(mmio::TX_FORMAT0), 31 | (15 << 11)),
        (first(mmio::TX_FORMAT1), 12),
        (first(mmio::TX_OFFSET), TEXTURE),
        (first(mmio::RB3D_COLOROFFSET), COLOR),
        (first(mmio::RB3D_COLORPITCH), 32 | (6 << 21)),
        (mmio::RB3D_COLOR_CHANNEL_MASK, 0xf),
        (mmio::US_OUT_FMT.at(1).unwrap(), 15),
        (mmio::US_OUT_FMT.at(2).unwrap(), 15),
        (mmio::US_OUT_FMT.at(3).unwrap(), 15),
        (mmio::ZB_DEPTHOFFSET, DEPTH),
        (mmio::ZB_DEPTHPITCH, 32),
        (mmio::ZB_FORMAT, 2),
        (mmio::ZB_CNTL, 6),
        (mmio::SC_SCISSOR0, 0),
        (mmio::SC_SCISSOR1, 31 | (15 << 13)),
        (mmio::SC_CLIP_RULE, 0xffff),
        (mmio::SC_SCREENDOOR, 0xff_ffff),
    ]
    .into_iter()
    .flat_map(|(offset, value)| type0(offset, &[value]))
    .collect()
}

fn flush() -> Vec<u32> {
    [
        type0(mmio::RB3D_DSTCACHE_CTLSTAT, &[0xa]),
        type0(mmio::ZB_ZCACHE_CTLSTAT, &[3]),
        type0(
            mmio::WAIT_UNTIL,
            &[mmio::wait_until::WAIT_3D_IDLECLEAN.mask()],
        ),
    ]
    .concat()
}

fn triangle() -> Vec<u32> {
    type3(op::_3D_DRAW_VBUF_2, &[0x0003_0024])
}

fn bench() -> Bench {
    let mut b = Bench::new("rv515", 1 << 20).unwrap();
    b.object(COLOR, 0x800, "colour");
    b.object(DEPTH, 0x800, "depth");
    b.object(TEXTURE, 0x800, "texture");
    b.object(VERTICES, 0x30, "vertices");
    b
}

/// Execute, and return the kinds found with their details.
fn run(b: &mut Bench, parts: &[&[u32]]) -> Vec<(Kind, String)> {
    assert!(b.execute(&parts.concat()));
    b.findings().into_iter().map(|f| (f.0, f.2)).collect()
}

#[test]
fn a_draw_inside_its_objects_is_quiet() {
    let mut b = bench();
    assert_eq!(run(&mut b, &[&scene(), &triangle(), &flush()]), []);
    assert_eq!(b.counter("draws_not_executed"), 1);
}

#[test]
fn each_unit_is_held_to_the_objects() {
    let more: [(u32, u32, &str); 6] = [
        (mmio::SC_SCISSOR1, 31 | (16 << 13), "colour target 0 writes"),
        (
            mmio::ZB_DEPTHOFFSET,
            DEPTH + 32,
            "depth buffer reads and writes",
        ),
        (first(mmio::TX_FORMAT0), 32 | (15 << 11), "texture 0 reads"),
        (
            first(mmio::VAP_VTX_AOS_ADDR_EVEN),
            VERTICES + 4,
            "vertex array 0 reads",
        ),
        (
            first(mmio::VAP_VTX_AOS_ATTR),
            0x0405,
            "vertex array 0 reads",
        ),
        (
            first(mmio::RB3D_COLORPITCH),
            34 | (6 << 21),
            "colour target 0 writes",
        ),
    ];
    for (offset, value, who) in more {
        let mut b = bench();
        let found = run(
            &mut b,
            &[&scene(), &type0(offset, &[value]), &triangle(), &flush()],
        );
        assert_eq!(found[0].0, kind::OUTSIDE_OBJECTS, "{who}");
        assert!(found[0].1.starts_with(who), "{}", found[0].1);
        assert!(found[0].1.contains("3D_DRAW_VBUF_2"), "{}", found[0].1);
        assert_eq!(found.len(), 1, "{found:?}");
    }
}

#[test]
fn what_leads_nowhere_is_found_without_objects() {
    for (offset, value) in [
        (first(mmio::TX_OFFSET), 0x1000_0000),
        (first(mmio::RB3D_COLOROFFSET), 0xffff_ff00),
        (mmio::ZB_DEPTHOFFSET, Bench::VRAM + (1 << 20) + 0x2_0000),
        (
            first(mmio::VAP_VTX_AOS_ADDR_EVEN),
            Bench::GTT + Bench::GTT_LEN,
        ),
    ] {
        let mut b = bench();
        b.clear_objects();
        let found = run(
            &mut b,
            &[&scene(), &type0(offset, &[value]), &triangle(), &flush()],
        );
        let kinds: Vec<Kind> = found.iter().map(|f| f.0).collect();
        assert_eq!(kinds, [kind::ADDRESS_UNMAPPED], "{offset:#x}");
    }
}

/// Return an INDX_BUFFER packet that feeds the vertex unit.
fn index_buffer(at: u32, dwords: u32) -> Vec<u32> {
    let port = (1 << 31) | (first(mmio::VAP_PORT_IDX) / 4);
    type3(op::INDX_BUFFER, &[port, at, dwords])
}

#[test]
fn indices_are_read_from_memory() {
    let mut b = bench();
    b.object(INDICES, 8, "indices");
    assert!(b.put(INDICES, &[2, 0, 1, 0, 0, 0, 0xff, 0xff]));
    let draw = type3(op::_3D_DRAW_INDX_2, &[0x0003_0014]);
    let found = run(
        &mut b,
        &[&scene(), &draw, &index_buffer(INDICES, 2), &flush()],
    );
    assert_eq!(found, [], "the fourth half is no index");
    assert!(b.put(INDICES, &[3]));
    let found = run(
        &mut b,
        &[&scene(), &draw, &index_buffer(INDICES, 2), &flush()],
    );
    assert_eq!(found.len(), 1);
    assert!(
        found[0].1.starts_with("vertex array 0 reads"),
        "{}",
        found[0].1
    );
    // The clamp keeps it inside.
    let clamp = type0(mmio::VAP_VF_MAX_VTX_INDX, &[2]);
    let found = run(
        &mut b,
        &[&scene(), &clamp, &draw, &index_buffer(INDICES, 2), &flush()],
    );
    assert_eq!(found, []);
    // And the indices themselves have an object.
    let found = run(
        &mut b,
        &[
            &scene(),
            &clamp,
            &draw,
            &index_buffer(INDICES + 4, 2),
            &flush(),
        ],
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].1.starts_with("Index read"), "{}", found[0].1);
}

#[test]
fn draws_and_their_data_belong_together() {
    let mut b = bench();
    let draw = type3(op::_3D_DRAW_INDX_2, &[0x0003_0014, 0x0001_0002]);
    let found = run(&mut b, &[&scene(), &draw, &triangle(), &flush()]);
    assert_eq!(found[0].0, kind::DRAW_DATA_MISSING);
    let port = type0(first(mmio::VAP_PORT_IDX), &[0]);
    let found = run(&mut b, &[&draw, &port, &flush()]);
    assert_eq!(found, []);
    let found = run(&mut b, &[&port]);
    assert_eq!(found[0].0, kind::DRAW_DATA_UNEXPECTED);
    // Where draws are ignored their data is, too.
    let ignored = type0(mmio::VAP_CNTL, &[mmio::vap_cntl::VAP_NO_RENDER.mask()]);
    let found = run(&mut b, &[&ignored, &draw, &port, &port, &flush()]);
    assert_eq!(found, []);
    b.write(mmio::VAP_CNTL, 0);
    // A write of the register alone begins a draw as well.
    let found = run(
        &mut b,
        &[&type0(mmio::VAP_VF_CNTL, &[0x0004_0024]), &flush()],
    );
    assert_eq!(found[0].0, kind::OUTSIDE_OBJECTS);
}

#[test]
fn a_draw_without_its_data_never_ends() {
    let mut b = bench();
    let draw = type3(op::_3D_DRAW_INDX_2, &[0x0003_0014]);
    let found = run(&mut b, &[&scene(), &draw, &flush()]);
    assert_eq!((found[0].0, found.len()), (kind::DRAW_DATA_MISSING, 1));
    // A reset of the vertex unit helps as well.
    assert_eq!(run(&mut b, &[&draw]), []);
    assert!(mmio::rbbm_status::VAP_BUSY.any(b.read(mmio::RBBM_STATUS)));
    let csq = b.read(mmio::CP_CSQ_CNTL);
    b.write(mmio::CP_CSQ_CNTL, 0);
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_VAP.mask(),
    );
    b.read(mmio::RBBM_SOFT_RESET);
    b.write(mmio::RBBM_SOFT_RESET, 0);
    b.write(mmio::CP_CSQ_CNTL, csq);
    assert_eq!(run(&mut b, &[&triangle(), &flush()]), []);
}

#[test]
fn clean_means_colour_and_depth() {
    let parts = flush();
    let (color, rest) = parts.split_at(2);
    let (depth, wait) = rest.split_at(2);
    let mut b = bench();
    assert_eq!(
        run(&mut b, &[&scene(), &triangle(), color, depth, wait]),
        []
    );
    for one in [color, depth] {
        let found = run(&mut b, &[&triangle(), one, wait]);
        assert_eq!(found[0].0, kind::WAIT_ON_DIRTY_CACHE);
    }
}

/// Return registers that say where the lines of a cache go, with a value that is not the scene's, and whose cache it
/// is.
fn bound_registers() -> [(u32, u32, &'static str); 10] {
    [
        (first(mmio::RB3D_COLOROFFSET), COLOR + 32, "colour"),
        (mmio::RB3D_COLOROFFSET.at(2).unwrap(), COLOR, "colour"),
        (first(mmio::RB3D_COLORPITCH), 32 | (4 << 21), "colour"),
        (mmio::RB3D_COLORPITCH.at(3).unwrap(), 64, "colour"),
        (mmio::RB3D_CCTL, 1 << 10, "colour"),
        (mmio::RB3D_CCTL, 1 << 9, "colour"),
        (mmio::RB3D_AARESOLVE_CTL, 1, "colour"),
        (mmio::ZB_DEPTHOFFSET, DEPTH + 32, "depth"),
        (mmio::ZB_DEPTHPITCH, 32 | (1 << 17), "depth"),
        (mmio::ZB_FORMAT, 1, "depth"),
    ]
}

#[test]
fn registers_that_need_an_empty_cache() {
    let purge = flush();
    let begin = [scene(), triangle()].concat();
    // On a chip of its own: how often the change is found, if it comes behind that.
    let found = |before: &[u32], change: &[u32]| {
        let mut b = bench();
        run(&mut b, &[before, change, &purge])
            .into_iter()
            .filter(|f| f.0 == kind::CACHE_NOT_EMPTY)
            .map(|f| f.1)
            .collect::<Vec<String>>()
    };
    for (offset, value, cache) in bound_registers() {
        let change = type0(offset, &[value]);
        let details = found(&begin, &change);
        assert_eq!(details.len(), 1, "{offset:#x}");
        let which = format!("{cache} cache");
        assert!(details[0].contains(&which), "{}", details[0]);
        assert!(found(&scene(), &change).is_empty(), "nothing is drawn");
        let purged = [&begin[..], &purge].concat();
        assert!(found(&purged, &change).is_empty(), "{offset:#x}");
        // A flush alone leaves the lines where they are, and the other cache's purge is no help.
        for (at, half) in [(1, 0x2), (1, 0), (3, 1), (3, 0)] {
            let mut part = purge.clone();
            part[at] = half;
            let before = [&begin[..], &part[..4]].concat();
            let own = (at == 1) == (cache == "colour");
            assert_eq!(
                found(&before, &change).len(),
                usize::from(own),
                "{offset:#x}"
            );
        }
    }
}

#[test]
fn registers_that_a_full_cache_bears() {
    for (offset, value) in [
        (first(mmio::RB3D_COLOROFFSET), COLOR),
        (mmio::RB3D_CCTL, 1 << 14),
        (mmio::RB3D_AARESOLVE_CTL, 2),
        (mmio::RB3D_AARESOLVE_OFFSET, COLOR),
        (mmio::RB3D_AARESOLVE_PITCH, 64),
        (mmio::ZB_FORMAT, 2 | (1 << 4)),
        (mmio::ZB_BW_CNTL, 1),
    ] {
        let mut b = bench();
        let change = type0(offset, &[value]);
        let found = run(&mut b, &[&scene(), &triangle(), &change, &flush()]);
        assert_eq!(found, [], "{offset:#x}");
    }
    // While samples are resolved, where they go is one of the others.
    for register in [mmio::RB3D_AARESOLVE_OFFSET, mmio::RB3D_AARESOLVE_PITCH] {
        let mut b = bench();
        b.clear_objects();
        let resolve = [
            type0(mmio::RB3D_AARESOLVE_OFFSET, &[TEXTURE, 32, 1]),
            triangle(),
        ]
        .concat();
        let change = type0(register, &[COLOR]);
        let found = run(&mut b, &[&scene(), &resolve, &change, &flush()]);
        assert_eq!(found[0].0, kind::CACHE_NOT_EMPTY, "{found:?}");
    }
}

#[test]
fn a_purge_of_some_pipes_empties_no_cache() {
    let change = type0(first(mmio::RB3D_COLOROFFSET), &[COLOR + 32]);
    for (pipes, quiet) in [(0xf, true), (7, false)] {
        let mut b = Bench::new("r580", 1 << 20).unwrap();
        let select = type0(mmio::SU_REG_DEST, &[pipes]);
        let all = type0(mmio::SU_REG_DEST, &[0xf]);
        let parts = [&scene(), &triangle(), &select, &flush(), &all, &change];
        let parts: Vec<&[u32]> = parts.iter().map(|p| &p[..]).collect();
        let found = run(&mut b, &parts);
        assert_eq!(found.is_empty(), quiet, "{found:?}");
    }
}

#[test]
fn what_was_drawn_is_flushed_before_it_is_read() {
    let mut b = bench();
    let source = type0(first(mmio::TX_OFFSET), &[COLOR]);
    let target = type0(first(mmio::RB3D_COLOROFFSET), &[TEXTURE]);
    let invalidate = type0(mmio::TX_INVALTAGS, &[0]);
    let begin = [scene(), triangle()].concat();
    let found = run(&mut b, &[&begin, &source, &target, &triangle(), &flush()]);
    let kinds: Vec<Kind> = found.iter().map(|f| f.0).collect();
    assert_eq!(kinds, [kind::STALE_READ, kind::CACHE_NOT_EMPTY]);
    assert!(found[0].1.contains("the colour cache"), "{}", found[0].1);
    // Flushed, and then the other way round: what is in the texture cache is from before.
    let back = [
        &type0(first(mmio::TX_OFFSET), &[TEXTURE])[..],
        &type0(first(mmio::RB3D_COLOROFFSET), &[COLOR]),
    ]
    .concat();
    b.reset();
    for (begin_drawing, quiet) in [(&invalidate[..], true), (&[], false)] {
        let mut b = bench();
        let found = run(
            &mut b,
            &[
                &begin,
                &flush(),
                &source,
                &target,
                &triangle(),
                &flush(),
                begin_drawing,
                &back,
                &triangle(),
                &flush(),
            ],
        );
        assert_eq!(found.is_empty(), quiet, "{found:?}");
        if !quiet {
            assert!(found[0].1.contains("texture cache"), "{}", found[0].1);
        }
    }
}

#[test]
fn counters_of_visible_pixels() {
    let at = |n: u32| VERTICES + 0x100 + 4 * n;
    let ask = |select: u32, pipes: u32, address: u32| {
        [
            type0(select, &[pipes]),
            type0(mmio::ZB_ZPASS_ADDR, &[address]),
            type0(select, &[0xf]),
        ]
        .concat()
    };
    for (chip, select, units) in [
        ("rv515", mmio::SU_REG_DEST, 1),
        ("rv530", mmio::FG_ZBREG_DEST, 2),
        ("rv570", mmio::SU_REG_DEST, 3),
        ("r580", mmio::SU_REG_DEST, 4),
    ] {
        let mut b = Bench::new(chip, 1 << 20).unwrap();
        b.put(at(0), &[0xee; 32]);
        b.object(at(0), 4 * u64::from(units), "counters");
        assert!(b.execute(&type0(mmio::ZB_ZPASS_DATA, &[0])));
        for unit in 0..units {
            assert!(b.execute(&ask(select, 1 << unit, at(unit))));
        }
        // No such unit: nothing is written.
        assert!(b.execute(&ask(select, 1 << units, at(units))));
        assert_eq!(b.findings(), [], "{chip}");
        for n in 0..=units {
            let mut word = [1; 4];
            b.get(at(n), &mut word);
            assert_eq!(
                word,
                if n < units { [0; 4] } else { [0xee; 4] },
                "{chip} {n}"
            );
        }
        assert!(b.execute(&ask(select, 1, at(units))));
        let found = b.findings();
        assert_eq!((found[0].0, found.len()), (kind::OUTSIDE_OBJECTS, 1));
        assert!(found[0].2.starts_with("ZPass write"), "{}", found[0].2);
    }
}

#[test]
fn clears_stay_on_the_chip() {
    let mut b = bench();
    for (opcode, size, name) in [
        (op::_3D_CLEAR_HIZ, 10240, "hiz"),
        (op::_3D_CLEAR_ZMASK, 4096, "zmask"),
        (op::_3D_CLEAR_CMASK, 5120, "cmask"),
    ] {
        assert_eq!(run(&mut b, &[&type3(opcode, &[0, size, 9])]), []);
        assert_eq!(b.on_chip(name), Some(&vec![9; size as usize][..]));
        assert_eq!(run(&mut b, &[&type3(opcode, &[size - 1, 1, 5])]), []);
        let words = b.on_chip(name).unwrap();
        assert_eq!(words[size as usize - 2..], [9, 5]);
        assert_eq!(
            run(&mut b, &[&type3(opcode, &[1, size, 0])])[0].0,
            kind::ON_CHIP_RANGE
        );
        assert_eq!(
            run(&mut b, &[&type3(opcode, &[u32::MAX, 1, 0])])[0].0,
            kind::ON_CHIP_RANGE
        );
        assert_eq!(
            run(&mut b, &[&type3(opcode, &[0, 1])])[0].0,
            kind::PACKET_LENGTH
        );
    }
}

#[test]
fn the_journal_says_who_touched_what() {
    let mut b = bench();
    assert!(b.touched().is_empty());
    assert!(b.execute(&[scene(), triangle(), flush()].concat()));
    let touch = |who, write, object, start: u32, len: u64| Touch {
        who: Who::Client(who),
        write,
        object: Some(object),
        start: start.into(),
        end: u64::from(start) + len,
    };
    assert_eq!(
        b.touched(),
        [
            touch(Client::Texture(0), false, 2, TEXTURE, 0x800),
            touch(Client::Color(0), true, 0, COLOR, 0x800),
            touch(Client::Depth, false, 1, DEPTH, 0x800),
            touch(Client::Depth, true, 1, DEPTH, 0x800),
            touch(Client::Vertex(0), false, 3, VERTICES, 0x30),
        ]
    );
    assert!(b.execute(&type0(mmio::ZB_ZPASS_ADDR, &[COLOR + 0x7fc])));
    let t = b.touched();
    assert_eq!(
        (t[0].who, t[0].start, t[0].end),
        (
            Who::Unit(Unit::ZPass),
            u64::from(COLOR) + 0x7fc,
            u64::from(COLOR) + 0x800
        )
    );
    b.reset();
    assert!(b.touched().is_empty());
}

/// As drivers send it: one array, padded to a pair.
#[test]
fn a_padded_pair_of_arrays() {
    let mut b = bench();
    assert_eq!(
        run(
            &mut b,
            &[&type3(op::_3D_LOAD_VBPNTR, &[1, 0x0404, VERTICES, 0])]
        ),
        []
    );
    assert_eq!(b.peek("VAP_VTX_AOS_ADDR_EVEN[0]"), Some(VERTICES));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever the registers hold, a draw is judged without panic and in bounded time.
    #[test]
    fn any_state_can_be_drawn_with(
        writes in vec((any::<prop::sample::Index>(), any::<u32>()), 0..120),
        cntl in any::<u32>(),
        data in vec(any::<u32>(), 0..40),
    ) {
        let pipe: Vec<u32> = REGISTERS
            .iter()
            .filter(|r| ["VAP", "GB", "SU", "SC", "TX", "US", "FG", "CB", "ZB"].contains(&r.block))
            .filter(|r| r.variants.is_empty())
            .flat_map(|r| (0..r.len).map(|i| r.offset + i * r.stride))
            // What the header of a packet has room for.
            .filter(|offset| *offset < 0x8000)
            .collect();
        for chip in ["rv515", "rv530", "r580"] {
            let mut b = Bench::new(chip, 1 << 20).unwrap();
            let mut words = scene();
            for (i, value) in &writes {
                words.extend(type0(*i.get(&pipe), &[*value]));
            }
            words.extend(type3(op::_3D_DRAW_INDX_2, &[&[cntl], &data[..]].concat()));
            words.extend(triangle());
            let ended = b.execute(&words);
            let found = b.findings();
            prop_assert!(ended, "{chip} {:?} {found:?}", b.peek("RBBM_STATUS"));
        }
    }
}
