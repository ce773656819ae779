// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the checker changes in a 3D stream, and what it says about it.

use super::{rule::*, streams3d::*, support::*};
use lapidary::portable::radeon::uapi::tiling;
use r500::portable::{
    checker::{FixupKind, Options},
    regs::{mmio, mmio::*, pm4::op},
};

/// A scissor that is wider than a narrow buffer allows loses just the columns that leave the object.
#[test]
fn the_scissor_is_narrowed() {
    let mut stream = state();
    stream
        .write(mmio::SC_SCISSOR1, corner(EDGE, EDGE))
        .write(mmio::RB3D_COLOROFFSET.at(0).unwrap(), 2 * PAGE as u32)
        .marker(0)
        .write(
            mmio::RB3D_COLORPITCH.at(0).unwrap(),
            color_pitch(EDGE / 2, rb3d_colorpitch::colorformat::ARGB8888),
        );
    let scissor = at(&stream, mmio::SC_SCISSOR1);
    point(&mut stream);
    point(&mut stream);
    let checked = run(&stream.words, &objects(&SIZES), KEEP).unwrap();
    assert_eq!(checked.words[scissor], corner(EDGE / 2, EDGE));
    // The last column that fits, and the first that does not.
    for right in [EDGE / 2, EDGE / 2 + 1] {
        stream.words[scissor] = corner(right, EDGE);
        let checked = run(&stream.words, &objects(&SIZES), KEEP).unwrap();
        assert_eq!(checked.words[scissor], corner(EDGE / 2, EDGE), "{right}");
    }
    stream.words[scissor] = corner(EDGE, EDGE);
    // With a page more there is room for all of them.
    let larger = objects(&[COLOR_BYTES + PAGE]);
    let checked = run(&stream.words, &larger, KEEP).unwrap();
    assert_eq!(checked.words[scissor], corner(EDGE, EDGE));
}

fn indexed(max: u32) -> (Stream, usize) {
    let mut stream = state();
    stream
        .write(mmio::VAP_VF_MAX_VTX_INDX, max)
        .write(mmio::VAP_VF_MIN_VTX_INDX, 0)
        .write(mmio::VAP_INDEX_OFFSET, 0);
    let bound = at(&stream, mmio::VAP_VF_MAX_VTX_INDX);
    stream
        .packet(op::_3D_LOAD_VBPNTR, &[1, 3 | (3 << 8), 4])
        .marker(1)
        .packet(
            op::_3D_DRAW_INDX_2,
            &[control(POINTS, INDEXED, 2), 0x0001_0000],
        );
    (stream, bound)
}

/// Mesa counts vertices as one more than what fits a buffer.
#[test]
fn the_largest_index_is_lowered() {
    // Elements of 12 bytes from byte 4 on.
    let held = (4 * PAGE as u32 - 4 - 12) / 12;
    for (max, expected) in [
        (held - 1, held - 1),
        (held, held),
        (held + 1, held),
        (0xff_ffff, held),
    ] {
        let (stream, bound) = indexed(max);
        let checked = run(&stream.words, &objects(&SIZES), KEEP).unwrap();
        assert_eq!(checked.words[bound], expected);
    }
}

/// Clients that own nothing switch hierarchical Z on in the scan converter all the same.
#[test]
fn hierarchical_z_is_switched_off() {
    let mut stream = Stream::new();
    stream.write(mmio::SC_HYPERZ_EN, 0x1d);
    let word = |options| run(&stream.words, &[], options).unwrap().words[1];
    assert_eq!(word(KEEP), 0x1c);
    assert_eq!(word(OWNER), 0x1d);
}

/// A set of registers that answered to another's number would be read without having been judged.
#[test]
fn a_texture_has_the_number_of_its_registers() {
    let mut stream = Stream::new();
    stream.writes(mmio::TX_FILTER0.at(0).unwrap(), &[0x1000_0a12, 0xa12]);
    let words = run(&stream.words, &[], KEEP).unwrap().words;
    assert_eq!(words[1..], [0xa12, 0x1000_0a12]);
}

