// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memory of a process that the GPU uses where it lies.
//!
//! A process may change its memory at any time: unmap it, move it, fork. [`UserMemory`] watches a range of addresses by
//! an interval notifier, whose sequence number changes with each such event. [`UserPages`] are the pages that were
//! there at one number; they are pinned, so that they stay memory whatever the process does.
//!
//! - The submitter gets the pages first, without any lock of objects ([`UserMemory::fetch`]); they lie ready until
//!   the object takes them ([`UserMemory::take`]).
//! - At commit, under the [`InvalidationLock`], the submitter looks whether the number is still the same, and leaves
//!   the job's fence ([`UserMemory::guard`]). Otherwise nothing is submitted.
//! - The notifier changes the number under that lock, and then waits for the fences that were left: without the
//!   reservation of the object, which a thread may hold that waits for this process's memory.
//!
//! It is the lock that `mmu_interval_read_retry()` asks for. Under it no memory is allocated. Pages that are pinned are
//! counted for the client and for the device: they are no process's resident memory once the process has unmapped them,
//! so there are bounds.
//!
//! C: `mmu_interval_notifier_insert()`, `pin_user_pages()`.

use core::ptr;

use kernel::{
    bindings, current, device,
    dma::DmaAddress,
    error::to_result,
    impl_has_work, new_mutex, new_spinlock, new_work,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        lock::mutex::MutexGuard,
        Arc,
        Mutex,
        SpinLock, //
    },
    types::Opaque,
    workqueue::{
        Work,
        WorkItem, //
    },
};

use super::{
    extra,
    fence::Fence,
    later,
    pages::Mapping, //
};
use crate::allowance::{
    Charge,
    Count, //
};

/// Fence timelines of one device, at most.
const TIMELINES: usize = 8;
/// How long to wait for a fence before waiting again, in milliseconds. The watchdog ends it.
const WAIT_MS: u32 = 1_000;

/// Pages of the machine's memory.
pub fn ram_pages() -> usize {
    // SAFETY: It only reads a number.
    unsafe { extra::lapidary_ram_pages() }
}

/// Decides which comes first: a job, or a change of the memory that it uses. One for each device.
#[pin_data]
pub struct InvalidationLock {
    #[pin]
    lock: Mutex<()>,
    /// Pages that are pinned.
    pinned: Arc<Count>,
}

impl InvalidationLock {
    /// A lock. At most `most` pages are pinned at a time, and half of the machine's memory.
    pub fn new(most: usize) -> Result<Arc<Self>> {
        let pinned = Count::new(most.min(ram_pages() / 2))?;
        Arc::pin_init(
            pin_init!(Self {
                lock <- new_mutex!(()),
                pinned,
            }),
            GFP_KERNEL,
        )
    }

    /// How many pages are pinned at a time, at most.
    pub fn most(&self) -> usize {
        self.pinned.most()
    }

    /// Holds up changes. No memory is allocated meanwhile, and nothing is waited for.
    pub fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock()
    }
}

/// The last fence of each timeline, by its context.
type Fences = [Option<(u64, ARef<Fence>)>; TIMELINES];

/// A watched range of the addresses of a process.
#[pin_data(PinnedDrop)]
pub struct UserMemory {
    #[pin]
    work: Work<UserMemory>,
    invalidation: Arc<InvalidationLock>,
    /// Pages of the client that are pinned.
    client: Arc<Count>,
    start: usize,
    pages: usize,
    /// To be waited for.
    #[pin]
    fences: SpinLock<Fences>,
    /// Pages that have been got and that no object has taken.
    #[pin]
    ready: Mutex<Option<UserPages>>,
    /// The range is watched.
    #[pin]
    watched: Mutex<bool>,
    #[pin]
    notifier: Opaque<bindings::mmu_interval_notifier>,
}

// SAFETY: Notifiers are not tied to a thread.
unsafe impl Send for UserMemory {}
// SAFETY: The notifier has its own locks; everything else is behind a lock or constant.
unsafe impl Sync for UserMemory {}

/// Address space of the calling process; null for a kernel thread.
fn current_mm() -> *mut bindings::mm_struct {
    // SAFETY: The current task is alive, and its `mm` is its own.
    unsafe { (*bindings::get_current()).mm }
}

impl UserMemory {
    const OPS: bindings::mmu_interval_notifier_ops = bindings::mmu_interval_notifier_ops {
        invalidate: Some(Self::invalidate),
        invalidate_start: None,
        invalidate_finish: None,
    };

