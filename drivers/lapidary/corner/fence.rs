// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `dma_fence`: the promise that work on the GPU ends.
//!
//! Three types stand for the three stages of a fence of this driver:
//!
//! - [`Unborn`]: its memory, allocated while failing is still possible;
//! - [`DriverFence`]: the only handle that can signal it, with a stated result. Dropping it unsignalled signals
//!   `ECANCELED`, so that every waiter wakes up;
//! - [`Fence`]: the counted reference that all others hold and can wait for.
//!
//! The fence core clears the operations table of a fence when it signals (7.3, for fences without `release` and
//! `wait`). So signalled fences may outlive the module.

use core::{
    marker::PhantomData,
    mem::ManuallyDrop,
    ptr::NonNull, //
};

use kernel::{
    bindings,
    prelude::*,
    sync::{
        aref::{
            ARef,
            AlwaysRefCounted, //
        },
        Arc, //
    },
    time::{
        msecs_to_jiffies,
        Msecs, //
    },
    types::Opaque, //
};

use super::{
    events,
    extra, //
};

/// A reference-counted fence of any origin.
#[repr(transparent)]
pub struct Fence(Opaque<bindings::dma_fence>);

// SAFETY: `dma_fence` is reference counted.
unsafe impl AlwaysRefCounted for Fence {
    fn inc_ref(&self) {
        // SAFETY: `self` holds a live fence.
        unsafe { extra::lapidary_fence_get(self.as_raw()) };
    }

    unsafe fn dec_ref(obj: NonNull<Self>) {
        // SAFETY: The caller gives up one reference.
        unsafe { extra::lapidary_fence_put(obj.as_ptr().cast()) }
    }
}

// SAFETY: `dma_fence` may be used from any thread.
unsafe impl Send for Fence {}
// SAFETY: As above.
unsafe impl Sync for Fence {}

impl Fence {
    /// Return the C fence, for the other abstractions of the corner.
    pub(crate) fn as_raw(&self) -> *mut bindings::dma_fence {
        self.0.get()
    }

    /// Take over a reference that a C function has returned. `None` for a null pointer.
    ///
    /// # Safety
    ///
    /// `raw` is null, or points to a live fence of which the caller owns one reference.
    pub(crate) unsafe fn from_raw(raw: *mut bindings::dma_fence) -> Option<ARef<Self>> {
        // SAFETY: `Fence` is a transparent wrapper; the reference is the caller's by the contract.
        NonNull::new(raw).map(|raw| unsafe { ARef::from_raw(raw.cast()) })
    }

    /// Return the fence context that the fence belongs to.
    pub fn context(&self) -> u64 {
        // SAFETY: `self` holds a live fence, and this does not change.
        unsafe { (*self.as_raw()).context }
    }

    /// Return whether the fence has signalled, with success or with an error.
    pub fn is_signalled(&self) -> bool {
        // SAFETY: `self` holds a live fence.
        unsafe { extra::lapidary_fence_is_signaled(self.as_raw()) }
    }

    /// Return the result that the fence was signalled with, `None` while it is pending.
    pub fn result(&self) -> Option<Result> {
        // SAFETY: `self` holds a live fence.
        match unsafe { extra::lapidary_fence_status(self.as_raw()) } {
            0 => None,
            error if error < 0 => Some(Err(Error::from_errno(error))),
            _ => Some(Ok(())),
        }
    }

    /// Wait until the fence has signalled, at most `timeout` milliseconds. Return whether it has signalled.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if `interruptible` and a signal arrives.
    pub fn wait(&self, interruptible: bool, timeout: Msecs) -> Result<bool> {
        let jiffies = msecs_to_jiffies(timeout).try_into().unwrap_or(c_long::MAX);
        // SAFETY: `self` holds a live fence.
        let left =
            unsafe { bindings::dma_fence_wait_timeout(self.as_raw(), interruptible, jiffies) };
        if left < 0 {
            return Err(Error::from_errno(
                left.try_into().unwrap_or(EINVAL.to_errno()),
            ));
        }
        Ok(left > 0)
    }
}

/// What the fences of one timeline have in common.
pub trait Timeline: Send + Sync {
    /// Driver name, for debugging interfaces.
    const DRIVER: &'static CStr;
    /// Timeline name, for debugging interfaces.
    const NAME: &'static CStr;

    /// Note that a thread begins to wait for the fence with this sequence number.
    ///
    /// Called in atomic context, with interrupts off and the fence locked. Never called after the fence has
    /// signalled.
    fn wanted(&self, seqno: u64);
}

