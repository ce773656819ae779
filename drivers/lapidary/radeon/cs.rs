// SPDX-License-Identifier: GPL-2.0 OR MIT

//! CS: submitting commands. The steps are in [`crate::submit`].

use kernel::prelude::*;

use crate::{
    family::Gpu,
    portable::radeon_uapi as uapi,
    radeon::{
        ClientFile,
        Device,
        RadeonFamily, //
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
/// is not there, `ENOMEM`; `EBUSY` after a hang, `ENODEV` at unbind; `ERESTARTSYS` if a signal arrives. In all cases nothing
/// has been executed.
pub(super) fn submit<F: RadeonFamily>(
    dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::Cs,
    file: &ClientFile<F>,
) -> Result {
    let Some(stream) = UserStream::read(arg, &F::RINGS)? else {
        return Ok(());
    };
    let mut checked = stream
        .look_up::<F>(file)?
        .prove(running.gpu().isolation())?;
    pin_init::stack_pin_init!(let exec = checked.exec());
    let locked = checked.lock(exec)?;
    let (_, lane) = running.ring(RING).ok_or(EINVAL)?;
    locked.wait(dev, lane.timeline().context())?;
    locked.place(running)?.submit(running, RING)?;
    Ok(())
}
