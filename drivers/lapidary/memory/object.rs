// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The buffer object.
//!
//! An object has a handle for user space, a reservation with the fences of the jobs that use it, and a home: a range
//! of VRAM, or system pages ([`Backing`]). A job [`place`](super::usage::Use::place)s its objects under their
//! reservations and keeps the [`Use`](super::usage::Use)s until its fence has signalled. So the object stays
//! allocated, and its system pages keep their addresses.
//!
//! The home changes only under the reservation.
//!
//! # Secrets
//!
//! System pages are zeroed, and so are lots of VRAM from the stock ([`super::vram`]). Any other lot holds the data of
//! its last owner. So [`crate::residency::create`] lets the ring clear it, and the object carries the fence of the
//! clear. Page faults wait for this fence, and jobs come behind it on the ring. If it ends with an error, the jobs
//! behind it fail, too ([`crate::portable::replay`]). The object is then given new system pages, which are zero,
//! before CPU, GPU or a move access it ([`super::renew`]). An object that has moved ([`crate::residency::moves`]) is
//! clean, because the move has overwritten all of its new home.
//!
//! An untouched object gives back memory that is zero. An object is untouched if no job has had its address
//! ([`Use::place`](super::usage::Use::place)), no CPU mapping has shown it, it has not moved, and its clear, if it
//! had one, has succeeded. Then the clear is the only job that knows its address. The clear is done, because it has
//! held a reference to the object until its end.

use core::{
    marker::PhantomData,
    mem::replace, //
};

use kernel::{
    drm::{
        self,
        gem, //
    },
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        SetOnce,
        SpinLock, //
    },
};

use crate::{
    allowance::Charge,
    corner::{
        fence::Fence,
        gem::Backed,
        prime::Import,
        roster::{
            Place,
            Roster,
            Seat, //
        },
        userptr::UserMemory, //
    },
    driver::Driver,
    family::{
        space::GpuAddr,
        Family,
        Note,
        Uapi, //
    },
    lock::shared_spinlock,
    memory::{
        backing::Backing,
        managers::Memory, //
        reached,
        surface_registers::Taken,
        surfaces,
        vram::Lot,
    },
    portable::{
        placement::{
            Access,
            Domain, //
        },
        replay::Content, //
    }, //
};

/// A buffer object of family `F`, with its handle and reservation.
pub type Bo<F> = gem::Object<Object<F>>;

/// Where an object lives.
pub(crate) enum Home {
    /// In the GPU's own memory.
    Vram(Lot),
    /// In system pages.
    System(Arc<Backing>),
}

/// The home of an object at one moment.
pub(crate) enum At {
    Vram { start: GpuAddr, size: u64 },
    System(Arc<Backing>),
}

/// The driver's part of a buffer object.
#[pin_data]
pub struct Object<F: Family> {
    memory: Arc<Memory>,
    /// The list that the object is on.
    objects: Arc<Roster<Self>>,
    pub(crate) seat: Seat,
    /// Changed only under the reservation. A thread that holds the reservation may rely on it after the lock is
    /// released. For a thread with only the lock, it may change as soon as the lock is released. No memory is
    /// allocated under the lock.
    #[pin]
    home: SpinLock<Home>,
    /// The address in VRAM, or [`NOWHERE`]. For readers that do not take the lock.
    vram: Atomic<u64>,
    /// Bytes and alignment, in whole pages.
    size: u64,
    align: u64,
    /// It should be in VRAM.
    wanted: Atomic<bool>,
    /// User space asked only for memory that the GPU cannot reach.
    system: bool,
    /// Which of CPU and GPU accesses it, as user space states.
    access: Access,
    /// The CPU has touched it where it could not see it.
    touched: Atomic<bool>,
    /// The number of pins. A pinned object stays in system pages. Written under the reservation.
    pins: Atomic<u32>,
    /// It is another driver's memory.
    pub(crate) foreign: Option<Arc<Import>>,
    /// It is a process's memory.
    user: Option<Arc<UserMemory>>,
    /// It should be in VRAM and is not. Counted in [`Memory`].
    astray: Atomic<bool>,
    /// When a job used it last (see [`Memory::now`]).
    used: Atomic<u64>,
    /// The fence of the clear of VRAM. Not set for system pages.
    cleared: SetOnce<ARef<Fence>>,
    /// The content may be read from now on, because it is system pages or cleared VRAM.
    clean: Atomic<bool>,
    /// The VRAM in which it was made may hold other data than zeros (see [`Object::set_reached`]).
    reached: Atomic<bool>,
    /// The CPU has, or had, a mapping of it in VRAM. Set under the reservation.
    shown: Atomic<bool>,
    /// The clear is about to fail, or has failed.
    doomed: Atomic<bool>,
    /// The data that the user-space interface keeps with it.
    note: Note<F>,
    /// How the CPU sees it while it is in VRAM.
    surface: Taken,
    /// Counts the object for the client that has made it.
    _charge: Option<Charge>,
    _family: PhantomData<fn() -> F>,
}

