// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets: their headers, and what the command processor does for each.
//!
//! Type 0 writes consecutive registers, type 2 is a filler, type 3 is an operation. Draws are in [`crate::draw`].

use lapidary_model::amd::swap::swapped;
use lapidary_model::machine::Machine;
use lapidary_registers::Domain;
use lapidary_registers::r600::enums::poll_function;
use lapidary_registers::r600::pm4::{self, op};
use lapidary_registers::r600::{self, mmio};

use crate::cp::{Stream, Wait};
use crate::kind;
use crate::poll::{Place, Poll};
use crate::unit::Unit;
use crate::{R6xx, Source};

fn kind_of(header: u32) -> u32 {
    pm4::type3::TYPE.get(header)
}

fn count(header: u32) -> u32 {
    pm4::type3::COUNT.get(header) + 1
}

/// Return the operation of a type-3 header.
pub fn opcode(header: u32) -> Option<u8> {
    (kind_of(header) == 3).then(|| pm4::type3::IT_OPCODE.get(header) as u8)
}

/// Return the length of the packet that a header begins, in dwords with the header. Nothing describes type 1: it is
/// taken for a filler.
pub fn length(header: u32) -> u32 {
    match kind_of(header) {
        0 | 3 => 1 + count(header),
        _ => 1,
    }
}

/// Return what a header begins, in words.
pub fn name(header: u32) -> String {
    match kind_of(header) {
        0 => {
            let offset = pm4::type0::BASE_INDEX.get(header) * 4;
            let register = match r600::R7XX.by_offset(Domain::MMIO, offset) {
                Some((r, i)) if r.len > 1 => format!("{}[{i}]", r.name),
                Some((r, _)) => r.name.to_string(),
                None => format!("{offset:#06x}"),
            };
            format!("type 0, {} dwords to {register}", count(header))
        }
        1 => "type 1".into(),
        2 => "type 2".into(),
        _ => {
            let opcode = pm4::type3::IT_OPCODE.get(header) as u8;
            match r600::R7XX.packet(opcode) {
                Some(p) => format!("{} of {} dwords", p.name, count(header)),
                None => format!("type 3 opcode {opcode:#04x} of {} dwords", count(header)),
            }
        }
    }
}

/// Return whether a packet tells the CPU that work is done: an end-of-pipe event, or a write of a scratch register.
pub fn is_fence(words: &[u32]) -> bool {
    match opcode(words[0]) {
        Some(op::EVENT_WRITE_EOP) => true,
        Some(op::SET_CONFIG_REG) => words.get(1).is_some_and(|first| {
            let offset = pm4::set_config_reg::BASE + (first & 0xffff) * 4;
            mmio::SCRATCH_REG.index_of(offset).is_some()
        }),
        _ => false,
    }
}

/// Return the first register that a SET packet reaches and the one behind the last, by byte offset.
fn set_range(opcode: u8) -> Option<(u32, u32)> {
    macro_rules! range {
        ($packet:ident) => {
            Some((pm4::$packet::BASE, pm4::$packet::END))
        };
    }
    match opcode {
        op::SET_CONFIG_REG => range!(set_config_reg),
        op::SET_CONTEXT_REG => range!(set_context_reg),
        op::SET_ALU_CONST => range!(set_alu_const),
        op::SET_RESOURCE => range!(set_resource),
        op::SET_SAMPLER => range!(set_sampler),
        op::SET_CTL_CONST => range!(set_ctl_const),
        op::SET_LOOP_CONST => range!(set_loop_const),
        op::SET_BOOL_CONST => range!(set_bool_const),
        _ => None,
    }
}

/// Put an address of 40 bits together; the other bits of its upper dword do not count.
pub fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high & 0xff) << 32)
}

impl R6xx {
    /// Execute a complete packet.
    pub(crate) fn packet(&mut self, m: &mut Machine, stream: Stream, words: &[u32]) {
        let header = words[0];
        let body = &words[1..];
        let source = Source::Packet(stream);
        match kind_of(header) {
            0 => {
                let first = pm4::type0::BASE_INDEX.get(header) * 4;
                for (offset, value) in (first..).step_by(4).zip(body) {
                    self.write_register(m, offset, *value, source);
                }
            }
            1 => m.finding(kind::UNDEFINED_PACKET, format_args!("{header:#010x}")),
            3 => {
                let predicated = pm4::type3::PREDICATE.any(header);
                if predicated && self.cp.predicate == Some(false) {
                    return;
                }
                self.operation(m, stream, header, body);
            }
            _ => {}
        }
    }

