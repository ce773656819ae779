// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The state of the watchdog between two looks. [`crate::worker`] does the looking.

use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Mutex, //
    },
    time::{
        Instant,
        Monotonic, //
    }, //
};

use crate::lock::shared_mutex;

/// The state of one ring between two looks.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    /// Since when the ring has made no progress.
    pub(crate) since: Instant<Monotonic>,
    /// Jobs done at that time; `None` if the ring was idle.
    pub(crate) at: Option<u64>,
    /// Number of jobs done when a completed fence that the interrupt should signal was first seen, and the time of
    /// that.
    pub(crate) sighted: Option<(u64, Instant<Monotonic>)>,
}

/// The watchdog of one device.
#[pin_data]
pub(crate) struct Watchdog {
    #[pin]
    pub(crate) watches: Mutex<KVec<Watch>>,
    /// Interrupts are lost. Cleared when one arrives.
    pub(crate) lost: Atomic<bool>,
    /// Reports are lost. Cleared when one arrives.
    pub(crate) unreported: Atomic<bool>,
    /// The loss of reports has been logged.
    pub(crate) told: Atomic<bool>,
    /// Rings of which the chip reports a hang, one bit each.
    pub(crate) hung: Atomic<u32>,
}

impl Watchdog {
    /// Make the watchdog for `rings` rings.
    pub(crate) fn new(rings: usize) -> Result<impl PinInit<Self>> {
        let mut watches = KVec::new();
        for _ in 0..rings {
            let watch = Watch {
                since: Instant::now(),
                at: None,
                sighted: None,
            };
            watches.push(watch, GFP_KERNEL)?;
        }
        Ok(pin_init!(Self {
            watches <- shared_mutex!(watches, "watchdog.watches"),
            lost: Atomic::new(false),
            unreported: Atomic::new(false),
            told: Atomic::new(false),
            hung: Atomic::new(0),
        }))
    }

    /// Note that an interrupt has led to a fence.
    pub(crate) fn interrupted(&self) {
        self.lost.store(false, Relaxed);
    }

    /// Note that the chip reports a hang of ring `index`.
    pub(crate) fn accuse(&self, index: usize) {
        let bit = 1u32.checked_shl(index as u32).unwrap_or(0);
        let mut old = self.hung.load(Relaxed);
        while let Err(now) = self.hung.cmpxchg(old, old | bit, Relaxed) {
            old = now;
        }
    }

    /// Start again for all rings.
    pub(crate) fn restart(&self) {
        self.hung.store(0, Relaxed);
        for watch in self.watches.lock().iter_mut() {
            watch.at = None;
            watch.sighted = None;
        }
    }
}