    /// Begins to watch `bytes` from `start` on in the calling process, both in whole pages. What is pinned of them
    /// counts for `client`.
    ///
    /// # Errors
    ///
    /// `EINVAL` for an empty range or one that is not of whole pages; `EOVERFLOW` if it wraps; `ENOMEM`.
    pub fn new(
        invalidation: &Arc<InvalidationLock>,
        client: &Arc<Count>,
        start: usize,
        bytes: usize,
    ) -> Result<Arc<Self>> {
        let mm = current_mm();
        if mm.is_null() || bytes == 0 || (start | bytes) % PAGE_SIZE != 0 {
            return Err(EINVAL);
        }
        let address = start;
        Arc::pin_init(
            try_pin_init!(Self {
                work <- new_work!("lapidary::UserMemory"),
                invalidation: invalidation.clone(),
                client: client.clone(),
                start,
                pages: bytes / PAGE_SIZE,
                fences <- new_spinlock!([const { None }; TIMELINES]),
                ready <- new_mutex!(None),
                watched <- new_mutex!(true),
                // Last: from here on it may be called.
                notifier <- Opaque::try_ffi_init(|slot: *mut bindings::mmu_interval_notifier| {
                    // SAFETY: The slot does not move; the process is the caller, and alive.
                    to_result(unsafe {
                        bindings::mmu_interval_notifier_insert(slot, mm, address, bytes, &Self::OPS)
                    })
                }),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// The current number of the memory; waits for a change under way.
    fn number(&self) -> usize {
        // SAFETY: The notifier is watched as long as there are users.
        unsafe { bindings::mmu_interval_read_begin(self.notifier.get()) }
    }

    /// Whether `number` is still the memory's number. For good only while the [`InvalidationLock`] is held.
    pub fn is_current(&self, number: usize) -> bool {
        // SAFETY: The notifier is alive; the field is written by the notifier alone, and read as C does.
        unsafe { ptr::read_volatile(&raw const (*self.notifier.get()).invalidate_seq) == number }
    }

    /// Gets the pages, unless those of `held` or those that lie ready are still the right ones; says at which number.
    /// Waits for jobs that use what has changed, and for memory. The caller holds no lock.
    ///
    /// # Errors
    ///
    /// `EPERM` in another process, and for memory that is not the process's own, as that of a file; `EFAULT` for
    /// memory that is not there or may not be written; `EINTR` and `ERESTARTSYS` if a signal arrives; `ENOMEM`, also if
    /// too much of processes' memory is pinned, in all or for this client.
    pub fn fetch(&self, held: Option<usize>) -> Result<usize> {
        // SAFETY: The field is constant.
        if current_mm() != unsafe { (*self.notifier.get()).mm } {
            return Err(EPERM);
        }
        loop {
            let number = self.number();
            if held == Some(number) {
                return Ok(number);
            }
            // What lies ready and is not right does not count any more.
            let stale = {
                let mut ready = self.ready.lock();
                match &*ready {
                    Some(pages) if pages.number == number => return Ok(number),
                    _ => ready.take(),
                }
            };
            drop(stale);
            let pages = self.pin(number)?;
            if self.is_current(number) {
                let old = self.ready.lock().replace(pages);
                drop(old);
                return Ok(number);
            }
            // It has changed meanwhile, perhaps by this very act: the first write to a page may move it.
            if current!().signal_pending() {
                return Err(ERESTARTSYS);
            }
        }
    }

    fn pin(&self, number: usize) -> Result<UserPages> {
        let charges = [
            Charge::new(&self.client, self.pages)?,
            Charge::new(&self.invalidation.pinned, self.pages)?,
        ];
        UserPages::pin(charges, self.start, self.pages, number)
    }

    /// The pages that lie ready, if they are those of `number`.
    pub fn take(&self, number: usize) -> Option<UserPages> {
        self.ready.lock().take_if(|pages| pages.number == number)
    }

    /// Changes of the memory wait for `fence` from now on. The [`InvalidationLock`] is held; the memory is current.
    pub fn guard(&self, fence: &Fence) {
        // SAFETY: The fence is alive.
        let context = unsafe { (*fence.as_raw()).context };
        let mut fences = self.fences.lock();
        let same = |entry: &&mut Option<(u64, ARef<Fence>)>| {
            entry.as_ref().is_none_or(|(other, _)| *other == context)
        };
        match fences.iter_mut().find(same) {
            Some(entry) => {
                let old = entry.replace((context, fence.into()));
                drop(fences);
                drop(old);
            }
            None => kernel::pr_warn_once!("more timelines than a device has\n"),
        }
    }

    /// Ends the watch, from any context, some time later. Nobody gets pages any more.
    pub fn release(self: Arc<Self>) {
        later::run(self);
    }

    /// Ends the watch now. Waits for a change under way, hence for jobs.
    fn end(&self) {
        let mut watched = self.watched.lock();
        if core::mem::replace(&mut *watched, false) {
            // SAFETY: It has been inserted, and is not removed twice.
            unsafe { bindings::mmu_interval_notifier_remove(self.notifier.get()) };
        }
    }

    /// # Safety
    ///
    /// Only to be called by the notifier core.
    unsafe extern "C" fn invalidate(
        notifier: *mut bindings::mmu_interval_notifier,
        range: *const bindings::mmu_notifier_range,
        number: usize,
    ) -> bool {
        // SAFETY: The notifier is inside of a `UserMemory`, which removes it before it goes.
        let this =
            unsafe { &*kernel::container_of!(Opaque::cast_from(notifier), UserMemory, notifier) };
        // SAFETY: The range is valid for the call.
        if unsafe { (*range).flags } & bindings::MMU_NOTIFIER_RANGE_BLOCKABLE == 0 {
            return false;
        }
        {
            let _lock = this.invalidation.lock();
            // SAFETY: As C's `mmu_interval_set_seq()`, under the lock that readers take.
            unsafe { ptr::write_volatile(&raw mut (*notifier).invalidate_seq, number) };
        }
        for index in 0..TIMELINES {
            let fence = match this.fences.lock().get(index) {
                Some(Some((_, fence))) => fence.clone(),
                _ => break,
            };
            // Each fence signals, be it with an error.
            while !fence.wait(false, WAIT_MS).unwrap_or(true) {}
        }
        true
    }
}

impl_has_work! {
    impl HasWork<Self> for UserMemory { self.work }
}

impl WorkItem for UserMemory {
    type Pointer = Arc<UserMemory>;

    fn run(this: Arc<UserMemory>) {
        this.end();
    }
}

#[pinned_drop]
impl PinnedDrop for UserMemory {
    fn drop(self: Pin<&mut Self>) {
        self.end();
    }
}

/// Pinned pages of a process, as they were at one number of its [`UserMemory`].
///
/// # Invariants
///
/// All pages are pinned for writing.
pub struct UserPages {
    number: usize,
    pages: KVVec<*mut bindings::page>,
    mapping: Mapping,
    _charges: [Charge; 2],
}

// SAFETY: Pins and mappings are not tied to a thread.
unsafe impl Send for UserPages {}

impl UserPages {
    fn pin(charges: [Charge; 2], start: usize, count: usize, number: usize) -> Result<Self> {
        let mut pages = KVVec::from_elem(ptr::null_mut(), count, GFP_KERNEL)?;
        let mapping = Mapping::new(count)?;
        // SAFETY: The array has room for `count` pages.
        let result = unsafe { extra::lapidary_user_pin(start, count, pages.as_mut_ptr()) };
        to_result(result.try_into()?)?;
        // INVARIANT: All or none.
        Ok(Self {
            number,
            pages,
            mapping,
            _charges: charges,
        })
    }

    /// The number of the memory that they were at.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Makes the pages reachable for `dev`, for reading and writing. Nothing happens if they are already. Allocates
    /// nothing.
    ///
    /// # Errors
    ///
    /// As [`super::pages::Pages::map`].
    pub fn map(&mut self, dev: &device::Device<device::Bound>) -> Result {
        // SAFETY: The pages are pinned, and the mapping ends before they are let go.
        unsafe { self.mapping.map(dev, &self.pages) }
    }

    /// Addresses for the device, one for each page; empty while not mapped.
    pub fn addresses(&self) -> &[DmaAddress] {
        self.mapping.addresses()
    }

    /// Ends what [`UserPages::map`] began.
    pub fn unmap(&mut self, dev: &device::Device<device::Bound>) {
        self.mapping.unmap(dev);
    }
}

impl Drop for UserPages {
    fn drop(&mut self) {
        if !self.mapping.addresses().is_empty() {
            kernel::pr_warn_once!("pages of a process leak: still mapped for a device\n");
            return;
        }
        // SAFETY: By the invariant they are pinned.
        unsafe { extra::lapidary_user_unpin(self.pages.as_mut_ptr(), self.pages.len()) };
    }
}
