// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Resources, samplers and constants: for each rule a stream that passes, and one that differs and is refused at the
//! right place.

mod support;

use r600::portable::checker::{
    check_gfx,
    reason::{Reason, Reason::*},
    Chip,
};
use support::resources::{buffer, packet, set_resource, Texture, PLAIN};
use support::{passes, run_any, R600, RV610, RV770};

const PAGE: u64 = 4096;
/// Bytes of `PLAIN`.
const PICTURE: u64 = 64 * 64 * 4;

/// Check that `words` is refused for `reason` at dword `position`.
#[track_caller]
fn refused(words: &[u32], sizes: &[u64], chip: &Chip, position: u32, reason: Reason) {
    let refusal = run_any(check_gfx, words, sizes, chip).expect_err("refuses it");
    assert_eq!((refusal.reason, refusal.position), (reason, position));
}

/// Check that a texture passes whose levels lie in objects of just these sizes, and is refused with one byte less in
/// either.
#[track_caller]
fn fits(texture: Texture, chip: &Chip, base: u64, mips: u64) {
    let words = set_resource(0, &[texture.words()], &[0, 1]);
    let access = passes(check_gfx, &words, &[base, mips], chip);
    assert_eq!(access, [(true, false), (true, false)]);
    refused(&words, &[base - 1, mips], chip, 4, TextureBounds);
    if mips > 0 {
        refused(&words, &[base, mips - 1], chip, 5, MipBounds);
    }
}

/// Check that a texture is refused because of dword `dword`.
#[track_caller]
fn bad(texture: Texture, chip: &Chip, dword: u32, reason: Reason) {
    let words = set_resource(0, &[texture.words()], &[0, 1]);
    refused(&words, &[1 << 40; 2], chip, 2 + dword, reason);
}

/// Check that `PLAIN` is refused with other bits in dword `dword`.
#[track_caller]
fn bad_bits(dword: usize, bits: u32, reason: Reason) {
    let mut words = PLAIN.words();
    words[dword] |= bits;
    let words = set_resource(0, &[words], &[0, 1]);
    refused(&words, &[1 << 40; 2], &RV770, 2 + dword as u32, reason);
}

#[test]
fn whole_resources_in_their_slots() {
    let vertices = buffer(0, 15, 16);
    for slot in [0, 17, 18, 160, 177, 320, 335, 336, 353, 495] {
        let words = set_resource(slot, &[vertices], &[0]);
        assert_eq!(
            passes(check_gfx, &words, &[16], &RV770),
            [(true, false)],
            "slot {slot}"
        );
    }
    // Several with one packet.
    let words = set_resource(494, &[vertices, PLAIN.words()], &[0, 1, 2]);
    passes(check_gfx, &words, &[16, PICTURE, 0], &RV770);
    let words = set_resource(495, &[vertices, vertices], &[0, 0]);
    refused(&words, &[16], &RV770, 1, ResourceSlot);
    let words = set_resource(496, &[vertices], &[0]);
    refused(&words, &[16], &RV770, 1, ResourceSlot);
    for first in [u32::MAX, u32::MAX - 6, 0x1_0000, 7 * 496 - 6] {
        let mut words = set_resource(0, &[vertices], &[0]);
        words[1] = first;
        refused(&words, &[16], &RV770, 1, ResourceSlot);
    }
    // The place of each of them.
    let words = set_resource(0, &[vertices, vertices], &[0, 1]);
    refused(&words, &[16, 0], &RV770, 9, BufferBounds);
    refused(&words, &[0, 16], &RV770, 2, BufferBounds);
}

#[test]
fn half_a_resource_is_refused() {
    let vertices = buffer(0, 15, 16);
    for first in [1, 6, 8] {
        let mut words = set_resource(0, &[vertices], &[0]);
        words[1] = first;
        refused(&words, &[16], &RV770, 1, PartialResource);
    }
    for dwords in [1, 6] {
        let mut body = vec![0];
        body.extend(&vertices[..dwords]);
        refused(
            &packet(0x6d, &body, &[0]),
            &[16],
            &RV770,
            1,
            PartialResource,
        );
        body.extend(vertices);
        refused(
            &packet(0x6d, &body, &[0]),
            &[16],
            &RV770,
            1,
            PartialResource,
        );
    }
}

