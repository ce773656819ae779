// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Fills of the memories on the chip ([`crate::portable::onchip`]). Only their owner may fill them, one at a time, up
//! to their size.

use super::{
    Options,
    Reason, //
};

pub(super) use crate::portable::onchip::Memory;

/// Check a packet that fills `count` dwords of `memory` from `start` on.
pub(super) fn clear(
    memory: Memory,
    start: u32,
    count: u32,
    options: &Options,
) -> Result<(), Reason> {
    match memory {
        Memory::HiZ | Memory::ZMask if !options.hyperz => return Err(Reason::NotHyperZOwner),
        Memory::CMask if !options.cmask => return Err(Reason::NotCmaskOwner),
        _ => {}
    }
    let (pixel, z) = (options.pixel_pipes.into(), options.z_pipes.into());
    match start.checked_add(count) {
        Some(end) if end <= memory.dwords(options.chip, pixel, z) => Ok(()),
        _ => Err(Reason::OnChipBounds),
    }
}
