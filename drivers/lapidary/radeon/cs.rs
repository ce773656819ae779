// SPDX-License-Identifier: GPL-2.0 OR MIT

//! CS: submitting commands. [`super::stream`] reads what the client passes. [`crate::submit`] does the steps after
//! that.

use kernel::prelude::*;

use crate::{
    corner::events::{
        self,
        Submission, //
    },
    family::gpu::Gpu,
    portable::radeon::uapi,
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
        admission::Client,
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
    let submitter = Client::admit(dev, file)?;
    let client = &file.inner().get_ref().client;
    let refused = |refusal, error| submitter.refuse(refusal, error);
    let rings = F::rings(running.gpu());
    let Some(stream) = UserStream::read(running.workspace()?, arg, &rings, refused)? else {
        return Ok(());
    };
    let mut syncs = stream.syncs(file, refused)?;
    let flags = stream.flags();
    let stream_ring = stream.ring();
    let ring = F::ring(stream_ring, flags.priority);
    let owned = || Submitter {
        ring: stream_ring,
        keep_tiling: flags.keep_tiling,
        hyperz: dev.uapi.owns(Resource::HyperZ, client),
        cmask: dev.uapi.owns(Resource::Cmask, client),
    };
    let before = owned();
    let isolation = running.gpu().isolation();
    let mut checked = stream.look_up(file, refused)?.prove(
        isolation,
        F::client(running.gpu(), before),
        |refusal| refused(refusal, EINVAL),
    )?;
    events::submit(Submission {
        client: submitter.id(),
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
            submitter.record(),
            before.memories(),
            || F::client(running.gpu(), owned()),
            |fence| syncs.publish(fence),
        )
    })?;
    Ok(())
}
