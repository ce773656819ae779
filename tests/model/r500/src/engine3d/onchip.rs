// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memories on the chip: hierarchical Z, the depth mask and the colour mask. No address leads to them, only an index.
//!
//! The manual gives no sizes. These are what Mesa's r300 driver relies on (`r300_chipset.c`, `r300_texture_desc.c`):
//! dwords for each depth unit, or for each raster pipe with the colour mask.
//!
//! Clears are executed, and what is in the memories can be asked for by name. Draws neither use nor change them.

use lapidary_registers::r500::pm4::op;

use super::state::Pipes;

/// Dwords of hierarchical Z in a depth unit: RV515 and R520, and the chips after them.
const HIZ: (u32, u32) = (10240, 15360);
/// Dwords of depth mask in a depth unit.
const ZMASK: u32 = 4096;
/// Dwords of colour mask of a chip with one raster pipe, and in each pipe of others.
const CMASK: (u32, u32) = (5120, 4096);

/// The memories of a chip.
pub struct OnChip(Vec<Memory>);

struct Memory {
    opcode: u8,
    name: &'static str,
    words: Vec<u32>,
}

impl OnChip {
    /// Return those of a chip with these pipes, after power-on: they hold anything.
    pub fn new(chip: &str, pipes: &Pipes) -> OnChip {
        let memory = |(opcode, name)| {
            let size = capacity(opcode, chip, pipes).map_or(0, |(_, size)| size);
            let words = (0..size).map(|n| n.wrapping_mul(0x9e37_79b9) | 1);
            Memory {
                opcode,
                name,
                words: words.collect(),
            }
        };
        let all = [
            (op::_3D_CLEAR_HIZ, "hiz"),
            (op::_3D_CLEAR_ZMASK, "zmask"),
            (op::_3D_CLEAR_CMASK, "cmask"),
        ];
        OnChip(all.map(memory).into())
    }

    /// Execute a clear packet; what lies beyond the memory is left out.
    pub fn fill(&mut self, opcode: u8, start: u32, count: u32, value: u32) {
        if let Some(memory) = self.0.iter_mut().find(|m| m.opcode == opcode) {
            let words = memory.words.iter_mut().skip(start as usize);
            words.take(count as usize).for_each(|word| *word = value);
        }
    }

    /// Return the content of the memory with that name: `hiz`, `zmask` or `cmask`.
    pub fn content(&self, name: &str) -> Option<&[u32]> {
        self.0.iter().find(|m| m.name == name).map(|m| &*m.words)
    }
}

/// Return how many dwords a clear packet can fill, and what of. None for other packets.
pub fn capacity(opcode: u8, chip: &str, pipes: &Pipes) -> Option<(&'static str, u32)> {
    Some(match opcode {
        op::_3D_CLEAR_HIZ => {
            let early = matches!(chip, "rv515" | "r520");
            let each = if early { HIZ.0 } else { HIZ.1 };
            ("HiZ memory", each * pipes.depth())
        }
        op::_3D_CLEAR_ZMASK => ("depth mask memory", ZMASK * pipes.depth()),
        op::_3D_CLEAR_CMASK => {
            let n = pipes.raster();
            let all = if n == 1 { CMASK.0 } else { CMASK.1 * n };
            ("colour mask memory", all)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clears_change_what_they_name() {
        let mut memories = OnChip::new("rv515", &Pipes::new(1, 1));
        memories.fill(op::_3D_CLEAR_ZMASK, 4094, 5, 7);
        memories.fill(op::NOP, 0, 5, 7);
        memories.fill(op::_3D_CLEAR_HIZ, 1, 2, 0);
        let zmask = memories.content("zmask").unwrap();
        assert_eq!((zmask.len(), &zmask[4094..]), (4096, &[7, 7][..]));
        assert!(zmask[..4094].iter().all(|&word| word != 7));
        let hiz = memories.content("hiz").unwrap();
        assert!(hiz[0] != 0 && hiz[1..3] == [0, 0] && hiz[3..].iter().all(|&word| word != 0));
        assert_eq!(memories.content("vram"), None);
    }

    #[test]
    fn sizes_by_chip() {
        let size = |op, chip, r, z| capacity(op, chip, &Pipes::new(r, z)).map(|c| c.1);
        assert_eq!(size(op::_3D_CLEAR_HIZ, "rv515", 1, 1), Some(10240));
        assert_eq!(size(op::_3D_CLEAR_HIZ, "r580", 4, 4), Some(61440));
        assert_eq!(size(op::_3D_CLEAR_ZMASK, "rv530", 1, 2), Some(8192));
        assert_eq!(size(op::_3D_CLEAR_CMASK, "rv530", 1, 2), Some(5120));
        assert_eq!(size(op::_3D_CLEAR_CMASK, "r580", 4, 4), Some(16384));
        assert_eq!(size(op::NOP, "r580", 4, 4), None);
    }
}