#[test]
fn resources_have_a_kind() {
    for kind in [0, 1] {
        for mut words in [buffer(0, 15, 16), PLAIN.words()] {
            words[6] = (words[6] & 0x3fff_ffff) | (kind << 30);
            let words = set_resource(0, &[words], &[0, 1]);
            refused(&words, &[PICTURE; 2], &RV770, 8, ResourceType);
        }
    }
    refused(
        &set_resource(0, &[[0; 7]], &[]),
        &[],
        &RV770,
        8,
        ResourceType,
    );
}

#[test]
fn buffers_lie_in_their_object() {
    let at = |offset, size| set_resource(160, &[buffer(offset, size, 16)], &[0]);
    let sizes = |words: &[u32], size| {
        let checked = run_any(check_gfx, words, &[size], &RV770).expect("lets it through");
        checked.words[3]
    };
    assert_eq!(sizes(&at(0, 0xfff), PAGE), 0xfff);
    assert_eq!(sizes(&at(1, 0xffe), PAGE), 0xffe);
    assert_eq!(sizes(&at(0, u32::MAX), 1 << 32), u32::MAX);
    assert_eq!(sizes(&at(0xff, 0xfff), 1 << 40), 0xfff);
    // 40 bits.
    let far = (1 << 40) - 16;
    assert_eq!(sizes(&at(far, 15), 1 << 40), 15);
    refused(&at(far, 15), &[far], &RV770, 2, BufferBounds);
    refused(&at(1 << 32, 15), &[16], &RV770, 2, BufferBounds);
    // What is too large is made smaller, to the last byte.
    assert_eq!(sizes(&at(0, 0x1000), PAGE), 0xfff);
    assert_eq!(sizes(&at(0xff0, u32::MAX), PAGE), 0xf);
    assert_eq!(sizes(&at(0xfff, 1), PAGE), 0);
    assert_eq!(sizes(&at(1 << 39, u32::MAX), (1 << 39) + 1), 0);
    // Nothing is left.
    for size in [0, 15, u32::MAX] {
        refused(&at(PAGE, size), &[PAGE], &RV770, 2, BufferBounds);
        refused(&at(PAGE + 1, size), &[PAGE], &RV770, 2, BufferBounds);
        refused(&at(0, size), &[0], &RV770, 2, BufferBounds);
    }
}

#[test]
fn buffers_have_no_other_bits() {
    let good = buffer(0, 15, 16);
    let with = |dword: usize, bits: u32| {
        let mut words = good;
        words[dword] |= bits;
        set_resource(0, &[words], &[0])
    };
    // Any format, clamp and stride, and the size of requests.
    passes(check_gfx, &with(2, 0x3fff_ff00), &[16], &RV770);
    passes(check_gfx, &with(3, 3), &[16], &RV770);
    for bit in 30..32 {
        refused(&with(2, 1 << bit), &[16], &RV770, 4, ByteOrder);
    }
    for bit in 2..32 {
        refused(&with(3, 1 << bit), &[16], &RV770, 5, ForbiddenBits);
    }
    for bit in 0..32 {
        refused(&with(4, 1 << bit), &[16], &RV770, 6, ForbiddenBits);
        refused(&with(5, 1 << bit), &[16], &RV770, 7, ForbiddenBits);
    }
    for bit in 0..30 {
        refused(&with(6, 1 << bit), &[16], &RV770, 8, ForbiddenBits);
    }
}

#[test]
fn resources_name_their_objects() {
    let vertices = set_resource(0, &[buffer(0x123, 15, 16)], &[1]);
    let checked = run_any(check_gfx, &vertices, &[0, PAGE], &RV770).unwrap();
    let placed = checked.placed(&[0, 0x12_ffff_f000]);
    assert_eq!((placed[2], placed[4]), (0xffff_f123, 0x1012));
    let carried = checked.placed(&[0, 0x12_ffff_ffff]);
    assert_eq!((carried[2], carried[4]), (0x122, 0x1013));
    refused(&vertices[..9], &[0, PAGE], &RV770, 8, MissingRelocation);
    refused(&vertices, &[PAGE], &RV770, 8, BadRelocation);

    let texture = Texture {
        base: 0x10,
        mips: 0x20,
        ..PLAIN
    };
    let texture = set_resource(0, &[texture.words()], &[1, 0]);
    let sizes = [0x2000, 0x1000 + PICTURE];
    let checked = run_any(check_gfx, &texture, &sizes, &RV770).unwrap();
    let placed = checked.placed(&[0x10_0000, 0x20_0000]);
    assert_eq!(placed[4..6], [0x2010, 0x1020]);
    for length in [9, 11] {
        let words = &texture[..length];
        refused(words, &sizes, &RV770, 8, MissingRelocation);
    }
    refused(&texture, &sizes[..1], &RV770, 8, BadRelocation);
}

