// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is admitted, on the model: no finding, and the pixels that the client wants.

use chrome9::portable::emit::Location;
use chrome9::portable::place::Place;
use chrome9::portable::regs::{
    enums::hqv_format,
    mmio::{self, gecmd, hqv_control, hqv_destination_1, hqv_mode, keycontrol},
    para_01::z_3,
    para_02_stage::texture_control_1,
};

use crate::bench::{Bench, KERNEL};
use crate::picture::{Inset, Picture, INSET, PICTURE, START};
use crate::rule::objects;
use crate::scene3d::{Scene, Texture, TEXTURE, TEXTURE_TILED};
use crate::support::*;

const VRAM: u64 = 8 << 20;
const SIZES: [u64; 2] = [8192, 8192];
/// Where the objects lie; the second is before the first.
const PLACES: [u64; 2] = [KERNEL + 0x9000, KERNEL + 0x3000];

/// Check a stream, and execute it. Return both objects' contents.
fn execute(bench: &mut Bench, stream: &Stream) -> [Vec<u8>; 2] {
    let checked = run(&stream.words, &stream.relocations, &objects(&SIZES));
    let checked = checked.unwrap_or_else(|refusal| panic!("{refusal:?}"));
    let places = PLACES.map(|address| Place {
        location: Location::FrameBuffer,
        address: address as u32,
    });
    bench.m.objects.clear();
    for (place, size) in PLACES.iter().zip(SIZES) {
        bench.object(*place, size);
    }
    let placed = checked.placed(&stream.words, &places).unwrap();
    assert!(bench.execute(&placed), "the fence is not reached");
    let found = bench.findings();
    assert!(found.is_empty(), "{found:?}");
    PLACES.map(|place| {
        let mut bytes = vec![0; 8192];
        assert!(bench.m.vram.read(place, &mut bytes));
        bytes
    })
}

#[test]
fn fills_copies_and_pictures_are_executed_without_a_finding() {
    let mut bench = Bench::new(VRAM);
    let mut stream = Stream::new();
    // Padding of all sorts, a wait, and a fill of the second object.
    stream.words(&[0xcd00_0000, 0xce00_0000, 0xcf00_0000, 0xdd00_0000]);
    stream.words(&[0xfe02_0420, 0x41c, 0x0030_0000, 0xcc00_0000]);
    stream.words(&[0xcccc_ccc0, 0xddd0_0000, 0xee00_0000, 0xcc00_0000]);
    stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, 0x00c0_0000)]);
    stream.pairs(
        &Blit {
            destination: (1, 64),
            bytes: 2,
            ..BLIT
        }
        .pairs(),
    );
    // A copy of it to the first, upwards and to the left.
    stream.pairs(
        &Blit {
            command: COPY | gecmd::DEC_X.mask() | gecmd::DEC_Y.mask(),
            bytes: 2,
            to: (16, 8),
            from: (19, 9),
            destination: (0, 8),
            source: (1, 64),
            ..BLIT
        }
        .pairs(),
    );
    let [first, second] = execute(&mut bench, &stream);
    let (pixel, row) = ([0x3c, 0x04], 32);
    for (object, base, top, left) in [(&second, 64, 2, 4), (&first, 8, 1, 1)] {
        let drawn: Vec<usize> = (0..8192).filter(|i| object[*i] != 0).collect();
        assert_eq!(drawn[0], base + top * 64 + left * 2);
        assert_eq!(drawn.len(), 8 * row, "no other byte");
        assert!(drawn.iter().all(|i| object[*i] == pixel[i % 2]));
    }
}

#[test]
fn data_of_the_cpu_that_looks_like_headers_is_drawn() {
    let mut bench = Bench::new(VRAM);
    let mut stream = Blit {
        command: UPLOAD,
        bytes: 4,
        size: (3, 3),
        to: (0, 0),
        ..BLIT
    }
    .stream();
    // In two parts, with padding between them.
    let data = [
        head(0x82, 0x420),
        head(0, 0),
        head(7, 0),
        0,
        head(2, 0x440),
        0x43c,
        5,
        0xcc00_0000,
        head(0x83, 0),
    ];
    stream.host(0, &data[..5]).words(&[0xcc00_0000; 8]);
    stream.host(20, &data[5..]);
    let [first, _] = execute(&mut bench, &stream);
    for (i, word) in data.iter().enumerate() {
        let at = i / 3 * 64 + i % 3 * 4;
        assert_eq!(first[at..at + 4], word.to_le_bytes(), "pixel {i}");
    }
}