/// [`Object::vram`] of an object that is not in VRAM.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// What [`crate::residency::create`] decides before the object exists.
pub struct Args<F: Family> {
    pub(crate) memory: Arc<Memory>,
    pub(crate) objects: Arc<Roster<Object<F>>>,
    pub(crate) home: Home,
    /// The home is zero, or its pages are zeroed when they are allocated.
    pub(crate) zero: bool,
    pub(crate) size: u64,
    pub(crate) align: u64,
    pub(crate) wanted: Domain,
    pub(crate) access: Access,
    pub(crate) foreign: Option<Arc<Import>>,
    pub(crate) user: Option<Arc<UserMemory>>,
    pub(crate) charge: Option<Charge>,
}

impl<F: Family> gem::DriverObject for Object<F> {
    type Driver = Driver<F>;
    type Args = Args<F>;

    fn new(
        _dev: &drm::Device<Driver<F>>,
        _size: usize,
        args: Args<F>,
    ) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            used: Atomic::new(args.memory.now()),
            memory: args.memory,
            objects: args.objects,
            seat: Seat::new(),
            clean: Atomic::new(args.zero),
            reached: Atomic::new(false),
            shown: Atomic::new(false),
            doomed: Atomic::new(false),
            vram: Atomic::new(args.home.vram()),
            home <- shared_spinlock!(args.home, "object.home"),
            size: args.size,
            align: args.align,
            wanted: Atomic::new(args.wanted == Domain::Vram),
            system: args.wanted == Domain::System,
            access: args.access,
            touched: Atomic::new(false),
            pins: Atomic::new(0),
            foreign: args.foreign,
            user: args.user,
            astray: Atomic::new(false),
            cleared: SetOnce::new(),
            note: Note::<F>::default(),
            surface: Taken::new(),
            _charge: args.charge,
            _family: PhantomData,
        })
    }
}

impl Home {
    /// Return the address in VRAM, or [`NOWHERE`].
    pub(crate) fn vram(&self) -> u64 {
        match self {
            Self::Vram(lot) => lot.start(),
            Self::System(_) => NOWHERE,
        }
    }
}

impl<F: Family> Object<F> {
    /// Return where the object is. Any context but interrupts.
    pub fn domain(&self) -> Domain {
        match self.at() {
            At::Vram { .. } => Domain::Vram,
            At::System(backing) if self.system && !backing.window.is_placed() => Domain::System,
            At::System(_) => Domain::Gtt,
        }
    }

    /// Return the home of the object. It does not change under the reservation. Without the reservation the answer is
    /// a guess.
    pub(crate) fn at(&self) -> At {
        match &*self.home.lock() {
            Home::Vram(lot) => At::Vram {
                start: lot.start(),
                size: lot.size(),
            },
            Home::System(backing) => At::System(backing.clone()),
        }
    }

    /// Make `home` the home, which has the content already. Return the old home. The caller holds the reservation.
    /// There are no CPU mappings, and no jobs that use the old home.
    pub(crate) fn settle(&self, home: Home) -> Home {
        surfaces::give_back(self);
        self.displaced(&self.at());
        self.vram.store(home.vram(), Relaxed);
        let arrives = matches!(home, Home::System(_));
        let old = replace(&mut *self.home.lock(), home);
        match (arrives, matches!(old, Home::System(_))) {
            (true, false) => self.memory.count_system(self.size),
            (false, true) => self.memory.discount_system(self.size),
            _ => {}
        }
        self.clean.store(true, Relaxed);
        self.set_reached();
        self.recount();
        old
    }

