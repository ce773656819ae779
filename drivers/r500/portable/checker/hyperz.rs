// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memories on the chip for hierarchical Z, depth compression and colour compression.
//!
//! They hold the state of blocks of pixels of whatever buffer their owner draws to (R5xx 8). There is one
//! owner at a time, and it fills them by a packet with start, length and value. Sizes in dwords are Mesa's
//! (`r300_chipset.h`, `r300_texture_desc.c`); there is one such memory in each pipe, on RV530 in each Z pipe,
//! and one packet fills them all in turn.

use super::{
    Chip,
    Options,
    Reason, //
};

/// Dwords of depth mask memory of a pipe.
const ZMASK: u32 = 4096;
/// Dwords of hierarchical Z memory of a pipe of RV515 and R520.
const SMALL_HIZ: u32 = 10240;
/// The same of the other chips.
const LARGE_HIZ: u32 = 15360;
/// Dwords of colour mask memory of a pipe.
const CMASK: u32 = 4096;
/// The same if there is one pipe only.
const SINGLE_CMASK: u32 = 5120;

/// One of the memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// Hierarchical Z.
    HiZ,
    /// Depth mask.
    ZMask,
    /// Colour mask.
    CMask,
}

impl Memory {
    fn size(self, options: &Options) -> u32 {
        let pixel_pipes = u32::from(options.pixel_pipes).clamp(1, 4);
        let pipes = match options.chip {
            Chip::Rv530 => u32::from(options.z_pipes).clamp(1, 2),
            _ => pixel_pipes,
        };
        match (self, options.chip) {
            (Self::ZMask, _) => ZMASK.wrapping_mul(pipes),
            (Self::HiZ, Chip::Rv515 | Chip::R520) => SMALL_HIZ.wrapping_mul(pipes),
            (Self::HiZ, _) => LARGE_HIZ.wrapping_mul(pipes),
            (Self::CMask, _) if pixel_pipes == 1 => SINGLE_CMASK,
            (Self::CMask, _) => CMASK.wrapping_mul(pixel_pipes),
        }
    }

    /// A packet that fills `count` dwords from `start` on.
    pub(super) fn clear(self, start: u32, count: u32, options: &Options) -> Result<(), Reason> {
        match self {
            Self::HiZ | Self::ZMask if !options.hyperz => return Err(Reason::NotHyperZOwner),
            Self::CMask if !options.cmask => return Err(Reason::NotCmaskOwner),
            _ => {}
        }
        match start.checked_add(count) {
            Some(end) if end <= self.size(options) => Ok(()),
            _ => Err(Reason::OnChipBounds),
        }
    }
}
