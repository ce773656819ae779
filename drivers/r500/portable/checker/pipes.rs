// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which pipes a register write reaches.
//!
//! A chip has up to four pixel pipes, and RV530 two Z pipes, each with registers of its own. Ordinarily a write
//! goes to all of them. To read one pipe's count of pixels a client restricts writes to that pipe, writes
//! `ZB_ZPASS_ADDR`, and so on for the others (`SU_REG_DEST`, `FG_ZBREG_DEST`; R5xx 9.1.15, 10.7).
//!
//! A scissor or a colour buffer that only some pipes got to know would leave the others with those of somebody
//! else. So while writes are restricted, nothing that is tracked may change and nothing may be drawn; and a
//! stream must not end like that, because the next one has to reach all pipes.

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

/// What a stream has said about pipes. At its start, as at the end of every other, writes reach all.
#[derive(Debug)]
pub(super) struct Pipes {
    /// Pixel pipes that there are, one bit each.
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

    /// `SU_REG_DEST`.
    pub(super) fn select(&mut self, word: u32) {
        self.pixel_restricted = su_reg_dest::SELECT.get(word) & self.pixel != self.pixel;
    }

    /// `FG_ZBREG_DEST`. Both Z pipes count, whether both work or not.
    pub(super) fn select_z(&mut self, word: u32) -> Result<(), Reason> {
        if self.chip != Chip::Rv530 {
            return Err(Reason::OtherChip);
        }
        let all = fg_zbreg_dest::PIPES.max();
        self.z_restricted = fg_zbreg_dest::PIPES.get(word) != all;
        Ok(())
    }

    /// Whether a register may be written now.
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

    /// Everything that is drawn, and the end of a stream.
    pub(super) fn all(&self) -> Result<(), Reason> {
        if self.pixel_restricted || self.z_restricted {
            return Err(Reason::PipesRestricted);
        }
        Ok(())
    }
}