    fn operation(&mut self, m: &mut Machine, stream: Stream, header: u32, body: &[u32]) {
        let opcode = pm4::type3::IT_OPCODE.get(header) as u8;
        if !self.cp.initialized && opcode != op::ME_INITIALIZE {
            m.finding(kind::NOT_INITIALIZED, format_args!("{}", name(header)));
            self.cp.initialized = true;
        }
        if let Some(range) = set_range(opcode) {
            self.set(m, stream, header, range, body);
            return;
        }
        let exact = |m: &mut Machine, len: usize| {
            if body.len() != len {
                m.finding(
                    kind::PACKET_LENGTH,
                    format_args!("{}, not {len}", name(header)),
                );
            }
            body.len() == len
        };
        match opcode {
            op::NOP => {}
            op::ME_INITIALIZE => {
                if exact(m, 6) {
                    self.cp.initialized = true;
                }
            }
            op::CONTEXT_CONTROL => {
                exact(m, 2);
            }
            op::START_3D_CMDBUF => {
                exact(m, 1);
                self.start_3d();
                if self.variant.generation.is_r7xx {
                    m.finding(
                        kind::UNDEFINED_PACKET,
                        format_args!("START_3D_CMDBUF on R7xx"),
                    );
                }
            }
            op::INDIRECT_BUFFER => {
                if exact(m, 3) {
                    let size = pm4::indirect_buffer::ib_size::IB_SIZE.get(body[2]);
                    self.start_buffer(m, stream, wide(body[0] & !3, body[1]), size);
                }
            }
            op::MEM_SEMAPHORE => {
                if exact(m, 2) {
                    let at = wide(body[0] & !7, body[1]);
                    use pm4::mem_semaphore::control::{SEM_SEL, sem_sel};
                    match SEM_SEL.get(body[1]) {
                        sem_sel::SIGNAL => self.semaphore_signal(m, at),
                        sem_sel::WAIT => self.cp.wait = Some(Wait::Semaphore(at)),
                        other => {
                            m.finding(kind::RESERVED_VALUE, format_args!("SEM_SEL {other}"));
                        }
                    }
                }
            }
            op::WAIT_REG_MEM => {
                if exact(m, 6) {
                    self.wait_reg_mem(m, body);
                }
            }
            op::COND_WRITE => {
                if exact(m, 8) {
                    self.cond_write(m, stream, body);
                }
            }
            op::MEM_WRITE => {
                if exact(m, 4) {
                    self.mem_write(m, body);
                }
            }
            op::COPY_DW => {
                if exact(m, 5) {
                    self.copy_dw(m, stream, body);
                }
            }
            op::CP_DMA => {
                if exact(m, 5) {
                    self.cp_dma(m, body);
                }
            }
            op::CP_INTERRUPT => {
                if exact(m, 1) {
                    self.cp_interrupt(m, body[0]);
                }
            }
            op::SURFACE_SYNC => {
                if exact(m, 4) {
                    self.surface_sync(m, body);
                }
            }
            op::EVENT_WRITE => self.event_write(m, header, body),
            op::EVENT_WRITE_EOP => {
                if exact(m, 5) {
                    self.end_of_pipe(m, body);
                }
            }
            op::SET_PREDICATION => {
                if exact(m, 2) {
                    self.set_predication(m, body);
                }
            }
            op::INDEX_TYPE => {
                if exact(m, 1) {
                    self.regs.set(mmio::VGT_DMA_INDEX_TYPE, body[0]);
                    self.regs.set(
                        mmio::VGT_INDEX_TYPE,
                        mmio::vgt_dma_index_type::INDEX_TYPE.get(body[0]),
                    );
                }
            }
            op::NUM_INSTANCES => {
                if exact(m, 1) {
                    self.regs.set(mmio::VGT_NUM_INSTANCES, body[0]);
                }
            }
            op::DRAW_INDEX
            | op::DRAW_INDEX_2
            | op::DRAW_INDEX_AUTO
            | op::DRAW_INDEX_IMMD
            | op::DRAW_INDEX_IMMD_BE
            | op::MPEG_INDEX => self.draw_packet(m, header, opcode, body),
            op::STRMOUT_BUFFER_UPDATE => {
                if exact(m, 5) {
                    self.streamout_update(m, body);
                }
            }
            op::STRMOUT_BASE_UPDATE if self.variant.generation.is_r7xx => {
                if exact(m, 2) {
                    self.streamout_base(m, body[0], body[1]);
                }
            }
            op::SURFACE_BASE_UPDATE => {
                if exact(m, 1) {
                    self.surface_base_update(m, header, body[0]);
                }
            }
            op::PFP_SYNC_ME if self.variant.generation.is_r7xx => {
                exact(m, 1);
            }
            _ => m.finding(kind::UNDEFINED_PACKET, format_args!("opcode {opcode:#04x}")),
        }
    }

