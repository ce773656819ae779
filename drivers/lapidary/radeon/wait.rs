// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Waiting for the GPU, and asking whether a wait would block.

use kernel::{
    drm::gem::BaseObject,
    prelude::*, //
};

use crate::{
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
    running::Running,
    waiting::{
        self,
        SLICE_MS, //
    }, //
};

/// How long WAIT_IDLE waits, in milliseconds.
const IDLE_MS: u32 = 30_000;
/// Wait until no job uses `object`, for at most [`IDLE_MS`].
fn until_idle<F: RadeonFamily>(running: &Running<'_, F>, object: &Bo<F>) -> Result {
    let mut left = IDLE_MS;
    let slices = || {
        let now = left;
        left = left.saturating_sub(SLICE_MS);
        now
    };
    match waiting::until_idle(running, object, slices)? {
        true => Ok(()),
        false => Err(EBUSY),
    }
}

/// Wait until no job uses the object (GEM_WAIT_IDLE).
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

/// Prepare for CPU access (GEM_SET_DOMAIN). For the CPU domain this is [`idle`]. For the other domains nothing is
/// done.
///
/// A write domain counts, otherwise the read domains. No domain at all is accepted.
///
/// # Errors
///
/// As [`idle`]; `EINVAL` for VRAM if another driver uses or owns the object, because it cannot move there.
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

/// Return whether a job uses the object, and where the object is (GEM_BUSY).
///
/// # Errors
///
/// `ENOENT`; `EBUSY` if a job uses it.
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
    match waiting::until_idle(running, &object, || 0)? {
        true => Ok(()),
        false => Err(EBUSY),
    }
}
