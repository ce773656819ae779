// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Bounds of the 3D engine byte by byte: an object of just so many bytes will do, and a byte less will not. What is expected is
//! computed pixel by pixel and texel by texel.

use chrome9::portable::checker::{Reason, Refusal};
use chrome9::portable::emit::Location;
use chrome9::portable::place::Place;
use chrome9::portable::regs::{
    enums::{rt_format, texture_format},
    para_01::{self, enable_2, z_3},
    para_02_stage::texture_control_1::kind,
    para_04,
};

use crate::rule::objects;
use crate::scene3d::*;
use crate::support::*;

/// What is enough where it does not matter.
const ENOUGH: u64 = 1 << 24;

/// Check that an object of the scene has to have just so many bytes.
fn exact(scene: &Scene, object: usize, bytes: u64, reason: Reason) {
    let stream = scene.stream();
    let check = |size: u64| {
        let mut sizes = vec![ENOUGH; 3];
        sizes[object] = size;
        run(&stream.words, &stream.relocations, &objects(&sizes))
    };
    let result = check(bytes);
    assert!(result.is_ok(), "{reason:?}, {bytes:#x}: {result:?}");
    let position = stream.value_of(DRAW) as u32;
    let expected = Some(Refusal { position, reason });
    assert_eq!(check(bytes - 1).err(), expected, "{bytes:#x} bytes");
}

/// Return the last byte of a pixel in rows.
fn linear(x: u64, y: u64, bytes: u64, pitch: u64) -> u64 {
    y * pitch * 32 + x * bytes + bytes
}

/// Return the last byte of the tile of a pixel.
fn tiled(x: u64, y: u64, bytes: u64, pitch: u64, high: u64) -> u64 {
    let tile = y / high * pitch + (x * bytes + bytes - 1) / 32;
    (tile + 1) * 32 * high
}

const WINDOWS: [(u32, u32); 5] = [(0, 0), (15, 7), (16, 8), (40, 33), (2048, 3)];

/// Return the largest of a function of all pixels of a window.
fn most((right, bottom): (u32, u32), end: impl Fn(u64, u64) -> u64) -> u64 {
    let pixels = (0..=u64::from(bottom)).flat_map(|y| (0..=u64::from(right)).map(move |x| (x, y)));
    pixels.map(|(x, y)| end(x, y)).max().unwrap()
}

#[test]
fn render_targets_have_every_pixel_of_the_windows() {
    for window in WINDOWS {
        for (format, bytes) in [(rt_format::RGB565, 2), (rt_format::ARGB8888, 4)] {
            for pitch in [1, 2, 257] {
                for (layout, high) in [(0, 0), (TILED, 8), (TILED_16, 16)] {
                    let offset = 512;
                    let mut scene = Scene::default();
                    scene
                        .window(window.0, window.1)
                        .target(0, (0, offset), format, pitch, layout);
                    let pitch = u64::from(pitch);
                    let end = most(window, |x, y| match high {
                        0 => linear(x, y, bytes, pitch),
                        _ => tiled(x, y, bytes, pitch, high),
                    });
                    exact(&scene, 0, u64::from(offset) + end, Reason::TargetBounds);
                }
            }
        }
    }
}

#[test]
fn each_of_both_windows_lies_in_the_target() {
    for (window, scissor) in [((40, 3), (3, 20)), ((3, 20), (40, 3))] {
        let mut scene = Scene::default();
        scene.window(window.0, window.1);
        let [bottom, right] = [para_01::MISC_3, para_01::MISC_4].map(attribute);
        scene.set(bottom, scissor.1).set(right, scissor.0);
        scene.target(0, (0, 0), rt_format::ARGB8888, 8, 0);
        exact(&scene, 0, linear(40, 20, 4, 8), Reason::TargetBounds);
    }
}

#[test]
fn depth_fits_in_rows_and_in_tiles() {
    for window in WINDOWS {
        for (format, bytes) in [
            (z_3::format::Z16, 2),
            (z_3::format::Z32_ASSUMED, 4),
            (z_3::format::Z32F_ASSUMED, 4),
            (z_3::format::Z24S8_ASSUMED, 4),
        ] {
            for pitch in [1, 2, 300] {
                for enable in [
                    enable_2::Z_TEST.mask(),
                    enable_2::Z_WRITE.mask(),
                    enable_2::Z_TEST.mask() | enable_2::Z_WRITE.mask(),
                ] {
                    let mut scene = Scene::default();
                    scene
                        .window(window.0, window.1)
                        .target(0, (0, 0), rt_format::RGB565, 256, 0)
                        .depth((1, 256), format, pitch)
                        .set(attribute(para_01::ENABLE_2), enable);
                    let pitch = u64::from(pitch);
                    let end = most(window, |x, y| {
                        linear(x, y, bytes, pitch).max(tiled(x, y, bytes, pitch, 8))
                    });
                    exact(&scene, 1, 256 + end, Reason::DepthBounds);
                }
            }
        }
    }
}

