// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The buffer object.
//!
//! An object has a handle for user space, a reservation with the fences of the jobs that use it, and a
//! home: a range of VRAM or a slot for system pages. A job [`place`](Use::place)s its objects under their
//! reservations and keeps the [`Use`]s until its fence has signalled; so the object stays, and its system
//! pages keep their addresses.
//!
//! The home changes only under the reservation.
//!
//! # Secrets
//!
//! System pages come zeroed. A range of VRAM holds what its last owner left, so [`create`] has the ring
//! clear it, and the object carries that fence: page faults wait for it, jobs come behind it on the
//! ring, and if it ends with an error neither CPU nor GPU gets to the object at all.

use core::marker::PhantomData;

use kernel::{
    drm::{
        self,
        gem, //
    },
    new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex,
        SetOnce, //
    },
};

use crate::{
    corner::{
        fence::Fence,
        gem::{
            Backed,
            Frame,
            Hook, //
        },
        mm::Range, //
    },
    driver::Driver,
    family::{
        Family,
        GpuAddr, //
    },
    memory::{
        gtt::{
            self,
            Slot, //
        },
        placement::{
            Candidate,
            Domain,
            Request, //
        },
        Memory,
    },
};

/// A buffer object of family `F`, with its handle and reservation.
pub type Bo<F> = gem::Object<Object<F>>;

/// Where an object lives.
pub(super) enum Home {
    /// In the GPU's own memory.
    Vram(Range),
    /// In system pages.
    System(Arc<Slot>),
}

/// A look at a [`Home`].
pub(super) enum At {
    Vram { start: GpuAddr, size: u64 },
    System(Arc<Slot>),
}

/// The driver's part of a buffer object.
#[pin_data]
pub struct Object<F: Family> {
    hook: Hook,
    memory: Arc<Memory>,
    /// Changed only by whoever holds the reservation; whoever holds it may rely on it after the mutex is
    /// released. The mutex alone gives a look at what may change at once. No memory is allocated under it.
    #[pin]
    home: Mutex<Home>,
    /// What user space asked for.
    wanted: Domain,
    /// Behind this fence, VRAM is clear. Not set for system pages.
    cleared: SetOnce<ARef<Fence>>,
    /// The content may be looked at, for good: it is system pages, or clear VRAM.
    clean: Atomic<bool>,
    /// Flags in the low half, pitch in the high half: kept for user space.
    tiling: Atomic<u64>,
    /// User space's number for [`Object::wanted`], kept for it.
    initial_domains: Atomic<u32>,
    _family: PhantomData<fn() -> F>,
}

/// What [`create`] decides before the object exists.
pub struct Args {
    memory: Arc<Memory>,
    home: Home,
    wanted: Domain,
}

impl<F: Family> gem::DriverObject for Object<F> {
    type Driver = Driver<F>;
    type Args = Args;

    fn new(_dev: &drm::Device<Driver<F>>, _size: usize, args: Args) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            hook: Hook::new(),
            memory: args.memory,
            clean: Atomic::new(matches!(args.home, Home::System(_))),
            home <- new_mutex!(args.home),
            wanted: args.wanted,
            cleared: SetOnce::new(),
            tiling: Atomic::new(0),
            initial_domains: Atomic::new(0),
            _family: PhantomData,
        })
    }
}

/// Makes an object.
///
/// `clear` is called for an object in VRAM, before anybody else knows of it: it has ring 0 fill the whole
/// object with zeros (GPU address and bytes), attaches the fence to the object with kernel usage, and
/// returns it. If it fails because the ring does not work, the object is made in system pages instead.
///
/// # Errors
///
/// `EINVAL` for size 0; `ENOMEM` if the object would be larger than the GTT window, or if there is no
/// memory; `ERESTARTSYS` and `EINTR` from `clear`.
pub fn create<F: Family>(
    dev: &drm::Device<Driver<F>>,
    memory: &Arc<Memory>,
    request: &Request,
    mut clear: impl FnMut(&ARef<Bo<F>>, GpuAddr, u64) -> Result<ARef<Fence>>,
) -> Result<ARef<Bo<F>>> {
    let limit = memory.gtt_size();
    let size = request.bytes(limit)?;
    let align = request.alignment(limit)?;
    for &candidate in request.candidates() {
        let home = match candidate {
            Candidate::System => Home::System(Slot::new(size, align)?),
            vram => match memory.vram().find(size, align, vram) {
                Ok(range) => Home::Vram(range),
                Err(e) if e == ENOSPC => continue,
                Err(e) => return Err(e),
            },
        };
        let place = match &home {
            Home::Vram(range) => Some(range.start()),
            Home::System(_) => None,
        };
        let args = Args {
            memory: memory.clone(),
            home,
            wanted: request.domain,
        };
        let object = crate::corner::gem::new(dev, usize::try_from(size)?, args)
            // What the shared-memory file system says when there is no memory for an inode.
            .map_err(|e| if e == ENOSPC { ENOMEM } else { e })?;
        match place {
            None => {
                memory.system.add(size, Relaxed);
                return Ok(object);
            }
            Some(addr) => match clear(&object, addr, size) {
                Ok(fence) => {
                    object.cleared.populate(fence);
                    return Ok(object);
                }
                Err(e) if e == ERESTARTSYS || e == EINTR => return Err(e),
                // A ring that does not work: what VRAM holds cannot be removed, so it is not used.
                Err(_) => {}
            },
        }
    }
    Err(ENOMEM)
}

impl<F: Family> Object<F> {
    /// Where the object is.
    pub fn domain(&self) -> Domain {
        match self.at() {
            At::Vram { .. } => Domain::Vram,
            At::System(slot) if self.wanted == Domain::System && !slot.is_placed() => {
                Domain::System
            }
            At::System(_) => Domain::Gtt,
        }
    }

