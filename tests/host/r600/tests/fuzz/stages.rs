// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What shaders are, and what they have beside fetches: programs, constant buffers, rings, scratch memory, stream-out.

use lapidary_registers::r600::{mmio, pm4::op};
use lapidary_registers::RegArray;

use crate::{
    chips::Variant,
    resource,
    scene::{extent, pick, rarely, surface_place, Scene},
};

fn at(array: RegArray, n: u32) -> u32 {
    array.at(n).expect("in range")
}

/// Wait until all draws are done.
pub fn idle(s: &mut Scene<'_>) {
    s.on().write(mmio::WAIT_UNTIL, 0x8000);
}

/// Append programs of all kinds of shaders.
pub fn programs(s: &mut Scene<'_>) {
    s.piece();
    for (start, resources) in [
        (mmio::SQ_PGM_START_PS, mmio::SQ_PGM_RESOURCES_PS),
        (mmio::SQ_PGM_START_VS, mmio::SQ_PGM_RESOURCES_VS),
        (mmio::SQ_PGM_START_FS, mmio::SQ_PGM_RESOURCES_FS),
        (mmio::SQ_PGM_START_ES, mmio::SQ_PGM_RESOURCES_ES),
        (mmio::SQ_PGM_START_GS, mmio::SQ_PGM_RESOURCES_GS),
    ] {
        if rarely(s.rng, 12) {
            continue;
        }
        let (place, object) = surface_place(s, 256);
        s.on().write(start, place).marker(object);
        let gprs = s.rng.u32(1..32);
        s.on().write(resources, gprs);
    }
    s.on().write(mmio::SQ_PGM_EXPORTS_PS, 2);
    s.block(mmio::SQ_PGM_CF_OFFSET_PS, &[0; 5]);
}

/// Append constant buffers, each with a resource for fetches as Mesa has them.
pub fn constants(s: &mut Scene<'_>) {
    let kinds = [
        (
            mmio::SQ_ALU_CONST_BUFFER_SIZE_PS,
            mmio::SQ_ALU_CONST_CACHE_PS,
        ),
        (
            mmio::SQ_ALU_CONST_BUFFER_SIZE_VS,
            mmio::SQ_ALU_CONST_CACHE_VS,
        ),
        (
            mmio::SQ_ALU_CONST_BUFFER_SIZE_GS,
            mmio::SQ_ALU_CONST_CACHE_GS,
        ),
    ];
    for (size, _) in kinds {
        s.piece();
        s.block(at(size, 0), &[0; 16]);
    }
    for _ in 0..pick(s.rng, &[0, 1, 1, 2, 4]) {
        s.piece();
        let kind = s.rng.usize(..3);
        let (size, cache) = kinds[kind];
        let number = if s.rng.bool() { 0 } else { s.rng.u32(..16) };
        let units = match s.rng.u32(..8) {
            0 => 256,
            1 => s.rng.u32(..512),
            2 => 0,
            _ => extent(s.rng, 256),
        };
        let (place, object) = surface_place(s, 256);
        s.on()
            .write(at(size, number), units)
            .write(at(cache, number), place)
            .marker(object);
        if s.rng.bool() {
            resource::buffer(s, [0, 1, 3][kind]);
        }
    }
}

/// Return the size in units of 256 bytes of scratch memory for elements of so many dwords (Mesa, r600_state_common.c).
fn scratch(chip: &Variant, item: u32) -> u32 {
    (128 * chip.checker.pipes * 16 * item).div_ceil(256)
}

/// Append a ring or scratch memory, with address and size, and the size of its elements.
fn ring(s: &mut Scene<'_>, number: u32, size: u32, item: u32) {
    s.piece();
    idle(s);
    let (place, object) = surface_place(s, 256);
    let base = mmio::SQ_ESGS_RING_BASE + 8 * number;
    s.on()
        .write(base, place)
        .marker(object)
        .write(base + 4, size);
    if !rarely(s.rng, 4) {
        s.piece();
    }
    s.on().write(mmio::SQ_ESGS_RING_ITEMSIZE + 4 * number, item);
}

/// Append rings with a geometry shader, or none, and scratch memory.
pub fn rings(s: &mut Scene<'_>) {
    let geometry = rarely(s.rng, 4);
    s.piece();
    let mode = match s.rng.u32(..16) {
        0 => s.rng.u32(..32),
        _ if geometry => 3 | (s.rng.u32(..4) << 3),
        _ => 0,
    };
    s.on().write(mmio::VGT_GS_MODE, mode);
    if geometry {
        let primitive = s.rng.u32(..3);
        s.on()
            .write(mmio::VGT_GS_OUT_PRIM_TYPE, primitive)
            .write(mmio::SQ_GS_VERT_ITEMSIZE, 16);
        let item = s.rng.u32(1..256);
        ring(s, 0, 0x1c0, item);
        let size = pick(s.rng, &[0x4_0000, 0x1000, 0x400]);
        let item = s.rng.u32(1..1024);
        ring(s, 1, size, item);
    } else if rarely(s.rng, 4) {
        s.piece();
        idle(s);
        s.on()
            .write(mmio::SQ_ESGS_RING_SIZE, 0)
            .write(mmio::SQ_GSVS_RING_SIZE, 0);
    }
    if rarely(s.rng, 4) {
        let number = s.rng.u32(2..6);
        let item = s.rng.u32(..128);
        let size = match s.rng.u32(..8) {
            0 => s.rng.u32(..0x1_0000),
            1 => scratch(s.chip, item).saturating_sub(1),
            _ => scratch(s.chip, item),
        };
        ring(s, number, size, item);
    }
}

