// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `dma_resv`: the fences of one object, read without its lock, and the lock of one object outside of a transaction.

use core::ops::Deref;

use kernel::{
    bindings,
    drm::gem::IntoGEMObject,
    prelude::*,
    sync::aref::{
        ARef,
        AlwaysRefCounted, //
    },
    time::{
        msecs_to_jiffies,
        Msecs, //
    },
};

use crate::corner::{
    extra,
    fence::{
        Contexts,
        Fence, //
    }, //
};

/// Wait until no job that uses `object` is pending, at most `timeout` milliseconds. Return whether that is so.
///
/// A timeout of 0 only tests. Interruptible.
///
/// # Errors
///
/// `ERESTARTSYS` if a signal arrives.
pub fn wait<O: IntoGEMObject>(object: &O, timeout: Msecs) -> Result<bool> {
    let usage = bindings::dma_resv_usage_DMA_RESV_USAGE_READ;
    // SAFETY: The object is alive, and its reservation with it.
    if unsafe { bindings::dma_resv_test_signaled((*object.as_raw()).resv, usage) } {
        return Ok(true);
    }
    if timeout == 0 {
        return Ok(false);
    }
    let jiffies = msecs_to_jiffies(timeout);
    // SAFETY: As above.
    let left =
        unsafe { bindings::dma_resv_wait_timeout((*object.as_raw()).resv, usage, true, jiffies) };
    if left < 0 {
        return Err(Error::from_errno(
            left.try_into().unwrap_or(EINVAL.to_errno()),
        ));
    }
    Ok(left > 0)
}

/// Return a pending fence in `object` that belongs to none of the fence contexts `own` and that a reader (or, with
/// `write`, a writer) has to wait for.
///
/// While the caller holds the reservation, no new fence is added.
pub fn foreign<O: IntoGEMObject>(object: &O, write: bool, own: Contexts) -> Option<ARef<Fence>> {
    // SAFETY: The object is alive, and its reservation with it; the helper hands out a reference.
    unsafe {
        let resv = (*object.as_raw()).resv;
        Fence::from_raw(extra::lapidary_resv_foreign(
            resv,
            write,
            own.first(),
            own.count(),
        ))
    }
}

/// Return which of the fence contexts `own` have a pending fence in `object` that a reader (or, with `write`, a writer)
/// has to wait for, a bit for each. The caller holds the reservation.
pub fn pending<O: IntoGEMObject>(object: &O, write: bool, own: Contexts) -> u32 {
    // SAFETY: The object is alive, and its reservation with it.
    unsafe {
        let resv = (*object.as_raw()).resv;
        extra::lapidary_resv_contexts(resv, write, own.first(), own.count())
    }
}

/// Return the number of the last pending fence in `object` that belongs to fence context `own`. Its numbers begin at
/// 1.
pub fn last<O: IntoGEMObject>(object: &O, own: u64) -> Option<u64> {
    // SAFETY: The object is alive, and its reservation with it.
    let last = unsafe { extra::lapidary_resv_last((*object.as_raw()).resv, own) };
    (last != 0).then_some(last)
}

/// A reference to an object whose reservation is locked until this value is dropped.
pub struct Held<O: IntoGEMObject + AlwaysRefCounted>(ARef<O>);

impl<O: IntoGEMObject + AlwaysRefCounted> Held<O> {
    fn lock_of(object: &O) -> *mut bindings::ww_mutex {
        // SAFETY: The object is alive, and its reservation with it.
        unsafe { &raw mut (*(*object.as_raw()).resv).lock }
    }

    /// Trylock the reservation. Allowed also with other reservations locked, and in reclaim.
    pub fn try_lock(object: ARef<O>) -> Option<Self> {
        // SAFETY: The lock lives as long as the reference.
        let locked =
            unsafe { bindings::ww_mutex_trylock(Self::lock_of(&object), core::ptr::null_mut()) };
        (locked != 0).then(|| Self(object))
    }

    /// Lock the reservation. The caller holds no other reservation.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives.
    pub fn lock(object: ARef<O>) -> Result<Self> {
        // SAFETY: The lock lives as long as the reference.
        let result = unsafe {
            bindings::ww_mutex_lock_interruptible(Self::lock_of(&object), core::ptr::null_mut())
        };
        if result != 0 {
            return Err(ERESTARTSYS);
        }
        Ok(Self(object))
    }
}

impl<O: IntoGEMObject + AlwaysRefCounted> Deref for Held<O> {
    type Target = ARef<O>;

    fn deref(&self) -> &ARef<O> {
        &self.0
    }
}

impl<O: IntoGEMObject + AlwaysRefCounted> Drop for Held<O> {
    fn drop(&mut self) {
        // SAFETY: Locked when this value was made. The reference is dropped afterwards.
        unsafe { bindings::ww_mutex_unlock(Self::lock_of(&self.0)) };
    }
}

/// Tell lockdep that the caller relies on having locked the reservation of `object`.
pub fn assert_held<O: IntoGEMObject>(object: &O) {
    // SAFETY: The object is alive, and its reservation with it.
    unsafe { extra::lapidary_resv_assert_held((*object.as_raw()).resv) };
}

#[kunit_tests(lapidary_resv)]
mod tests {
    use super::*;
    use crate::corner::{
        exec::{
            Exec,
            Usage, //
        },
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
    };
    use kernel::{
        drm::gem::Object as Gem,
        page::PAGE_SIZE,
        sync::{
            aref::ARef,
            Arc, //
        },
        time::{
            Instant,
            Monotonic, //
        },
    };

