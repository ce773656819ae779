// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Isolation: the commands of a client access only its own objects.
//!
//! R6xx and R7xx have one address space for all clients. Protection therefore means to check each stream before it is
//! executed. The portable [`checker`] has one walk for each ring. It notes which dwords take an address. This file
//! connects it to the generic driver.

use kernel::prelude::*;

use lapidary::{
    family::{
        self,
        GpuAddr,
        Proof,
        Refusal, //
    },
    portable::{
        radeon::envelope::Ring,
        residue::Residue, //
    },
    radeon::{
        note::Note,
        Submitter, //
    }, //
};

use crate::{
    chip::Chipset,
    engines::Engines,
    portable::{
        checker::{
            self,
            Chip,
            Fixup,
            Object, //
        },
        regs::mmio::gb_tiling_config, //
    },
};

/// The command checkers, for one chip.
pub(crate) struct Isolation {
    chip: Chip,
}

impl Isolation {
    /// Return the checkers for a chip with `engines`.
    pub(crate) fn new(chipset: Chipset, engines: &Engines) -> Self {
        let field = |field: lapidary::portable::bits::Field| field.get(engines.tiling);
        Self {
            chip: Chip {
                generation: chipset.generation(),
                pipes: 1 << field(gb_tiling_config::PIPE_TILING),
                banks: 4 << field(gb_tiling_config::BANK_TILING),
                group_bytes: 256 << field(gb_tiling_config::GROUP_SIZE),
                backends: engines.backends,
                base_update: chipset.base_update(),
            },
        }
    }
}

impl family::Isolation for Isolation {
    type Client = Submitter;
    type Object = Object;
    type Fixup = Fixup;
    type Note = Note;

    /// All clients see the one address space of the chip.
    const SHARED: bool = true;

