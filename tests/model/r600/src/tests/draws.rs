// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws through the ring: packets, and what the memory side makes of footprints.

use std::time::Instant;

use super::*;
use crate::bench::{By, Client, Touch};
use crate::unit::Unit;

/// Return packets that write registers of the context, or constants' range.
fn set(register: u32, values: &[u32]) -> Vec<u32> {
    let (opcode, base) = match register {
        0x8000..0xac00 => (op::SET_CONFIG_REG, 0x8000),
        0x38000.. => (op::SET_RESOURCE, 0x38000),
        _ => (op::SET_CONTEXT_REG, 0x28000),
    };
    let mut words = vec![
        packet(opcode, 1 + values.len() as u32),
        (register - base) / 4,
    ];
    words.extend(values);
    words
}

const CORNER: u32 = 64 | (64 << 16);

/// Return state with which a draw can reach pixels, and programs at the start of VRAM.
fn scene() -> Vec<u32> {
    [
        vec![packet(op::CONTEXT_CONTROL, 2), 1 << 31, 1 << 31],
        set(mmio::PA_SC_SCREEN_SCISSOR_BR, &[CORNER]),
        set(mmio::PA_SC_WINDOW_SCISSOR_BR, &[CORNER]),
        set(mmio::PA_SC_GENERIC_SCISSOR_BR, &[CORNER]),
        set(mmio::SQ_PGM_START_PS, &[0]),
        set(mmio::SQ_PGM_START_VS, &[0]),
        set(mmio::SQ_PGM_START_FS, &[0]),
        set(mmio::SQ_PGM_EXPORTS_PS, &[2]),
        set(mmio::VGT_PRIMITIVE_TYPE, &[4]),
        vec![packet(op::INDEX_TYPE, 1), 0],
        vec![packet(op::NUM_INSTANCES, 1), 1],
    ]
    .concat()
}

fn auto(count: u32) -> Vec<u32> {
    vec![packet(op::DRAW_INDEX_AUTO, 2), count, 2]
}

fn indexed(base: u64, count: u32) -> Vec<u32> {
    vec![
        packet(op::DRAW_INDEX, 4),
        base as u32,
        (base >> 32) as u32,
        count,
        0,
    ]
}

/// Return a buffer resource.
fn buffer(slot: u32, base: u64, bytes: u32) -> Vec<u32> {
    set(
        0x38000 + slot * 28,
        &[
            base as u32,
            bytes - 1,
            (base >> 32) as u32,
            0,
            0,
            0,
            3 << 30,
        ],
    )
}

/// Execute the scene and more. Return what draws have touched, besides programs.
fn touched(b: &mut Bench, more: &[Vec<u32>]) -> Vec<(By, bool, u64, u64)> {
    b.touched();
    assert!(b.execute(&[scene(), more.concat()].concat()));
    let program = |t: &Touch| matches!(t.who.by, By::Client(Client::Program(_)));
    b.touched()
        .iter()
        .filter(|t| !program(t))
        .map(|t| (t.who.by, t.write, t.start, t.end))
        .collect()
}

fn reads(client: Client, start: u64, end: u64) -> (By, bool, u64, u64) {
    (By::Client(client), false, start, end)
}

#[test]
fn a_draw_touches_what_it_may() {
    let mut b = bench();
    let stream = [buffer(160, 0x1000, 0x100), auto(3)];
    assert_eq!(
        touched(&mut b, &stream),
        [reads(Client::Buffer(160), 0x1000, 0x1100)]
    );
    assert_eq!(b.findings(), []);
    assert_eq!(b.counter("draws_not_executed"), 1);
    assert_eq!(b.counter("draw_bytes_read"), 0x100 + 3 * 16);
    assert_eq!(b.counter("draw_bytes_written"), 0);
}

