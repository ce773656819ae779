// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The microcode images.
//!
//! Three processors execute microcode: the prefetch parser (PFP) and the micro engine (ME) of the command processor, and
//! the RLC. The driver writes an image dword by dword to a data register, which advances the address. The files of
//! linux-firmware have these dwords in big-endian order and nothing else. An instruction of an R6xx micro engine has
//! three dwords, every other instruction one. The sizes are facts from Linux (`drivers/gpu/drm/radeon/r600.c`).

use super::Generation;

/// A processor that executes microcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processor {
    /// The prefetch parser of the command processor.
    Pfp,
    /// The micro engine of the command processor.
    Me,
    /// The RLC.
    Rlc,
}

impl Processor {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pfp, Self::Me, Self::Rlc];
}

/// Bytes of a dword.
const DWORD: usize = 4;

/// Return how many instructions an image has.
pub const fn instructions(generation: Generation, processor: Processor) -> usize {
    match (generation, processor) {
        (Generation::R6xx, Processor::Pfp) => 576,
        (Generation::R6xx, Processor::Me) => 1792,
        (Generation::R6xx, Processor::Rlc) => 768,
        (Generation::R7xx, Processor::Pfp) => 848,
        (Generation::R7xx, Processor::Me) => 1360,
        (Generation::R7xx, Processor::Rlc) => 1024,
    }
}

/// Return how many dwords an instruction has.
pub const fn instruction_dwords(generation: Generation, processor: Processor) -> usize {
    match (generation, processor) {
        (Generation::R6xx, Processor::Me) => 3,
        _ => 1,
    }
}

/// Return the size of an image in bytes. An image of any other size is not microcode for that processor.
pub const fn size(generation: Generation, processor: Processor) -> usize {
    // The largest is 21504.
    instructions(generation, processor)
        .wrapping_mul(instruction_dwords(generation, processor))
        .wrapping_mul(DWORD)
}

/// Return the dwords of an image, in the order in which they are loaded.
pub fn words(image: &[u8]) -> impl Iterator<Item = u32> + '_ {
    image
        .chunks_exact(DWORD)
        .filter_map(|bytes| Some(u32::from_be_bytes(bytes.try_into().ok()?)))
}
