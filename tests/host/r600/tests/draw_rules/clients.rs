// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams in the form of Mesa's r600 driver, with the same packets in the same order, on all chips. Registers and values
//! are those of `src/gallium/drivers/r600/r600_state.c`, `r600_state_common.c`, `r600_streamout.c` and
//! `r600_hw_context.c`.

use crate::stream::{object::*, size, Stream, DRAW, DRAW_INDEX, TILED};
use crate::support::CHIPS;
use r600::portable::{checker::Chip, Generation};

fn is_r6xx(chip: &Chip) -> bool {
    chip.generation == Generation::R6xx
}

/// Add a write of several registers in one packet.
fn seq(stream: Stream, register: u32, values: &[u32], objects: &[u32]) -> Stream {
    let (opcode, base) = match register {
        0x28000.. => (0x69, 0x28000),
        _ => (0x68, 0x8000),
    };
    let mut body = vec![(register - base) / 4];
    body.extend(values);
    stream.op(opcode, &body, objects)
}

/// Return how every stream begins (`r600_init_atom_start_cs`).
fn start(chip: &Chip) -> Stream {
    let mut stream = Stream::new(chip);
    if is_r6xx(chip) {
        stream = stream.op(0x24, &[0], &[]);
    }
    stream = stream
        .op(0x28, &[1 << 31, 1 << 31], &[])
        .op(0x46, &[0x410], &[])
        .op(0x46, &[0x19], &[])
        .set(0x8c00, 0xe400_0009);
    stream = seq(stream, 0x8c08, &[0, 0x0404_3c90, 0x80_0080, 0], &[]);
    stream = stream.set(0x9714, 0);
    stream = match chip.generation {
        Generation::R7xx => stream
            .set(0x28a50, 4)
            .set(0x8d8c, 0x4000)
            .set(0x9830, 0)
            .set(0x9838, 0x42_0204)
            .set(0x286c8, 0),
        Generation::R6xx => stream
            .set(0x8d8c, 0)
            .set(0x9830, 0x8200_0000)
            .set(0x9838, 0x102_0204)
            .set(0x286c8, 1),
    };
    stream = seq(stream, 0x288a8, &[0; 9], &[]);
    for sizes in [0x28140, 0x28180, 0x281c0] {
        stream = seq(stream, sizes, &[0; 16], &[]);
    }
    stream = seq(stream, 0x28a10, &[0; 13], &[]);
    stream = stream.set(0x28a84, 0).set(0x28aa0, 0).set(0x28aa4, 0);
    stream = seq(stream, 0x28ab4, &[1, 0], &[]).set(0x28b20, 0);
    stream = stream.op(0x6f, &[0, 0], &[]).set(0x28028, 0);
    stream = seq(stream, 0x286dc, &[0; 3], &[]);
    stream = seq(stream, 0x28d28, &[0; 3], &[]);
    stream = stream.set(0x28820, 0).set(0x28a48, 0).set(0x28200, 0);
    stream = stream.set(0x2820c, 0xffff);
    if !is_r6xx(chip) {
        stream = stream.set(0x28230, 0xaaaa_aaaa);
    }
    stream = seq(stream, 0x28c30, &[1 << 24, 0, 0xff, u32::MAX], &[]);
    stream = seq(stream, 0x28030, &[0, (8192 << 16) | 8192], &[]);
    stream = seq(stream, 0x28240, &[0, (8192 << 16) | 8192], &[]);
    stream = seq(stream, 0x288cc, &[0; 5], &[]).set(0x288e0, u32::MAX);
    stream = seq(stream, 0x28400, &[u32::MAX, 0], &[]).set(0x288a4, 0);
    if !is_r6xx(chip) {
        stream = stream.set(0x28350, 0).set(0x28354, 0xf);
    }
    stream = stream.set(0x28800, 0).set(0x28b28, 0);
    for number in [0, 32, 64] {
        stream = stream.op(0x6c, &[number, 0x100_0fff], &[]);
    }
    stream
}