#[test]
fn a_draw_of_nothing_touches_nothing() {
    let mut b = bench();
    assert_eq!(touched(&mut b, &[indexed(0x1000, 0), auto(0)]), []);
    let none = set(mmio::VGT_PRIMITIVE_TYPE, &[0]);
    assert_eq!(touched(&mut b, &[none, auto(3)]), []);
    assert_eq!(b.findings(), []);
    assert_eq!(b.counter("draws_not_executed"), 3);
}

#[test]
fn an_opaque_draw_has_its_number_elsewhere() {
    let mut b = bench();
    let opaque = vec![packet(op::DRAW_INDEX_AUTO, 2), 0, 2 | (1 << 6)];
    let stream = [buffer(160, 0x1000, 0x100), opaque];
    assert_eq!(
        touched(&mut b, &stream),
        [reads(Client::Buffer(160), 0x1000, 0x1100)]
    );
    assert_eq!(b.findings(), []);
}

#[test]
fn indices_are_fetched_by_their_width() {
    let mut b = bench();
    let read = |end| reads(Client::Index, Bench::GTT + 6, end);
    let base = Bench::GTT + 6;
    assert_eq!(touched(&mut b, &[indexed(base, 5)]), [read(base + 10)]);
    assert_eq!(b.findings(), []);
    let wide = vec![packet(op::INDEX_TYPE, 1), 1];
    let all = touched(&mut b, &[wide.clone(), indexed(base + 2, 5)]);
    assert_eq!(all, [reads(Client::Index, base + 2, base + 22)]);
    assert_eq!(b.findings(), []);
    assert_eq!(b.peek("VGT_INDEX_TYPE"), Some(1));
    touched(&mut b, &[wide, indexed(base, 5)]);
    assert_eq!(
        kinds(&mut b),
        [kind::DRAW_INDICES],
        "not a multiple of four"
    );
    touched(&mut b, &[indexed(base + 1, 5)]);
    assert_eq!(kinds(&mut b), [kind::DRAW_INDICES], "odd");
    let last = (1u64 << 40) - 2;
    touched(&mut b, &[indexed(last, 5)]);
    assert_eq!(kinds(&mut b), [kind::ADDRESS_UNMAPPED], "40 bits");
}

#[test]
fn draw_index_2_is_bounded_by_its_first_dword_and_not_known() {
    let mut b = bench();
    let draw = vec![packet(op::DRAW_INDEX_2, 5), 4, 0x1000, 0, 9, 0];
    assert_eq!(
        touched(&mut b, &[draw]),
        [reads(Client::Index, 0x1000, 0x1008)]
    );
    assert_eq!(kinds(&mut b), [kind::UNDEFINED_PACKET]);
}

#[test]
fn indices_in_the_packet_fit_it() {
    let mut b = bench();
    let draw = |opcode, count: u32, dwords: u32| {
        let mut words = vec![packet(opcode, 2 + dwords), count, 1];
        words.resize(words.len() + dwords as usize, 0);
        words
    };
    let rectangles = set(mmio::VGT_PRIMITIVE_TYPE, &[17]);
    let wide = vec![packet(op::INDEX_TYPE, 1), 1];
    for (more, good) in [
        (draw(op::DRAW_INDEX_IMMD, 5, 3), true),
        (draw(op::DRAW_INDEX_IMMD, 5, 2), false),
        (draw(op::DRAW_INDEX_IMMD, 5, 4), false),
        (
            [wide.clone(), draw(op::DRAW_INDEX_IMMD, 5, 5)].concat(),
            true,
        ),
        (
            [wide.clone(), draw(op::DRAW_INDEX_IMMD, 5, 3)].concat(),
            false,
        ),
        (draw(op::DRAW_INDEX_IMMD_BE, 5, 3), true),
        ([wide, draw(op::DRAW_INDEX_IMMD_BE, 5, 3)].concat(), false),
        ([rectangles, draw(op::MPEG_INDEX, 9, 3)].concat(), true),
        (draw(op::MPEG_INDEX, 9, 3), false),
    ] {
        assert_eq!(touched(&mut b, &[more.clone()]), []);
        let expected: &[Kind] = if good { &[] } else { &[kind::DRAW_INDICES] };
        assert_eq!(kinds(&mut b), expected, "{more:x?}");
    }
    let instances = vec![packet(op::NUM_INSTANCES, 1), 2];
    touched(
        &mut b,
        &[instances.clone(), draw(op::DRAW_INDEX_IMMD, 2, 1)],
    );
    assert_eq!(kinds(&mut b), [kind::INSTANCED_IMMEDIATE]);
    touched(&mut b, &[instances, auto(3)]);
    assert_eq!(b.findings(), []);
}

