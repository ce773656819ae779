// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffers of depth, stencil and coarse Z (L787-869).
//!
//! The bit that says whether the depth buffer is in tiles is lost with 12h[15:0], so its footprint is that of both layouts.
//! A stencil buffer of its own comes with the fast clear: a byte for each pixel, in blocks of 8 x 8 pixels, with the pitch of
//! the depth buffer (L852-856). It needs depth of 32 bits. The manual gives the address of a cell of coarse Z, and not how
//! many pixels it has. The smallest cells that a pitch of 511 can bear in 2048 pixels are 8 x 8, and these are taken here: ours,
//! to be checked on hardware.

use lapidary_model::runs::Runs;
use lapidary_registers::chrome9::para_01::{
    self, coarse_z_1, coarse_z_2, enable_2, fast_z_clear_1, fast_z_clear_2, z_1, z_2, z_3,
};

use super::area::{Client, Footprint};
use super::state::{State, value_name};
use super::surface::Surface;
use super::window::Rect;

/// Pixels from side to side of a block of stencil, and of a cell of coarse Z.
const SIDE: u64 = 8;
/// Bytes of a block of stencil.
const STENCIL: u64 = 64;
/// Bytes of a cell of coarse Z.
const CELL: u64 = 32;
/// Lines of the tiles that a depth buffer may have: its pitch is in tiles of 256 bytes (L788).
const TILE: u64 = 8;

/// Return the squares of 8 x 8 pixels that pixels are in.
fn squares(r: Rect) -> Rect {
    Rect {
        x0: r.x0 / SIDE,
        y0: r.y0 / SIDE,
        x1: r.x1.div_ceil(SIDE),
        y1: r.y1.div_ceil(SIDE),
    }
}

/// Return what a surface covers, in rows and in tiles.
fn both_layouts(surface: Surface, window: Rect) -> Runs {
    let rows = surface.runs(window);
    if surface.pitch == 0 {
        return rows;
    }
    let tile = Some(TILE);
    let tiles = Surface { tile, ..surface }.runs(window);
    let start = rows.start.min(tiles.start);
    Runs::one(start, rows.end().max(tiles.end()) - start)
}

/// Append the buffers of a draw that reaches those pixels.
pub fn touched(state: &State<'_>, window: Rect, footprints: &mut Vec<Footprint>) {
    let enable = state.attribute(para_01::ENABLE_2);
    let tests = enable_2::Z_TEST.any(enable);
    let writes = enable_2::Z_WRITE.any(enable);
    let stencil = enable_2::STENCIL_TEST.any(enable);
    if tests || writes || stencil {
        buffer(state, window, (tests, writes, stencil), footprints);
    }
    let reads = enable_2::COARSE_Z_TEST.any(enable);
    if reads || enable_2::COARSE_Z_WRITE.any(enable) {
        coarse(state, window, footprints);
    }
}

fn buffer(
    state: &State<'_>,
    window: Rect,
    (tests, writes, stencil): (bool, bool, bool),
    footprints: &mut Vec<Footprint>,
) {
    use z_3::format::{Z16, Z24S8_ASSUMED};
    let (place, kind) = (state.attribute(para_01::Z_2), state.attribute(para_01::Z_3));
    let known = z_3::STORE_W.mask()
        | z_3::ONE_TO_BELOW.mask()
        | z_3::CLAMP_ABOVE.mask()
        | z_3::CLAMP_NEGATIVE.mask()
        | z_3::FORMAT.mask()
        | z_3::STENCIL_LOCATION_ASSUMED.mask();
    state.lost(para_01::Z_3, !known);
    state.lost(para_01::Z_5, u32::MAX);
    state.lost(para_01::Z_6, u32::MAX);
    let code = z_3::FORMAT.get(kind);
    let separate = stencil && fast_z_clear_1::ENABLE.any(state.attribute(para_01::FAST_Z_CLEAR_1));
    if separate && code == Z16 {
        state.wrong("a stencil buffer of its own with depth of 16 bits".into());
    } else if stencil && !separate && code != Z24S8_ASSUMED {
        state.wrong(format!(
            "a stencil test, and format {code} of depth has no stencil"
        ));
    }
    let within = stencil && !separate;
    let surface = Surface {
        base: u64::from(z_1::BASE.get(state.attribute(para_01::Z_1))) * 256,
        pitch: z_2::PITCH.get(place).into(),
        bytes: if code == Z16 { 2 } else { 4 },
        tile: None,
    };
    let (location, runs) = (z_2::LOCATION.get(place), both_layouts(surface, window));
    let what = format!(
        "{}, {}, or tiles",
        value_name("Z_3", "FORMAT", code),
        surface.layout()
    );
    footprints.push(if writes || within {
        Footprint::written(Client::Depth, tests || within, location, runs, what)
    } else {
        Footprint::read(Client::Depth, location, runs, what)
    });
    if separate {
        let base = fast_z_clear_2::STENCIL_BASE.get(state.attribute(para_01::FAST_Z_CLEAR_2));
        let blocks = Surface {
            base: u64::from(base) * 256,
            pitch: surface.pitch * 2,
            bytes: STENCIL,
            tile: None,
        };
        footprints.push(Footprint::written(
            Client::Stencil,
            true,
            z_3::STENCIL_LOCATION_ASSUMED.get(kind),
            blocks.runs(squares(window)),
            format!("blocks of 8 x 8 pixels, {} a row", surface.pitch),
        ));
    }
}

fn coarse(state: &State<'_>, window: Rect, footprints: &mut Vec<Footprint>) {
    let control = state.attribute(para_01::COARSE_Z_1);
    let base = coarse_z_2::BASE.get(state.attribute(para_01::COARSE_Z_2));
    let cells = Surface {
        base: u64::from(base) * 256,
        pitch: coarse_z_1::PITCH.get(control).into(),
        bytes: CELL,
        tile: None,
    };
    // A cell that is tested may be replaced in the cache, and is written back then.
    footprints.push(Footprint::written(
        Client::CoarseZ,
        true,
        coarse_z_1::LOCATION.get(control),
        cells.runs(squares(window)),
        format!("cells of 8 x 8 pixels, {}", cells.layout()),
    ));
}
