// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the interface stores with an object for the clients that share it: the tiling, and the requested domains.
//!
//! User space chooses these numbers, which may have any value. There is no order between accesses to them.

use core::fmt;

use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};

use crate::family::surfaces::Arrangement;

/// What clients have stored with an object.
pub struct Note {
    /// Flags in the low half, pitch in the high half.
    tiling: Atomic<u64>,
    initial_domains: Atomic<u32>,
}

impl Default for Note {
    fn default() -> Self {
        Self {
            tiling: Atomic::new(0),
            initial_domains: Atomic::new(0),
        }
    }
}

impl Note {
    /// Return tiling flags, and the pitch in bytes.
    #[inline]
    pub fn tiling(&self) -> (u32, u32) {
        let both = self.tiling.load(Relaxed);
        (both as u32, (both >> 32) as u32)
    }

    /// Store what [`Note::tiling`] returns. Return whether that is a change. The caller holds the object's
    /// reservation.
    pub fn set_tiling(&self, flags: u32, pitch: u32) -> bool {
        let both = u64::from(flags) | u64::from(pitch) << 32;
        self.tiling.xchg(both, Relaxed) != both
    }

    /// Return the domains that the object was made with, or that were set since.
    pub(super) fn initial_domains(&self) -> u32 {
        self.initial_domains.load(Relaxed)
    }

    /// Store what [`Note::initial_domains`] returns.
    pub(super) fn set_initial_domains(&self, domains: u32) {
        self.initial_domains.store(domains, Relaxed);
    }

    /// Return the tiling, if there is any.
    pub(super) fn arrangement(&self) -> Option<Arrangement> {
        let (flags, pitch) = self.tiling();
        (flags != 0).then_some(Arrangement { flags, pitch })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flags, pitch) = self.tiling();
        write!(f, "tiling {flags:#x} pitch {pitch}")
    }
}
