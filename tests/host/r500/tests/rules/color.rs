// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Colour: targets, formats, scissor, samples.

use super::{rule::*, streams3d::*};
use lapidary::portable::radeon::uapi::tiling;
use r500::portable::{
    checker::Reason,
    pm4,
    regs::{mmio, mmio::*},
};

const MACRO: u32 = rb3d_colorpitch::COLORTILE.mask();

fn offset(number: u32) -> u32 {
    mmio::RB3D_COLOROFFSET.at(number).unwrap()
}

fn pitch(number: u32) -> u32 {
    mmio::RB3D_COLORPITCH.at(number).unwrap()
}

pub fn needed(rules: &mut Vec<Rule>) {
    let stream = drawn();
    let draw = point_control(&stream);
    for (reason, register) in [
        (Reason::NoScissor, mmio::SC_SCISSOR1),
        (Reason::NoAntiAlias, mmio::GB_AA_CONFIG),
        (Reason::NoResolveControl, mmio::RB3D_AARESOLVE_CTL),
        (Reason::NoColorControl, mmio::RB3D_CCTL),
        (Reason::NoColorMask, mmio::RB3D_COLOR_CHANNEL_MASK),
        (Reason::NoColorBuffer, offset(0)),
        (Reason::NoColorBuffer, pitch(0)),
        (Reason::NoDepthControl, mmio::ZB_CNTL),
        (Reason::NoDepthBandwidth, mmio::ZB_BW_CNTL),
        // An output that is not called unused may be in use.
        (Reason::NoColorBuffer, mmio::US_OUT_FMT.at(3).unwrap()),
    ] {
        rules.push(missing(reason, &stream, register, draw));
    }
    // Outputs, copies of the first output, and nothing drawn but read.
    let spoil = |register, value| spoilt(Reason::NoColorBuffer, &stream, register, value, draw);
    rules.extend([
        spoil(
            mmio::US_OUT_FMT.at(1).unwrap(),
            us_out_fmt::out_fmt::C_32_FP,
        ),
        spoil(mmio::RB3D_CCTL, rb3d_cctl::NUM_MULTIWRITES.of(1)),
        spoil(mmio::RB3D_CCTL, rb3d_cctl::NUM_MULTIWRITES.of(3)),
    ]);
    let mut unmasked = stream.clone();
    let (unset, mask) = (
        at(&stream, pitch(0)) - 1,
        at(&stream, mmio::RB3D_COLOR_CHANNEL_MASK),
    );
    unmasked.words[unset] = pm4::write(mmio::GA_OFFSET, 1);
    unmasked.words[mask] = 0;
    rules.extend([
        spoilt(
            Reason::NoColorBuffer,
            &unmasked,
            mmio::RB3D_COLOR_CHANNEL_MASK,
            8,
            draw,
        ),
        spoilt(
            Reason::NoColorBuffer,
            &unmasked,
            mmio::RB3D_BLENDCNTL,
            4,
            draw,
        ),
        missing(Reason::NoColorBuffer, &unmasked, mmio::RB3D_BLENDCNTL, draw),
        spoilt(
            Reason::NoColorBuffer,
            &unmasked,
            mmio::ZB_BW_CNTL,
            1 << 5,
            draw,
        ),
    ]);
}

