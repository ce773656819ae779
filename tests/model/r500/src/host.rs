// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The host interface: windows onto other spaces, waits, and the register file's front door.
//!
//! All register accesses come through here, from the CPU, from packets and from the DMA engines. The database decides
//! what exists; reading or writing what it does not know is a finding.

use lapidary_registers::r500::{mmio, pcie};

use super::cp;
use super::cp::Mode;
use super::{R5xx, Source};
use crate::kind;
use lapidary_model::chip::State;
use lapidary_model::machine::Machine;
use lapidary_model::registers::{judge_read, judge_write};

/// Looks until a memory controller that was busy is idle.
const BUSY_LOOKS: u32 = 3;

/// Return whether a register is one of a surface's.
fn is_surface(offset: u32) -> bool {
    [
        mmio::SURFACE_LOWER_BOUND,
        mmio::SURFACE_UPPER_BOUND,
        mmio::SURFACE_INFO,
    ]
    .iter()
    .any(|array| array.index_of(offset).is_some())
}

impl R5xx {
    /// Read a register with all side effects and judgement.
    pub(super) fn read_register(&mut self, m: &mut Machine, offset: u32, source: Source) -> u32 {
        if !judge_read(m, &mut self.regs, offset, source.name()) {
            return 0;
        }
        match offset {
            mmio::MM_DATA => {
                let index = self.regs.get(mmio::MM_INDEX);
                let at = mmio::mm_index::MM_ADDR.get(index) & !3;
                if mmio::mm_index::MM_APER.any(index) {
                    let mut word = [0xff; 4];
                    if !m.vram.read(at.into(), &mut word) {
                        m.finding(kind::VRAM_RANGE, format_args!("MM_DATA read of {at:#x}"));
                    }
                    u32::from_le_bytes(word)
                } else if at == mmio::MM_INDEX || at == mmio::MM_DATA {
                    m.finding(
                        kind::RESERVED_VALUE,
                        format_args!("MM_INDEX {index:#010x} leads back to itself"),
                    );
                    0
                } else {
                    self.read_register(m, at, source)
                }
            }
            mmio::PCIE_DATA => {
                let at = mmio::pcie_index::PCIE_ADDR.get(self.regs.get(mmio::PCIE_INDEX));
                if judge_read(m, &mut self.bus.pcie, at, source.name()) {
                    self.bus.pcie.get(at)
                } else {
                    0
                }
            }
            mmio::MC_IND_DATA => {
                let at = mmio::mc_ind_index::MC_IND_ADDR.get(self.regs.get(mmio::MC_IND_INDEX));
                if judge_read(m, &mut self.bus.mc, at, source.name()) {
                    self.mc_status(at).unwrap_or_else(|| self.bus.mc.get(at))
                } else {
                    0
                }
            }
            mmio::CLOCK_CNTL_DATA => {
                let at =
                    mmio::clock_cntl_index::PLL_ADDR.get(self.regs.get(mmio::CLOCK_CNTL_INDEX));
                if judge_read(m, &mut self.pll, at, source.name()) {
                    self.pll.get(at)
                } else {
                    0
                }
            }
            mmio::RBBM_SOFT_RESET => {
                self.soft_reset_read();
                self.regs.get(offset)
            }
            // Read only, as the database says.
            _ if mmio::CONFIG_SPACE.index_of(offset).is_some() => {
                let mut word = [0; 4];
                let at = offset - mmio::CONFIG_SPACE.base();
                m.functions[0].pci.read(at as usize, &mut word);
                u32::from_le_bytes(word)
            }
            _ => self
                .cp_read(offset)
                .unwrap_or_else(|| self.peek_register(offset)),
        }
    }

    /// Return what a register reads, without side effects.
    pub(super) fn peek_register(&self, offset: u32) -> u32 {
        if offset == mmio::RBBM_STATUS {
            return self.status();
        }
        self.cp_peek(offset)
            .or_else(|| self.dma_peek(offset))
            .or_else(|| self.display_peek(offset))
            .unwrap_or_else(|| self.regs.get(offset))
    }

