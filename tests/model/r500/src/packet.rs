// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets: their headers, and what the command processor does for each (R5xx chapter 5).
//!
//! Types 0 and 1 are register writes, type 2 is a filler, type 3 is an operation. Operations of the 2D engine are
//! handed on, and so are draws (see [`super::draw`]).

use lapidary_registers::r500::pm4::op;
use lapidary_registers::r500::{self, mmio};

use super::cp::{Buffer, Load, Mode, Stream, Wait};
use super::me_ram::SEMAPHORE;
use super::{R5xx, Source};
use crate::kind;
use crate::unit::Unit;
use lapidary_model::machine::Machine;

fn kind(header: u32) -> u32 {
    header >> 30
}

fn count(header: u32) -> u32 {
    ((header >> 16) & 0x3fff) + 1
}

pub(super) fn opcode(header: u32) -> u8 {
    (header >> 8) as u8
}

/// Return the length of the packet that a header begins, in dwords with the header.
pub fn length(header: u32) -> u32 {
    match kind(header) {
        0 | 3 => 1 + count(header),
        1 => 3,
        _ => 1,
    }
}

/// Return what a header begins, in words.
pub fn name(header: u32) -> String {
    let register =
        |offset: u32| match r500::DATABASE.by_offset(lapidary_registers::Domain::MMIO, offset) {
            Some((r, i)) if r.len > 1 => format!("{}[{i}]", r.name),
            Some((r, _)) => r.name.to_string(),
            None => format!("{offset:#06x}"),
        };
    match kind(header) {
        0 => format!(
            "type 0, {} dwords to {}",
            count(header),
            register((header & 0x1fff) * 4)
        ),
        1 => format!(
            "type 1, {} and {}",
            register((header & 0x7ff) * 4),
            register(((header >> 11) & 0x7ff) * 4)
        ),
        2 => "type 2".into(),
        _ => match r500::DATABASE.packet(opcode(header)) {
            Some(p) => format!("{} of {} dwords", p.name, count(header)),
            None => format!(
                "type 3 opcode {:#04x} of {} dwords",
                opcode(header),
                count(header)
            ),
        },
    }
}

/// Return the registers that a packet of type 0 or 1 writes, in order.
pub fn registers(words: &[u32]) -> impl Iterator<Item = u32> {
    let header = words[0];
    let (base, step, n) = match kind(header) {
        0 => (
            (header & 0x1fff) * 4,
            if (header >> 15) & 1 == 0 { 4 } else { 0 },
            count(header),
        ),
        _ => (0, 0, 0),
    };
    let pair = (kind(header) == 1).then(|| [(header & 0x7ff) * 4, ((header >> 11) & 0x7ff) * 4]);
    (0..n)
        .map(move |i| base + i * step)
        .chain(pair.into_iter().flatten())
}

impl R5xx {
    /// Execute a complete packet.
    pub(super) fn packet(&mut self, m: &mut Machine, stream: Stream, words: &[u32]) {
        match kind(words[0]) {
            0 | 1 => {
                let last = words.len() - 2;
                for (i, (offset, value)) in registers(words).zip(&words[1..]).enumerate() {
                    self.write_register(
                        m,
                        offset,
                        *value,
                        Source::Packet {
                            stream,
                            last: i == last,
                        },
                    );
                }
            }
            3 => self.operation(m, stream, words[0], &words[1..]),
            _ => {}
        }
    }

