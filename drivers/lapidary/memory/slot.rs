// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A slot: the system pages of an object, and the addresses that they have in the GTT window.
//!
//! A job that finds its object in place takes no lock: the state counts its use, and only a place without users is
//! taken away. Everything else happens under the slot's lock, which comes after that of the window ([`super::gtt`]).

use kernel::{
    device::{
        Bound,
        Device, //
    },
    drm::gem::IntoGEMObject,
    new_mutex,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        Arc,
        Mutex, //
    },
};

use crate::{
    corner::{
        mm::Range,
        pages::Pages,
        userptr::UserPages,
        wc, //
    },
    family::space::GpuAddr,
    memory::source::Source, //
};

/// The system pages of one object, and their place in the window.
#[pin_data]
pub(crate) struct Slot {
    #[pin]
    pub(crate) inner: Mutex<Inner>,
    /// [`PLACED`] while it has addresses, and how many jobs use them. Only a place without users is taken away.
    state: Atomic<u64>,
    /// The first address, while it has any.
    addr: Atomic<GpuAddr>,
    /// Pages that it holds in memory.
    held: Atomic<usize>,
    /// The device reaches the pages: for those who only look.
    mapped: Atomic<bool>,
    /// When it was last placed.
    used: Atomic<u64>,
    /// Bytes, whole pages.
    pub(crate) size: u64,
    /// Alignment of the address.
    pub(crate) align: u64,
}

/// Pages that are looked at at a time.
const SOME: usize = 16;

/// In the state of a slot: it has addresses.
const PLACED: u64 = 1 << 63;

/// What belongs to a slot.
pub(crate) struct Inner {
    /// The pages. Those of the object's own are mapped for the device exactly while there are addresses.
    pub(crate) source: Source,
    /// Addresses, while in the window.
    pub(crate) range: Option<Range>,
}

impl Slot {
    /// A slot for `size` bytes of pages of the object's own, with addresses that are multiples of `align`.
    pub(crate) fn new(size: u64, align: u64) -> Result<Arc<Self>> {
        Self::with(Source::Own(None), size, align)
    }

    /// A slot for pages from anywhere.
    pub(crate) fn with(source: Source, size: u64, align: u64) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                inner <- new_mutex!(Inner {
                    source,
                    range: None,
                }),
                state: Atomic::new(0),
                held: Atomic::new(0),
                mapped: Atomic::new(false),
                addr: Atomic::new(0),
                used: Atomic::new(0),
                size,
                align,
            }),
            GFP_KERNEL,
        )
    }

    /// Whether the object has addresses at the moment.
    pub(crate) fn is_placed(&self) -> bool {
        self.state.load(Relaxed) & PLACED != 0
    }

    /// Reports the page frame numbers of the object's own pages, if they are held, from page `first` on.
    pub(crate) fn frames(&self, first: usize, report: &mut dyn FnMut(usize) -> bool) {
        let mut index = first;
        loop {
            // Whoever gets them may allocate.
            let mut some = [0; SOME];
            let mut count = 0;
            if let Some(pages) = self.inner.lock().source.own() {
                let frames = (index..).map_while(|index| pages.frame(index));
                for (to, frame) in some.iter_mut().zip(frames) {
                    *to = frame;
                    count += 1;
                }
            }
            for &frame in some.iter().take(count) {
                if !report(frame) {
                    return;
                }
            }
            if count < SOME {
                return;
            }
            index += count;
        }
    }

    /// Takes hold of the pages, those of `object`, whose reservation the caller holds.
    ///
    /// Errors: as [`Pages::get`].
    pub(crate) fn hold<O: IntoGEMObject>(&self, object: &O) -> Result {
        if matches!(self.inner.lock().source, Source::Own(None)) {
            let pages = Pages::get(object)?;
            self.keep(pages);
        }
        Ok(())
    }

    /// The number of the process's pages that are here, if any are.
    pub(crate) fn number(&self) -> Option<usize> {
        match &self.inner.lock().source {
            Source::User(_, pages) => pages.as_ref().map(UserPages::number),
            _ => None,
        }
    }

    /// Shows the pages, if they are the object's own and held; says whether they are. No memory is allocated in `show`.
    pub(crate) fn show(&self, show: &mut dyn FnMut(&Pages)) -> bool {
        self.inner.lock().source.own().map(show).is_some()
    }

    /// Fills the pages of `object`, whose reservation the caller holds, from device memory.
    ///
    /// Errors: as [`Pages::get`] and [`Pages::read_device`].
    pub(crate) fn read_device<O: IntoGEMObject>(
        &self,
        object: &O,
        window: &wc::Window<'_>,
    ) -> Result {
        let mut pages = Pages::get(object)?;
        let result = pages.read_device(window);
        if result.is_err() {
            pages.discard(object);
            return result;
        }
        self.keep(pages);
        Ok(())
    }

    /// Pages that the slot holds in memory.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// The slot holds `pages` from now on.
    fn keep(&self, pages: Pages) {
        self.held.store(pages.len(), Relaxed);
        self.inner.lock().source = Source::Own(Some(pages));
    }

    /// The slot holds no pages any more: they are the caller's.
    pub(crate) fn give_up(&self, inner: &mut Inner) -> Option<Pages> {
        self.held.store(0, Relaxed);
        inner.source.take_own()
    }

    /// Makes the pages, which are held, reachable for `dev`.
    ///
    /// Errors: as [`Source::map`].
    pub(crate) fn map(&self, inner: &mut Inner, dev: &Device<Bound>) -> Result {
        inner.source.map(dev)?;
        self.mapped.store(true, Relaxed);
        Ok(())
    }

    /// The device does not reach the pages any more. The page table has no entry for them, and its cache has been
    /// flushed.
    pub(crate) fn unmap(&self, inner: &mut Inner, dev: &Device<Bound>) {
        inner.source.unmap(dev);
        self.mapped.store(false, Relaxed);
    }

    /// Whether the device reaches the pages.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped.load(Relaxed)
    }

    /// Ends one use that [`gtt::place`](super::gtt::place) began.
    pub(crate) fn leave(&self) {
        self.state.fetch_sub(1, Release);
    }

    /// The address, with one user more, if there is one.
    pub(crate) fn again(&self, now: u64) -> Option<GpuAddr> {
        let mut old = self.state.load(Relaxed);
        while old & PLACED != 0 {
            match self.state.cmpxchg(old, old + 1, Acquire) {
                Ok(_) => {
                    self.used.store(now, Relaxed);
                    return Some(self.addr.load(Relaxed));
                }
                Err(other) => old = other,
            }
        }
        None
    }

    /// The address is `addr` from now on, and has one user.
    pub(crate) fn begin(&self, addr: GpuAddr, now: u64) {
        self.addr.store(addr, Relaxed);
        self.used.store(now, Relaxed);
        self.state.fetch_add(PLACED + 1, Release);
    }

    /// When it was last placed, if it has addresses that no job uses.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        (self.state.load(Relaxed) == PLACED).then(|| self.used.load(Relaxed))
    }

    /// Nobody gets the address any more, if nobody uses it now; says whether that is so.
    pub(crate) fn end_if_idle(&self) -> bool {
        self.state.cmpxchg(PLACED, 0, Acquire).is_ok()
    }

    /// Nobody gets the address any more. It has one.
    pub(crate) fn end(&self) {
        self.state.fetch_sub(PLACED, Acquire);
    }
}
