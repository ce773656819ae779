// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a draw writes into: colour buffers, depth buffer, resolve target, pixel counters; and the scissors
//! that bound it all.

use r500::portable::{checker::Chip, regs::mmio};

use crate::scene::{extent, pick, rarely, Scene};

use mmio::{
    rb3d_aaresolve_ctl, rb3d_blendcntl, rb3d_cctl, rb3d_colorpitch, sc_scissor0, sc_scissor1,
    us_out_fmt, zb_bw_cntl, zb_cntl, zb_depthpitch, zb_format,
};

/// What the draws of a scene have in common.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub width: u32,
    pub height: u32,
    pub samples: u32,
}

pub fn frame(s: &mut Scene<'_>) -> Frame {
    if rarely(s.rng, 64) {
        // Products of such numbers have more than 32 bits.
        return Frame {
            width: 8192,
            height: 8192,
            samples: 6,
        };
    }
    let aa = rarely(s.rng, 6);
    let height = extent(s.rng, 4096);
    // Up to 16 bytes a pixel, and tiles at the edges.
    let most = (1 << 19) / height.next_multiple_of(32);
    Frame {
        width: extent(s.rng, 4096.min(most)),
        height,
        samples: if aa { pick(s.rng, &[2, 3, 4, 6]) } else { 1 },
    }
}

/// Return the bytes of a pixel, by colour format.
fn bytes(format: u32) -> u32 {
    match format {
        2 | 9 => 1,
        3 | 4 | 11..=15 => 2,
        10 => 8,
        7 => 16,
        _ => 4,
    }
}

/// Return how pixels of so many bytes are arranged: macro-tiled or not, and the code of the micro-tiles.
fn tiling(s: &mut Scene<'_>, frame: Frame, bytes: u32) -> (bool, u32) {
    if rarely(s.rng, 96) {
        return (s.rng.bool(), s.rng.u32(..4));
    }
    let micro = match bytes {
        _ if frame.samples > 1 => 1,
        2 => pick(s.rng, &[0, 0, 1, 2]),
        16 => 0,
        _ => pick(s.rng, &[0, 0, 1]),
    };
    (frame.samples > 1 || rarely(s.rng, 3), micro)
}

/// Return a pitch in pixels for a frame, with room for the tiles.
fn pitch(s: &mut Scene<'_>, frame: Frame, bytes: u32, macro_tiled: bool) -> u32 {
    let align = if macro_tiled { 256 } else { 32 } / bytes;
    let align = if rarely(s.rng, 96) { 2 } else { align.max(8) };
    let wanted = match s.rng.u32(..16) {
        // Narrower than the scissor: rows run into each other.
        0 => (frame.width / 2).max(1),
        1 => frame.width * 2,
        2 => extent(s.rng, 4096),
        _ => frame.width,
    };
    let aligned = wanted.next_multiple_of(align).min(16_380);
    aligned.max(align)
}

/// Append upper left and lower right corner, and clip rectangles.
pub fn scissors(s: &mut Scene<'_>, frame: Frame) {
    s.piece();
    let (left, top) = if rarely(s.rng, 8) {
        (s.rng.u32(..frame.width), s.rng.u32(..frame.height))
    } else {
        (0, 0)
    };
    let corners = [
        sc_scissor0::XS0.of(left) | sc_scissor0::YS0.of(top),
        sc_scissor1::XS1.of(frame.width - 1) | sc_scissor1::YS1.of(frame.height - 1),
    ];
    s.block(mmio::SC_SCISSOR0, &corners);
    if s.rng.bool() {
        s.block(mmio::SC_CLIP_0_A, &corners);
        s.on().write(mmio::SC_CLIP_RULE, 0xaaaa);
    }
}

