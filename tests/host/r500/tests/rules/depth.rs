// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Depth and stencil.

use super::{rule::*, streams3d::*, support::Stream};
use r500::portable::{
    checker::Reason,
    regs::{mmio, mmio::*},
};

/// A depth buffer of 64 by 64 pixels of four bytes in entry 1, written.
fn depth() -> Stream {
    let mut stream = state();
    stream
        .write(
            mmio::ZB_CNTL,
            zb_cntl::Z_ENABLE.of(1) | zb_cntl::ZWRITEENABLE.of(1),
        )
        .write(
            mmio::ZB_FORMAT,
            zb_format::depthformat::INTEGER_24_STENCIL_8,
        )
        .write(mmio::ZB_DEPTHOFFSET, 0)
        .marker(1)
        .write(mmio::ZB_DEPTHPITCH, EDGE);
    stream
}

pub fn rules(rules: &mut Vec<Rule>) {
    let mut stream = depth();
    point(&mut stream);
    let draw = point_control(&stream);
    let spoil = |reason, register, value| spoilt(reason, &stream, register, value, draw);
    rules.extend([
        missing(Reason::NoDepthBuffer, &stream, mmio::ZB_DEPTHOFFSET, draw),
        missing(Reason::NoDepthBuffer, &stream, mmio::ZB_DEPTHPITCH, draw),
        missing(Reason::NoDepthBuffer, &stream, mmio::ZB_FORMAT, draw),
        spoil(Reason::DepthBounds, mmio::ZB_DEPTHOFFSET, 32),
        spoil(Reason::DepthBounds, mmio::ZB_DEPTHPITCH, EDGE + 8),
        spoil(Reason::TiledPitch, mmio::ZB_DEPTHPITCH, EDGE + 4),
        spoil(Reason::ZeroPitch, mmio::ZB_DEPTHPITCH, 0),
        spoil(
            Reason::TilingMode,
            mmio::ZB_DEPTHPITCH,
            EDGE | zb_depthpitch::DEPTHMICROTILE.of(3),
        ),
        spoil(Reason::DepthFormat, mmio::ZB_FORMAT, 3).shows_at(at(&stream, mmio::ZB_FORMAT)),
        spoil(Reason::ForbiddenBits, mmio::ZB_DEPTHOFFSET, 1)
            .shows_at(at(&stream, mmio::ZB_DEPTHOFFSET)),
    ]);

    // With colour in order, the scissor is too high for depth alone.
    let mut low = depth();
    low.write(mmio::RB3D_COLOR_CHANNEL_MASK, 0);
    point(&mut low);
    let draw = point_control(&low);
    rules.push(spoilt(
        Reason::DepthBounds,
        &low,
        mmio::SC_SCISSOR1,
        corner(EDGE, EDGE + 1),
        draw,
    ));

    // Any of the three switches needs a buffer, and so does helping colour.
    let plain = drawn();
    let draw = point_control(&plain);
    for bit in [
        zb_cntl::STENCIL_ENABLE.mask(),
        zb_cntl::Z_ENABLE.mask(),
        zb_cntl::ZWRITEENABLE.mask(),
    ] {
        rules.push(spoilt(
            Reason::NoDepthBuffer,
            &plain,
            mmio::ZB_CNTL,
            bit,
            draw,
        ));
    }
    rules.push(spoilt(
        Reason::NoDepthBuffer,
        &plain,
        mmio::ZB_BW_CNTL,
        zb_bw_cntl::ZB_CB_CLEAR.mask(),
        draw,
    ));

    // Tiled: 16 lines of macro-blocks.
    let mut tiled = depth();
    tiled
        .write(
            mmio::ZB_DEPTHPITCH,
            EDGE | zb_depthpitch::DEPTHMACROTILE.of(1) | zb_depthpitch::DEPTHMICROTILE.of(1),
        )
        .write(mmio::RB3D_COLOR_CHANNEL_MASK, 0)
        .write(mmio::SC_SCISSOR1, corner(EDGE, 33))
        .write(mmio::ZB_DEPTHOFFSET, 4096)
        .marker(1);
    point(&mut tiled);
    let draw = point_control(&tiled);
    rules.extend([
        spoilt(
            Reason::DepthBounds,
            &tiled,
            mmio::SC_SCISSOR1,
            corner(EDGE, 49),
            draw,
        ),
        spoilt(
            Reason::DepthBounds,
            &tiled,
            mmio::ZB_DEPTHOFFSET,
            6144,
            draw,
        ),
        spoilt(
            Reason::TiledOffset,
            &tiled,
            mmio::ZB_DEPTHOFFSET,
            1024,
            draw,
        ),
        // Samples count for depth as well, and come in one kind of block only.
        spoilt(Reason::DepthBounds, &tiled, mmio::GB_AA_CONFIG, 1, draw),
    ]);

    let mut sampled = depth();
    sampled
        .write(mmio::ZB_FORMAT, zb_format::depthformat::INTEGER_16)
        .write(
            mmio::ZB_DEPTHPITCH,
            EDGE | zb_depthpitch::DEPTHMACROTILE.of(1) | zb_depthpitch::DEPTHMICROTILE.of(2),
        )
        .write(mmio::RB3D_COLOR_CHANNEL_MASK, 0);
    point(&mut sampled);
    let draw = point_control(&sampled);
    rules.push(spoilt(
        Reason::TilingMode,
        &sampled,
        mmio::GB_AA_CONFIG,
        1,
        draw,
    ));

    // Compressed depth comes in squares of 4 or 8 pixels.
    let mut compressed = depth();
    compressed
        .write(mmio::RB3D_COLOR_CHANNEL_MASK, 0)
        .write(
            mmio::ZB_DEPTHPITCH,
            EDGE | zb_depthpitch::DEPTHMICROTILE.of(1),
        )
        .write(mmio::GB_Z_PEQ_CONFIG, 0)
        .write(mmio::ZB_BW_CNTL, zb_bw_cntl::RD_COMP_ENABLE.mask())
        .write(mmio::SC_SCISSOR1, corner(EDGE, 60))
        // 62 lines are left: 31 rows of micro-blocks.
        .write(mmio::ZB_DEPTHOFFSET, 2 * 4 * EDGE)
        .marker(1);
    point(&mut compressed);
    let draw = point_control(&compressed);
    rules.push(
        spoilt(
            Reason::DepthBounds,
            &compressed,
            mmio::GB_Z_PEQ_CONFIG,
            gb_z_peq_config::Z_PEQ_SIZE.mask(),
            draw,
        )
        .with_options(OWNER),
    );
    rules.push(
        spoilt(
            Reason::DepthBounds,
            &compressed,
            mmio::SC_SCISSOR1,
            corner(EDGE, 61),
            draw,
        )
        .with_options(OWNER),
    );

    // The count of pixels that passed: four bytes.
    let mut pass = Stream::new();
    pass.write(mmio::ZB_ZPASS_ADDR, 4 * PAGE as u32 - 4)
        .marker(0);
    rules.extend([
        Rule::new(Reason::OffsetBeyondObject, &pass, 1, 4 * PAGE as u32).with_objects(&SIZES),
        Rule::new(Reason::ForbiddenBits, &pass, 1, 2).with_objects(&SIZES),
        Rule::new(
            Reason::MissingRelocation,
            &pass,
            2,
            r500::portable::pm4::FILLER,
        )
        .shows_at(1)
        .with_objects(&SIZES),
    ]);
    let mut pass = Stream::new();
    pass.write(mmio::ZB_ZPASS_ADDR, 4).marker(0);
    rules.push(Rule::new(Reason::PassBounds, &pass, 1, 8).with_objects(&[10]));
}
