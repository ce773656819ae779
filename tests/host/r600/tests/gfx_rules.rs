// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The checker of streams for the graphics ring: for each rule a stream that passes, and one that differs in one dword
//! and is refused at the right place.

mod support;

use lapidary::portable::{pm4::operation, residue::Residue};
use r600::portable::checker::{
    check_gfx,
    reason::{Reason, Reason::*},
    Chip,
};
use support::{confined, footprint, passes, run, R600, RV610, RV770};

const PAGE: u64 = 4096;

/// Return a packet with markers for the first entries behind it.
fn packet(opcode: u8, body: &[u32], markers: u32) -> Vec<u32> {
    let mut words = vec![operation(opcode, body.len() as u32)];
    words.extend(body);
    for entry in 0..markers {
        words.extend([0xc000_1000, entry * 4]);
    }
    words
}

/// Check that `words` is refused for `reason` at dword `position`.
#[track_caller]
fn refused(words: &[u32], sizes: &[u64], chip: &Chip, position: u32, reason: Reason) {
    let refusal = run(check_gfx, words, sizes, chip).expect_err("refuses it");
    assert_eq!((refusal.reason, refusal.position), (reason, position));
}

/// Return `words` with another dword at `at`.
fn with(words: &[u32], at: usize, word: u32) -> Vec<u32> {
    let mut words = words.to_vec();
    words[at] = word;
    words
}

/// Check that a packet passes without objects, and is refused with a dword more or less.
#[track_caller]
fn exact(opcode: u8, body: &[u32], chip: &Chip) {
    passes(check_gfx, &packet(opcode, body, 0), &[], chip);
    let mut longer = body.to_vec();
    longer.push(0);
    let position = longer.len() as u32 - 1;
    refused(
        &packet(opcode, &longer, 0),
        &[],
        chip,
        position,
        PacketLength,
    );
    if body.len() > 1 {
        let shorter = packet(opcode, &body[..body.len() - 1], 0);
        let refusal = run(check_gfx, &shorter, &[], chip).expect_err("too short");
        assert_eq!(refusal.reason, PacketLength);
    }
}

#[test]
fn fillers_and_markers() {
    passes(check_gfx, &[], &[], &RV770);
    passes(check_gfx, &[0x8000_0000; 3], &[], &RV770);
    passes(check_gfx, &packet(0x10, &[1, 2, 3], 1), &[PAGE], &RV770);
    refused(&[0x8000_0000, 0x0000_2010, 0], &[], &RV770, 1, Type0);
    refused(&[0x4000_0000, 0, 0], &[], &RV770, 0, Type1);
    refused(&[0xc002_1000, 0, 0], &[], &RV770, 0, Truncated);
    refused(&[0xc000_1002, 0], &[], &RV770, 0, ReservedHeaderBits);
}

#[test]
fn packets_that_streams_may_not_have() {
    let header = |opcode: u8| packet(opcode, &[0; 8], 2);
    for opcode in [
        0x17, 0x21, 0x22, 0x23, 0x27, 0x32, 0x38, 0x39, 0x3a, 0x40, 0x42, 0x44, 0x45, 0x57,
    ] {
        refused(&header(opcode), &[PAGE; 2], &RV770, 0, ForbiddenPacket);
    }
    for opcode in [0, 1, 0x11, 0x30, 0x7f, 0x80, 0xff] {
        refused(&header(opcode), &[PAGE; 2], &RV770, 0, UnknownPacket);
    }
}

#[test]
fn packets_without_memory() {
    exact(0x28, &[1 << 31, 1 << 31], &RV770);
    exact(0x28, &[0, 0], &RV770);
    exact(0x2a, &[1], &RV770);
    exact(0x2f, &[7], &RV770);
    exact(0x20, &[0, 0], &RV770);
    exact(0x24, &[0], &R600);
    refused(&packet(0x24, &[0], 0), &[], &RV770, 0, OtherGeneration);
    refused(&packet(0x24, &[1], 0), &[], &R600, 1, ForbiddenBits);
    for (load, shadow) in [((1 << 31) | 1, 0), (0, 1), (1 << 30, 0)] {
        refused(
            &packet(0x28, &[load, shadow], 0),
            &[],
            &RV770,
            2,
            StateMemory,
        );
    }
    // Widths of indices that do not exist, and byte orders.
    for word in [2, 3, 4, 5, 8, 0x11] {
        let refusal = run(check_gfx, &packet(0x2a, &[word], 0), &[], &RV770);
        let reason = refusal.expect_err("refused").reason;
        assert_eq!(reason, if word < 4 { IndexType } else { ForbiddenBits });
    }
}