/// Add the targets (`r600_emit_framebuffer_state`): a colour target of 64 by 64 pixels, a depth target with HTILE.
fn targets(mut stream: Stream) -> Stream {
    let chip = stream.chip;
    let info = (0x1a << 2) | (TILED << 8) | (1 << 20) | (1 << 24) | (1 << 27);
    stream = seq(stream, 0x280a0, &[info, 0, 0, 0, 0, 0, 0, 0], &[]);
    for register in [0x28040, 0x280e0, 0x280c0] {
        stream = stream.at(register, 0, COLOR);
    }
    stream = stream.set(0x28060, size(8, 64)).set(0x28080, 0);
    stream = stream.set(0x28100, 0);
    if chip.base_update {
        stream = stream.op(0x73, &[2], &[]);
    }
    stream = seq(stream, 0x28000, &[size(8, 64), 0], &[]);
    let depth = 3 | (TILED << 15) | (1 << 25);
    stream = seq(stream, 0x2800c, &[0, depth], &[DEPTH]).set(0x28d34, 7);
    if chip.base_update {
        stream = stream.op(0x73, &[1], &[]);
    }
    stream = seq(stream, 0x28204, &[1 << 31, (64 << 16) | 64], &[]);
    stream = stream.set(0x287a0, 1);
    // One sample a pixel.
    if !chip.base_update && is_r6xx(&chip) {
        stream = seq(stream, 0x28c00, &[1 << 10, 0], &[]);
    } else {
        stream = seq(stream, 0x28c1c, &[0, 0], &[]);
        stream = seq(stream, 0x28c00, &[1 << 10, 0], &[]);
    }
    // `r600_emit_cb_misc_state`, `r600_emit_db_state`, `r600_emit_db_misc_state`.
    stream = seq(stream, 0x28238, &[0xf, 0xf], &[]).set(0x28808, 0xcc_0080);
    stream = stream.set(0x2802c, 0x3f80_0000).set(0x28d24, 0xb);
    stream = stream.at(0x28014, 0, HTILE);
    stream = seq(stream, 0x28d0c, &[1 << 11, 0x28], &[]);
    stream.set(0x2880c, 0x10)
}

/// Add rasteriser, scissors, viewport, shaders, vertices, constants.
fn state(mut stream: Stream) -> Stream {
    let chip = stream.chip;
    stream = seq(stream, 0x28a00, &[0x80_0008, 0x80_0008, 8], &[]);
    stream = stream.set(0x286d4, 0x1243).set(0x28c08, 0x2d);
    let mode = if is_r6xx(&chip) { 0x4100 } else { 0x0600_c000 };
    stream = stream.set(0x28a4c, mode).set(0x28dfc, 0);
    stream = seq(stream, 0x28250, &[1 << 31, (64 << 16) | 64], &[]);
    stream = seq(stream, 0x2843c, &[0; 6], &[]);
    stream = seq(stream, 0x282d0, &[0, 0x3f80_0000], &[]);
    stream = stream.set(0x28810, 0x100_0000).set(0x28814, 0x8_0000);
    stream = stream
        .set(0x2881c, 0)
        .set(0x28410, 0)
        .set(0x28c48, u32::MAX);
    // Pixel shader; without inputs the packet names no register.
    stream = seq(stream, 0x28644, &[], &[]);
    stream = seq(stream, 0x286cc, &[1 << 28, 0], &[]).set(0x286d8, 0);
    stream = seq(stream, 0x28850, &[0x20_0002, 2], &[]);
    stream = stream.at(0x28840, 0, PROGRAMS);
    // Vertex shader, fetch shader.
    stream = seq(stream, 0x28614, &[0; 10], &[]).set(0x286c4, 0);
    stream = stream.set(0x28868, 0x20_0102).set(0x28818, 0x43f);
    stream = stream.at(0x28858, 0, PROGRAMS).at(0x28894, 2, PROGRAMS);
    stream = stream.set(0x28a40, 0).set(0x28a84, 0);
    // A vertex buffer and a constant buffer, which is a resource, too.
    let all = |slot: u32, offset: u32, bytes: u32, stride: u32| {
        [slot * 7, offset, bytes - 1, stride << 8, 0, 0, 0, 3 << 30]
    };
    stream = stream.op(0x6d, &all(320, 0, 4096, 16), &[VERTICES]);
    stream = stream.set(0x28180, 1).at(0x28980, 1, CONSTANTS);
    stream = stream.op(0x6d, &all(160, 256, 256, 16), &[CONSTANTS]);
    stream.set(0x9508, 0x0700_0003)
}

