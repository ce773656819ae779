// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The units of the 3D engine that go to memory, and what they may touch in a draw ([`lapidary_model::area`]).
//!
//! Addresses do not wrap at 4 GiB: what reaches beyond is found to hit nothing.

use std::fmt;

use lapidary_model::area;

/// What one unit may do in a draw.
pub type Area = area::Area<Client>;

/// A unit of the 3D engine that goes to memory, with the number of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Vertex fetch, of that array.
    Vertex(u8),
    /// Texture fetch, of that texture.
    Texture(u8),
    /// Colour backend, of that target.
    Color(u8),
    /// Colour backend, writing what it resolves.
    Resolve,
    /// Depth and stencil.
    Depth,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Vertex(n) => write!(f, "vertex array {n}"),
            Client::Texture(n) => write!(f, "texture {n}"),
            Client::Color(n) => write!(f, "colour target {n}"),
            Client::Resolve => f.write_str("resolve target"),
            Client::Depth => f.write_str("depth buffer"),
        }
    }
}