    /// Remove the object, which is `at` this place, from the address spaces of all clients. The caller holds the
    /// reservation or the last reference, and no job uses the object.
    pub(crate) fn displaced(&self, at: &At) {
        F::Uapi::displaced(&self.note);
        if let At::System(backing) = at {
            reached::end(self.memory.reached(), backing);
        }
    }

    /// As [`Object::displaced`], but take locks of the generic driver by trylock only. Return whether it succeeded.
    pub(crate) fn try_displaced(&self, backing: &Arc<Backing>) -> bool {
        F::Uapi::displaced(&self.note);
        reached::try_end(self.memory.reached(), backing)
    }

    /// Return whether the VRAM in which it was made may hold other data than zeros.
    pub(crate) fn is_reached(&self) -> bool {
        self.reached.load(Relaxed)
    }

    /// Set whether the range in VRAM in which the object lies is zero, if it lies in one. The stock uses this.
    pub(crate) fn set_zero(&self, zero: bool) {
        if let Home::Vram(lot) = &mut *self.home.lock() {
            lot.set_zero(zero);
        }
    }

    /// Return the place of the object on the list of objects.
    pub(crate) fn standing(&self) -> Place {
        match &*self.home.lock() {
            Home::Vram(lot) => Place::Device(lot.start()),
            Home::System(backing) if backing.pages.held() != 0 => Place::Pages(self.used()),
            Home::System(_) => Place::Apart,
        }
    }

    /// Note that its VRAM may hold other data than zeros. Called when a job or a CPU mapping is about to have its
    /// address, or a move fills it.
    pub(crate) fn set_reached(&self) {
        self.reached.store(true, Relaxed);
    }