/// Add the end of a stream (`r600_flush_emit`, `r600_context_gfx_flush`).
fn finish(mut stream: Stream) -> Stream {
    let chip = stream.chip;
    stream = stream.set(0x8040, 0x8100);
    stream = match chip.generation {
        Generation::R7xx => stream
            .op(0x46, &[0x2e], &[])
            .op(0x46, &[0x2c], &[])
            .op(0x46, &[0x16], &[])
            .op(0x43, &[0x1610_7fc0, u32::MAX, 0, 10], &[]),
        Generation::R6xx => stream.op(0x46, &[0x16], &[]).set(0x28350, 0),
    };
    while stream.words().len() % 8 != 0 {
        stream = stream.filler();
    }
    stream
}

fn draw(stream: Stream) -> Stream {
    let chip = stream.chip;
    let stream = stream
        .op(0x6f, &[1, 0], &[])
        .set(0x8958, 4)
        .op(0x2f, &[1], &[])
        .op(DRAW, &[3, 2], &[]);
    match chip.generation {
        Generation::R6xx => stream.op(0x46, &[0x26], &[]),
        Generation::R7xx => stream,
    }
}

#[test]
fn a_triangle() {
    for (_, chip) in CHIPS {
        let stream = finish(draw(state(targets(start(&chip)))));
        let checked = stream.passes();
        let written = [COLOR, DEPTH, HTILE];
        for (number, object) in checked.objects.iter().enumerate() {
            let access = object.access;
            let used = number as u32 <= VERTICES;
            let writes = written.contains(&(number as u32));
            assert_eq!(
                (access.reads || access.writes, access.writes),
                (used, writes)
            );
        }
    }
}

#[test]
fn an_indexed_draw_under_a_condition() {
    for (_, chip) in CHIPS {
        let mut stream = state(targets(start(&chip)));
        stream = stream.op(0x20, &[0x100, (1 << 16) | (1 << 8)], &[MORE]);
        stream = draw(stream).op(0x2a, &[1], &[]);
        stream = stream.op(DRAW_INDEX, &[0x40, 0, 12, 0], &[INDICES]);
        let header = Stream::packet(DRAW_INDEX, &[0; 4], &[])[0];
        stream = stream.dword(DRAW_INDEX, 0, header | 1);
        // Immediate indices, and the condition ends.
        stream = stream.op(0x2a, &[0], &[]);
        stream = stream.op(0x2e, &[3, 1, 0x1_0000, 2], &[]);
        stream = stream.op(0x20, &[0, 0], &[]);
        finish(stream).passes();
    }
}

#[test]
fn vertices_that_are_streamed_out_and_drawn() {
    for (_, chip) in CHIPS {
        let flush = |stream: Stream| {
            let stream = stream.set(0x8490, 0).op(0x46, &[0x1f], &[]);
            stream.op(0x3c, &[3, 0x8490 >> 2, 0, 1, 1, 4], &[])
        };
        let mut stream = flush(state(targets(start(&chip))));
        stream = seq(stream, 0x28ad0, &[0x400, 4, 0], &[VERTICES]);
        if chip.generation == Generation::R7xx {
            stream = stream.op(0x72, &[0, 0], &[VERTICES]);
        }
        stream = stream.op(0x34, &[0, 0, 0, 0, 0], &[]);
        if chip.base_update {
            stream = stream.op(0x73, &[1 << 9], &[]);
        }
        stream = draw(stream.set(0x28b20, 1).set(0x28ab0, 1));
        stream = flush(stream).op(0x34, &[7, 0x10, 0, 0, 0], &[MORE]);
        stream = stream.set(0x28ad0, 0).set(0x28b20, 0).set(0x28ab0, 0);
        // As many as there are now.
        stream = stream.set(0x28b30, 4);
        stream = stream.op(0x3b, &[1, 0x10, 0, 0x28b2c >> 2, 0], &[MORE]);
        stream = stream.op(DRAW, &[0, 0x42], &[]);
        let checked = finish(stream).passes();
        assert!(checked.objects[VERTICES as usize].access.writes);
    }
}

