// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 3D engine, as far as memory is concerned: which bytes a primitive list may touch.
//!
//! Nothing is drawn. But when the first dword of a list comes through type 00h (L553-559), the engine works out from its
//! parameters what its units may read and write wherever the vertices are, and that is judged against memory and the
//! objects that a test has declared. This *footprint* holds what hardware could touch and leaves out what it cannot: a
//! target that is masked, a texture that is not routed, pixels outside of the windows. Where the manual leaves a layout open,
//! it holds all readings. If the draw depends on a parameter that was never written, nothing can be worked out, and this is the
//! finding.
//!
//! | file | what |
//! | --- | --- |
//! | [`state`] | parameters as a draw sees them: unwritten ones, reserved values |
//! | [`vertices`] | lists: counts, attributes, indices, vertex buffers |
//! | [`window`] | the pixels that can be reached |
//! | [`targets`], [`depth`] | render targets; depth, stencil, coarse Z |
//! | [`texture`] | textures |
//! | [`surface`], [`mod@format`] | where pixels lie, and how large they are |
//! | [`depends`] | state that decides on pixels only |
//! | [`area`], [`judge`] | what is touched, and what is wrong with it |
//! | [`occlusion`] | the count of pixels, which a parameter writes to memory |

mod area;
mod depends;
mod depth;
mod format;
pub(crate) mod judge;
mod occlusion;
mod state;
mod surface;
mod targets;
mod texture;
mod vertices;
mod window;

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::{enums, para_04};

pub use self::area::{Client, Footprint};
use self::state::State;
pub(crate) use self::state::value_name;
use self::vertices::{Came, Vertices};
use crate::{Chrome9, kind};

/// A list that waits for data.
struct List {
    vertices: Vertices,
    /// Indices outside of the bounds, and the first of them.
    outside: u32,
    first: Option<u32>,
    /// Coordinates that are no numbers: tested, and not tested.
    tested: u32,
    untested: u32,
}

/// The engine.
#[derive(Default)]
pub struct Engine3d {
    list: Option<List>,
    /// Data goes nowhere until the next setting: the parameters describe no list.
    lost: bool,
    /// What was judged since it was taken last, if somebody wants to know.
    recorded: Option<Vec<Footprint>>,
}

impl Engine3d {
    /// Return whether a list waits for data.
    pub fn waits(&self) -> bool {
        self.list.is_some()
    }

    /// Forget a list that waits for data.
    pub fn abandon(&mut self) {
        self.list = None;
        self.lost = false;
    }

    /// Keep what was judged.
    pub(crate) fn record(&mut self, footprints: &[Footprint]) {
        if let Some(recorded) = &mut self.recorded {
            recorded.extend_from_slice(footprints);
        }
    }
}

/// Judge what a list's parameters say, apart from memory.
fn judge_list(m: &mut Machine, state: &State<'_>, vertices: &Vertices) {
    for mistake in state.mistakes() {
        m.finding(kind::RESERVED_VALUE, format_args!("a draw: {mistake}"));
    }
    for lost in state.unknown() {
        m.finding(
            kind::UNIMPLEMENTED_PARAMETER,
            format_args!("a draw with {lost}, of which the text is lost"),
        );
    }
    if !vertices.indexed() {
        return;
    }
    let halves = [para_04::VERTEX_BUFFER_LOW, para_04::VERTEX_BUFFER_HIGH];
    if state.mixed(enums::para_type::PRIMITIVE, halves[0], halves[1]) {
        m.finding(
            kind::HALF_ADDRESS,
            format_args!("the halves of the vertex buffer come from different streams"),
        );
    }
    let (least, most) = vertices.bounds;
    if least > most {
        m.finding(
            kind::INDEX_BOUNDS,
            format_args!("the least index is {least}, and the greatest {most}"),
        );
    }
    if vertices.pitch_is_zero() {
        m.finding(kind::PITCH_ZERO, format_args!("vertices"));
    }
}

impl Chrome9 {
    /// Keep the footprints of all draws and pictures from here on, for [`Chrome9::take_footprints`]: for tests that want to
    /// know them, and not only whether they were allowed.
    pub fn record_footprints(&mut self) {
        self.engine3d.recorded = Some(Vec::new());
    }

