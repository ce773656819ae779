// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Isolation: the commands of a client access only its own objects.
//!
//! All clients share the frame buffer and the GART. Protection therefore means to check each stream before it is executed.
//! The portable [`checker`] walks through a stream, and notes which dwords take an address. This file connects it to the
//! generic driver. The stream's relocations come behind its dwords, and are not executed.

use kernel::prelude::*;

use lapidary::{
    family::{
        self,
        GpuAddr,
        Proof,
        Refusal, //
    },
    portable::residue::Residue, //
};

use crate::{
    interface::Note,
    portable::{
        checker::{
            self,
            Fixup,
            Object, //
        },
        place::Place,
        uapi::RELOCATION_DWORDS, //
    },
};

/// The command checker.
pub(crate) struct Isolation;

/// What the checker has to know about a submission besides its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// Relocations behind the stream.
    pub(crate) relocations: u32,
}

impl Submission {
    /// Return the dwords of the relocations.
    fn dwords(self) -> usize {
        self.relocations as usize * RELOCATION_DWORDS as usize
    }
}

impl family::Isolation for Isolation {
    type Client = Submission;
    type Object = Object;
    type Fixup = Fixup;
    type Note = Note;

    /// All clients see the one frame buffer and the one GART.
    const SHARED: bool = true;

    fn object(size: u64, _note: &Note) -> Object {
        Object {
            size,
            ..Object::default()
        }
    }

    fn writes(object: &Object) -> bool {
        object.access.writes
    }

    fn needs_vram(object: &Object) -> bool {
        object.access.frame_buffer
    }

    fn most_fixups(dwords: usize) -> usize {
        // Each relocation has its dwords among these.
        checker::most_fixups(dwords / RELOCATION_DWORDS as usize)
    }

    fn prove(
        &self,
        words: &mut [u32],
        objects: &mut [Object],
        client: &Submission,
        fixups: &mut [Fixup],
        _residue: &mut Residue,
    ) -> Result<Proof, Refusal> {
        let dwords = words.len().saturating_sub(client.dwords());
        let (stream, relocations) = words.split_at(dwords);
        match checker::check(stream, relocations, objects, fixups) {
            Ok(fixups) => Ok(Proof { dwords, fixups }),
            Err(refusal) => Err(Refusal {
                position: refusal.position,
                number: refusal.reason.number(),
                reason: refusal.reason.text(),
            }),
        }
    }

    #[inline]
    fn target(fixup: Fixup) -> usize {
        fixup.object()
    }

    #[inline]
    fn place(fixup: Fixup, base: GpuAddr, words: &mut [u32]) -> Result {
        let place = Place::of(base).ok_or(EINVAL)?;
        let word = words.get_mut(fixup.dword()).ok_or(EINVAL)?;
        *word = fixup.apply(*word, place).ok_or(EINVAL)?;
        Ok(())
    }
}
