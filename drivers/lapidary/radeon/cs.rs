// SPDX-License-Identifier: GPL-2.0 OR MIT

//! CS: submitting commands. The steps are in [`crate::submit`].

use kernel::prelude::*;

use crate::{
    corner::debug,
    family::Gpu,
    portable::radeon_uapi as uapi,
    radeon::{
        owners::Resource,
        ClientFile,
        Device,
        RadeonFamily,
        Submitter, //
    },
    running::Running,
    submit::stream::UserStream,
};

/// The ring of all submissions: a family with several has to choose by the flags.
const RING: usize = 0;

/// CS.
///
/// # Errors
///
/// `EINVAL` for an envelope or commands that are refused, `ENOENT` for a handle that is none, `EFAULT` for user memory that
/// is not there, `ENOMEM`; `EAGAIN` if the client gives an on-chip memory back at this moment; `ECANCELED` if a job of this client has
/// hung the GPU; `EBUSY` after a hang that could not be mended, `ENODEV` at unbind; `ERESTARTSYS` if a signal arrives. In all cases nothing has been executed.
pub(super) fn submit<F: RadeonFamily>(
    dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::Cs,
    file: &ClientFile<F>,
) -> Result {
    if file.inner().get_ref().context.is_banned() {
        return Err(ECANCELED);
    }
    let Some(stream) = UserStream::read(running.workspace()?, arg, &F::RINGS)? else {
        return Ok(());
    };
    let file_data = file.inner().get_ref();
    let (client, context) = (&file_data.client, &file_data.context);
    let keep_tiling = stream.flags().keep_tiling;
    let submitter = || Submitter {
        keep_tiling,
        hyperz: dev.uapi.owns(Resource::HyperZ, client),
        cmask: dev.uapi.owns(Resource::Cmask, client),
    };
    let before = submitter();
    let mut checked = stream.look_up(file)?.prove(
        running.gpu().isolation(),
        &F::client(running.gpu(), before),
        |refusal| debug::refused(dev, refusal.position, refusal.reason),
    )?;
    pin_init::stack_pin_init!(let exec = checked.exec());
    let locked = checked.lock(exec)?;
    let (_, lane) = running.ring(RING).ok_or(EINVAL)?;
    let only = running.gpu().rings().len() == 1;
    locked.wait(dev, lane.timeline().context(), only)?;
    locked
        .place(running)?
        .submit(running, RING, context, || submitter() == before)?;
    Ok(())
}
