// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The units of the chip that access memory.

/// Which unit makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The CPU, through BAR0.
    Host,
    /// The fetcher of streams.
    Fetch,
    /// The command regulator, which writes fences.
    Regulator,
    /// The 2D engine.
    Engine2d,
    /// The 3D engine, which writes counts of pixels.
    Engine3d,
}

impl Unit {
    /// Return whether what it touches is chosen by command streams, and so has to lie in the objects that a test
    /// declared.
    pub fn is_engine(self) -> bool {
        match self {
            Unit::Host | Unit::Fetch | Unit::Regulator => false,
            Unit::Engine2d | Unit::Engine3d => true,
        }
    }
}
