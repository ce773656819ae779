// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What keeps the commands of a client within its objects.
//!
//! An R5xx has one address space for everybody, so the only protection is to look at what is to be
//! executed: the portable [`checker`] walks through a stream, copies what is harmless, and notes
//! where addresses have to go. This file is its connection to the generic driver.

use kernel::prelude::*;

use lapidary::{
    family::{
        self,
        GpuAddr,
        Proof,
        Refusal, //
    },
    radeon::Submitter, //
};

use crate::{
    chip::Chipset,
    pipes::Pipes,
    portable::checker::{
        self,
        Fixup,
        Object,
        Options, //
    },
};

/// The command checker, for one chip.
pub(crate) struct Isolation {
    chip: checker::Chip,
    pixel_pipes: u8,
    z_pipes: u8,
}

impl Isolation {
    /// A checker for a chip that has `pipes`.
    pub(crate) fn new(chipset: Chipset, pipes: &Pipes) -> Self {
        // No chip has more than a handful.
        let count = |pipes: u32| u8::try_from(pipes).unwrap_or(1);
        Self {
            chip: match chipset {
                Chipset::Rv515 => checker::Chip::Rv515,
                Chipset::R520 => checker::Chip::R520,
                Chipset::Rv530 => checker::Chip::Rv530,
                Chipset::Rv560 => checker::Chip::Rv560,
                Chipset::Rv570 => checker::Chip::Rv570,
                Chipset::R580 => checker::Chip::R580,
            },
            pixel_pipes: count(pipes.pixel),
            z_pipes: count(pipes.z),
        }
    }
}

impl family::Isolation for Isolation {
    type Client = Submitter;
    type Object = Object;
    type Fixup = Fixup;

    fn object(size: u64, tiling: u32) -> Object {
        Object {
            size,
            tiling,
            access: checker::Access::default(),
        }
    }

    fn writes(object: &Object) -> bool {
        object.access.writes
    }

    fn most_fixups(dwords: usize) -> usize {
        checker::max_fixups(dwords)
    }

    fn prove(
        &self,
        words: &mut [u32],
        objects: &mut [Object],
        client: &Submitter,
        fixups: &mut [Fixup],
    ) -> Result<Proof, Refusal> {
        let options = Options {
            keep_tiling: client.keep_tiling,
            hyperz: client.hyperz,
            cmask: client.cmask,
            chip: self.chip,
            pixel_pipes: self.pixel_pipes,
            z_pipes: self.z_pipes,
        };
        let dwords = words.len();
        match checker::check(words, objects, options, fixups) {
            Ok(fixups) => Ok(Proof { dwords, fixups }),
            Err(refusal) => Err(Refusal {
                position: refusal.position,
                number: refusal.reason.number(),
                reason: refusal.reason.text(),
            }),
        }
    }

    fn target(fixup: Fixup) -> usize {
        fixup.object as usize
    }

    fn place(fixup: Fixup, base: GpuAddr, words: &mut [u32]) -> Result {
        let word = words.get_mut(fixup.dword as usize).ok_or(EINVAL)?;
        *word = fixup.apply(*word, base).ok_or(EINVAL)?;
        Ok(())
    }
}