fn color(s: &mut Scene<'_>, number: u32, frame: Frame) {
    s.piece();
    let format = if rarely(s.rng, 64) {
        s.rng.u32(..16)
    } else {
        pick(s.rng, &[6, 6, 6, 3, 4, 5, 7, 9, 10, 13, 15, 11, 12])
    };
    let (macro_tiled, micro) = tiling(s, frame, bytes(format));
    let pitch = pitch(s, frame, bytes(format), macro_tiled);
    let offset = s.offset(if macro_tiled { 2048 } else { 32 });
    let object = s.object();
    let word = rb3d_colorpitch::COLORPITCH.of(pitch / 2)
        | rb3d_colorpitch::COLORFORMAT.of(format)
        | rb3d_colorpitch::COLORTILE.of(macro_tiled.into())
        | rb3d_colorpitch::COLORMICROTILE.of(micro);
    let patched = !s.options.keep_tiling || s.rng.bool();
    let pitch_register = mmio::RB3D_COLORPITCH.at(number).expect("four targets");
    let offset_register = mmio::RB3D_COLOROFFSET.at(number).expect("four targets");
    let second = s.rng.bool();
    let stream = s.on();
    if !second {
        stream.write(offset_register, offset).marker(object);
    }
    stream.write(pitch_register, word);
    if patched {
        stream.marker(object);
    }
    if second {
        stream.write(offset_register, offset).marker(object);
    }
}

/// Append colour targets, none to four of them, and how they are written.
pub fn colors(s: &mut Scene<'_>, frame: Frame) {
    let targets = pick(s.rng, &[0, 1, 1, 1, 1, 2, 3, 4]);
    s.piece();
    let multiwrite = targets > 1 && rarely(s.rng, 4);
    let mut control = rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.of(1);
    if rarely(s.rng, 8) {
        control = 0;
    }
    if rarely(s.rng, 4) {
        control |= rb3d_cctl::INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE.of(1);
    }
    if multiwrite {
        control |= rb3d_cctl::NUM_MULTIWRITES.of(targets - 1);
    }
    let cmask = s.options.cmask && rarely(s.rng, 2);
    if cmask {
        control |= rb3d_cctl::AA_COMPRESSION_ENABLE.of(1) | rb3d_cctl::CMASK_ENABLE.of(1);
    }
    s.on().write(mmio::RB3D_CCTL, control);
    for number in 0..targets {
        color(s, number, frame);
        if cmask && number == 0 {
            let pitch = s.rng.u32(..256);
            s.on()
                .write(mmio::RB3D_CMASK_OFFSET.at(0).expect("four"), 0)
                .write(mmio::RB3D_CMASK_PITCH.at(0).expect("four"), pitch)
                .write(mmio::RB3D_COLOR_CLEAR_VALUE, 0x8000_0000);
        }
    }
    let outputs = if multiwrite { targets.min(1) } else { targets };
    let formats: Vec<u32> = (0..4)
        .map(|i| {
            if i < outputs {
                us_out_fmt::OUT_FMT.of(us_out_fmt::out_fmt::C4_8)
            } else {
                us_out_fmt::OUT_FMT.of(us_out_fmt::out_fmt::UNUSED)
            }
        })
        .collect();
    s.piece();
    s.block(mmio::US_OUT_FMT.at(0).expect("four"), &formats);
    let mask = match s.rng.u32(..8) {
        _ if targets == 0 => 0,
        0 => 0,
        1 => s.rng.u32(..),
        // Targets in turn.
        2 => pick(s.rng, &[0xf, 0xf0, 0xf00, 0xf000, 0x0ff0]),
        _ => 0xffff,
    };
    let blend = match s.rng.u32(..4) {
        _ if targets == 0 && !rarely(s.rng, 8) => 0,
        0 => 0,
        1 => rb3d_blendcntl::READ_ENABLE.of(1) | rb3d_blendcntl::ALPHA_BLEND_ENABLE.of(1),
        2 => s.rng.u32(..) & !rb3d_blendcntl::READ_ENABLE.mask(),
        _ => rb3d_blendcntl::ALPHA_BLEND_ENABLE.of(1),
    };
    s.piece();
    s.block(mmio::RB3D_BLENDCNTL, &[blend, 0, mask]);
    let rop = s.rng.u32(..0x1000);
    s.on()
        .write(mmio::RB3D_ROPCNTL, if rop % 4 == 0 { rop } else { 0 });
}