/// A packet that is skipped would leave other state than the checker knows.
#[test]
fn only_draws_and_markers_are_predicated() {
    let mut words = packet(0x10, &[0], 0);
    words[0] |= 1;
    passes(check_gfx, &words, &[], &RV770);
    for opcode in [0x69, 0x68, 0x20, 0x2a, 0x43, 0x6d, 0x41] {
        let mut words = packet(opcode, &[0], 0);
        words[0] |= 1;
        refused(&words, &[], &RV770, 0, Predicated);
    }
}

#[test]
fn results_that_predicate_lie_in_their_object() {
    let predicate = |op: u32, low: u32| packet(0x20, &[low, op << 16], 1);
    let backends = |backends| Chip { backends, ..RV770 };
    for (op, bytes, chip) in [
        (1, 64, RV770),
        (1, 16, RV610),
        (1, 128, backends(0)),
        (2, 32, RV770),
        (2, 32, RV610),
    ] {
        let words = predicate(op, 0x40);
        let access = passes(check_gfx, &words, &[0x40 + bytes], &chip);
        assert_eq!(access, [(true, false)]);
        refused(&words, &[0x40 + bytes - 1], &chip, 2, SourceBounds);
        refused(&predicate(op, 0x48), &[PAGE], &chip, 2, Unaligned);
        let words = predicate(op, 0x40);
        refused(&words[..3], &[PAGE], &chip, 2, MissingRelocation);
        refused(
            &with(&words, 2, words[2] | 1),
            &[PAGE],
            &chip,
            2,
            SourceBounds,
        );
    }
    // Mesa's hints, and results that are added up.
    let words = predicate(1, 0);
    let word = words[2] | (1 << 31) | (1 << 12) | (1 << 8);
    passes(check_gfx, &with(&words, 2, word), &[PAGE], &RV770);
    refused(
        &with(&words, 2, word | (1 << 9)),
        &[PAGE],
        &RV770,
        2,
        ForbiddenBits,
    );
    for op in 3..8 {
        refused(&predicate(op, 0), &[PAGE], &RV770, 2, Predication);
    }
    // Off.
    exact(0x20, &[0, 0], &RV770);
    refused(
        &packet(0x20, &[16, 0], 0),
        &[PAGE],
        &RV770,
        2,
        ForbiddenBits,
    );
    refused(
        &packet(0x20, &[0, 1 << 8], 0),
        &[PAGE],
        &RV770,
        2,
        ForbiddenBits,
    );
}

#[test]
fn registers_by_policy() {
    let config = |register: u32, value| packet(0x68, &[(register - 0x8000) / 4, value], 0);
    let context = |register: u32, value| packet(0x69, &[(register - 0x28000) / 4, value], 0);
    // WAIT_UNTIL as Mesa writes it.
    for value in [0x8000, 0x8100, 0x100, 0x2_8000] {
        passes(check_gfx, &config(0x8040, value), &[], &RV770);
    }
    for value in [1 << 10, 1 << 19, 1 << 20, 1, 1 << 31] {
        refused(&config(0x8040, value), &[], &RV770, 2, RegisterBits);
    }
    // CB_BLEND_RED, PA_CL_UCP_0_X, a border colour.
    passes(check_gfx, &context(0x28414, u32::MAX), &[], &RV770);
    passes(check_gfx, &context(0x28e20, u32::MAX), &[], &RV770);
    passes(check_gfx, &config(0xa400, u32::MAX), &[], &RV770);
    for (words, reason) in [
        (config(0x8500, 0), KernelRegister),
        (config(0x86d8, 0), KernelRegister),
        (config(0x85f0, 0), KernelRegister),
        (config(0x98f0, 0), SetUpRegister),
        (config(0x88c4, 0), SetUpRegister),
        (config(0x9400, 0), SetUpRegister),
        (config(0x8c78, 0), MemoryRegister),
        (config(0x9010, 0), MemoryRegister),
        (config(0x9014, 0), MemoryRegister),
        (config(0x895c, 0), PacketRegister),
        (config(0x8970, 0), PacketRegister),
        (config(0x8974, 0), PacketRegister),
        (config(0x8044, 0), UnknownRegister),
        (context(0x28248, 0), MemoryRegister),
        (context(0x28adc, 0), MemoryRegister),
        (context(0x28b10, 0), MemoryRegister),
        (context(0x287e8, 0), PacketRegister),
        (context(0x287f0, 2), PacketRegister),
        (context(0x28a90, 0x16), PacketRegister),
        (context(0x28ffc, 0), UnknownRegister),
    ] {
        refused(&words, &[PAGE], &RV770, 2, reason);
    }
    // PA_SC_EDGERULE, which R6xx do not have.
    let edges = context(0x28230, 0xaaaa_aaaa);
    passes(check_gfx, &edges, &[], &RV770);
    refused(&edges, &[], &R600, 2, UnknownRegister);
}

