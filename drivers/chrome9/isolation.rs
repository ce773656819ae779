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

    fn object(size: u64, note: &Note) -> Object {
        Object {
            size,
            number: note.number(),
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

#[kunit_tests(chrome9_isolation)]
mod tests {
    use super::*;
    use crate::portable::{
        emit::{
            header_word,
            PAD, //
        },
        place::GART,
        regs::{
            header,
            mmio::{
                self,
                dimension,
                gecmd,
                gemode,
                pitch, //
            },
        },
    };
    use family::Isolation as _;

    /// Where the fill's pairs begin, and which of them has the base.
    const PAIRS: usize = 4;
    const BASE: usize = PAIRS + 2 * 5 + 1;

    /// A fill of one row of 1024 pixels, and the one relocation of its base.
    fn fill(offset: u32) -> [u32; 24] {
        let command = gecmd::ROP.of(0xf0)
            | gecmd::FIXED_COLOR_PATTERN.mask()
            | gecmd::COMMAND.of(gecmd::command::BLT);
        [
            header_word(header::REGISTERS_2D),
            8,
            0,
            PAD,
            mmio::GEMODE,
            gemode::DEPTH.of(gemode::depth::BPP_32),
            mmio::KEYCONTROL,
            0,
            mmio::PITCH,
            pitch::DESTINATION.of(512),
            mmio::DIMENSION,
            dimension::WIDTH.of(1023),
            mmio::DSTPOS,
            0,
            mmio::DSTBASE,
            0,
            mmio::MONOPATFGC,
            0x1234_5678,
            mmio::GECMD,
            command,
            // The relocation.
            BASE as u32,
            0,
            offset,
            0,
        ]
    }

    fn prove(words: &mut [u32], size: u64, fixups: &mut [Fixup]) -> Result<(Proof, Object), u32> {
        let mut objects = [Isolation::object(size, &Note::default())];
        let submission = Submission { relocations: 1 };
        let mut residue = Residue::default();
        Isolation
            .prove(words, &mut objects, &submission, fixups, &mut residue)
            .map(|proof| (proof, objects[0]))
            .map_err(|refusal| refusal.number)
    }

    #[test]
    fn relocations_are_checked_and_not_executed() {
        let mut words = fill(4096);
        let mut fixups = [Fixup::default(); 6];
        assert!(Isolation::most_fixups(words.len()) == fixups.len());
        let Ok((proof, object)) = prove(&mut words, 8192, &mut fixups) else {
            panic!("refused");
        };
        assert_eq!((proof.dwords, proof.fixups), (20, 1));
        assert_eq!(Isolation::target(fixups[0]), 0);
        // The engine writes it, and has no other address than one in the frame buffer.
        assert!(Isolation::writes(&object) && Isolation::needs_vram(&object));
        // One byte less is refused, with a number of this family.
        let refused = prove(&mut fill(4096), 8191, &mut fixups).err();
        assert!(refused.is_some_and(|number| (0x4000..0x5000).contains(&number)));
    }

    #[test]
    fn an_address_is_put_where_the_register_has_it() {
        let mut words = fill(4096);
        let mut fixups = [Fixup::default(); 6];
        assert!(prove(&mut words, 8192, &mut fixups).is_ok());
        let place = |base| {
            let mut copy = words;
            Isolation::place(fixups[0], base, &mut copy).map(|()| copy[BASE])
        };
        assert_eq!(place(0x10_0000), Ok((0x10_0000 + 4096) / 8));
        // Not behind the GART, nor where there are no addresses.
        assert_eq!(place(GART), Err(EINVAL));
        assert_eq!(place(2 * GART), Err(EINVAL));
    }
}