/// Append depth and stencil, with format, functions, and hierarchical Z if the client owns it.
pub fn depth(s: &mut Scene<'_>, frame: Frame) {
    let present = s.rng.bool();
    s.piece();
    let enable = match s.rng.u32(..8) {
        _ if !present => 0,
        0 => zb_cntl::STENCIL_ENABLE.of(1),
        1 => s.rng.u32(..128),
        2 => zb_cntl::Z_ENABLE.of(1),
        _ => zb_cntl::Z_ENABLE.of(1) | zb_cntl::ZWRITEENABLE.of(1) | zb_cntl::STENCIL_ENABLE.of(1),
    };
    let functions = s.rng.u32(..1 << 28);
    s.block(mmio::ZB_CNTL, &[enable, functions]);
    if rarely(s.rng, 128) {
        let x = 32 * s.rng.u32(..4);
        s.on().write(mmio::ZB_DEPTHXY_OFFSET, x);
    }
    if present || rarely(s.rng, 4) {
        depth_buffer(s, frame);
    }
    hyperz(s);
}

fn depth_buffer(s: &mut Scene<'_>, frame: Frame) {
    s.piece();
    let format = pick(s.rng, &[0, 1, 2, 2]);
    let bytes = if format == 2 { 4 } else { 2 };
    let (macro_tiled, micro) = tiling(s, frame, bytes);
    // The depth unit has square blocks of 16 bits only, and an owner compresses tiles only.
    let micro = match (bytes, micro) {
        (2, 1) if frame.samples == 1 && !rarely(s.rng, 16) => 2,
        (_, 0) if s.options.hyperz && !rarely(s.rng, 16) => 4 / bytes,
        _ => micro,
    };
    let pitch = pitch(s, frame, bytes, macro_tiled).next_multiple_of(4);
    let offset = s.offset(if macro_tiled { 2048 } else { 32 });
    let object = s.object();
    let patched = !s.options.keep_tiling || s.rng.bool();
    let word = zb_depthpitch::DEPTHPITCH.of(pitch / 4)
        | zb_depthpitch::DEPTHMACROTILE.of(macro_tiled.into())
        | zb_depthpitch::DEPTHMICROTILE.of(micro);
    let stream = s.on();
    stream
        .write(mmio::ZB_FORMAT, zb_format::DEPTHFORMAT.of(format))
        .write(mmio::ZB_DEPTHOFFSET, offset)
        .marker(object)
        .write(mmio::ZB_DEPTHPITCH, word);
    if patched {
        stream.marker(object);
    }
}

fn hyperz(s: &mut Scene<'_>) {
    s.piece();
    let owned = s.options.hyperz && s.rng.bool();
    let bandwidth = if owned {
        // Off, fast fill, decompressing, compressing; and any.
        let mode = match s.rng.u32(..16) {
            0 => s.rng.u32(..8),
            n => pick(s.rng, &[0, 1, 3, 7, 7]) & if n < 4 { 1 } else { 7 },
        };
        zb_bw_cntl::HIZ_ENABLE.of(s.rng.u32(..2))
            | zb_bw_cntl::FAST_FILL.of(mode)
            | zb_bw_cntl::RD_COMP_ENABLE.of(mode >> 1)
            | zb_bw_cntl::WR_COMP_ENABLE.of(mode >> 2)
    } else {
        0
    };
    let clear = zb_bw_cntl::ZB_CB_CLEAR.of(rarely(s.rng, 16).into());
    s.on()
        .write(mmio::ZB_BW_CNTL, bandwidth | clear)
        .write(mmio::ZB_DEPTHCLEARVALUE, 0xffff_ff00)
        .write(mmio::SC_HYPERZ_EN, if owned { 0x1d } else { 0x1c });
    if s.options.chip != Chip::R520 || owned {
        let size = u32::from(owned && s.rng.bool());
        s.on().write(mmio::GB_Z_PEQ_CONFIG, size);
    }
    if owned {
        let (hiz, mask) = (s.rng.u32(..64) << 4, s.rng.u32(..64));
        s.on()
            .write(mmio::ZB_HIZ_OFFSET, 0)
            .write(mmio::ZB_HIZ_PITCH, hiz)
            .write(mmio::ZB_ZMASK_OFFSET, 0)
            .write(mmio::ZB_ZMASK_PITCH, mask);
    }
}