/// What Mesa writes to registers that are not described well enough to admit everything.
#[test]
fn registers_with_a_few_values() {
    let config = |register: u32, value| packet(0x68, &[(register - 0x8000) / 4, value], 0);
    let context = |register: u32, value| packet(0x69, &[(register - 0x28000) / 4, value], 0);
    for words in [
        config(0x8490, 0),
        config(0x9714, 0),
        config(0x9830, 0),
        config(0x9830, 0x8200_0000),
        config(0x9838, 0x0042_0204),
        config(0x9838, 0x0102_0204),
        config(0x8d8c, 0),
        config(0x8d8c, 0x4000),
        config(0x8c74, 0),
        context(0x28a50, 4),
        context(0x28a48, 0),
        context(0x288c0, 0),
        context(0x288cc, 0),
        context(0x288dc, 0),
        // Lists, strips, fans, adjacency, rectangles, quads.
        config(0x8958, 4),
        config(0x8958, 0xd),
        config(0x8958, 0x11),
        config(0x8958, 0x15),
        // Sample shading, scissors of viewports.
        context(0x28a4c, 0x0c01_c1e7),
    ] {
        passes(check_gfx, &words, &[], &RV770);
        passes(check_gfx, &words, &[], &R600);
    }
    for words in [
        config(0x8490, 1),
        config(0x9714, 1),
        config(0x9830, 1),
        config(0x9838, 0x1042_0204),
        config(0x8d8c, 0x4001),
        config(0x8c74, 1),
        config(0x8c7c, 1),
        context(0x28a50, 5),
        context(0x28a48, 1 << 31),
        context(0x288c4, 1),
        context(0x288d0, 1),
        context(0x288dc, 1),
    ] {
        refused(&words, &[], &RV770, 2, RegisterValue);
    }
    for value in [7, 0x10, 0x16, 0x1c, 0x1d, 0x44] {
        refused(&config(0x8958, value), &[], &RV770, 2, PrimitiveType);
    }
    // Several chips that draw one picture; draws without scissors.
    for bit in [3, 9, 12] {
        refused(&context(0x28a4c, 1 << bit), &[], &RV770, 2, RegisterBits);
    }
}

#[test]
fn registers_stay_in_their_range() {
    // Four colours of clears, and then a register that is not there.
    let index = (0x28120 - 0x28000) / 4;
    passes(
        check_gfx,
        &packet(0x69, &[index, 1, 2, 3, 4], 0),
        &[],
        &RV770,
    );
    let longer = packet(0x69, &[index, 1, 2, 3, 4, 5], 0);
    refused(&longer, &[], &RV770, 6, UnknownRegister);
    for (opcode, most) in [(0x68, 0xb00), (0x69, 0x400)] {
        // Without values no register is named. The offset is one all the same.
        passes(check_gfx, &packet(opcode, &[most - 1], 0), &[], &RV770);
        for index in [most + 1, 0x1_0000, 1 << 31] {
            let words = packet(opcode, &[index], 0);
            refused(&words, &[], &RV770, 1, RegisterRange);
        }
        for index in [most, most - 1, u32::MAX, u32::MAX - 1, 0x1_0000] {
            let words = packet(opcode, &[index, 0, 0], 0);
            refused(&words, &[], &RV770, 1, RegisterRange);
        }
    }
    // Configuration registers by the packet of context registers, and the other way round.
    let words = packet(0x68, &[(0x28414 - 0x8000) / 4, 0], 0);
    refused(&words, &[], &RV770, 1, RegisterRange);
    let words = packet(0x69, &[0x8040u32.wrapping_sub(0x28000) / 4, 0], 0);
    refused(&words, &[], &RV770, 1, RegisterRange);
}