#[test]
fn stencil_has_blocks_and_coarse_depth_has_cells() {
    for window in WINDOWS {
        for pitch in [1, 2, 300] {
            let mut scene = Scene::default();
            scene
                .window(window.0, window.1)
                .target(0, (0, 0), rt_format::RGB565, 256, 0)
                .depth((1, 0), z_3::format::Z24S8_ASSUMED, pitch)
                .stencil((2, 512));
            let columns = u64::from(window.0) + 1;
            // As wide as the pitch has pixels of 32 bits, or as the window is.
            let blocks = (u64::from(pitch) * 8).max(columns).div_ceil(8);
            let end = most(window, |x, y| (y / 8 * blocks + x / 8 + 1) * 64);
            exact(&scene, 2, 512 + end, Reason::StencilBounds);

            let mut scene = Scene::default();
            scene
                .window(window.0, window.1)
                .target(0, (0, 0), rt_format::RGB565, 256, 0)
                .coarse((2, 256), pitch);
            let end = most(window, |x, y| (y * u64::from(pitch) + x + 1) * 32);
            exact(&scene, 2, 256 + end, Reason::CoarseBounds);
        }
    }
}

/// Formats with bits of a texel, and texels of a side of a block.
const FORMATS: [(u32, u64, u64, u64); 12] = [
    (texture_format::T1_ASSUMED, 1, 1, 1),
    (texture_format::L2_ASSUMED, 2, 1, 1),
    (texture_format::A4_ASSUMED, 4, 1, 1),
    (texture_format::L8_ASSUMED, 8, 1, 1),
    (texture_format::AL44_ASSUMED, 8, 1, 1),
    (texture_format::AI44, 8, 1, 1),
    (texture_format::RGB565_ASSUMED, 16, 1, 1),
    (texture_format::YUV, 16, 2, 1),
    (texture_format::ARGB8888_ASSUMED, 32, 1, 1),
    (texture_format::R32F_ASSUMED, 32, 1, 1),
    (texture_format::DXT1_ASSUMED, 4, 4, 4),
    (texture_format::DXT4_5_ASSUMED, 8, 4, 4),
];

