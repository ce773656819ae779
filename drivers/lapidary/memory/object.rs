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
//! ring, and if it ends with an error neither CPU nor GPU gets to the object at all. An object that has moved
//! ([`super::moves`]) is clean: the move has overwritten all of its new home.

use core::{
    marker::PhantomData,
    mem::replace, //
};

use kernel::{
    drm::{
        self,
        gem, //
    },
    page::PAGE_SIZE,
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
    corner::{
        fence::Fence,
        gem::{
            Backed,
            Frame,
            Hook, //
        },
        mm::Range,
        pages::Pages,
        prime::{
            Import,
            Shared, //
        },
        roster::Roster,
        userptr::{
            UserMemory,
            UserPages, //
        }, //
    },
    driver::Driver,
    family::{
        Family,
        GpuAddr,
        Uapi, //
    },
    lock::shared_spinlock,
    memory::{
        gtt::{
            self,
            Slot, //
        },
        moves,
        pressure,
        source::Source,
        surfaces::{
            self,
            Taken, //
        },
        Memory, //
    },
    portable::placement::{
        self,
        Access,
        Domain,
        Request, //
    },
    running::Running,
    submit::kernel_stream::KernelStream,
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
    /// The list that it is on.
    objects: Arc<Roster<Self>>,
    /// Changed only by whoever holds the reservation; whoever holds it may rely on it after the mutex is
    /// released. The lock alone gives a look at what may change at once. No memory is allocated under it.
    #[pin]
    home: SpinLock<Home>,
    /// Where in VRAM, or [`NOWHERE`]: for those who only look.
    vram: Atomic<u64>,
    /// Bytes and alignment, whole pages.
    size: u64,
    align: u64,
    /// It should be in VRAM.
    wanted: Atomic<bool>,
    /// User space asked for no memory that the GPU reaches.
    system: bool,
    /// Who accesses it, user space said.
    access: Access,
    /// The CPU has touched it where it could not see it.
    touched: Atomic<bool>,
    /// How many have pinned it: it stays in system pages. Written under the reservation.
    pins: Atomic<u32>,
    /// It is another driver's memory.
    foreign: Option<Arc<Import>>,
    /// It is a process's memory.
    user: Option<Arc<UserMemory>>,
    /// It should be in VRAM and is not: counted in [`Memory`].
    astray: Atomic<bool>,
    /// When a job used it last, see [`Memory::now`].
    used: Atomic<u64>,
    /// Behind this fence, VRAM is clear. Not set for system pages.
    cleared: SetOnce<ARef<Fence>>,
    /// The content may be looked at, for good: it is system pages, or clear VRAM.
    clean: Atomic<bool>,
    /// Flags in the low half, pitch in the high half. Changed under the reservation.
    tiling: Atomic<u64>,
    /// How the CPU sees it while it is in VRAM.
    surface: Taken,
    /// User space's number for [`Object::wanted`], kept for it.
    initial_domains: Atomic<u32>,
    _family: PhantomData<fn() -> F>,
}

/// [`Object::vram`] of an object that is not there.
const NOWHERE: u64 = u64::MAX;

/// What [`create`] decides before the object exists.
pub struct Args<F: Family> {
    memory: Arc<Memory>,
    objects: Arc<Roster<Object<F>>>,
    home: Home,
    size: u64,
    align: u64,
    wanted: Domain,
    access: Access,
    foreign: Option<Arc<Import>>,
    user: Option<Arc<UserMemory>>,
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
            hook: Hook::new(),
            used: Atomic::new(args.memory.now()),
            memory: args.memory,
            objects: args.objects,
            clean: Atomic::new(matches!(args.home, Home::System(_))),
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
            tiling: Atomic::new(0),
            surface: Taken::new(),
            initial_domains: Atomic::new(0),
            _family: PhantomData,
        })
    }
}