    fn operation(&mut self, m: &mut Machine, stream: Stream, header: u32, body: &[u32]) {
        let opcode = opcode(header);
        let source = Source::Packet { stream, last: true };
        match opcode {
            op::NOP => {}
            _ if self.engine2d.is_packet(opcode) => {
                self.with_engine2d(m, |engine, port| engine.packet(port, opcode, body))
            }
            op::PRED_EXEC => {
                // Device 0 is the only one there is.
                let (devices, dwords) = (body[0] >> 24, body[0] & 0x7f_ffff);
                self.exact(m, header, body, 1);
                if devices & 1 == 0 {
                    self.cp.skip[stream as usize] = dwords;
                }
            }
            op::COND_EXEC => self.cond_exec(m, stream, header, body),
            op::WAIT_SEMAPHORE => {
                if body[0] < SEMAPHORE || body[0] > 0xff || body.len() > 2 {
                    m.finding(
                        kind::RESERVED_VALUE,
                        format_args!("semaphore {:#x}", body[0]),
                    );
                    return;
                }
                self.cp.wait = Some(Wait::Semaphore(body[0], body.get(1).copied()));
            }
            op::WAIT_MEM => {
                if !self.exact(m, header, body, 2) {
                    return;
                }
                if stream == Stream::Ib2 {
                    m.finding(
                        kind::IB_NESTING,
                        format_args!("WAIT_MEM needs IB2 and comes from there"),
                    );
                    return;
                }
                if body[1] != 2 || body[0] & 3 != 0 {
                    m.finding(
                        kind::RESERVED_VALUE,
                        format_args!("WAIT_MEM at {:#010x}, length {}", body[0], body[1]),
                    );
                }
                self.cp.wait = Some(Wait::Memory(body[0] & !3));
            }
            op::_3D_LOAD_VBPNTR => self.load_vertex_pointers(m, header, body, source),
            op::_3D_DRAW_VBUF | op::_3D_DRAW_IMMD | op::_3D_DRAW_INDX => {
                if body.len() < 2 {
                    m.finding(kind::PACKET_LENGTH, format_args!("{}", name(header)));
                    return;
                }
                self.draw(m, body[1], &body[2..]);
            }
            op::_3D_DRAW_VBUF_2 | op::_3D_DRAW_IMMD_2 | op::_3D_DRAW_INDX_2 | op::_3D_DRAW_128 => {
                self.draw(m, body[0], &body[1..])
            }
            op::INDX_BUFFER => self.index_buffer(m, stream, header, body),
            op::_3D_CLEAR_HIZ | op::_3D_CLEAR_ZMASK | op::_3D_CLEAR_CMASK => {
                if self.exact(m, header, body, 3) {
                    self.clear_on_chip(m, opcode, body);
                }
            }
            op::MPEG_INDEX => self.mpeg_index(m, header, body, source),
            _ => m.finding(kind::UNDEFINED_PACKET, format_args!("opcode {opcode:#04x}")),
        }
    }

    fn exact(&self, m: &mut Machine, header: u32, body: &[u32], len: usize) -> bool {
        if body.len() != len {
            m.finding(
                kind::PACKET_LENGTH,
                format_args!("{}, not {len}", name(header)),
            );
        }
        body.len() == len
    }

    /// Pass over the body's second part if a boolean in memory is zero. The manual prints two dwords and no address
    /// (R5xx 5.2.5.1); a packet with three dwords carries the address first.
    fn cond_exec(&mut self, m: &mut Machine, stream: Stream, header: u32, body: &[u32]) {
        if !self.exact(m, header, body, 3) {
            return;
        }
        if stream == Stream::Ib2 {
            m.finding(
                kind::IB_NESTING,
                format_args!("COND_EXEC needs IB2 and comes from there"),
            );
            return;
        }
        if body[1] != 2 || body[0] & 3 != 0 {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("COND_EXEC at {:#010x}, length {}", body[0], body[1]),
            );
        }
        if self.bus.read32(m, Unit::Cp, body[0] & !3) == 0 {
            self.cp.skip[stream as usize] = body[2] & 0x7f_ffff;
        }
    }

    /// Fetch from memory the indices of the draw that the packet before has begun, by way of the second indirect buffer
    /// (R5xx 5.2.3.11).
    fn index_buffer(&mut self, m: &mut Machine, stream: Stream, header: u32, body: &[u32]) {
        use lapidary_registers::r500::pm4::indx_buffer::{buffer_base, buffer_size, control};
        if !self.exact(m, header, body, 3) {
            return;
        }
        if stream == Stream::Ib2 || self.mode(Stream::Ib2) == Mode::Off {
            m.finding(
                kind::IB_NESTING,
                format_args!("INDX_BUFFER needs IB2, which is off or in use"),
            );
            return;
        }
        let size = buffer_size::BUFFER_SIZE.get(body[2]);
        if size == 0 {
            return;
        }
        let load = Load {
            register: control::DESTINATION.get(body[0]) * 4,
            step: if control::ONE_REG_WR.any(body[0]) {
                0
            } else {
                4
            },
            skip: control::SKIP_COUNT.get(body[0]),
        };
        self.cp.buffers[Stream::Ib2 as usize] = Some(Buffer {
            base: body[1] & buffer_base::BUFFER_BASE.mask(),
            size,
            next: 0,
            endless: false,
            hangs: false,
            load: Some(load),
        });
    }

    /// Load the arrays of vertices. The body has the number of arrays, and then for each pair of arrays one dword of
    /// attributes and two addresses.
    fn load_vertex_pointers(&mut self, m: &mut Machine, header: u32, body: &[u32], source: Source) {
        let arrays = mmio::vap_vtx_num_arrays::VTX_NUM_ARRAYS.get(body[0]) as usize;
        let exact = 1 + arrays + arrays.div_ceil(2);
        // The second address of a last pair may be there although its array is not: Mesa sends it.
        let padded = 1 + 3 * arrays.div_ceil(2);
        if arrays > 16 || (body.len() != exact && body.len() != padded) {
            m.finding(
                kind::PACKET_LENGTH,
                format_args!("{} for {arrays} arrays", name(header)),
            );
            return;
        }
        self.write_register(m, mmio::VAP_VTX_NUM_ARRAYS, body[0], source);
        let Some(first) = mmio::VAP_VTX_AOS_ATTR.at(0) else {
            return;
        };
        for (i, word) in body[1..].iter().enumerate() {
            self.write_register(m, first + i as u32 * 4, *word, source);
        }
    }

    /// Load the registers that a mask selects of twenty, and draw with indices made from first ones, four of each.
    fn mpeg_index(&mut self, m: &mut Machine, header: u32, body: &[u32], source: Source) {
        let targets = mpeg_registers();
        let mask = body[0];
        let present: Vec<Option<u32>> = targets
            .iter()
            .enumerate()
            .filter(|(i, _)| mask & (1 << i) != 0)
            .map(|(_, r)| *r)
            .collect();
        if mask >> targets.len() != 0 {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("MPEG_INDEX mask {mask:#010x}"),
            );
        }
        if body.len() < 1 + present.len() + 2 {
            m.finding(kind::PACKET_LENGTH, format_args!("{}", name(header)));
            return;
        }
        for (target, value) in present.iter().zip(&body[1..]) {
            match target {
                Some(offset) => self.write_register(m, *offset, *value, source),
                None => m.finding(
                    kind::UNDEFINED_REGISTER_WRITE,
                    format_args!("MPEG_INDEX: no such code address on this family"),
                ),
            }
        }
        let rest = &body[1 + present.len()..];
        let (vf_cntl, count) = (rest[0], rest[1] & 0x3fff);
        let Some(bases) = rest.get(2..2 + count as usize) else {
            m.finding(kind::PACKET_LENGTH, format_args!("{}", name(header)));
            return;
        };
        let wide = mmio::vap_vf_cntl::INDEX_SIZE.any(vf_cntl);
        let indices: Vec<u32> = bases
            .iter()
            .flat_map(|base| {
                let i = |n: u32| base.wrapping_add(n);
                let pair = |n| (i(n) & 0xffff) | (i(n + 1) << 16);
                if wide {
                    vec![i(0), i(1), i(2), i(3)]
                } else {
                    vec![pair(0), pair(2)]
                }
            })
            .collect();
        self.draw(m, vf_cntl, &indices);
    }
}

