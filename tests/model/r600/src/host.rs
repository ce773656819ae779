// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The front door of the registers.
//!
//! All register accesses come through here, from the CPU and from packets. The database decides what exists; reading or
//! writing what it does not know is a finding.

use lapidary_model::machine::Machine;
use lapidary_model::registers::{judge_read, judge_write};
use lapidary_registers::r600::{mmio, mmio_r7xx, pm4};

use crate::kind;
use crate::{R6xx, Source};

/// Registers of the 3D pipe, configuration, context and constants, begin here.
const PIPE: u32 = pm4::set_config_reg::BASE;

/// Return whether a register is one of a surface's for the host.
fn is_host_surface(offset: u32) -> bool {
    [
        mmio::HDP_SURFACE_WORD0,
        mmio::HDP_SURFACE_WORD1,
        mmio::HDP_SURFACE_WORD2,
        mmio::HDP_SURFACE_WORD3,
        mmio::HDP_SURFACE_WORD4,
    ]
    .iter()
    .any(|array| array.index_of(offset).is_some())
}

impl R6xx {
    /// Read a register with all side effects and judgement.
    pub(crate) fn read_register(&mut self, m: &mut Machine, offset: u32, source: Source) -> u32 {
        if !judge_read(m, &mut self.regs, offset, source.name()) {
            return 0;
        }
        match offset {
            mmio::MM_DATA => match self.behind_index(m) {
                Behind::Register(at) => self.read_register(m, at, source),
                Behind::Memory(at) => {
                    let mut word = [0xff; 4];
                    self.hdp_read(m, at, &mut word);
                    u32::from_le_bytes(word)
                }
                Behind::Nothing => 0,
            },
            mmio::CP_ME_RAM_DATA => self.cp.me.read_here(),
            mmio::CP_PFP_UCODE_DATA => self.cp.pfp.read_here(),
            mmio::RLC_UCODE_DATA => self.rlc.code.read_here(),
            _ => self.peek_register(offset),
        }
    }

    /// Return what a register reads, without side effects.
    pub(crate) fn peek_register(&self, offset: u32) -> u32 {
        match offset {
            _ if offset == self.variant.generation.grbm_status => self.grbm_status(),
            mmio::SRBM_STATUS | mmio::GRBM_STATUS2 => 0,
            mmio::IH_RB_WPTR => self.ih.reported(),
            mmio::IH_RB_RPTR => self.ih.rptr,
            mmio::CP_COHER_STATUS => 0,
            mmio::RLC_GPU_CLOCK_COUNT_LSB => self.captured as u32,
            mmio::RLC_GPU_CLOCK_COUNT_MSB => (self.captured >> 32) as u32,
            _ => self
                .cp_peek(offset)
                .or_else(|| self.dma_peek(offset))
                .or_else(|| self.display_peek(offset))
                .unwrap_or_else(|| self.regs.get(offset)),
        }
    }

