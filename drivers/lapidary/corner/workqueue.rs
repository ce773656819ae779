// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A worker of one device: a delayed work item on a queue of its own.
//!
//! `kernel::workqueue` has the system queues only. They can neither be flushed nor work under memory pressure. A
//! worker here consists of three types:
//!
//! - [`Worker`]: queue and work item. It may be asked to run from any context, at any time in its life. While no
//!   target is attached, this does nothing;
//! - [`Run`]: the function of the worker;
//! - [`Active`]: the attachment. Dropping it waits for a running call and prevents further calls.

use core::{
    cell::UnsafeCell,
    marker::PhantomPinned,
    ptr::{
        null,
        NonNull, //
    },
};

use kernel::{
    bindings,
    prelude::*,
    sync::Arc,
    time::{
        msecs_to_jiffies,
        Msecs, //
    },
    types::Opaque, //
};

use super::extra;

/// The target that a worker calls.
pub trait Run: Send + Sync {
    /// Run one round, in process context. Never concurrent with itself.
    fn run(&self);
}

/// A work item and its queue.
#[pin_data(PinnedDrop)]
pub struct Worker {
    #[pin]
    work: Opaque<bindings::delayed_work>,
    queue: NonNull<bindings::workqueue_struct>,
    /// The function to call. Written only while the work item is disabled.
    target: UnsafeCell<Target>,
    #[pin]
    _pin: PhantomPinned,
}

#[derive(Clone, Copy)]
struct Target {
    data: *const c_void,
    call: unsafe fn(*const c_void),
}

// SAFETY: All operations on work items and queues may be used from any thread. `target` is written under the
// exclusion that `disable_delayed_work_sync()` gives.
unsafe impl Send for Worker {}
// SAFETY: As above.
unsafe impl Sync for Worker {}

impl Worker {
    /// Make a worker with nothing attached. `name` is what `ps` shows for its rescuer thread.
    pub fn new(name: &CStr) -> Result<Arc<Self>> {
        // SAFETY: The name is copied.
        let queue = unsafe { extra::lapidary_workqueue_create(name.as_char_ptr()) };
        let queue = NonNull::new(queue).ok_or(ENOMEM)?;
        let worker = Arc::pin_init(
            pin_init!(Self {
                work <- Opaque::ffi_init(|slot| {
                    // SAFETY: `slot` is valid memory that does not move. Disabling cannot fail.
                    unsafe {
                        extra::lapidary_delayed_work_init(slot, Some(entry));
                        bindings::disable_delayed_work_sync(slot);
                    }
                }),
                queue,
                target: UnsafeCell::new(Target {
                    data: null(),
                    call: nothing,
                }),
                _pin: PhantomPinned,
            }),
            GFP_KERNEL,
        );
        if worker.is_err() {
            // SAFETY: Made above, and no other thread has it.
            unsafe { bindings::destroy_workqueue(queue.as_ptr()) };
        }
        worker
    }

    /// Run the worker after `delay` milliseconds, unless it is due already. Any context.
    pub fn queue(&self, delay: Msecs) {
        // SAFETY: Queue and work item live as long as `self`.
        unsafe {
            extra::lapidary_delayed_work_queue(
                self.queue.as_ptr(),
                self.work.get(),
                msecs_to_jiffies(delay),
            );
        }
    }

    /// Run the worker now, also if it is due later. Any context.
    pub fn hasten(&self) {
        // SAFETY: Queue and work item live as long as `self`.
        unsafe {
            extra::lapidary_delayed_work_hasten(self.queue.as_ptr(), self.work.get(), 0);
        }
    }

    /// Attach `target`.
    ///
    /// # Safety
    ///
    /// At most one attachment exists at a time. The caller drops it, and does not leak it, because `T` may borrow.
    pub unsafe fn attach<T: Run>(self: &Arc<Self>, target: Arc<T>) -> Active<T> {
        // SAFETY: The work item is disabled and no other thread attaches, hence no thread reads the target.
        unsafe {
            *self.target.get() = Target {
                data: (&raw const *target).cast(),
                call: call::<T>,
            };
            bindings::enable_delayed_work(self.work.get());
        }
        Active {
            worker: self.clone(),
            _target: target,
        }
    }
}

#[pinned_drop]
impl PinnedDrop for Worker {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: No attachment exists, since each holds a reference. So the work item is disabled and idle.
        unsafe { bindings::destroy_workqueue(self.queue.as_ptr()) }
    }
}

/// A target attached to a worker.
pub struct Active<T: Run> {
    worker: Arc<Worker>,
    _target: Arc<T>,
}

