// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The grammar of a stream: headers and what belongs to them, and a stream as a text for people.
//!
//! Cases have relocations in the stream, behind the dword that they are of, so that they move with it when the stream is
//! spoilt: a mark with field and object, and the offset.

use std::fmt::Write;
use std::ops::Range;

use chrome9::portable::regs::{header, mmio};
use fastrand::Rng;
use lapidary_fuzz::Grammar;
use lapidary_registers::{
    chrome9::{parameters, DATABASE},
    Domain, FieldInfo,
};

use crate::judge::Judge;
use crate::scene::Case;
use crate::support::{Stream, UNIT};

/// The upper half of a mark.
const MARK: u32 = 0xf1c5;

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
        self.objects[object].size
    }

    fn resize(&mut self, object: usize, size: u64) {
        self.objects[object].size = size;
    }
}

/// Return a relocation as a case has it.
pub fn marked(object: u32, offset: u32, field: u32) -> [u32; 2] {
    [
        (MARK << 16) | ((field & 0xff) << 8) | (object & 0xff),
        offset,
    ]
}

/// Return a stream as a case has it.
pub fn marked_stream(stream: &Stream) -> Vec<u32> {
    let mut words = Vec::new();
    let mut relocations = stream.relocations.iter().peekable();
    for (at, word) in stream.words.iter().enumerate() {
        words.push(*word);
        while let Some([_, object, offset, field]) = relocations.next_if(|r| r[0] as usize == at) {
            words.extend(marked(*object, *offset, *field));
        }
    }
    words
}

/// A stream as the kernel has it, and where in the case its dwords stand.
pub struct Split {
    pub words: Vec<u32>,
    pub relocations: Vec<[u32; 4]>,
    places: Vec<usize>,
}

/// Take a case's stream apart.
pub fn split(marked: &[u32]) -> Split {
    let mut split = Split {
        words: Vec::new(),
        relocations: Vec::new(),
        places: Vec::new(),
    };
    let mut at = 0;
    while let Some(word) = marked.get(at) {
        match (marked.get(at + 1), split.words.len().checked_sub(1)) {
            (Some(offset), Some(dword)) if word >> 16 == MARK => {
                let relocation = [dword as u32, word & 0xff, *offset, (word >> 8) & 0xff];
                split.relocations.push(relocation);
                at += 2;
            }
            _ => {
                split.words.push(*word);
                split.places.push(at);
                at += 1;
            }
        }
    }
    split
}

/// Return the code of what may be a header.
fn code(word: u32) -> Option<u32> {
    (word >> 24 == 0xfe).then_some((word >> 16) & 0xff)
}

/// Return where headers and what belongs to them are, in the stream as the kernel has it. Padding is by itself.
fn packets(words: &[u32]) -> Vec<Range<usize>> {
    let mut packets = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let count = words.get(start + 1).map_or(0, |count| *count as usize);
        let mut end = start + UNIT;
        match code(words[start]) {
            Some(header::REGISTERS_2D | header::VIDEO_REGISTERS) => {
                end = end.saturating_add(count.saturating_mul(2))
            }
            Some(header::HOST_DATA_2D | header::VERTEX_DATA) => end = end.saturating_add(count),
            Some(header::PARAMETERS) => {
                while words.get(end).is_some_and(|word| code(*word).is_none()) {
                    end += UNIT;
                }
            }
            _ => {}
        }
        let end = end.min(words.len()).next_multiple_of(UNIT).min(words.len());
        packets.push(start..end);
        start = end;
    }
    packets
}

/// Return where a register is that a pair names. Those of video have second places.
fn first_place(offset: u32) -> u32 {
    match offset {
        0x2200..0x2400 | 0x3200..0x3400 => offset - 0x2000,
        _ => offset,
    }
}

/// Return the fields of a parameter behind a setting.
fn fields(setting: u32, word: u32) -> &'static [FieldInfo] {
    let (kind, sub_type) = ((setting >> 16) as u8, (setting >> 24) as u8);
    let index = match kind {
        1 | 2 | 4 => word >> 24,
        _ => 0,
    };
    parameters(kind, sub_type)
        .and_then(|domain| DATABASE.by_offset(domain, index))
        .map_or(&[], |(register, _)| register.fields)
}

