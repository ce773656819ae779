// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a unit of the 3D engine may touch in a draw, or HQV in a picture: which unit, how, in which memory, and the runs of
//! bytes.

use std::fmt;

use lapidary_model::area::Area;
use lapidary_model::runs::Runs;
use lapidary_registers::chrome9::enums::location_3d;

use crate::hqv;

/// A unit that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// A render target.
    Target(u8),
    /// Buffer of Z or W.
    Depth,
    /// Stencil buffer of its own.
    Stencil,
    /// Buffer of coarse Z.
    CoarseZ,
    /// A texture.
    Texture(u8),
    /// Vertices that come by index.
    Vertices,
    /// Count of the pixels that have passed.
    Occlusion,
    /// A surface of HQV, by the engine.
    Hqv(u32, hqv::Surface),
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Target(n) => write!(f, "render target {n}"),
            Client::Depth => f.write_str("depth"),
            Client::Stencil => f.write_str("stencil"),
            Client::CoarseZ => f.write_str("coarse Z"),
            Client::Texture(n) => write!(f, "texture {n}"),
            Client::Vertices => f.write_str("vertices"),
            Client::Occlusion => f.write_str("occlusion count"),
            Client::Hqv(n, surface) => write!(f, "HQV {n} {surface}"),
        }
    }
}

/// What a unit may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Which bytes.
    pub area: Area<Client>,
    /// Memory that they are in.
    pub location: u32,
    /// What it is, for people.
    pub what: String,
}

impl Footprint {
    /// Return what a unit may read.
    pub fn read(client: Client, location: u32, runs: Runs, what: String) -> Footprint {
        Footprint {
            area: Area {
                client,
                read: true,
                write: false,
                runs,
            },
            location,
            what,
        }
    }

    /// Return what a unit may write, and may read if `read`.
    pub fn written(
        client: Client,
        read: bool,
        location: u32,
        runs: Runs,
        what: String,
    ) -> Footprint {
        Footprint {
            area: Area {
                client,
                read,
                write: true,
                runs,
            },
            location,
            what,
        }
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = match self.location {
            location_3d::SYSTEM_LOCAL => "the frame buffer",
            location_3d::SYSTEM_DYNAMIC => "the GART",
            _ => "reserved memory",
        };
        write!(f, "{} of {memory}: {}", self.area, self.what)
    }
}
