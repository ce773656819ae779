// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The units of the 3D engine that go to memory, and what they may touch in a draw ([`lapidary_model::area`]).
//!
//! Addresses do not wrap at 40 bits: what reaches beyond is found to hit nothing.

use std::fmt;

use lapidary_model::area;

/// What one unit may do in a draw.
pub type Area = area::Area<Client>;

/// A kind of shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Pixel shader.
    Ps,
    /// Vertex shader; with a geometry shader, the one that reads what that has made.
    Vs,
    /// Geometry shader.
    Gs,
    /// Export shader: the vertex shader before a geometry shader.
    Es,
    /// Fetch shader, a subroutine of the vertex or the export shader.
    Fs,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Ps => "pixel shader",
            Stage::Vs => "vertex shader",
            Stage::Gs => "geometry shader",
            Stage::Es => "export shader",
            Stage::Fs => "fetch shader",
        })
    }
}

/// A ring of the shader core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ring {
    /// From the export to the geometry shader.
    Esgs,
    /// From the geometry to the vertex shader.
    Gsvs,
    /// Scratch memory of a stage.
    Scratch(Stage),
    /// The F buffer.
    Fbuf,
    /// The reduction buffer.
    Reduction,
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ring::Esgs => f.write_str("ES to GS ring"),
            Ring::Gsvs => f.write_str("GS to VS ring"),
            Ring::Scratch(stage) => write!(f, "scratch memory of the {stage}"),
            Ring::Fbuf => f.write_str("F buffer"),
            Ring::Reduction => f.write_str("reduction buffer"),
        }
    }
}

/// A unit of the 3D engine that goes to memory, with the number of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// The vertex grouper, fetching indices.
    Index,
    /// Instruction fetch.
    Program(Stage),
    /// Constant cache of a stage, of that buffer.
    Constants(Stage, u8),
    /// Vertex or texture fetch from a buffer, by its slot.
    Buffer(u16),
    /// Texture fetch, by its slot.
    Texture(u16),
    /// Colour backend, of that target.
    Color(u8),
    /// The target's CMASK.
    Cmask(u8),
    /// The target's FMASK.
    Fmask(u8),
    /// Depth and stencil.
    Depth,
    /// HTILE data.
    Htile,
    /// Stream-out, of that buffer.
    StreamOut(u8),
    /// A ring.
    Ring(Ring),
    /// Memory export.
    Export,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Index => f.write_str("index fetch"),
            Client::Program(stage) => write!(f, "{stage}'s program"),
            Client::Constants(stage, n) => write!(f, "{stage}'s constants {n}"),
            Client::Buffer(n) => write!(f, "buffer resource {n}"),
            Client::Texture(n) => write!(f, "texture resource {n}"),
            Client::Color(n) => write!(f, "colour target {n}"),
            Client::Cmask(n) => write!(f, "CMASK of target {n}"),
            Client::Fmask(n) => write!(f, "FMASK of target {n}"),
            Client::Depth => f.write_str("depth target"),
            Client::Htile => f.write_str("HTILE data"),
            Client::StreamOut(n) => write!(f, "stream-out buffer {n}"),
            Client::Ring(ring) => write!(f, "{ring}"),
            Client::Export => f.write_str("memory export"),
        }
    }
}