pub fn bounds(rules: &mut Vec<Rule>) {
    use rb3d_colorpitch::colorformat as format;
    let stream = drawn();
    let draw = point_control(&stream);
    let spoil = |reason, register, value| spoilt(reason, &stream, register, value, draw);
    rules.extend([
        spoil(
            Reason::ColorBounds,
            mmio::SC_SCISSOR1,
            corner(EDGE, EDGE + 1),
        ),
        spoil(Reason::ColorBounds, mmio::SC_SCISSOR1, corner(1, 8192)),
        spoil(Reason::ColorBounds, offset(0), 32),
        spoil(
            Reason::ColorBounds,
            pitch(0),
            color_pitch(EDGE + 8, format::ARGB8888),
        ),
        spoil(
            Reason::ColorBounds,
            pitch(0),
            color_pitch(EDGE, format::ARGB16161616),
        ),
        spoil(
            Reason::ColorBounds,
            pitch(0),
            color_pitch(0x3ffe - 6, format::ARGB32323232),
        ),
        // Multiple samples are stored side by side.
        spoil(
            Reason::ColorBounds,
            mmio::GB_AA_CONFIG,
            gb_aa_config::AA_ENABLE.of(1),
        ),
        spoil(
            Reason::ZeroPitch,
            pitch(0),
            color_pitch(0, format::ARGB8888),
        ),
        spoil(
            Reason::TiledPitch,
            pitch(0),
            color_pitch(EDGE - 2, format::ARGB8888),
        ),
    ]);
    // An offset that is no place in the object, or whose low bits mean nothing.
    let own = at(&stream, offset(0));
    rules.push(spoil(Reason::OffsetBeyondObject, offset(0), COLOR_BYTES as u32).shows_at(own));
    rules.push(spoil(Reason::OffsetBeyondObject, offset(0), 0xffff_ffe0).shows_at(own));
    rules.push(spoil(Reason::ForbiddenBits, offset(0), 16).shows_at(own));
    // Formats that are not drawn.
    let own = at(&stream, pitch(0));
    for code in [
        format::ARGB10101010,
        format::UV1010,
        format::CI8,
        8,
        format::I10,
    ] {
        rules.push(spoil(Reason::ColorFormat, pitch(0), color_pitch(EDGE, code)).shows_at(own));
    }
    // Bits of the control register that mean nothing.
    let own = at(&stream, mmio::RB3D_CCTL);
    rules.push(spoil(Reason::ForbiddenBits, mmio::RB3D_CCTL, 1 << 11).shows_at(own));

    // Without formats of their own, all targets have that of the first.
    let mut two = state();
    target(&mut two, 1, 1);
    two.write(mmio::RB3D_CCTL, rb3d_cctl::NUM_MULTIWRITES.of(1));
    point(&mut two);
    rules.push(
        spoilt(
            Reason::ColorBounds,
            &two,
            pitch(0),
            color_pitch(EDGE, format::ARGB16161616),
            point_control(&two),
        )
        .with_objects(&[2 * COLOR_BYTES, COLOR_BYTES]),
    );

    // Every target counts by its own mask, or all by that of the first.
    let mut masked = state();
    masked.write(mmio::US_OUT_FMT.at(1).unwrap(), 0).write(
        mmio::RB3D_CCTL,
        rb3d_cctl::INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE.of(1)
            | rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.of(1),
    );
    point(&mut masked);
    let draw = point_control(&masked);
    rules.push(spoilt(
        Reason::NoColorBuffer,
        &masked,
        mmio::RB3D_COLOR_CHANNEL_MASK,
        0x1f,
        draw,
    ));
    rules.push(spoilt(
        Reason::NoColorBuffer,
        &masked,
        mmio::RB3D_CCTL,
        0,
        draw,
    ));
}

pub fn tiling(rules: &mut Vec<Rule>) {
    use rb3d_colorpitch::colorformat as format;
    let micro = |code| rb3d_colorpitch::COLORMICROTILE.of(code);
    // Macro-blocks of 32 by 16 pixels, four rows of two.
    let mut stream = drawn();
    let draw = point_control(&stream);
    let word = color_pitch(EDGE, format::ARGB8888) | MACRO | micro(1);
    let place = at(&stream, pitch(0));
    stream.words[place] = word;
    let scissor = at(&stream, mmio::SC_SCISSOR1);
    stream.words[scissor] = corner(EDGE, 49);
    let spoil = |reason, register, value| spoilt(reason, &stream, register, value, draw);
    rules.extend([
        // The next row of macro-blocks.
        spoil(Reason::ColorBounds, mmio::SC_SCISSOR1, corner(EDGE, 65)),
        spoil(Reason::ColorBounds, offset(0), 2048),
        spoil(Reason::TiledOffset, offset(0), 1024),
        spoil(Reason::TiledPitch, pitch(0), word ^ (EDGE ^ (EDGE - 16))),
        spoil(Reason::TilingMode, pitch(0), word ^ micro(1) ^ micro(3)),
        // Square blocks have pixels of 16 bits only; 128 bits are never tiled.
        spoil(Reason::TilingMode, pitch(0), word ^ micro(1) ^ micro(2)),
        spoil(
            Reason::TilingMode,
            pitch(0),
            color_pitch(EDGE, format::ARGB32323232) | micro(1),
        ),
    ]);
    // Without the flag it is the object's tiling that counts, and the pitch register has a marker too.
    let mut patched = state();
    patched
        .write(pitch(0), color_pitch(EDGE, format::ARGB8888))
        .marker(0);
    // The pitch in `state` has none yet.
    let first = at(&state(), pitch(0));
    patched.words.splice(
        first + 1..first + 1,
        [pm4::operation(r500::portable::regs::pm4::op::NOP, 1), 0],
    );
    point(&mut patched);
    let draw = point_control(&patched);
    let marker = at(&patched, pitch(0)) + 2;
    // Entry 1 has square blocks, which pixels of 32 bits do not have.
    let rule = |reason, at, value| {
        Rule::new(reason, &patched, at, value)
            .with_objects(&SIZES)
            .take_tiling_from([0, tiling::MICRO_SQUARE])
    };
    rules.push(rule(Reason::TilingMode, marker, 4).shows_at(draw));
    rules.push(rule(Reason::MissingRelocation, marker - 1, pm4::FILLER).shows_at(marker - 2));
    rules.push(rule(Reason::BadRelocation, marker, 12).shows_at(marker - 2));
}

/// The right edge is narrowed if columns beyond the pitch leave the object, but not after another draw.
pub fn narrowing(rules: &mut Vec<Rule>) {
    let mut stream = state();
    stream.write(mmio::SC_SCISSOR1, corner(EDGE, EDGE));
    point(&mut stream);
    // A second buffer of half the width in entry 1, which has the same size: columns beyond its pitch are
    // still inside.
    stream.write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa);
    stream.write(offset(0), 0).marker(1).write(
        pitch(0),
        color_pitch(EDGE / 2, rb3d_colorpitch::colorformat::ARGB8888),
    );
    point(&mut stream);
    let draw = point_control(&stream);
    let last = at(&stream, offset(0));
    rules.push(
        Rule::new(
            Reason::ScissorBounds,
            &stream,
            last,
            2 * super::rule::PAGE as u32,
        )
        .shows_at(draw)
        .with_objects(&SIZES),
    );
}

