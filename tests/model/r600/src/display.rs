// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The two CRTCs: where their registers are, and what they have to do with the rest of the chip.

use lapidary_model::amd::display::{Crtc, Display, Fields};
use lapidary_model::machine::Machine;
use lapidary_registers::r600::mmio;

use crate::R6xx;

/// Both have the same fields.
static DISPLAY: Display = Display {
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
        master_en: mmio::d1crtc_control::CRTC_EN,
        read_disable: mmio::d1crtc_control::CRTC_DISP_READ_REQUEST_DISABLE,
        grph_enable: mmio::d1grph_enable::GRPH_ENABLE,
        depth: mmio::d1grph_control::GRPH_DEPTH,
        vert_count: mmio::d1crtc_status_position::CRTC_VERT_COUNT,
        v_blank: mmio::d1crtc_status::CRTC_V_BLANK,
    },
};

/// Where the registers of the display begin and end.
const PLACES: std::ops::Range<u32> = 0x6000..0x8000;

impl R6xx {
    /// Show the firmware's picture on a CRTC.
    pub(crate) fn light_crtc(&mut self, m: &mut Machine, crtc: usize) {
        let (vram, _) = self.bus.frame_buffer();
        DISPLAY.light(crtc, &mut self.regs, m, vram as u32);
        self.display_written(mmio::D1CRTC_CONTROL);
    }

    /// Act on a write to a register that may be the display's.
    pub(crate) fn display_written(&mut self, offset: u32) {
        if PLACES.contains(&offset) {
            self.bus.scanouts = DISPLAY.scanouts(&self.regs);
        }
    }

    /// Return what a counter of the display reads now.
    pub(crate) fn display_peek(&self, offset: u32) -> Option<u32> {
        PLACES
            .contains(&offset)
            .then(|| DISPLAY.counter(&self.regs, offset, self.start.elapsed()))?
    }
}
