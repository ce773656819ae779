// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `drm_exec`: the reservation locks of many objects at once, without deadlock.
//!
//! Reservation locks are wait-wound mutexes: whoever finds a lock taken by an older transaction gives all of
//! its own back and starts again with the contended one. [`Exec::lock`] runs that loop; the result proves that
//! every object is locked and has room for one fence. An object may be named several times.

use core::{
    marker::{
        PhantomData,
        PhantomPinned, //
    },
    pin::Pin,
};

use kernel::{
    bindings,
    drm::gem::IntoGEMObject,
    prelude::*,
    sync::aref::{
        ARef,
        AlwaysRefCounted, //
    },
    types::Opaque, //
};

use super::{
    extra,
    fence::Fence, //
};

/// How a fence uses an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Usage {
    /// Memory management: everybody waits for it.
    Kernel,
    /// The GPU writes the object.
    Write,
    /// The GPU reads the object.
    Read,
}

impl Usage {
    fn as_raw(self) -> bindings::dma_resv_usage {
        match self {
            Self::Kernel => bindings::dma_resv_usage_DMA_RESV_USAGE_KERNEL,
            Self::Write => bindings::dma_resv_usage_DMA_RESV_USAGE_WRITE,
            Self::Read => bindings::dma_resv_usage_DMA_RESV_USAGE_READ,
        }
    }
}

/// Storage of a lock transaction.
#[pin_data(PinnedDrop)]
pub struct Exec<O> {
    #[pin]
    exec: Opaque<bindings::drm_exec>,
    /// The transaction has begun.
    begun: bool,
    objects: PhantomData<fn(O)>,
    #[pin]
    _pin: PhantomPinned,
}

impl<O: IntoGEMObject + AlwaysRefCounted> Exec<O> {
    /// An empty transaction, with memory for `objects` objects.
    pub fn new(objects: usize) -> impl PinInit<Self> {
        let count = objects.clamp(1, 4096) as c_uint;
        pin_init!(Self {
            // SAFETY: `slot` is valid memory, which stays where it is. Failing to allocate is not an error
            // here, but at the first lock.
            exec <- Opaque::ffi_init(|slot| unsafe {
                extra::lapidary_exec_init(slot, count)
            }),
            begun: false,
            objects: PhantomData,
            _pin: PhantomPinned,
        })
    }

    /// Locks all of `objects` and reserves a fence slot in each. Once.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives, `ENOMEM`; `EALREADY` the second time.
    pub fn lock<'a>(self: Pin<&'a mut Self>, objects: &'a [ARef<O>]) -> Result<Locked<'a, O>> {
        let this = self.project();
        if core::mem::replace(this.begun, true) {
            return Err(EALREADY);
        }
        let exec = this.exec.get();
        // SAFETY: `exec` was initialised by `new`, and is exclusively ours.
        while unsafe { bindings::drm_exec_cleanup(exec) } {
            let mut result = 0;
            for object in objects {
                // SAFETY: As above; the object is alive.
                result = unsafe { bindings::drm_exec_prepare_obj(exec, object.as_raw(), 1) };
                if result != 0 {
                    break;
                }
            }
            if result != 0 && result != EDEADLK.to_errno() {
                // What is locked so far is unlocked when the transaction is dropped.
                return Err(Error::from_errno(result));
            }
        }
        Ok(Locked { objects })
    }
}

#[pinned_drop]
impl<O> PinnedDrop for Exec<O> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: Initialised by `new`; unlocks what is locked.
        unsafe { bindings::drm_exec_fini(self.exec.get()) }
    }
}

/// Proof that the objects given to [`Exec::lock`] are locked and have room for one fence.
///
/// They stay locked until the [`Exec`] is dropped.
pub struct Locked<'a, O: IntoGEMObject + AlwaysRefCounted> {
    objects: &'a [ARef<O>],
}

impl<'a, O: IntoGEMObject + AlwaysRefCounted> Locked<'a, O> {
    /// The locked objects, in the order in which they were named.
    pub fn objects(&self) -> &'a [ARef<O>] {
        self.objects
    }

    /// The first pending fence in object `index` that does not belong to fence context `own` and that a
    /// reader (or, with `write`, a writer) has to wait for.
    pub fn foreign(&self, index: usize, write: bool, own: u64) -> Option<ARef<Fence>> {
        let object = self.objects.get(index)?;
        // SAFETY: The object is alive and locked. The helper hands out a reference.
        unsafe {
            Fence::from_raw(extra::lapidary_resv_foreign(
                (*object.as_raw()).resv,
                write,
                own,
            ))
        }
    }

    /// Adds `fence` to all objects, in the slots that [`Exec::lock`] has reserved; `usage` says how the object
    /// with the given index is used. Never fails.
    ///
    /// An object that is named several times has the fence once, with the strongest usage.
    pub fn attach(self, fence: &Fence, usage: impl Fn(usize) -> Usage) {
        for (index, object) in self.objects.iter().enumerate() {
            // SAFETY: The object is alive and locked. One slot is reserved, and one is enough: the helper does
            // not add a fence a second time.
            unsafe {
                extra::lapidary_resv_attach(
                    (*object.as_raw()).resv,
                    fence.as_raw(),
                    usage(index).as_raw(),
                )
            }
        }
    }
}