pub fn resolve(rules: &mut Vec<Rule>) {
    let mut stream = state();
    // Four samples: entry 1 has four times the bytes.
    let tiled = color_pitch(EDGE, rb3d_colorpitch::colorformat::ARGB8888)
        | MACRO
        | rb3d_colorpitch::COLORMICROTILE.of(1);
    stream
        .write(offset(0), 0)
        .marker(1)
        .write(pitch(0), tiled)
        .write(
            mmio::GB_AA_CONFIG,
            gb_aa_config::AA_ENABLE.of(1)
                | gb_aa_config::NUM_AA_SUBSAMPLES.of(gb_aa_config::num_aa_subsamples::SAMPLES_4),
        )
        .write(mmio::RB3D_AARESOLVE_OFFSET, 0)
        .marker(0)
        .write(mmio::RB3D_AARESOLVE_PITCH, EDGE)
        .write(mmio::RB3D_AARESOLVE_CTL, 1);
    point(&mut stream);
    let draw = point_control(&stream);
    let sizes = [COLOR_BYTES, 4 * COLOR_BYTES];
    let spoil = |reason, register, value| {
        spoilt(reason, &stream, register, value, draw).with_objects(&sizes)
    };
    rules.extend([
        spoil(Reason::ResolveBounds, mmio::RB3D_AARESOLVE_OFFSET, 2048),
        spoil(Reason::ResolveBounds, mmio::RB3D_AARESOLVE_PITCH, 2 * EDGE),
        spoil(Reason::TiledPitch, mmio::RB3D_AARESOLVE_PITCH, EDGE + 2),
        spoil(Reason::ZeroPitch, mmio::RB3D_AARESOLVE_PITCH, 0),
        spoil(Reason::ColorBounds, offset(0), 2048),
        spoil(Reason::ColorBounds, mmio::GB_AA_CONFIG, 7),
        missing(
            Reason::NoResolveBuffer,
            &stream,
            mmio::RB3D_AARESOLVE_OFFSET,
            draw,
        )
        .with_objects(&sizes),
        missing(
            Reason::NoResolveBuffer,
            &stream,
            mmio::RB3D_AARESOLVE_PITCH,
            draw,
        )
        .with_objects(&sizes),
    ]);
    let own = at(&stream, mmio::RB3D_AARESOLVE_OFFSET);
    rules.push(spoil(Reason::ForbiddenBits, mmio::RB3D_AARESOLVE_OFFSET, 4).shows_at(own));

    // The sampled buffer is read even if nothing is written to it.
    let mut masked = stream.clone();
    let mask = at(&masked, mmio::RB3D_COLOR_CHANNEL_MASK);
    masked.words[mask] = 0;
    rules.push(spoilt(Reason::ColorBounds, &masked, offset(0), 2048, draw).with_objects(&sizes));
    // Without resolving: it has rows of macro-blocks though its register does not say so.
    let mut linear = state();
    linear
        .write(mmio::GB_AA_CONFIG, gb_aa_config::AA_ENABLE.of(1))
        .write(mmio::SC_SCISSOR1, corner(EDGE, 48));
    point(&mut linear);
    rules.push(
        spoilt(
            Reason::ColorBounds,
            &linear,
            mmio::SC_SCISSOR1,
            corner(EDGE, 49),
            point_control(&linear),
        )
        .with_objects(&[7 * PAGE]),
    );
    // The register says macro-blocks of 64 by 8 pixels, and the row has one and a half of them.
    let format = rb3d_colorpitch::colorformat::ARGB8888;
    let mut said = state();
    said.write(mmio::GB_AA_CONFIG, gb_aa_config::AA_ENABLE.of(1))
        .write(pitch(0), color_pitch(96, format));
    point(&mut said);
    rules.push(
        spoilt(
            Reason::TiledPitch,
            &said,
            pitch(0),
            color_pitch(96, format) | MACRO,
            point_control(&said),
        )
        .with_objects(&[16 * PAGE]),
    );

    // Square blocks of 16-bit pixels: the resolved picture may have them, a sampled buffer may not.
    let square = color_pitch(EDGE, rb3d_colorpitch::colorformat::RGB565)
        | MACRO
        | rb3d_colorpitch::COLORMICROTILE.of(2);
    let word = at(&stream, pitch(0));
    stream.words[word] = square;
    let mut plain = stream.clone();
    let resolving = at(&plain, mmio::RB3D_AARESOLVE_CTL);
    plain.words[resolving] = 1;
    rules.push(
        spoilt(
            Reason::TilingMode,
            &plain,
            mmio::RB3D_AARESOLVE_CTL,
            0,
            draw,
        )
        .with_objects(&sizes),
    );
}
