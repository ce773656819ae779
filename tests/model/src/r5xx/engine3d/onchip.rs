// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memories on the chip: hierarchical Z, the depth mask and the colour mask. No address leads to them, only an index.
//!
//! The manual gives no sizes. These are what Mesa's r300 driver relies on (`r300_chipset.c`, `r300_texture_desc.c`):
//! dwords for each depth unit, or for each raster pipe with the colour mask.

use lapidary_registers::r500::pm4::op;

use super::state::Pipes;

/// Dwords of hierarchical Z in a depth unit: RV515 and R520, and the chips after them.
const HIZ: (u32, u32) = (10240, 15360);
/// Dwords of depth mask in a depth unit.
const ZMASK: u32 = 4096;
/// Dwords of colour mask of a chip with one raster pipe, and in each pipe of others.
const CMASK: (u32, u32) = (5120, 4096);

/// How many dwords a clear packet can fill, and what of. None for other packets.
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