/// Storage of a fence of this driver. The C fence is the first field, so that the fence core can free it.
#[repr(C)]
struct OwnFence<T> {
    fence: Opaque<bindings::dma_fence>,
    /// Valid until the fence has signalled, because the `DriverFence` keeps it alive.
    timeline: *const T,
}

/// Memory for a fence.
pub struct Unborn<T: Timeline> {
    memory: KBox<OwnFence<T>>,
    timeline: Arc<T>,
}

// SAFETY: The pointer in `memory` stands for `timeline`, which is `Send` and `Sync`.
unsafe impl<T: Timeline> Send for Unborn<T> {}

impl<T: Timeline> Unborn<T> {
    /// Allocate a fence of `timeline`.
    pub fn new(timeline: Arc<T>) -> Result<Self> {
        let memory = KBox::new(
            OwnFence {
                fence: Opaque::uninit(),
                timeline: &raw const *timeline,
            },
            GFP_KERNEL,
        )?;
        Ok(Self { memory, timeline })
    }

    /// Turn the memory into a fence, number `seqno` of fence context `context`.
    pub fn start(self, context: u64, seqno: u64) -> DriverFence<T> {
        let raw = KBox::into_raw(self.memory);
        // SAFETY: `raw` is memory of the right size that never moves again. `dma_fence_free()` frees it, since a
        // boxed value is allocated by `kmalloc()` and the C fence is its first field. A null lock selects the lock
        // inside of the fence. `dma_fence_init64()` leaves one reference, which we own.
        let fence = unsafe {
            let fence = (*raw).fence.get();
            bindings::dma_fence_init64(
                fence,
                &Ops::<T>::OPS,
                core::ptr::null_mut(),
                context,
                seqno,
            );
            ARef::from_raw(NonNull::new_unchecked(fence.cast()))
        };
        DriverFence {
            fence: ManuallyDrop::new(fence),
            timeline: ManuallyDrop::new(self.timeline),
        }
    }
}

/// A pending fence of this driver.
pub struct DriverFence<T: Timeline> {
    fence: ManuallyDrop<ARef<Fence>>,
    timeline: ManuallyDrop<Arc<T>>,
}

impl<T: Timeline> DriverFence<T> {
    /// Return the fence as others see it.
    pub fn fence(&self) -> &ARef<Fence> {
        &self.fence
    }

    /// Signal the fence with `result`. Any context.
    pub fn signal(self, result: Result) {
        let mut this = ManuallyDrop::new(self);
        this.complete(result);
    }

    /// Signal the fence and drop what it holds. Called exactly once; `self` is not used afterwards.
    fn complete(&mut self, result: Result) {
        let raw = self.fence.as_raw();
        // SAFETY: The fence is alive, and these do not change.
        let (context, seqno) = unsafe { ((*raw).context, (*raw).seqno) };
        events::signalled(context, seqno, result);
        // SAFETY: The fence is alive. It is pending because only this function signals it. Afterwards the fence core
        // calls no operation any more: `wanted` runs under the fence's lock, which signalling takes.
        unsafe {
            if let Err(error) = result {
                extra::lapidary_fence_set_error(raw, error.to_errno());
            }
            bindings::dma_fence_signal(raw);
        }
        // SAFETY: By the contract of this function neither is used again.
        unsafe {
            ManuallyDrop::drop(&mut self.fence);
            ManuallyDrop::drop(&mut self.timeline);
        }
    }
}

impl<T: Timeline> Drop for DriverFence<T> {
    fn drop(&mut self) {
        self.complete(Err(ECANCELED));
    }
}

/// The operations of the fences of timeline type `T`.
struct Ops<T>(PhantomData<T>);

impl<T: Timeline> Ops<T> {
    const OPS: bindings::dma_fence_ops = bindings::dma_fence_ops {
        get_driver_name: Some(Self::driver_name),
        get_timeline_name: Some(Self::timeline_name),
        enable_signaling: Some(Self::enable_signaling),
        ..pin_init::zeroed()
    };

    /// # Safety
    ///
    /// Only the fence core may call this.
    unsafe extern "C" fn driver_name(_: *mut bindings::dma_fence) -> *const c_char {
        T::DRIVER.as_char_ptr()
    }

    /// # Safety
    ///
    /// Only the fence core may call this.
    unsafe extern "C" fn timeline_name(_: *mut bindings::dma_fence) -> *const c_char {
        T::NAME.as_char_ptr()
    }

