// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets, registers, relocations: what may be in a stream at all.

use super::{
    rule::{Rule, PAGE},
    streams2d::*,
    support::*,
};
use r500::portable::{
    checker::Reason,
    pm4,
    regs::{mmio, pm4::op},
};

pub fn packets(rules: &mut Vec<Rule>) {
    let nop = nop();
    let header = pm4::operation(op::NOP, 1);
    let opcode = |opcode| pm4::operation(opcode, 1);
    rules.extend([
        Rule::new(Reason::Truncated, &nop, 1, pm4::operation(op::NOP, 3)),
        Rule::new(Reason::ReservedHeaderBits, &nop, 1, header | 1),
        Rule::new(Reason::Type1, &nop, 1, (1 << 30) | 1),
        Rule::new(Reason::UnknownPacket, &nop, 1, opcode(0x11)),
        Rule::new(Reason::UnknownPacket, &nop, 1, opcode(0x90)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::WAIT_MEM)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::COND_EXEC)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::PRED_EXEC)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::WAIT_SEMAPHORE)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::_3D_DRAW_128)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::MPEG_INDEX)),
    ]);
    for operation in [
        op::PAINT,
        op::PAINT_MULTI,
        op::BITBLT,
        op::BITBLT_MULTI,
        op::TRANS_BITBLT,
        op::HOSTDATA_BLT,
        op::NEXTCHAR,
        op::POLYLINE,
        op::POLYSCANLINES,
        op::PLY_NEXTSCAN,
        op::SET_SCISSORS,
        op::LOAD_PALETTE,
    ] {
        rules.push(Rule::new(Reason::Packet2d, &nop, 1, opcode(operation)));
    }
    // Registers that need no look must be there all the same.
    let mut free = Stream::new();
    free.write(mmio::GA_POINT_S0, 0);
    for header in [
        pm4::write(mmio::GA_POINT_S0, 2),
        pm4::write_one(mmio::GA_POINT_S0, 2),
    ] {
        rules.push(Rule::new(Reason::Truncated, &free, 0, header));
    }
    // Type 1 takes one dword more than the NOP; let there be one.
    for rule in rules.iter_mut().filter(|rule| rule.reason == Reason::Type1) {
        rule.stream.words(&[pm4::FILLER]);
    }
}

