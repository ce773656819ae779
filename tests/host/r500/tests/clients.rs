// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The streams of xf86-video-ati on R5xx: what it sends to compose a picture of two others, and to copy by the 2D
//! engine, in its order (`radeon_accel.c`, `RADEONInit3DEngine`; `radeon_exa_render.c`,
//! `R300PrepareComposite`; `radeon_exa_funcs.c`).
//!
//! It needs a display to run, so it cannot be recorded on a driver without one. Unlike Mesa it leaves tiling to
//! the kernel, which takes it from the objects, and the pitch of a colour buffer has a marker as well.

mod support;

use lapidary::portable::radeon::uapi::tiling;
use r500::portable::{
    checker::{Object, Options},
    regs::{mmio, mmio::*, pm4::op},
};
use support::{copy_control, objects, run, surface, Stream, FORWARD};

/// Nothing owned, tiling from the objects.
const OPTIONS: Options = Options {
    keep_tiling: false,
    hyperz: false,
    cmask: false,
    chip: r500::portable::checker::Chip::R520,
    pixel_pipes: 4,
    z_pipes: 1,
};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;

/// Append what is sent once a stream, before the first 3D operation.
fn init(stream: &mut Stream) {
    stream
        .write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa)
        .write(mmio::ZB_ZCACHE_CTLSTAT, 3)
        .write(mmio::WAIT_UNTIL, 0x3_0000)
        .write(mmio::GB_AA_CONFIG, 0)
        .write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa)
        .write(mmio::ZB_ZCACHE_CTLSTAT, 3);
    for register in [
        mmio::GA_POLY_MODE,
        mmio::GA_ROUND_MODE,
        mmio::GA_COLOR_CONTROL,
        mmio::GA_OFFSET,
        mmio::SU_TEX_WRAP,
        mmio::SU_POLY_OFFSET_ENABLE,
        mmio::SU_CULL_MODE,
        mmio::SU_DEPTH_SCALE,
        mmio::SU_DEPTH_OFFSET,
        mmio::VAP_VTX_STATE_CNTL,
        mmio::VAP_PVS_STATE_FLUSH_REG,
        mmio::VAP_CNTL_STATUS,
        mmio::VAP_CNTL,
        mmio::VAP_PVS_STATE_FLUSH_REG,
        mmio::VAP_VTE_CNTL,
        mmio::VAP_PSC_SGN_NORM_CNTL,
        mmio::VAP_PROG_STREAM_CNTL_EXT.at(0).unwrap(),
        mmio::VAP_PROG_STREAM_CNTL_EXT.at(1).unwrap(),
        mmio::VAP_PVS_FLOW_CNTL_OPC,
        mmio::VAP_GB_VERT_CLIP_ADJ,
        mmio::VAP_GB_VERT_DISC_ADJ,
        mmio::VAP_GB_HORZ_CLIP_ADJ,
        mmio::VAP_GB_HORZ_DISC_ADJ,
        mmio::VAP_CLIP_CNTL,
        mmio::VAP_PVS_VECTOR_INDX_REG,
    ] {
        stream.write(register, 0);
    }
    for _ in 0..36 {
        stream.write(mmio::VAP_PVS_VECTOR_DATA_REG, 0x00f0_0203);
    }
    let unused = us_out_fmt::OUT_FMT.of(us_out_fmt::out_fmt::UNUSED);
    for (register, value) in [
        (mmio::RS_IP.at(0).unwrap(), 0),
        (mmio::RS_IP.at(1).unwrap(), 0),
        (mmio::RS_INST.at(0).unwrap(), 0),
        (mmio::RS_INST.at(1).unwrap(), 0),
        (mmio::US_CONFIG, 2),
        (mmio::US_FC_CTRL, 0),
        (mmio::US_W_FMT, 0),
        (mmio::US_OUT_FMT.at(1).unwrap(), unused),
        (mmio::US_OUT_FMT.at(2).unwrap(), unused),
        (mmio::US_OUT_FMT.at(3).unwrap(), unused),
        (mmio::FG_DEPTH_SRC, 0),
        (mmio::FG_FOG_BLEND, 0),
        (mmio::FG_ALPHA_FUNC, 0),
        (mmio::RB3D_ABLENDCNTL, 0),
        (mmio::ZB_ZSTENCILCNTL, 0),
        (mmio::ZB_ZCACHE_CTLSTAT, 3),
        (mmio::ZB_BW_CNTL, 0),
        (mmio::ZB_CNTL, 0),
        (mmio::ZB_ZTOP, 0),
        (mmio::RB3D_ROPCNTL, 0),
        (mmio::RB3D_AARESOLVE_CTL, 0),
        (mmio::RB3D_COLOR_CHANNEL_MASK, 0xf),
        (mmio::RB3D_DSTCACHE_CTLSTAT, 0xa),
        (mmio::RB3D_CCTL, 0),
        (mmio::RB3D_DITHER_CTL, 0),
        (mmio::RB3D_DSTCACHE_CTLSTAT, 0xa),
        (mmio::SC_EDGERULE, 0x0a52_94a5),
        (mmio::SC_CLIP_0_A, 0),
        (mmio::SC_CLIP_0_B, 4080 | (4080 << 13)),
        (mmio::SC_CLIP_RULE, 0xaaaa),
        (mmio::SC_SCREENDOOR, 0xff_ffff),
    ] {
        stream.write(register, value);
    }
}