#[test]
fn a_draw_packet_names_its_own_source() {
    let mut b = bench();
    touched(&mut b, &[vec![packet(op::DRAW_INDEX_AUTO, 2), 3, 1]]);
    assert_eq!(kinds(&mut b), [kind::DRAW_SOURCE]);
    touched(&mut b, &[vec![packet(op::DRAW_INDEX, 4), 0, 0, 3, 2]]);
    assert_eq!(kinds(&mut b), [kind::DRAW_SOURCE]);
    touched(
        &mut b,
        &[vec![packet(op::DRAW_INDEX_AUTO, 2), 3, 2 | (2 << 2)]],
    );
    assert_eq!(kinds(&mut b), [kind::RESERVED_VALUE]);
    touched(&mut b, &[set(mmio::VGT_PRIMITIVE_TYPE, &[8]), auto(3)]);
    assert_eq!(kinds(&mut b), [kind::RESERVED_VALUE]);
    for bad in [
        vec![packet(op::DRAW_INDEX_AUTO, 1), 3],
        vec![packet(op::DRAW_INDEX_AUTO, 3), 3, 2, 0],
        vec![packet(op::DRAW_INDEX, 3), 0, 0, 3],
    ] {
        touched(&mut b, &[bad]);
        assert_eq!(kinds(&mut b), [kind::PACKET_LENGTH]);
    }
}

#[test]
fn the_register_that_starts_draws_starts_one() {
    let mut b = bench();
    let state = [
        set(mmio::VGT_DMA_BASE_HI, &[0, 0x1000]),
        set(mmio::VGT_DMA_SIZE, &[8]),
        set(mmio::VGT_NUM_INDICES, &[8]),
        set(mmio::VGT_DRAW_INITIATOR, &[0]),
    ];
    assert_eq!(
        touched(&mut b, &state),
        [reads(Client::Index, 0x1000, 0x1010)]
    );
    assert_eq!(b.findings(), []);
}

#[test]
fn a_predicate_skips_a_draw() {
    let mut b = bench();
    b.put(0x2000, &[0; 64]);
    let predicate = vec![packet(op::SET_PREDICATION, 2), 0x2000, (1 << 16) | (1 << 8)];
    let draw = vec![packet(op::DRAW_INDEX_AUTO, 2) | 1, 3, 2];
    let stream = [predicate, buffer(160, 0x1000, 0x100), draw];
    let clients = |b: &mut Bench| {
        let all = touched(b, &stream);
        all.iter().filter(|t| matches!(t.0, By::Client(_))).count()
    };
    assert_eq!(clients(&mut b), 0);
    // The last backend has seen something.
    b.put(0x2000 + 3 * 16 + 8, &1u64.to_le_bytes());
    assert_eq!(clients(&mut b), 1);
    assert_eq!(b.findings(), []);
    b.execute(&[packet(op::SET_PREDICATION, 2), 0, 0]);
}

#[test]
fn a_predicate_reads_what_its_query_has_written() {
    let mut b = bench();
    let read = |b: &mut Bench, operation: u32| {
        b.touched();
        b.execute(&[packet(op::SET_PREDICATION, 2), 0x2000, operation << 16]);
        let all = b.touched();
        let ends = all.iter().map(|t| (t.who.by, t.write, t.start, t.end));
        ends.collect::<Vec<_>>()
    };
    let by = By::Unit(Unit::Cp);
    assert_eq!(
        read(&mut b, 1),
        [(by, false, 0x2000, 0x2040)],
        "four backends"
    );
    assert_eq!(read(&mut b, 2), [(by, false, 0x2000, 0x2020)]);
    assert_eq!(read(&mut b, 0), []);
}

