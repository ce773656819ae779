// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where memory is, for the engines.
//!
//! An address has 32 bits and a location: the frame buffer, or system pages behind the GART (L583-590). Both begin at 0. The
//! generic driver knows one space of addresses. In it the frame buffer begins at 0, and the GART's addresses at [`GART`].

use super::emit::Location;

/// Where the GART's addresses begin in the space of the generic driver.
pub const GART: u64 = 1 << 32;

/// A place in memory, as registers and parameters name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which memory.
    pub location: Location,
    /// Byte in it.
    pub address: u32,
}

impl Place {
    /// Return the place that the generic driver calls `address`. `None` if there is no such place.
    pub const fn of(address: u64) -> Option<Self> {
        let (location, address) = match address.checked_sub(GART) {
            None => (Location::FrameBuffer, address),
            Some(address) => (Location::Gart, address),
        };
        if address > u32::MAX as u64 {
            return None;
        }
        // No bits are lost, as has been seen.
        Some(Self {
            location,
            address: address as u32,
        })
    }

    /// Return the place `offset` bytes behind this one. `None` if it has more than 32 bits.
    pub const fn behind(self, offset: u32) -> Option<Self> {
        match self.address.checked_add(offset) {
            Some(address) => Some(Self {
                location: self.location,
                address,
            }),
            None => None,
        }
    }
}
