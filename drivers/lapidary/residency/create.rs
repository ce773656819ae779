// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Creation of objects: new ones, objects that are a process's memory, and objects that are another driver's memory.

use kernel::{
    drm,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    },
};

use crate::{
    allowance::Allowance,
    corner::{
        fence::Fence,
        gem,
        prime::Import,
        userptr::UserMemory, //
    },
    driver::Driver,
    family::{
        space::GpuAddr,
        Family, //
    },
    memory::{
        backing::Backing,
        object::{
            Args,
            Bo,
            Home,
            NOWHERE, //
        },
        source::Source, //
    },
    portable::placement::{
        self,
        Access,
        Domain,
        Request, //
    },
    residency::evict::attempt,
    running::Running,
    submit::kernel_stream::KernelStream, //
};

/// Create an object, which is zero.
///
/// In VRAM it is taken from the stock of zeroed memory, or the ring clears it, with a fence of kernel usage. If the
/// ring does not work, the object is made in system pages instead.
///
/// # Errors
///
/// `EINVAL` for size 0; `ENOMEM` if the object would be larger than the GTT window, if there is no memory, or if
/// `client` has as many objects as it may have; `ERESTARTSYS` and `EINTR` if a signal arrives.
pub fn create<F: Family>(
    dev: &drm::Device<Driver<F>>,
    running: &Running<'_, F>,
    client: &Allowance,
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
    // Tested before other objects are evicted for it.
    let mut charge = Some(client.object()?);
    if request.domain == Domain::Vram && memory.vram().is_clearing() {
        running.look();
        memory.vram().collect();
    }
    for &way in placement::attempts(request.domain, request.access) {
        let mut zero = true;
        let home = match attempt(running, way, size, align, memory.now(), true) {
            Ok(Some((mut lot, _))) => {
                zero = lot.is_zero();
                // From here on the object knows whether the lot is zero.
                lot.set_zero(false);
                Home::Vram(lot)
            }
            Ok(None) => Home::System(Backing::new(size, align)?),
            Err(e) if e == ERESTARTSYS || e == EINTR => return Err(e),
            Err(_) => continue,
        };
        let addr = home.vram();
        let args = Args {
            memory: memory.clone(),
            objects: dev.objects.clone(),
            home,
            zero,
            size,
            align,
            wanted: request.domain,
            access: request.access,
            foreign: None,
            user: None,
            charge: match charge.take() {
                None => Some(client.object()?),
                charge => charge,
            },
        };
        let object: ARef<Bo<F>> = gem::new(dev, usize::try_from(size)?, args)?;
        if addr == NOWHERE {
            memory.count_system(size);
            object.recount();
        }
        if zero {
            return Ok(object);
        }
        match clear(running, &object, addr, size) {
            Ok(fence) => {
                object.set_cleared(fence);
                return Ok(object);
            }
            Err(e) if e == ERESTARTSYS || e == EINTR => return Err(e),
            // The ring does not work. It cannot clear VRAM, so VRAM is not used.
            Err(_) => {}
        }
    }
    Err(ENOMEM)
}

/// Create an object that is memory of the calling process: `bytes` from address `start` on, both in whole pages. With
/// `now` its pages are pinned at once, otherwise by the first job.
///
/// # Errors
///
/// As [`UserMemory::new`], and with `now` as [`UserMemory::fetch`]; `ENOMEM` also for more than the GTT window holds,
/// and if `client` has as many objects as it may have.
pub fn create_user<F: Family>(
    dev: &drm::Device<Driver<F>>,
    client: &Allowance,
    start: usize,
    bytes: usize,
    now: bool,
) -> Result<ARef<Bo<F>>> {
    let memory = &dev.memory;
    let (size, align) = (bytes as u64, PAGE_SIZE as u64);
    if size > memory.gtt_size() {
        return Err(ENOMEM);
    }
    let charge = client.object()?;
    let user = UserMemory::new(memory.invalidation(), client.pages(), start, bytes)?;
    if now {
        user.fetch(None)?;
    }
    let backing = Backing::with(Source::User(user.clone(), None), size, align)?;
    let args = Args {
        memory: memory.clone(),
        objects: dev.objects.clone(),
        home: Home::System(backing),
        zero: true,
        size,
        align,
        wanted: Domain::System,
        access: Access::Both,
        foreign: None,
        user: Some(user),
        charge: Some(charge),
    };
    let object: ARef<Bo<F>> = gem::new(dev, bytes, args)?;
    memory.count_system(size);
    object.pin()?;
    Ok(object)
}

/// Create an object that is another driver's memory. It is never in VRAM.
///
/// # Errors
///
/// `ENOMEM`.
pub(crate) fn create_foreign<F: Family>(
    dev: &drm::Device<Driver<F>>,
    import: Arc<Import>,
) -> Result<ARef<Bo<F>>> {
    let memory = &dev.memory;
    let bytes = import.size();
    let (size, align) = (bytes as u64, PAGE_SIZE as u64);
    let backing = Backing::with(Source::Foreign(import.clone()), size, align)?;
    let args = Args {
        memory: memory.clone(),
        objects: dev.objects.clone(),
        home: Home::System(backing),
        zero: true,
        size,
        align,
        wanted: Domain::Gtt,
        access: Access::Both,
        foreign: Some(import.clone()),
        user: None,
        charge: None,
    };
    memory.foreign().add(&import)?;
    let object: Result<ARef<Bo<F>>> = gem::new(dev, bytes, args);
    match &object {
        Ok(object) => {
            memory.count_system(size);
            object.pin()?;
        }
        Err(_) => memory.foreign().remove(&import),
    }
    object
}

/// Let the ring clear an object that no client knows yet. If the ring has no other work, the same job also refills
/// the stock.
fn clear<F: Family>(
    running: &Running<'_, F>,
    object: &ARef<Bo<F>>,
    addr: GpuAddr,
    size: u64,
) -> Result<ARef<Fence>> {
    let mut stream = KernelStream::new(running)?;
    stream.fill(addr, size, 0)?;
    let vram = running.data().memory.vram();
    let mut batch = None;
    if running.is_idle() {
        // The object does not depend on the stock, so an error here is ignored.
        batch = vram.restock(vram.part_of(addr)).unwrap_or(None);
    }
    if let Some(batch) = &batch {
        for (start, bytes) in batch.pieces() {
            stream.fill(start, bytes, 0)?;
        }
    }
    let fence = stream.run_on(object)?;
    if let Some(batch) = batch {
        batch.committed(fence.clone());
    }
    Ok(fence)
}
