// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Isolation: the commands of a client access only its own objects.
//!
//! An R5xx has one address space for all clients. Protection therefore means to check each stream before it is
//! executed. The portable [`checker`] walks through a stream, changes what has to be changed, and notes which dwords
//! take an address. This file connects it to the generic driver.

use kernel::prelude::*;

use lapidary::{
    family::{
        self,
        GpuAddr,
        Proof,
        Refusal, //
    },
    portable::{
        residue::Residue,
        sink::SliceSink, //
    },
    radeon::{
        note::Note,
        owners::Resource,
        Submitter, //
    }, //
};

use crate::{
    chip::Chipset,
    pipes::Pipes,
    portable::{
        checker::{
            self,
            Fixup,
            Object,
            Options, //
        },
        onchip::{
            self,
            Memory as OnChip, //
        }, //
    },
};

/// The command checker, for one chip.
pub(crate) struct Isolation {
    chip: checker::Chip,
    pixel_pipes: u8,
    z_pipes: u8,
}

impl Isolation {
    /// Return the checker for a chip with `pipes`.
    pub(crate) fn new(chipset: Chipset, pipes: &Pipes) -> Self {
        // No chip has more than four.
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

    /// Write into `out` the commands that fill the memories behind `resource` with zeros, as far as a client could
    /// reach them. Return the number of dwords.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if `out` takes less than 2 × [`onchip::MOST_DWORDS`].
    pub(crate) fn clear(&self, resource: Resource, out: &mut [u32]) -> Result<usize> {
        let memories: &[OnChip] = match resource {
            Resource::HyperZ => &[OnChip::HiZ, OnChip::ZMask],
            Resource::Cmask => &[OnChip::CMask],
        };
        let mut out = SliceSink::new(out);
        for memory in memories {
            let (pixel, z) = (self.pixel_pipes.into(), self.z_pipes.into());
            let dwords = memory.dwords(self.chip, pixel, z);
            onchip::clear(&mut out, *memory, dwords).map_err(|_| ENOSPC)?;
        }
        Ok(out.written())
    }
}

impl family::Isolation for Isolation {
    type Client = Submitter;
    type Object = Object;
    type Fixup = Fixup;
    type Note = Note;

    /// All clients see the one address space of the chip.
    const SHARED: bool = true;

