// SPDX-License-Identifier: GPL-2.0 OR MIT

//! 3D submissions as a client like Mesa makes them: the whole state, draws, some of the state again, draws.

use crate::{
    scene::{pick, rarely, Scene},
    state, targets, textures,
    vertices::{self, Vertices},
};

/// Return all of the state that bounds a draw, in a client's order or any other.
fn whole_state(s: &mut Scene<'_>) -> (targets::Frame, Vertices) {
    let from = s.mark();
    let frame = targets::frame(s);
    targets::scissors(s, frame);
    targets::colors(s, frame);
    targets::depth(s, frame);
    targets::samples(s, frame);
    textures::textures(s);
    state::pipeline(s);
    state::programs(s);
    let number = match s.rng.u32(..8) {
        0 => s.rng.u32(1..=16),
        _ => s.rng.u32(1..=4),
    };
    let size = vertices::stream_format(s, number);
    state::harmless(s);
    let vertices = Vertices {
        size,
        ..vertices::arrays(s, number)
    };
    s.settle(from);
    (frame, vertices)
}

fn draw(s: &mut Scene<'_>, vertices: Vertices) {
    match s.rng.u32(..3) {
        0 => vertices::embedded(s, vertices),
        1 => vertices::listed(s, vertices),
        _ => vertices::indexed(s, vertices),
    }
}

/// Append 3D work to a scene.
pub fn add(s: &mut Scene<'_>) {
    state::flush(s);
    let (mut frame, mut vertices) = whole_state(s);
    if s.options.hyperz || s.options.cmask {
        state::masks(s);
    }
    if rarely(s.rng, 64) {
        state::odd(s);
    }
    if rarely(s.rng, 24) {
        state::shader_formats(s);
    }
    let query = rarely(s.rng, 4);
    if query {
        targets::query_begin(s);
    }
    for draw_number in 0..pick(s.rng, &[1, 1, 2, 2, 3]) {
        if draw_number > 0 {
            // Some of the state again, mostly behind a purge, as most of it needs one.
            if !rarely(s.rng, 12) {
                state::flush(s);
            }
            match s.rng.u32(..10) {
                0 => {
                    frame = targets::frame(s);
                    targets::scissors(s, frame);
                }
                1 => targets::colors(s, frame),
                2 => targets::depth(s, frame),
                3 => textures::textures(s),
                4 => {
                    let number = s.rng.u32(1..=4);
                    vertices.most = vertices::arrays(s, number).most;
                }
                5 => targets::samples(s, frame),
                6 => state::harmless(s),
                _ => targets::change(s),
            }
            if rarely(s.rng, 8) {
                targets::scissors(s, frame);
            }
        }
        draw(s, vertices);
    }
    if query {
        targets::query_end(s);
    }
    state::flush(s);
}
