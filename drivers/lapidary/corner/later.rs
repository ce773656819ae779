// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Work that the thread that drops the last reference to an object must not do itself.
//!
//! The last reference is often dropped by the worker that retires jobs and recovers from hangs. This worker must not
//! wait for anything that may wait for a job. Releasing other drivers' buffers, or a process's memory, needs such
//! waits. So a queue of the library does this work later. The queue ends with the library's module, after all modules
//! that use it.

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

// SAFETY: Only `Queue::new` and `Queue::drop` write it, at the beginning and at the end of the library's module, when
// no other thread runs code of the module.
unsafe impl Sync for Place {}

static PLACE: Place = Place(UnsafeCell::new(ptr::null_mut()));

/// The queue. The module keeps it.
pub(crate) struct Queue(NonNull<bindings::workqueue_struct>);

// SAFETY: Queues are not tied to a thread.
unsafe impl Send for Queue {}
// SAFETY: A shared reference does nothing.
unsafe impl Sync for Queue {}

impl Queue {
    /// Make the queue.
    ///
    /// # Safety
    ///
    /// Called once, in the module's initialisation. Dropped at the module's end.
    pub(crate) unsafe fn new() -> Result<Self> {
        // SAFETY: The name is copied.
        let raw = unsafe { extra::lapidary_workqueue_create(c"lapidary".as_char_ptr()) };
        let queue = NonNull::new(raw).ok_or(ENOMEM)?;
        // SAFETY: No thread uses it yet.
        unsafe { *PLACE.0.get() = raw };
        Ok(Self(queue))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: Made by `new`. Queued items run first, and no thread queues further ones.
        unsafe {
            bindings::destroy_workqueue(self.0.as_ptr());
            *PLACE.0.get() = ptr::null_mut();
        }
    }
}

/// Run `item` on the queue, soon. Any context. An item that is queued already is not queued twice.
pub(crate) fn run<T>(item: Arc<T>)
where
    T: WorkItem<0, Pointer = Arc<T>> + HasWork<T, 0> + Send + Sync + 'static,
{
    // SAFETY: While code of the library runs, there is a queue.
    let queue = unsafe { workqueue::Queue::from_raw(*PLACE.0.get()) };
    // The queue returns an item that is queued already.
    let _ = queue.enqueue(item);
}

/// Wait until all queued items have run. The caller holds no lock that an item may need.
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
