// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Moving objects between VRAM and system pages.
//!
//! The thread that moves an object holds its reservation during the whole move:
//!
//! 1. All CPU mappings are removed. The next access is a fault, which waits for the reservation.
//! 2. The new home is made: a range of VRAM, or new system pages with addresses in the GTT window.
//! 3. The kernel's ring copies, behind all jobs that use the object. The thread that moves the object waits for the
//!    fence.
//! 4. If the copy has succeeded, the object takes its new home, and the old one is freed.
//!
//! So the object always has one home that holds all of its content. The copy only reads the old home. When a hang or
//! an unbind ends the copy with an error, nothing has changed, and the new home is freed with its content. Executing
//! the copy again after a reset does no harm. No job uses a range that is freed, so its next owner does not have to
//! wait for one.
//!
//! An object never shows another client's bytes. The copy overwrites every page of the new home. An object whose
//! first clear has failed is not copied, but is given new pages ([`crate::memory::renew`]). If the clear fails while
//! the copy is on the ring behind it, the object does not take its new home.
//!
//! The copy consists of whole pages in order, so tiled or compressed content does not change.
//!
//! Where the ring does not reach system pages ([`Gpu::REACHES_SYSTEM`]), the CPU copies between them and VRAM when no job
//! uses the object any more.

use kernel::{
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    },
};

use crate::{
    corner::{
        events,
        mmap,
        resv::{
            self,
            Held, //
        },
        wc, //
    },
    family::{
        gpu::Gpu,
        space::GpuAddr,
        Family, //
    },
    memory::{
        backing::Backing,
        gtt,
        object::{
            At,
            Bo,
            Home,
            Object,
            NOWHERE, //
        },
        renew::{
            renew,
            replace, //
        },
        surfaces,
        vram::Lot, //
    },
    portable::{
        placement::Way,
        replay::Content, //
    },
    running::Running,
    submit::kernel_stream::KernelStream, //
};

/// How long to wait for other rings, in milliseconds.
const OTHERS_MS: u32 = 30_000;
/// How long to wait for a copy before waiting again, in milliseconds. The watchdog makes its fence signal.
const COPY_MS: u32 = 1_000;
/// The most objects that are copied by one job.
pub(crate) const BATCH: usize = 16;

/// The destination of an object.
pub(crate) enum Goal {
    Vram(Lot),
    System,
}

/// Keeps addresses in the GTT window as long as it exists.
struct KeptAddress(Arc<Backing>);

impl Drop for KeptAddress {
    fn drop(&mut self) {
        self.0.window.leave();
    }
}

/// An object that is about to move. If it is dropped before the move is complete, the object stays where it is.
pub(crate) struct Move<F: Family> {
    object: ARef<Bo<F>>,
    from: GpuAddr,
    to: GpuAddr,
    /// The new home, until the object takes it.
    home: Option<Home>,
    _old: Option<KeptAddress>,
    _new: Option<KeptAddress>,
}

impl<F: Family> Move<F> {
    /// Prepare a move of `object`, whose reservation the caller holds.
    ///
    /// # Errors
    ///
    /// `EPERM` for an object that cannot move; `EIO` if its content must not be read; `ENOSPC` if the GTT window has
    /// no room between the objects in use; otherwise as [`gtt::place`] and [`resv::wait`].
    pub(crate) fn prepare(
        running: &Running<'_, F>,
        object: &ARef<Bo<F>>,
        goal: Goal,
    ) -> Result<Self> {
        resv::assert_held(&**object);
        if object.is_pinned() {
            return Err(EPERM);
        }
        object.check()?;
        // The copy begins behind all jobs on the kernel's ring, but jobs on other rings have to be waited for.
        if running.gpu().rings().len() > 1 && !resv::wait(&**object, OTHERS_MS)? {
            return Err(EBUSY);
        }
        mmap::zap(&**object);
        running.flush_host_path([&**object].into_iter());
        let memory = object.memory();
        let place = |backing: Arc<Backing>| -> Result<(GpuAddr, KeptAddress)> {
            let addr = gtt::place(memory.gtt(), &backing, &**object, memory.now())?;
            Ok((addr, KeptAddress(backing)))
        };
        let (from, old) = match object.at() {
            At::Vram { start, .. } => (start, None),
            At::System(backing) => {
                let (addr, stay) = place(backing)?;
                Object::has_pages(object);
                (addr, Some(stay))
            }
        };
        let mut mv = Self {
            object: object.clone(),
            from,
            to: 0,
            home: None,
            _old: old,
            _new: None,
        };
        match goal {
            Goal::Vram(lot) => {
                mv.to = lot.start();
                mv.home = Some(Home::Vram(lot));
            }
            Goal::System => {
                let backing = Backing::new(object.bytes(), object.align())?;
                mv.home = Some(Home::System(backing.clone()));
                let (addr, stay) = place(backing)?;
                mv.to = addr;
                mv._new = Some(stay);
            }
        }
        Ok(mv)
    }