/// Append multi-sampling, and where the picture is resolved to.
pub fn samples(s: &mut Scene<'_>, frame: Frame) {
    s.piece();
    let config = match frame.samples {
        2 => 1,
        3 => 3,
        4 => 5,
        6 => 7,
        _ => 0,
    };
    s.on().write(mmio::GB_AA_CONFIG, config);
    let resolve = rarely(s.rng, if frame.samples > 1 { 2 } else { 12 });
    if resolve {
        let object = s.object();
        let offset = s.offset(2048);
        let pitch = pitch(s, frame, 1, true);
        let control = rb3d_aaresolve_ctl::AARESOLVE_MODE.of(1) | (s.rng.u32(..4) << 1);
        s.on()
            .writes(mmio::RB3D_AARESOLVE_OFFSET, &[offset, pitch, control])
            .marker(object);
    } else {
        s.on().write(mmio::RB3D_AARESOLVE_CTL, 0);
    }
}

/// Change one register of the state, so that what was found in order before is not so any more.
pub fn change(s: &mut Scene<'_>) {
    s.piece();
    let (register, value) = match s.rng.u32(..10) {
        0 => (mmio::GB_AA_CONFIG, s.rng.u32(..8)),
        1 => (mmio::RB3D_COLOR_CHANNEL_MASK, s.rng.u32(..)),
        2 | 3 => {
            let output = mmio::US_OUT_FMT.at(s.rng.u32(..4)).expect("four");
            (output, pick(s.rng, &[0, 15]))
        }
        4 => (mmio::RB3D_BLENDCNTL, s.rng.u32(..8)),
        5 => (
            mmio::RB3D_CCTL,
            rb3d_cctl::NUM_MULTIWRITES.of(s.rng.u32(..4)),
        ),
        6 => (mmio::ZB_CNTL, s.rng.u32(..8)),
        7 => (mmio::ZB_FORMAT, s.rng.u32(..3)),
        8 => (mmio::ZB_BW_CNTL, zb_bw_cntl::ZB_CB_CLEAR.of(s.rng.u32(..2))),
        _ => (mmio::RB3D_AARESOLVE_CTL, s.rng.u32(..2)),
    };
    s.on().write(register, value);
}

/// Count pixels from here on.
pub fn query_begin(s: &mut Scene<'_>) {
    if s.options.chip == Chip::Rv530 {
        s.on().write(mmio::FG_ZBREG_DEST, 3);
    } else {
        s.on().write(mmio::SU_REG_DEST, 0xf);
    }
    s.on().write(mmio::ZB_ZPASS_DATA, 0);
}

/// Store the counts, one for each pipe.
pub fn query_end(s: &mut Scene<'_>) {
    let object = s.object();
    let first = s.offset(16);
    let two = s.options.chip == Chip::Rv530;
    let pipes = if two {
        s.options.z_pipes
    } else {
        s.options.pixel_pipes
    };
    let select = if two {
        mmio::FG_ZBREG_DEST
    } else {
        mmio::SU_REG_DEST
    };
    for pipe in (0..u32::from(pipes)).rev() {
        s.on()
            .write(select, 1 << pipe)
            .write(mmio::ZB_ZPASS_ADDR, first + 4 * pipe)
            .marker(object);
    }
    s.on().write(select, if two { 3 } else { 0xf });
}
