// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memory of a process that the GPU uses in place.
//!
//! A process may change its memory at any time: unmap it, move it, fork. [`UserMemory`] watches a range of addresses
//! by an interval notifier. The sequence number of the notifier changes with each such event. [`UserPages`] are the
//! pages that the range had at one number. They are pinned, so they stay allocated whatever the process does.
//!
//! - The submitter first gets the pages, without any lock of objects ([`UserMemory::fetch`]). They are kept ready
//!   until the object takes them ([`UserMemory::take`]).
//! - At commit, under the [`InvalidationLock`], the submitter tests whether the number is still the same, and leaves
//!   the job's fence ([`UserMemory::guard`]). If the number has changed, nothing is submitted.
//! - The notifier changes the number under that lock, and then waits for the fences that submitters have left. It
//!   does not hold the object's reservation, because a thread may hold the reservation while it waits for this
//!   process's memory.
//!
//! This is the lock that `mmu_interval_read_retry()` needs. No memory is allocated under it. Pinned pages are counted
//! for the client and for the device. Both counts have a bound, because pages that a process has unmapped stay pinned
//! but belong to no process's resident memory.
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
/// How long to wait for a fence before waiting again, in milliseconds. The watchdog makes every fence signal.
const WAIT_MS: u32 = 1_000;

/// Return the number of pages of the machine's memory.
pub fn ram_pages() -> usize {
    // SAFETY: It only reads a number.
    unsafe { extra::lapidary_ram_pages() }
}

/// Orders a job and a change of the memory that it uses. One for each device.
#[pin_data]
pub struct InvalidationLock {
    #[pin]
    lock: Mutex<()>,
    /// Pages that are pinned.
    pinned: Arc<Count>,
}

impl InvalidationLock {
    /// Make a lock. At most `most` pages are pinned at a time, and at most half of the machine's memory.
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

    /// Return how many pages are pinned at a time, at most.
    pub fn most(&self) -> usize {
        self.pinned.most()
    }

    /// Delay changes of the memory. The holder neither allocates memory nor waits.
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
    /// Fences that a change of the memory waits for.
    #[pin]
    fences: SpinLock<Fences>,
    /// Pages that are pinned and that no object has taken yet.
    #[pin]
    ready: Mutex<Option<UserPages>>,
    /// The range is watched.
    #[pin]
    watched: Mutex<bool>,
    #[pin]
    notifier: Opaque<bindings::mmu_interval_notifier>,
}

// SAFETY: Notifiers do not belong to a thread.
unsafe impl Send for UserMemory {}
// SAFETY: The notifier has its own locks. Everything else is constant or behind a lock.
unsafe impl Sync for UserMemory {}

/// Return the address space of the calling process, null for a kernel thread.
fn current_mm() -> *mut bindings::mm_struct {
    // SAFETY: The current task is alive, and its `mm` does not change while it runs.
    unsafe { (*bindings::get_current()).mm }
}

impl UserMemory {
    const OPS: bindings::mmu_interval_notifier_ops = bindings::mmu_interval_notifier_ops {
        invalidate: Some(Self::invalidate),
        invalidate_start: None,
        invalidate_finish: None,
    };

    /// Begin to watch `bytes` from `start` on in the calling process, both in whole pages. Pages of the range that
    /// are pinned count for `client`.
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
                // Last, because from here on the notifier may be called.
                notifier <- Opaque::try_ffi_init(|slot: *mut bindings::mmu_interval_notifier| {
                    // SAFETY: The slot does not move. The process is the caller, and alive.
                    to_result(unsafe {
                        bindings::mmu_interval_notifier_insert(slot, mm, address, bytes, &Self::OPS)
                    })
                }),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Return the current number of the memory. Waits for a change under way.
    fn number(&self) -> usize {
        // SAFETY: The notifier is watched as long as there are users.
        unsafe { bindings::mmu_interval_read_begin(self.notifier.get()) }
    }

    /// Return whether `number` is still the memory's number. The answer stays true only while the
    /// [`InvalidationLock`] is held.
    pub fn is_current(&self, number: usize) -> bool {
        // SAFETY: The notifier is alive. Only the notifier writes the field. It is read as C does.
        unsafe { ptr::read_volatile(&raw const (*self.notifier.get()).invalidate_seq) == number }
    }

