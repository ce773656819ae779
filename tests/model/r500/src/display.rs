// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Just enough of the display: CRTCs that count lines and frames, and the memory they read.
//!
//! Nothing is shown. But a card that the firmware has posted may show a picture, and a driver must not disturb it:
//! so the model knows what a CRTC reads, and its counters move as long as it runs.

use std::time::Duration;

use lapidary_registers::r500::mmio;

use super::R5xx;
use super::bus::scanouts;
use crate::kind;
use lapidary_model::machine::Machine;

/// A frame at 60 Hz.
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// What the firmware's picture looks like: 640 by 480, 32 bits a pixel, from the start of VRAM.
pub const WIDTH: u32 = 640;
/// Its height.
pub const HEIGHT: u32 = 480;

/// Width and height of the second picture, and where in VRAM it lies.
const SECOND: (u32, u32) = (512, 304);
const SECOND_AT: u32 = 0x90_0000;

struct Crtc {
    control: u32,
    status: u32,
    position: u32,
    frames: u32,
    v_total: u32,
}

static CRTCS: [Crtc; 2] = [
    Crtc {
        control: mmio::D1CRTC_CONTROL,
        status: mmio::D1CRTC_STATUS,
        position: mmio::D1CRTC_STATUS_POSITION,
        frames: mmio::D1CRTC_STATUS_FRAME_COUNT,
        v_total: mmio::D1CRTC_V_TOTAL,
    },
    Crtc {
        control: mmio::D2CRTC_CONTROL,
        status: mmio::D2CRTC_STATUS,
        position: mmio::D2CRTC_STATUS_POSITION,
        frames: mmio::D2CRTC_STATUS_FRAME_COUNT,
        v_total: mmio::D2CRTC_V_TOTAL,
    },
];

impl R5xx {
    /// The firmware's picture: CRTC 1 on, with its surface at the start of VRAM.
    pub(super) fn light_crtc(&mut self, m: &mut Machine, frame_buffer: u32) {
        m.vram.write(0, &picture());
        let writes = [
            (mmio::D1CRTC_H_TOTAL, 799),
            (mmio::D1CRTC_V_TOTAL, 524),
            (
                mmio::D1CRTC_CONTROL,
                mmio::d1crtc_control::CRTC_MASTER_EN.mask(),
            ),
            (mmio::D1GRPH_ENABLE, 1),
            (mmio::D1GRPH_CONTROL, 2),
            (mmio::D1GRPH_PRIMARY_SURFACE_ADDRESS, frame_buffer),
            (mmio::D1GRPH_PITCH, WIDTH),
            (mmio::D1GRPH_X_END, WIDTH),
            (mmio::D1GRPH_Y_END, HEIGHT),
        ];
        for (offset, value) in writes {
            self.regs.set(offset, value);
        }
        self.bus.scanouts = scanouts(&self.regs);
    }

    /// The firmware's second picture: CRTC 2 on, smaller, with 16 bits a pixel, and away from the start of VRAM.
    pub(super) fn light_second_crtc(&mut self, m: &mut Machine, frame_buffer: u32) {
        let bytes = (SECOND.0 * SECOND.1 * 2) as usize;
        m.vram.write(SECOND_AT.into(), &picture()[..bytes]);
        let writes = [
            (mmio::D2CRTC_H_TOTAL, 499),
            (mmio::D2CRTC_V_TOTAL, 324),
            (
                mmio::D2CRTC_CONTROL,
                mmio::d2crtc_control::CRTC_MASTER_EN.mask(),
            ),
            (mmio::D2GRPH_ENABLE, 1),
            (mmio::D2GRPH_CONTROL, 1),
            (
                mmio::D2GRPH_PRIMARY_SURFACE_ADDRESS,
                frame_buffer + SECOND_AT,
            ),
            (mmio::D2GRPH_PITCH, SECOND.0),
            (mmio::D2GRPH_X_END, SECOND.0),
            (mmio::D2GRPH_Y_END, SECOND.1),
        ];
        for (offset, value) in writes {
            self.regs.set(offset, value);
        }
        self.bus.scanouts = scanouts(&self.regs);
    }

    /// Return whether CRTC 1 counts lines.
    pub(super) fn crtc_runs(&self) -> bool {
        mmio::d1crtc_control::CRTC_MASTER_EN.any(self.regs.get(mmio::D1CRTC_CONTROL))
    }

    /// A display register was written.
    pub(super) fn display_written(&mut self) {
        self.bus.scanouts = scanouts(&self.regs);
    }

    /// The memory controller is about to move VRAM.
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
        let crtc = CRTCS
            .iter()
            .find(|c| [c.status, c.position, c.frames].contains(&offset))?;
        if !mmio::d1crtc_control::CRTC_MASTER_EN.any(self.regs.get(crtc.control)) {
            return Some(0);
        }
        let elapsed = self.start.elapsed();
        let frame = elapsed.as_nanos() / FRAME.as_nanos();
        let lines = u128::from(self.regs.get(crtc.v_total)) + 1;
        let line = ((elapsed.as_nanos() % FRAME.as_nanos()) * lines / FRAME.as_nanos()) as u32;
        Some(if offset == crtc.frames {
            frame as u32
        } else if offset == crtc.position {
            mmio::d1crtc_status_position::CRTC_VERT_COUNT.of(line)
        } else {
            mmio::d1crtc_status::CRTC_V_BLANK.of((line >= HEIGHT).into())
        })
    }
}

/// Return a picture that shows damage anywhere: no two neighbouring lines or columns are alike, and a block of
/// something like text stands in its upper half, as a boot console would.
fn picture() -> Vec<u8> {
    let mut bytes = Vec::with_capacity((WIDTH * HEIGHT * 4) as usize);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let (red, green) = (x * 255 / WIDTH, y * 255 / HEIGHT);
            // Cells of 8 by 16 pixels; each has a glyph of its own.
            let (column, row) = (x / 8, y / 16);
            let glyph = (column * 31 + row * 17).wrapping_mul(0x9e37_79b1);
            let inside =
                (2..14).contains(&row) && (4..60).contains(&column) && x % 8 < 6 && y % 16 < 12;
            let ink = inside && (glyph >> (((x % 8) + (y % 16) / 2 * 5) % 32)) & 1 != 0;
            let pixel = if ink {
                0x00ff_ffff
            } else {
                (red << 16) | (green << 8) | ((x ^ y) & 0x3f) | 0x40
            };
            bytes.extend_from_slice(&pixel.to_le_bytes());
        }
    }
    bytes
}