#[test]
fn textures_have_all_texels_of_all_levels_and_faces() {
    let mut cases = 0;
    for (format, bits, wide, high) in FORMATS {
        for size in [(1, 1), (8, 8), (5, 3), (33, 17), (64, 16)] {
            for (layout, tile) in [(0, 1), (TEXTURE_TILED, 8), (TEXTURE_TILED_16, 16)] {
                for (kind, faces) in [(kind::TEXTURE_2D, 1), (kind::CUBE, 6), (9, 1)] {
                    for (last, absolute) in [(0, false), (2, false), (2, true)] {
                        if faces != 1 && absolute {
                            continue;
                        }
                        let texture = Texture {
                            at: (1, 512),
                            kind,
                            format,
                            size,
                            layout,
                            last,
                            absolute,
                            faces: 0x1000,
                            levels: 0x400,
                            ..TEXTURE
                        };
                        let mut scene = Scene::default();
                        scene.shader(&texture);
                        let mut end = 0;
                        for level in 0..=last {
                            let columns =
                                u64::from((size.0 >> level).max(1)).next_multiple_of(wide);
                            let rows = u64::from((size.1 >> level).max(1)).next_multiple_of(high);
                            let bytes = |row: u64, rows: u64| {
                                row.next_multiple_of(32) * rows.next_multiple_of(tile)
                            };
                            // Of blocks rows may be those of texels, or of blocks.
                            let texels = bytes((columns * bits).div_ceil(8), rows);
                            let block = (bits * wide * high).div_ceil(8);
                            let bytes = if high == 1 {
                                texels
                            } else {
                                texels.max(bytes(columns / wide * block, rows / high))
                            };
                            let start = 512 + (faces - 1) * 0x1000 + u64::from(level) * 0x400;
                            end = end.max(start + bytes);
                        }
                        exact(&scene, 1, end, Reason::TextureBounds);
                        cases += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cases, 12 * 5 * 3 * 8);
}

#[test]
fn a_count_of_pixels_has_four_bytes() {
    let mut scene = Scene::default();
    scene.count((1, 256));
    let stream = scene.stream();
    let check = |size| run(&stream.words, &stream.relocations, &objects(&[4096, size]));
    let checked = check(260).unwrap();
    let access = checked.objects[1].access;
    assert_eq!((access.writes, access.frame_buffer), (true, false));
    let position = stream.value_of(attribute(para_01::Z_19)) as u32;
    assert_eq!(
        check(259).err(),
        Some(Refusal {
            position,
            reason: Reason::CountBounds
        })
    );
}

#[test]
fn accesses_are_those_of_the_draw() {
    let mut scene = Scene::default();
    scene
        .depth((1, 0), z_3::format::Z16, 4)
        .indexed((2, 0), 5, 9, false);
    let accesses = |scene: &Scene| {
        let stream = scene.stream();
        let checked = run(&stream.words, &stream.relocations, &objects(&[ENOUGH; 3]));
        checked
            .unwrap()
            .objects
            .iter()
            .map(|o| (o.access.reads, o.access.writes, o.access.frame_buffer))
            .collect::<Vec<_>>()
    };
    let (read, written) = ((true, false, false), (false, true, false));
    assert_eq!(accesses(&scene), [written, read, read]);
    scene.also(attribute(para_01::ENABLE_2), enable_2::Z_WRITE.mask());
    assert_eq!(accesses(&scene), [written, written, read]);
    let mut scene = Scene::default();
    scene.set(attribute(para_01::ENABLE_2), 0);
    assert_eq!(accesses(&scene)[0], read, "colours are not written");
    scene.shader(&TEXTURE);
    assert_eq!(accesses(&scene)[1], read);
}

#[test]
fn addresses_of_the_3d_engine_have_locations() {
    let at = |location, address| Place { location, address };
    let mut scene = Scene::default();
    scene
        .target(0, (0, 0x100), rt_format::ARGB8888, 2, TILED)
        .count((1, 4))
        .indexed((1, 0x40), 5, 9, false);
    let stream = scene.stream();
    let checked = run(&stream.words, &stream.relocations, &objects(&[ENOUGH; 2])).unwrap();
    let placed = checked.placed(
        &stream.words,
        &[
            at(Location::FrameBuffer, 0x0123_4000),
            at(Location::Gart, 0x9876_5000),
        ],
    );
    let placed = placed.expect("all addresses fit");
    let word = |key| placed[stream.value_of(key)];
    assert_eq!(word(attribute(para_01::RT0_1)), 0x5000_0000 | 0x1_2341);
    assert_eq!(word(attribute(para_01::RT0_2)), 0x5180_0000);
    // 98765004h by four is 261d9401h.
    assert_eq!(word(attribute(para_01::Z_18)), 0x211d_9401);
    assert_eq!(word(attribute(para_01::Z_19)), 0x2240_0026);
    assert_eq!(word(primitive(para_04::VERTEX_FORMAT_1)), 0x0054_8005);
    assert_eq!(word(primitive(para_04::VERTEX_BUFFER_LOW)), 0x2176_5040);
    assert_eq!(word(primitive(para_04::VERTEX_BUFFER_HIGH)), 0x2200_0598);

    let mut scene = Scene::default();
    scene.shader(&Texture {
        kind: kind::CUBE,
        faces: 0x1000,
        ..TEXTURE
    });
    scene.texture(
        4,
        &Texture {
            last: 1,
            absolute: true,
            ..TEXTURE
        },
    );
    let stream = scene.stream();
    let checked = run(&stream.words, &stream.relocations, &objects(&[ENOUGH; 2])).unwrap();
    let places = [
        at(Location::FrameBuffer, 0),
        at(Location::Gart, 0xffff_0000 - 0x10_0000),
    ];
    let placed = checked.placed(&stream.words, &places).unwrap();
    let word = |key| placed[stream.value_of(key)];
    assert_eq!(word(stage(3, 5)), 0x05ff_ef50);
    // All six locations are 1.
    assert_eq!(word(stage(3, 0x18)), 0x1801_5355);
    assert_eq!(word(entry(LEVELS, 32)), 0x40ff_ef01);
    // No multiple of 256.
    let odd = [places[0], at(Location::Gart, 0x80)];
    assert!(checked.placed(&stream.words, &odd).is_none());
}

/// A texture has all its addresses in one object. Those that lie in another one than the newest are not its own any more.
#[test]
fn addresses_in_another_object_are_forgotten() {
    let chain = Texture {
        last: 1,
        absolute: true,
        ..TEXTURE
    };
    let base = stage(4, 0x00);
    let location = stage(4, 0x18);
    let level = entry(LEVELS, 32);
    // Which addresses are set again, in the same object or in another.
    for (again, keys) in [
        ("base", &[base][..]),
        ("location", &[location]),
        ("base and location", &[base, location]),
        ("level", &[level]),
        ("base and level", &[base, level]),
        ("all", &[base, location, level]),
    ] {
        for object in [1, 0] {
            let mut first = Scene::default();
            first.shader(&TEXTURE).texture(4, &chain);
            let mut stream = first.stream();
            let mut second = first.clone();
            second.tables.clear();
            second.params.retain(|key, _| keys.contains(key));
            for param in second.params.values_mut() {
                for (_, place) in &mut param.parts {
                    place.0 = object;
                }
            }
            second.state(&mut stream);
            second.draw(&mut stream);
            let result = run(&stream.words, &stream.relocations, &objects(&[ENOUGH; 2]));
            let expected = if object == 1 || again == "all" {
                None
            } else {
                Some(Refusal {
                    position: stream.value_of(DRAW) as u32,
                    reason: Reason::TextureAddress,
                })
            };
            assert_eq!(result.err(), expected, "{again} in object {object}");
        }
    }
}
