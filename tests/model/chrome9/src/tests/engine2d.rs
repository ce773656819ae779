// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine. Most tests draw with pixels of one byte into a picture of 16 pixels a row, so that what is expected can
//! be written down by hand.

use lapidary_registers::chrome9::mmio::{self, engine_status, gecmd, keycontrol};

use super::{Bench, VRAM};
use crate::kind;
use lapidary_model::machine::{Object, SPACE};

const PITCH: u32 = 16;
/// Where the host's data goes.
const HOST: u32 = 0x20_0000;
const FILL: u32 = gecmd::ROP.of(0xf0) | gecmd::FIXED_COLOR_PATTERN.mask() | gecmd::COMMAND.of(1);
const COPY: u32 = gecmd::ROP.of(0xcc) | gecmd::COMMAND.of(1);
const MONO: u32 = gecmd::ROP.of(0xcc)
    | gecmd::COMMAND.of(2)
    | gecmd::SOURCE_SYSTEM.mask()
    | gecmd::MONO_SOURCE.mask()
    | gecmd::MONO_PACK.mask();
const UPLOAD: u32 = COPY | gecmd::SOURCE_SYSTEM.mask();

fn point(x: u32, y: u32) -> u32 {
    (y << 16) | x
}

impl Bench {
    /// Set up both pictures at offset 0, with pixels of so many bytes.
    fn pictures(&mut self, bytes: u32) {
        let depth = [0, 0, 1, 0, 3][bytes as usize];
        self.write(mmio::GEMODE, depth << 8);
        self.write(
            mmio::PITCH,
            ((PITCH * bytes / 8) << 16) | (PITCH * bytes / 8),
        );
        self.write(mmio::DSTBASE, 0);
        self.write(mmio::SRCBASE, 0);
    }

    fn blit(&mut self, command: u32, to: (u32, u32), from: (u32, u32), size: (u32, u32)) {
        self.write(mmio::DSTPOS, point(to.0, to.1));
        self.write(mmio::SRCPOS, point(from.0, from.1));
        self.write(mmio::DIMENSION, point(size.0 - 1, size.1 - 1));
        self.write(mmio::GECMD, command);
    }

    /// Return rows of the picture.
    fn rows(&self, rows: usize) -> Vec<Vec<u8>> {
        let pitch = PITCH as usize;
        let all = self.bytes(0, rows * pitch);
        all.chunks(pitch).map(<[u8]>::to_vec).collect()
    }

    /// Put numbers from 1 on into the pixels of two rows.
    fn number(&mut self) {
        let numbers: Vec<u8> = (1..=2 * PITCH as u8).collect();
        self.m.vram.write(0, &numbers);
    }
}

#[test]
fn a_fill_covers_its_rectangle_in_each_depth() {
    for bytes in [1, 2, 4] {
        let mut b = Bench::new();
        b.pictures(bytes);
        b.write(mmio::MONOPATFGC, 0x4433_2211);
        b.blit(FILL, (2, 1), (0, 0), (3, 2));
        let (pixel, pitch) = (bytes as usize, (PITCH * bytes) as usize);
        let mut expected = vec![0; 4 * pitch];
        for row in [1, 2] {
            for x in 2..5 {
                expected[row * pitch + x * pixel..][..pixel]
                    .copy_from_slice(&[0x11, 0x22, 0x33, 0x44][..pixel]);
            }
        }
        assert_eq!(b.bytes(0, 4 * pitch), expected);
        assert_eq!(b.found(), []);
    }
}

#[test]
fn registers_of_a_blit_are_those_before_its_command() {
    let mut b = Bench::new();
    b.pictures(1);
    b.write(mmio::MONOPATFGC, 5);
    b.blit(FILL, (0, 0), (0, 0), (1, 1));
    b.write(mmio::MONOPATFGC, 6);
    b.write(mmio::DSTPOS, point(1, 0));
    assert_eq!(b.rows(1)[0][..2], [5, 0]);
}

#[test]
fn raster_operations_combine_pattern_source_and_destination() {
    let mut b = Bench::new();
    b.pictures(1);
    b.m.vram.write(0, &[0x0f, 0x33]);
    b.write(mmio::MONOPATFGC, 0x55);
    // The destination exclusive or the pattern; then source or destination.
    b.blit(FILL & !0xff00_0000 | 0x5a00_0000, (0, 0), (0, 0), (1, 1));
    assert_eq!(b.rows(1)[0][0], 0x0f ^ 0x55);
    b.blit(COPY & !0xff00_0000 | 0xee00_0000, (1, 0), (0, 0), (1, 1));
    assert_eq!(b.rows(1)[0][1], 0x33 | 0x0f ^ 0x55);
    assert_eq!(b.found(), []);
}

