// SPDX-License-Identifier: GPL-2.0 OR MIT

//! On-chip memories that only one client can use at a time.
//!
//! Hierarchical Z and the colour mask are RAM inside the chip that is not divided between clients. A client asks for
//! one of them with INFO, and keeps it until it gives it back or closes its file.
//!
//! The ring removes what the last owner has left there before the next owner may use it ([`Owners::acquire`]). It
//! does this once for each change of the owner, behind the last job of the old owner and before the first job of the
//! new one. No thread waits for it. If the clear fails, the memory has no owner any more ([`Owners::lose`]).

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use crate::portable::replay::Memories;

/// A memory that can be owned.
#[derive(Clone, Copy)]
pub enum Resource {
    /// Hierarchical Z and Z mask memory.
    HyperZ,
    /// Colour mask memory.
    Cmask,
}

impl Resource {
    const ALL: [Self; 2] = [Self::HyperZ, Self::Cmask];

    /// Return the memory as a set of numbers.
    pub(super) const fn memories(self) -> Memories {
        Memories::one(self as u32)
    }
}

/// The number that stands for no owner.
const NOBODY: u64 = 0;
/// Set beside a client's id. The client becomes the owner when the clear is on the ring.
const CLAIM: u64 = 1 << 63;

/// Identifies a client.
pub struct Client {
    id: u64,
}

/// The owners of the memories of one device.
pub struct Owners {
    hyperz: Atomic<u64>,
    cmask: Atomic<u64>,
    /// The id that was given last.
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

    /// Make a new client, which owns nothing.
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

    /// Give `resource` to `client`, unless it has an owner or is claimed. `clear` puts the job on the ring that
    /// removes what the last owner has left. It calls its argument when no other job can be put before that job any
    /// more. From then on `client` is the owner.
    ///
    /// # Errors
    ///
    /// Those of `clear`. The resource then has no owner.
    pub(super) fn acquire(
        &self,
        resource: Resource,
        client: &Client,
        clear: impl FnOnce(&dyn Fn()) -> Result,
    ) -> Result {
        let slot = self.slot(resource);
        let claim = client.id | CLAIM;
        if slot.cmpxchg(NOBODY, claim, Relaxed).is_err() {
            return Ok(());
        }
        // Only this thread changes the claim.
        let result = clear(&|| slot.store(client.id, Relaxed));
        if result.is_err() {
            slot.store(NOBODY, Relaxed);
        }
        result
    }

    /// Take `resource` from `client` if the client owns it.
    pub(super) fn release(&self, resource: Resource, client: &Client) {
        // A resource that another client owns is not changed.
        let _ = self.slot(resource).cmpxchg(client.id, NOBODY, Relaxed);
    }

    /// Take these memories from their owners, because their clear has failed. A client that only has a claim is not
    /// affected: it is going to have them cleared.
    pub(super) fn lose(&self, memories: Memories) {
        for resource in Resource::ALL {
            let slot = self.slot(resource);
            let owner = slot.load(Relaxed);
            if resource.memories().meets(memories) && owner & CLAIM == 0 {
                // The owner may have given it back meanwhile.
                let _ = slot.cmpxchg(owner, NOBODY, Relaxed);
            }
        }
    }

    /// Return whether `client` owns `resource`.
    pub(super) fn owns(&self, resource: Resource, client: &Client) -> bool {
        self.slot(resource).load(Relaxed) == client.id
    }
}

#[kunit_tests(lapidary_owners)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// Ask for a resource, with a clear that succeeds.
    fn ask(owners: &Owners, resource: Resource, client: &Client) -> bool {
        let cleared = |publish: &dyn Fn()| {
            assert!(!owners.owns(resource, client), "it is the owner too early");
            publish();
            Ok(())
        };
        assert!(owners.acquire(resource, client, cleared).is_ok());
        owners.owns(resource, client)
    }

    #[test]
    fn one_at_a_time() {
        for (resource, other) in [
            (Resource::HyperZ, Resource::Cmask),
            (Resource::Cmask, Resource::HyperZ),
        ] {
            let owners = Owners::new();
            let (a, b) = (owners.client(), owners.client());
            assert!(ask(&owners, resource, &a));
            assert!(!ask(&owners, resource, &b));
            assert!(owners.owns(resource, &a));
            assert!(!owners.owns(other, &a));
            // The other memory can have another owner.
            assert!(ask(&owners, other, &b));
            assert!(owners.owns(resource, &a) && !owners.owns(other, &a));
            owners.release(resource, &b);
            assert!(owners.owns(resource, &a));
            owners.release(resource, &a);
            assert!(ask(&owners, resource, &b));
        }
    }

    #[test]
    fn it_is_cleared_at_each_change() -> Result {
        let owners = Owners::new();
        let (a, b) = (owners.client(), owners.client());
        let clears = Cell::new(0);
        let ask = |client| {
            owners.acquire(Resource::Cmask, client, |publish| {
                clears.set(clears.get() + 1);
                publish();
                Ok(())
            })
        };
        ask(&a)?;
        ask(&a)?;
        ask(&b)?;
        assert_eq!(clears.get(), 1);
        owners.release(Resource::Cmask, &a);
        ask(&b)?;
        assert_eq!(clears.get(), 2);
        Ok(())
    }

    #[test]
    fn without_a_clear_there_is_no_owner() {
        let owners = Owners::new();
        let (a, b) = (owners.client(), owners.client());
        let refused = owners.acquire(Resource::HyperZ, &a, |_| {
            // While the clear is under way, no other client can acquire it.
            assert!(!ask(&owners, Resource::HyperZ, &b));
            owners.lose(Resource::HyperZ.memories());
            assert!(!ask(&owners, Resource::HyperZ, &b));
            Err(EBUSY)
        });
        assert_eq!(refused, Err(EBUSY));
        assert!(!owners.owns(Resource::HyperZ, &a));
        assert!(ask(&owners, Resource::HyperZ, &b));
        // A clear that fails later takes the memory away again.
        assert!(ask(&owners, Resource::Cmask, &a));
        owners.lose(Resource::HyperZ.memories());
        assert!(!owners.owns(Resource::HyperZ, &b));
        assert!(owners.owns(Resource::Cmask, &a));
        assert!(ask(&owners, Resource::HyperZ, &a));
    }
}
