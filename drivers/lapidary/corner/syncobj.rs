// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects: fences that user space has handles for.
//!
//! A synchronisation object of the DRM core holds a fence. Submissions put the fence there, and other submissions
//! wait for it. A *binary* object holds the last fence. On a *timeline* each fence has a point, a number that grows,
//! and the object holds a chain of fences. All other operations (waiting, export as file) belong to the core.
//!
//! A submission looks up the fences that it waits for ([`find`]) and the objects that it will signal ([`Signals`]).
//! It allocates the memory of new links of chains at the same time, so [`Signals::publish`] cannot fail.

use core::ptr::{
    self,
    NonNull, //
};

use kernel::{
    bindings,
    drm,
    prelude::*,
    sync::aref::ARef, //
};

use super::{
    extra,
    fence::{
        Contexts,
        Fence, //
    }, //
};

/// Links of a chain that [`pending`] looks at.
const LINKS: u32 = 64;

/// Why there is no fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The handle is invalid.
    Handle,
    /// No submission has been made yet that would signal the object, or the point.
    Fence,
}

fn raw_file<T: drm::file::DriverFile>(file: &drm::File<T>) -> *mut bindings::drm_file {
    ptr::from_ref(file).cast_mut().cast()
}

/// Return the fence of the object with this handle of `file`. On a timeline, return that of `point` if `point` is not
/// 0. Does not wait.
///
/// # Errors
///
/// [`Missing`].
pub fn find<T: drm::file::DriverFile>(
    file: &drm::File<T>,
    handle: u32,
    point: u64,
) -> Result<ARef<Fence>, Missing> {
    let mut fence = ptr::null_mut();
    // SAFETY: `drm::File` is a transparent wrapper of `struct drm_file`. `fence` is written on success only, and then
    // we own the reference.
    let fence = unsafe {
        match extra::lapidary_syncobj_find_fence(raw_file(file), handle, point, &mut fence) {
            0 => Fence::from_raw(fence),
            error if error == ENOENT.to_errno() => return Err(Missing::Handle),
            _ => None,
        }
    };
    fence.ok_or(Missing::Fence)
}

/// Return in which of the contexts `own` fences are pending of which `fence` consists, a bit for each. `None` if another
/// fence is pending, or if there are very many.
pub fn pending(fence: &Fence, own: Contexts) -> Option<u32> {
    let mut pending = 0;
    // SAFETY: The fence is alive, and the number can be written.
    let ordered = unsafe {
        extra::lapidary_fence_is_ordered(
            fence.as_raw(),
            own.first(),
            own.count(),
            LINKS,
            &mut pending,
        )
    };
    ordered.then_some(pending)
}

/// One object that will be signalled.
struct Signal {
    /// We own one reference.
    syncobj: NonNull<extra::drm_syncobj>,
    /// Memory of a link that is not published yet, if the object is a timeline.
    link: Option<NonNull<extra::dma_fence_chain>>,
    point: u64,
}

impl Signal {
    fn new(syncobj: NonNull<extra::drm_syncobj>, point: u64) -> Result<Self> {
        let mut signal = Self {
            syncobj,
            link: None,
            point,
        };
        if point != 0 {
            // SAFETY: No requirements.
            let link = unsafe { extra::lapidary_fence_link_alloc() };
            signal.link = Some(NonNull::new(link).ok_or(ENOMEM)?);
        }
        Ok(signal)
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        // SAFETY: We own the reference, and the link if it is still here.
        unsafe {
            if let Some(link) = self.link {
                extra::lapidary_fence_link_free(link.as_ptr());
            }
            extra::lapidary_syncobj_put(self.syncobj.as_ptr());
        }
    }
}

/// Objects that a submission will signal.
pub struct Signals(KVec<Signal>);

// SAFETY: Any thread may use and drop these references and this memory.
unsafe impl Send for Signals {}

impl Signals {
    /// Return an empty list.
    pub const fn new() -> Self {
        Self(KVec::new())
    }

    /// Add the object with this handle of `file`, with a new `point` if that is not 0.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the handle is invalid; `ENOMEM`.
    pub fn add<T: drm::file::DriverFile>(
        &mut self,
        file: &drm::File<T>,
        handle: u32,
        point: u64,
    ) -> Result {
        // SAFETY: `drm::File` is a transparent wrapper of `struct drm_file`.
        let syncobj = unsafe { extra::drm_syncobj_find(raw_file(file), handle) };
        self.push(NonNull::new(syncobj).ok_or(ENOENT)?, point)
    }

    /// Take over a reference.
    fn push(&mut self, syncobj: NonNull<extra::drm_syncobj>, point: u64) -> Result {
        let signal = Signal::new(syncobj, point)?;
        Ok(self.0.push(signal, GFP_KERNEL)?)
    }