#[test]
fn tiled_textures_keep_their_alignment() {
    let texture = Texture {
        mode: 4,
        last_level: 6,
        ..PLAIN
    };
    let words = set_resource(0, &[texture.words()], &[0, 1]);
    let checked = run_any(check_gfx, &words, &[1 << 20; 2], &RV770).unwrap();
    // A block of 64 by 64 pixels.
    let place = |base| {
        let mut words = checked.words.clone();
        r600::portable::checker::place(&checked.fixups[0], base, &mut words)
    };
    assert_eq!(place(0x4000), Some(()));
    assert_eq!(place(0x2000), None);
    bad(Texture { base: 1, ..texture }, &RV770, 2, TiledOffset);
    bad(Texture { mips: 1, ..texture }, &RV770, 3, TiledOffset);
    bad(
        Texture {
            base: 0x20,
            ..texture
        },
        &RV770,
        2,
        TiledOffset,
    );
    fits(
        Texture {
            base: 0x40,
            mips: 0x80,
            last_level: 0,
            ..texture
        },
        &RV770,
        0x4000 + PICTURE,
        0x8000,
    );
    // On RV610 a block has 32 by 8 pixels.
    let small = Texture {
        mode: 4,
        base: 4,
        ..PLAIN
    };
    fits(small, &RV610, 0x400 + PICTURE, 0);
    bad(Texture { base: 2, ..small }, &RV610, 2, TiledOffset);
}

#[test]
fn formats_that_textures_do_not_have() {
    let sizes = [
        (1, 1),
        (5, 2),
        (26, 4),
        (39, 2),
        (40, 2),
        (29, 8),
        (34, 16),
        (47, 12),
        (48, 12),
    ];
    for (format, bytes) in sizes {
        let texture = Texture {
            format,
            pitch: 256,
            ..PLAIN
        };
        fits(texture, &RV770, 256 * 64 * bytes, 0);
    }
    for (format, bytes) in [(49, 8), (50, 16), (51, 16), (52, 8), (53, 16)] {
        let texture = Texture {
            format,
            pitch: 256,
            ..PLAIN
        };
        fits(texture, &RV770, 64 * 16 * bytes, 0);
    }
    for format in [
        0, 4, 33, 36, 37, 38, 41, 42, 44, 45, 46, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    ] {
        bad(Texture { format, ..PLAIN }, &RV770, 1, TextureFormat);
    }
}

#[test]
fn elements_of_twelve_bytes_lie_in_lines() {
    for mode in [0, 1] {
        let texture = Texture {
            format: 48,
            mode,
            ..PLAIN
        };
        fits(texture, &RV770, 64 * 64 * 12, 0);
    }
    for mode in [2, 4] {
        let texture = Texture {
            format: 48,
            mode,
            ..PLAIN
        };
        bad(texture, &RV770, 0, ElementTiling);
    }
    let wide = Texture {
        format: 48,
        pitch: 72,
        ..PLAIN
    };
    bad(wide, &RV770, 0, Pitch);
}

#[test]
fn tilings_that_do_not_exist() {
    for mode in [3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] {
        bad(Texture { mode, ..PLAIN }, &RV770, 0, TilingMode);
    }
}