#[test]
fn caches_are_synchronised_with_all_memory_or_an_object() {
    let sync = |chip: &Chip, mask: u32| {
        passes(
            check_gfx,
            &packet(0x43, &[mask, u32::MAX, 0, 10], 0),
            &[],
            chip,
        );
    };
    for mask in [0x1790_7fc0, 0x1f90_7ffc, 0x1610_7fc0, 0x1980_003c] {
        sync(&RV770, mask);
    }
    for mask in [0x0180_0000, 0x0980_0000, 0x0080_0000, 0x0880_0000] {
        sync(&R600, mask);
    }
    let all = packet(0x43, &[1 << 20, u32::MAX, 0, 10], 0);
    refused(&all, &[], &R600, 1, ForbiddenBits);
    refused(&with(&all, 1, 1 << 16), &[], &RV770, 1, ForbiddenBits);
    refused(&with(&all, 4, 0x1_0000), &[], &RV770, 4, ForbiddenBits);
    exact(0x43, &[1 << 20, u32::MAX, 0, 10], &RV770);
    let part = packet(0x43, &[1 << 20, 12, 4, 10], 1);
    let checked = run(check_gfx, &part, &[PAGE], &RV770).unwrap();
    assert_eq!(checked.placed(&[0x12_0000_1000])[3], 0x1200_0014);
    assert!(!checked.objects[0].access.writes);
    refused(&part, &[PAGE - 1], &RV770, 4, SyncBounds);
    refused(&part[..5], &[PAGE], &RV770, 4, MissingRelocation);
    refused(&with(&part, 6, 4), &[PAGE], &RV770, 4, BadRelocation);
    refused(&with(&part, 6, 2), &[PAGE], &RV770, 6, BadRelocation);
}

#[test]
fn memory_is_written_in_its_object() {
    let write = packet(0x3d, &[0xff8, 0, 1, 2], 1);
    assert_eq!(passes(check_gfx, &write, &[PAGE], &RV770), [(false, true)]);
    refused(&write, &[PAGE - 1], &RV770, 4, DestinationBounds);
    refused(&with(&write, 1, 0xffc), &[PAGE * 2], &RV770, 2, Unaligned);
    refused(&with(&write, 1, 0xff9), &[PAGE], &RV770, 2, Unaligned);
    refused(&with(&write, 2, 1), &[PAGE], &RV770, 4, DestinationBounds);
    // One dword.
    let one = with(&with(&write, 1, 0xffc), 2, 0x6_0000);
    passes(check_gfx, &one, &[PAGE], &RV770);
    refused(
        &with(&one, 1, 0x1000),
        &[PAGE],
        &RV770,
        4,
        DestinationBounds,
    );
    // The counter instead of data; another bit.
    refused(&with(&write, 2, 1 << 16), &[PAGE], &RV770, 2, ForbiddenBits);
    refused(&with(&write, 2, 1 << 8), &[PAGE], &RV770, 2, ForbiddenBits);
    refused(&write[..5], &[PAGE], &RV770, 4, MissingRelocation);
    refused(&with(&write, 6, 4), &[PAGE], &RV770, 4, BadRelocation);
}

#[test]
fn dwords_are_copied_from_memory_to_memory() {
    let copy = packet(0x3b, &[3, 0xffc, 0, 0x7fc, 0], 2);
    let access = passes(check_gfx, &copy, &[PAGE, 2048], &RV770);
    assert_eq!(access, [(true, false), (false, true)]);
    refused(&copy, &[PAGE - 1, 2048], &RV770, 5, SourceBounds);
    refused(&copy, &[PAGE, 2047], &RV770, 5, DestinationBounds);
    for control in [0, 2] {
        refused(
            &with(&copy, 1, control),
            &[PAGE, 2048],
            &RV770,
            1,
            RegisterAccess,
        );
    }
    refused(&with(&copy, 1, 1), &[PAGE, 2048], &RV770, 5, RegisterAccess);
    refused(&with(&copy, 1, 7), &[PAGE, 2048], &RV770, 1, ForbiddenBits);
    refused(&with(&copy, 2, 0xffe), &[PAGE, 2048], &RV770, 3, Unaligned);
    refused(&copy[..8], &[PAGE, 2048], &RV770, 5, MissingRelocation);
}

