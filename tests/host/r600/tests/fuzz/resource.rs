// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What shaders read by fetches: textures, buffers, samplers and the constants of loops.

use lapidary_registers::r600::{mmio, pm4::op};

use crate::{
    scene::{extent, pick, rarely, surface_place, Scene},
    tiles::{layout, LINEAR, ONE, TWO},
};

use mmio::{
    sq_tex_resource_word0 as word0, sq_tex_resource_word1 as word1, sq_tex_resource_word4 as word4,
    sq_tex_resource_word5 as word5, sq_vtx_constant_word2 as buffer2,
};

/// Formats of textures: number, bytes of an element, texels of an element in a row and in a column.
const FORMATS: [(u32, u32, u32, u32); 30] = [
    (26, 4, 1, 1),
    (26, 4, 1, 1),
    (26, 4, 1, 1),
    (1, 1, 1, 1),
    (2, 1, 1, 1),
    (5, 2, 1, 1),
    (7, 2, 1, 1),
    (8, 2, 1, 1),
    (13, 4, 1, 1),
    (14, 4, 1, 1),
    (15, 4, 1, 1),
    (17, 4, 1, 1),
    (19, 4, 1, 1),
    (25, 4, 1, 1),
    (43, 4, 1, 1),
    (28, 8, 1, 1),
    (29, 8, 1, 1),
    (31, 8, 1, 1),
    (32, 8, 1, 1),
    (34, 16, 1, 1),
    (35, 16, 1, 1),
    (49, 8, 4, 4),
    (49, 8, 4, 4),
    (50, 16, 4, 4),
    (51, 16, 4, 4),
    (52, 8, 4, 4),
    (53, 16, 4, 4),
    (39, 4, 2, 1),
    (40, 4, 2, 1),
    (47, 12, 1, 1),
];

/// The slots of a kind of shader: first, and how many.
const SLOTS: [(u32, u32); 4] = [(0, 160), (160, 160), (320, 16), (336, 160)];

fn slot(s: &mut Scene<'_>, group: usize) -> u32 {
    let (first, number) = SLOTS[group];
    match s.rng.u32(..4) {
        0 => first + s.rng.u32(..number),
        1 => first + number - 1,
        _ => first + s.rng.u32(..4.min(number)),
    }
}

/// Append one texture.
fn texture(s: &mut Scene<'_>, group: usize) {
    let dim = pick(s.rng, &[0, 1, 1, 1, 2, 3, 4, 5, 6, 7]);
    let (format, bytes, columns, lines) = if rarely(s.rng, 96) {
        (s.rng.u32(..64), 4, 1, 1)
    } else {
        pick(s.rng, &FORMATS)
    };
    let samples = if dim >= 6 { pick(s.rng, &[2, 4, 8]) } else { 1 };
    let huge = rarely(s.rng, 96);
    let height = match dim {
        0 | 4 => 1,
        _ if huge => 8192,
        _ => extent(s.rng, 1024),
    };
    let most = ((1 << 17) / height.max(8)).clamp(1, 8192);
    let width = if huge { 8192 } else { extent(s.rng, most) };
    let height = if dim == 3 { width.min(1024) } else { height };
    let depth = match dim {
        2 if huge => 8192,
        2 => extent(s.rng, 64),
        // Mesa says the layers here as well.
        4 | 5 | 7 => extent(s.rng, 32),
        3 if rarely(s.rng, 16) => s.rng.u32(1..=4),
        _ => 1,
    };
    let modes = match bytes {
        // Nothing tiles elements of three parts.
        12 => [LINEAR[1]; 6],
        _ => [LINEAR[0], LINEAR[1], ONE, ONE, TWO, TWO],
    };
    let surface = layout(
        s,
        &modes,
        width.div_ceil(columns),
        height.div_ceil(lines),
        bytes,
        samples,
    );
    let pitch = (surface.pitch * columns).clamp(8, 16384);
    let longest = width.max(height).max(if dim == 2 { depth } else { 1 });
    let last = match s.rng.u32(..8) {
        _ if dim >= 6 => samples.ilog2(),
        0..=3 => 0,
        4 if rarely(s.rng, 8) => longest.ilog2() + s.rng.u32(..3),
        5 => s.rng.u32(..=longest.ilog2()),
        _ => longest.ilog2(),
    }
    .min(15);
    let first = match s.rng.u32(..8) {
        _ if dim >= 6 => 0,
        0 if rarely(s.rng, 8) => s.rng.u32(..16),
        1 => s.rng.u32(..=last),
        _ => 0,
    };
    let layers = match dim {
        3 => 6 * depth - 1,
        4 | 5 | 7 => depth - 1,
        _ => 0,
    };
    let (base_layer, last_layer) = match s.rng.u32(..12) {
        0 => (s.rng.u32(..=layers), layers),
        1 if rarely(s.rng, 8) => (s.rng.u32(..0x2000), s.rng.u32(..0x2000)),
        2 if dim == 2 => (0, 0),
        // More layers than the depth says.
        3 if dim != 3 => (0, s.rng.u32(..32)),
        _ => (0, layers),
    };
    let base = surface_place(s, surface.base);
    let mip = if last == 0 && s.rng.bool() {
        base
    } else {
        let place = surface_place(s, surface.base);
        if rarely(s.rng, 2) {
            (place.0 + (surface.base >> 8) * s.rng.u32(..8), base.1)
        } else {
            place
        }
    };
    let other = s.rng.u32(..);
    let words = [
        word0::DIM.of(dim)
            | word0::TILE_MODE.of(surface.mode)
            | word0::TILE_TYPE.of(s.rng.u32(..2))
            | word0::PITCH.of(pitch / 8 - 1)
            | word0::TEX_WIDTH.of(width - 1),
        word1::TEX_HEIGHT.of(height - 1)
            | word1::TEX_DEPTH.of(depth - 1)
            | word1::DATA_FORMAT.of(format),
        base.0,
        mip.0,
        (other & 0x0fff_0f00) & !word4::BASE_LEVEL.mask() & !(3 << 12)
            | (1 << 14)
            | word4::BASE_LEVEL.of(first),
        word5::LAST_LEVEL.of(last)
            | word5::BASE_ARRAY.of(base_layer)
            | word5::LAST_ARRAY.of(last_layer),
        (2 << 30) | if s.rng.bool() { 1 << 5 } else { 0 } | (s.rng.u32(..5) << 2),
    ];
    let at = slot(s, group) * 7;
    s.on()
        .words(&[crate::scene::header(op::SET_RESOURCE, 8), at])
        .words(&words)
        .marker(base.1)
        .marker(mip.1);
}