/// Makes an object, which is zero.
///
/// In VRAM the ring clears it, with a fence of kernel usage. If the ring does not work, the object is made in system
/// pages instead.
///
/// # Errors
///
/// `EINVAL` for size 0; `ENOMEM` if the object would be larger than the GTT window, or if there is no
/// memory; `ERESTARTSYS` and `EINTR` if a signal arrives.
pub fn create<F: Family>(
    dev: &drm::Device<Driver<F>>,
    running: &Running<'_, F>,
    request: &Request,
) -> Result<ARef<Bo<F>>> {
    let memory = &dev.memory;
    let limit = memory.gtt_size();
    let errno = |error| match error {
        placement::Error::Empty => EINVAL,
        placement::Error::TooLarge => ENOMEM,
    };
    let size = request.bytes(limit).map_err(errno)?;
    let align = request.alignment(limit).map_err(errno)?;
    for &attempt in placement::attempts(request.domain, request.access) {
        let home = match pressure::attempt(running, attempt, size, align, memory.now()) {
            Ok(Some((range, _))) => Home::Vram(range),
            Ok(None) => Home::System(Slot::new(size, align)?),
            Err(e) if e == ERESTARTSYS || e == EINTR => return Err(e),
            Err(_) => continue,
        };
        let addr = home.vram();
        let args = Args {
            memory: memory.clone(),
            objects: dev.objects.clone(),
            home,
            size,
            align,
            wanted: request.domain,
            access: request.access,
            foreign: None,
            user: None,
        };
        let object: ARef<Bo<F>> = crate::corner::gem::new(dev, usize::try_from(size)?, args)
            // What the shared-memory file system says when there is no memory for an inode.
            .map_err(|e| if e == ENOSPC { ENOMEM } else { e })?;
        if addr == NOWHERE {
            memory.count_system(size);
            object.recount();
            return Ok(object);
        }
        match clear(running, &object, addr, size) {
            Ok(fence) => {
                object.cleared.populate(fence);
                return Ok(object);
            }
            Err(e) if e == ERESTARTSYS || e == EINTR => return Err(e),
            // A ring that does not work: what VRAM holds cannot be removed, so it is not used.
            Err(_) => {}
        }
    }
    Err(ENOMEM)
}

/// Makes an object that is memory of the calling process: `bytes` from address `start` on, both in whole pages. With
/// `now` its pages are got at once, otherwise by the first job.
///
/// # Errors
///
/// As [`UserMemory::new`], and with `now` as [`UserMemory::fetch`]; `ENOMEM` also for more than the GTT window holds.
pub fn create_user<F: Family>(
    dev: &drm::Device<Driver<F>>,
    start: usize,
    bytes: usize,
    now: bool,
) -> Result<ARef<Bo<F>>> {
    let memory = &dev.memory;
    let (size, align) = (bytes as u64, PAGE_SIZE as u64);
    if size > memory.gtt_size() {
        return Err(ENOMEM);
    }
    let user = UserMemory::new(&memory.gate, start, bytes)?;
    let pages = match now {
        true => user.fetch(None)?,
        false => None,
    };
    let slot = Slot::with(Source::User(user.clone(), pages), size, align)?;
    let args = Args {
        memory: memory.clone(),
        objects: dev.objects.clone(),
        home: Home::System(slot),
        size,
        align,
        wanted: Domain::System,
        access: Access::Both,
        foreign: None,
        user: Some(user),
    };
    let object: ARef<Bo<F>> =
        crate::corner::gem::new(dev, bytes, args)
            .map_err(|e| if e == ENOSPC { ENOMEM } else { e })?;
    memory.count_system(size);
    object.pin()?;
    Ok(object)
}

/// Makes an object that is another driver's memory. It has no place in VRAM, ever.
///
/// # Errors
///
/// `ENOMEM`.
fn create_foreign<F: Family>(
    dev: &drm::Device<Driver<F>>,
    import: Arc<Import>,
) -> Result<ARef<Bo<F>>> {
    let memory = &dev.memory;
    let bytes = import.size();
    let (size, align) = (bytes as u64, PAGE_SIZE as u64);
    let slot = Slot::with(Source::Foreign(import.clone()), size, align)?;
    let args = Args {
        memory: memory.clone(),
        objects: dev.objects.clone(),
        home: Home::System(slot),
        size,
        align,
        wanted: Domain::Gtt,
        access: Access::Both,
        foreign: Some(import.clone()),
        user: None,
    };
    memory.foreign.add(&import)?;
    let object: Result<ARef<Bo<F>>> = crate::corner::gem::new(dev, bytes, args);
    match &object {
        Ok(object) => {
            memory.count_system(size);
            object.pin()?;
        }
        Err(_) => memory.foreign.remove(&import),
    }
    object
}

