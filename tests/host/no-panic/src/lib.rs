// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls of everything in the portable code that the compiler would otherwise not turn into machine code:
//! inline and generic functions.
//!
//! The test of this crate looks at the objects of all these crates as a linker would. What they refer to
//! must not be able to panic.

#![no_std]

pub mod chrome9;
pub mod r6xx;

use lapidary::portable::{
    atom::{
        Card,
        guard::{Dropped, Guard, Rules, Space, Spaces},
    },
    bits::{Field, RegArray, Registers},
    heap::{self, Least},
    others::{End, Rounds},
    pm4::{Body, Fault, Fixups, Form, Stream, header},
    radeon::{
        envelope::{Envelope, Error, Flags, Relocation, Ring, Rings},
        uapi::{CsChunk, CsReloc},
    },
    ring::{Geometry, Run},
    sink::{CountingSink, Full, Sink, SliceSink},
    zeroed::{self, Zeroed},
};
use r500::portable::{
    checker::{Fixup, FixupKind, Object, Options, Refusal, check, max_fixups},
    cpu_surface::CpuSurface,
    emit, firmware, pm4, policy, pte,
};

/// Call bit fields and arrays.
pub fn bits(hi: u32, lo: u32, word: u32, value: u32) -> (u32, bool, Option<u32>, Option<u32>) {
    let field = Field::new(hi, lo);
    let array = RegArray::new(hi, lo, word);
    let word = field.put(field.get(word), field.of(value)) ^ field.mask() ^ field.max();
    let index = array.index_of(value);
    (
        word,
        field.any(word) || array.is_empty(),
        array.at(value),
        index,
    )
}

/// Call lists of registers.
pub fn lists(registers: Registers, offset: u32) -> bool {
    registers.has(offset)
}

/// Call the guard before the video BIOS.
pub fn guard(
    card: &mut dyn Card,
    rules: &'static Rules,
    list: &'static [Space; 3],
    values: [u32; 2],
) -> (Option<Dropped>, Spaces) {
    let [offset, value] = values;
    let mut guard = Guard::new(card, rules);
    if guard.write(offset, value).is_some() && guard.write_for_port(value, offset).is_some() {
        let read = guard.read(offset).unwrap_or(value);
        guard.write_pll(1, read);
        guard.write_mc(2, value);
    }
    (guard.dropped(), Spaces::new(list))
}

/// Call ring arithmetic.
pub fn ring(dwords: u32, align: u32, a: u32, b: u32) -> Option<(Run, Run)> {
    let ring = Geometry::new(dwords, align)?;
    let sum = ring.used(a, b) ^ ring.free(a, b) ^ ring.capacity() ^ ring.log2_qwords();
    let padded = ring.padded(a, b)?;
    ring.split(sum ^ ring.advance(a, b), padded ^ ring.wrap(a))
}

/// Call heaps.
pub fn heaps(room: &mut [(u64, u64)], items: &[(u64, u64)]) -> usize {
    let mut least = Least::new(room);
    for &item in items {
        least.offer(item);
    }
    let count = least.finish();
    heap::sort(room, |item| item.1);
    count
}

/// Wait for work of others.
pub fn others(rounds: &mut Rounds, fences: &[u32], now: i64) -> Result<(), End<u32>> {
    let wait = |fence: &&u32, most| match **fence {
        0 => Err(most),
        fence => Ok(fence > most),
    };
    rounds.round(fences.iter(), || now, wait)
}

/// Call the stock of free pages that are zero.
pub fn zeroed<'a>(
    sets: (&'a mut [u64], &'a mut [u64]),
    range: &core::ops::Range<u64>,
    bytes: u64,
) -> (Option<u64>, Option<core::ops::Range<u64>>, u64) {
    let mut pages = Zeroed::new(range.start, bytes, sets.0, sets.1);
    pages.take(range);
    pages.give(range, Some(pages.life()));
    let found = pages.find(bytes, range.end, range);
    let stale = pages.stale(range, bytes);
    pages.forget();
    (found, stale, pages.zeros() ^ zeroed::words(bytes) as u64)
}

/// Call the envelope of a submission.
pub fn envelope(
    chunks: &[CsChunk],
    flags: &[u32],
    reloc: &CsReloc,
) -> Result<(Envelope, Ring, Relocation, usize), Error> {
    let mut envelope = Envelope::new(chunks.len() as u32)?;
    for chunk in chunks {
        envelope.add(chunk)?;
    }
    let ring = Flags::read(flags).ring(&Rings::GFX)?;
    let bytes = [
        envelope.stream(),
        envelope.relocs(),
        envelope.flags(),
        envelope.const_stream(),
    ]
    .iter()
    .flatten()
    .fold(0usize, |sum, extent| sum ^ extent.bytes());
    Ok((envelope, ring, Relocation::new(reloc)?, bytes))
}