    /// Pin the pages, unless those of `held` or the ready ones are still current. Return their number. Waits for jobs
    /// that use changed pages, and for memory. The caller holds no lock.
    ///
    /// # Errors
    ///
    /// `EPERM` in another process, and for memory that is not the process's own, for example that of a file; `EFAULT`
    /// for memory that does not exist or may not be written; `EINTR` and `ERESTARTSYS` if a signal arrives; `ENOMEM`,
    /// also if too much memory of processes is pinned, in total or for this client.
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
            // Stale ready pages are freed first, so that they do not count any more.
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
            // The memory has changed meanwhile, perhaps because of the pinning: the first write to a page may move
            // it.
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

    /// Take the ready pages, if they are those of `number`.
    pub fn take(&self, number: usize) -> Option<UserPages> {
        self.ready.lock().take_if(|pages| pages.number == number)
    }

    /// Make changes of the memory wait for `fence`. The caller holds the [`InvalidationLock`], and the memory is
    /// current.
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

    /// End the watch some time later, from any context. No pages are pinned any more.
    pub fn release(self: Arc<Self>) {
        later::run(self);
    }

    /// End the watch now. Waits for a change under way, hence for jobs.
    fn end(&self) {
        let mut watched = self.watched.lock();
        if core::mem::replace(&mut *watched, false) {
            // SAFETY: It has been inserted, and is not removed twice.
            unsafe { bindings::mmu_interval_notifier_remove(self.notifier.get()) };
        }
    }

    /// # Safety
    ///
    /// Only the notifier core may call this.
    unsafe extern "C" fn invalidate(
        notifier: *mut bindings::mmu_interval_notifier,
        range: *const bindings::mmu_notifier_range,
        number: usize,
    ) -> bool {
        // SAFETY: The notifier is inside of a `UserMemory`, which removes it before it is freed.
        let this =
            unsafe { &*kernel::container_of!(Opaque::cast_from(notifier), UserMemory, notifier) };
        // SAFETY: The range is valid for the call.
        if unsafe { (*range).flags } & bindings::MMU_NOTIFIER_RANGE_BLOCKABLE == 0 {
            return false;
        }
        {
            let _lock = this.invalidation.lock();
            // SAFETY: As C's `mmu_interval_set_seq()` does, under the lock that readers take.
            unsafe { ptr::write_volatile(&raw mut (*notifier).invalidate_seq, number) };
        }
        for index in 0..TIMELINES {
            let fence = match this.fences.lock().get(index) {
                Some(Some((_, fence))) => fence.clone(),
                _ => break,
            };
            // Each fence signals, perhaps with an error.
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

/// Pinned pages of a process that belong to one number of its [`UserMemory`].
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

// SAFETY: Pins and mappings do not belong to a thread.
unsafe impl Send for UserPages {}

impl UserPages {
    fn pin(charges: [Charge; 2], start: usize, count: usize, number: usize) -> Result<Self> {
        let mut pages = KVVec::from_elem(ptr::null_mut(), count, GFP_KERNEL)?;
        let mapping = Mapping::new(count)?;
        // SAFETY: The array has room for `count` pages.
        let result = unsafe { extra::lapidary_user_pin(start, count, pages.as_mut_ptr()) };
        to_result(result.try_into()?)?;
        // INVARIANT: The function pins all pages or none.
        Ok(Self {
            number,
            pages,
            mapping,
            _charges: charges,
        })
    }

    /// Return the number of the memory to which the pages belong.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Make the pages accessible to `dev`, for reading and writing. Does nothing if they are already. Allocates
    /// nothing.
    ///
    /// # Errors
    ///
    /// As [`super::pages::Pages::map`].
    pub fn map(&mut self, dev: &device::Device<device::Bound>) -> Result {
        // SAFETY: The pages are pinned, and the mapping ends before they are unpinned.
        unsafe { self.mapping.map(dev, &self.pages) }
    }

    /// Return the addresses for the device, one for each page. Empty while not mapped.
    pub fn addresses(&self) -> &[DmaAddress] {
        self.mapping.addresses()
    }

    /// End what [`UserPages::map`] began.
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