    /// Complete the move after the copy has succeeded.
    fn arrive(mut self) {
        // The clear, if there was one, was executed before the copy.
        if self.object.check().is_err() {
            return;
        }
        if let Some(home) = self.home.take() {
            events::moved(self.object.bytes(), self.from, self.to);
            settle(&self.object, home);
        }
    }
}

impl<F: Family> Drop for Move<F> {
    fn drop(&mut self) {
        if let Some(Home::System(backing)) = self.home.take() {
            gtt::abandon(self.object.memory().gtt(), &backing, &*self.object);
        }
    }
}

/// Take `home` as the home of `object`, which has its content, and free the old one.
fn settle<F: Family>(object: &ARef<Bo<F>>, home: Home) {
    let memory = object.memory();
    memory.count_moved(object.bytes());
    let old = object.settle(home);
    Object::arrange(object);
    if let Home::System(backing) = old {
        gtt::abandon(memory.gtt(), &backing, &**object);
    }
}

/// Let the ring execute the moves, and wait until they are done. Return how many bytes have moved.
///
/// # Errors
///
/// `EIO` and `ENODEV` if the copy has failed; as [`crate::submit::job::Job::prepare`]. After an error all objects are
/// where they were.
pub(crate) fn carry_out<F: Family>(running: &Running<'_, F>, moves: KVec<Move<F>>) -> Result<u64> {
    let mut stream = KernelStream::new(running)?;
    let mut bytes = 0;
    for mv in &moves {
        let size = mv.object.bytes();
        stream.copy(mv.to, mv.from, size)?;
        bytes += size;
    }
    let fence = stream.run()?;
    while !fence.wait(false, COPY_MS)? {}
    fence.result().unwrap_or(Err(EIO))?;
    for mv in moves {
        mv.arrive();
    }
    Ok(bytes)
}

/// Move one object, whose reservation the caller holds, and wait until that is done. Return how many bytes have
/// moved.
///
/// # Errors
///
/// As [`Move::prepare`] and [`carry_out`].
pub(crate) fn move_to<F: Family>(
    running: &Running<'_, F>,
    object: &ARef<Bo<F>>,
    goal: Goal,
) -> Result<u64> {
    let mut moves = KVec::with_capacity(1, GFP_KERNEL)?;
    moves.push(Move::prepare(running, object, goal)?, GFP_KERNEL)?;
    carry_out(running, moves)
}

/// Return whether the ring moves objects between VRAM and system pages.
pub(crate) const fn by_ring<F: Family>() -> bool {
    <F::Gpu<'static> as Gpu<'static>>::REACHES_SYSTEM
}

/// Move an object to `lot`. Return how many bytes have moved. The caller holds the reservation.
///
/// # Errors
///
/// As [`Move::prepare`] and [`carry_out`]; `EBUSY` if jobs that use the object take too long for a copy by the CPU.
pub(crate) fn to_lot<F: Family>(
    running: &Running<'_, F>,
    object: &ARef<Bo<F>>,
    lot: Lot,
) -> Result<u64> {
    match object.at() {
        At::System(backing) if !by_ring::<F>() => to_lot_by_cpu(running, object, &backing, lot),
        _ => move_to(running, object, Goal::Vram(lot)),
    }
}

