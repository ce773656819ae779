// SPDX-License-Identifier: GPL-2.0 OR MIT

//! SUBMIT: submitting commands. [`super::stream`] reads what the client passes. [`lapidary::submit`] does the steps after
//! that.

use kernel::prelude::*;

use lapidary::{
    corner::events::{
        self,
        Submission as Submitted, //
    },
    family::Gpu as _,
    portable::replay::Memories,
    residency::to_vram::{
        bring_home,
        bring_needed,
        with_room, //
    },
    submit::{
        admission::Client,
        job::Order,
        others::Others, //
    },
};

use crate::{
    interface::{
        stream::UserStream,
        ClientFile,
        Device,
        Running, //
    },
    isolation::Submission,
    portable::uapi,
    Chrome9, //
};

/// Submit commands (SUBMIT).
///
/// The client can ask with GET_PARAM why a submission was refused.
///
/// # Errors
///
/// `EINVAL` for an envelope or commands that are refused; `ENOENT` for an invalid handle; `ENODATA` for a
/// synchronisation object or a point that no submission so far would signal; `EFAULT` for user memory that does not
/// exist; `ENOMEM`; `EPERM` if the 2D engine is to use an object that another driver uses; `EAGAIN` if the clear of an object
/// has failed at this moment; `ECANCELED` if a job of this client has hung the chip, or if its process or user has done so too
/// often ([`lapidary::hangs`]); `EBUSY` after a hang from which the chip could not be recovered, or if the fences to wait for
/// take more than 30 s; `ENODEV` at unbind; `ERESTARTSYS` if a signal arrives. After any error nothing has been executed.
pub(super) fn submit(
    dev: &Device,
    running: &Running<'_>,
    arg: &mut uapi::Submit,
    file: &ClientFile,
) -> Result {
    let client = Client::<Chrome9>::admit(dev, file)?;
    let stream = UserStream::read(running.workspace()?, arg, &client)?;
    let mut syncs = stream.syncs(file, &client)?;
    let submission = Submission {
        relocations: stream.relocations(),
    };
    let isolation = running.gpu().isolation();
    let mut checked = stream
        .look_up(file, &client)?
        .prove(isolation, submission, |refusal| {
            client.refuse(refusal, EINVAL);
        })?;
    events::submit(Submitted {
        client: client.id(),
        dwords: checked.dwords(),
        objects: checked.entries(),
        waits: syncs.waits(),
    });
    let own = running.contexts();
    let behind = syncs.wait(dev, own, |refusal, error| client.refuse(refusal, error))?;
    with_room(running, |effort| {
        checked.lock(&mut Others::new(dev, own), |locked| {
            bring_needed(running, locked.uses(), effort)?;
            bring_home(running, locked.uses())?;
            locked.place(running, isolation)?.submit(
                running,
                Order { ring: 0, behind },
                client.record(),
                Memories::NONE,
                || submission,
                |fence| syncs.publish(fence),
            )
        })
    })?;
    Ok(())
}
