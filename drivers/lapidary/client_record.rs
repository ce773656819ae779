// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The record of an open file: what the driver keeps about a client's work.
//!
//! Jobs outlive the ioctls that make them. A client may have closed its file when its job turns out to hang the GPU.
//! So the record is a counted object, to which the file and each of its jobs hold a reference. The kernel's own jobs
//! have no record.
//!
//! There is no order between accesses to counters and flags. Only the record of refusals has a lock, because jobs do
//! not use it.

use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        SpinLock, //
    },
};

use crate::{
    corner::wedge::Task,
    family::isolation::Refusal,
    lock::shared_spinlock, //
};

/// Refusals of one client's submissions.
#[derive(Clone, Copy)]
pub struct Refusals {
    /// The number of refusals.
    pub count: u64,
    /// The last refusal, and the error that was returned for it.
    pub last: Option<(Refusal, Error)>,
}

/// The record of one client.
#[pin_data]
pub struct ClientRecord {
    /// Resets that a job of this client has caused.
    guilty: Atomic<u32>,
    /// Resets that interrupted jobs of this client.
    innocent: Atomic<u32>,
    /// The client's commands are refused.
    banned: Atomic<bool>,
    /// The last reset that is counted in `innocent`.
    last: Atomic<u32>,
    /// The process that opened the file.
    task: Task,
    /// For how long the ring has worked for the client, in nanoseconds.
    engine: Atomic<u64>,
    #[pin]
    refusals: SpinLock<Refusals>,
}

impl ClientRecord {
    /// Make the record of a client that has done nothing yet, for the process that runs at the moment.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new() -> Result<Arc<Self>> {
        let record = pin_init!(Self {
            guilty: Atomic::new(0),
            innocent: Atomic::new(0),
            banned: Atomic::new(false),
            last: Atomic::new(0),
            task: Task::current(),
            engine: Atomic::new(0),
            refusals <- shared_spinlock!(
                Refusals {
                    count: 0,
                    last: None,
                },
                "record.refusals",
            ),
        });
        Arc::pin_init(record, GFP_KERNEL)
    }

    /// Return the number of resets that a job of this client has caused.
    pub fn guilty(&self) -> u32 {
        self.guilty.load(Relaxed)
    }

    /// Return the number of resets that interrupted jobs of this client, which were executed again.
    pub fn innocent(&self) -> u32 {
        self.innocent.load(Relaxed)
    }

    /// Return whether the client's commands are refused, with `ECANCELED`, because one of its jobs has hung the GPU.
    pub fn is_banned(&self) -> bool {
        self.banned.load(Relaxed)
    }

    /// Note that a job of this client has hung the GPU. Count it for the client, and refuse the client from here on.
    pub(crate) fn convict(&self) {
        self.guilty.add(1, Relaxed);
        self.banned.store(true, Relaxed);
    }

    /// Note that reset number `reset`, which is not 0, interrupted a job of this client. The job is executed again,
    /// or fails because of another client. Each reset counts once. Not concurrent with itself.
    pub(crate) fn disturb(&self, reset: u32) {
        if self.last.load(Relaxed) != reset {
            self.last.store(reset, Relaxed);
            self.innocent.add(1, Relaxed);
        }
    }

    /// Return the process that opened the file.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Return for how long the ring has worked for this client, in nanoseconds. Only finished jobs count.
    /// [`crate::portable::busy`] describes how this is measured.
    pub fn engine(&self) -> u64 {
        self.engine.load(Relaxed)
    }

    /// Count the time of a job of this client that is done. Any context.
    pub(crate) fn ran(&self, nanoseconds: u64) {
        self.engine.add(nanoseconds, Relaxed);
    }

    /// Record that a submission is refused with `error`.
    pub fn refuse(&self, refusal: Refusal, error: Error) {
        let mut refusals = self.refusals.lock();
        refusals.count += 1;
        refusals.last = Some((refusal, error));
    }

    /// Return the submissions that have been refused.
    pub fn refusals(&self) -> Refusals {
        *self.refusals.lock()
    }
}

#[kunit_tests(lapidary_context)]
mod tests {
    use super::*;

    #[test]
    fn only_the_guilty_is_refused() -> Result {
        let (a, b) = (ClientRecord::new()?, ClientRecord::new()?);
        a.convict();
        b.disturb(1);
        b.disturb(1);
        assert!(a.is_banned() && a.guilty() == 1 && a.innocent() == 0);
        assert!(!b.is_banned() && b.guilty() == 0 && b.innocent() == 1);
        b.disturb(2);
        assert!(b.innocent() == 2);
        Ok(())
    }

    #[test]
    fn the_last_refusal_counts() -> Result {
        let record = ClientRecord::new()?;
        assert!(record.refusals().count == 0 && record.refusals().last.is_none());
        for position in 0..3 {
            let refusal = Refusal {
                position,
                number: 7,
                reason: "no",
            };
            record.refuse(refusal, EINVAL);
        }
        let refusals = record.refusals();
        let (refusal, error) = refusals.last.ok_or(EIO)?;
        assert!(refusals.count == 3 && refusal.position == 2 && error == EINVAL);
        Ok(())
    }
}
