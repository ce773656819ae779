// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What clients share: pipes, and the memories on the chip that have one owner.

use super::{rule::*, streams3d::*, support::Stream};
use r500::portable::{
    checker::{Chip, Options, Reason},
    pm4,
    regs::{mmio, mmio::*, pm4::op},
};

/// Four pixel pipes, nothing owned.
const FOUR: Options = Options {
    chip: Chip::R580,
    pixel_pipes: 4,
    ..KEEP
};
const RV530: Options = Options {
    chip: Chip::Rv530,
    pixel_pipes: 1,
    z_pipes: 2,
    ..KEEP
};

pub fn pipes(rules: &mut Vec<Rule>) {
    // The end of a query: a count from each of two pipes, then all pipes again.
    let mut stream = state();
    stream
        .write(mmio::SU_REG_DEST, 1)
        .write(mmio::ZB_ZPASS_ADDR, 0)
        .marker(2);
    stream
        .write(mmio::SU_REG_DEST, 2)
        .write(mmio::ZB_ZPASS_ADDR, 4)
        .marker(2);
    stream.write(mmio::SU_REG_DEST, 0xf);
    let all = at(&stream, mmio::SU_REG_DEST);
    let mut end = stream.clone();
    end.write(mmio::GA_OFFSET, 0);
    let last = end.here() - 1;
    let rule = |reason, stream: &Stream, at, value| {
        Rule::new(reason, stream, at, value)
            .with_objects(&SIZES)
            .with_options(FOUR)
    };
    for some in [0, 1, 7, 0xe] {
        rules.push(rule(Reason::PipesRestricted, &end, all, some).shows_at(last));
    }
    // Neither state nor draws for some pipes only.
    for register in [
        mmio::SC_SCISSOR1,
        mmio::RB3D_CCTL,
        mmio::ZB_CNTL,
        mmio::TX_ENABLE,
        mmio::VAP_INDEX_OFFSET,
    ] {
        let mut then = stream.clone();
        then.write(register, 0).write(mmio::SU_REG_DEST, 0xf);
        rules.push(rule(Reason::PipesRestricted, &then, all, 1).shows_at(then.here() - 3));
    }
    let mut then = stream.clone();
    point(&mut then);
    let draw = point_control(&then);
    rules.push(rule(Reason::PipesRestricted, &then, all, 1).shows_at(draw));
    let mut then = stream.clone();
    then.packet(op::_3D_CLEAR_ZMASK, &[0, 1, 0]);
    rules.push(
        rule(Reason::PipesRestricted, &then, all, 1)
            .with_options(OWNER)
            .shows_at(then.here() - 4),
    );
    // One pipe is all there is.
    let mut single = state();
    single.write(mmio::SU_REG_DEST, 1).write(mmio::GA_OFFSET, 0);
    let last = single.here() - 1;
    rules.push(
        Rule::new(Reason::PipesRestricted, &single, last - 2, 0xe)
            .shows_at(last)
            .with_objects(&SIZES),
    );
    // The Z pipes of RV530, which no other chip has.
    let mut z = state();
    z.write(mmio::FG_ZBREG_DEST, 1)
        .write(mmio::ZB_ZPASS_ADDR, 0)
        .marker(2)
        .write(mmio::FG_ZBREG_DEST, 3)
        .write(mmio::GA_OFFSET, 0);
    let all = at(&z, mmio::FG_ZBREG_DEST);
    let last = z.here() - 1;
    for some in [0, 1, 2] {
        rules.push(
            Rule::new(Reason::PipesRestricted, &z, all, some)
                .shows_at(last)
                .with_objects(&SIZES)
                .with_options(RV530),
        );
    }
    let mut other = Stream::new();
    other.write(mmio::GA_OFFSET, 3);
    rules.push(
        Rule::new(
            Reason::OtherChip,
            &other,
            0,
            pm4::write(mmio::FG_ZBREG_DEST, 1),
        )
        .shows_at(1),
    );
}

