// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which pipes a register write reaches.
//!
//! A chip has up to four pixel pipes, and RV530 two Z pipes, each with registers of its own. Ordinarily a write reaches
//! all of them. To read one pipe's count of pixels a client restricts writes to that pipe and writes `ZB_ZPASS_ADDR`.
//! It does the same for the other pipes (`SU_REG_DEST`, `FG_ZBREG_DEST`; R5xx 9.1.15, 10.7).
//!
//! If a scissor or a colour buffer reached only some pipes, the others would draw with those of another client. So
//! while writes are restricted, tracked state may not change and nothing may be drawn. A stream may not end with
//! restricted writes, because the next one has to reach all pipes.

use super::{
    Chip,
    Options,
    Reason, //
};
use crate::portable::{
    policy::Policy,
    regs::mmio::{
        fg_zbreg_dest,
        su_reg_dest, //
    },
};

/// The pipes that a stream has selected. At its start writes reach all, as at the end of every other stream.
#[derive(Debug)]
pub(super) struct Pipes {
    /// The pixel pipes of the chip, one bit each.
    pixel: u32,
    chip: Chip,
    pixel_restricted: bool,
    z_restricted: bool,
}

impl Pipes {
    pub(super) fn new(options: &Options) -> Self {
        let pixel = match options.pixel_pipes {
            2 => 0b11,
            3 => 0b111,
            4 => 0b1111,
            _ => 0b1,
        };
        Self {
            pixel,
            chip: options.chip,
            pixel_restricted: false,
            z_restricted: false,
        }
    }

    /// Track a write to `SU_REG_DEST`.
    pub(super) fn select(&mut self, word: u32) {
        self.pixel_restricted = su_reg_dest::SELECT.get(word) & self.pixel != self.pixel;
    }

    /// Track a write to `FG_ZBREG_DEST`. Both Z pipes count, even if one does not work.
    pub(super) fn select_z(&mut self, word: u32) -> Result<(), Reason> {
        if self.chip != Chip::Rv530 {
            return Err(Reason::OtherChip);
        }
        let all = fg_zbreg_dest::PIPES.max();
        self.z_restricted = fg_zbreg_dest::PIPES.get(word) != all;
        Ok(())
    }

    /// Check that a register may be written now.
    pub(super) fn admits(&self, policy: Policy) -> Result<(), Reason> {
        let alone = matches!(
            policy,
            Policy::Free
                | Policy::PipeSelect
                | Policy::ZPipeSelect
                | Policy::PassAddress
                | Policy::WaitUntil
                | Policy::CacheControl
                | Policy::ColorCacheControl
                | Policy::ZCacheControl
        );
        if alone {
            return Ok(());
        }
        self.all()
    }

    /// Check that writes reach all pipes, for a draw and for the end of a stream.
    pub(super) fn all(&self) -> Result<(), Reason> {
        if self.pixel_restricted || self.z_restricted {
            return Err(Reason::PipesRestricted);
        }
        Ok(())
    }
}