    /// # Safety
    ///
    /// Only the fence core may call this, for a pending fence of timeline type `T`, under its lock.
    unsafe extern "C" fn enable_signaling(fence: *mut bindings::dma_fence) -> bool {
        // SAFETY: All fences with this table are `OwnFence<T>`. The fence is pending, and stays pending while its
        // lock is held. Hence its `DriverFence` exists, and with it the timeline.
        unsafe { (*(*fence.cast::<OwnFence<T>>()).timeline).wanted((*fence).seqno) };
        true
    }
}

/// Return the next unused fence context, for one timeline.
pub fn new_context() -> u64 {
    Contexts::new(1).first()
}

/// Contexts of fences, one for each ring of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contexts {
    first: u64,
    count: u32,
}

impl Contexts {
    /// Return `count` new contexts, at most 32.
    pub fn new(count: u32) -> Self {
        // SAFETY: No requirements.
        let first = unsafe { bindings::dma_fence_context_alloc(count) };
        Self { first, count }
    }

    /// Return `context` alone.
    pub fn only(context: u64) -> Self {
        Self {
            first: context,
            count: 1,
        }
    }

    /// Return the first one.
    pub fn first(self) -> u64 {
        self.first
    }

    /// Return how many there are.
    pub fn count(self) -> u64 {
        self.count.into()
    }

    /// Return the context of ring `ring`.
    pub fn of(self, ring: usize) -> u64 {
        self.first + ring as u64
    }
}

/// A section of code on which the completion of fences depends. It must not allocate, and must not take a reservation
/// lock.
///
/// With lock debugging lockdep proves this. Otherwise it costs nothing.
pub struct Signalling(bool, PhantomData<*mut ()>);

impl Signalling {
    /// Begin the section, which lasts until the value is dropped.
    pub fn begin() -> Self {
        // SAFETY: Paired with the call in `drop`, on the same thread since this type is not `Send`.
        let cookie = unsafe { extra::lapidary_fence_begin_signalling() };
        Self(cookie, PhantomData)
    }
}

impl Drop for Signalling {
    fn drop(&mut self) {
        // SAFETY: The cookie comes from `begin`.
        unsafe { extra::lapidary_fence_end_signalling(self.0) }
    }
}

#[kunit_tests(lapidary_fence)]
mod tests {
    use super::*;
    use kernel::sync::atomic::{
        Atomic,
        Relaxed, //
    };

    struct Test(Atomic<u64>);

    impl Timeline for Test {
        const DRIVER: &'static CStr = c"kunit";
        const NAME: &'static CStr = c"test";

        fn wanted(&self, seqno: u64) {
            self.0.store(seqno, Relaxed);
        }
    }

    fn fence(seqno: u64) -> Result<(Arc<Test>, DriverFence<Test>)> {
        let timeline = Arc::new(Test(Atomic::new(0)), GFP_KERNEL)?;
        let fence = Unborn::new(timeline.clone())?.start(new_context(), seqno);
        Ok((timeline, fence))
    }

    #[test]
    fn success_is_seen_by_others() -> Result {
        let (_, own) = fence(1)?;
        let shared: ARef<Fence> = own.fence().clone();
        assert!(!shared.is_signalled());
        assert!(shared.result().is_none());
        own.signal(Ok(()));
        assert!(shared.is_signalled());
        assert!(shared.result() == Some(Ok(())));
        Ok(())
    }

    #[test]
    fn error_is_seen_by_others() -> Result {
        let (_, own) = fence(1)?;
        let shared: ARef<Fence> = own.fence().clone();
        own.signal(Err(EIO));
        assert!(shared.result() == Some(Err(EIO)));
        Ok(())
    }

    #[test]
    fn dropping_cancels() -> Result {
        let (timeline, own) = fence(1)?;
        let shared: ARef<Fence> = own.fence().clone();
        drop(own);
        assert!(shared.result() == Some(Err(ECANCELED)));
        // The fence has dropped its reference to the timeline.
        assert!(Arc::into_unique_or_drop(timeline).is_some());
        Ok(())
    }

    #[test]
    fn waiting_is_announced_and_bounded() -> Result {
        let (timeline, own) = fence(7)?;
        assert!(!own.fence().wait(false, 1)?);
        assert!(timeline.0.load(Relaxed) == 7);
        let shared: ARef<Fence> = own.fence().clone();
        own.signal(Ok(()));
        assert!(shared.wait(false, 1)?);
        Ok(())
    }

    #[test]
    fn unborn_fences_leave_nothing() -> Result {
        let timeline = Arc::new(Test(Atomic::new(0)), GFP_KERNEL)?;
        drop(Unborn::new(timeline.clone())?);
        assert!(Arc::into_unique_or_drop(timeline).is_some());
        Ok(())
    }
}
