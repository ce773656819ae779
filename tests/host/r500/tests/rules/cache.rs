// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers that may change only while a cache is empty, and how it gets empty.

use super::{depth::depth, rule::*, streams3d::*, support::Stream};
use r500::portable::{
    checker::{Chip, Options, Reason},
    regs::{mmio, mmio::*},
};

const PURGE_COLOR: u32 = 0xa;
const PURGE_DEPTH: u32 = 3;

/// Write a register, with the marker that it needs.
fn write(stream: &mut Stream, register: u32) -> usize {
    let word = match register {
        mmio::ZB_FORMAT => zb_format::depthformat::INTEGER_24_STENCIL_8,
        _ if register == mmio::RB3D_COLORPITCH.at(0).unwrap() => {
            color_pitch(EDGE, rb3d_colorpitch::colorformat::ARGB8888)
        }
        _ => 0,
    };
    stream.write(register, word);
    let at = value(stream);
    let address = [mmio::ZB_DEPTHOFFSET, mmio::RB3D_AARESOLVE_OFFSET].contains(&register)
        || mmio::RB3D_COLOROFFSET.index_of(register).is_some();
    if address {
        stream.marker(1);
    }
    at
}

/// Append a draw, a purge of both caches, and a register. Return where the purges and the register are.
fn purged(mut stream: Stream, register: u32) -> (Stream, [usize; 3]) {
    point(&mut stream);
    stream.write(mmio::RB3D_DSTCACHE_CTLSTAT, PURGE_COLOR);
    let color = value(&stream);
    stream.write(mmio::ZB_ZCACHE_CTLSTAT, PURGE_DEPTH);
    let depth = value(&stream);
    let at = write(&mut stream, register);
    (stream, [color, depth, at])
}

fn rule(reason: Reason, stream: &Stream, at: usize, value: u32) -> Rule {
    Rule::new(reason, stream, at, value)
        .with_objects(&SIZES)
        .with_options(OWNER)
}

pub fn color(rules: &mut Vec<Rule>) {
    let first = |array: lapidary::portable::bits::RegArray| array.at(0).unwrap();
    for register in [
        first(mmio::RB3D_COLOROFFSET),
        mmio::RB3D_COLOROFFSET.at(3).unwrap(),
        first(mmio::RB3D_COLORPITCH),
        mmio::RB3D_CCTL,
        mmio::GB_AA_CONFIG,
        mmio::RB3D_AARESOLVE_OFFSET,
        mmio::RB3D_AARESOLVE_PITCH,
        mmio::RB3D_AARESOLVE_CTL,
        first(mmio::RB3D_CMASK_OFFSET),
        first(mmio::RB3D_CMASK_PITCH),
    ] {
        let (stream, [color, _, at]) = purged(state(), register);
        // Lines are written back and stay, are lost, or nothing happens.
        for half in [0x2, 0x8, 0] {
            rules.push(rule(Reason::ColorCache, &stream, color, half).shows_at(at));
        }
    }

    // What touches no colour leaves nothing in the cache; what reads it does.
    let mut stream = state();
    stream.write(mmio::RB3D_COLOR_CHANNEL_MASK, 0);
    point(&mut stream);
    let at = write(&mut stream, first(mmio::RB3D_COLOROFFSET));
    for (register, value) in [
        (mmio::RB3D_COLOR_CHANNEL_MASK, 1),
        (
            mmio::RB3D_BLENDCNTL,
            rb3d_blendcntl::READ_ENABLE.mask() | rb3d_blendcntl::ALPHA_BLEND_ENABLE.mask(),
        ),
    ] {
        rules.push(spoilt(Reason::ColorCache, &stream, register, value, at));
    }

    // A purge is good for what was drawn before it, and another draw does not stand in for one.
    let (mut stream, _) = purged(state(), first(mmio::RB3D_COLOROFFSET));
    point(&mut stream);
    point(&mut stream);
    stream.write(mmio::RB3D_DSTCACHE_CTLSTAT, PURGE_COLOR);
    let purge = value(&stream);
    let at = write(&mut stream, first(mmio::RB3D_COLOROFFSET));
    rules.push(rule(Reason::ColorCache, &stream, purge, 0x2).shows_at(at));

    // One that some pipes do not get is none.
    let four = Options {
        chip: Chip::R580,
        pixel_pipes: 4,
        ..KEEP
    };
    let mut stream = state();
    point(&mut stream);
    stream.write(mmio::SU_REG_DEST, 0xf);
    let some = value(&stream);
    stream
        .write(mmio::RB3D_DSTCACHE_CTLSTAT, PURGE_COLOR)
        .write(mmio::SU_REG_DEST, 0xf);
    let at = write(&mut stream, first(mmio::RB3D_COLOROFFSET));
    rules.push(
        rule(Reason::ColorCache, &stream, some, 7)
            .with_options(four)
            .shows_at(at),
    );
}

pub fn depth_too(rules: &mut Vec<Rule>) {
    for register in [
        mmio::ZB_DEPTHOFFSET,
        mmio::ZB_DEPTHPITCH,
        mmio::ZB_FORMAT,
        mmio::ZB_ZMASK_OFFSET,
        mmio::ZB_ZMASK_PITCH,
        mmio::ZB_HIZ_OFFSET,
        mmio::ZB_HIZ_PITCH,
        mmio::GB_AA_CONFIG,
    ] {
        let (stream, [_, depth, at]) = purged(depth(), register);
        for half in [1, 2, 0] {
            rules.push(rule(Reason::DepthCache, &stream, depth, half).shows_at(at));
        }
    }

    // Depth that is only tested against is in the cache as well.
    let mut stream = depth();
    stream.write(mmio::ZB_CNTL, 0);
    point(&mut stream);
    let at = write(&mut stream, mmio::ZB_DEPTHOFFSET);
    let tests = zb_cntl::Z_ENABLE.mask();
    rules.push(spoilt(
        Reason::DepthCache,
        &stream,
        mmio::ZB_CNTL,
        tests,
        at,
    ));

    // Not all pipes.
    let four = Options {
        chip: Chip::R580,
        pixel_pipes: 4,
        ..KEEP
    };
    let mut stream = depth();
    point(&mut stream);
    stream.write(mmio::SU_REG_DEST, 0xf);
    let some = value(&stream);
    stream
        .write(mmio::ZB_ZCACHE_CTLSTAT, PURGE_DEPTH)
        .write(mmio::SU_REG_DEST, 0xf);
    let at = write(&mut stream, mmio::ZB_DEPTHPITCH);
    stream.words[at] = EDGE;
    rules.push(
        rule(Reason::DepthCache, &stream, some, 1)
            .with_options(four)
            .shows_at(at),
    );
}
