// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Who touches memory, as the journal of accesses names it ([`lapidary_model::journal`]).

use std::fmt;

use lapidary_model::journal;

use crate::engine3d::area::Client;
use crate::unit::Unit;

/// What a unit has touched.
pub type Touch = journal::Touch<Who>;
/// The journal.
pub type Journal = journal::Journal<Who>;

/// A unit that goes to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A unit, byte by byte.
    Unit(Unit),
    /// A unit of the 3D engine, by the footprint of a draw.
    Client(Client),
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Unit(unit) => write!(f, "{unit}"),
            By::Client(client) => write!(f, "{client}"),
        }
    }
}

/// The unit that has touched something, and for which packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The unit.
    pub by: By,
    /// The packet, by the position of its header in its first-level indirect buffer, in dwords. None for what no such packet
    /// has caused, and in a journal that puts packets together.
    pub packet: Option<u32>,
}

/// How fine the journal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Packets are put together.
    #[default]
    Stream,
    /// Each packet has entries of its own.
    Packet,
}
