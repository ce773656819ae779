// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Depth and stencil.

use super::{rule::*, streams3d::*, support::Stream};
use r500::portable::{
    checker::Reason,
    regs::{mmio, mmio::*},
};

const FILLED: u32 = zb_bw_cntl::FAST_FILL.mask();
const READ: u32 = zb_bw_cntl::RD_COMP_ENABLE.mask();
const WRITTEN: u32 = zb_bw_cntl::WR_COMP_ENABLE.mask();
const LARGE_SQUARES: u32 = gb_z_peq_config::Z_PEQ_SIZE.mask();

/// Return a depth buffer of 64 by 64 pixels of four bytes in entry 1, written.
pub fn depth() -> Stream {
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
        .write(mmio::ZB_BW_CNTL, FILLED | READ)
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
            LARGE_SQUARES,
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

/// Return a draw that only writes depth, with that format, pitch and tiling, and with the depth memories in that mode.
fn compressed(format: u32, pitch: u32, mode: u32, squares: u32) -> Stream {
    let mut stream = depth();
    stream
        .write(mmio::RB3D_COLOR_CHANNEL_MASK, 0)
        .write(mmio::ZB_FORMAT, format)
        .write(mmio::ZB_DEPTHPITCH, pitch)
        .write(mmio::GB_Z_PEQ_CONFIG, squares)
        .write(mmio::ZB_BW_CNTL, mode)
        .write(mmio::SC_SCISSOR1, corner(EDGE, 32));
    point(&mut stream);
    stream
}

/// Add the rules that R5xx 2.2 and 9.4.4 have of 16-bit depth, fast fill and compression.
pub fn compression(rules: &mut Vec<Rule>) {
    use zb_format::depthformat::{FLOAT_13E3, INTEGER_16, INTEGER_24_STENCIL_8};
    let micro = |code| zb_depthpitch::DEPTHMICROTILE.of(code);
    let (tiled, square) = (EDGE | micro(1), EDGE | micro(2));
    let mut rule = |reason, stream: &Stream, register, value, at: Option<u32>| {
        let shows = at.map_or(point_control(stream), |register| {
            super::streams3d::at(stream, register)
        });
        rules.push(spoilt(reason, stream, register, value, shows).with_options(OWNER));
    };

    // 16 bits in blocks of 8 by 2, which are for pixels with several samples.
    for format in [INTEGER_16, FLOAT_13E3] {
        let stream = compressed(format, square, 0, 0);
        rule(
            Reason::DepthTiles,
            &stream,
            mmio::ZB_DEPTHPITCH,
            tiled,
            None,
        );
    }
    let stream = compressed(INTEGER_24_STENCIL_8, tiled, 0, 0);
    rule(
        Reason::DepthTiles,
        &stream,
        mmio::ZB_FORMAT,
        INTEGER_16,
        None,
    );
    let mut sampled = compressed(
        INTEGER_16,
        tiled | zb_depthpitch::DEPTHMACROTILE.mask(),
        0,
        0,
    );
    let samples = at(&sampled, mmio::GB_AA_CONFIG);
    sampled.words[samples] = gb_aa_config::AA_ENABLE.mask();
    rule(Reason::DepthTiles, &sampled, mmio::GB_AA_CONFIG, 0, None);

    // The table of combinations has four rows of eight.
    for good in [0, FILLED, FILLED | READ, FILLED | READ | WRITTEN] {
        let stream = compressed(INTEGER_24_STENCIL_8, tiled, good, 0);
        for bad in [READ, WRITTEN, READ | WRITTEN, FILLED | WRITTEN] {
            let mode = mmio::ZB_BW_CNTL;
            rule(Reason::DepthCompression, &stream, mode, bad, Some(mode));
        }
    }

    // No compression of 16 bits; fast fill there may be.
    for format in [INTEGER_16, FLOAT_13E3] {
        let stream = compressed(format, square, FILLED, 0);
        for mode in [FILLED | READ, FILLED | READ | WRITTEN] {
            rule(
                Reason::CompressedFormat,
                &stream,
                mmio::ZB_BW_CNTL,
                mode,
                None,
            );
        }
    }
    // Nothing of it without micro-tiles.
    let stream = compressed(INTEGER_24_STENCIL_8, EDGE, 0, 0);
    for mode in [FILLED, FILLED | READ, FILLED | READ | WRITTEN] {
        rule(
            Reason::CompressedTiles,
            &stream,
            mmio::ZB_BW_CNTL,
            mode,
            None,
        );
    }
    // Rows of whole squares: four pixels more are whole small ones, and no whole large ones.
    let stream = compressed(INTEGER_24_STENCIL_8, tiled + 4, FILLED, 0);
    rule(
        Reason::CompressedPitch,
        &stream,
        mmio::GB_Z_PEQ_CONFIG,
        LARGE_SQUARES,
        None,
    );
    let stream = compressed(INTEGER_24_STENCIL_8, tiled, FILLED, LARGE_SQUARES);
    rule(
        Reason::CompressedPitch,
        &stream,
        mmio::ZB_DEPTHPITCH,
        tiled + 4,
        None,
    );
}