/// Append one buffer, which holds vertices, a texture of one dimension, or constants by fetch.
pub fn buffer(s: &mut Scene<'_>, group: usize) {
    let object = s.object();
    let offset = match s.rng.u32(..4) {
        0 => s.rng.u32(..0x1_0000),
        _ => s.offset(4),
    };
    let size = match s.rng.u32(..16) {
        0 => 0,
        1 => u32::MAX - s.rng.u32(..4096),
        2 => s.rng.u32(..),
        3..=8 => extent(s.rng, 4096) * 16 - 1,
        _ => s.rng.u32(..0x4_0000),
    };
    let high = if rarely(s.rng, 512) {
        s.rng.u32(..256)
    } else {
        0
    };
    let stride = match s.rng.u32(..4) {
        0 => 0,
        1 => s.rng.u32(..2048),
        _ => 4 * s.rng.u32(1..16),
    };
    let format = pick(s.rng, &[35, 48, 30, 14, 26, 13, 1, 34, 47, 31]);
    let words = [
        offset,
        size,
        buffer2::BASE_ADDRESS_HI.of(high)
            | buffer2::STRIDE.of(stride)
            | buffer2::DATA_FORMAT.of(format)
            | buffer2::CLAMP_X.of(u32::from(rarely(s.rng, 8)))
            | (s.rng.u32(..4) << 26),
        1,
        0,
        0,
        3 << 30,
    ];
    let at = slot(s, group) * 7;
    s.on()
        .words(&[crate::scene::header(op::SET_RESOURCE, 8), at])
        .words(&words)
        .marker(object);
}

/// Append what a slot without a resource has, which is type 0 or 1, and nothing else.
fn none(s: &mut Scene<'_>, group: usize) {
    let at = slot(s, group) * 7;
    let kind = s.rng.u32(..2) << 30;
    s.on()
        .words(&[crate::scene::header(op::SET_RESOURCE, 8), at])
        .words(&[0, 0, 0, 0, 0, 0, kind]);
}

fn sampler(s: &mut Scene<'_>) {
    let at = s.rng.u32(..54) * 3;
    // The bits that fields have.
    let known = if rarely(s.rng, 32) {
        [u32::MAX; 3]
    } else {
        [0xffc7_ffff, u32::MAX, 0x8c0f_ffff]
    };
    let words = known.map(|bits| s.rng.u32(..) & bits);
    s.on()
        .words(&[crate::scene::header(op::SET_SAMPLER, 4), at])
        .words(&words);
}

/// Append resources of all kinds of shaders, samplers, and the constants of loops.
pub fn resources(s: &mut Scene<'_>) {
    for _ in 0..pick(s.rng, &[0, 1, 1, 2, 3]) {
        s.piece();
        let group = s.rng.usize(..4);
        match s.rng.u32(..24) {
            0 if rarely(s.rng, 4) => none(s, group),
            0..=2 => sampler(s),
            3..=8 => buffer(s, group),
            _ => texture(s, group),
        }
    }
    for _ in 0..pick(s.rng, &[0, 1, 1, 2]) {
        s.piece();
        buffer(s, 2);
    }
    if rarely(s.rng, 3) {
        s.piece();
        let at = s.rng.u32(..96);
        s.on().packet(op::SET_LOOP_CONST, &[at, 0x0100_0fff]);
    }
    if rarely(s.rng, 3) {
        s.piece();
        s.on().packet(op::SET_CTL_CONST, &[0, 0]);
    }
    if rarely(s.rng, 16) {
        s.piece();
        let at = s.rng.u32(..3);
        let value = s.rng.u32(..);
        s.on().packet(op::SET_BOOL_CONST, &[at, value]);
    }
    if rarely(s.rng, 16) {
        s.piece();
        let number = s.rng.u32(1..9) * 4;
        let at = 4 * s.rng.u32(..512);
        let mut body = vec![at];
        body.extend((0..number).map(|_| s.rng.u32(..)));
        s.on().packet(op::SET_ALU_CONST, &body);
    }
}
