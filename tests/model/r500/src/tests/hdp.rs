// SPDX-License-Identifier: GPL-2.0 OR MIT

//! VRAM as the CPU sees it through BAR0: surfaces that tile and swap, the two apertures.

use super::super::FIRMWARE_FB;
use super::{Bench, VRAM, type0, type3};
use crate::kind;
use lapidary_model::chip::{Chip, State};
use lapidary_model::machine::{Object, SPACE};
use lapidary_registers::r500::mmio::{self, surface_cntl, surface_info};
use lapidary_registers::r500::pm4::op;

/// Bytes of a line: two macro blocks of 32 pixels of 32 bits.
const PITCH: u32 = 256;
const AT: u32 = 0x1_0000;

impl Bench {
    fn surface(&mut self, i: u32, len: u32, info: u32) {
        self.write(mmio::SURFACE_LOWER_BOUND.at(i).unwrap(), AT);
        self.write(mmio::SURFACE_UPPER_BOUND.at(i).unwrap(), AT + len - 1);
        let info = info | surface_info::PITCHSEL.of(PITCH / 8);
        self.write(mmio::SURFACE_INFO.at(i).unwrap(), info);
    }

    fn cpu_writes(&mut self, offset: u32, bytes: &[u8]) {
        self.chip.vram_write(&mut self.m, offset.into(), bytes);
    }

    fn cpu_reads<const N: usize>(&mut self, offset: u32) -> [u8; N] {
        let mut bytes = [0; N];
        self.chip.vram_read(&mut self.m, offset.into(), &mut bytes);
        bytes
    }
}

fn macro_and_micro() -> u32 {
    surface_info::TILE_MACRO.mask() | surface_info::TILE_MICRO.mask()
}

/// Where pixels of 32 bits lie in a surface of both kinds of tiles, worked out by hand: micro blocks of 4 x 2 pixels,
/// bits 5 to 10 of the address from the block's place.
const BOTH: [((u32, u32), u32); 11] = [
    ((0, 0), 0),
    ((3, 0), 12),
    ((0, 1), 16),
    ((4, 0), 32),
    ((0, 2), 64),
    ((8, 0), 128),
    ((0, 4), 256),
    ((16, 0), 256 + 512),
    ((0, 8), 128 + 1024),
    ((32, 0), 2048 + 1024),
    ((0, 16), 4096 + 512),
];

