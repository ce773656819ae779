// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The commands between clients: they set everything that a client can set, to zero or to the empty program.

use lapidary::portable::pm4::Header;
use lapidary::portable::sink::SliceSink;
use r600::portable::{
    neutral::{self, DWORDS, PROGRAM, PROGRAM_DWORDS},
    pm4, policy,
    regs::{
        mmio, mmio_r7xx,
        pm4::{
            op, set_alu_const, set_bool_const, set_config_reg, set_context_reg, set_ctl_const,
            set_loop_const, set_resource, set_sampler,
        },
    },
    Generation,
};
use std::collections::BTreeMap;

/// Where the program is.
const PROGRAM_ADDRESS: u64 = 0x12_3456_7000;

fn words(generation: Generation) -> Vec<u32> {
    words_for(generation, false)
}

fn words_for(generation: Generation, base_update: bool) -> Vec<u32> {
    let mut words = vec![0; DWORDS - PROGRAM_DWORDS];
    let mut out = SliceSink::new(&mut words);
    neutral::emit(&mut out, generation, base_update, PROGRAM_ADDRESS).unwrap();
    let written = out.written();
    words.truncate(written);
    words
}

/// Return the first register that a packet can set.
fn base(opcode: u8) -> Option<u32> {
    Some(match opcode {
        op::SET_CONFIG_REG => set_config_reg::BASE,
        op::SET_CONTEXT_REG => set_context_reg::BASE,
        op::SET_ALU_CONST => set_alu_const::BASE,
        op::SET_BOOL_CONST => set_bool_const::BASE,
        op::SET_LOOP_CONST => set_loop_const::BASE,
        op::SET_RESOURCE => set_resource::BASE,
        op::SET_SAMPLER => set_sampler::BASE,
        op::SET_CTL_CONST => set_ctl_const::BASE,
        _ => return None,
    })
}

/// Return the packets: operation and body.
fn packets(generation: Generation) -> Vec<(u8, Vec<u32>)> {
    let words = words(generation);
    let mut packets = Vec::new();
    let mut rest = &words[..];
    while let Some((&header, behind)) = rest.split_first() {
        let Header::Type3 { opcode, count, .. } = pm4::decode(header) else {
            panic!("{header:#x}");
        };
        let (body, behind) = behind.split_at(count as usize);
        packets.push((opcode, body.to_vec()));
        rest = behind;
    }
    packets
}

/// Return what the commands set, by byte offset.
fn sets(generation: Generation) -> BTreeMap<u32, u32> {
    let mut sets = BTreeMap::new();
    for (opcode, body) in packets(generation) {
        let Some(base) = base(opcode) else { continue };
        for (offset, value) in (base + body[0] * 4..).step_by(4).zip(&body[1..]) {
            assert!(sets.insert(offset, *value).is_none(), "{offset:#x} twice");
        }
    }
    sets
}

const BOTH: [Generation; 2] = [Generation::R6xx, Generation::R7xx];

#[test]
fn every_register_of_clients_becomes_zero_or_the_empty_program() {
    let programs = [
        mmio::SQ_PGM_START_PS,
        mmio::SQ_PGM_START_VS,
        mmio::SQ_PGM_START_GS,
        mmio::SQ_PGM_START_ES,
        mmio::SQ_PGM_START_FS,
    ];
    for generation in BOTH {
        let sets = sets(generation);
        let config = (set_config_reg::BASE..set_config_reg::END).step_by(4);
        let context = (set_context_reg::BASE..set_context_reg::END).step_by(4);
        for register in config.chain(context) {
            let missing = generation == Generation::R6xx && register == mmio_r7xx::PA_SC_EDGERULE;
            let kept = !policy::of(register).refuses() && !missing;
            let value = match register {
                // Waits, and keeps nothing.
                mmio::WAIT_UNTIL => Some(0x28000),
                _ if programs.contains(&register) && kept => Some((PROGRAM_ADDRESS >> 8) as u32),
                _ => kept.then_some(0),
            };
            assert_eq!(sets.get(&register).copied(), value, "{register:#x}");
        }
    }
}

#[test]
fn every_constant_becomes_zero() {
    for generation in BOTH {
        let sets = sets(generation);
        let expect = |first: u32, dwords: u32| {
            for offset in (first..first + dwords * 4).step_by(4) {
                assert_eq!(sets.get(&offset), Some(&0), "{offset:#x}");
            }
        };
        expect(mmio::SQ_TEX_RESOURCE_WORD0.at(0).unwrap(), 496 * 7);
        expect(mmio::SQ_TEX_SAMPLER_WORD0.at(0).unwrap(), 54 * 3);
        expect(mmio::SQ_ALU_CONSTANT.at(0).unwrap(), 2048);
        expect(mmio::SQ_LOOP_CONST.at(0).unwrap(), 96);
        expect(mmio::SQ_BOOL_CONST.at(0).unwrap(), 3);
        expect(mmio::SQ_VTX_BASE_VTX_LOC, 2);
    }
}

#[test]
fn what_packets_keep_becomes_zero() {
    for generation in BOTH {
        let packets = packets(generation);
        for (opcode, dwords) in [
            (op::SET_PREDICATION, 2),
            (op::INDEX_TYPE, 1),
            (op::NUM_INSTANCES, 1),
        ] {
            assert!(packets.contains(&(opcode, vec![0; dwords])), "{opcode:#x}");
        }
    }
}

#[test]
fn all_that_is_drawn_is_complete_before() {
    for generation in BOTH {
        let words = words(generation);
        let place = |opcode, second| {
            let header = |w: &[u32]| w[0] & 0xc000_ff00 == (0xc000_0000 | (u32::from(opcode) << 8));
            let found = words.windows(2).position(|w| header(w) && w[1] == second);
            found.unwrap()
        };
        let wait = place(op::SET_CONFIG_REG, pm4::config(mmio::WAIT_UNTIL));
        assert!(wait < place(op::EVENT_WRITE, 0x24));
        assert!(place(op::EVENT_WRITE, 0x24) < place(op::SET_RESOURCE, 0));
    }
}

#[test]
fn addresses_of_surfaces_are_announced_to_chips_that_want_to_know() {
    let update = pm4::operation(op::SURFACE_BASE_UPDATE, 1);
    for generation in BOTH {
        assert!(!words(generation).contains(&update));
    }
    let words = words_for(Generation::R6xx, true);
    let place = |pair: [u32; 2]| words.windows(2).position(|w| w == pair);
    // The depth buffer's, eight targets' and four stream-out buffers', when all registers have been written.
    let at = place([update, 0x1fff]).unwrap();
    let last = words.iter().rposition(|&w| {
        matches!(pm4::decode(w), Header::Type3 { opcode, .. } if opcode == op::SET_CONTEXT_REG)
    });
    assert!(last.unwrap() < at);
}

#[test]
fn only_the_old_generation_starts_3d_commands() {
    let start = pm4::operation(op::START_3D_CMDBUF, 1);
    assert_eq!(words(Generation::R6xx)[0], start);
    assert!(!words(Generation::R7xx).contains(&start));
}

#[test]
fn each_instruction_of_the_program_ends_it() {
    for pair in PROGRAM.chunks(2) {
        // No operation, the end of the program, behind a barrier.
        assert_eq!(pair, [0, 0x8020_0000]);
    }
    assert_eq!(PROGRAM_DWORDS * 4, 256);
}