    fn object(size: u64, note: &Note) -> Object {
        Object {
            size,
            tiling: note.tiling().0,
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
        _residue: &mut Residue,
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

    #[inline]
    fn target(fixup: Fixup) -> usize {
        fixup.object as usize
    }

    #[inline]
    fn place(fixup: Fixup, base: GpuAddr, words: &mut [u32]) -> Result {
        let word = words.get_mut(fixup.dword as usize).ok_or(EINVAL)?;
        *word = fixup.apply(*word, base).ok_or(EINVAL)?;
        Ok(())
    }
}

#[kunit_tests(r500_isolation)]
mod tests {
    use super::*;
    use crate::portable::{
        checker::Reason,
        pm4,
        regs::{
            mmio,
            pm4::{
                gui_control,
                op,
                pitch_offset, //
            },
        },
    };
    use family::Isolation as _;
    use lapidary::portable::radeon::envelope::Ring;

    const NO_OWNER: Submitter = Submitter {
        ring: Ring::Gfx,
        keep_tiling: true,
        hyperz: false,
        cmask: false,
    };
    const OWNER: Submitter = Submitter {
        hyperz: true,
        cmask: true,
        ..NO_OWNER
    };

    /// Every chip with its pixel and Z pipes.
    const CHIPS: [(Chipset, u32, u32); 6] = [
        (Chipset::Rv515, 1, 1),
        (Chipset::R520, 4, 1),
        (Chipset::Rv530, 1, 2),
        (Chipset::Rv560, 2, 1),
        (Chipset::Rv570, 3, 1),
        (Chipset::R580, 4, 1),
    ];

    fn isolation((chipset, pixel, z): (Chipset, u32, u32)) -> Isolation {
        Isolation::new(chipset, &Pipes { pixel, z })
    }

    /// Why a stream that names no object is refused.
    fn refused<const N: usize>(
        isolation: &Isolation,
        client: Submitter,
        mut words: [u32; N],
    ) -> Option<Reason> {
        let number = isolation
            .prove(
                &mut words,
                &mut [],
                &client,
                &mut [],
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
    fn all_pixel_pipes_are_needed() {
        for chip in CHIPS {
            let isolation = isolation(chip);
            let select = |pipes| {
                let words = [pm4::write(mmio::SU_REG_DEST, 1), pipes];
                refused(&isolation, NO_OWNER, words)
            };
            let all = crate::state::every(chip.1);
            assert_eq!(select(all), None);
            for pipe in 0..chip.1 {
                assert_eq!(select(all & !(1 << pipe)), Some(Reason::PipesRestricted));
            }
        }
    }

    #[test]
    fn z_pipes_are_chosen_on_rv530_only() {
        for chip in CHIPS {
            let isolation = isolation(chip);
            let select = |pipes| {
                let words = [pm4::write(mmio::FG_ZBREG_DEST, 1), pipes];
                refused(&isolation, NO_OWNER, words)
            };
            if chip.0 == Chipset::Rv530 {
                assert_eq!(select(3), None);
                assert_eq!(select(1), Some(Reason::PipesRestricted));
            } else {
                assert_eq!(select(3), Some(Reason::OtherChip));
            }
        }
    }

    #[test]
    fn memories_on_the_chip_end_where_those_of_its_pipes_do() {
        for chip in CHIPS {
            let isolation = isolation(chip);
            let (chipset, pixel, z) = chip;
            let pipes = if chipset == Chipset::Rv530 { z } else { pixel };
            let hiz = match chipset {
                Chipset::Rv515 | Chipset::R520 => 10240,
                _ => 15360,
            };
            let cmask = if pixel == 1 { 5120 } else { 4096 * pixel };
            for (opcode, dwords) in [
                (op::_3D_CLEAR_ZMASK, 4096 * pipes),
                (op::_3D_CLEAR_HIZ, hiz * pipes),
                (op::_3D_CLEAR_CMASK, cmask),
            ] {
                let clear = |start| {
                    let words = [pm4::operation(opcode, 3), start, 1, 0];
                    refused(&isolation, OWNER, words)
                };
                assert_eq!(clear(dwords - 1), None);
                assert_eq!(clear(dwords), Some(Reason::OnChipBounds));
            }
        }
    }

    #[test]
    fn each_client_has_what_it_owns() {
        let isolation = isolation(CHIPS[0]);
        for (hyperz, cmask) in [(false, false), (true, false), (false, true), (true, true)] {
            let client = Submitter {
                hyperz,
                cmask,
                ..NO_OWNER
            };
            let clear = |opcode| {
                let words = [pm4::operation(opcode, 3), 0, 1, 0];
                refused(&isolation, client, words).is_none()
            };
            assert_eq!(clear(op::_3D_CLEAR_ZMASK), hyperz);
            assert_eq!(clear(op::_3D_CLEAR_HIZ), hyperz);
            assert_eq!(clear(op::_3D_CLEAR_CMASK), cmask);
        }
    }

    #[test]
    fn objects_are_known_by_size_tiling_and_use() {
        let isolation = isolation(CHIPS[0]);
        let control = gui_control::DST_PITCH_OFF.of(1)
            | gui_control::SRC_PITCH_OFF.of(1)
            | gui_control::BRUSH_TYPE.of(gui_control::brush_type::NONE)
            | gui_control::DST_TYPE.of(gui_control::dst_type::ARGB8888)
            | gui_control::SRC_TYPE.of(gui_control::src_type::COLOR)
            | gui_control::WIN31_ROP.of(0xcc)
            | gui_control::SRC_LOAD.of(gui_control::src_load::MEMORY)
            | gui_control::GMC_CLR_CMP_FCN_DIS.of(1);
        let place = pitch_offset::PITCH.of(4);
        let marker = pm4::operation(op::NOP, 1);
        // From the second object to the first: 64 by 16 pixels, all of a page.
        let copy = |mut objects: [Object; 2], keep_tiling| -> Result<_, u32> {
            let mut words = [
                pm4::write(mmio::DP_GUI_MASTER_CNTL, 1),
                control,
                pm4::write(mmio::DP_CNTL, 1),
                3,
                pm4::write(mmio::DST_PITCH_OFFSET, 1),
                place,
                marker,
                0,
                pm4::write(mmio::SRC_PITCH_OFFSET, 1),
                place,
                marker,
                4,
                pm4::write(mmio::SRC_Y_X, 2),
                0,
                0,
                pm4::write(mmio::DST_HEIGHT_WIDTH, 1),
                (16 << 16) | 64,
            ];
            let client = Submitter {
                keep_tiling,
                ..NO_OWNER
            };
            let mut fixups = [Fixup::default(); 5];
            let proof = isolation
                .prove(
                    &mut words,
                    &mut objects,
                    &client,
                    &mut fixups,
                    &mut Residue::default(),
                )
                .map_err(|refusal| refusal.number)?;
            assert_eq!((proof.dwords, proof.fixups), (17, 2));
            let targets = [fixups[0], fixups[1]].map(Isolation::target);
            assert_eq!(targets, [0, 1]);
            Ok((
                words,
                fixups,
                objects.map(|object| Isolation::writes(&object)),
            ))
        };
        let object = |size, tiling| {
            let note = Note::default();
            note.set_tiling(tiling, 0);
            Isolation::object(size, &note)
        };
        let page = |tiling| object(4096, tiling);
        let macro_tiled = lapidary::portable::radeon::uapi::tiling::MACRO;

        let Ok((mut words, fixups, writes)) = copy([page(macro_tiled), page(0)], true) else {
            panic!("refused");
        };
        assert_eq!(writes, [true, false]);
        assert_eq!(words[5], place);
        assert!(Isolation::place(fixups[0], 0x10_0000, &mut words).is_ok());
        assert!(Isolation::place(fixups[1], 0x20_0000, &mut words).is_ok());
        assert_eq!((words[5], words[9]), (place | 0x400, place | 0x800));
        // Neither a dword that is not there nor an address that does not fit.
        assert!(Isolation::place(fixups[0], 0x10_0000, &mut words[..5]).is_err());
        assert!(Isolation::place(fixups[0], 0x10_0200, &mut words).is_err());

        let Ok((words, ..)) = copy([page(macro_tiled), page(0)], false) else {
            panic!("refused");
        };
        assert_eq!(words[5], place | pitch_offset::TILE_MACRO.of(1));
        assert_eq!(words[9], place);
        let small = object(4095, 0);
        let number = Reason::SourceBounds.number();
        assert_eq!(copy([page(0), small], true).err(), Some(number));
    }
}