#[test]
fn the_cpu_sees_tiles_as_lines() {
    let mut b = Bench::new();
    b.surface(3, 0x4000, macro_and_micro());
    for (i, ((x, y), at)) in BOTH.into_iter().enumerate() {
        let value = 0x5a00 + i as u32;
        b.cpu_writes(AT + y * PITCH + x * 4, &value.to_le_bytes());
        assert_eq!(b.vram(u64::from(AT + at)), value, "{x}, {y}");
        assert_eq!(
            b.cpu_reads::<4>(AT + y * PITCH + x * 4),
            value.to_le_bytes()
        );
    }
    // Four pixels of a line are one piece, the next four lie elsewhere.
    b.cpu_writes(AT + 8, &[1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    assert_eq!(b.vram(u64::from(AT) + 12), 0x0202_0202);
    assert_eq!(b.vram(u64::from(AT) + 32), 0x0303_0303);
    // Beside the surface nothing is tiled.
    b.cpu_writes(AT + 0x4000 + 16, &[9; 4]);
    assert_eq!(b.vram(u64::from(AT) + 0x4010), 0x0909_0909);
    b.write(
        mmio::SURFACE_CNTL,
        surface_cntl::SURF_TRANSLATION_DIS.mask(),
    );
    assert_eq!(b.cpu_reads::<4>(AT + 32), [3; 4], "all are off");
}

#[test]
fn one_kind_of_tiles() {
    let mut b = Bench::new();
    // Micro blocks side by side: two lines of sixteen bytes each.
    b.surface(0, 0x4000, surface_info::TILE_MICRO.mask());
    b.cpu_writes(AT + PITCH + 20, &[1; 4]);
    assert_eq!(b.vram(u64::from(AT) + 32 + 16 + 4), 0x0101_0101);
    b.cpu_writes(AT + 2 * PITCH, &[2; 4]);
    assert_eq!(b.vram(u64::from(AT + 2 * PITCH)), 0x0202_0202);
    // Linear micro blocks of 32 bytes in macro blocks of 256 bytes by 8 lines.
    b.surface(0, 0x4000, surface_info::TILE_MACRO.mask());
    b.cpu_writes(AT + 32, &[3; 4]);
    assert_eq!(b.vram(u64::from(AT) + 32), 0x0303_0303);
    b.cpu_writes(AT + PITCH, &[4; 4]);
    assert_eq!(b.vram(u64::from(AT) + 64), 0x0404_0404);
    b.cpu_writes(AT + 8 * PITCH, &[5; 4]);
    assert_eq!(b.vram(u64::from(AT) + 2048 + 512), 0x0505_0505);
}

#[test]
fn what_the_2d_engine_draws_tiled_the_cpu_reads_in_lines() {
    use lapidary_registers::r500::pm4::gui_control as g;
    let mut b = Bench::running();
    b.open_scissors();
    b.surface(7, 0x4000, macro_and_micro());
    let gui = g::DST_PITCH_OFF.of(1)
        | g::BRUSH_TYPE.of(13)
        | g::DST_TYPE.of(6)
        | g::WIN31_ROP.of(0xf0)
        | g::GMC_CLR_CMP_FCN_DIS.of(1)
        | g::GMC_WR_MSK_DIS.of(1);
    let target = ((FIRMWARE_FB + AT) >> 10) | ((PITCH / 64) << 22) | (3 << 30);
    b.ring(&type3(
        op::PAINT_MULTI,
        &[gui, target, 0xc0de, (7 << 16) | 5, (40 << 16) | 20],
    ));
    b.ring(&type0(
        mmio::DSTCACHE_CTLSTAT,
        &[mmio::dstcache_ctlstat::DC_FLUSH.mask()],
    ));
    b.write(
        mmio::HOST_PATH_CNTL,
        mmio::host_path_cntl::HDP_APER_CNTL.mask()
            | mmio::host_path_cntl::HDP_READ_BUFFER_INVALIDATE.mask(),
    );
    for y in 0..64 {
        for x in 0..64 {
            let pixel = u32::from_le_bytes(b.cpu_reads(AT + y * PITCH + x * 4));
            let inside = (7..47).contains(&x) && (5..25).contains(&y);
            assert_eq!(pixel, if inside { 0xc0de } else { 0 }, "{x}, {y}");
        }
    }
}

#[test]
fn bytes_are_swapped() {
    let mut b = Bench::new();
    b.surface(1, 0x1000, surface_info::AP0_SWP.of(2));
    b.cpu_writes(AT, &[1, 2, 3, 4]);
    assert_eq!(b.vram(AT.into()), 0x0102_0304);
    b.surface(1, 0x1000, surface_info::AP0_SWP.of(1));
    assert_eq!(b.cpu_reads(AT), [3, 4, 1, 2]);
    b.write(mmio::SURFACE_CNTL, surface_cntl::NONSURF_AP0_SWP.of(2));
    b.cpu_writes(0, &[1, 2, 3, 4]);
    assert_eq!(b.vram(0), 0x0102_0304);
    assert_eq!(b.cpu_reads(AT), [3, 4, 1, 2], "only outside of surfaces");
}

#[test]
fn the_second_aperture_shows_the_same_memory_with_a_swap_of_its_own() {
    let mut b = Bench::sized(State::Posted, VRAM, VRAM);
    let half = (VRAM / 2) as u32;
    b.write(mmio::SURFACE_CNTL, surface_cntl::NONSURF_AP1_SWP.of(1));
    b.cpu_writes(half, &[1, 2, 3, 4]);
    assert_eq!(b.vram(half.into()), 0x0304_0102, "joined");
    b.write(mmio::HOST_PATH_CNTL, 0);
    b.cpu_writes(half + 8, &[1, 2, 3, 4]);
    assert_eq!(b.vram(8), 0x0304_0102);
    assert_eq!(b.cpu_reads(8), [2, 1, 4, 3]);
}

/// A line's last block lies eight lines' worth of bytes behind its first: in a page with lines of 3840 bytes, anywhere.
#[test]
fn an_access_that_leaves_its_surface_is_found() {
    let mut b = Bench::new();
    let macro_tiles = surface_info::TILE_MACRO.mask();
    let info = mmio::SURFACE_INFO.at(5).unwrap();
    b.write(mmio::SURFACE_LOWER_BOUND.at(5).unwrap(), AT);
    b.write(mmio::SURFACE_UPPER_BOUND.at(5).unwrap(), AT + 0xfff);
    b.write(info, macro_tiles | surface_info::PITCHSEL.of(3840 / 8));
    b.cpu_writes(AT + 256 + 32, &[1; 4]);
    assert!(b.findings().is_empty(), "the second block is inside");
    b.cpu_writes(AT + 512, &[2; 4]);
    assert_eq!(b.findings(), [(kind::SURFACE_ESCAPE, 1)]);
    assert_eq!(b.vram(u64::from(AT) + 0x1000), 0x0202_0202);
    assert_eq!(b.cpu_reads(AT + 512), [2; 4]);
    b.cpu_reads::<64>(AT + 512 - 32);
    assert_eq!(b.findings(), [(kind::SURFACE_ESCAPE, 2)], "once an access");
    // Behind the bounds nothing is moved, and a register that does nothing moves nothing.
    b.cpu_reads::<4>(AT + 0x1000);
    b.write(info, 0);
    b.cpu_reads::<4>(AT + 512);
    assert!(b.findings().is_empty());
}

#[test]
fn an_access_that_leaves_the_object_is_found() {
    let mut b = Bench::new();
    let at = u64::from(FIRMWARE_FB + AT);
    for (start, len) in [(at, 0x1000), (at + 0x1000, 0x2000)] {
        b.m.objects.push(Object {
            space: SPACE,
            start,
            len,
            name: format!("{start:#x}"),
        });
    }
    // Whole rows, but of more than the first object.
    b.surface(2, 0x2000, surface_info::TILE_MACRO.mask());
    b.cpu_reads::<4>(AT + 7 * PITCH);
    assert!(b.findings().is_empty());
    b.surface(2, 0x3000, macro_and_micro());
    let pitch = surface_info::PITCHSEL.of(768 / 8);
    let info = mmio::SURFACE_INFO.at(2).unwrap();
    b.write(info, macro_and_micro() | pitch);
    b.cpu_reads::<4>(AT + 128);
    assert!(
        b.findings().is_empty(),
        "the second block is the first object's"
    );
    b.cpu_reads::<4>(AT + 256);
    assert_eq!(b.findings(), [(kind::SURFACE_ESCAPE, 1)], "the third");
    b.cpu_writes(AT + 6 * 768, &[7; 4]);
    assert_eq!(
        b.findings(),
        [(kind::SURFACE_ESCAPE, 1)],
        "the other way round"
    );
    b.m.objects.clear();
    b.cpu_reads::<4>(AT + 256);
    assert!(b.findings().is_empty(), "within the bounds");
}

#[test]
fn surfaces_have_rules() {
    let mut b = Bench::new();
    let info = mmio::SURFACE_INFO.at(2).unwrap();
    b.write(info, surface_info::PITCHSEL.of(64));
    b.write(info, 0);
    assert!(b.findings().is_empty());
    b.write(info, macro_and_micro() | surface_info::PITCHSEL.of(8));
    assert_eq!(b.findings(), [(kind::RESERVED_VALUE, 1)], "half a block");
    let upper = |i| mmio::SURFACE_UPPER_BOUND.at(i).unwrap();
    b.write(upper(0), 0x101f);
    assert_eq!(b.findings(), [(kind::RESERVED_VALUE, 1)]);
    b.write(upper(0), 0x103f);
    b.write(upper(1), 0x101f);
    assert!(b.findings().is_empty());
    b.write(mmio::SURFACE_LOWER_BOUND.at(1).unwrap(), 0x1010);
    assert_eq!(b.findings(), [(kind::RESERVED_VALUE, 1)]);
    // Where VRAM is mapped the model cannot do what the surface asks for.
    b.chip.options.trapped = false;
    b.write(info, 0);
    b.surface(2, 0x1000, macro_and_micro());
    b.write(mmio::SURFACE_CNTL, surface_cntl::NONSURF_AP0_SWP.of(1));
    assert_eq!(b.findings(), [(kind::UNIMPLEMENTED_REGISTER, 2)]);
}