/// The number of vertices of a draw comes from a stream-out buffer's count.
#[test]
fn a_dword_is_copied_to_the_count_of_vertices_and_to_no_other_register() {
    let copy = packet(0x3b, &[1, 0xffc, 0, 0x28b2c >> 2, 0], 1);
    assert_eq!(passes(check_gfx, &copy, &[PAGE], &RV770), [(true, false)]);
    refused(&copy, &[PAGE - 1], &RV770, 5, SourceBounds);
    for register in [0x28b28, 0x28040, 0x8040, 0x9010] {
        let words = with(&copy, 4, register >> 2);
        refused(&words, &[PAGE], &RV770, 5, RegisterAccess);
    }
    refused(&with(&copy, 5, 1), &[PAGE], &RV770, 5, RegisterAccess);
    refused(&copy[..6], &[PAGE], &RV770, 5, MissingRelocation);
}

#[test]
fn bytes_are_copied_from_object_to_object() {
    let sync = 1 << 31;
    let copy = packet(0x41, &[0x101, sync, 0x203, 0, 0x1005], 2);
    let access = passes(check_gfx, &copy, &[0x1106, 0x1208], &RV770);
    assert_eq!(access, [(true, false), (false, true)]);
    refused(&copy, &[0x1105, 0x1208], &RV770, 5, SourceBounds);
    refused(&copy, &[0x1106, 0x1207], &RV770, 5, DestinationBounds);
    let sizes = [1 << 22, 1 << 22];
    passes(check_gfx, &with(&copy, 5, 0x1f_ffff), &sizes, &RV770);
    refused(&with(&copy, 5, 0), &sizes, &RV770, 5, Nothing);
    refused(&with(&copy, 2, sync | 1), &sizes, &RV770, 5, SourceBounds);
    refused(&with(&copy, 4, 1), &sizes, &RV770, 5, DestinationBounds);
    refused(&with(&copy, 4, sync), &sizes, &RV770, 4, ForbiddenBits);
    refused(&with(&copy, 2, 1 << 8), &sizes, &RV770, 2, ForbiddenBits);
    for bit in [26, 27] {
        let words = with(&copy, 5, 0x1005 | (1 << bit));
        refused(&words, &sizes, &RV770, 5, RegisterAccess);
    }
    for bit in [21, 22, 23, 24, 25, 28, 29, 30, 31] {
        let words = with(&copy, 5, 0x1005 | (1 << bit));
        refused(&words, &sizes, &RV770, 5, ForbiddenBits);
    }
    let checked = run(check_gfx, &copy, &[0x1106, 0x1208], &RV770).unwrap();
    let placed = checked.placed(&[0x12_ffff_f000, 0x34_0000_1000]);
    assert_eq!(placed[1..5], [0xffff_f101, sync | 0x12, 0x1203, 0x34]);
    confined(&checked, |words| footprint::gfx(words, &RV770));
}

#[test]
fn memory_is_waited_for_in_its_object() {
    let wait = packet(0x3c, &[0x13, 0xff0, 0, 1, u32::MAX, 10], 1);
    assert_eq!(passes(check_gfx, &wait, &[0xff4], &RV770), [(true, false)]);
    refused(&wait, &[0xff3], &RV770, 6, SourceBounds);
    refused(&with(&wait, 2, 0xff8), &[PAGE], &RV770, 3, Unaligned);
    refused(&with(&wait, 2, 0xff1), &[PAGE], &RV770, 3, Unaligned);
    refused(&with(&wait, 1, 0x03), &[PAGE], &RV770, 3, RegisterAccess);
    refused(&with(&wait, 1, 0x17), &[PAGE], &RV770, 1, PollFunction);
    refused(&with(&wait, 1, 0x113), &[PAGE], &RV770, 1, PollFunction);
    passes(check_gfx, &with(&wait, 1, 0x115), &[PAGE], &RV770);
    refused(&with(&wait, 1, 0x33), &[PAGE], &RV770, 1, ForbiddenBits);
    refused(&with(&wait, 6, 0x1_0000), &[PAGE], &RV770, 6, ForbiddenBits);
}

/// Mesa waits for the answer to an event of stream-out.
#[test]
fn the_handshake_of_stream_out_is_waited_for_and_no_other_register() {
    let wait = packet(0x3c, &[3, 0x8490 >> 2, 0, 1, 1, 4], 0);
    passes(check_gfx, &wait, &[], &RV770);
    passes(check_gfx, &wait, &[], &R600);
    for (at, word, position) in [
        (1, 5, 1),
        (1, 0x103, 1),
        (2, 0x8500 >> 2, 3),
        (3, 1, 3),
        (4, 0, 5),
        (5, 3, 5),
    ] {
        refused(
            &with(&wait, at, word),
            &[],
            &RV770,
            position,
            RegisterAccess,
        );
    }
    refused(&with(&wait, 6, 0x1_0000), &[], &RV770, 6, ForbiddenBits);
}