    /// Write a register with all side effects and judgement.
    pub(crate) fn write_register(
        &mut self,
        m: &mut Machine,
        offset: u32,
        value: u32,
        source: Source,
    ) {
        if !judge_write(m, &mut self.regs, offset, value, source.name()) {
            return;
        }
        if self.bus.is_place(offset) {
            self.move_memory(m, offset, value);
            return;
        }
        match offset {
            mmio::MM_DATA => match self.behind_index(m) {
                Behind::Register(at) => self.write_register(m, at, value, source),
                Behind::Memory(at) => self.hdp_write(m, at, &value.to_le_bytes()),
                Behind::Nothing => {}
            },
            mmio::GRBM_SOFT_RESET => self.grbm_soft_reset(m, value),
            _ if offset == self.variant.generation.srbm.register => self.srbm_soft_reset(m, value),
            mmio::VM_CONTEXT0_REQUEST_RESPONSE => self.vm_request(m, value),
            mmio::HDP_REG_COHERENCY_FLUSH_CNTL | mmio::HDP_MEM_COHERENCY_FLUSH_CNTL => {
                self.bus.read_ahead.flush();
                self.regs.set(offset, value);
            }
            mmio::HDP_DEBUG1 => {
                self.bus.read_ahead.half_flush();
                self.regs.set(offset, value);
            }
            mmio::VM_L2_CNTL2 => {
                // Both bits drop what the caches hold.
                if value != 0 {
                    self.bus.tlb.clear();
                }
                self.regs.set(offset, 0);
            }
            mmio::RLC_CAPTURE_GPU_CLOCK_COUNT => self.captured = self.clock(),
            mmio::CP_COHER_BASE => {
                self.regs.set(offset, value);
                self.judge_surfaces(m, self.regs.get(mmio_r7xx::CP_COHER_CNTL));
                m.counters.add("surface_syncs", 1);
            }
            _ if is_host_surface(offset) => {
                // Zero is no surface. Nothing public says what else the words mean.
                if value != 0 {
                    m.finding(
                        kind::RESERVED_VALUE,
                        format_args!("a surface for the host, {value:#010x}"),
                    );
                }
                self.regs.set(offset, value);
            }
            _ if self.cp_write(m, offset, value, source)
                || self.dma_write(m, offset, value)
                || self.ih_write(m, offset, value)
                || self.rlc_write(m, offset, value) => {}
            _ if offset >= PIPE => self.pipe_written(m, offset, value),
            _ => {
                self.regs.set(offset, value);
                self.display_written(offset);
            }
        }
    }

    /// Write a register that decides where addresses lead.
    fn move_memory(&mut self, m: &mut Machine, offset: u32, value: u32) {
        let name = self.regs.register(offset).map_or("", |r| r.name);
        let old = self.regs.get(offset);
        let window = self.bus.layout().window.contains(&offset);
        if value != old {
            if window && self.bus.window().is_some() {
                m.finding(
                    kind::VM_MOVED,
                    format_args!("{name} = {value:#010x} while VM context 0 is on"),
                );
            }
            let moves =
                offset != mmio::VM_CONTEXT_CNTL.base() && offset != self.bus.layout().citf_cntl;
            if !window && moves {
                let busy = self.cp_runs() || self.dma_enabled();
                if busy {
                    m.finding(
                        kind::MC_BUSY,
                        format_args!("{name} = {value:#010x} while an engine takes commands"),
                    );
                }
            }
        }
        self.regs.set(offset, value);
        self.bus.configure(&self.regs);
    }

    /// Take a request to the page-table unit. Request 1 invalidates the TLB entries of the range between two registers.
    fn vm_request(&mut self, m: &mut Machine, value: u32) {
        use mmio::vm_context0_request_response::{REQUEST_TYPE, RESPONSE_TYPE};
        let page = |register| u64::from(self.regs.get(register)) << 12;
        let low = page(mmio::VM_CONTEXT0_INVALIDATION_LOW_ADDR);
        let high = page(mmio::VM_CONTEXT0_INVALIDATION_HIGH_ADDR);
        if let Some(window) = self.bus.window() {
            if REQUEST_TYPE.get(value) == 1 {
                self.bus.tlb.invalidate(&window, low, high);
            }
        }
        let answer = if m.faults.armed(crate::fault::TLB_SILENT) {
            0
        } else {
            RESPONSE_TYPE.of(1)
        };
        m.counters.add("tlb_flushes", 1);
        self.regs.set(
            mmio::VM_CONTEXT0_REQUEST_RESPONSE,
            value & REQUEST_TYPE.mask() | answer,
        );
    }

    /// Return what MM_DATA leads to.
    fn behind_index(&mut self, m: &mut Machine) -> Behind {
        use mmio::mm_index::{ADDR, MM_APER};
        let index = self.regs.get(mmio::MM_INDEX);
        let at = ADDR.get(index) & !3;
        if MM_APER.any(index) {
            Behind::Memory(at.into())
        } else if at == mmio::MM_INDEX || at == mmio::MM_DATA {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("MM_INDEX {index:#010x} leads back to itself"),
            );
            Behind::Nothing
        } else {
            Behind::Register(at)
        }
    }
}

/// What MM_DATA leads to.
enum Behind {
    Register(u32),
    Memory(u64),
    Nothing,
}