#[test]
fn monochrome_pictures_take_as_much_data_as_the_checker_counts() {
    let mut bench = Bench::new(VRAM);
    for (bits, dwords) in [
        (gecmd::MONO_ALIGN.of(0), 5),
        (gecmd::MONO_ALIGN.of(1), 5),
        (gecmd::MONO_ALIGN.of(2), 4),
        (gecmd::MONO_PACK.mask(), 3),
        (
            gecmd::MONO_PACK.mask() | gecmd::MONO_SOURCE_TRANSPARENT.mask(),
            3,
        ),
    ] {
        let mut stream = Blit {
            command: MONO | bits,
            size: (17, 5),
            ..BLIT
        }
        .stream();
        stream.host(0, &vec![u32::MAX; dwords]);
        // Drawn at once, so that the next command finds the engine idle.
        stream.pairs(&BLIT.pairs());
        execute(&mut bench, &stream);
    }
    assert_eq!(bench.m.counters.get("uploads"), 5);
    assert_eq!(bench.m.counters.get("host_data_dropped"), 0);
}

#[test]
fn keys_masks_and_clips_are_executed_without_a_finding() {
    let mut bench = Bench::new(VRAM);
    let mut stream = Stream::new();
    for key in [
        keycontrol::SOURCE_KEY.mask(),
        keycontrol::DESTINATION_KEY.mask() | keycontrol::INVERT_KEY.mask(),
        keycontrol::BYTE_MASK.of(5),
    ] {
        let mut pairs = vec![
            set(mmio::CLIPTL, point(1, 1)),
            set(mmio::CLIPBR, point(9, 9)),
        ];
        let blit = Blit {
            command: COPY | gecmd::CLIP_ENABLE.mask(),
            key,
            ..BLIT
        };
        pairs.extend(blit.pairs());
        stream.pairs(&pairs);
    }
    execute(&mut bench, &stream);
    assert_eq!(bench.m.counters.get("copies"), 3);
}

/// Scenes with everything on that a draw can touch.
#[test]
fn draws_are_executed_without_a_finding() {
    let mut bench = Bench::new(VRAM);
    let mut plain = Scene::default();
    execute(&mut bench, &plain.stream());
    plain
        .depth((1, 0), z_3::format::Z24S8_ASSUMED, 2)
        .stencil((1, 1024))
        .indexed((1, 2048), 5, 9, false)
        .count((1, 4096));
    execute(&mut bench, &plain.stream());
    let mut coarse = Scene::default();
    coarse.coarse((1, 0), 16);
    execute(&mut bench, &coarse.stream());
    let mut shaded = Scene::default();
    shaded.shader(&TEXTURE).indexed((1, 2048), 5, 9, true);
    for (number, texture) in [
        Texture {
            kind: texture_control_1::kind::CUBE,
            last: 1,
            faces: 0x400,
            ..TEXTURE
        },
        Texture {
            last: 3,
            absolute: true,
            layout: TEXTURE_TILED,
            ..TEXTURE
        },
        Texture {
            kind: texture_control_1::kind::VOLUME,
            length: 3,
            ..TEXTURE
        },
    ]
    .iter()
    .enumerate()
    {
        shaded.texture(number as u32 + 2, texture);
    }
    execute(&mut bench, &shaded.stream());
    let drawn = bench.m.counters.get("primitives");
    assert_eq!(drawn, 4, "a triangle each");
}

/// Pictures of all formats, by both engines, with all that they can touch.
#[test]
fn pictures_are_executed_without_a_finding() {
    let mut bench = Bench::new(VRAM);
    let mut stream = Stream::new();
    for (n, format) in [
        hqv_format::RGB32,
        hqv_format::RGB32_10,
        hqv_format::RGB16,
        hqv_format::RGB15,
        hqv_format::YUV444,
        hqv_format::V410,
        hqv_format::YUV422,
        hqv_format::UYVY,
        hqv_format::NV12,
        hqv_format::NV11,
        hqv_format::P208,
    ]
    .into_iter()
    .enumerate()
    {
        let buffers = [
            0,
            hqv_control::SINGLE_BUFFER.mask(),
            hqv_control::TRIPLE_BUFFER.mask(),
        ];
        Picture {
            engine: n as u32 % 2,
            format,
            control: START | buffers[n % 3],
            mode: hqv_mode::COLOR_CONVERSION.mask(),
            layout: hqv_destination_1::TILED.of(n as u32 % 2),
            stride: 64,
            to_stride: 96,
            background: (9, 11),
            destinations: [(1, 0), (1, 2304), (1, 4608)],
            residue: (1, 6912),
            inset: Some(Inset {
                to: [(1, 2), (8, 9)],
                ..INSET
            }),
            ..PICTURE
        }
        .add(&mut stream);
    }
    // One engine beside a blit, while the other works.
    stream.video(&PICTURE.pairs());
    Picture {
        engine: 1,
        ..PICTURE
    }
    .add(&mut stream);
    stream.pairs(&BLIT.pairs());
    stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, 1 << 31)]);
    stream.video(&[set(crate::picture::at(mmio::HQV_CONTROL, 0), 0)]);
    execute(&mut bench, &stream);
    assert_eq!(bench.m.counters.get("hqv_pictures"), 13);
}
