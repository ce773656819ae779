// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Questions about chip and driver (GET_PARAM).

use kernel::prelude::*;

use crate::{
    interface::{
        ClientFile,
        Device,
        Running, //
    },
    portable::uapi::{
        self,
        param, //
    },
};

/// Answer GET_PARAM.
///
/// # Errors
///
/// `EINVAL` for an unknown parameter, and if the reserved field is not zero.
pub(super) fn get(
    dev: &Device,
    running: &Running<'_>,
    arg: &mut uapi::GetParam,
    file: &ClientFile,
) -> Result {
    if arg.reserved != 0 {
        return Err(EINVAL);
    }
    let record = &file.inner().get_ref().record;
    let refusals = || record.refusals();
    let last = || refusals().last.map(|(refusal, _)| refusal);
    arg.value = match arg.param {
        param::CHIP => running.pdev().device_id().into(),
        param::FRAME_BUFFER_SIZE => dev.memory.vram().size(),
        param::GART_SIZE => dev.memory.gtt_size(),
        param::MOST_DWORDS => uapi::MOST_DWORDS.into(),
        param::MOST_OBJECTS => uapi::MOST_OBJECTS.into(),
        param::MOST_RELOCATIONS => uapi::MOST_RELOCATIONS.into(),
        param::MOST_SYNCS => uapi::MOST_SYNCS.into(),
        param::RESETS => dev.resets().into(),
        param::GUILTY_RESETS => record.guilty().into(),
        param::REFUSALS => refusals().count,
        param::REFUSAL_REASON => last().map_or(0, |refusal| refusal.number.into()),
        param::REFUSAL_POSITION => last().map_or(0, |refusal| refusal.position.into()),
        _ => return Err(EINVAL),
    };
    Ok(())
}
