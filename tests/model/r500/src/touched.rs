// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Who touches memory, as the journal of accesses names it ([`lapidary_model::journal`]).

use std::fmt;

use super::engine3d::area::Client;
use crate::unit::Unit;
use lapidary_model::journal;

/// What a unit has touched.
pub type Touch = journal::Touch<Who>;
/// The journal of an R5xx.
pub type Journal = journal::Journal<Who>;

/// The unit that has touched something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A unit, byte by byte.
    Unit(Unit),
    /// A unit of the 3D engine, by the footprint of a draw.
    Client(Client),
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Unit(unit) => write!(f, "{unit:?}"),
            Who::Client(client) => write!(f, "{client}"),
        }
    }
}