#[test]
fn pitches_that_the_tiling_does_not_have() {
    for (mode, format, unit, chip) in [
        (0, 26, 8, RV770),
        (1, 26, 64, RV770),
        (1, 1, 256, RV770),
        (2, 26, 8, RV770),
        (2, 1, 32, RV770),
        (4, 26, 64, RV770),
        (4, 1, 256, RV770),
        (4, 34, 64, RV770),
        (4, 26, 32, RV610),
        // Blocks: four texels each.
        (1, 49, 256, RV770),
        (2, 49, 32, RV770),
        (4, 49, 256, RV770),
        (1, 39, 128, RV770),
    ] {
        let texture = Texture {
            mode,
            format,
            pitch: unit,
            width: 8,
            height: 8,
            ..PLAIN
        };
        let words = set_resource(0, &[texture.words()], &[0, 1]);
        passes(check_gfx, &words, &[1 << 20; 2], &chip);
        for pitch in [unit * 2 - 8, unit + 8, unit / 2] {
            if pitch % unit != 0 && pitch % 8 == 0 {
                bad(Texture { pitch, ..texture }, &chip, 0, Pitch);
            }
        }
    }
}

#[test]
fn lines_do_not_overlap() {
    fits(
        Texture {
            width: 64,
            pitch: 128,
            ..PLAIN
        },
        &RV770,
        2 * PICTURE,
        0,
    );
    bad(Texture { width: 65, ..PLAIN }, &RV770, 0, TexturePitch);
    let blocks = Texture {
        format: 49,
        pitch: 256,
        ..PLAIN
    };
    bad(
        Texture {
            width: 257,
            ..blocks
        },
        &RV770,
        0,
        TexturePitch,
    );
    fits(
        Texture {
            width: 253,
            ..blocks
        },
        &RV770,
        64 * 16 * 8,
        0,
    );
    let pairs = Texture {
        format: 40,
        pitch: 128,
        ..PLAIN
    };
    bad(
        Texture {
            width: 129,
            ..pairs
        },
        &RV770,
        0,
        TexturePitch,
    );
}

#[test]
fn heights_are_whole_blocks() {
    for (mode, lines, chip) in [
        (0, 33, RV770),
        (1, 33, RV770),
        (2, 40, RV770),
        (4, 64, RV770),
        (4, 40, RV610),
    ] {
        let texture = Texture {
            mode,
            height: 33,
            ..PLAIN
        };
        fits(texture, &chip, 64 * lines * 4, 0);
    }
    // Nine lines of blocks.
    let texture = Texture {
        format: 49,
        mode: 2,
        pitch: 256,
        height: 33,
        ..PLAIN
    };
    fits(texture, &RV770, 64 * 16 * 8, 0);
}

#[test]
fn every_layer_counts() {
    for dimensions in [0, 1, 4, 5] {
        let texture = Texture {
            dimensions,
            depth: 3,
            last_array: 2,
            ..PLAIN
        };
        fits(texture, &RV770, 3 * PICTURE, 0);
        // The larger of both counts.
        fits(
            Texture {
                depth: 1,
                ..texture
            },
            &RV770,
            3 * PICTURE,
            0,
        );
        let first = Texture {
            last_array: 0,
            ..texture
        };
        fits(first, &RV770, 3 * PICTURE, 0);
        let some = Texture {
            base_array: 2,
            ..texture
        };
        fits(some, &RV770, 3 * PICTURE, 0);
        bad(
            Texture {
                base_array: 3,
                ..texture
            },
            &RV770,
            5,
            TextureLayers,
        );
    }
    // More bytes than 32 bits can say.
    let all = Texture {
        dimensions: 5,
        width: 8192,
        pitch: 8192,
        height: 8192,
        depth: 8192,
        format: 34,
        ..PLAIN
    };
    fits(all, &RV770, 8192 * 8192 * 8192 * 16, 0);
}

#[test]
fn every_face_counts() {
    let cube = Texture {
        dimensions: 3,
        last_array: 5,
        ..PLAIN
    };
    fits(cube, &R600, 6 * PICTURE, 0);
    fits(cube, &RV770, 8 * PICTURE, 0);
    let mips = Texture {
        last_level: 1,
        ..cube
    };
    fits(mips, &R600, 6 * PICTURE, 6 * 64 * 32 * 4);
    fits(mips, &RV770, 8 * PICTURE, 8 * 64 * 32 * 4);
    let more = Texture {
        last_array: 8,
        ..cube
    };
    fits(more, &RV770, 9 * PICTURE, 0);
    bad(Texture { depth: 2, ..cube }, &RV770, 1, CubeLayers);
}