    /// Write a register with all side effects and judgement.
    pub(super) fn write_register(
        &mut self,
        m: &mut Machine,
        offset: u32,
        value: u32,
        source: Source,
    ) {
        if !judge_write(m, &mut self.regs, offset, value, source.name()) {
            return;
        }
        if self.pipe.holds(offset) {
            // Most of what a command stream writes.
            self.write_pipe(m, offset, value);
            return;
        }
        if offset == mmio::CP_CSQ_CNTL {
            self.judge_host_path(m, value);
            self.judge_restart(m, value);
            self.halt(m, value);
        }
        match offset {
            mmio::MM_DATA => self.write_mm_data(m, value, source),
            mmio::PCIE_DATA => {
                let at = mmio::pcie_index::PCIE_ADDR.get(self.regs.get(mmio::PCIE_INDEX));
                if judge_write(m, &mut self.bus.pcie, at, value, source.name()) {
                    self.bus.judge_gart(m, at, value);
                    self.bus.pcie.set(at, value);
                    if at == pcie::PCIE_TX_GART_CNTL
                        && pcie::pcie_tx_gart_cntl::INVALIDATE_TLB.any(value)
                    {
                        self.bus.gart.invalidate();
                    }
                }
            }
            mmio::MC_IND_DATA => {
                let index = self.regs.get(mmio::MC_IND_INDEX);
                let at = mmio::mc_ind_index::MC_IND_ADDR.get(index);
                if !mmio::mc_ind_index::MC_IND_WR_EN.any(index) {
                    m.finding(
                        kind::RESERVED_VALUE,
                        format_args!(
                            "MC_IND_DATA written without MC_IND_WR_EN, index {index:#010x}"
                        ),
                    );
                } else if judge_write(m, &mut self.bus.mc, at, value, source.name()) {
                    let streams = cp::modes(self.regs.get(mmio::CP_CSQ_CNTL)).0 != Mode::Off;
                    self.bus.judge_mc(m, at, value, streams);
                    if at == self.bus.layout.fb_location {
                        self.judge_move(m, value);
                    }
                    self.bus.mc.set(at, value);
                }
            }
            mmio::CLOCK_CNTL_DATA => {
                let index = self.regs.get(mmio::CLOCK_CNTL_INDEX);
                let at = mmio::clock_cntl_index::PLL_ADDR.get(index);
                if !mmio::clock_cntl_index::PLL_WR_EN.any(index) {
                    m.finding(
                        kind::RESERVED_VALUE,
                        format_args!("CLOCK_CNTL_DATA written without PLL_WR_EN"),
                    );
                } else if judge_write(m, &mut self.pll, at, value, source.name()) {
                    self.pll.set(at, value);
                }
            }
            mmio::RBBM_SOFT_RESET => self.soft_reset(m, value, source),
            mmio::GEN_INT_CNTL => {
                self.regs.set(offset, value);
                self.update_interrupt(m);
            }
            mmio::GEN_INT_STATUS => self.write_int_status(m, value),
            mmio::DXMODE_INT_MASK => self.write_display_mask(m, value),
            mmio::MSI_REARM_EN => {
                self.regs.set(offset, value);
                if mmio::msi_rearm_en::MSI_REARM_EN.any(value) {
                    m.rearm(0);
                }
            }
            mmio::HOST_PATH_CNTL => {
                use mmio::host_path_cntl::{HDP_READ_BUFFER_INVALIDATE, HDP_SOFT_RESET};
                if HDP_READ_BUFFER_INVALIDATE.any(value) || HDP_SOFT_RESET.any(value) {
                    self.bus.caches.invalidate_host();
                }
                self.regs
                    .set(offset, value & !HDP_READ_BUFFER_INVALIDATE.mask());
            }
            mmio::WAIT_UNTIL | mmio::ISYNC_CNTL | mmio::RBBM_GUICNTL => {
                if matches!(source, Source::Host) {
                    let name = self.regs.register(offset).map_or("", |r| r.name);
                    m.finding(
                        kind::UNQUEUED_SYNC_REGISTER,
                        format_args!("{name} = {value:#010x}"),
                    );
                    return;
                }
                self.regs.set(offset, value);
                if offset == mmio::WAIT_UNTIL {
                    self.wait_until(m, value);
                }
                self.tell_engine2d(m, offset, value);
            }
            mmio::DSTCACHE_CTLSTAT | mmio::RB2D_DSTCACHE_CTLSTAT => {
                if mmio::rb2d_dstcache_ctlstat::DC_FLUSH.any(value) {
                    self.bus.caches.flush_2d();
                }
                self.tell_engine2d(m, offset, value);
            }
            mmio::SURFACE_CNTL => self.surface_written(m, offset, value),
            _ if is_surface(offset) => self.surface_written(m, offset, value),
            _ if self.cp_write(m, offset, value, source)
                || self.dma_write(m, offset, value, source) => {}
            _ => {
                self.regs.set(offset, value);
                if (mmio::D1CRTC_H_TOTAL..=mmio::DISP_INTERRUPT_STATUS).contains(&offset) {
                    self.display_written();
                }
                if mmio::BIOS_SCRATCH.index_of(offset) == Some(7) {
                    self.posted();
                }
                self.tell_engine2d(m, offset, value);
            }
        }
    }

