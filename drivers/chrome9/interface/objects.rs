// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects: making, mapping, waiting.

use kernel::{
    drm::gem::BaseObject,
    prelude::*,
    time::{
        hrtimer::HrTimerExpires as _,
        Instant,
        Monotonic,
        Msecs, //
    },
};

use lapidary::{
    memory::{
        Access,
        Domain,
        Request, //
    },
    residency::create,
    waiting, //
};

use crate::{
    interface::{
        ClientFile,
        Device,
        Object,
        Running, //
    },
    portable::uapi::{
        self,
        GEM_SYSTEM, //
    },
};

/// Create an object (GEM_CREATE), and return its size in whole pages.
///
/// # Errors
///
/// `EINVAL` for size 0 and unknown flags; `ENOMEM` for a size that cannot be allocated, now or ever; `ERESTARTSYS`.
pub(super) fn create(
    dev: &Device,
    running: &Running<'_>,
    arg: &mut uapi::GemCreate,
    file: &ClientFile,
) -> Result {
    if arg.flags & !GEM_SYSTEM != 0 {
        return Err(EINVAL);
    }
    let system = arg.flags & GEM_SYSTEM != 0;
    let request = Request {
        size: arg.size,
        align: 0,
        domain: match system {
            true => Domain::Gtt,
            false => Domain::Vram,
        },
        access: Access::Both,
    };
    let object = create::create(dev, running, &file.inner().allowance, &request)?;
    if system {
        object.note().set_system();
    }
    arg.handle = object.create_handle(file)?;
    arg.size = object.bytes();
    Ok(())
}

/// Return the offset for `mmap` (GEM_MMAP).
///
/// # Errors
///
/// `EINVAL` if the reserved field is not zero; `ENOENT` for an unknown handle; `ENOMEM`.
pub(super) fn mmap(
    _dev: &Device,
    _running: &Running<'_>,
    arg: &mut uapi::GemMmap,
    file: &ClientFile,
) -> Result {
    if arg.reserved != 0 {
        return Err(EINVAL);
    }
    let object = Object::lookup_handle(file, arg.handle)?;
    arg.offset = object.create_mmap_offset()?;
    Ok(())
}

/// Wait until no job uses an object (GEM_WAIT).
///
/// # Errors
///
/// `EINVAL` if the reserved field is not zero; `ENOENT` for an unknown handle; `ETIMEDOUT`; `ERESTARTSYS` if a signal
/// arrives; `ENODEV` at unbind.
pub(super) fn wait(
    _dev: &Device,
    running: &Running<'_>,
    arg: &mut uapi::GemWait,
    file: &ClientFile,
) -> Result {
    if arg.reserved != 0 {
        return Err(EINVAL);
    }
    let object = Object::lookup_handle(file, arg.handle)?;
    match waiting::until_idle(running, &object, || left(arg.timeout_ns))? {
        true => Ok(()),
        false => Err(ETIMEDOUT),
    }
}

/// Return how many milliseconds are left until `deadline`, in nanoseconds of the monotonic clock. A part of one counts as
/// one.
fn left(deadline: i64) -> Msecs {
    const NANOSECONDS: i64 = 1_000_000;

    let now = Instant::<Monotonic>::now().as_nanos();
    let left = deadline.saturating_sub(now).max(0);
    let milliseconds = (left / NANOSECONDS).saturating_add(i64::from(left % NANOSECONDS != 0));
    milliseconds.try_into().unwrap_or(Msecs::MAX)
}
