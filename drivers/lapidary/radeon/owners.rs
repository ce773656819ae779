// SPDX-License-Identifier: GPL-2.0 OR MIT

//! On-chip memories that only one client can use at a time.
//!
//! Hierarchical Z and the colour mask are RAM inside the chip without any division between clients. A client asks for
//! them with INFO and keeps them until it gives them back or closes its file.
//!
//! What the last owner has left there the ring removes before the next one may use it ([`Owners::acquire`]): once for
//! each change of the owner, behind the last job of the one and before the first of the next. Nobody waits for it. If the
//! clear fails nobody is the owner any more ([`Owners::lose`]).

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use crate::portable::replay::Memories;

/// What can be owned.
#[derive(Clone, Copy)]
pub enum Resource {
    /// Hierarchical Z and Z mask memory.
    HyperZ,
    /// Colour mask memory.
    Cmask,
}

impl Resource {
    const ALL: [Self; 2] = [Self::HyperZ, Self::Cmask];

    /// The memory, for those who know it by number.
    pub(super) const fn memories(self) -> Memories {
        Memories::one(self as u32)
    }
}

/// Nobody.
const NOBODY: u64 = 0;
/// With a client's id: it will be the owner when the clear is on the ring.
const CLAIM: u64 = 1 << 63;

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

    /// Gives `resource` to `client` if nobody has it, or is about to. `clear` puts the job on the ring that removes what
    /// the last owner has left, and calls its argument when no other job can come before that one any more; from then
    /// on `client` is the owner.
    ///
    /// # Errors
    ///
    /// Those of `clear`: then nobody has it.
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
        // Nobody else changes a claim.
        let result = clear(&|| slot.store(client.id, Relaxed));
        if result.is_err() {
            slot.store(NOBODY, Relaxed);
        }
        result
    }

    /// Takes `resource` from `client` if it has it.
    pub(super) fn release(&self, resource: Resource, client: &Client) {
        // If somebody else has it, it stays his.
        let _ = self.slot(resource).cmpxchg(client.id, NOBODY, Relaxed);
    }

    /// The clear of these memories has failed: takes them from whoever has them. A client that only has a claim is going
    /// to have them cleared.
    pub(super) fn lose(&self, memories: Memories) {
        for resource in Resource::ALL {
            let slot = self.slot(resource);
            let owner = slot.load(Relaxed);
            if resource.memories().meets(memories) && owner & CLAIM == 0 {
                // If it has been given back meanwhile, so be it.
                let _ = slot.cmpxchg(owner, NOBODY, Relaxed);
            }
        }
    }

    /// Whether `client` has `resource`.
    pub(super) fn owns(&self, resource: Resource, client: &Client) -> bool {
        self.slot(resource).load(Relaxed) == client.id
    }
}

#[kunit_tests(lapidary_owners)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// Asks for it, with a clear that works.
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
            // The other memory is another's to have.
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
            // While it is on its way, it is nobody else's.
            assert!(!ask(&owners, Resource::HyperZ, &b));
            owners.lose(Resource::HyperZ.memories());
            assert!(!ask(&owners, Resource::HyperZ, &b));
            Err(EBUSY)
        });
        assert_eq!(refused, Err(EBUSY));
        assert!(!owners.owns(Resource::HyperZ, &a));
        assert!(ask(&owners, Resource::HyperZ, &b));
        // A clear that fails later takes it away again.
        assert!(ask(&owners, Resource::Cmask, &a));
        owners.lose(Resource::HyperZ.memories());
        assert!(!owners.owns(Resource::HyperZ, &b));
        assert!(owners.owns(Resource::Cmask, &a));
        assert!(ask(&owners, Resource::HyperZ, &a));
    }
}