    /// Return the footprints of the draws and pictures since the last call; none before [`Chrome9::record_footprints`].
    pub fn take_footprints(&mut self) -> Vec<Footprint> {
        let recorded = self.engine3d.recorded.as_mut();
        recorded.map(std::mem::take).unwrap_or_default()
    }

    /// Take a dword of type 00h. It is padding if it looks so where no list waits for it; `first` says that it is the
    /// first one after a setting.
    pub(crate) fn vertex_data(&mut self, m: &mut Machine, word: u32, first: bool, null: bool) {
        if self.engine3d.lost || null && !first && !self.engine3d.waits() {
            return;
        }
        if !self.engine3d.waits() {
            self.begin_list(m);
        }
        let Some(list) = &mut self.engine3d.list else {
            return;
        };
        let (came, coordinate) = list.vertices.feed(word);
        if let Some(c) = coordinate.filter(|_| vertices::is_nan(word)) {
            if c.is_tested() {
                list.tested += 1;
            } else {
                list.untested += 1;
            }
        }
        if let Came::Indices(indices) = came {
            let (least, most) = list.vertices.bounds;
            for index in indices.into_iter().flatten() {
                if !(least..=most).contains(&index) {
                    list.outside += 1;
                    list.first.get_or_insert(index);
                }
            }
        }
        if list.vertices.missing() == 0 {
            self.end_list(m);
        }
    }

    /// Begin a list: work out and judge what it may touch.
    fn begin_list(&mut self, m: &mut Machine) {
        let state = State::new(&self.parameters);
        let vertices = Vertices::new(&state);
        depends::ask(&state);
        let window = window::visible(&state);
        let mut footprints: Vec<Footprint> = vertices.fetched().into_iter().collect();
        let mut raster = Vec::new();
        texture::fetched(&state, &mut raster);
        targets::touched(&state, window, &mut raster);
        depth::touched(&state, window, &mut raster);
        if !window.is_empty() {
            footprints.extend(raster);
        }
        m.counters.add("draws", 1);
        m.counters.add(vertices.counter(), 1);
        m.counters.add("vertices", vertices.count.into());
        if vertices.indexed() {
            m.counters.add("draws_indexed", 1);
        }
        m.trace
            .line(format_args!("draw, not executed: {}", vertices.describe()));
        m.trace.line(format_args!(
            "  pixels {},{} to {},{}",
            window.x0, window.y0, window.x1, window.y1
        ));
        let unwritten = state.unwritten();
        if unwritten.is_empty() {
            judge_list(m, &state, &vertices);
            judge::touch(m, &mut self.gart, &footprints);
            self.engine3d.record(&footprints);
        } else {
            m.finding(
                kind::UNDEFINED_STATE,
                format_args!("a draw of {}: {}", vertices.describe(), unwritten.join(" ")),
            );
        }
        self.engine3d.lost = !vertices.is_list();
        self.engine3d.list = vertices.is_list().then_some(List {
            vertices,
            outside: 0,
            first: None,
            tested: 0,
            untested: 0,
        });
    }

    /// End the list, of which all data has come.
    fn end_list(&mut self, m: &mut Machine) {
        let Some(list) = self.engine3d.list.take() else {
            return;
        };
        if let Some(first) = list.first {
            let (least, most) = list.vertices.bounds;
            m.finding(
                kind::INDEX_BOUNDS,
                format_args!(
                    "{} indices outside of {least} to {most}, the first is {first}",
                    list.outside
                ),
            );
        }
        m.counters.add("nan_coordinates", list.tested.into());
        if list.untested > 0 {
            m.finding(
                kind::NAN_VERTEX,
                format_args!("{} coordinates that are not tested", list.untested),
            );
        }
        let Some((n, left)) = list.vertices.primitives() else {
            return;
        };
        m.counters.add("primitives", n.into());
        if left > 0 {
            m.finding(
                kind::UNFINISHED_PRIMITIVE,
                format_args!("{left} vertices left over: {}", list.vertices.describe()),
            );
        }
    }

    /// Judge that something else comes while a list waits for data, and forget the list.
    pub(crate) fn interrupt_list(&mut self, m: &mut Machine, kind: kind::Kind, by: &str) {
        if let Some(list) = &self.engine3d.list {
            let missing = list.vertices.missing();
            m.finding(
                kind,
                format_args!("{by}, and {missing} dwords of a primitive list are missing"),
            );
        }
        self.engine3d.abandon();
    }
}