/// Call the checker and what follows it.
pub fn checker(
    words: &mut [u32],
    objects: &mut [Object],
    options: Options,
    fixups: &mut [Fixup],
    address: u64,
) -> Result<usize, Refusal> {
    let count = check(words, objects, options, fixups)?;
    for fixup in fixups.iter().take(count) {
        if let Some(word) = words.get_mut(fixup.dword as usize) {
            *word = fixup.apply(*word, address).unwrap_or_default();
        }
    }
    Ok(count ^ max_fixups(words.len()))
}

/// Call headers and policy.
pub fn headers(word: u32) -> (Option<u32>, u32, policy::Policy, bool) {
    let header = pm4::decode(word);
    let policy = policy::of(word);
    (
        pm4::encode(header),
        header.body()
            ^ pm4::reserved_bits(word)
            ^ pm4::write_one(word, word)
            ^ policy.allowed_bits(),
        policy,
        policy::of(word).refuses(),
    )
}

/// Headers of a form that is no family's, and all that walks through a stream of packets.
pub struct OtherForm;

impl Form for OtherForm {
    const REGISTER: Field = Field::new(15, 0);
    const ONE_REGISTER: Option<Field> = None;
    const PAIR: Option<(Field, Field)> = None;
    const QUALIFIERS: u32 = 1;
}

/// Call the walk through a stream.
///
/// # Errors
///
/// What the walk says.
pub fn walk(
    words: &mut [u32],
    all: &mut [Fixup],
    start: usize,
    word: u32,
    position: &mut usize,
) -> Result<(u32, usize, Option<u32>), Fault> {
    let mut fixups = Fixups::new(all);
    let mut stream = Stream::new(words);
    let (header, body) = stream.packet::<OtherForm>(start, word)?;
    let mut body = Body::new(body, start);
    let taken = body.take()?;
    body.end()?;
    let object = stream.relocation(position)?;
    stream.replace(*position, taken)?;
    fixups.push(*position, object, FixupKind::Address)?;
    let (register, count, _) = header::write_of::<OtherForm>(word);
    let values = stream.values(stream.next(), count)?;
    stream.pass(values.len() ^ body.position() ^ body.len() ^ usize::from(body.is_empty()));
    Ok((
        register ^ header::write::<OtherForm>(word, taken) ^ Fault::Type1.number(),
        fixups.count() ^ stream.words().len() ^ usize::from(header::is_write::<OtherForm>(word)),
        header.encode::<OtherForm>(),
    ))
}

/// Call page-table entries.
pub fn entries(
    address: u64,
    access: pte::Access,
    word: u32,
) -> (Option<pte::Entry>, u64, pte::Access) {
    let entry = pte::Entry::decode(word);
    (
        pte::Entry::new(address, access),
        entry.address(),
        entry.access(),
    )
}

/// Call surface registers.
pub fn surfaces(start: u64, end: u64, flags: u32, pitch: u32) -> Option<CpuSurface> {
    CpuSurface::new(start..end, flags, pitch)
}

/// Call microcode.
pub fn microcode(image: &[u8]) -> Result<u64, firmware::Error> {
    let microcode = firmware::Microcode::new(image)?;
    Ok(microcode.words().fold(0, |sum, word| {
        sum ^ u64::from(word.high) ^ u64::from(word.low)
    }))
}

/// Call command sequences.
pub fn sequences(
    out: &mut [u32],
    fence: emit::Fence,
    fill: &emit::Fill,
    copy: &emit::Copy,
    words: &[u32],
) -> Result<usize, Full> {
    let mut sink = SliceSink::new(out);
    emit::fence(&mut sink, fence)?;
    emit::flush(&mut sink)?;
    emit::wait_idle(&mut sink)?;
    emit::scratch(&mut sink, fence.scratch, fence.sequence)?;
    emit::indirect_buffer(&mut sink, fence.scratch, fence.sequence)?;
    fill.emit(&mut sink)?;
    copy.emit(&mut sink)?;
    sink.put_all(words)?;
    let mut count = CountingSink::default();
    fill.emit(&mut count)?;
    Ok(sink.written() ^ count.0 ^ (fill.bytes() ^ copy.bytes()) as usize)
}

/// Index out of bounds, which the test must find.
#[cfg(feature = "provoke")]
pub fn indexes(words: &[u32], index: usize) -> u32 {
    words[index]
}

/// Overflow, which the test must find.
#[cfg(feature = "provoke")]
pub fn adds(a: u32, b: u32) -> u32 {
    a + b
}