pub fn registers(rules: &mut Vec<Rule>) {
    let fill = fill();
    let header = fill.direction - 1;
    let instead = |register| pm4::write(register, 1);
    for (reason, register) in [
        (Reason::KernelRegister, mmio::CP_RB_BASE),
        (Reason::KernelRegister, mmio::CP_IB_BASE),
        (Reason::KernelRegister, mmio::CP_IB_BUFSZ),
        (Reason::KernelRegister, mmio::SCRATCH_REG.at(0).unwrap()),
        (Reason::KernelRegister, mmio::GEN_INT_STATUS),
        (
            Reason::KernelRegister,
            mmio::CP_CSQ_APER_INDIRECT.at(63).unwrap(),
        ),
        (Reason::KernelRegister, 0),
        (
            Reason::DisplayRegister,
            mmio::D1GRPH_PRIMARY_SURFACE_ADDRESS,
        ),
        (Reason::DisplayRegister, mmio::D1MODE_VLINE_START_END),
        (Reason::AliasRegister, mmio::DEFAULT_PITCH_OFFSET),
        (Reason::AliasRegister, mmio::DST_OFFSET),
        (Reason::AliasRegister, mmio::DST_WIDTH_X),
        (Reason::AliasRegister, mmio::DP_DATATYPE),
        (Reason::DirectDraw, mmio::VAP_VF_CNTL),
        (Reason::DirectDraw, mmio::VAP_PORT_IDX.at(0).unwrap()),
        (
            Reason::DirectDraw,
            mmio::VAP_VTX_AOS_ADDR_ODD.at(7).unwrap(),
        ),
        (Reason::DirectDraw, mmio::VAP_VTX_ST_END_OF_PKT),
        (Reason::SetUpRegister, mmio::GB_TILE_CONFIG),
        (Reason::SetUpRegister, mmio::GA_SOFT_RESET),
        (Reason::SetUpRegister, mmio::ZB_DEPTHXY_OFFSET),
        (Reason::OnChipRegister, mmio::ZB_HIZ_DWORD),
        (Reason::OnChipRegister, mmio::RB3D_CMASK_DWORD),
        // A hole between registers, and the last register that a packet can name.
        (Reason::UnknownRegister, mmio::GA_IDLE - 0x70),
        (Reason::UnknownRegister, 0x7ffc),
    ] {
        rules.push(
            Rule::new(reason, &fill.stream, header, instead(register)).shows_at(fill.direction),
        );
    }
    // Registers with addresses have no other marker behind them.
    for register in [
        mmio::RB3D_COLOROFFSET.at(0).unwrap(),
        mmio::ZB_DEPTHOFFSET,
        mmio::RB3D_AARESOLVE_OFFSET,
        mmio::TX_OFFSET.at(0).unwrap(),
        mmio::ZB_ZPASS_ADDR,
    ] {
        let mut stream = Stream::new();
        stream.write(mmio::GA_OFFSET, 0);
        rules.push(Rule::new(Reason::MissingRelocation, &stream, 0, instead(register)).shows_at(1));
    }
    // Consecutive registers run out of what a packet can reach.
    let mut end = Stream::new();
    end.writes(mmio::BRUSH_DATA.at(0).unwrap(), &[0; 4]);
    rules.push(Rule::new(Reason::UnknownRegister, &end, 0, pm4::write(0x7ff8, 4)).shows_at(1));
    // Tiling by the direction register.
    rules.push(Rule::new(
        Reason::ForbiddenBits,
        &fill.stream,
        fill.direction,
        FORWARD | (1 << 3),
    ));
    // A wait for something that may never come, and a pulse to the command processor.
    let mut flush = Stream::new();
    flush
        .write(mmio::WAIT_UNTIL, 1 << 16)
        .write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa)
        .write(mmio::ZB_ZCACHE_CTLSTAT, 3)
        .write(mmio::RB2D_DSTCACHE_CTLSTAT, 0xf)
        .write(mmio::RBBM_GUICNTL, 2)
        .write(mmio::CLR_CMP_CNTL, 0x0200_0505);
    for (at, value) in [
        (1, 1 << 3),
        (3, 1 << 4),
        (5, 4),
        (7, 1 << 31),
        (9, 4),
        (11, 1 << 7),
    ] {
        rules.push(Rule::new(Reason::ForbiddenBits, &flush, at, value));
    }
    // Consecutive registers run into one that is forbidden.
    let mut brush = Stream::new();
    brush
        .writes(mmio::DP_SRC_FRGD_CLR, &[1, 2])
        .words(&[pm4::FILLER]);
    rules.push(
        Rule::new(
            Reason::KernelRegister,
            &brush,
            0,
            pm4::write(mmio::DP_SRC_FRGD_CLR, 3),
        )
        .shows_at(3),
    );
}

pub fn relocations(rules: &mut Vec<Rule>) {
    let fill = fill();
    let stream = &fill.stream;
    rules.extend([
        Rule::new(
            Reason::MissingRelocation,
            stream,
            fill.marker - 1,
            pm4::FILLER,
        )
        .shows_at(fill.surface),
        Rule::new(
            Reason::MissingRelocation,
            stream,
            fill.marker - 1,
            pm4::operation(op::NOP, 2),
        )
        .shows_at(fill.surface),
        // Entry 2 of 2, and not a multiple of four.
        Rule::new(Reason::BadRelocation, stream, fill.marker, 8).shows_at(fill.surface),
        Rule::new(Reason::BadRelocation, stream, fill.marker, u32::MAX & !3).shows_at(fill.surface),
        Rule::new(Reason::BadRelocation, stream, fill.marker, 2),
        Rule::new(
            Reason::OffsetBeyondObject,
            stream,
            fill.surface,
            surface(256, 16 * PAGE as u32),
        ),
        Rule::new(
            Reason::OffsetBeyondObject,
            stream,
            fill.surface,
            surface(256, 0) | 0x3f_ffff,
        ),
        Rule::new(Reason::ZeroPitch, stream, fill.surface, 0),
    ]);
    // Two addresses by one packet, but only one marker behind it.
    let mut two = Stream::new();
    two.words(&[pm4::write_one(mmio::DST_PITCH_OFFSET, 2)])
        .words(&[surface(256, 0); 2])
        .marker(0)
        .marker(1);
    rules.push(Rule::new(Reason::MissingRelocation, &two, 5, pm4::FILLER).shows_at(2));
}
