// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers of an R5xx.
//!
//! There are four spaces: the register aperture (byte offsets), and behind index/data pairs in it the memory
//! controller, the PCI Express block and the PLLs (indices).

use lapidary_model::registers::{Registers, Space};
use lapidary_registers::r500::DATABASE;
use lapidary_registers::{Domain, Register};

use super::classes::class;

/// What there is, and what the model makes of it.
pub static REGISTERS: Registers = Registers {
    database: &DATABASE,
    class,
};

/// Which words of the aperture belong to the 3D pipe, from the vertex unit to the colour backend.
pub struct Pipe(Vec<bool>);

impl Pipe {
    /// Return the words of the pipe on that chip, whose aperture has so many words.
    pub fn new(chip: &str, words: usize) -> Pipe {
        let space = Space::new(&REGISTERS, "register", Domain::MMIO, chip, 4, words);
        let word = |i| space.register(i as u32 * 4).is_some_and(is_pipe);
        Pipe((0..words).map(word).collect())
    }

    /// Return whether the register at a byte offset does.
    pub fn holds(&self, offset: u32) -> bool {
        self.0.get(offset as usize / 4).copied().unwrap_or(false)
    }
}

/// Return the blocks of the database that make up the 3D pipe.
fn is_pipe(register: &Register) -> bool {
    const BLOCKS: [&str; 11] = [
        "VAP", "GB", "GA", "SU", "SC", "RS", "TX", "US", "FG", "CB", "ZB",
    ];
    register.block == "3D" || BLOCKS.contains(&register.block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use lapidary_model::registers::Touched;
    use lapidary_registers::r500::mmio;

    #[test]
    fn known_words_have_names() {
        let space = Space::new(&REGISTERS, "register", Domain::MMIO, "RV515", 4, 0x4000);
        assert_eq!(
            space.register(mmio::RBBM_STATUS).map(|r| r.name),
            Some("RBBM_STATUS")
        );
        assert_eq!(space.find("RBBM_STATUS"), Some(mmio::RBBM_STATUS));
        assert_eq!(space.find("SCRATCH_REG[3]"), mmio::SCRATCH_REG.at(3));
        assert_eq!(space.find("SCRATCH_REG[8]"), None);
        assert_eq!(space.find("NO_SUCH"), None);
    }

    #[test]
    fn touches_are_counted_and_what_is_missing_is_named_once() {
        let mut space = Space::new(&REGISTERS, "register", Domain::MMIO, "RV515", 4, 0x4000);
        assert_eq!(
            space.touch(mmio::CP_ME_CNTL, false, Source::Firmware.name()),
            None
        );
        assert!(space.touched().is_empty());
        let missing = space.touch(mmio::CP_ME_CNTL, false, Source::Host.name());
        assert_eq!(missing.as_deref(), Some("CP_ME_CNTL"));
        assert_eq!(
            space.touch(mmio::CP_ME_CNTL, true, Source::Dma.name()),
            None
        );
        let scratch = mmio::SCRATCH_REG.at(3).unwrap();
        assert_eq!(space.touch(scratch, true, Source::Dma.name()), None);
        assert_eq!(
            space.touch(0xfff8, true, Source::Host.name()),
            None,
            "no register"
        );
        let lines: Vec<_> = space.touched().iter().map(Touched::to_string).collect();
        assert_eq!(
            lines,
            [
                "CP CP_ME_CNTL missing 1 1 the CPU",
                "CP SCRATCH_REG[3] implemented 0 1 a DMA engine"
            ]
        );
        space.reset();
        assert_eq!(space.touched().len(), 2, "a reset does not forget");
    }

    #[test]
    fn outside_is_harmless() {
        let mut space = Space::new(&REGISTERS, "register", Domain::MMIO, "RV515", 4, 0x4000);
        space.set(0xffff_fffc, 1);
        assert_eq!(space.get(0xffff_fffc), 0);
        assert!(space.register(0xffff_fffc).is_none());
    }
}