#[test]
fn every_address_is_relocated() {
    let mut stream = state();
    stream
        .write(mmio::ZB_DEPTHOFFSET, 64)
        .marker(1)
        .writes(mmio::RB3D_AARESOLVE_OFFSET, &[96, 64, 0])
        .marker(2)
        .write(mmio::TX_OFFSET.at(3).unwrap(), 128 | 2)
        .marker(1)
        .write(mmio::ZB_ZPASS_ADDR, 8)
        .marker(2)
        .write(mmio::VAP_INDEX_OFFSET, 0)
        .writes(mmio::VAP_VF_MAX_VTX_INDX, &[5, 0])
        .packet(op::_3D_LOAD_VBPNTR, &[2, 0x0101_0101, 16, 32])
        .marker(0)
        .marker(1)
        .packet(op::_3D_DRAW_INDX_2, &[control(POINTS, INDEXED, 2)]);
    let port = mmio::VAP_PORT_IDX.at(0).unwrap() >> 2;
    stream
        .packet(op::INDX_BUFFER, &[port | (1 << 31), 256, 1])
        .marker(2);
    let checked = run(&stream.words, &objects(&SIZES), KEEP).unwrap();
    assert!(checked.fixups.iter().all(|f| f.kind == FixupKind::Address));
    let placed = checked.placed(&[0x10_0000, 0x20_0000, 0xfff0_0000]);
    let addresses: Vec<_> = checked
        .fixups
        .iter()
        .map(|fixup| placed[fixup.dword as usize])
        .collect();
    assert_eq!(
        addresses,
        [
            0x10_0000,
            0x20_0040,
            0xfff0_0060,
            0x20_0082,
            0xfff0_0008,
            0x10_0010,
            0x20_0020,
            0xfff0_0100
        ]
    );
    // Nothing but addresses has changed.
    for (i, (before, after)) in stream.words.iter().zip(&placed).enumerate() {
        let moved = checked.fixups.iter().any(|f| f.dword as usize == i);
        assert!(moved || before == after, "dword {i}");
    }
}

#[test]
fn an_address_that_is_not_aligned_or_too_high_is_not_applied() {
    let fixup = r500::portable::checker::Fixup {
        dword: 0,
        object: 0,
        kind: FixupKind::Address,
    };
    assert_eq!(fixup.apply(32, 0x1000), Some(0x1020));
    assert_eq!(fixup.apply(32, 0x1400), None);
    assert_eq!(fixup.apply(0x1000, 0xffff_f000), None);
    assert_eq!(fixup.apply(0xfff, 0xffff_f000), Some(u32::MAX));
    assert_eq!(fixup.apply(0, 1 << 32), None);
}

/// `RADEON_CS_KEEP_TILING_FLAGS`: the stream's tiling, else the object's; that of a texture is added.
#[test]
fn tiling_comes_from_whom_the_flag_says() {
    let micro = |code| rb3d_colorpitch::COLORMICROTILE.of(code);
    let stream_of = |pitch: u32, texture: u32| {
        let mut stream = Stream::new();
        stream
            .write(mmio::RB3D_COLORPITCH.at(0).unwrap(), pitch)
            .marker(0)
            .write(mmio::ZB_DEPTHPITCH, 64)
            .marker(0)
            .write(mmio::TX_OFFSET.at(0).unwrap(), texture)
            .marker(0);
        stream
    };
    let plain = color_pitch(64, rb3d_colorpitch::colorformat::RGB565);
    let stream = stream_of(plain | micro(1), 2 | tx_offset::MICRO_TILE.of(1));
    let (pitch, depth, texture) = (1, 5, 9);
    let words = |flags: u32, options: Options| {
        let mut tiled = objects(&[PAGE]);
        tiled[0].tiling = flags;
        run(&stream.words, &tiled, options).unwrap().words
    };
    let kept = words(tiling::MACRO | tiling::MICRO_SQUARE, KEEP);
    assert_eq!(kept, stream.words);
    let patched = words(tiling::MACRO | tiling::MICRO_SQUARE, PATCH);
    assert_eq!(
        patched[pitch],
        plain | rb3d_colorpitch::COLORTILE.mask() | micro(2)
    );
    assert_eq!(
        patched[depth],
        64 | zb_depthpitch::DEPTHMACROTILE.mask() | zb_depthpitch::DEPTHMICROTILE.of(2)
    );
    assert_eq!(patched[texture], 2 | (1 << 2) | (3 << 3));
    let patched = words(tiling::MICRO, PATCH);
    assert_eq!(patched[pitch], plain | micro(1));
    let patched = words(0, PATCH);
    assert_eq!(patched[pitch], plain);
    assert_eq!(patched[texture], stream.words[texture]);
}

