// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The memories on the chip for hierarchical Z, depth compression and colour compression, and how they are cleared.
//!
//! They hold the state of blocks of pixels of the buffer that their owner draws to (R5xx 8). They have no addresses.
//! Packets fill them, each with start, length and value (R5xx 8.4). Sizes in dwords are Mesa's (`r300_chipset.h`,
//! `r300_texture_desc.c`). There is one such memory in each pipe, on RV530 in each Z pipe. One packet fills them all in
//! turn.

use lapidary::portable::sink::{
    Full,
    Sink, //
};

use super::{
    checker::Chip,
    pm4,
    regs::pm4::{
        _3d_clear_hiz::count::COUNT,
        op, //
    }, //
};

/// Dwords of depth mask memory of a pipe.
const ZMASK: u32 = 4096;
/// Dwords of hierarchical Z memory of a pipe of RV515 and R520.
const SMALL_HIZ: u32 = 10240;
/// The same of the other chips.
const LARGE_HIZ: u32 = 15360;
/// Dwords of colour mask memory of a pipe.
const CMASK: u32 = 4096;
/// The same if there is one pipe only.
const SINGLE_CMASK: u32 = 5120;

/// One of the memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Hierarchical Z.
    HiZ,
    /// Depth mask.
    ZMask,
    /// Colour mask.
    CMask,
}

impl Memory {
    /// Return the memory's size in dwords on a chip with this number of pixel and Z pipes.
    pub fn dwords(self, chip: Chip, pixel_pipes: u32, z_pipes: u32) -> u32 {
        let pixel_pipes = pixel_pipes.clamp(1, 4);
        let pipes = match chip {
            Chip::Rv530 => z_pipes.clamp(1, 2),
            _ => pixel_pipes,
        };
        match (self, chip) {
            (Self::ZMask, _) => ZMASK.wrapping_mul(pipes),
            (Self::HiZ, Chip::Rv515 | Chip::R520) => SMALL_HIZ.wrapping_mul(pipes),
            (Self::HiZ, _) => LARGE_HIZ.wrapping_mul(pipes),
            (Self::CMask, _) if pixel_pipes == 1 => SINGLE_CMASK,
            (Self::CMask, _) => CMASK.wrapping_mul(pixel_pipes),
        }
    }

    fn opcode(self) -> u8 {
        match self {
            Self::HiZ => op::_3D_CLEAR_HIZ,
            Self::ZMask => op::_3D_CLEAR_ZMASK,
            Self::CMask => op::_3D_CLEAR_CMASK,
        }
    }
}

/// The most dwords that [`clear`] writes for any memory.
pub const MOST_DWORDS: usize = 4 * ((4 * LARGE_HIZ).div_ceil(COUNT.max())) as usize;

/// Fill the first `dwords` dwords of `memory` with zero.
///
/// The engines must be idle and their caches empty, as behind a fence. Register writes must reach all pipes.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`MOST_DWORDS`].
pub fn clear(out: &mut impl Sink, memory: Memory, dwords: u32) -> Result<(), Full> {
    let mut start = 0;
    while start < dwords {
        let count = dwords.saturating_sub(start).min(COUNT.max());
        out.put(pm4::operation(memory.opcode(), 3))?;
        out.put(start)?;
        out.put(COUNT.of(count))?;
        out.put(0)?;
        start = start.saturating_add(count);
    }
    Ok(())
}
