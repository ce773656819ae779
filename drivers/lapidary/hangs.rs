// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The processes that have hung this GPU, and which processes are refused. [`crate::portable::hangs`] contains the
//! rule.
//!
//! A file that has hung the GPU is refused from then on ([`crate::client_record`]). This file is about the process,
//! which can open the device again. A hang counts for the process that submits, not for the process that has opened
//! the file, because a display server opens files for its clients.
//!
//! The log belongs to the device, and each probe starts with an empty one. While it is empty, a submission pays one
//! load for it.

use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        SpinLockIrq, //
    }, //
};

use crate::{
    corner::wedge,
    lock::shared_spinlock_irq,
    portable::hangs::{
        Hang,
        Log,
        Process,
        KEPT, //
    },
};

/// Memory for the log.
struct Places(KVec<Option<Hang>>);

impl AsRef<[Option<Hang>]> for Places {
    fn as_ref(&self) -> &[Option<Hang>] {
        &self.0
    }
}

impl AsMut<[Option<Hang>]> for Places {
    fn as_mut(&mut self) -> &mut [Option<Hang>] {
        &mut self.0
    }
}

/// The hangs of one device.
///
/// Locking: an inner lock with interrupts off, because it is taken under the lock of a timeline's state.
#[pin_data]
pub struct Hangs {
    /// The log may contain hangs that count.
    any: Atomic<bool>,
    #[pin]
    log: SpinLockIrq<Log<Places>>,
}

impl Hangs {
    /// Make an empty log.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new() -> Result<Arc<Self>> {
        let mut places = KVec::new();
        places.resize(KEPT, None, GFP_KERNEL)?;
        let hangs = pin_init!(Self {
            any: Atomic::new(false),
            log <- shared_spinlock_irq!(Log::new(Places(places)), "hangs.log"),
        });
        Arc::pin_init(hangs, GFP_KERNEL)
    }

    /// Record that a job that `by` submitted has hung the GPU. Any context.
    pub(crate) fn record(&self, by: Process) {
        self.log.lock().record(wedge::now(), by);
        self.any.store(true, Relaxed);
    }

    /// Return whether jobs that `who` submits are refused. Any context.
    pub(crate) fn refuses(&self, who: &Process) -> bool {
        if !self.any.load(Relaxed) {
            return false;
        }
        let log = self.log.lock();
        let now = wedge::now();
        if log.is_quiet(now) {
            self.any.store(false, Relaxed);
            return false;
        }
        log.refuses(now, who)
    }

    /// Return whether jobs of the process that runs at the moment are refused.
    pub fn refuses_current(&self) -> bool {
        self.any.load(Relaxed) && self.refuses(&wedge::process())
    }
}

#[kunit_tests(lapidary_hangs)]
mod tests {
    use super::*;
    use crate::portable::hangs::OF_PROCESS;

    #[test]
    fn who_hangs_too_often_is_refused_and_nobody_else() -> Result {
        let hangs = Hangs::new()?;
        let (who, other) = (wedge::process(), Process::default());
        for _ in 0..OF_PROCESS {
            assert!(!hangs.refuses(&who) && !hangs.refuses_current());
            hangs.record(who);
        }
        assert!(hangs.refuses(&who) && hangs.refuses_current());
        assert!(!hangs.refuses(&other));
        Ok(())
    }
}