    struct Test;

    impl Timeline for Test {
        const DRIVER: &'static CStr = c"kunit";
        const NAME: &'static CStr = c"resv";

        fn wanted(&self, _seqno: u64) {}
    }

    /// Make a pending fence of a job that uses `object`.
    fn job(object: &ARef<Gem<Object>>, usage: Usage) -> Result<DriverFence<Test>> {
        numbered(object, usage, new_context(), 1)
    }

    /// Make a pending fence of job `number` of a timeline.
    fn numbered(
        object: &ARef<Gem<Object>>,
        usage: Usage,
        context: u64,
        number: u64,
    ) -> Result<DriverFence<Test>> {
        let fence = Unborn::new(Arc::new(Test, GFP_KERNEL)?)?.start(context, number);
        let items = [(object.clone(), usage)];
        pin_init::stack_pin_init!(let exec = Exec::new(1));
        let locked = exec.lock(&items, |item| &*item.0)?;
        locked.attach(fence.fence(), &items, |item| (&*item.0, item.1));
        Ok(fence)
    }

    #[test]
    fn an_object_without_jobs_is_idle() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        assert!(wait(&*object, 0)?);
        assert!(wait(&*object, 1000)?);
        Ok(())
    }

    #[test]
    fn a_reservation_is_locked_once() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let held = Held::try_lock(object.clone()).ok_or(EINVAL)?;
        assert_held(&**held);
        assert!(Held::try_lock(object.clone()).is_none());
        drop(held);
        let held = Held::lock(object.clone())?;
        assert!(Held::try_lock(object.clone()).is_none());
        drop(held);
        assert!(Held::try_lock(object.clone()).is_some());
        Ok(())
    }

    #[test]
    fn it_keeps_its_object() -> Result {
        let machine = Machine::new()?;
        let held = Held::lock(machine.object(PAGE_SIZE)?)?;
        assert_eq!(machine.roster.lock().len(), 1);
        drop(held);
        assert_eq!(machine.roster.lock().len(), 0);
        Ok(())
    }

    #[test]
    fn every_job_counts() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let first = job(&object, Usage::Read)?;
        let second = job(&object, Usage::Write)?;
        assert!(!wait(&*object, 0)?);
        first.signal(Ok(()));
        assert!(!wait(&*object, 0)?);
        // A failed job is done, too.
        second.signal(Err(EIO));
        assert!(wait(&*object, 0)?);
        Ok(())
    }

    #[test]
    fn foreign_fences_are_found() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let first = job(&object, Usage::Read)?;
        let context = Contexts::only(first.fence().context());
        // A reader does not wait for a reader. A writer waits for a reader. No job waits for its own timeline.
        assert!(foreign(&*object, false, Contexts::new(3)).is_none());
        assert!(foreign(&*object, true, Contexts::new(3)).is_some());
        assert!(foreign(&*object, true, context).is_none());
        let second = job(&object, Usage::Write)?;
        let found = foreign(&*object, false, context).ok_or(EINVAL)?;
        assert_eq!(found.context(), second.fence().context());
        second.signal(Ok(()));
        assert!(foreign(&*object, false, context).is_none());
        assert!(foreign(&*object, true, Contexts::new(3)).is_some());
        first.signal(Ok(()));
        assert!(foreign(&*object, true, Contexts::new(3)).is_none());
        Ok(())
    }

    #[test]
    fn rings_with_pending_jobs_are_found() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let own = Contexts::new(3);
        let pending = |write| {
            let held = Held::try_lock(object.clone()).ok_or(EBUSY)?;
            Ok::<_, Error>(pending(&**held, write, own))
        };
        let read = numbered(&object, Usage::Read, own.of(0), 1)?;
        assert_eq!(pending(false)?, 0);
        assert_eq!(pending(true)?, 1);
        let write = numbered(&object, Usage::Write, own.of(2), 1)?;
        let other = job(&object, Usage::Write)?;
        assert_eq!(pending(false)?, 4);
        assert_eq!(pending(true)?, 5);
        // None of them is of another GPU, but one.
        let found = foreign(&*object, true, own).ok_or(EINVAL)?;
        assert_eq!(found.context(), other.fence().context());
        other.signal(Ok(()));
        assert!(foreign(&*object, true, own).is_none());
        write.signal(Ok(()));
        read.signal(Ok(()));
        assert_eq!(pending(true)?, 0);
        Ok(())
    }

    #[test]
    fn the_last_fence_of_a_timeline_is_found() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let context = new_context();
        assert!(last(&*object, context).is_none());
        let read = numbered(&object, Usage::Read, context, 5)?;
        assert_eq!(last(&*object, context), Some(5));
        assert!(last(&*object, new_context()).is_none());
        let write = numbered(&object, Usage::Write, context, 7)?;
        assert_eq!(last(&*object, context), Some(7));
        write.signal(Ok(()));
        read.signal(Ok(()));
        assert!(last(&*object, context).is_none());
        Ok(())
    }

    #[test]
    fn waiting_ends_in_time() -> Result {
        let machine = Machine::new()?;
        let object = machine.object(PAGE_SIZE)?;
        let fence = job(&object, Usage::Kernel)?;
        let start = Instant::<Monotonic>::now();
        assert!(!wait(&*object, 200)?);
        // The bound is loose, because waiting counts in jiffies and a loaded host delivers several at once.
        assert!(start.elapsed().as_millis() >= 100);
        fence.signal(Ok(()));
        Ok(())
    }
}
