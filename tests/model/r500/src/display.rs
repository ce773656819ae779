// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The two CRTCs: where their registers are, and what they have to do with the rest of the chip.

use lapidary_registers::r500::mmio;

use super::R5xx;
use crate::kind;
use lapidary_model::amd::display::{Crtc, Display, Fields};
use lapidary_model::machine::Machine;

/// Both have the same fields.
pub static DISPLAY: Display = Display {
    crtcs: [
        Crtc {
            control: mmio::D1CRTC_CONTROL,
            h_total: mmio::D1CRTC_H_TOTAL,
            v_total: mmio::D1CRTC_V_TOTAL,
            status: mmio::D1CRTC_STATUS,
            position: mmio::D1CRTC_STATUS_POSITION,
            frames: mmio::D1CRTC_STATUS_FRAME_COUNT,
            enable: mmio::D1GRPH_ENABLE,
            format: mmio::D1GRPH_CONTROL,
            pitch: mmio::D1GRPH_PITCH,
            x_end: mmio::D1GRPH_X_END,
            y_start: mmio::D1GRPH_Y_START,
            y_end: mmio::D1GRPH_Y_END,
            address: mmio::D1GRPH_PRIMARY_SURFACE_ADDRESS,
        },
        Crtc {
            control: mmio::D2CRTC_CONTROL,
            h_total: mmio::D2CRTC_H_TOTAL,
            v_total: mmio::D2CRTC_V_TOTAL,
            status: mmio::D2CRTC_STATUS,
            position: mmio::D2CRTC_STATUS_POSITION,
            frames: mmio::D2CRTC_STATUS_FRAME_COUNT,
            enable: mmio::D2GRPH_ENABLE,
            format: mmio::D2GRPH_CONTROL,
            pitch: mmio::D2GRPH_PITCH,
            x_end: mmio::D2GRPH_X_END,
            y_start: mmio::D2GRPH_Y_START,
            y_end: mmio::D2GRPH_Y_END,
            address: mmio::D2GRPH_PRIMARY_SURFACE_ADDRESS,
        },
    ],
    fields: Fields {
        master_en: mmio::d1crtc_control::CRTC_MASTER_EN,
        read_disable: mmio::d1crtc_control::CRTC_DISP_READ_REQUEST_DISABLE,
        grph_enable: mmio::d1grph_enable::GRPH_ENABLE,
        depth: mmio::d1grph_control::GRPH_DEPTH,
        vert_count: mmio::d1crtc_status_position::CRTC_VERT_COUNT,
        v_blank: mmio::d1crtc_status::CRTC_V_BLANK,
    },
};

impl R5xx {
    /// Show the firmware's picture on a CRTC.
    pub(super) fn light_crtc(&mut self, m: &mut Machine, crtc: usize, frame_buffer: u32) {
        DISPLAY.light(crtc, &mut self.regs, m, frame_buffer);
        self.display_written();
    }

    /// Return whether CRTC 1 counts lines.
    pub(super) fn crtc_runs(&self) -> bool {
        DISPLAY.runs(0, &self.regs)
    }

    /// Look at the display registers again, after a write to one of them.
    pub(super) fn display_written(&mut self) {
        self.bus.scanouts = DISPLAY.scanouts(&self.regs);
    }

    /// Judge a move of VRAM by the memory controller.
    pub(super) fn judge_move(&mut self, m: &mut Machine, new: u32) {
        let old = self.bus.mc.get(self.bus.layout.fb_location);
        if self.bus.scanouts.iter().any(Option::is_some) && new != old {
            m.finding(
                kind::SCANOUT_MOVED,
                format_args!("MC_FB_LOCATION {old:#010x} to {new:#010x} with a CRTC on"),
            );
        }
    }

    /// Return what a counter of the display reads now.
    pub(super) fn display_peek(&self, offset: u32) -> Option<u32> {
        DISPLAY.counter(&self.regs, offset, self.start.elapsed())
    }
}