    /// Return whether the CPU may have touched it in VRAM. The caller holds the reservation, or has just waited for the
    /// object's fences.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown.load(Relaxed)
    }

    /// Note that the CPU is about to have a mapping of it in VRAM. The caller holds the reservation.
    pub(crate) fn set_shown(&self) {
        self.shown.store(true, Relaxed);
    }

    /// Update whether the object should be in VRAM and is not.
    pub(crate) fn recount(&self) {
        let astray = self.vram().is_none() && self.wanted.load(Relaxed) && !self.is_pinned();
        if self.astray.xchg(astray, Relaxed) != astray {
            self.memory.count_astray(astray);
        }
    }

    /// Tell the list that `object` has moved, or that its pages were allocated or freed. The caller holds the
    /// reservation.
    pub(crate) fn arrange(object: &Bo<F>) {
        if let Some(objects) = object.roster() {
            objects.arrange(object);
        }
    }

    /// Tell the list that `object` has its pages, unless the list knows. The caller holds the reservation.
    pub(crate) fn has_pages(object: &Bo<F>) {
        if !object.seat.suits(Place::Pages(0)) {
            Self::arrange(object);
        }
    }

    /// Return the first address in VRAM, if the object is there. Without the reservation the answer is a guess.
    pub(crate) fn vram(&self) -> Option<GpuAddr> {
        match self.vram.load(Relaxed) {
            NOWHERE => None,
            addr => Some(addr),
        }
    }

    /// Return whether the object should be in VRAM and is not.
    pub(crate) fn is_astray(&self) -> bool {
        self.astray.load(Relaxed)
    }

    /// Return the size in bytes, in whole pages.
    pub fn bytes(&self) -> u64 {
        self.size
    }

    /// Return the alignment of GPU addresses in bytes.
    pub(crate) fn align(&self) -> u64 {
        self.align
    }

    /// Return the memory of its device.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Return when a job used it last, or when it was made.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Note that a job uses it at `now`.
    pub(crate) fn set_used(&self, now: u64) {
        self.used.store(now, Relaxed);
    }

    /// Return the process's memory that the object stands for, if it does.
    pub(crate) fn user(&self) -> Option<&Arc<UserMemory>> {
        self.user.as_ref()
    }

    /// Return which of CPU and GPU accesses it, as far as is known.
    pub(crate) fn access(&self) -> Access {
        match self.touched.load(Relaxed) {
            true => Access::Cpu,
            false => self.access,
        }
    }

    /// Note that the CPU has touched it where it could not see it.
    pub(crate) fn touch(&self) {
        self.touched.store(true, Relaxed);
    }

    /// Pin the object in system pages, whose addresses others know from now on. Pins are counted. It is in system
    /// pages already. The caller holds its reservation, or no other thread knows the object.
    ///
    /// # Errors
    ///
    /// `EBUSY` if it is in VRAM (see [`crate::residency::moves::to_system`]).
    pub fn pin(&self) -> Result {
        if self.vram().is_some() {
            return Err(EBUSY);
        }
        self.pins.add(1, Relaxed);
        self.recount();
        Ok(())
    }

    /// End one [`Object::pin`]. The caller holds the reservation.
    pub fn unpin(&self) {
        self.pins.fetch_sub(1, Relaxed);
        self.recount();
    }

    /// Return whether the object is pinned.
    pub fn is_pinned(&self) -> bool {
        self.pins.load(Relaxed) != 0
    }

    /// Set whether the object should be in VRAM. It moves there on a later occasion. It leaves VRAM only when it is
    /// evicted for others.
    pub fn set_wanted(&self, domain: Domain) {
        self.wanted.store(domain == Domain::Vram, Relaxed);
        self.recount();
    }

    /// Return what fdinfo reports about the object. Any context but interrupts.
    pub fn status(&self) -> Status {
        Status {
            domain: self.domain(),
            size: self.size,
            resident: match self.at() {
                At::Vram { .. } => true,
                // A pinned object belongs to another driver or to a process, or is used by another driver.
                At::System(backing) => backing.pages.held() != 0 || self.is_pinned(),
            },
            pinned: self.is_pinned(),
        }
    }

    /// Return the data that the user-space interface keeps with the object. The result of
    /// [`Uapi::arrangement`](crate::family::Uapi::arrangement) for it changes only in [`surfaces::rearrange`].
    #[inline]
    pub fn note(&self) -> &Note<F> {
        &self.note
    }

    /// Return how the CPU sees it.
    pub(crate) fn surface(&self) -> &Taken {
        &self.surface
    }

    /// Return the list of the objects of its device.
    pub(crate) fn objects(&self) -> &Arc<Roster<Self>> {
        &self.objects
    }

    /// Set the fence of the clear of the VRAM in which it was made.
    pub(crate) fn set_cleared(&self, fence: ARef<Fence>) {
        self.cleared.populate(fence);
    }

    /// Return what is known about the content. Any context but interrupts. [`Content::Own`] and [`Content::Lost`] do
    /// not change for the thread that holds the reservation.
    pub(crate) fn content(&self) -> Content {
        if self.clean.load(Relaxed) {
            return Content::Own;
        }
        match self.cleared.as_ref().map(|fence| fence.result()) {
            None => Content::Unknown,
            Some(None) => Content::Pending,
            Some(Some(Err(_))) => Content::Lost,
            Some(Some(Ok(()))) => {
                self.clean.store(true, Relaxed);
                Content::Own
            }
        }
    }

    /// Note that the clear is about to fail. Called before its fence signals: then the next user replaces the VRAM.
    /// Before that, the jobs on the ring that use the object have to be judged by [`Object::is_doomed`].
    pub(crate) fn doom(&self) {
        self.doomed.store(true, Relaxed);
    }

    /// Return whether the VRAM in which the object still is will never be cleared. Any context.
    pub(crate) fn is_doomed(&self) -> bool {
        self.doomed.load(Relaxed) && !self.clean.load(Relaxed)
    }

    /// Fail with `EIO` if no job that reads or writes the content may be put on the ring.
    pub(crate) fn check(&self) -> Result {
        match self.content().admits() {
            true => Ok(()),
            false => Err(EIO),
        }
    }

    /// Return whether the object can be evicted for another.
    pub(crate) fn is_movable(&self) -> bool {
        !self.is_pinned() && self.content() != Content::Unknown
    }
}

/// The state of an object's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Where it is.
    pub domain: Domain,
    /// Bytes.
    pub size: u64,
    /// It has memory there. System pages may not be allocated yet, or may be swapped out.
    pub resident: bool,
    /// It is pinned.
    pub pinned: bool,
}