    fn write_mm_data(&mut self, m: &mut Machine, value: u32, source: Source) {
        let index = self.regs.get(mmio::MM_INDEX);
        let at = mmio::mm_index::MM_ADDR.get(index) & !3;
        if mmio::mm_index::MM_APER.any(index) {
            if !m.vram.write(at.into(), &value.to_le_bytes()) {
                m.finding(kind::VRAM_RANGE, format_args!("MM_DATA write of {at:#x}"));
            }
        } else if at == mmio::MM_INDEX || at == mmio::MM_DATA {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("MM_INDEX {index:#010x} leads back to itself"),
            );
        } else {
            self.write_register(m, at, value, source);
        }
    }

    /// Wait as `WAIT_UNTIL` says. Everything the streams have sent is executed in order, so the engines are idle when
    /// the wait is reached. What is left to judge is "clean", and what is left to wait for is DMA. A running CRTC
    /// reaches its lines at once.
    fn wait_until(&mut self, m: &mut Machine, value: u32) {
        use mmio::wait_until::{
            WAIT_2D_IDLE, WAIT_2D_IDLECLEAN, WAIT_3D_IDLE, WAIT_3D_IDLECLEAN, WAIT_CRTC_VLINE,
            WAIT_DMA_GUI_IDLE, WAIT_DMA_VID_IDLE, WAIT_FE_CRTC_VLINE, WAIT_RE_CRTC_VLINE,
        };
        let vline = WAIT_CRTC_VLINE.mask() | WAIT_RE_CRTC_VLINE.mask() | WAIT_FE_CRTC_VLINE.mask();
        if value & vline != 0 && !self.crtc_runs() {
            m.finding(
                kind::WAIT_FOREVER,
                format_args!("for a line of CRTC 1, which is off"),
            );
            self.cp.hang();
        }
        if WAIT_2D_IDLECLEAN.any(value) && self.bus.caches.dirty_2d() {
            if !mmio::rb2d_dstcache_mode::DC_AUTOFLUSH_ENABLE
                .any(self.regs.get(mmio::RB2D_DSTCACHE_MODE))
            {
                m.finding(
                    kind::WAIT_ON_DIRTY_CACHE,
                    format_args!("2D: neither flushed nor flushing by itself"),
                );
            }
            self.bus.caches.flush_2d();
        }
        if WAIT_3D_IDLE.any(value) || WAIT_3D_IDLECLEAN.any(value) {
            self.judge_unfinished(m);
        }
        if WAIT_3D_IDLECLEAN.any(value) && self.bus.caches.dirty_3d() {
            m.finding(kind::WAIT_ON_DIRTY_CACHE, format_args!("3D"));
            self.bus.caches.flush_color();
            self.bus.caches.flush_depth();
        }
        let engines =
            WAIT_DMA_GUI_IDLE.get(value) as u8 | ((WAIT_DMA_VID_IDLE.get(value) as u8) << 1);
        if engines != 0 {
            self.cp.wait = Some(cp::Wait::Dma(engines));
        }
        let for_2d = WAIT_2D_IDLE.any(value) || WAIT_2D_IDLECLEAN.any(value);
        let for_3d = WAIT_3D_IDLE.any(value) || WAIT_3D_IDLECLEAN.any(value);
        if self.waits_for_stuck(m, for_2d, for_3d) {
            self.cp.wait = Some(cp::Wait::Stuck { for_2d, for_3d });
        }
    }

    /// Judge the host path when a stream is about to be switched on. The CPU must find what the chip will read, and the
    /// other way round.
    fn judge_host_path(&self, m: &mut Machine, value: u32) {
        let off = |v| cp::modes(v).0 == Mode::Off;
        if off(value) || !off(self.regs.get(mmio::CP_CSQ_CNTL)) {
            return;
        }
        let host = mmio::hdp_fb_location::HDP_FB_START.get(self.regs.get(mmio::HDP_FB_LOCATION));
        let (start, _) = self.bus.frame_buffer();
        if u64::from(host) << 16 != start {
            m.finding(
                kind::HOST_PATH_MISMATCH,
                format_args!("HDP_FB_LOCATION {host:#06x}, VRAM at {start:#010x}"),
            );
        }
        if let Some(what) = self.bus.agp_over() {
            m.finding(
                kind::AGP_OVER_MEMORY,
                format_args!("the AGP aperture lies over {what}"),
            );
        }
        self.judge_surfaces(m);
        let aperture = u64::from(self.regs.get(mmio::CONFIG_APER_SIZE));
        let joined = mmio::host_path_cntl::HDP_APER_CNTL.any(self.regs.get(mmio::HOST_PATH_CNTL));
        if !joined && self.options.vram > aperture && self.options.window > aperture {
            m.finding(
                kind::HOST_PATH_MISMATCH,
                format_args!(
                    "without HDP_APER_CNTL, VRAM {aperture:#x} in BAR 0 is VRAM 0 once more"
                ),
            );
        }
    }
    /// Return what the memory controller's status shows, if that is the register: on a card that a careless firmware
    /// has just posted it takes a few looks until the controller is idle.
    fn mc_status(&mut self, register: u32) -> Option<u32> {
        let layout = self.bus.layout;
        if register != layout.status || self.bus.busy == 0 {
            return None;
        }
        self.bus.busy -= 1;
        Some(self.bus.mc.get(register) & !layout.idle)
    }

    /// Act on the message of ASIC_Init that it is done. A careless one does not wait for the memory controller to be.
    fn posted(&mut self) {
        if self.options.state == State::Careless {
            self.bus.busy = BUSY_LOOKS;
        }
    }
}