#[test]
fn every_level_counts() {
    // Levels of lines: 64 texels from line to line.
    let lines = Texture {
        last_level: 6,
        ..PLAIN
    };
    fits(lines, &RV770, PICTURE, 64 * 4 * (32 + 16 + 8 + 4 + 2 + 1));
    fits(Texture { mode: 0, ..lines }, &RV770, PICTURE, 64 * 4 * 63);
    // Tiles: at least 8 by 8.
    let tiles = Texture { mode: 2, ..lines };
    let levels = 4 * (32 * 32 + 16 * 16 + 4 * 8 * 8);
    fits(tiles, &RV770, PICTURE, levels);
    // Sizes of levels are powers of two: 24 of 50 becomes 32.
    let odd = Texture {
        width: 50,
        height: 50,
        last_level: 1,
        ..tiles
    };
    fits(odd, &RV770, 64 * 56 * 4, 32 * 32 * 4);
    // Levels smaller than one texel.
    let many = Texture {
        last_level: 15,
        ..tiles
    };
    fits(many, &RV770, PICTURE, levels + 9 * 256);
    // Slices become fewer, layers do not.
    let volume = Texture {
        dimensions: 2,
        depth: 5,
        last_level: 3,
        ..tiles
    };
    let levels = 4 * (2 * 32 * 32 + 16 * 16 + 8 * 8);
    fits(volume, &RV770, 5 * PICTURE, levels);
    let layers = Texture {
        dimensions: 5,
        ..volume
    };
    let levels = 5 * 4 * (32 * 32 + 16 * 16 + 8 * 8);
    fits(layers, &RV770, 5 * PICTURE, levels);
    // Blocks of 4 by 4.
    let blocks = Texture {
        format: 49,
        pitch: 64,
        last_level: 3,
        ..tiles
    };
    fits(blocks, &RV770, 16 * 16 * 8, 3 * 8 * 8 * 8);
}

#[test]
fn levels_without_room_for_a_block_have_tiles() {
    // Blocks of 64 by 64 texels.
    let texture = Texture {
        mode: 4,
        width: 256,
        pitch: 256,
        height: 256,
        last_level: 4,
        ..PLAIN
    };
    let levels = 4 * (128 * 128 + 64 * 64 + 32 * 32 + 16 * 16);
    fits(texture, &RV770, 256 * 256 * 4, levels);
    // Too low, then too narrow.
    let low = Texture {
        height: 64,
        last_level: 1,
        ..texture
    };
    fits(low, &RV770, 256 * 64 * 4, 128 * 32 * 4);
    let narrow = Texture {
        width: 33,
        pitch: 64,
        last_level: 1,
        ..texture
    };
    fits(narrow, &RV770, 64 * 256 * 4, 16 * 128 * 4);
    // The first level is always as the resource says.
    let small = Texture {
        width: 8,
        pitch: 64,
        height: 8,
        last_level: 0,
        ..texture
    };
    fits(small, &RV770, 64 * 64 * 4, 0);
}

#[test]
fn levels_before_the_first_count() {
    let texture = Texture {
        last_level: 2,
        ..PLAIN
    };
    let levels = 64 * 4 * (32 + 16);
    fits(texture, &RV770, PICTURE, levels);
    for base_level in [1, 2] {
        let later = Texture {
            base_level,
            ..texture
        };
        fits(later, &RV770, PICTURE, PICTURE + levels);
    }
    bad(
        Texture {
            base_level: 3,
            ..texture
        },
        &RV770,
        4,
        TextureLevels,
    );
}