#[test]
fn footprints_are_judged_against_objects_and_pages() {
    let mut b = bench();
    b.object(0, 0x1100, "programs and a buffer");
    touched(&mut b, &[buffer(160, 0x1000, 0x100), auto(3)]);
    assert_eq!(b.findings(), []);
    touched(&mut b, &[buffer(160, 0x1000, 0x101), auto(3)]);
    assert_eq!(kinds(&mut b), [kind::OUTSIDE_OBJECTS]);
    b.clear_objects();
    let end = b.vram_len() + (1 << 20);
    touched(&mut b, &[buffer(160, end - 0x100, 0x100), auto(3)]);
    assert_eq!(b.findings(), []);
    touched(&mut b, &[buffer(160, end - 0x100, 0x101), auto(3)]);
    assert_eq!(kinds(&mut b), [kind::ADDRESS_UNMAPPED], "behind VRAM");
    let last = Bench::GTT + Bench::GTT_LEN - 0x100;
    touched(&mut b, &[buffer(160, last, 0x100), auto(3)]);
    assert_eq!(b.findings(), []);
    touched(&mut b, &[buffer(160, last, 0x101), auto(3)]);
    assert_eq!(kinds(&mut b), [kind::ADDRESS_UNMAPPED], "behind the window");
}

/// Return where the page table has the entry of a page of GTT.
fn entry(page: u64) -> u64 {
    Bench::VRAM_LEN + ((1 << 20) / 4096 + page) * 8
}

#[test]
fn a_page_in_the_middle_counts_until_an_invalidation() {
    let mut b = bench();
    let stream = [buffer(160, Bench::GTT, 0x5000), auto(3)];
    touched(&mut b, &stream);
    assert_eq!(b.findings(), []);
    let mut kept = [0; 8];
    b.parts().1.vram.read(entry(3), &mut kept);
    b.parts().1.vram.write(entry(3), &[0; 8]);
    touched(&mut b, &stream);
    assert_eq!(b.findings(), [], "known to lead to memory");
    b.write(
        mmio::VM_CONTEXT0_INVALIDATION_LOW_ADDR,
        (Bench::GTT >> 12) as u32,
    );
    b.write(
        mmio::VM_CONTEXT0_INVALIDATION_HIGH_ADDR,
        (Bench::GTT >> 12) as u32 + 8,
    );
    b.write(mmio::VM_CONTEXT0_REQUEST_RESPONSE, 1);
    touched(&mut b, &stream);
    assert_eq!(kinds(&mut b), [kind::VM_FAULT]);
    // A page that may only be read is no place for a target.
    b.parts().1.vram.write(
        entry(3),
        &(u64::from_le_bytes(kept) & !(1 << 6)).to_le_bytes(),
    );
    b.write(mmio::VM_CONTEXT0_REQUEST_RESPONSE, 1);
    touched(&mut b, &stream);
    assert_eq!(b.findings(), []);
    let size = mmio::SQ_REDUC_RING_SIZE;
    let ring = set(mmio::SQ_REDUC_RING_BASE, &[(Bench::GTT >> 8) as u32, 0x50]);
    touched(&mut b, &[ring, auto(3)]);
    assert_eq!(kinds(&mut b), [kind::VM_FAULT]);
    b.execute(&set(size, &[0]));
}

