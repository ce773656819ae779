// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams whose addresses are bound to no object, or to none that is there.

use super::{client, refuse, surface_of};
use anyhow::Result;
use lapidary_guest::stream::Access;
use lapidary_guest::{Stream, pm4};
use lapidary_harness::Context;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;

pub(super) fn missing_relocation(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for register in [mmio::DST_PITCH_OFFSET, mmio::SRC_PITCH_OFFSET] {
        let value = surface_of(&bo).pitch_offset();
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream.register(register, value);
        refuse(context, &device, "at the end", &stream)?;
        stream.register(mmio::DP_BRUSH_FRGD_CLR, 0);
        refuse(context, &device, "another packet follows", &stream)?;
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream
            .register(register, value)
            .word(pm4::PACKET2)
            .marker(0);
        refuse(context, &device, "a filler in between", &stream)?;
    }
    Ok(())
}

pub(super) fn long_marker(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let mut stream = Stream::new();
    stream.entry(&bo, Access::Write);
    stream
        .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
        .packet(op::NOP, &[0, 0]);
    refuse(context, &device, "a marker of two dwords", &stream)
}

pub(super) fn relocation_out_of_range(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for index in [4, 8, 1000, 0x7fff_fffc, 0x8000_0000, 0xffff_fffc, u32::MAX] {
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream
            .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
            .marker(index);
        refuse(
            context,
            &device,
            &format!("index {index:#x} of one entry"),
            &stream,
        )?;
    }
    let mut stream = Stream::new();
    stream
        .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
        .marker(0);
    refuse(context, &device, "index 0 of no entry", &stream)
}

pub(super) fn relocation_between(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for index in [1, 2, 3] {
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream
            .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
            .marker(index);
        refuse(context, &device, &format!("index {index}"), &stream)?;
    }
    Ok(())
}