/// What a scene does with stream-out.
#[derive(Clone, Debug, Default)]
pub struct StreamOut {
    /// Buffers that are bound: number, place, object.
    bound: Vec<(u32, u32, u32)>,
    /// Where the filled sizes go.
    filled: (u32, u32),
}

/// Wait until the filled sizes are up to date, as Mesa does.
fn flush(s: &mut Scene<'_>) {
    s.on()
        .write(mmio::CP_STRMOUT_CNTL, 0)
        .packet(op::EVENT_WRITE, &[0x1f])
        .packet(
            op::WAIT_REG_MEM,
            &[3, mmio::CP_STRMOUT_CNTL >> 2, 0, 1, 1, 4],
        );
}

/// Bind stream-out buffers and begin, or switch it off.
pub fn stream_out(s: &mut Scene<'_>) -> StreamOut {
    let mut out = StreamOut::default();
    s.piece();
    if !rarely(s.rng, 3) {
        if !rarely(s.rng, 16) {
            s.on()
                .write(mmio::VGT_STRMOUT_EN, 0)
                .write(mmio::VGT_STRMOUT_BUFFER_EN, 0);
        }
        return out;
    }
    let number = s.rng.u32(1..=4);
    let object = s.object();
    out.filled = (16 * s.rng.u32(..8), object);
    if !rarely(s.rng, 4) {
        flush(s);
    }
    for n in 0..number {
        let n = if rarely(s.rng, 16) { s.rng.u32(..4) } else { n };
        let (place, object) = surface_place(s, 256);
        let offset = 4 * s.rng.u32(..64);
        let size = match s.rng.u32(..64) {
            0 => s.rng.u32(..),
            1..=4 => 0,
            _ => extent(s.rng, 0x4000),
        };
        let stride = s.rng.u32(1..64);
        s.on()
            .writes(
                at(mmio::VGT_STRMOUT_BUFFER_SIZE, n),
                &[(offset / 4).wrapping_add(size), stride, place],
            )
            .marker(object);
        if s.r7xx() {
            s.on()
                .packet(op::STRMOUT_BASE_UPDATE, &[n, place])
                .marker(object);
        }
        if s.rng.bool() {
            let (low, object) = out.filled;
            let low = low + 4 * n;
            s.on()
                .packet(
                    op::STRMOUT_BUFFER_UPDATE,
                    &[(n << 8) | (2 << 1), 0, 0, low, 0],
                )
                .marker(object);
        } else {
            let body = [n << 8, 0, 0, offset / 4, 0];
            s.on().packet(op::STRMOUT_BUFFER_UPDATE, &body);
        }
        out.bound.push((n, place, object));
    }
    if s.chip.checker.base_update {
        let bits = out
            .bound
            .iter()
            .fold(0, |bits, (n, ..)| bits | (1 << (9 + n)));
        s.on().packet(op::SURFACE_BASE_UPDATE, &[bits]);
    }
    let mask = if rarely(s.rng, 8) {
        s.rng.u32(..16)
    } else {
        (1 << number) - 1
    };
    s.on()
        .write(mmio::VGT_STRMOUT_EN, 1)
        .write(mmio::VGT_STRMOUT_BUFFER_EN, mask);
    out
}

/// End stream-out: store the filled sizes, unbind.
pub fn stream_out_end(s: &mut Scene<'_>, out: &StreamOut) {
    if out.bound.is_empty() {
        return;
    }
    s.piece();
    flush(s);
    for (n, ..) in &out.bound {
        let (low, object) = out.filled;
        s.on()
            .packet(
                op::STRMOUT_BUFFER_UPDATE,
                &[(n << 8) | (3 << 1) | 1, low + 4 * n, 0, 0, 0],
            )
            .marker(object);
        if s.rng.bool() {
            s.on().write(at(mmio::VGT_STRMOUT_BUFFER_SIZE, *n), 0);
        }
    }
    s.on()
        .write(mmio::VGT_STRMOUT_EN, 0)
        .write(mmio::VGT_STRMOUT_BUFFER_EN, 0);
}

/// Append the stride and the filled size of a stream-out buffer, for a draw of all that it holds. Return whether there
/// is one.
pub fn opaque(s: &mut Scene<'_>, out: &StreamOut) -> bool {
    if out.bound.is_empty() || !rarely(s.rng, 3) {
        return false;
    }
    let (low, object) = out.filled;
    s.on()
        .write(mmio::VGT_STRMOUT_DRAW_OPAQUE_OFFSET, 0)
        .write(mmio::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE, 16)
        .packet(
            op::COPY_DW,
            &[
                1,
                low,
                0,
                mmio::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE >> 2,
                0,
            ],
        )
        .marker(object);
    true
}
