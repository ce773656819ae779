// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the watchdog remembers from one look to the next. It looks in [`crate::worker`].

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

/// What is remembered about a ring from one look to the next.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    /// Since when the ring is where it is.
    pub(crate) since: Instant<Monotonic>,
    /// Jobs done at that time; `None` if the ring was idle.
    pub(crate) at: Option<u64>,
    /// A completed fence that the interrupt should signal was first seen with this number of jobs done.
    pub(crate) sighted: Option<(u64, Instant<Monotonic>)>,
}

/// The watchdog of one device.
#[pin_data]
pub(crate) struct Watchdog {
    #[pin]
    pub(crate) watches: Mutex<KVec<Watch>>,
    /// Interrupts get lost; until one arrives again.
    pub(crate) lost: Atomic<bool>,
    /// Reports get lost; until one arrives again.
    pub(crate) unreported: Atomic<bool>,
    /// That has been said.
    pub(crate) told: Atomic<bool>,
    /// Rings that hang, as the chip says: a bit each.
    pub(crate) hung: Atomic<u32>,
}

impl Watchdog {
    /// For so many rings.
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

    /// An interrupt has led to a fence.
    pub(crate) fn interrupted(&self) {
        self.lost.store(false, Relaxed);
    }

    /// The chip says that ring `index` hangs.
    pub(crate) fn accuse(&self, index: usize) {
        let bit = 1u32.checked_shl(index as u32).unwrap_or(0);
        let mut old = self.hung.load(Relaxed);
        while let Err(now) = self.hung.cmpxchg(old, old | bit, Relaxed) {
            old = now;
        }
    }

    /// All rings begin anew.
    pub(crate) fn restart(&self) {
        self.hung.store(0, Relaxed);
        for watch in self.watches.lock().iter_mut() {
            watch.at = None;
            watch.sighted = None;
        }
    }
}