    /// Put `fence` into the objects, and wake the threads that wait for a submission to one of them. Allocates
    /// nothing. May be called in any context that is not atomic. The caller drops `self` later, outside of the
    /// commit.
    pub fn publish(&mut self, fence: &Fence) {
        for signal in &mut self.0 {
            let syncobj = signal.syncobj.as_ptr();
            // SAFETY: The object is alive. A link is used once, and the object owns it then.
            unsafe {
                match signal.link.take() {
                    Some(link) => extra::drm_syncobj_add_point(
                        syncobj,
                        link.as_ptr(),
                        fence.as_raw(),
                        signal.point,
                    ),
                    None => extra::drm_syncobj_replace_fence(syncobj, fence.as_raw()),
                }
            }
        }
    }
}

impl Default for Signals {
    fn default() -> Self {
        Self::new()
    }
}

#[kunit_tests(lapidary_syncobj)]
mod tests {
    use super::*;
    use crate::corner::fence::{
        new_context,
        DriverFence,
        Timeline,
        Unborn, //
    };
    use kernel::{
        error::to_result,
        sync::Arc, //
    };

    struct Test;

    impl Timeline for Test {
        const DRIVER: &'static CStr = c"kunit";
        const NAME: &'static CStr = c"test";

        fn wanted(&self, _seqno: u64) {}
    }

    fn fence(context: u64, seqno: u64) -> Result<DriverFence<Test>> {
        Ok(Unborn::new(Arc::new(Test, GFP_KERNEL)?)?.start(context, seqno))
    }

    /// An object without a handle.
    struct Object(NonNull<extra::drm_syncobj>);

    impl Object {
        fn new() -> Result<Self> {
            let mut raw = ptr::null_mut();
            // SAFETY: `raw` is written on success.
            to_result(unsafe { extra::drm_syncobj_create(&mut raw, 0, ptr::null_mut()) })?;
            Ok(Self(NonNull::new(raw).ok_or(EINVAL)?))
        }

        /// Take another reference.
        fn share(&self) -> NonNull<extra::drm_syncobj> {
            // SAFETY: The object is alive.
            unsafe { extra::lapidary_syncobj_get(self.0.as_ptr()) };
            self.0
        }

        fn fence(&self) -> Option<ARef<Fence>> {
            // SAFETY: The object is alive. We own the reference.
            unsafe { Fence::from_raw(extra::lapidary_syncobj_fence_get(self.0.as_ptr())) }
        }
    }

    impl Drop for Object {
        fn drop(&mut self) {
            // SAFETY: We own the reference.
            unsafe { extra::lapidary_syncobj_put(self.0.as_ptr()) };
        }
    }

    #[test]
    fn what_is_not_published_changes_nothing() -> Result {
        let object = Object::new()?;
        let mut signals = Signals::new();
        signals.push(object.share(), 0)?;
        signals.push(object.share(), 7)?;
        drop(signals);
        assert!(object.fence().is_none());
        Ok(())
    }

    #[test]
    fn a_binary_object_has_the_last_fence() -> Result {
        let object = Object::new()?;
        let context = new_context();
        let (first, second) = (fence(context, 1)?, fence(context, 2)?);
        for own in [&first, &second] {
            let mut signals = Signals::new();
            signals.push(object.share(), 0)?;
            signals.publish(own.fence());
        }
        let held = object.fence().ok_or(EINVAL)?;
        assert!(held.as_raw() == second.fence().as_raw());
        second.signal(Ok(()));
        assert!(held.is_signalled());
        Ok(())
    }

    #[test]
    fn a_timeline_is_in_order() -> Result {
        let object = Object::new()?;
        let context = new_context();
        let (first, second) = (fence(context, 1)?, fence(context, 2)?);
        for (own, point) in [(&first, 5), (&second, 9)] {
            let mut signals = Signals::new();
            signals.push(object.share(), point)?;
            signals.publish(own.fence());
        }
        let last = object.fence().ok_or(EINVAL)?;
        assert!(pending(&last, Contexts::only(context)) == Some(1));
        assert!(pending(&last, Contexts::only(context + 1)).is_none());
        second.signal(Ok(()));
        // The new point is signalled after the one before it.
        assert!(!last.is_signalled());
        first.signal(Ok(()));
        assert!(last.is_signalled());
        assert!(pending(&last, Contexts::only(context + 1)) == Some(0));
        Ok(())
    }

    #[test]
    fn of_long_chains_only_the_end_is_looked_at() -> Result {
        let object = Object::new()?;
        let context = new_context();
        let own = fence(context, 1)?;
        for point in 1..=u64::from(LINKS) + 1 {
            let last = object.fence();
            assert!(last.is_none_or(|last| pending(&last, Contexts::only(context)).is_some()));
            let mut signals = Signals::new();
            signals.push(object.share(), point)?;
            signals.publish(own.fence());
        }
        let last = object.fence().ok_or(EINVAL)?;
        assert!(pending(&last, Contexts::only(context)).is_none());
        own.signal(Ok(()));
        Ok(())
    }
}
