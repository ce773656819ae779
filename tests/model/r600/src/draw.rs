// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How draws reach the 3D engine: packets, and the register that starts one.
//!
//! Every draw packet amounts to writes of registers, the last of which is VGT_DRAW_INITIATOR (R6xx 5.3.2). A write of that
//! register starts a draw, too, with the state that stands in the others.

use lapidary_model::machine::Machine;
use lapidary_model::runs::Runs;
use lapidary_registers::r600::mmio::{self, vgt_dma_index_type, vgt_draw_initiator};
use lapidary_registers::r600::mmio_r7xx;
use lapidary_registers::r600::pm4::op;

use crate::R6xx;
use crate::engine3d::area::{Area, Client};
use crate::engine3d::{State, streamout};
use crate::kind;
use crate::packet::{name, wide};

/// What a client has done in its first-level indirect buffer so far.
#[derive(Clone, Copy, Default)]
pub struct Stated {
    /// START_3D_CMDBUF has come.
    start_3d: bool,
    /// Stream-out buffers whose base the CP does not know, one bit each (STRMOUT_BASE_UPDATE).
    pub streamout: u32,
    /// Bases of surfaces that have got another value and were not announced, by the bits of SURFACE_BASE_UPDATE.
    surfaces: u32,
}

/// Return the bit of SURFACE_BASE_UPDATE for a register that is the base of a surface.
fn surface_bit(register: u32) -> u32 {
    if register == mmio::DB_DEPTH_BASE {
        return 1;
    }
    let color = mmio::CB_COLOR_BASE.index_of(register).map(|n| 1 + n);
    let streamed = mmio::VGT_STRMOUT_BUFFER_BASE
        .index_of(register)
        .map(|n| 9 + n);
    color.or(streamed).map_or(0, |bit| 1 << bit)
}

impl R6xx {
    /// Return whether the chip is one of those that compare surfaces by what SURFACE_BASE_UPDATE says.
    fn announces_surfaces(&self) -> bool {
        !self.variant.generation.is_r7xx && self.variant.name != "r600"
    }

    /// Begin a first-level indirect buffer.
    pub(crate) fn client_begins(&mut self) {
        self.stated.start_3d = false;
        self.engine3d.buffer_begins();
    }

    /// Write a register of the 3D pipe.
    pub(crate) fn pipe_written(&mut self, m: &mut Machine, register: u32, value: u32) {
        let changed = self.regs.get(register) != value;
        self.regs.set(register, value);
        self.engine3d.written(register, changed);
        if let Some(n) = mmio::VGT_STRMOUT_BUFFER_BASE.index_of(register) {
            self.stated.streamout |= 1 << n;
        }
        if changed {
            self.stated.surfaces |= surface_bit(register);
        }
        match register {
            mmio::VGT_DRAW_INITIATOR => self.draw(m),
            mmio::VGT_EVENT_INITIATOR => self.event_by_register(m, value),
            _ => {}
        }
    }

    /// Execute START_3D_CMDBUF.
    pub(crate) fn start_3d(&mut self) {
        self.stated.start_3d = true;
    }

    /// Execute SURFACE_BASE_UPDATE, which only some R6xx have.
    pub(crate) fn surface_base_update(&mut self, m: &mut Machine, header: u32, bases: u32) {
        if self.announces_surfaces() {
            self.stated.surfaces &= !bases;
        } else {
            m.finding(
                kind::UNDEFINED_PACKET,
                format_args!("{} on {}", name(header), self.variant.name),
            );
        }
    }

    /// Judge the bases that a SURFACE_SYNC compares. Those that have changed must have been announced. The CP knows a
    /// base that was written with the value that it had, as Linux writes zeros to all bases of targets when it starts a
    /// chip.
    pub(crate) fn judge_surfaces(&self, m: &mut Machine, control: u32) {
        // Both maps have these at the same places.
        use mmio_r7xx::cp_coher_cntl as bit;
        let compared = [
            bit::DB_DEST_BASE_ENA,
            bit::CB0_DEST_BASE_ENA,
            bit::CB1_DEST_BASE_ENA,
            bit::CB2_DEST_BASE_ENA,
            bit::CB3_DEST_BASE_ENA,
            bit::CB4_DEST_BASE_ENA,
            bit::CB5_DEST_BASE_ENA,
            bit::CB6_DEST_BASE_ENA,
            bit::CB7_DEST_BASE_ENA,
            bit::SO0_DEST_BASE_ENA,
            bit::SO1_DEST_BASE_ENA,
            bit::SO2_DEST_BASE_ENA,
            bit::SO3_DEST_BASE_ENA,
        ];
        let bits = (0..)
            .zip(compared)
            .map(|(n, field)| u32::from(field.any(control)) << n);
        let missing = self.stated.surfaces & bits.fold(0, |all, bit| all | bit);
        if self.announces_surfaces() && missing != 0 {
            m.finding(
                kind::SURFACE_NOT_ANNOUNCED,
                format_args!("a comparison with bases that changed, {missing:#x}"),
            );
        }
    }