#[test]
fn overlapping_copies_go_in_the_direction_that_the_command_says() {
    let mut b = Bench::new();
    b.pictures(1);
    b.number();
    // One to the right: backwards, from the right edges.
    let back = gecmd::DEC_X.mask() | gecmd::DEC_Y.mask();
    b.blit(COPY | back, (4, 0), (3, 0), (4, 1));
    assert_eq!(b.rows(1)[0][..6], [1, 1, 2, 3, 4, 6]);
    // One down.
    b.blit(COPY | back, (3, 2), (3, 1), (2, 2));
    let rows = b.rows(3);
    assert_eq!(
        (rows[2][2], rows[2][3], rows[1][2], rows[1][3]),
        (19, 20, 2, 3)
    );
    assert_eq!(b.found(), []);
    // Forwards, each reads what the one before wrote.
    b.blit(COPY, (1, 0), (0, 0), (4, 1));
    assert_eq!(b.found(), [kind::COPY_OVERLAP]);
    b.blit(COPY, (0, 0), (1, 0), (4, 1));
    b.blit(COPY, (8, 0), (0, 0), (8, 1));
    assert_eq!(b.found(), [], "the right direction, and no overlap");
}

#[test]
fn monochrome_data_of_the_cpu_gets_two_colours_and_what_is_too_much_is_dropped() {
    let mut b = Bench::new();
    b.pictures(1);
    b.write(mmio::FGCOLOR, 7);
    b.write(mmio::BGCOLOR, 9);
    b.blit(MONO, (1, 0), (0, 0), (8, 2));
    assert!(engine_status::BUSY_2D.any(b.read(mmio::ENGINE_STATUS)));
    // Rows C0h and 01h.
    b.write(HOST, 0xffff_01c0);
    b.write(HOST, 0xffff_ffff);
    assert_eq!(b.read(mmio::ENGINE_STATUS), 0);
    let rows = b.rows(3);
    assert_eq!(rows[0][..10], [0, 7, 7, 9, 9, 9, 9, 9, 9, 0]);
    assert_eq!(rows[1][..10], [0, 9, 9, 9, 9, 9, 9, 9, 7, 0]);
    assert_eq!(rows[2], [0; 16]);
    assert_eq!(b.m.counters.get("host_data_dropped"), 1);
    // Zeroes leave alone what is there.
    let transparent = MONO | gecmd::MONO_SOURCE_TRANSPARENT.mask();
    b.blit(transparent, (1, 0), (0, 0), (8, 1));
    b.write(HOST + 0x1000, 0x03);
    assert_eq!(b.rows(1)[0][..10], [0, 7, 7, 9, 9, 9, 9, 7, 7, 0]);
    assert_eq!(b.found(), []);
}

#[test]
fn colours_of_the_cpu_come_in_rows_of_dwords() {
    let mut b = Bench::new();
    b.pictures(2);
    b.blit(UPLOAD, (0, 0), (0, 0), (1, 2));
    b.write(HOST, 0xffff_2211);
    b.write(HOST, 0xffff_4433);
    let pitch = 2 * PITCH as usize;
    let bytes = b.bytes(0, 2 * pitch);
    assert_eq!(
        (&bytes[..3], &bytes[pitch..pitch + 3]),
        (&[0x11, 0x22, 0][..], &[0x33, 0x44, 0][..])
    );
    assert_eq!(b.found(), []);
}

#[test]
fn a_command_in_place_of_data_ends_the_upload() {
    let mut b = Bench::new();
    b.pictures(1);
    b.blit(UPLOAD, (0, 0), (0, 0), (8, 2));
    b.write(HOST, 0x0403_0201);
    b.blit(FILL, (0, 3), (0, 0), (1, 1));
    assert_eq!(b.found(), [kind::HOST_DATA_MISSING]);
    assert_eq!(b.read(mmio::ENGINE_STATUS), 0);
    assert_eq!(b.rows(1)[0], [0; 16], "no whole row had come");
}

#[test]
fn clipping_keeps_its_edges() {
    let mut b = Bench::new();
    b.pictures(1);
    b.write(mmio::MONOPATFGC, 5);
    b.write(mmio::CLIPTL, point(2, 1));
    b.write(mmio::CLIPBR, point(3, 2));
    b.blit(FILL | gecmd::CLIP_ENABLE.mask(), (0, 0), (0, 0), (8, 4));
    let rows = b.rows(4);
    assert_eq!((rows[0][3], rows[3][3]), (0, 0));
    assert_eq!(
        (&rows[1][..5], &rows[2][..5]),
        (&[0, 0, 5, 5, 0][..], &[0, 0, 5, 5, 0][..])
    );
    // A copy is clipped where it goes, and its source moves along.
    b.number();
    b.blit(COPY | gecmd::CLIP_ENABLE.mask(), (1, 2), (0, 0), (8, 1));
    assert_eq!(b.rows(3)[2][..5], [0, 0, 2, 3, 0]);
    assert_eq!(b.found(), []);
}