    /// Execute a SET packet. The body has the first register, in dwords from the range's beginning, and values.
    fn set(
        &mut self,
        m: &mut Machine,
        stream: Stream,
        header: u32,
        range: (u32, u32),
        body: &[u32],
    ) {
        let first = range.0 + (body[0] & 0xffff) * 4;
        let end = u64::from(first) + (body.len() as u64 - 1) * 4;
        if end > range.1.into() || body[0] >> 16 != 0 {
            m.finding(
                kind::SET_RANGE,
                format_args!("{} from {first:#07x} on", name(header)),
            );
            return;
        }
        for (offset, value) in (first..).step_by(4).zip(&body[1..]) {
            self.write_register(m, offset, *value, Source::Packet(stream));
        }
    }

    fn place(&self, memory: bool, low: u32, high: u32) -> Place {
        if memory {
            Place::Memory {
                at: wide(low & !3, high),
                swap: low & 3,
            }
        } else {
            Place::Register((low & 0xffff) * 4)
        }
    }

    fn wait_reg_mem(&mut self, m: &mut Machine, body: &[u32]) {
        use pm4::wait_reg_mem::control::{ENGINE, FUNCTION, MEM_SPACE};
        let (function, memory) = (FUNCTION.get(body[0]), MEM_SPACE.any(body[0]));
        let (pfp, least) = (ENGINE.any(body[0]), poll_function::POLL_GREATER_EQUAL);
        // The prefetch parser compares memory by one function only. An address in memory is a multiple of 16.
        if pfp && (!memory || function != least) || function > 6 || memory && body[1] & 0xc != 0 {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("WAIT_REG_MEM {:#x} at {:#x}", body[0], body[1]),
            );
        }
        self.cp.wait = Some(Wait::Poll(Poll {
            place: self.place(memory, body[1], body[2]),
            function,
            reference: body[3],
            mask: body[4],
        }));
    }

    fn cond_write(&mut self, m: &mut Machine, stream: Stream, body: &[u32]) {
        use pm4::cond_write::control::{FUNCTION, POLL_SPACE, WRITE_SPACE};
        let poll = Poll {
            place: self.place(POLL_SPACE.any(body[0]), body[1], body[2]),
            function: FUNCTION.get(body[0]),
            reference: body[3],
            mask: body[4],
        };
        if !self.poll_satisfied(m, poll) {
            return;
        }
        match self.place(WRITE_SPACE.any(body[0]), body[5], body[6]) {
            Place::Register(offset) => {
                self.write_register(m, offset, body[7], Source::Packet(stream));
            }
            Place::Memory { at, swap } => {
                self.bus.write32(m, Unit::Cp, at, swapped(swap, body[7]));
            }
        }
    }

    fn mem_write(&mut self, m: &mut Machine, body: &[u32]) {
        use pm4::mem_write::control::{CNTR_SEL, DATA32};
        let (one, clock) = (DATA32.any(body[1]), CNTR_SEL.any(body[1]));
        let at = wide(body[0] & if one { !3 } else { !7 }, body[1]);
        let [low, high] = if clock {
            let clock = self.clock();
            [clock as u32, (clock >> 32) as u32]
        } else {
            [body[2], body[3]]
        };
        let mut bytes = swapped(body[0], low).to_le_bytes().to_vec();
        if !one {
            bytes.extend(swapped(body[0], high).to_le_bytes());
        }
        self.bus.write(m, Unit::Cp, at, &bytes);
    }

    fn copy_dw(&mut self, m: &mut Machine, stream: Stream, body: &[u32]) {
        use pm4::copy_dw::control::{DST_SPACE, SRC_SPACE};
        let value = match self.place(SRC_SPACE.any(body[0]), body[1], body[2]) {
            Place::Register(offset) => self.peek_register(offset),
            Place::Memory { at, .. } => self.bus.read32(m, Unit::Cp, at),
        };
        match self.place(DST_SPACE.any(body[0]), body[3], body[4]) {
            Place::Register(offset) => {
                self.write_register(m, offset, value, Source::Packet(stream));
            }
            Place::Memory { at, .. } => self.bus.write32(m, Unit::Cp, at, value),
        }
    }

    /// Copy bytes. The packet is executed in one step: it has at most 2 MiB.
    fn cp_dma(&mut self, m: &mut Machine, body: &[u32]) {
        let (from, to) = (wide(body[0], body[1]), wide(body[2], body[3]));
        self.cp.copied = [body[0], body[1] & 0xff, body[2], body[3] & 0xff];
        let count = pm4::cp_dma::command::BYTE_COUNT.get(body[4]);
        if body[4] != count {
            m.finding(
                kind::COPY_UNSUPPORTED,
                format_args!("CP_DMA with command {:#010x}", body[4]),
            );
            return;
        }
        let mut bytes = vec![0; count as usize];
        self.bus.read(m, Unit::CpDma, from, &mut bytes);
        self.bus.write(m, Unit::CpDma, to, &bytes);
        m.counters.add("cp_dma_bytes", count.into());
    }

    fn set_predication(&mut self, m: &mut Machine, body: &[u32]) {
        use pm4::set_predication::control::{CONTINUE, DRAW_VISIBLE, PRED_OP, pred_op};
        if PRED_OP.get(body[1]) == pred_op::CLEAR {
            self.cp.predicate = None;
            return;
        }
        let at = wide(body[0] & !0xf, body[1]);
        let live = self.live_backends();
        let mut count = |offset: u64| {
            let mut bytes = [0; 8];
            self.bus.read(m, Unit::Cp, at + offset, &mut bytes);
            u64::from_le_bytes(bytes) & (u64::MAX >> 1)
        };
        // Of samples each backend has a count before and one after. Of primitives there are two counts before and two after:
        // those that needed room, and those that were written.
        let visible = match PRED_OP.get(body[1]) {
            pred_op::PRIMCOUNT => {
                let before = (count(0), count(8));
                let after = (count(16), count(24));
                after.0.wrapping_sub(before.0) == after.1.wrapping_sub(before.1)
            }
            _ => {
                let pairs = (0..32).filter(|i| (live >> i) & 1 != 0);
                let passed = pairs.map(|i| count(16 * i + 8).wrapping_sub(count(16 * i)));
                passed.fold(0, |any, n| any | n) != 0
            }
        };
        let draw_visible = DRAW_VISIBLE.any(body[1]);
        let continues = CONTINUE.any(body[1]);
        let visible = visible || continues && self.cp.predicate == Some(draw_visible);
        self.cp.predicate = Some(visible == draw_visible);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(length(0x0003_0000), 5);
        assert_eq!(length(0x4000_0000), 1);
        assert_eq!(length(0x8000_0000), 1);
        assert_eq!(length(0xc000_1000), 2);
        assert_eq!(length(0xffff_ffff), 0x4001);
    }

    #[test]
    fn names_say_what_it_is() {
        assert!(
            name(0x0000_2140).contains("SCRATCH_REG[0]"),
            "{}",
            name(0x0000_2140)
        );
        assert!(name(0xc001_1000).contains("NOP"));
        assert!(name(0xc000_ff00).contains("0xff"));
    }

    #[test]
    fn fences_are_known() {
        assert!(is_fence(&[0xc004_4700, 0, 0, 0, 0, 0]));
        assert!(is_fence(&[0xc001_6800, 0x140, 1]));
        assert!(!is_fence(&[0xc001_6800, 0x139, 1]));
        assert!(!is_fence(&[0xc000_1000, 0]));
    }
}