#[kunit_tests(lapidary_exec)]
mod tests {
    use super::*;
    use crate::corner::{
        fence::{
            new_context,
            DriverFence,
            Timeline,
            Unborn, //
        },
        gem_kunit::{
            Machine,
            Object, //
        },
        resv,
    };
    use kernel::{
        drm::gem,
        page::PAGE_SIZE,
        sync::Arc, //
    };

    type Bo = gem::Object<Object>;

    struct Test;

    impl Timeline for Test {
        const DRIVER: &'static CStr = c"kunit";
        const NAME: &'static CStr = c"test";

        fn wanted(&self, _seqno: u64) {}
    }

    fn fence(context: u64) -> Result<DriverFence<Test>> {
        Ok(Unborn::new(Arc::new(Test, GFP_KERNEL)?)?.start(context, 1))
    }

    fn objects(machine: &Machine, count: usize) -> Result<KVec<ARef<Bo>>> {
        let mut objects = KVec::new();
        for _ in 0..count {
            objects.push(machine.object(PAGE_SIZE)?, GFP_KERNEL)?;
        }
        Ok(objects)
    }

    /// Locks `objects` and attaches `fence` to all of them.
    fn attach(objects: &[ARef<Bo>], fence: &Fence, usage: impl Fn(usize) -> Usage) -> Result {
        pin_init::stack_pin_init!(let exec = Exec::new(objects.len()));
        exec.lock(objects)?.attach(fence, usage);
        Ok(())
    }

    #[test]
    fn a_fence_makes_its_objects_busy() -> Result {
        let machine = Machine::new()?;
        let objects = objects(&machine, 3)?;
        let own = fence(new_context())?;
        attach(&objects[..2], own.fence(), |_| Usage::Read)?;
        assert!(!resv::wait(&*objects[0], 0)?);
        assert!(!resv::wait(&*objects[1], 1)?);
        assert!(resv::wait(&*objects[2], 0)?);
        own.signal(Ok(()));
        assert!(resv::wait(&*objects[0], 0)?);
        Ok(())
    }

    #[test]
    fn an_object_may_be_named_several_times() -> Result {
        let machine = Machine::new()?;
        let first = objects(&machine, 1)?;
        let mut many = KVec::new();
        for _ in 0..100 {
            many.push(first[0].clone(), GFP_KERNEL)?;
        }
        let own = fence(new_context())?;
        // Each usage after each other one.
        attach(&many, own.fence(), |index| match index % 5 {
            0 | 3 => Usage::Write,
            1 => Usage::Kernel,
            _ => Usage::Read,
        })?;
        assert!(!resv::wait(&*first[0], 0)?);
        own.signal(Ok(()));
        assert!(resv::wait(&*first[0], 0)?);
        Ok(())
    }

    #[test]
    fn foreign_fences_are_found() -> Result {
        let machine = Machine::new()?;
        let objects = objects(&machine, 1)?;
        let context = new_context();
        let reader = fence(context)?;
        attach(&objects, reader.fence(), |_| Usage::Read)?;

        {
            pin_init::stack_pin_init!(let exec = Exec::new(1));
            let locked = exec.lock(&objects)?;
            // A reader does not wait for a reader, a writer does, and nobody for his own timeline.
            assert!(locked.foreign(0, false, new_context()).is_none());
            assert!(locked.foreign(0, true, new_context()).is_some());
            assert!(locked.foreign(0, true, context).is_none());
            assert!(locked.foreign(1, true, new_context()).is_none());
        }

        reader.signal(Ok(()));
        pin_init::stack_pin_init!(let exec = Exec::new(1));
        let locked = exec.lock(&objects)?;
        assert!(locked.foreign(0, true, new_context()).is_none());
        Ok(())
    }

    #[test]
    fn locks_end_with_the_transaction() -> Result {
        let machine = Machine::new()?;
        let objects = objects(&machine, 2)?;
        for _ in 0..3 {
            pin_init::stack_pin_init!(let exec = Exec::new(2));
            assert!(exec.as_mut().lock(&objects)?.objects().len() == 2);
            assert!(exec.lock(&objects).err() == Some(EALREADY));
        }
        drop(objects);
        assert!(machine.released.load(kernel::sync::atomic::Relaxed) == 2);
        Ok(())
    }
}
