// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The grammar of a stream: packets, registers, markers; and a stream as a text for people.

use std::{fmt::Write, ops::Range};

use fastrand::Rng;
use lapidary_decoder::{decode_engine, decode_stream, Options};
use lapidary_fuzz::Grammar;
use lapidary_registers::{
    r600::{
        pm4::{op, set_config_reg, set_context_reg, set_resource, set_sampler},
        R6XX, R7XX,
    },
    Database, Domain, FieldInfo,
};
use r600::portable::Generation;

use crate::{
    chips::{Variant, CHIPS},
    judge::Judge,
    scene::{header, rarely, Case, Ring},
};

impl lapidary_fuzz::Case for Case {
    fn words(&self) -> &[u32] {
        &self.words
    }

    fn words_mut(&mut self) -> &mut Vec<u32> {
        &mut self.words
    }

    fn objects(&self) -> usize {
        self.objects.len()
    }

    fn size(&self, object: usize) -> u64 {
        self.objects[object]
    }

    fn resize(&mut self, object: usize, size: u64) {
        self.objects[object] = size;
    }
}

fn database(chip: &Variant) -> &'static Database {
    match chip.checker.generation {
        Generation::R6xx => &R6XX,
        Generation::R7xx => &R7XX,
    }
}

/// Return the number of dwords of the packet of the graphics ring with this header.
fn gfx_length(header: u32) -> usize {
    match header >> 30 {
        2 => 1,
        _ => 2 + ((header as usize >> 16) & 0x3fff),
    }
}

/// Return the number of dwords of the packet of the DMA ring with this header.
fn dma_length(header: u32, chip: &Variant) -> usize {
    let (count, tiled) = ((header & 0xffff) as usize, header & (1 << 23) != 0);
    match (header >> 28, tiled) {
        (2, false) => 3 + count,
        (2, true) => 5 + count,
        (3, false) => match chip.checker.generation {
            Generation::R6xx => 4,
            Generation::R7xx => 5,
        },
        (3, true) => 7,
        (0xd, _) => 4,
        _ => 1,
    }
}

/// Return where the packets of a stream are, markers with the packet that they belong to.
pub fn packets(case: &Case) -> Vec<Range<usize>> {
    let words = &case.words;
    let mut packets: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while let Some(&word) = words.get(start) {
        let length = match case.ring {
            Ring::Gfx => gfx_length(word),
            Ring::Dma => dma_length(word, case.chip),
        };
        let end = (start + length).min(words.len());
        let marker = case.ring == Ring::Gfx && word == header(op::NOP, 1);
        match packets.last_mut() {
            Some(last) if marker => last.end = end,
            _ => packets.push(start..end),
        }
        start = end;
    }
    packets
}

/// Return the register of dword `i` behind the offset of a packet that sets registers from `base` on.
fn register(words: &[u32], start: usize, base: u32, i: usize) -> Option<u32> {
    let offset = words.get(start + 1)?;
    let register = u64::from(base) + 4 * (u64::from(*offset) + i as u64 - 1);
    u32::try_from(register).ok()
}

impl Grammar for Judge {
    type Case = Case;

    fn packets(&self, case: &Case) -> Vec<Range<usize>> {
        packets(case)
    }

    fn dword(
        &self,
        rng: &mut Rng,
        case: &Case,
        start: usize,
    ) -> Option<(usize, &'static [FieldInfo])> {
        let words = &case.words;
        if case.ring == Ring::Dma {
            let length = dma_length(words[start], case.chip).min(words.len() - start);
            return (length > 1).then(|| (start + rng.usize(1..length.min(8)), &[][..]));
        }
        if words[start] >> 30 != 3 {
            return None;
        }
        let body = (gfx_length(words[start]) - 1).min(words.len() - start - 1);
        if body == 0 {
            return None;
        }
        // What controls a packet comes first.
        let i = rng.usize(..body.min(8 + body / 64));
        let base = match ((words[start] >> 8) & 0xff) as u8 {
            op::SET_CONFIG_REG => Some(set_config_reg::BASE),
            op::SET_CONTEXT_REG => Some(set_context_reg::BASE),
            op::SET_RESOURCE => Some(set_resource::BASE),
            op::SET_SAMPLER => Some(set_sampler::BASE),
            _ => None,
        };
        let fields = base
            .filter(|_| i > 0)
            .and_then(|base| register(words, start, base, i))
            .and_then(|at| database(case.chip).by_offset(Domain::MMIO, at))
            .map_or(&[][..], |(register, _)| register.fields);
        Some((start + 1 + i, fields))
    }

    fn marker(&self, entry: u32) -> [u32; 2] {
        [header(op::NOP, 1), 4 * entry]
    }

    /// Let the same stream run with the tiling of its objects, on another chip, or behind the stream of another client.
    fn circumstances(&self, rng: &mut Rng, case: &mut Case) {
        if rarely(rng, 2) {
            case.by_objects ^= true;
        } else if case.before.is_some() {
            case.another ^= true;
        } else if std::env::var_os("LAPIDARY_CHIP").is_none() {
            case.chip = &CHIPS[rng.usize(..CHIPS.len())];
        }
    }
}

/// Return numbers as a list that a test can have.
fn list<T: std::fmt::LowerHex>(numbers: &[T]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|n| format!("{n:#x}")).collect();
    format!("[{}]", numbers.join(", "))
}

/// Return a stream with the names of packets and registers, and as the words of a test.
pub fn describe(case: &Case) -> String {
    let mut text = String::new();
    if let Some(before) = &case.before {
        let client = if case.another { "another" } else { "the same" };
        let _ = writeln!(
            text,
            "behind the stream of {client} client\n{}",
            describe(before)
        );
    }
    let (database, words) = (database(case.chip), &case.words);
    let lines = match (case.ring, database.engine("dma")) {
        (Ring::Dma, Some(engine)) => decode_engine(database, engine, words, Options::default()),
        _ => decode_stream(database, words, Options::default()),
    };
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(
        text,
        "    let words = {};\n    let sizes = {};\n{:?} ring of {}{}",
        list(words),
        list(&case.objects),
        case.ring,
        case.chip.name,
        if case.by_objects {
            ", tiled by objects"
        } else {
            ""
        }
    );
    text
}