#[test]
fn events_without_counts() {
    let event = |word| packet(0x46, &[word], 0);
    for word in [0x40f, 0x410, 0x6, 0x16, 0x19, 0x1a, 0x1f, 0x24, 0x26, 0x2a] {
        for chip in [RV770, R600] {
            passes(check_gfx, &event(word), &[], &chip);
        }
    }
    for word in [0x2c, 0x2e] {
        passes(check_gfx, &event(word), &[], &RV770);
        refused(&event(word), &[], &R600, 1, UnknownEvent);
    }
    // Time stamps belong to the other packet; the CP's own; counters; multiple passes.
    for word in [
        0x4, 0x14, 0x25, 0x28, 0x5, 0x22, 0x23, 0x17, 0x18, 0x1b, 0xa, 0, 0x3f,
    ] {
        refused(&event(word), &[], &RV770, 1, UnknownEvent);
    }
    refused(&event(0x10), &[], &RV770, 1, EventIndex);
    refused(&event(0x516), &[], &RV770, 1, EventIndex);
    refused(&event(0x56), &[], &RV770, 1, ForbiddenBits);
    refused(&event(0x1_0016), &[], &RV770, 1, ForbiddenBits);
    refused(
        &packet(0x46, &[0x16, 0, 0], 1),
        &[PAGE],
        &RV770,
        1,
        EventAddress,
    );
}

#[test]
fn counts_are_written_in_their_object() {
    for (word, bytes, chip) in [
        (0x115, 3 * 16 + 8, RV770),
        (0x115, 8, RV610),
        (
            0x115,
            7 * 16 + 8,
            Chip {
                backends: 0,
                ..RV770
            },
        ),
        (0x21e, 64, RV770),
        (0x320, 16, RV770),
    ] {
        let count = packet(0x46, &[word, 0x40, 0], 1);
        let access = passes(check_gfx, &count, &[0x40 + bytes], &chip);
        assert_eq!(access, [(false, true)]);
        refused(&count, &[0x40 + bytes - 1], &chip, 3, DestinationBounds);
        refused(&with(&count, 2, 0x44), &[PAGE], &chip, 3, Unaligned);
        refused(&with(&count, 3, 0x100), &[PAGE], &chip, 3, ForbiddenBits);
        refused(&packet(0x46, &[word], 0), &[PAGE], &chip, 1, EventAddress);
        refused(&with(&count, 1, word & 0xff), &[PAGE], &chip, 1, EventIndex);
    }
}

#[test]
fn times_are_written_in_their_object() {
    let event = |high: u32| packet(0x47, &[0x528, 0xff8, high, 1, 2], 1);
    for (data, bytes) in [(0, 4), (1, 4), (2, 8), (3, 8)] {
        let words = event(data << 29);
        let access = passes(check_gfx, &words, &[0xff8 + bytes], &RV770);
        assert_eq!(access, [(false, true)]);
        refused(&words, &[0xff8 + bytes - 1], &RV770, 5, DestinationBounds);
        let low = 0xff8 + bytes as u32 / 2;
        refused(&with(&words, 2, low), &[PAGE], &RV770, 3, Unaligned);
    }
    let good = event(1 << 29);
    for word in [0x504, 0x514] {
        passes(check_gfx, &with(&good, 1, word), &[PAGE], &RV770);
    }
    for word in [0x516, 0x515, 0x525] {
        refused(&with(&good, 1, word), &[PAGE], &RV770, 1, UnknownEvent);
    }
    refused(&with(&good, 1, 0x028), &[PAGE], &RV770, 1, EventIndex);
    for select in 1..4 {
        let words = event((1 << 29) | (select << 24));
        refused(&words, &[PAGE], &RV770, 3, Interrupt);
    }
    refused(&event(4 << 29), &[PAGE], &RV770, 3, ForbiddenBits);
    refused(
        &event((1 << 29) | (1 << 8)),
        &[PAGE],
        &RV770,
        3,
        ForbiddenBits,
    );
    refused(&good[..6], &[PAGE], &RV770, 5, MissingRelocation);
}

#[test]
fn fixups_need_room() {
    let words = packet(0x3d, &[0, 0, 1, 2], 1);
    let mut objects = [support::object(PAGE)];
    let result = check_gfx(
        &mut words.clone(),
        &mut objects,
        &RV770,
        &mut [],
        &mut Residue::default(),
    );
    assert_eq!(result.unwrap_err().reason, TooManyFixups);
}
