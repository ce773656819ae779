// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the last reference to an object must not do itself.
//!
//! The last reference is often dropped by the worker that retires jobs and recovers hangs: it may wait for nothing
//! that may wait for a job. To let go of other drivers' buffers, or of a process's memory, takes just such waits. So
//! this is done later, on a queue of the library, which ends with the library's module, after all that use it.

use core::{
    cell::UnsafeCell,
    ptr::{
        self,
        NonNull, //
    },
};

use kernel::{
    bindings,
    prelude::*,
    sync::Arc,
    workqueue::{
        self,
        HasWork,
        WorkItem, //
    },
};

use super::extra;

/// The queue while there is one.
struct Place(UnsafeCell<*mut bindings::workqueue_struct>);

// SAFETY: Written by `Queue::new` and `Queue::drop` only, at the beginning and at the end of the library's module, when
// nobody else runs code of it.
unsafe impl Sync for Place {}

static PLACE: Place = Place(UnsafeCell::new(ptr::null_mut()));

/// The queue; to be kept by the module.
pub(crate) struct Queue(NonNull<bindings::workqueue_struct>);

// SAFETY: Queues are not tied to a thread.
unsafe impl Send for Queue {}
// SAFETY: A shared reference does nothing.
unsafe impl Sync for Queue {}

impl Queue {
    /// Makes the queue.
    ///
    /// # Safety
    ///
    /// Once, in the module's initialisation; to be dropped at the module's end.
    pub(crate) unsafe fn new() -> Result<Self> {
        // SAFETY: The name is copied.
        let raw = unsafe { extra::lapidary_workqueue_create(c"lapidary".as_char_ptr()) };
        let queue = NonNull::new(raw).ok_or(ENOMEM)?;
        // SAFETY: Nobody uses it yet.
        unsafe { *PLACE.0.get() = raw };
        Ok(Self(queue))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: Made by `new`. What is queued is done first; nobody queues any more.
        unsafe {
            bindings::destroy_workqueue(self.0.as_ptr());
            *PLACE.0.get() = ptr::null_mut();
        }
    }
}

/// Has `item` run on the queue, soon. Any context. If it is queued already that is enough.
pub(crate) fn run<T>(item: Arc<T>)
where
    T: WorkItem<0, Pointer = Arc<T>> + HasWork<T, 0> + Send + Sync + 'static,
{
    // SAFETY: While code of the library runs, there is a queue.
    let queue = unsafe { workqueue::Queue::from_raw(*PLACE.0.get()) };
    // It comes back if it is queued already.
    let _ = queue.enqueue(item);
}

/// Waits until all that is queued has run. The caller holds nothing that an item may need.
pub(crate) fn flush() {
    // SAFETY: As above.
    unsafe { extra::lapidary_workqueue_flush(*PLACE.0.get()) };
}

#[kunit_tests(lapidary_later)]
mod tests {
    use super::*;
    use kernel::{
        impl_has_work, new_work,
        sync::atomic::{
            Atomic,
            Relaxed, //
        },
        workqueue::Work,
    };

    #[pin_data]
    struct Count {
        runs: Arc<Atomic<u32>>,
        #[pin]
        work: Work<Count>,
    }

    impl_has_work! {
        impl HasWork<Self> for Count { self.work }
    }

    impl WorkItem for Count {
        type Pointer = Arc<Count>;

        fn run(this: Arc<Count>) {
            this.runs.add(1, Relaxed);
        }
    }

    #[test]
    fn items_run_once() -> Result {
        let runs = Arc::new(Atomic::new(0), GFP_KERNEL)?;
        let counter = runs.clone();
        let item = Arc::pin_init(
            pin_init!(Count {
                runs: counter,
                work <- new_work!("lapidary_later"),
            }),
            GFP_KERNEL,
        )?;
        run(item);
        flush();
        assert!(runs.load(Relaxed) == 1);
        Ok(())
    }
}