    /// Execute a draw packet. Its opcode is one of theirs.
    pub(crate) fn draw_packet(&mut self, m: &mut Machine, header: u32, opcode: u8, body: &[u32]) {
        use vgt_draw_initiator::{SOURCE_SELECT, source_select};
        let (fixed, source) = match opcode {
            op::DRAW_INDEX => (4, source_select::DI_SRC_SEL_DMA),
            op::DRAW_INDEX_2 => (5, source_select::DI_SRC_SEL_DMA),
            op::DRAW_INDEX_AUTO => (2, source_select::DI_SRC_SEL_AUTO_INDEX),
            _ => (2, source_select::DI_SRC_SEL_IMMEDIATE),
        };
        let immediate = source == source_select::DI_SRC_SEL_IMMEDIATE;
        if body.len() < fixed || body.len() > fixed && !immediate {
            m.finding(kind::PACKET_LENGTH, format_args!("{}", name(header)));
            return;
        }
        let (count, initiator) = match opcode {
            op::DRAW_INDEX => {
                self.index_base(body[0], body[1], body[2]);
                (body[2], body[3])
            }
            op::DRAW_INDEX_2 => {
                // Nothing public describes it for these chips. Later ones have the most indices that may be fetched first.
                m.finding(kind::UNDEFINED_PACKET, format_args!("{}", name(header)));
                self.index_base(body[1], body[2], body[0].min(body[3]));
                (body[3], body[4])
            }
            _ => (body[0], body[1]),
        };
        self.regs.set(mmio::VGT_NUM_INDICES, count);
        self.regs.set(mmio::VGT_DRAW_INITIATOR, initiator);
        if SOURCE_SELECT.get(initiator) != source {
            m.finding(
                kind::DRAW_SOURCE,
                format_args!("{} with VGT_DRAW_INITIATOR {initiator:#x}", name(header)),
            );
        }
        if immediate {
            self.judge_immediate(m, header, opcode, count, body.len() - fixed);
        }
        self.draw(m);
    }

    fn index_base(&mut self, low: u32, high: u32, size: u32) {
        self.regs.set(mmio::VGT_DMA_BASE, low);
        self.regs.set(mmio::VGT_DMA_BASE_HI, high & 0xff);
        self.regs.set(mmio::VGT_DMA_SIZE, size);
    }

    /// Judge the indices in the packet. There must be as many as the draw takes, and no instances.
    fn judge_immediate(&self, m: &mut Machine, header: u32, opcode: u8, count: u32, dwords: usize) {
        use vgt_dma_index_type::{INDEX_TYPE, index_type};
        let kind_of_index = INDEX_TYPE.get(self.regs.get(mmio::VGT_DMA_INDEX_TYPE));
        let wide = kind_of_index == index_type::VGT_INDEX_32;
        let needed = match opcode {
            op::MPEG_INDEX => u64::from(count) / 3,
            op::DRAW_INDEX_IMMD if wide => count.into(),
            _ => u64::from(count).div_ceil(2),
        };
        if needed != dwords as u64 || opcode == op::DRAW_INDEX_IMMD_BE && wide {
            m.finding(
                kind::DRAW_INDICES,
                format_args!("{} for {count} indices", name(header)),
            );
        }
        let primitive = mmio::vgt_primitive_type::PRIM_TYPE;
        let kind_of_primitive = primitive.get(self.regs.get(mmio::VGT_PRIMITIVE_TYPE));
        let rectangles = mmio::vgt_primitive_type::prim_type::DI_PT_RECTLIST;
        if opcode == op::MPEG_INDEX && kind_of_primitive != rectangles {
            m.finding(
                kind::DRAW_INDICES,
                format_args!("MPEG_INDEX with primitive {kind_of_primitive:#x}"),
            );
        }
        let instances = self.regs.get(mmio::VGT_NUM_INSTANCES);
        if instances > 1 {
            m.finding(
                kind::INSTANCED_IMMEDIATE,
                format_args!("{} with {instances} instances", name(header)),
            );
        }
    }