#[test]
fn colour_keys_and_the_byte_mask_keep_pixels() {
    let mut b = Bench::new();
    b.pictures(1);
    b.number();
    b.write(mmio::BGCOLOR, 0xff02);
    b.write(mmio::FGCOLOR, 18);
    let key = |source: bool, destination: bool, inverted: bool| {
        (u32::from(source) * keycontrol::SOURCE_KEY.mask())
            | (u32::from(destination) * keycontrol::DESTINATION_KEY.mask())
            | (u32::from(inverted) * keycontrol::INVERT_KEY.mask())
    };
    for (key, expected) in [
        (key(true, false, false), [1, 18, 3]),
        (key(true, false, true), [17, 2, 19]),
        (key(false, true, false), [1, 18, 3]),
        (key(false, true, true), [17, 2, 19]),
        (0, [1, 2, 3]),
    ] {
        b.number();
        b.write(mmio::KEYCONTROL, key);
        b.blit(COPY, (0, 1), (0, 0), (3, 1));
        assert_eq!(b.rows(2)[1][..3], expected, "{key:#x}");
    }
    b.pictures(4);
    b.write(mmio::KEYCONTROL, keycontrol::BYTE_MASK.of(0b0101));
    b.write(mmio::MONOPATFGC, 0xaabb_ccdd);
    b.number();
    b.blit(FILL, (0, 0), (0, 0), (1, 1));
    assert_eq!(b.bytes(0, 5), [1, 0xcc, 3, 0xaa, 5]);
    assert_eq!(b.found(), []);
}

#[test]
fn what_lies_outside_is_not_touched_and_named() {
    let mut b = Bench::new();
    b.pictures(1);
    let last = (VRAM / 8 - 2) as u32;
    b.write(mmio::DSTBASE, last);
    b.blit(FILL, (0, 0), (0, 0), (16, 1));
    assert_eq!(b.found(), []);
    b.blit(FILL, (1, 0), (0, 0), (16, 1));
    assert_eq!(b.found(), [kind::FRAME_BUFFER_RANGE]);
    b.write(mmio::DSTBASE, 0);
    b.blit(FILL | gecmd::DEC_X.mask(), (3, 0), (0, 0), (8, 1));
    assert_eq!(
        b.found(),
        [kind::FRAME_BUFFER_RANGE],
        "it begins before the picture"
    );
    b.m.objects.push(Object {
        space: SPACE,
        start: 0,
        len: 16,
        name: "row".into(),
    });
    b.blit(FILL, (0, 0), (0, 0), (16, 1));
    assert_eq!(b.found(), []);
    b.blit(FILL, (0, 0), (0, 0), (16, 2));
    assert_eq!(b.found(), [kind::OUTSIDE_OBJECTS]);
}

#[test]
fn what_no_public_driver_uses_is_named_and_not_done() {
    let mut b = Bench::new();
    b.pictures(1);
    b.write(mmio::MONOPATFGC, 5);
    let wrong = [
        FILL & !0xf | 5,
        FILL & !gecmd::FIXED_COLOR_PATTERN.mask(),
        FILL | gecmd::DESTINATION_LINEAR.mask(),
        FILL & !0xf | 2,
        COPY | gecmd::MONO_SOURCE.mask(),
        UPLOAD | gecmd::DEC_Y.mask(),
    ];
    for command in wrong {
        b.blit(command, (0, 0), (0, 0), (1, 1));
        assert_eq!(b.found(), [kind::ENGINE2D_UNSUPPORTED], "{command:#010x}");
    }
    b.write(mmio::GEMODE, 2 << 8);
    b.blit(FILL, (0, 0), (0, 0), (1, 1));
    assert_eq!(b.found(), [kind::RESERVED_VALUE]);
    b.write(mmio::GEMODE, 0);
    b.write(mmio::PITCH, 0);
    b.blit(FILL, (1, 0), (0, 0), (1, 2));
    assert_eq!(b.found(), [kind::PITCH_ZERO]);
    assert_eq!(b.rows(1)[0][0], 0);
    b.write(mmio::GECMD, 0);
    assert_eq!(b.found(), [], "nothing to do");
}
