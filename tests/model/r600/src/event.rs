// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Events: what a packet asks the end of the pipe for, and the synchronisation of surfaces.
//!
//! Nothing here runs ahead: when a packet is executed, everything before it is done. So an event happens at once.

use lapidary_model::machine::Machine;
use lapidary_registers::r600::enums::vgt_event as event;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::{mmio_r7xx, pm4};

use crate::R6xx;
use crate::fault;
use crate::ih::source;
use crate::kind;
use crate::packet::wide;
use crate::unit::Unit;

/// The bit of a count that says that it is valid.
const VALID: u64 = 1 << 63;

impl R6xx {
    /// Return the 64-bit GPU clock: crystal periods since power-on.
    pub(crate) fn clock(&self) -> u64 {
        // 27 MHz.
        (self.start.elapsed().as_nanos() * 27 / 1000) as u64
    }

    /// Execute an EVENT_WRITE_EOP packet, which writes a value to memory and interrupts.
    pub(crate) fn end_of_pipe(&mut self, m: &mut Machine, body: &[u32]) {
        use pm4::event_write_eop::control::{DATA_SEL, INT_SEL, data_sel, int_sel};
        let at = wide(body[1] & !3, body[2]);
        let interrupt = INT_SEL.get(body[2]);
        let data = if interrupt == int_sel::INT_ONLY {
            data_sel::DATA_NONE
        } else {
            DATA_SEL.get(body[2])
        };
        if m.faults.take(fault::LOST_WRITEBACK) {
            m.trace.line(format_args!("fault: end-of-pipe write lost"));
        } else {
            m.counters.add("eop_writes", 1);
            match data {
                data_sel::DATA_NONE => {}
                data_sel::DATA_32 => self.bus.write32(m, Unit::WriteBack, at, body[3]),
                data_sel::DATA_64 => {
                    let value = u64::from(body[3]) | (u64::from(body[4]) << 32);
                    self.bus.write(m, Unit::WriteBack, at, &value.to_le_bytes());
                }
                data_sel::DATA_CLOCK => {
                    let clock = self.clock();
                    self.bus.write(m, Unit::WriteBack, at, &clock.to_le_bytes());
                }
                other => m.finding(kind::RESERVED_VALUE, format_args!("DATA_SEL {other}")),
            }
        }
        let enabled = mmio::cp_int_cntl::TIME_STAMP_INT_ENABLE;
        if interrupt != int_sel::INT_NONE {
            m.counters.add("interrupt_events", 1);
        }
        if interrupt != int_sel::INT_NONE && enabled.any(self.regs.get(mmio::CP_INT_CNTL)) {
            self.vector(m, source::CP_EOP, 0);
        }
    }

    /// Execute an EVENT_WRITE packet. Some types write counts to memory.
    pub(crate) fn event_write(&mut self, m: &mut Machine, header: u32, body: &[u32]) {
        let kind_of_event = pm4::event::EVENT_TYPE.get(body[0]);
        let writes = matches!(
            kind_of_event,
            event::ZPASS_DONE | event::SAMPLE_PIPELINESTAT | event::SAMPLE_STREAMOUTSTATS
        );
        if body.len() != if writes { 3 } else { 1 } {
            m.finding(
                kind::PACKET_LENGTH,
                format_args!(
                    "{} for event {kind_of_event:#x}",
                    crate::packet::name(header)
                ),
            );
            return;
        }
        let at = writes.then(|| wide(body[1] & !7, body[2]));
        self.event(m, kind_of_event, at);
    }

    /// Take a write to VGT_EVENT_INITIATOR without a packet.
    pub(crate) fn event_by_register(&mut self, m: &mut Machine, value: u32) {
        use mmio::vgt_event_initiator::{ADDRESS_HI, EVENT_TYPE, EXTENDED_EVENT};
        let low = mmio::vgt_event_address_reg::ADDRESS_LOW;
        let low = low.get(self.regs.get(mmio::VGT_EVENT_ADDRESS_REG)) << 4;
        let at = wide(low, ADDRESS_HI.get(value));
        let at = EXTENDED_EVENT.any(value).then_some(at);
        self.event(m, EVENT_TYPE.get(value), at);
    }

    /// Execute an event without a time stamp, with the address of its counts if it has one.
    fn event(&mut self, m: &mut Machine, kind_of_event: u32, at: Option<u64>) {
        if kind_of_event == event::SO_VGTSTREAMOUT_FLUSH {
            self.streamout_flush();
        }
        let Some(at) = at else {
            return;
        };
        // No draw is executed, so nothing has been counted.
        let (counters, stride, value) = match kind_of_event {
            event::ZPASS_DONE => (self.live_backends(), 16, VALID),
            event::SAMPLE_STREAMOUTSTATS => (0b11, 8, VALID),
            event::SAMPLE_PIPELINESTAT => (0xff, 8, 0),
            _ => return,
        };
        for i in (0..32).filter(|i| (counters >> i) & 1 != 0) {
            self.bus
                .write(m, Unit::Event, at + i * stride, &value.to_le_bytes());
        }
    }

    /// Act on the graphics engine having nothing to do any more.
    pub(crate) fn became_idle(&mut self, m: &mut Machine) {
        let enabled = mmio::grbm_int_cntl::GUI_IDLE_INT_ENABLE;
        if enabled.any(self.regs.get(mmio::GRBM_INT_CNTL)) {
            self.vector(m, source::GUI_IDLE, 0);
        }
    }

    /// Execute a SURFACE_SYNC packet. It writes the registers of the coherency logic, which is done at once.
    pub(crate) fn surface_sync(&mut self, m: &mut Machine, body: &[u32]) {
        self.judge_surfaces(m, body[0]);
        // Both maps have it at the same place, with other bits.
        self.regs.set(mmio_r7xx::CP_COHER_CNTL, body[0]);
        self.regs.set(mmio::CP_COHER_SIZE, body[1]);
        self.regs.set(mmio::CP_COHER_BASE, body[2]);
        m.counters.add("surface_syncs", 1);
    }

    /// Take a write to CP_INT_STATUS with the streams that interrupt, by a packet or by a register write.
    pub(crate) fn cp_interrupt(&mut self, m: &mut Machine, streams: u32) {
        use mmio::cp_int_cntl::{IB1_INT_ENABLE, IB2_INT_ENABLE, RB_INT_ENABLE};
        let enabled = self.regs.get(mmio::CP_INT_CNTL);
        for (bit, number) in [
            (RB_INT_ENABLE, source::CP_RING),
            (IB1_INT_ENABLE, source::CP_IB1),
            (IB2_INT_ENABLE, source::CP_IB2),
        ] {
            if bit.any(streams) && bit.any(enabled) {
                self.vector(m, number, 0);
            }
        }
    }
}