/// Append a source picture of 32 bits a pixel. It is always addressed by pitch, clamped, without levels.
fn texture(stream: &mut Stream, unit: u32, width: u32, height: u32, pitch: u32, entry: u32) {
    let register = |array: lapidary::portable::bits::RegArray| array.at(unit).unwrap();
    stream
        .write(
            register(mmio::TX_FILTER0),
            (unit << 28) | 0xa00 | 4 | (4 << 3),
        )
        .write(register(mmio::TX_FILTER1), 0)
        .write(
            register(mmio::TX_FORMAT0),
            tx_format0::TXWIDTH.of(width - 1)
                | tx_format0::TXHEIGHT.of(height - 1)
                | tx_format0::TXPITCH_EN.of(1),
        )
        .write(
            register(mmio::TX_FORMAT1),
            tx_format1::TXFORMAT.of(tx_format1::txformat::FMT_8_8_8_8),
        )
        .write(
            register(mmio::TX_FORMAT2),
            tx_format2::TXPITCH.of(pitch - 1),
        )
        .write(register(mmio::TX_OFFSET), 0)
        .marker(entry)
        .write(register(mmio::TX_BORDER_COLOR), 0)
        .write(
            register(mmio::US_FORMAT0),
            us_format0::TXWIDTH.of(width - 1) | us_format0::TXHEIGHT.of(height - 1),
        );
}