impl Split {
    /// Return where a dword stands in the case; for the end, the case's end.
    fn place(&self, at: usize, end: usize) -> usize {
        self.places.get(at).copied().unwrap_or(end)
    }
}

impl Grammar for Judge {
    type Case = Case;

    fn packets(&self, case: &Case) -> Vec<Range<usize>> {
        let split = split(&case.words);
        let end = case.words.len();
        let place = |at| split.place(at, end);
        let packets: Vec<_> = packets(&split.words)
            .into_iter()
            .map(|packet| place(packet.start)..place(packet.end))
            .collect();
        // A case that has nothing but a mark.
        if packets.is_empty() {
            return std::iter::once(0..end).collect();
        }
        packets
    }

    fn dword(
        &self,
        rng: &mut Rng,
        case: &Case,
        start: usize,
    ) -> Option<(usize, &'static [FieldInfo])> {
        let split = split(&case.words);
        let first = split.places.iter().position(|place| *place == start)?;
        let packet = packets(&split.words)
            .into_iter()
            .find(|packet| packet.start == first)?;
        let body = packet.start + UNIT..packet.end;
        if body.is_empty() {
            return None;
        }
        let at = rng.usize(body.clone());
        match code(split.words[first]) {
            Some(header::REGISTERS_2D | header::VIDEO_REGISTERS) => {}
            Some(header::PARAMETERS | header::VERTEX_DATA) => {
                let fields = fields(split.words[first + 2], split.words[at]);
                return Some((split.places[at], fields));
            }
            _ => return Some((split.places[at], &[])),
        }
        // A value, mostly.
        let at = if (at - body.start) % 2 == 0 && rng.u32(..8) != 0 {
            at + 1
        } else {
            at
        };
        let fields = match split.words.get(at.checked_sub(1)?) {
            Some(offset) if (at - body.start) % 2 == 1 => DATABASE
                .by_offset(Domain::MMIO, first_place(*offset))
                .map_or(&[][..], |(register, _)| register.fields),
            _ => &[],
        };
        Some((*split.places.get(at)?, fields))
    }

    fn marker(&self, entry: u32) -> [u32; 2] {
        marked(entry, 8 * (entry & 1), 0)
    }

    fn circumstances(&self, rng: &mut Rng, case: &mut Case) {
        let object = rng.usize(..case.objects.len());
        let size = &mut case.objects[object].size;
        *size = match rng.u32(..3) {
            0 => size.saturating_sub(1),
            1 => *size / 2,
            _ => rng.u64(..=*size),
        };
    }
}

/// Return a text of a case for people.
pub fn describe(case: &Case) -> String {
    let split = split(&case.words);
    let mut text = String::new();
    for packet in packets(&split.words) {
        let start = packet.start;
        for (i, word) in split.words[packet].iter().enumerate() {
            let separator = if i == 0 { "\n" } else { " " };
            write!(text, "{separator}{word:08x}").expect("there is memory");
            let dword = (start + i) as u32;
            for [_, object, offset, field] in split.relocations.iter().filter(|r| r[0] == dword) {
                write!(text, "<object {object} + {offset:#x}, {field}>").expect("there is memory");
            }
        }
    }
    for (i, object) in case.objects.iter().enumerate() {
        write!(text, "\nobject {i}: {:#x} bytes", object.size).expect("there is memory");
    }
    text
}

#[test]
fn relocations_move_with_their_dwords() {
    let mut stream = crate::support::BLIT.stream();
    stream.relocations[0][3] = 2;
    let base = stream.value_of(mmio::DSTBASE);
    let marked = marked_stream(&stream);
    assert_eq!(marked[base + 1], 0xf1c5_0200);
    assert_eq!(marked.len(), stream.words.len() + 2);
    let apart = split(&marked);
    assert_eq!(
        (&apart.words, &apart.relocations),
        (&stream.words, &stream.relocations)
    );
    let packets = packets(&apart.words);
    assert_eq!((packets.len(), packets[0].end), (1, stream.words.len()));
}