    /// Judge what the draw may touch, since VGT_DRAW_INITIATOR has been written.
    fn draw(&mut self, m: &mut Machine) {
        use mmio::vgt_primitive_type::{PRIM_TYPE, prim_type};
        m.counters.add("draws_not_executed", 1);
        let primitive = PRIM_TYPE.get(self.regs.get(mmio::VGT_PRIMITIVE_TYPE));
        let count = self.regs.get(mmio::VGT_NUM_INDICES);
        self.judge_draw(m, primitive);
        if m.trace.on() {
            m.trace.line(format_args!(
                "draw, not executed: primitive {primitive:#x}, {count} indices"
            ));
        }
        // An opaque draw takes the number from a stream-out buffer, which holds anything.
        let opaque = vgt_draw_initiator::USE_OPAQUE;
        let opaque = opaque.any(self.regs.get(mmio::VGT_DRAW_INITIATOR));
        if count == 0 && !opaque || primitive == prim_type::DI_PT_NONE {
            return;
        }
        if let Some(area) = self.index_area(m) {
            self.bus.touch(m, &area, true);
        }
        self.engine3d.work_out(&self.regs, self.variant);
        let geometry = State::new(&self.regs, self.variant).geometry();
        let (mut read, mut written) = (0u64, 0u64);
        for found in self.engine3d.found(geometry) {
            for (kind, text) in &found.complaints {
                m.finding(*kind, format_args!("{text}"));
            }
            for piece in &found.pieces {
                let area = &piece.area;
                let bytes = area.runs.end() - area.runs.start;
                read = read.saturating_add(if area.read { bytes } else { 0 });
                written = written.saturating_add(if area.write { bytes } else { 0 });
                if m.trace.on() {
                    m.trace.line(format_args!("  {area}"));
                }
                self.bus.touch(m, area, !self.engine3d.left_over(piece));
            }
        }
        m.counters.add("draw_bytes_read", read);
        m.counters.add("draw_bytes_written", written);
    }

    /// Judge what a draw needs besides the state of its stages.
    fn judge_draw(&self, m: &mut Machine, primitive: u32) {
        use mmio::vgt_primitive_type::prim_type;
        use vgt_draw_initiator::{MAJOR_MODE, SOURCE_SELECT, source_select};
        let initiator = self.regs.get(mmio::VGT_DRAW_INITIATOR);
        let reserved = matches!(
            primitive,
            prim_type::DI_PT_UNUSED_0..=prim_type::DI_PT_UNUSED_2
                | prim_type::DI_PT_UNUSED_3..=prim_type::DI_PT_UNUSED_4
        ) || primitive > prim_type::DI_PT_2D_TRI_STRIP;
        if reserved
            || MAJOR_MODE.get(initiator) > 1
            || SOURCE_SELECT.get(initiator) == source_select::DI_SRC_SEL_RESERVED
        {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("a draw of primitive {primitive:#x} by {initiator:#x}"),
            );
        }
        let in_buffer = self.cp.in_buffer();
        if in_buffer && !self.variant.generation.is_r7xx && !self.stated.start_3d {
            m.finding(
                kind::NO_START_3D,
                format_args!("a draw in a buffer without it"),
            );
        }
        let state = State::new(&self.regs, self.variant);
        let unknown = streamout::enabled(&state) & self.stated.streamout;
        if self.variant.generation.is_r7xx && unknown != 0 {
            m.finding(
                kind::STREAM_OUT_BASE,
                format_args!("a draw to stream-out buffers {unknown:#x}"),
            );
        }
    }

    /// Return what the vertex grouper fetches for the draw.
    fn index_area(&self, m: &mut Machine) -> Option<Area> {
        use vgt_dma_index_type::INDEX_TYPE;
        use vgt_draw_initiator::{SOURCE_SELECT, source_select};
        let initiator = self.regs.get(mmio::VGT_DRAW_INITIATOR);
        if SOURCE_SELECT.get(initiator) != source_select::DI_SRC_SEL_DMA {
            return None;
        }
        let index_type = INDEX_TYPE.get(self.regs.get(mmio::VGT_DMA_INDEX_TYPE));
        let bytes = if index_type == 0 { 2 } else { 4 };
        let base = wide(
            self.regs.get(mmio::VGT_DMA_BASE),
            self.regs.get(mmio::VGT_DMA_BASE_HI),
        );
        if base % bytes != 0 || index_type > 1 {
            m.finding(
                kind::DRAW_INDICES,
                format_args!("indices of type {index_type} at {base:#x}"),
            );
        }
        let number = u64::from(self.regs.get(mmio::VGT_DMA_SIZE));
        Some(Area {
            client: Client::Index,
            read: true,
            write: false,
            runs: Runs::one(base & !(bytes - 1), number * bytes),
        })
    }
}