#[test]
fn a_geometry_shader_and_what_it_spills() {
    for (_, chip) in CHIPS {
        let idle = |stream: Stream| stream.set(0x8040, 0x8000).op(0x46, &[0x24], &[]);
        let mut stream = state(targets(start(&chip))).set(0x28ab8, 1);
        stream = stream.set(0x28a6c, 2).set(0x288c8, 4).set(0x288a8, 4);
        stream = stream.set(0x288ac, 16);
        stream = seq(stream, 0x88c8, &[0x80, 0x100], &[]);
        stream = seq(stream, 0x88e8, &[2], &[]).set(0x2887c, 0x20_0004);
        stream = stream.at(0x2886c, 4, PROGRAMS).set(0x28890, 0x20_0004);
        stream = stream.at(0x28880, 6, PROGRAMS);
        stream = idle(stream).at(0x8c40, 0, MORE).set(0x8c44, 0x1c0);
        stream = stream.at(0x8c48, 0x200, MORE).set(0x8c4c, 0x400);
        stream = idle(stream).set(0x28a40, 3 | (3 << 3));
        // Scratch memory of pixel shaders.
        stream = idle(stream).at(0x8c68, 0x800, MORE).set(0x288bc, 8);
        stream = idle(stream.set(0x8c6c, 0x100));
        stream = draw(stream);
        // Off again; the size of elements stays.
        stream = idle(stream).set(0x8c44, 0).set(0x8c4c, 0);
        stream = draw(idle(stream).set(0x28a40, 0));
        let checked = finish(stream).passes();
        assert!(checked.objects[MORE as usize].access.writes);
    }
}

#[test]
fn samples_that_are_resolved() {
    for (name, chip) in CHIPS {
        let mut stream = state(targets(start(&chip)));
        let info = |tile_mode: u32| (0x1a << 2) | (TILED << 8) | (tile_mode << 18);
        // R6xx wants masks for the second target, too, which are not used.
        let second = if is_r6xx(&chip) { 2 } else { 0 };
        let formats = [info(2), info(second), 0, 0, 0, 0, 0, 0];
        stream = seq(stream, 0x280a0, &formats, &[]);
        for (target, base) in [(0, 0), (4, 0x400)] {
            stream = stream.at(0x28040 + target, base, MORE);
            stream = stream.at(0x280e0 + target, 0x800, MORE);
            stream = stream.at(0x280c0 + target, 0xc00, MORE);
        }
        stream = seq(stream, 0x28060, &[size(8, 64), size(8, 64)], &[]);
        stream = seq(stream, 0x28080, &[0, 0], &[]);
        let masks = (63 << 12) | 15;
        stream = seq(stream, 0x28100, &[masks, masks], &[]);
        stream = stream.set(0x28010, 0).set(0x287a0, 1);
        if name == "r600" {
            stream = seq(stream, 0x8b48, &[0; 2], &[]);
        }
        stream = seq(stream, 0x28c00, &[3 << 9, 3 | (7 << 13)], &[]);
        let mask = if is_r6xx(&chip) { 0xff } else { 0xf };
        stream = seq(stream, 0x28238, &[mask, mask], &[]);
        stream = stream.set(0x28808, 0xcc_00f0);
        let checked = finish(draw(stream)).passes();
        assert!(checked.objects[MORE as usize].access.writes);
    }
}
