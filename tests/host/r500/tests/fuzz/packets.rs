// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The grammar of a stream: packets, registers, markers; and a stream as a text for people.

use std::{fmt::Write, ops::Range};

use fastrand::Rng;
use lapidary_fuzz::Grammar;
use lapidary_registers::{r500 as database, Domain, FieldInfo};
use r500::portable::{
    pm4::{self, Header},
    regs::{mmio, pm4::op},
};

use crate::{judge::Judge, scene::Case};

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

/// Return where the packets of a stream are, markers with the packet that they belong to.
pub fn packets(words: &[u32]) -> Vec<Range<usize>> {
    let mut packets: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while let Some(&header) = words.get(start) {
        let end = (start + 1 + pm4::decode(header).body() as usize).min(words.len());
        let marker = header == pm4::operation(op::NOP, 1);
        match packets.last_mut() {
            Some(last) if marker => last.end = end,
            _ => packets.push(start..end),
        }
        start = end;
    }
    packets
}

/// Return the register whose fields dword number `i` of a 3D packet has.
fn register_in(opcode: u8, i: usize) -> Option<u32> {
    match (opcode, i) {
        (op::_3D_DRAW_VBUF | op::_3D_DRAW_IMMD | op::_3D_DRAW_INDX, 1)
        | (op::_3D_DRAW_VBUF_2 | op::_3D_DRAW_IMMD_2 | op::_3D_DRAW_INDX_2, 0) => {
            Some(mmio::VAP_VF_CNTL)
        }
        (op::_3D_LOAD_VBPNTR, 0) => Some(mmio::VAP_VTX_NUM_ARRAYS),
        (op::_3D_LOAD_VBPNTR, _) => match i % 3 {
            1 => mmio::VAP_VTX_AOS_ATTR.at(0),
            _ => mmio::VAP_VTX_AOS_ADDR_EVEN.at(0),
        },
        _ => None,
    }
}

impl Grammar for Judge {
    type Case = Case;

    fn packets(&self, case: &Case) -> Vec<Range<usize>> {
        packets(&case.words)
    }

    fn dword(
        &self,
        rng: &mut Rng,
        case: &Case,
        start: usize,
    ) -> Option<(usize, &'static [FieldInfo])> {
        let words = &case.words;
        let header = pm4::decode(words[start]);
        let body = (header.body() as usize).min(words.len() - start - 1);
        if body == 0 {
            return None;
        }
        let (i, register) = match header {
            Header::Type0 {
                register,
                one_register,
                ..
            } => {
                let i = rng.usize(..body);
                let step = if one_register { 0 } else { 4 * i as u32 };
                (i, Some(register + step))
            }
            // What controls a packet comes first.
            Header::Type3 { opcode, .. } => {
                let i = rng.usize(..body.min(3 + body / 64));
                (i, register_in(opcode, i))
            }
            _ => return None,
        };
        let fields = register
            .and_then(|register| database::DATABASE.by_offset(Domain::MMIO, register))
            .map_or(&[][..], |(register, _)| register.fields);
        Some((start + 1 + i, fields))
    }

    fn marker(&self, entry: u32) -> [u32; 2] {
        [pm4::operation(op::NOP, 1), 4 * entry]
    }

    /// Change what the client owns between two submissions.
    fn circumstances(&self, rng: &mut Rng, case: &mut Case) {
        match rng.u32(..4) {
            0 => case.options.keep_tiling ^= true,
            1 => case.options.hyperz ^= true,
            2 => case.options.cmask ^= true,
            _ => {
                let object = rng.usize(..case.objects.len());
                case.objects[object].tiling = rng.u32(..8);
            }
        }
    }
}

/// Return a stream with the names of packets and registers.
pub fn describe(case: &Case) -> String {
    let mut text = String::new();
    let mut line = |words: &[u32], what: &str| {
        let _ = writeln!(text, "{words:08x?} {what}");
    };
    for packet in packets(&case.words) {
        let words = &case.words[packet.clone()];
        match pm4::decode(words[0]) {
            Header::Type0 {
                register,
                one_register,
                count,
            } => {
                line(&words[..1], "");
                for (i, value) in words[1..].iter().enumerate() {
                    let step = if one_register { 0 } else { 4 * i as u32 };
                    let name = database::DATABASE.describe(Domain::MMIO, register + step, *value);
                    line(&[*value], if i < count as usize { &name } else { "marker" });
                }
            }
            Header::Type3 { opcode, .. } => {
                let name = database::PACKETS
                    .iter()
                    .find(|p| u32::from(p.opcode) == u32::from(opcode));
                line(words, name.map_or("", |p| p.name));
            }
            _ => line(words, ""),
        }
    }
    let sizes: Vec<u64> = case.objects.iter().map(|object| object.size).collect();
    let tiling: Vec<u32> = case.objects.iter().map(|object| object.tiling).collect();
    let _ = writeln!(
        text,
        "objects {sizes:#x?} tiling {tiling:x?}\n{:?}",
        case.options
    );
    text
}
