// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Waiting for the GPU, and asking whether one would have to.

use kernel::{
    drm::gem::BaseObject,
    prelude::*, //
};

use crate::{
    corner::resv,
    memory::object::Bo,
    portable::{
        placement::Domain,
        radeon::uapi::{
            self as uapi, //
            domain,
        }, //
    },
    radeon::{
        ClientFile,
        Device,
        RadeonFamily, //
    },
    running::Running, //
};

/// How long WAIT_IDLE waits, in milliseconds.
const IDLE_MS: u32 = 30_000;
/// How long to wait before looking whether the device is still there. Each look costs a waiter some thousand
/// instructions, and matters only to those who wait for another driver.
const SLICE_MS: u32 = 1_000;

/// Waits until no job uses `object`, whatever became of it.
///
/// At unbind and after a hang our own fences signal, so that this ends at once. Those of other drivers do not, and
/// unbind waits for this call.
fn until_idle<F: RadeonFamily>(running: &Running<'_, F>, object: &Bo<F>) -> Result {
    running.look();
    running.announce(object);
    for _ in 0..IDLE_MS / SLICE_MS {
        if resv::wait(object, SLICE_MS)? {
            running.reap();
            return Ok(());
        }
        if running.data().gone() {
            return Err(ENODEV);
        }
    }
    Err(EBUSY)
}

/// GEM_WAIT_IDLE: until no job uses the object.
///
/// # Errors
///
/// `ENOENT`; `EBUSY` after 30 s; `ERESTARTSYS` if a signal arrives; `ENODEV` at unbind.
pub(super) fn idle<F: RadeonFamily>(
    _dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::GemWaitIdle,
    file: &ClientFile<F>,
) -> Result {
    let object = Bo::<F>::lookup_handle(file, arg.handle)?;
    until_idle(running, &object)
}

/// GEM_SET_DOMAIN: what the CPU domain asks for is [`idle`]; the others ask for nothing.
///
/// A write domain counts, otherwise the read domains; none at all is accepted.
///
/// # Errors
///
/// As [`idle`]; `EINVAL` for VRAM if another driver uses the object or owns it: it cannot go there.
pub(super) fn set_domain<F: RadeonFamily>(
    _dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::GemSetDomain,
    file: &ClientFile<F>,
) -> Result {
    let object = Bo::<F>::lookup_handle(file, arg.handle)?;
    let domain = match arg.write_domain {
        0 => arg.read_domains,
        domain => domain,
    };
    if domain == domain::VRAM && object.is_pinned() {
        return Err(EINVAL);
    }
    if domain != domain::CPU {
        return Ok(());
    }
    until_idle(running, &object)
}

/// GEM_BUSY: whether a job uses the object, and where the object is.
///
/// # Errors
///
/// `ENOENT`; `EBUSY` if a job does.
pub(super) fn busy<F: RadeonFamily>(
    _dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::GemBusy,
    file: &ClientFile<F>,
) -> Result {
    let object = Bo::<F>::lookup_handle(file, arg.handle)?;
    arg.domain = match object.domain() {
        Domain::System => domain::CPU,
        Domain::Gtt => domain::GTT,
        Domain::Vram => domain::VRAM,
    };
    running.look();
    if resv::wait(&*object, 0)? {
        Ok(())
    } else {
        Err(EBUSY)
    }
}
