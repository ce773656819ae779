// SPDX-License-Identifier: GPL-2.0 OR MIT

//! On-chip memories that only one client can use at a time.
//!
//! Hierarchical Z and the colour mask are RAM inside the chip without any division between clients. A client asks for
//! them with INFO and keeps them until it gives them back or closes its file.

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

/// What can be owned.
#[derive(Clone, Copy)]
pub enum Resource {
    /// Hierarchical Z and Z mask memory.
    HyperZ,
    /// Colour mask memory.
    Cmask,
}

/// Nobody.
const NOBODY: u64 = 0;

/// Who a client is.
pub struct Client {
    id: u64,
}

/// Who owns what on one device.
pub struct Owners {
    hyperz: Atomic<u64>,
    cmask: Atomic<u64>,
    /// The last client's id.
    last: Atomic<u64>,
}

impl Owners {
    pub(super) fn new() -> Self {
        Self {
            hyperz: Atomic::new(NOBODY),
            cmask: Atomic::new(NOBODY),
            last: Atomic::new(NOBODY),
        }
    }

    /// A new client, which owns nothing.
    pub(super) fn client(&self) -> Client {
        Client {
            id: self.last.fetch_add(1, Relaxed) + 1,
        }
    }

    fn slot(&self, resource: Resource) -> &Atomic<u64> {
        match resource {
            Resource::HyperZ => &self.hyperz,
            Resource::Cmask => &self.cmask,
        }
    }

    /// Gives `resource` to `client` if nobody has it.
    pub(super) fn acquire(&self, resource: Resource, client: &Client) {
        // If somebody has it, it stays his.
        let _ = self.slot(resource).cmpxchg(NOBODY, client.id, Relaxed);
    }

    /// Takes `resource` from `client` if it has it.
    pub(super) fn release(&self, resource: Resource, client: &Client) {
        // If somebody else has it, it stays his.
        let _ = self.slot(resource).cmpxchg(client.id, NOBODY, Relaxed);
    }

    /// Whether `client` has `resource`.
    pub(super) fn owns(&self, resource: Resource, client: &Client) -> bool {
        self.slot(resource).load(Relaxed) == client.id
    }
}

#[kunit_tests(lapidary_owners)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let owners = Owners::new();
        let (a, b) = (owners.client(), owners.client());
        owners.acquire(Resource::HyperZ, &a);
        owners.acquire(Resource::HyperZ, &b);
        assert!(owners.owns(Resource::HyperZ, &a));
        assert!(!owners.owns(Resource::HyperZ, &b));
        assert!(!owners.owns(Resource::Cmask, &a));
        owners.release(Resource::HyperZ, &b);
        assert!(owners.owns(Resource::HyperZ, &a));
        owners.release(Resource::HyperZ, &a);
        owners.acquire(Resource::HyperZ, &b);
        assert!(owners.owns(Resource::HyperZ, &b));
    }
}