    fn object(size: u64, _note: &Note) -> Object {
        Object {
            size,
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
        residue: &mut Residue,
    ) -> Result<Proof, Refusal> {
        let dwords = words.len();
        let check = match client.ring {
            Ring::Dma => checker::check_dma,
            _ if client.keep_tiling => checker::check_gfx,
            _ => checker::check_gfx_tiled_by_objects,
        };
        match check(words, objects, &self.chip, fixups, residue) {
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
        fixup.object as usize
    }

    /// Also `EINVAL` if the object of a tiled surface is not aligned as its tiling wants.
    #[inline]
    fn place(fixup: Fixup, base: GpuAddr, words: &mut [u32]) -> Result {
        checker::place(&fixup, base, words).ok_or(EINVAL)
    }
}

#[kunit_tests(r600_isolation)]
mod tests {
    use super::*;
    use crate::portable::{
        checker::reason::Reason,
        dma,
        pm4,
        regs::pm4::op,
        Generation, //
    };
    use family::Isolation as _;

    /// Every chip with its `GB_TILING_CONFIG` and its render backends.
    const CHIPS: [(Chipset, u32, u32); 8] = [
        (Chipset::R600, 0xfa50_4916, 4),
        (Chipset::Rv610, 0x4910, 1),
        (Chipset::Rv635, 0x4912, 1),
        (Chipset::Rv670, 0xe4_4914, 4),
        (Chipset::Rv770, 0xfa50_4916, 4),
        (Chipset::Rv730, 0x50_4914, 2),
        (Chipset::Rv710, 0x4912, 1),
        (Chipset::Rv740, 0xe4_4914, 4),
    ];

    fn isolation((chipset, tiling, backends): (Chipset, u32, u32)) -> Isolation {
        Isolation::new(
            chipset,
            &Engines {
                pipes: 1,
                tile_pipes: 1,
                simds: 1,
                backends,
                backend_map: 0,
                tiling,
                contexts: 1,
            },
        )
    }

    fn submitter(ring: Ring) -> Submitter {
        Submitter {
            ring,
            keep_tiling: true,
            hyperz: false,
            cmask: false,
        }
    }

    fn object(size: u64) -> Object {
        Isolation::object(size, &Note::default())
    }

    /// Why a stream is refused.
    fn refused<const N: usize, const M: usize>(
        isolation: &Isolation,
        ring: Ring,
        mut words: [u32; N],
        mut objects: [Object; M],
    ) -> Option<Reason> {
        let mut fixups = [Fixup::default(); 8];
        let number = isolation
            .prove(
                &mut words,
                &mut objects,
                &submitter(ring),
                &mut fixups,
                &mut Residue::default(),
            )
            .err()?
            .number;
        Reason::ALL
            .iter()
            .copied()
            .find(|reason| reason.number() == number)
    }

    #[test]
    fn each_ring_has_its_checker() {
        let isolation = isolation(CHIPS[4]);
        // A filler of the one is not one of the other.
        let gfx = |ring| refused(&isolation, ring, [pm4::FILLER], []);
        assert_eq!(gfx(Ring::Gfx), None);
        assert_eq!(gfx(Ring::Dma), Some(Reason::UnknownOperation));
        let engine = |ring| refused(&isolation, ring, [dma::FILLER], []);
        assert_eq!(engine(Ring::Dma), None);
        assert_eq!(engine(Ring::Gfx), Some(Reason::Truncated));
    }

    #[test]
    fn packets_are_those_of_the_generation() {
        for chip in CHIPS {
            let isolation = isolation(chip);
            let old = matches!(chip.0.generation(), Generation::R6xx);
            let start = [pm4::operation(op::START_3D_CMDBUF, 1), 0];
            let refusal = refused(&isolation, Ring::Gfx, start, []);
            assert_eq!(refusal, (!old).then_some(Reason::OtherGeneration));
        }
    }

    #[test]
    fn counts_have_room_for_all_backends() {
        for chip in CHIPS {
            let isolation = isolation(chip);
            let count = [
                pm4::operation(op::EVENT_WRITE, 3),
                0x115,
                0,
                0,
                pm4::operation(op::NOP, 1),
                0,
            ];
            let bytes = 16 * u64::from(chip.2 - 1) + 8;
            let zpass = |bytes| refused(&isolation, Ring::Gfx, count, [object(bytes)]);
            assert_eq!(zpass(bytes), None);
            assert_eq!(zpass(bytes - 1), Some(Reason::DestinationBounds));
        }
    }

    /// A block of the tiling is as large as pipes, banks and groups make it.
    #[test]
    fn tiled_surfaces_are_those_of_the_chip() {
        for chip in CHIPS {
            let isolation = isolation(chip);
            let pipes = 1u32 << ((chip.1 >> 1) & 7);
            // Pixels of four bytes: one block of eight banks and all pipes. Its first eight lines are read.
            let write = |pitch: u32, height: u32| {
                let info =
                    (pitch / 8 - 1) | ((height - 1) << 10) | (2 << 24) | (4 << 27) | (1 << 31);
                let slice = ((pitch * height).div_ceil(64) - 1) << 12;
                let header = 0x3080_0000 | (pitch * 8);
                [header, 0, info, slice, 0, 0, 0]
            };
            let bytes = u64::from(64 * 8 * pipes * 4);
            let copy = |words, bytes| {
                refused(
                    &isolation,
                    Ring::Dma,
                    words,
                    [object(bytes), object(64 * 8 * 4)],
                )
            };
            assert_eq!(copy(write(64, 8 * pipes), bytes), None);
            let smaller = copy(write(64, 8 * pipes), bytes - 1);
            assert_eq!(smaller, Some(Reason::TiledBounds));
            assert_eq!(copy(write(32, 8 * pipes), bytes), Some(Reason::Pitch));
        }
    }

    #[test]
    fn addresses_are_inserted_and_uses_noted() {
        let isolation = isolation(CHIPS[4]);
        let mut words = [0x3000_0010, 0x40, 0xf080, 0, 0];
        let mut objects = [object(0x1_0000), object(4096)];
        let mut fixups = [Fixup::default(); 2];
        let proof = isolation.prove(
            &mut words,
            &mut objects,
            &submitter(Ring::Dma),
            &mut fixups,
            &mut Residue::default(),
        );
        let proof = proof.map(|proof| (proof.dwords, proof.fixups));
        assert!(matches!(proof, Ok((5, 2))));
        assert_eq!(Isolation::most_fixups(5), 2);
        assert_eq!(fixups.map(Isolation::target), [0, 1]);
        assert_eq!(
            objects.map(|object| Isolation::writes(&object)),
            [false, true]
        );
        assert!(Isolation::place(fixups[0], 0x12_ffff_1000, &mut words).is_ok());
        assert!(Isolation::place(fixups[1], 0x34_0000_1000, &mut words).is_ok());
        assert_eq!(words, [0x3000_0010, 0x1040, 0x80, 0x34, 0x13]);
        // Neither a dword that is not there nor an address that does not fit.
        assert!(Isolation::place(fixups[0], 0x1000, &mut words[..4]).is_err());
        assert!(Isolation::place(fixups[0], 1 << 40, &mut words).is_err());
    }
}
