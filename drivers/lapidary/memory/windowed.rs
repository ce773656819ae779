// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses in the GTT window: whether an object has any, and how many jobs use them.
//!
//! A job that finds its object in the window takes no lock. The state counts its use, and only addresses without uses
//! are taken away. Addresses are given and taken under the window's lock ([`super::gtt`]).

use kernel::sync::atomic::{
    Acquire,
    Atomic,
    Relaxed,
    Release, //
};

use crate::family::space::GpuAddr;

/// Bit of the state: there are addresses.
const PLACED: u64 = 1 << 63;

/// The addresses of one object in the window.
pub(crate) struct Windowed {
    /// [`PLACED`] while there are addresses, and how many jobs use them.
    state: Atomic<u64>,
    /// The first address, while there are any.
    addr: Atomic<GpuAddr>,
    /// When the addresses were last used.
    used: Atomic<u64>,
    /// Bytes, whole pages.
    pub(crate) size: u64,
    /// Alignment of the address.
    pub(crate) align: u64,
}

impl Windowed {
    /// Make an object without addresses for `size` bytes. The first address is going to be a multiple of `align`.
    pub(crate) fn new(size: u64, align: u64) -> Self {
        Self {
            state: Atomic::new(0),
            addr: Atomic::new(0),
            used: Atomic::new(0),
            size,
            align,
        }
    }

    /// Return the first address, while there are any.
    pub(crate) fn addr(&self) -> GpuAddr {
        self.addr.load(Relaxed)
    }

    /// Return whether there are addresses at the moment.
    pub(crate) fn is_placed(&self) -> bool {
        self.state.load(Relaxed) & PLACED != 0
    }

    /// End one use that [`place`](super::gtt::place) began.
    pub(crate) fn leave(&self) {
        self.state.fetch_sub(1, Release);
    }

    /// Return the address with one more user, if there is one.
    pub(crate) fn again(&self, now: u64) -> Option<GpuAddr> {
        let mut old = self.state.load(Relaxed);
        while old & PLACED != 0 {
            match self.state.cmpxchg(old, old + 1, Acquire) {
                Ok(_) => {
                    self.used.store(now, Relaxed);
                    return Some(self.addr.load(Relaxed));
                }
                Err(other) => old = other,
            }
        }
        None
    }

    /// Set the address to `addr`, with one user.
    pub(crate) fn begin(&self, addr: GpuAddr, now: u64) {
        self.addr.store(addr, Relaxed);
        self.used.store(now, Relaxed);
        self.state.fetch_add(PLACED + 1, Release);
    }

    /// Return when the addresses were last used, if there are any that no job uses.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        (self.state.load(Relaxed) == PLACED).then(|| self.used.load(Relaxed))
    }

    /// End the use of the addresses by further jobs, if no job uses them now. Return whether that is so.
    pub(crate) fn end_if_idle(&self) -> bool {
        self.state.cmpxchg(PLACED, 0, Acquire).is_ok()
    }

    /// End the use of the addresses by further jobs. There are some.
    pub(crate) fn end(&self) {
        self.state.fetch_sub(PLACED, Acquire);
    }
}