impl<T: Run> Drop for Active<T> {
    fn drop(&mut self) {
        // SAFETY: The work item is alive. Afterwards it neither runs nor can be queued, so the target may be dropped.
        unsafe {
            bindings::disable_delayed_work_sync(self.worker.work.get());
            *self.worker.target.get() = Target {
                data: null(),
                call: nothing,
            };
        }
    }
}

/// # Safety
///
/// No requirements: the function only has the type of a target's function.
unsafe fn nothing(_: *const c_void) {}

/// # Safety
///
/// `data` points to a live `T`.
unsafe fn call<T: Run>(data: *const c_void) {
    // SAFETY: By the contract.
    unsafe { (*data.cast::<T>()).run() }
}

/// # Safety
///
/// Only the workqueue core may call this, with the work item of a [`Worker`].
unsafe extern "C" fn entry(work: *mut bindings::work_struct) {
    // SAFETY: The work item is the first field of the delayed work inside of a `Worker`. The worker lives while its
    // work can run, because an attachment holds a reference and waits for the call to end.
    unsafe {
        let delayed = kernel::container_of!(work, bindings::delayed_work, work);
        let worker = kernel::container_of!(Opaque::cast_from(delayed), Worker, work);
        let target = *(*worker).target.get();
        (target.call)(target.data);
    }
}

/// A worker that counts its rounds, for tests of code that queues it.
#[cfg(CONFIG_KUNIT = "y")]
pub(crate) mod counted {
    use super::*;
    use kernel::{
        sync::atomic::{
            Atomic,
            Relaxed, //
        },
        time::{
            delay::fsleep,
            Delta, //
        },
    };

    /// Counts the rounds.
    pub(super) struct Count(pub(super) Atomic<u32>);

    impl Run for Count {
        fn run(&self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// The worker.
    pub(crate) struct Counted {
        active: Active<Count>,
        count: Arc<Count>,
    }

    impl Counted {
        /// Make a worker that has not run yet.
        pub(crate) fn new() -> Result<Self> {
            let worker = Worker::new(c"lapidary-kunit")?;
            let count = Arc::new(Count(Atomic::new(0)), GFP_KERNEL)?;
            // SAFETY: The only attachment, dropped with this value, which tests do not leak.
            let active = unsafe { worker.attach(count.clone()) };
            Ok(Self { active, count })
        }

        /// Return the worker to pass to the code under test.
        pub(crate) fn worker(&self) -> &Arc<Worker> {
            &self.active.worker
        }

        /// Return how often the worker has run, once it has run `rounds` times, or after a second.
        pub(crate) fn runs(&self, rounds: u32) -> u32 {
            for _ in 0..100 {
                if self.count.0.load(Relaxed) >= rounds {
                    break;
                }
                fsleep(Delta::from_millis(10));
            }
            self.count.0.load(Relaxed)
        }
    }
}

#[kunit_tests(lapidary_worker)]
mod tests {
    use super::{
        counted::Count,
        *, //
    };
    use kernel::sync::atomic::{
        Atomic,
        Relaxed, //
    };
    use kernel::time::{
        delay::fsleep,
        Delta, //
    };

    #[test]
    fn runs_only_while_attached() -> Result {
        let worker = Worker::new(c"lapidary-kunit")?;
        let count = Arc::new(Count(Atomic::new(0)), GFP_KERNEL)?;
        worker.hasten();
        fsleep(Delta::from_millis(20));
        assert!(count.0.load(Relaxed) == 0);

        // SAFETY: The only attachment; dropped below.
        let active = unsafe { worker.attach(count.clone()) };
        worker.hasten();
        for _ in 0..100 {
            if count.0.load(Relaxed) != 0 {
                break;
            }
            fsleep(Delta::from_millis(10));
        }
        assert!(count.0.load(Relaxed) == 1);
        drop(active);

        worker.hasten();
        fsleep(Delta::from_millis(20));
        assert!(count.0.load(Relaxed) == 1);
        Ok(())
    }

    #[test]
    fn hastening_moves_a_later_date() -> Result {
        let worker = Worker::new(c"lapidary-kunit")?;
        let count = Arc::new(Count(Atomic::new(0)), GFP_KERNEL)?;
        // SAFETY: The only attachment; dropped at the end.
        let _active = unsafe { worker.attach(count.clone()) };
        worker.queue(3_600_000);
        worker.hasten();
        for _ in 0..100 {
            if count.0.load(Relaxed) != 0 {
                break;
            }
            fsleep(Delta::from_millis(10));
        }
        assert!(count.0.load(Relaxed) == 1);
        Ok(())
    }
}