#[test]
fn what_is_left_over_may_be_old_in_the_tlb() {
    let mut b = bench();
    touched(&mut b, &[buffer(160, Bench::GTT, 0x1000), auto(3)]);
    assert_eq!(b.findings(), []);
    let mut kept = [0; 8];
    b.parts().1.vram.read(entry(0), &mut kept);
    let moved = u64::from_le_bytes(kept) + 4096;
    b.parts().1.vram.write(entry(0), &moved.to_le_bytes());
    // Not the same area: it is known that the first one leads to memory.
    let other = buffer(160, Bench::GTT, 0x800);
    touched(&mut b, &[other.clone()]);
    touched(&mut b, &[auto(3)]);
    assert_eq!(b.findings(), []);
    touched(&mut b, &[other, auto(3)]);
    assert_eq!(kinds(&mut b), [kind::VM_STALE_TLB]);
}

#[test]
fn what_is_left_over_may_lead_nowhere() {
    let mut b = bench();
    let nowhere = buffer(160, 0x5000_0000, 0x100);
    touched(&mut b, &[nowhere.clone(), auto(3)]);
    assert_eq!(kinds(&mut b), [kind::ADDRESS_UNMAPPED]);
    let left = reads(Client::Buffer(160), 0x5000_0000, 0x5000_0100);
    assert_eq!(
        touched(&mut b, &[auto(3)]),
        [left],
        "it still belongs to the footprint"
    );
    assert_eq!(b.findings(), []);
    assert_eq!(b.counter("left_over_without_memory"), 1);
    b.object(0, 0x1000, "programs");
    touched(&mut b, &[auto(3)]);
    assert_eq!(kinds(&mut b), [kind::OUTSIDE_OBJECTS]);
}

#[test]
fn r6xx_begins_buffers_with_a_packet() {
    let mut b = Bench::new("rv635").unwrap();
    let begin = vec![packet(op::START_3D_CMDBUF, 1), 0];
    touched(&mut b, &[auto(3)]);
    assert_eq!(kinds(&mut b), [kind::NO_START_3D]);
    touched(&mut b, &[begin.clone(), auto(3)]);
    assert_eq!(b.findings(), []);
    touched(&mut b, &[auto(3)]);
    assert_eq!(kinds(&mut b), [kind::NO_START_3D], "once for each buffer");
    let mut b = bench();
    touched(&mut b, &[auto(3)]);
    assert_eq!(b.findings(), []);
    touched(&mut b, &[begin]);
    assert_eq!(kinds(&mut b), [kind::UNDEFINED_PACKET]);
}

#[test]
fn a_changed_base_is_announced_before_it_is_compared() {
    let base = set(mmio::CB_COLOR_BASE.at(2).unwrap(), &[0x1000]);
    let sync = vec![packet(op::SURFACE_SYNC, 4), 1 << 8, u32::MAX, 0, 10];
    let update = |bits| vec![packet(op::SURFACE_BASE_UPDATE, 1), bits];
    let run = |chip, words: &[Vec<u32>]| {
        let mut b = Bench::new(chip).unwrap();
        assert!(b.execute(&words.concat()));
        kinds(&mut b)
    };
    let missing = [kind::SURFACE_NOT_ANNOUNCED];
    assert_eq!(run("rv635", &[base.clone(), sync.clone()]), missing);
    assert_eq!(
        run("rv635", &[base.clone(), update(1 << 2), sync.clone()]),
        missing
    );
    assert_eq!(
        run("rv635", &[base.clone(), update(1 << 3), sync.clone()]),
        []
    );
    assert_eq!(
        run("rv635", &[update(1 << 3), base.clone(), sync.clone()]),
        missing
    );
    let other = vec![packet(op::SURFACE_SYNC, 4), 1 << 25, u32::MAX, 0, 10];
    assert_eq!(
        run("rv635", &[base.clone(), other]),
        [],
        "nothing is compared"
    );
    let depth = set(mmio::DB_DEPTH_BASE, &[0x1000]);
    let sync_depth = vec![packet(op::SURFACE_SYNC, 4), 1 << 14, u32::MAX, 0, 10];
    assert_eq!(run("rv635", &[depth, sync_depth]), missing);
    let same = set(mmio::CB_COLOR_BASE.at(2).unwrap(), &[0]);
    assert_eq!(run("rv635", &[same, sync.clone()]), [], "no change");
    for chip in ["r600", "rv770"] {
        assert_eq!(run(chip, &[base.clone(), sync.clone()]), []);
        assert_eq!(run(chip, &[update(1)]), [kind::UNDEFINED_PACKET]);
    }
}

