// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `drm_exec`: the reservation locks of many objects at once, without deadlock.
//!
//! Reservation locks are wait-wound mutexes. A transaction that finds a lock taken by an older transaction releases
//! all of its own locks, and starts again with the contended one. [`Exec::lock`] runs that loop. Its result,
//! [`Locked`], gives access to the fences of the objects. An object may be named several times.
//!
//! Each reservation lock knows its transaction, so [`Locked`] looks there whether an object is among its own. A call
//! for another object is a bug. It is reported once and has no effect.

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
    /// Memory management. All users wait for it.
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
    /// Make an empty transaction, with memory for `objects` objects.
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

    /// Lock the objects that `object` finds in `items`, and reserve a fence slot in each. Can be called once.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives; `ENOMEM`; `EALREADY` the second time.
    pub fn lock<'a, T>(
        self: Pin<&'a mut Self>,
        items: &[T],
        object: fn(&T) -> &O,
    ) -> Result<Locked<'a, O>> {
        let this = self.project();
        if core::mem::replace(this.begun, true) {
            return Err(EALREADY);
        }
        let exec = this.exec.get();
        // SAFETY: `exec` was initialised by `new`, and is exclusively ours.
        while unsafe { bindings::drm_exec_cleanup(exec) } {
            let mut result = 0;
            for item in items {
                // SAFETY: As above; the object is alive.
                result = unsafe { bindings::drm_exec_prepare_obj(exec, object(item).as_raw(), 1) };
                if result != 0 {
                    break;
                }
            }
            if result != 0 && result != EDEADLK.to_errno() {
                // Dropping the transaction unlocks what is locked so far.
                return Err(Error::from_errno(result));
            }
        }
        Ok(Locked {
            exec,
            _exec: PhantomData,
        })
    }
}

#[pinned_drop]
impl<O> PinnedDrop for Exec<O> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: Initialised by `new`; unlocks what is locked.
        unsafe { bindings::drm_exec_fini(self.exec.get()) }
    }
}

/// A transaction whose objects are locked and have room for one fence each.
///
/// They stay locked until the [`Exec`] is dropped.
pub struct Locked<'a, O> {
    exec: *const bindings::drm_exec,
    _exec: PhantomData<&'a mut Exec<O>>,
}

impl<O: IntoGEMObject> Locked<'_, O> {
    /// Return whether no other driver can have added fences to `object`. True for an object that is neither exported
    /// nor imported.
    pub fn is_private(&self, object: &O) -> bool {
        let object = object.as_raw();
        // SAFETY: The object is alive. A driver that is given the object at this moment needs the reservation before
        // it can add a fence, and we hold the reservation.
        unsafe { (*object).dma_buf.is_null() && (*object).import_attach.is_null() }
    }

    /// Add `fence` to objects in the way they are used, in the slots that [`Exec::lock`] has reserved. Never fails.
    ///
    /// `using` returns the object and the usage of an item. An object that occurs several times holds the fence once,
    /// with the strongest usage.
    pub fn attach<T>(self, fence: &Fence, items: &[T], using: fn(&T) -> (&O, Usage)) {
        // The core replaces a fence by itself if the new usage is as strong or stronger. So the weaker usages are
        // added first, and each object needs one slot.
        let mut writes = false;
        let mut kernel = false;
        for item in items {
            match using(item) {
                (object, Usage::Read) => self.add(object, fence, Usage::Read),
                (_, Usage::Write) => writes = true,
                (_, Usage::Kernel) => kernel = true,
            }
        }
        if writes {
            self.add_all(fence, items, using, Usage::Write);
        }
        if kernel {
            self.add_all(fence, items, using, Usage::Kernel);
        }
    }

    /// Add `fence` to the objects that are used in the way `pass`.
    fn add_all<T>(&self, fence: &Fence, items: &[T], using: fn(&T) -> (&O, Usage), pass: Usage) {
        for item in items {
            let (object, usage) = using(item);
            if usage == pass {
                self.add(object, fence, pass);
            }
        }
    }

    fn add(&self, object: &O, fence: &Fence, usage: Usage) {
        // SAFETY: Object, transaction and fence are alive. The helper checks that the transaction has locked the
        // object. `lock` has then reserved a slot, and `attach` needs no more than one.
        unsafe {
            extra::lapidary_resv_attach(
                (*object.as_raw()).resv,
                self.exec,
                fence.as_raw(),
                usage.as_raw(),
            )
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

    type Item = (ARef<Bo>, Usage);

    fn bo(object: &ARef<Bo>) -> &Bo {
        object
    }

    /// Lock objects and attach `fence` to all of them.
    fn attach(items: &[Item], fence: &Fence) -> Result {
        pin_init::stack_pin_init!(let exec = Exec::new(items.len()));
        let locked = exec.lock(items, |item| &*item.0)?;
        locked.attach(fence, items, |item| (&*item.0, item.1));
        Ok(())
    }

    #[test]
    fn a_fence_makes_its_objects_busy() -> Result {
        let machine = Machine::new()?;
        let objects = objects(&machine, 3)?;
        let own = fence(new_context())?;
        let read = |at: usize| (objects[at].clone(), Usage::Read);
        attach(&[read(0), read(1)], own.fence())?;
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
        // Every usage follows every other usage.
        for index in 0..100 {
            let usage = match index % 5 {
                0 | 3 => Usage::Write,
                1 => Usage::Kernel,
                _ => Usage::Read,
            };
            many.push((first[0].clone(), usage), GFP_KERNEL)?;
        }
        let own = fence(new_context())?;
        attach(&many, own.fence())?;
        assert!(!resv::wait(&*first[0], 0)?);
        own.signal(Ok(()));
        assert!(resv::wait(&*first[0], 0)?);
        Ok(())
    }

    #[test]
    fn locks_end_with_the_transaction() -> Result {
        let machine = Machine::new()?;
        let objects = objects(&machine, 2)?;
        for _ in 0..3 {
            pin_init::stack_pin_init!(let exec = Exec::new(2));
            assert!(exec.as_mut().lock(&objects, bo).is_ok());
            assert!(exec.lock(&objects, bo).err() == Some(EALREADY));
        }
        drop(objects);
        assert!(machine.released.load(kernel::sync::atomic::Relaxed) == 2);
        Ok(())
    }
}