pub fn owners(rules: &mut Vec<Rule>) {
    // A client that owns nothing may only switch them off.
    let mut off = Stream::new();
    off.write(mmio::ZB_BW_CNTL, 0)
        .write(mmio::GB_Z_PEQ_CONFIG, 0)
        .write(mmio::ZB_HIZ_OFFSET, 0)
        .write(mmio::ZB_HIZ_PITCH, 0)
        .write(mmio::ZB_ZMASK_OFFSET, 0)
        .write(mmio::ZB_ZMASK_PITCH, 0)
        .write(mmio::RB3D_CCTL, 0);
    let spoil = |reason, register, value| {
        let at = at(&off, register);
        Rule::new(reason, &off, at, value)
    };
    for bit in [
        zb_bw_cntl::HIZ_ENABLE,
        zb_bw_cntl::FAST_FILL,
        zb_bw_cntl::RD_COMP_ENABLE,
        zb_bw_cntl::WR_COMP_ENABLE,
    ] {
        rules.push(spoil(Reason::NotHyperZOwner, mmio::ZB_BW_CNTL, bit.mask()));
    }
    for register in [
        mmio::GB_Z_PEQ_CONFIG,
        mmio::ZB_HIZ_OFFSET,
        mmio::ZB_HIZ_PITCH,
        mmio::ZB_ZMASK_OFFSET,
        mmio::ZB_ZMASK_PITCH,
    ] {
        rules.push(spoil(Reason::NotHyperZOwner, register, 1));
    }
    for bit in [rb3d_cctl::CMASK_ENABLE, rb3d_cctl::AA_COMPRESSION_ENABLE] {
        rules.push(spoil(Reason::NotCmaskOwner, mmio::RB3D_CCTL, bit.mask()));
    }
    let mut harmless = Stream::new();
    harmless.write(mmio::GA_OFFSET, 0);
    for array in [mmio::RB3D_CMASK_OFFSET, mmio::RB3D_CMASK_PITCH] {
        let header = pm4::write(array.at(3).unwrap(), 1);
        rules.push(Rule::new(Reason::NotCmaskOwner, &harmless, 0, header).shows_at(1));
    }
    let mut nop = Stream::new();
    nop.packet(op::NOP, &[0, 1, 0]);
    for (opcode, reason) in [
        (op::_3D_CLEAR_HIZ, Reason::NotHyperZOwner),
        (op::_3D_CLEAR_ZMASK, Reason::NotHyperZOwner),
        (op::_3D_CLEAR_CMASK, Reason::NotCmaskOwner),
    ] {
        rules.push(Rule::new(reason, &nop, 0, pm4::operation(opcode, 3)).shows_at(2));
    }

    // The owner may fill the memories, but not more than there is.
    let four = OWNER;
    let one = Options {
        chip: Chip::Rv515,
        pixel_pipes: 1,
        ..OWNER
    };
    let small = Options {
        chip: Chip::R520,
        ..one
    };
    let two_z = Options {
        chip: Chip::Rv530,
        z_pipes: 2,
        ..one
    };
    for (options, opcode, size) in [
        (one, op::_3D_CLEAR_ZMASK, 4096),
        (four, op::_3D_CLEAR_ZMASK, 4 * 4096),
        (two_z, op::_3D_CLEAR_ZMASK, 2 * 4096),
        (one, op::_3D_CLEAR_HIZ, 10240),
        (small, op::_3D_CLEAR_HIZ, 10240),
        (four, op::_3D_CLEAR_HIZ, 4 * 15360),
        (two_z, op::_3D_CLEAR_HIZ, 2 * 15360),
        (one, op::_3D_CLEAR_CMASK, 5120),
        (four, op::_3D_CLEAR_CMASK, 4 * 4096),
        (two_z, op::_3D_CLEAR_CMASK, 5120),
    ] {
        let mut stream = Stream::new();
        stream.packet(opcode, &[size - 1, 1, 0]);
        for (at, value) in [(1, size), (2, 2), (1, u32::MAX), (2, 0x4000)] {
            rules.push(
                Rule::new(Reason::OnChipBounds, &stream, at, value)
                    .shows_at(2)
                    .with_options(options),
            );
        }
        let header = pm4::operation(opcode, 2);
        stream.words(&[pm4::FILLER]);
        rules.push(
            Rule::new(Reason::PacketLength, &stream, 0, header)
                .shows_at(2)
                .with_options(options),
        );
        rules.push(
            Rule::new(Reason::PacketLength, &stream, 0, pm4::operation(opcode, 4))
                .shows_at(3)
                .with_options(options),
        );
    }
}