#[test]
fn the_cpu_may_see_old_bytes_of_what_a_draw_has_written() {
    let mut b = bench();
    let ring = set(mmio::SQ_REDUC_RING_BASE, &[0x30_00, 1]);
    touched(&mut b, &[ring, auto(3)]);
    let look = |b: &mut Bench, at: u64| {
        let (chip, m) = b.parts();
        chip.vram_read(m, at, &mut [0; 4]);
        kinds(b)
    };
    assert_eq!(look(&mut b, 0x30_0000), [kind::STALE_READ]);
    assert_eq!(look(&mut b, 0x30_0100), []);
    b.write(mmio::HDP_DEBUG1, 0);
    assert_eq!(look(&mut b, 0), []);
    assert_eq!(look(&mut b, 0x30_0000), []);
}

#[test]
fn a_draw_that_writes_what_is_shown_is_found() {
    let mut b = Bench::new("rv770").unwrap();
    for (register, value) in [
        (mmio::D1GRPH_PRIMARY_SURFACE_ADDRESS, 0x30_0000),
        (mmio::D1GRPH_PITCH, 64),
        (mmio::D1GRPH_X_END, 64),
        (mmio::D1GRPH_Y_END, 64),
        (mmio::D1GRPH_CONTROL, 2),
        (mmio::D1GRPH_ENABLE, 1),
        (mmio::D1CRTC_CONTROL, 1),
    ] {
        b.write(register, value);
    }
    b.findings();
    let ring = |base| set(mmio::SQ_REDUC_RING_BASE, &[base, 1]);
    touched(&mut b, &[ring(0x30_00), auto(3)]);
    assert_eq!(kinds(&mut b), [kind::SCANOUT_OVERWRITTEN]);
    touched(&mut b, &[ring(0x50_00), auto(3)]);
    assert_eq!(b.findings(), []);
}

#[test]
fn the_prefetch_parser_waits_for_the_micro_engine_on_r7xx_only() {
    let mut b = bench();
    assert!(b.execute(&[packet(op::PFP_SYNC_ME, 1), 0]));
    assert_eq!(b.findings(), []);
    let mut b = Bench::new("rv670").unwrap();
    b.execute(&[packet(op::PFP_SYNC_ME, 1), 0]);
    assert_eq!(kinds(&mut b), [kind::UNDEFINED_PACKET]);
}

/// A triangle of a client restates some hundred registers and a few resources, and a frame has thousands of them.
#[test]
fn a_draw_costs_microseconds() {
    const DRAWS: u32 = 10_000;
    let mut b = bench();
    let big = (Bench::GTT_LEN - 0x1000) as u32;
    let mut stream = scene();
    for _ in 0..20 {
        for slot in 0..16 {
            stream.extend(buffer(slot, Bench::GTT, big));
        }
        for register in (0x28240..0x28600).step_by(4) {
            if b.parts().0.regs.register(register).is_some() {
                stream.extend(set(register, &[CORNER]));
            }
        }
        stream.extend(auto(3));
        // Something that changes.
        stream.extend(set(mmio::DB_STENCIL_CLEAR, &[stream.len() as u32]));
    }
    let start = Instant::now();
    for _ in 0..DRAWS / 20 {
        assert!(b.execute(&stream));
    }
    let each = start.elapsed() / DRAWS;
    assert_eq!(b.findings(), []);
    assert_eq!(b.counter("draws_not_executed"), u64::from(DRAWS));
    // Most of it are the packets of the state; a draw that changes nothing takes four. The bound is for a busy machine.
    assert!(each.as_micros() < 1000, "{each:?} for a draw");
}