    /// Where the object lives. Stays so for whoever holds the reservation; a guess for others.
    pub(super) fn at(&self) -> At {
        match &*self.home.lock() {
            Home::Vram(range) => At::Vram {
                start: range.start(),
                size: range.size(),
            },
            Home::System(slot) => At::System(slot.clone()),
        }
    }

    /// Where user space wanted the object.
    pub fn wanted(&self) -> Domain {
        self.wanted
    }

    /// Tiling flags and pitch that user space has stored with the object.
    pub fn tiling(&self) -> (u32, u32) {
        let both = self.tiling.load(Relaxed);
        (both as u32, (both >> 32) as u32)
    }

    /// Stores tiling flags and pitch for whoever shares the object. Nothing here looks at them.
    pub fn set_tiling(&self, flags: u32, pitch: u32) {
        let both = u64::from(flags) | u64::from(pitch) << 32;
        self.tiling.store(both, Relaxed);
    }

    /// What user space has stored as the domains it wanted.
    pub fn initial_domains(&self) -> u32 {
        self.initial_domains.load(Relaxed)
    }

    /// Stores such domains for whoever shares the object. Nothing here looks at them.
    pub fn set_initial_domains(&self, domains: u32) {
        self.initial_domains.store(domains, Relaxed);
    }

    /// Fails if the content may not be looked at: the clearing of VRAM has failed, or never began.
    fn check(&self) -> Result {
        if self.clean.load(Relaxed) {
            return Ok(());
        }
        match self.cleared.as_ref().ok_or(EIO)?.result() {
            Some(Ok(())) => self.clean.store(true, Relaxed),
            Some(Err(_)) => return Err(EIO),
            // Pending is fine: whoever asks is behind it.
            None => {}
        }
        Ok(())
    }
}

/// A job's use of an object.
///
/// It holds a reference, and from [`Use::place`] on the object keeps its address. Dropping it may sleep.
pub struct Use<F: Family> {
    object: ARef<Bo<F>>,
    addr: GpuAddr,
    placed: bool,
    /// Of an object that was placed in system pages: it keeps its address.
    slot: Option<Arc<Slot>>,
    writes: bool,
}

// SAFETY: `kernel::drm` 7.3 does not say it, but an object may be used and released by any thread: it is counted
// atomically, its C part has its own locks, and its driver part is `Send` and `Sync`.
unsafe impl<F: Family> Send for Use<F> {}

impl<F: Family> Use<F> {
    /// A use that has no address yet; `writes` as far as is known.
    pub fn new(object: ARef<Bo<F>>, writes: bool) -> Self {
        Self {
            object,
            addr: 0,
            placed: false,
            slot: None,
            writes,
        }
    }

    /// The object.
    pub fn object(&self) -> &Bo<F> {
        &self.object
    }

    /// Whether the job writes the object.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// The job writes the object.
    pub fn set_writes(&mut self) {
        self.writes = true;
    }

    /// Gives the object an address for the job. The caller has locked its reservation. A second call does nothing.
    ///
    /// The use is to be dropped when the job's fence has signalled, or when there will be no job.
    ///
    /// # Errors
    ///
    /// `ENODEV` after unbind; `ENOSPC` if the GTT window has no room between the objects in use, which may
    /// change when other [`Use`]s are dropped; `EIO` if the object could not be cleared, or its pages
    /// cannot be reached by the device; `EINTR` if the process is being killed; `ENOMEM`.
    pub fn place(&mut self) -> Result {
        if self.placed {
            return Ok(());
        }
        self.object.check()?;
        // Under the reservation it stays there.
        match self.object.at() {
            At::Vram { start, .. } => self.addr = start,
            At::System(slot) => {
                let memory = &self.object.memory;
                let now = memory.placements.fetch_add(1, Relaxed);
                self.addr = gtt::place(&memory.gtt, &slot, &*self.object, now)?;
                self.slot = Some(slot);
            }
        }
        self.placed = true;
        Ok(())
    }

    /// The address of the object's first byte, `None` before [`Use::place`].
    pub fn addr(&self) -> Option<GpuAddr> {
        self.placed.then_some(self.addr)
    }
}

impl<F: Family> Drop for Use<F> {
    fn drop(&mut self) {
        if let Some(slot) = &self.slot {
            slot.leave();
        }
    }
}

// SAFETY: A range of VRAM belongs to the object until it is freed, and `bus_address` is inside BAR0;
// system pages are held from when `frames` reports them until `release`, after which there is no
// mapping. `hook` is not used here.
unsafe impl<F: Family> Backed for Object<F> {
    fn hook(&self) -> &Hook {
        &self.hook
    }

    fn release(object: &Bo<F>) {
        if let At::System(slot) = object.at() {
            let memory = &object.memory;
            gtt::release(&memory.gtt, &slot, object);
            memory.system.fetch_sub(slot.size(), Relaxed);
        }
    }

    fn frames(
        object: &Bo<F>,
        _dev: &drm::Device<Driver<F>, drm::Registered>,
        first: usize,
        report: &mut dyn FnMut(Frame) -> bool,
    ) -> Result {
        object.check()?;
        // The fault handler holds the reservation: the home stays what it is.
        match object.at() {
            At::System(slot) => slot.frames(object, first, &mut |frame| report(Frame::Ram(frame))),
            At::Vram { start, size } => {
                let from = start + (first * PAGE_SIZE) as u64;
                for addr in (from..start + size).step_by(PAGE_SIZE) {
                    let vram = object.memory.vram();
                    let bus = vram.bus_address(addr).ok_or(EFAULT)?;
                    if !report(Frame::Vram((bus / PAGE_SIZE as u64) as usize)) {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}