/// What a draw only tests against is read; what it may write is written.
#[test]
fn access_says_what_a_draw_does() {
    let access = |depth: u32, mask: u32, bandwidth: u32| {
        let mut stream = state();
        stream
            .write(mmio::RB3D_COLOR_CHANNEL_MASK, mask)
            .write(mmio::ZB_CNTL, depth)
            .write(mmio::ZB_BW_CNTL, bandwidth)
            .write(mmio::ZB_FORMAT, 2)
            .write(mmio::ZB_DEPTHOFFSET, 0)
            .marker(1)
            .write(
                mmio::ZB_DEPTHPITCH,
                EDGE | zb_depthpitch::DEPTHMICROTILE.of(1),
            );
        point(&mut stream);
        let checked = run(&stream.words, &objects(&SIZES), OWNER).unwrap();
        let of = |i: usize| {
            let access = checked.objects[i].access;
            (access.reads, access.writes)
        };
        [of(0), of(1)]
    };
    let (nothing, reads, writes) = ((false, false), (true, false), (false, true));
    let z = zb_cntl::Z_ENABLE.mask();
    assert_eq!(access(0, 0, 0), [nothing, nothing]);
    assert_eq!(access(z, 0xf, 0), [writes, reads]);
    assert_eq!(
        access(z | zb_cntl::ZWRITEENABLE.mask(), 0, 0),
        [nothing, writes]
    );
    assert_eq!(
        access(zb_cntl::STENCIL_ENABLE.mask(), 0, 0),
        [nothing, writes]
    );
    // Compressed depth may be written back in another form, and colour may be cleared by the depth unit.
    assert_eq!(
        access(z, 0, zb_bw_cntl::FAST_FILL.mask()),
        [nothing, writes]
    );
    assert_eq!(
        access(0, 0, zb_bw_cntl::ZB_CB_CLEAR.mask()),
        [writes, writes]
    );
}

/// An odd number of arrays leaves half a pair, which leads nowhere and has no size.
#[test]
fn half_a_pair_of_arrays_is_empty() {
    let number = mmio::vap_vtx_num_arrays::VTX_NUM_ARRAYS.of(3);
    let mut stream = Stream::new();
    stream
        .packet(
            op::_3D_LOAD_VBPNTR,
            &[number, 0x0101_0101, 0, 4, 0x7f7f_0302, 8, 0xdead_beec],
        )
        .marker(0)
        .marker(0)
        .marker(0);
    let words = run(&stream.words, &objects(&[PAGE]), KEEP).unwrap().words;
    assert_eq!(words[1..8], [number, 0x0101_0101, 0, 4, 0x0302, 8, 0]);
    // Nor does it if its address is not there.
    stream.words.remove(7);
    stream.words[0] = r500::portable::pm4::operation(op::_3D_LOAD_VBPNTR, 6);
    let words = run(&stream.words, &objects(&[PAGE]), KEEP).unwrap().words;
    assert_eq!(words[1..7], [number, 0x0101_0101, 0, 4, 0x0302, 8]);
}

/// A right edge inside a square of compressed depth: the whole square is in the object, or the edge is moved.
#[test]
fn compressed_depth_is_narrowed_by_whole_squares() {
    use zb_bw_cntl::FAST_FILL;
    let mut stream = state();
    stream
        .write(mmio::RB3D_COLOR_CHANNEL_MASK, 0)
        .write(mmio::ZB_CNTL, zb_cntl::ZWRITEENABLE.mask())
        .write(mmio::ZB_BW_CNTL, FAST_FILL.mask())
        .write(
            mmio::GB_Z_PEQ_CONFIG,
            gb_z_peq_config::Z_PEQ_SIZE.of(gb_z_peq_config::z_peq_size::SIZE_8X8),
        )
        .write(mmio::ZB_FORMAT, 2)
        // Room for four columns beyond the pitch in the last row of blocks: half a square.
        .write(mmio::ZB_DEPTHOFFSET, 4 * PAGE as u32 - 4 * 32 * 64 - 32)
        .marker(1)
        .write(
            mmio::ZB_DEPTHPITCH,
            32 | zb_depthpitch::DEPTHMICROTILE.of(1),
        )
        .write(mmio::SC_SCISSOR1, corner(EDGE, 64));
    let scissor = at(&stream, mmio::SC_SCISSOR1);
    let bandwidth = at(&stream, mmio::ZB_BW_CNTL);
    point(&mut stream);
    let edge = |words: &[u32]| run(words, &objects(&SIZES), OWNER).unwrap().words[scissor];
    assert_eq!(edge(&stream.words), corner(32, 64));
    stream.words[bandwidth] = 0;
    assert_eq!(edge(&stream.words), corner(36, 64));
}

/// No arithmetic overflows with objects of any size.
#[test]
fn huge_objects_are_fine() {
    run(&drawn().words, &objects(&[u64::MAX; 3]), KEEP).unwrap();
}
