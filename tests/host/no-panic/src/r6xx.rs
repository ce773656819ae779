// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls of the portable code of `r600.ko`.

use lapidary::portable::{
    pm4::Header,
    residue::Residue,
    sink::{Full, SliceSink},
};
use r600::portable::{
    Generation,
    checker::{Chip, Fixup, Object, check_dma, check_gfx, max_fixups, place, reason::Refusal},
    dma, emit, firmware, pm4, policy, pte,
};

/// Call headers.
pub fn headers(word: u32) -> (Header, Option<u32>, u32) {
    let header = pm4::decode(word);
    let numbers = pm4::reserved_bits(word) ^ pm4::config(word) ^ pm4::context(word);
    (header, pm4::encode(header), numbers)
}

/// Call the checkers and what follows them.
///
/// # Errors
///
/// What the checkers say.
pub fn checkers(
    words: &mut [u32],
    objects: &mut [Object],
    chip: &Chip,
    fixups: &mut [Fixup],
    residue: &mut Residue,
    address: u64,
) -> Result<usize, Refusal> {
    let dma = check_dma(words, objects, chip, fixups, residue)?;
    let count = check_gfx(words, objects, chip, fixups, residue)?;
    for fixup in fixups.iter().take(count ^ dma) {
        if place(fixup, address, words).is_none() {
            return Ok(0);
        }
    }
    Ok(count ^ max_fixups(words.len()))
}

/// Call page-table entries.
pub fn entries(
    address: u64,
    access: pte::Access,
    word: u64,
) -> (Option<pte::Entry>, u64, pte::Access, bool) {
    let entry = pte::Entry::decode(word);
    let made = pte::Entry::system(address, access);
    let meant = entry.is_valid() == entry.is_system();
    (made, entry.address() ^ entry.word(), entry.access(), meant)
}

/// Call policy.
pub fn policy(register: u32) -> bool {
    policy::of(register).refuses()
}

/// Call microcode.
pub fn microcode(image: &[u8], generation: Generation, processor: firmware::Processor) -> u32 {
    let size = firmware::size(generation, processor);
    firmware::words(image).fold(size as u32, |sum, word| sum ^ word)
}

/// Call sequences for the command processor.
///
/// # Errors
///
/// [`Full`].
pub fn gfx(out: &mut [u32], fence: emit::Fence, values: [u64; 3]) -> Result<usize, Full> {
    let [a, b, c] = values;
    let mut sink = SliceSink::new(out);
    emit::me_initialize(&mut sink, fence.generation, fence.sequence)?;
    emit::scratch(&mut sink, fence.sequence, 1)?;
    emit::fence(&mut sink, fence)?;
    emit::indirect_buffer(&mut sink, a, b as u32)?;
    emit::signal(&mut sink, a)?;
    emit::wait(&mut sink, a)?;
    if let (Ok(copy), Ok(fill)) = (emit::Copy::new(a, b, c), emit::Fill::new(a, b, 1)) {
        copy.emit(&mut sink)?;
        fill.emit(&mut sink)?;
        return Ok((copy.bytes() ^ fill.bytes()) as usize);
    }
    Ok(sink.written())
}

/// Call sequences for the DMA engine.
///
/// # Errors
///
/// [`Full`].
pub fn dma(out: &mut [u32], value: u32, values: [u64; 3]) -> Result<usize, Full> {
    let [a, b, c] = values;
    let mut sink = SliceSink::new(out);
    dma::write(&mut sink, a, value)?;
    dma::fence(&mut sink, a, value)?;
    dma::indirect_buffer(&mut sink, dma::ib_padding(value), a, b as u32)?;
    dma::signal(&mut sink, a)?;
    dma::wait(&mut sink, a)?;
    if let (Ok(copy), Ok(fill)) = (dma::Copy::new(a, b, c), dma::Fill::new(a, b, 1)) {
        copy.emit(&mut sink)?;
        fill.emit(&mut sink)?;
        return Ok((copy.bytes() ^ fill.bytes()) as usize);
    }
    Ok(sink.written())
}