/// Return a stream that composes one picture of source and mask. The entries are destination, source and mask.
fn compose() -> Stream {
    let mut stream = Stream::new();
    init(&mut stream);
    texture(&mut stream, 0, 100, 80, 128, 1);
    texture(&mut stream, 1, 16, 16, 64, 2);
    for (register, value) in [
        (mmio::VAP_PVS_STATE_FLUSH_REG, 0),
        (mmio::VAP_PROG_STREAM_CNTL.at(0).unwrap(), 0x2001_2001),
        (mmio::VAP_PROG_STREAM_CNTL.at(1).unwrap(), 0x2701),
        (mmio::VAP_PVS_CONST_CNTL, 0),
        (mmio::VAP_PVS_CODE_CNTL_0, 0),
        (mmio::VAP_PVS_CODE_CNTL_1, 4),
        (mmio::VAP_OUT_VTX_FMT_0, 1),
        (mmio::VAP_OUT_VTX_FMT_1, 0x12),
        (mmio::TX_INVALTAGS, 0),
        (mmio::TX_ENABLE, 3),
        (mmio::RS_COUNT, 0x4_0004),
        (mmio::RS_INST_COUNT, 1),
        (mmio::US_CODE_ADDR, 0),
        (mmio::US_CODE_RANGE, 0),
        (mmio::US_CODE_OFFSET, 0),
        (mmio::US_PIXSIZE, 1),
        (mmio::US_OUT_FMT.at(0).unwrap(), 0x1b00),
        (mmio::GA_US_VECTOR_INDEX, 0),
    ] {
        stream.write(register, value);
    }
    for _ in 0..18 {
        stream.write(mmio::GA_US_VECTOR_DATA, 0);
    }
    stream
        .write(mmio::SC_SCISSOR0, 0)
        .write(
            mmio::SC_SCISSOR1,
            sc_scissor1::XS1.of(WIDTH - 1) | sc_scissor1::YS1.of(HEIGHT - 1),
        )
        .write(mmio::RB3D_COLOROFFSET.at(0).unwrap(), 0)
        .marker(0)
        .write(
            mmio::RB3D_COLORPITCH.at(0).unwrap(),
            rb3d_colorpitch::COLORPITCH.of(WIDTH / 2)
                | rb3d_colorpitch::COLORFORMAT.of(rb3d_colorpitch::colorformat::ARGB8888),
        )
        .marker(0)
        .write(mmio::RB3D_BLENDCNTL, 0x2322_0005)
        .write(mmio::VAP_VTX_SIZE, 6);
    let mut quad = vec![
        vap_vf_cntl::PRIM_TYPE.of(vap_vf_cntl::prim_type::QUADS)
            | vap_vf_cntl::PRIM_WALK.of(vap_vf_cntl::prim_walk::VERTEX_DATA)
            | vap_vf_cntl::NUM_VERTICES.of(4),
    ];
    quad.resize(1 + 4 * 6, 0x3f80_0000);
    stream.packet(op::_3D_DRAW_IMMD_2, &quad);
    stream
        .write(mmio::SC_CLIP_RULE, 0xaaaa)
        .write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa)
        .write(mmio::WAIT_UNTIL, 1 << 17);
    stream
}

fn pictures() -> Vec<Object> {
    let mut pictures = objects(&[
        u64::from(4 * WIDTH * HEIGHT),
        4 * 128 * 80,
        (4 * 64 * 16u64).next_multiple_of(4096),
    ]);
    pictures[0].tiling = tiling::MACRO;
    pictures
}

#[test]
fn composing_is_admitted() {
    let checked = run(&compose().words, &pictures(), OPTIONS).expect("xf86-video-ati may compose");
    let access: Vec<_> = checked
        .objects
        .iter()
        .map(|object| (object.access.reads, object.access.writes))
        .collect();
    assert_eq!(access, [(false, true), (true, false), (true, false)]);
    // Three addresses, and the tiling of the destination in its pitch.
    assert_eq!(checked.fixups.len(), 3);
    let tiled = compose()
        .words
        .iter()
        .zip(&checked.words)
        .filter(|(before, after)| before != after)
        .map(|(before, after)| before ^ after)
        .collect::<Vec<_>>();
    assert_eq!(tiled, [rb3d_colorpitch::COLORTILE.mask()]);
}

#[test]
fn two_pictures_in_one_stream_are_admitted() {
    let mut stream = compose();
    stream.words(&compose().words);
    stream
        .write(mmio::DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff)
        .write(mmio::DP_GUI_MASTER_CNTL, copy_control())
        .write(mmio::DP_CNTL, FORWARD)
        .write(mmio::SRC_PITCH_OFFSET, surface(512, 0))
        .marker(1)
        .write(mmio::DST_PITCH_OFFSET, surface(4 * WIDTH, 0))
        .marker(0)
        .copy((0, 0), (500, 400), (100, 80));
    run(&stream.words, &pictures(), OPTIONS).expect("xf86-video-ati may mix both engines");
}