/// Return the registers of MPEG_INDEX in the order of its mask bits (R5xx 5.2.3.12). The manual's four code addresses
/// are those of earlier chips: this family has one, elsewhere, so their values go nowhere.
fn mpeg_registers() -> Vec<Option<u32>> {
    let mut all = vec![
        Some(mmio::VAP_PVS_CODE_CNTL_0),
        Some(mmio::VAP_PVS_CODE_CNTL_1),
    ];
    all.extend((0..4).map(|i| mmio::VAP_PROG_STREAM_CNTL.at(i)));
    all.extend(
        [
            mmio::VAP_OUT_VTX_FMT_0,
            mmio::VAP_OUT_VTX_FMT_1,
            mmio::VAP_VTX_NUM_ARRAYS,
            mmio::RS_COUNT,
            mmio::RS_INST_COUNT,
            mmio::TX_ENABLE,
        ]
        .map(Some),
    );
    all.extend([None; 4]);
    all.extend([mmio::US_CONFIG, mmio::RB3D_DSTCACHE_CTLSTAT].map(Some));
    all.extend([mmio::RB3D_COLOROFFSET.at(0), mmio::RB3D_COLORPITCH.at(0)]);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(length(0x0003_0000), 5);
        assert_eq!(length(0x4000_0000), 3);
        assert_eq!(length(0x8000_0000), 1);
        assert_eq!(length(0xc000_1000), 2);
        assert_eq!(length(0xffff_ffff), 0x4001);
    }

    #[test]
    fn registers_of_a_packet() {
        assert_eq!(
            registers(&[0x0001_0010, 0, 0]).collect::<Vec<_>>(),
            [0x40, 0x44]
        );
        assert_eq!(
            registers(&[0x0001_8010, 0, 0]).collect::<Vec<_>>(),
            [0x40, 0x40]
        );
        assert_eq!(
            registers(&[0x4000_8010, 0, 0]).collect::<Vec<_>>(),
            [0x40, 0x40]
        );
        assert_eq!(registers(&[0xc000_1000, 0]).count(), 0);
    }

    #[test]
    fn names_say_what_it_is() {
        assert!(
            name(0x0000_0578).contains("SCRATCH_REG[0]"),
            "{}",
            name(0x0000_0578)
        );
        assert!(name(0xc001_1000).contains("NOP"));
        assert!(name(0xc000_ff00).contains("0xff"));
    }
}
