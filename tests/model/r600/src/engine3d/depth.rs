// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The depth target, with its HTILE data.
//!
//! It counts if it has a format and something uses it: a depth or stencil test, or an operation of DB_RENDER_CONTROL (clears,
//! copies to colour, decompression, new summaries), with which neither test need be on. The backend reads and writes whole
//! slices. It only reads if nothing can be written: no Z_WRITE_ENABLE, no stencil test, no operation but a copy.
//!
//! HTILE data has a dword for each tile of 4 or 8 by 4 or 8 pixels. Lines and columns are padded to a line of the cache, which
//! depends on the number of pipes (Linux, `r600_cs.c`; Mesa, `r600_texture.c`), or, if it is linear, to 16 tiles by as many as
//! there are pipes. A slice is a multiple of 2 KiB for each pipe.

use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{db_depth_control, db_depth_info, db_htile_surface};
use lapidary_registers::r600::mmio::{db_depth_size, db_depth_view, db_render_control};

use super::area::Client;
use super::color::slices;
use super::format;
use super::layout::{Memory, Mode, Target};
use super::state::{Found, State};
use crate::kind;

/// Return whether depth or stencil goes to colour.
pub fn copies(state: &State<'_>) -> bool {
    use db_render_control::{DEPTH_COPY, STENCIL_COPY};
    (DEPTH_COPY.mask() | STENCIL_COPY.mask()) & state.get(mmio::DB_RENDER_CONTROL) != 0
}

/// Return whether an operation changes depth, stencil or HTILE data.
fn operates(state: &State<'_>) -> bool {
    use db_render_control::*;
    let operations = DEPTH_CLEAR_ENABLE.mask()
        | STENCIL_CLEAR_ENABLE.mask()
        | RESUMMARIZE_ENABLE.mask()
        | STENCIL_COMPRESS_DISABLE.mask()
        | DEPTH_COMPRESS_DISABLE.mask();
    operations & state.get(mmio::DB_RENDER_CONTROL) != 0
}

/// Find what the depth backends may touch.
pub fn touched(state: &State<'_>, found: &mut Found) {
    use db_depth_control::{STENCIL_ENABLE, Z_ENABLE, Z_WRITE_ENABLE};
    let info = state.get(mmio::DB_DEPTH_INFO);
    let Some(bytes) = format::depth(db_depth_info::FORMAT.get(info)) else {
        return;
    };
    let control = state.get(mmio::DB_DEPTH_CONTROL);
    let tests = Z_ENABLE.any(control) || STENCIL_ENABLE.any(control);
    if !tests && !operates(state) && !copies(state) {
        return;
    }
    let array_mode = db_depth_info::ARRAY_MODE.get(info);
    let mode = Mode::of(array_mode).filter(|mode| mode.tiled());
    let samples = 1 << state.log2_samples();
    if mode.is_none() || samples > 1 && mode != Some(Mode::Tiles2d) {
        found.complain(
            kind::SURFACE_TILING,
            format!("the depth target has array mode {array_mode}, {samples} samples"),
        );
    }
    let size = state.get(mmio::DB_DEPTH_SIZE);
    let surface = Target {
        base: u64::from(state.get(mmio::DB_DEPTH_BASE)) << 8,
        mode: mode.unwrap_or(Mode::Tiles1d),
        bytes,
        samples,
        pitch_tiles: u64::from(db_depth_size::PITCH_TILE_MAX.get(size)) + 1,
        slice_tiles: u64::from(db_depth_size::SLICE_TILE_MAX.get(size)) + 1,
    };
    let memory = Memory::of(state);
    if let Some(what) = surface.misaligned(&memory) {
        found.complain(
            kind::SURFACE_ALIGNMENT,
            format!("the depth target has {what}"),
        );
    }
    let view = state.get(mmio::DB_DEPTH_VIEW);
    let slices = slices(
        db_depth_view::SLICE_START.get(view),
        db_depth_view::SLICE_MAX.get(view),
        format_args!("the depth target"),
        found,
    );
    let writes =
        operates(state) || STENCIL_ENABLE.any(control) || tests && Z_WRITE_ENABLE.any(control);
    let at = mmio::DB_DEPTH_BASE;
    let runs = slices.of(surface.base, surface.slice());
    found.touches(at, Client::Depth, (true, writes), runs);
    if db_depth_info::TILE_SURFACE_ENABLE.any(info) {
        let base = u64::from(state.get(mmio::DB_HTILE_DATA_BASE)) << 8;
        let bytes = htile(state, &memory, surface.pitch(), surface.lines());
        let runs = slices.of(base, bytes);
        found.changes(mmio::DB_HTILE_DATA_BASE, Client::Htile, runs);
    }
}

/// Return the bytes of a slice's HTILE data.
fn htile(state: &State<'_>, memory: &Memory, pitch: u64, lines: u64) -> u64 {
    use db_htile_surface::{HTILE_HEIGHT, HTILE_WIDTH, LINEAR};
    let surface = state.get(mmio::DB_HTILE_SURFACE);
    let edge = |large: bool| if large { 8 } else { 4 };
    let columns = pitch.div_ceil(edge(HTILE_WIDTH.any(surface)));
    let rows = lines.div_ceil(edge(HTILE_HEIGHT.any(surface)));
    let (width, height) = match memory.pipes {
        pipes if LINEAR.any(surface) => (16, pipes),
        1 => (32, 16),
        2 => (32, 32),
        4 => (64, 32),
        _ => (64, 64),
    };
    let dwords = columns.next_multiple_of(width) * rows.next_multiple_of(height);
    (dwords * 4).next_multiple_of(memory.pipes * 2048)
}