/// Move an object from the system pages of `backing` to `lot`, by the CPU.
///
/// # Errors
///
/// `EPERM` for an object that cannot move; `EINVAL` if the CPU does not see the lot; `EBUSY` while a job uses it; `EIO` if
/// its content must not be read; `ENOMEM`.
fn to_lot_by_cpu<F: Family>(
    running: &Running<'_, F>,
    object: &ARef<Bo<F>>,
    backing: &Backing,
    lot: Lot,
) -> Result<u64> {
    resv::assert_held(&**object);
    if object.is_pinned() || object.foreign.is_some() || object.user().is_some() {
        return Err(EPERM);
    }
    object.check()?;
    let bytes = object.bytes();
    let vram = running.data().memory.vram();
    let bus = vram.bus_address(lot.start()).ok_or(EINVAL)?;
    if !resv::wait(&**object, OTHERS_MS)? {
        return Err(EBUSY);
    }
    vram.wait_for_recalled()?;
    mmap::zap(&**object);
    let window = wc::Window::at(running.pdev(), bus, usize::try_from(bytes)?)?;
    backing.pages.write_device(&**object, &window)?;
    events::moved(bytes, NOWHERE, lot.start());
    settle(object, Home::Vram(lot));
    Ok(bytes)
}

/// Move an object that is in VRAM to system pages. The ring copies it. The CPU copies it if the ring does not work, has
/// no free addresses or does not reach them, and the CPU sees the object. The caller holds the reservation.
///
/// # Errors
///
/// As [`Move::prepare`] and [`carry_out`].
pub fn to_system<F: Family>(running: &Running<'_, F>, object: &ARef<Bo<F>>) -> Result<u64> {
    renew(object)?;
    match object.at() {
        At::System(_) => Ok(0),
        At::Vram { .. } if !by_ring::<F>() => by_cpu(running, object),
        At::Vram { .. } => match move_to(running, object, Goal::System) {
            Err(e) if e == EIO || e == EBUSY || e == ENOSPC => {
                by_cpu(running, object).map_err(|_| e)
            }
            result => result,
        },
    }
}

/// Move an object that the CPU sees in VRAM to system pages, by the CPU.
///
/// # Errors
///
/// `EBUSY` while a job uses it; `EINVAL` if the CPU does not see all of it; `EIO` if its content must not be read; as
/// [`Backing::read_device`].
fn by_cpu<F: Family>(running: &Running<'_, F>, object: &ARef<Bo<F>>) -> Result<u64> {
    resv::assert_held(&**object);
    let At::Vram { start, size } = object.at() else {
        return Ok(0);
    };
    let vram = running.data().memory.vram();
    let last = start + size - PAGE_SIZE as u64;
    let (Some(bus), Some(_)) = (vram.bus_address(start), vram.bus_address(last)) else {
        return Err(EINVAL);
    };
    if !resv::wait(&**object, OTHERS_MS)? {
        return Err(EBUSY);
    }
    // The wait above included the clear.
    object.check()?;
    mmap::zap(&**object);
    // The copy reads the memory itself, not its lines through a surface register.
    surfaces::give_back(&***object);
    // The chip may have read old data ahead for the CPU.
    running.gpu().flush_host_path();
    let backing = Backing::new(size, object.align())?;
    let window = wc::Window::at(running.pdev(), bus, usize::try_from(size)?)?;
    backing.pages.read_device(&**object, &window)?;
    settle(object, Home::System(backing));
    Ok(size)
}

/// Move all objects out of VRAM to system pages, so that VRAM can lose its content.
///
/// The caller makes sure that no client creates or uses objects meanwhile, and holds no reservation. Objects that
/// were not cleared are given new pages.
///
/// # Errors
///
/// As [`to_system`]. Some objects are still in VRAM then.
pub fn evict_all<F: Family>(running: &Running<'_, F>) -> Result {
    loop {
        let mut next = None;
        let mut names = running.data().objects.lock();
        names.in_device(0, Way::Up, &mut |_, entry| {
            // An object that is being freed needs no new place.
            next = entry.keep();
            next.is_none()
        });
        drop(names);
        let Some(object) = next else {
            return Ok(());
        };
        let object = Held::lock(object)?;
        match object.content() {
            Content::Unknown => replace(&object)?,
            _ => drop(to_system(running, &object)?),
        }
    }
}