/// Has the ring clear an object of which nobody knows.
fn clear<F: Family>(
    running: &Running<'_, F>,
    object: &ARef<Bo<F>>,
    addr: GpuAddr,
    size: u64,
) -> Result<ARef<Fence>> {
    let mut stream = KernelStream::new(running)?;
    stream.fill(addr, size, 0)?;
    stream.run_on(object)
}

impl Home {
    /// The address in VRAM, or [`NOWHERE`].
    fn vram(&self) -> u64 {
        match self {
            Self::Vram(range) => range.start(),
            Self::System(_) => NOWHERE,
        }
    }
}

impl<F: Family> Object<F> {
    /// Where the object is. Any context but interrupts.
    pub fn domain(&self) -> Domain {
        match self.at() {
            At::Vram { .. } => Domain::Vram,
            At::System(slot) if self.system && !slot.is_placed() => Domain::System,
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

    /// The content is at `home` now; the old one comes back. The caller holds the reservation, and there are no CPU
    /// mappings and no jobs that use the old one.
    pub(super) fn settle(&self, home: Home) -> Home {
        surfaces::give_back(self);
        self.vram.store(home.vram(), Relaxed);
        let arrives = matches!(home, Home::System(_));
        let old = replace(&mut *self.home.lock(), home);
        match (arrives, matches!(old, Home::System(_))) {
            (true, false) => self.memory.count_system(self.size),
            (false, true) => self.memory.discount_system(self.size),
            _ => {}
        }
        self.clean.store(true, Relaxed);
        self.recount();
        old
    }

    /// Finds out whether the object should be in VRAM and is not.
    fn recount(&self) {
        let astray = self.vram().is_none() && self.wanted.load(Relaxed) && !self.is_pinned();
        if self.astray.xchg(astray, Relaxed) != astray {
            self.memory.count_astray(astray);
        }
    }

    /// First address in VRAM, if the object is there. For those without the reservation it is a guess.
    pub(super) fn vram(&self) -> Option<GpuAddr> {
        match self.vram.load(Relaxed) {
            NOWHERE => None,
            addr => Some(addr),
        }
    }

    /// Whether the object should be in VRAM and is not.
    pub(super) fn is_astray(&self) -> bool {
        self.astray.load(Relaxed)
    }

    /// Size in bytes, whole pages.
    pub(super) fn bytes(&self) -> u64 {
        self.size
    }

    /// Alignment of GPU addresses in bytes.
    pub(super) fn align(&self) -> u64 {
        self.align
    }

    /// The memory of its device.
    pub(super) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// When a job used it last, or when it was made.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// System pages that it holds in memory.
    pub(super) fn held(&self) -> usize {
        match &*self.home.lock() {
            Home::System(slot) => slot.held(),
            Home::Vram(_) => 0,
        }
    }

    /// Who accesses it, as far as is known.
    pub(super) fn access(&self) -> Access {
        match self.touched.load(Relaxed) {
            true => Access::Cpu,
            false => self.access,
        }
    }

    /// The CPU has touched it where it could not see it.
    pub(super) fn touch(&self) {
        self.touched.store(true, Relaxed);
    }

    /// The object stays in system pages from now on, where others know its pages. Pins are counted. It is there, and the caller holds
    /// its reservation or is the only one who knows the object.
    ///
    /// # Errors
    ///
    /// `EBUSY` if it is in VRAM: see [`super::moves::to_system`].
    pub fn pin(&self) -> Result {
        if self.vram().is_some() {
            return Err(EBUSY);
        }
        self.pins.add(1, Relaxed);
        self.recount();
        Ok(())
    }

    /// Ends what one [`Object::pin`] began. The caller holds the reservation.
    pub fn unpin(&self) {
        self.pins.fetch_sub(1, Relaxed);
        self.recount();
    }

    /// Whether the object stays where it is.
    pub fn is_pinned(&self) -> bool {
        self.pins.load(Relaxed) != 0
    }

    /// From now on the object should be in VRAM or not. It moves there at the next occasion; nothing makes it leave
    /// VRAM but others who need the room.
    pub fn set_wanted(&self, domain: Domain) {
        self.wanted.store(domain == Domain::Vram, Relaxed);
        self.recount();
    }

    /// What fdinfo reports about the object. Any context but interrupts.
    pub fn status(&self) -> Status {
        Status {
            domain: self.domain(),
            size: self.size,
            resident: match self.at() {
                At::Vram { .. } => true,
                // What is pinned is somebody else's, or known to others.
                At::System(slot) => slot.held() != 0 || self.is_pinned(),
            },
            pinned: self.is_pinned(),
        }
    }

    /// Tiling flags and pitch that user space has stored with the object.
    pub fn tiling(&self) -> (u32, u32) {
        let both = self.tiling.load(Relaxed);
        (both as u32, (both >> 32) as u32)
    }

    /// Stores what [`Object::tiling`] says; see [`surfaces::set_tiling`].
    pub(super) fn store_tiling(&self, flags: u32, pitch: u32) {
        let both = u64::from(flags) | u64::from(pitch) << 32;
        self.tiling.store(both, Relaxed);
    }

    /// How the CPU sees it.
    pub(super) fn surface(&self) -> &Taken {
        &self.surface
    }

    /// The list that it is on, unless its memory is somebody else's.
    pub(super) fn objects(&self) -> &Roster<Self> {
        &self.objects
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
    pub(super) fn check(&self) -> Result {
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

    /// Whether the content is lost, for the clearing of VRAM has failed.
    pub(super) fn is_spoilt(&self) -> bool {
        self.check().is_err()
    }

    /// Whether the object can be moved to make room for another.
    pub(super) fn is_movable(&self) -> bool {
        !self.is_pinned() && self.check().is_ok()
    }
}

/// What is to be known about an object's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status {
    /// Where it is.
    pub domain: Domain,
    /// Bytes.
    pub size: u64,
    /// It takes memory there: system pages may not have come into being, or be swapped.
    pub resident: bool,
    /// It stays where it is.
    pub pinned: bool,
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
    /// Of an object that is a process's memory: the pages that the job is going to use, if the slot has not got them
    /// yet, and their number.
    fresh: Option<UserPages>,
    number: usize,
    writes: bool,
    /// The job would like it to be in VRAM.
    vram: bool,
}

// SAFETY: `kernel::drm` 7.3 does not say it, but an object may be used and released by any thread: it is counted
// atomically, its C part has its own locks, and its driver part is `Send` and `Sync`.
unsafe impl<F: Family> Send for Use<F> {}

impl<F: Family> Use<F> {
    /// A use that has no address yet; `writes` as far as is known; `vram` if the job would like the object to be there.
    pub fn new(object: ARef<Bo<F>>, writes: bool, vram: bool) -> Self {
        Self {
            object,
            addr: 0,
            placed: false,
            slot: None,
            fresh: None,
            number: 0,
            writes,
            vram,
        }
    }

    /// The object.
    pub fn object(&self) -> &Bo<F> {
        &self.object
    }

    /// The object, if it should be in VRAM for the job and is not.
    pub(super) fn astray(&self) -> Option<&ARef<Bo<F>>> {
        (self.vram && self.object.is_astray()).then_some(&self.object)
    }

    /// Whether the job writes the object.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// The job writes the object.
    pub fn set_writes(&mut self) {
        self.writes = true;
    }

    /// Whether the object is a process's memory.
    pub fn is_user(&self) -> bool {
        self.object.user.is_some()
    }

    /// Gets the pages of an object that is the calling process's memory. The caller holds no lock.
    ///
    /// # Errors
    ///
    /// As [`UserMemory::fetch`].
    pub fn fetch(&mut self) -> Result {
        let Some(user) = &self.object.user else {
            return Ok(());
        };
        let At::System(slot) = self.object.at() else {
            return Err(EINVAL);
        };
        let held = slot.number();
        self.fresh = user.fetch(held)?;
        let fresh = self.fresh.as_ref().map(UserPages::number);
        self.number = fresh.or(held).ok_or(EINVAL)?;
        Ok(())
    }

    /// Whether the object's memory still is what was got. For good only while the gate is closed.
    pub fn is_current(&self) -> bool {
        let user = self.object.user.as_ref();
        user.is_none_or(|user| user.is_current(self.number))
    }

    /// Changes of the object's memory wait for `fence`. The gate is closed.
    pub fn guard(&self, fence: &Fence) {
        if let Some(user) = &self.object.user {
            user.guard(fence);
        }
    }

    /// Gives the object an address for the job. The caller has locked its reservation. A second call does nothing.
    /// `now` is the time by which objects are told that were not used for long, see [`Memory::now`].
    ///
    /// The use is to be dropped when the job's fence has signalled, or when there will be no job.
    ///
    /// # Errors
    ///
    /// `ENODEV` after unbind; `ENOSPC` if the GTT window has no room between the objects in use, which may
    /// change when other [`Use`]s are dropped; `EIO` if the object could not be cleared, or its pages
    /// cannot be reached by the device; `EINTR` if the process is being killed; `ENOMEM`.
    pub fn place(&mut self, now: u64) -> Result {
        if self.placed {
            return Ok(());
        }
        self.object.check()?;
        // Under the reservation it stays there.
        match self.object.at() {
            At::Vram { start, .. } => self.addr = start,
            At::System(slot) => {
                if self.fresh.is_some() {
                    gtt::renew(self.object.memory.gtt(), &slot, &mut self.fresh)?;
                    // What it has not taken, or has given back.
                    self.fresh = None;
                }
                self.addr = gtt::place(self.object.memory.gtt(), &slot, &*self.object, now)?;
                self.slot = Some(slot);
            }
        }
        self.object.used.store(now, Relaxed);
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

    /// The memory of others is not ours to move, nor is another driver's reservation.
    fn roster(&self) -> Option<&Arc<Roster<Self>>> {
        (self.foreign.is_none() && self.user.is_none()).then_some(&self.objects)
    }

    fn release(object: &Bo<F>) {
        // Before its range can be another's.
        surfaces::give_back(object);
        if let At::System(slot) = object.at() {
            let memory = &object.memory;
            gtt::release(memory.gtt(), &slot, object);
            memory.discount_system(object.size);
            // Its end has been asked for now.
            if let Some(import) = &object.foreign {
                memory.foreign.remove(import);
            }
        }
        if object.is_astray() {
            object.memory.count_astray(false);
        }
    }

    fn frames(
        object: &Bo<F>,
        dev: &drm::Device<Driver<F>, drm::Registered>,
        first: usize,
        report: &mut dyn FnMut(Frame) -> bool,
    ) -> Result {
        object.check()?;
        // The fault handler holds the reservation: the home stays what it is.
        if let At::Vram { start, size } = object.at() {
            let vram = object.memory.vram();
            let from = start + (first * PAGE_SIZE) as u64;
            if vram.bus_address(from).is_some() {
                let offset = start - object.memory.layout().vram.start;
                surfaces::show(object, offset..offset + size)?;
                for addr in (from..start + size).step_by(PAGE_SIZE) {
                    // The next fault brings the rest, if the CPU does not see it.
                    let Some(bus) = vram.bus_address(addr) else {
                        break;
                    };
                    if !report(Frame::Vram((bus / PAGE_SIZE as u64) as usize)) {
                        break;
                    }
                }
                return Ok(());
            }
            let object = object.into();
            dev.registration_data_with(|reg| pressure::show(&reg.running, &object))?;
        }
        match object.at() {
            At::System(slot) => slot.frames(object, first, &mut |frame| report(Frame::Ram(frame))),
            // The CPU sees it now.
            At::Vram { .. } => Err(EAGAIN),
        }
    }
}

impl<F: Family> Shared for Object<F> {
    fn is_private(&self) -> bool {
        self.user.is_some()
    }

    fn pin(object: &Bo<F>, dev: Option<&drm::Device<Driver<F>, drm::Registered>>) -> Result {
        if object.vram().is_some() {
            let dev = dev.ok_or(ENODEV)?;
            let object = object.into();
            dev.registration_data_with(|reg| moves::to_system(&reg.running, &object))?;
        }
        match object.at() {
            At::System(slot) => slot.hold(object)?,
            At::Vram { .. } => return Err(EBUSY),
        }
        (**object).pin()
    }

    fn unpin(object: &Bo<F>) {
        (**object).unpin();
    }

    fn pages(object: &Bo<F>, show: &mut dyn FnMut(&Pages)) -> Result {
        match object.at() {
            At::System(slot) if slot.show(show) => Ok(()),
            _ => Err(EINVAL),
        }
    }

    fn most(dev: &drm::Device<Driver<F>, drm::Registered>) -> u64 {
        dev.memory.gtt_size()
    }

    fn import(
        dev: &drm::Device<Driver<F>, drm::Registered>,
        import: Arc<Import>,
    ) -> Result<ARef<Bo<F>>> {
        let object = create_foreign(dev, import)?;
        F::Uapi::imported(&object);
        Ok(object)
    }
}