#[test]
fn samples_lie_in_blocks() {
    for dimensions in [6, 7] {
        let texture = Texture {
            dimensions,
            mode: 4,
            ..PLAIN
        };
        for (last_level, samples) in [(0, 1), (1, 2), (2, 4), (3, 8)] {
            let texture = Texture {
                last_level,
                ..texture
            };
            fits(texture, &RV770, samples * PICTURE, 0);
            // The block has all samples.
            let unit = 0x40 * samples as u32;
            let moved = Texture {
                base: unit,
                ..texture
            };
            fits(moved, &RV770, 2 * samples * PICTURE, 0);
            let moved = Texture {
                base: unit / 2,
                ..texture
            };
            bad(moved, &RV770, 2, TiledOffset);
        }
        let layers = Texture {
            depth: 3,
            last_level: 1,
            ..texture
        };
        fits(layers, &RV770, 3 * 2 * PICTURE, 0);
        for last_level in [4, 15] {
            let more = Texture {
                last_level,
                ..texture
            };
            bad(more, &RV770, 5, TextureSamples);
        }
        for mode in [0, 1, 2] {
            let other = Texture {
                mode,
                last_level: 1,
                ..texture
            };
            bad(other, &RV770, 0, SampleTiling);
            fits(
                Texture {
                    last_level: 0,
                    ..other
                },
                &RV770,
                PICTURE,
                0,
            );
        }
        let later = Texture {
            base_level: 1,
            last_level: 1,
            ..texture
        };
        bad(later, &RV770, 4, TextureLevels);
    }
}

#[test]
fn textures_have_no_other_bits() {
    for bit in 30..32 {
        bad_bits(5, 1 << bit, ForbiddenBits);
    }
    for bit in 9..30 {
        bad_bits(6, 1 << bit, ForbiddenBits);
    }
    bad_bits(6, 1 << 8, Interlaced);
    for bit in 12..14 {
        bad_bits(4, 1 << bit, ByteOrder);
    }
    // How texels become numbers, and in what order a tile has them.
    let mut words = PLAIN.words();
    words[0] |= 1 << 7;
    words[4] |= 0x0fff_cfff;
    words[6] |= 0xff;
    let words = set_resource(0, &[words], &[0, 1]);
    passes(check_gfx, &words, &[PICTURE, 0], &RV770);
}

#[test]
fn whole_samplers_in_their_slots() {
    let sampler = [u32::MAX, u32::MAX, 0x8c0f_ffff];
    for slot in [0, 17, 18, 36, 53] {
        let body = [slot * 3, 0, 0, 1 << 31];
        passes(check_gfx, &packet(0x6e, &body, &[]), &[], &RV770);
    }
    let two: Vec<u32> = [&[52 * 3][..], &sampler, &sampler].concat();
    passes(check_gfx, &packet(0x6e, &two, &[]), &[], &RV770);
    let three: Vec<u32> = [&[52 * 3][..], &sampler, &sampler, &sampler].concat();
    refused(&packet(0x6e, &three, &[]), &[], &RV770, 1, SamplerSlot);
    for first in [54 * 3, u32::MAX, u32::MAX - 2, 0x1_0000] {
        let body = [first, 0, 0, 0];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 1, SamplerSlot);
    }
    for first in [1, 2, 4] {
        let body = [first, 0, 0, 0];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 1, PartialSampler);
    }
    for dwords in [1, 2, 4, 5] {
        let body = vec![0; 1 + dwords];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 1, PartialSampler);
    }
    for bit in (20..26).chain(28..31) {
        let body = [0, 0, 0, 1 << bit];
        refused(&packet(0x6e, &body, &[]), &[], &RV770, 4, ForbiddenBits);
    }
}

#[test]
fn constants_stay_in_their_range() {
    // ALU, boolean and loop constants, numbers of vertices and instances.
    for (opcode, most) in [(0x6a, 2048), (0x6b, 3), (0x6c, 96), (0x6f, 2)] {
        let all = vec![u32::MAX; most as usize];
        let body = |first: u32, dwords: u32| [&[first][..], &all[..dwords as usize]].concat();
        for (first, dwords) in [(0, most), (most - 1, 1), (0, 1)] {
            let words = packet(opcode, &body(first, dwords), &[]);
            passes(check_gfx, &words, &[], &RV770);
        }
        for (first, dwords) in [
            (1, most),
            (most, 1),
            (most - 1, 2),
            (u32::MAX, 1),
            (u32::MAX, 2),
            // Only the lower half of the dword counts for the chip.
            (0x1_0000, 1),
        ] {
            let words = packet(opcode, &body(first, dwords), &[]);
            refused(&words, &[], &RV770, 1, ConstantRange);
        }
    }
    // To the first resource from the first ALU constant.
    let words = packet(0x6a, &[0x2000, 0, 0, 0, 0, 0, 0, 0xc000_0000], &[]);
    refused(&words, &[], &RV770, 1, ConstantRange);
}
