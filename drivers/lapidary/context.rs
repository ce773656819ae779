// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the driver remembers about a client's work: the context of an open file.
//!
//! Jobs outlive the ioctls that make them, and a client may be gone when its job turns out to hang the GPU. So what a
//! job has to say about its client goes to a counted object that the file and each of its jobs hold. The kernel's own
//! jobs have none.
//!
//! All of it is counters and flags without any order between them; nothing here takes a lock.

use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

/// The context of one client.
pub struct Context {
    /// Resets that a job of this client has caused.
    guilty: Atomic<u32>,
    /// Resets that interrupted jobs of this client, which were executed again.
    innocent: Atomic<u32>,
    /// The client's commands are not taken any more.
    banned: Atomic<bool>,
}

impl Context {
    /// A client that has done nothing yet.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new() -> Result<Arc<Self>> {
        let context = Self {
            guilty: Atomic::new(0),
            innocent: Atomic::new(0),
            banned: Atomic::new(false),
        };
        Ok(Arc::new(context, GFP_KERNEL)?)
    }

    /// Resets that a job of this client has caused.
    pub fn guilty(&self) -> u32 {
        self.guilty.load(Relaxed)
    }

    /// Resets that interrupted jobs of this client, which were executed again.
    pub fn innocent(&self) -> u32 {
        self.innocent.load(Relaxed)
    }

    /// Whether the client's commands are refused, with `ECANCELED`: one of its jobs has hung the GPU.
    pub fn is_banned(&self) -> bool {
        self.banned.load(Relaxed)
    }

    /// A job of this client has hung the GPU: the client is told by the counter, and refused from now on.
    pub(crate) fn convict(&self) {
        self.guilty.add(1, Relaxed);
        self.banned.store(true, Relaxed);
    }

    /// A job of this client was interrupted by a reset, and is executed again.
    pub(crate) fn disturb(&self) {
        self.innocent.add(1, Relaxed);
    }
}

#[kunit_tests(lapidary_context)]
mod tests {
    use super::*;

    #[test]
    fn only_the_guilty_is_refused() -> Result {
        let (a, b) = (Context::new()?, Context::new()?);
        a.convict();
        b.disturb();
        assert!(a.is_banned() && a.guilty() == 1 && a.innocent() == 0);
        assert!(!b.is_banned() && b.guilty() == 0 && b.innocent() == 1);
        Ok(())
    }
}
