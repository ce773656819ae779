// SPDX-License-Identifier: GPL-2.0 OR MIT

//! CS: submitting commands. [`super::stream`] reads what the client passes. [`crate::submit`] does the steps after
//! that.

use kernel::prelude::*;

use crate::{
    corner::{
        debug,
        debugfs,
        events::{
            self,
            Submission, //
        }, //
    },
    family::{
        gpu::Gpu,
        isolation::Refusal, //
    },
    portable::{
        radeon::{
            additions::NO_POSITION,
            uapi, //
        },
        reason::Reason, //
    },
    radeon::{
        owners::Resource,
        stream::UserStream,
        ClientFile,
        Device,
        RadeonFamily,
        Submitter, //
    },
    residency::to_vram::bring_home,
    running::Running,
    submit::{
        job::Order,
        others::Others, //
    }, //
};

/// Submit commands (CS).
///
/// The client can ask with INFO why a submission was refused.
///
/// # Errors
///
/// `EINVAL` for an envelope or commands that are refused; `ENOENT` for an invalid handle; `ENODATA` for a
/// synchronisation object or a point that no submission so far would signal; `EFAULT` for user memory that does not
/// exist; `ENOMEM`; `EAGAIN` if the client gives an on-chip memory back at this moment; `ECANCELED` if a job of this
/// client has hung the GPU, or if its process or user has done so too often ([`crate::hangs`]); `EBUSY` after a hang
/// from which the GPU could not be recovered, or if the fences to wait for take more than 30 s; `ENODEV` at unbind;
/// `ERESTARTSYS` if a signal arrives. After any error nothing has been executed.
pub(super) fn submit<F: RadeonFamily>(
    dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::Cs,
    file: &ClientFile<F>,
) -> Result {
    let inner = file.inner().get_ref();
    let (client, record) = (&inner.client, &inner.record);
    let id = debugfs::client_id(file);
    let refused = |refusal: Refusal, error| {
        debug::refused(dev, refusal.position, refusal.reason);
        record.refuse(refusal, error);
        events::refused(id, refusal.number, refusal.position, error);
    };
    let banned = match record.is_banned() {
        true => Some(Reason::BANNED),
        false => dev
            .hangs
            .refuses_current()
            .then_some(Reason::HUNG_TOO_OFTEN),
    };
    if let Some(reason) = banned {
        refused(Refusal::new(NO_POSITION, reason), ECANCELED);
        return Err(ECANCELED);
    }
    let rings = F::rings(running.gpu());
    let Some(stream) = UserStream::read(running.workspace()?, arg, &rings, refused)? else {
        return Ok(());
    };
    let mut syncs = stream.syncs(file, refused)?;
    let flags = stream.flags();
    let stream_ring = stream.ring();
    let ring = F::ring(stream_ring, flags.priority);
    let submitter = || Submitter {
        ring: stream_ring,
        keep_tiling: flags.keep_tiling,
        hyperz: dev.uapi.owns(Resource::HyperZ, client),
        cmask: dev.uapi.owns(Resource::Cmask, client),
    };
    let before = submitter();
    let isolation = running.gpu().isolation();
    let mut checked = stream.look_up(file, refused)?.prove(
        isolation,
        F::client(running.gpu(), before),
        |refusal| refused(refusal, EINVAL),
    )?;
    events::submit(Submission {
        client: id,
        dwords: checked.dwords(),
        objects: checked.entries(),
        waits: syncs.waits(),
    });
    let own = running.contexts();
    let behind = syncs.wait(dev, own, refused)?;
    checked.lock(&mut Others::new(dev, own), |locked| {
        bring_home(running, locked.uses())?;
        locked.place(running, isolation)?.submit(
            running,
            Order { ring, behind },
            record,
            before.memories(),
            || F::client(running.gpu(), submitter()),
            |fence| syncs.publish(fence),
        )
    })?;
    Ok(())
}
