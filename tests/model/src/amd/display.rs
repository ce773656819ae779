// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Just enough of the display: CRTCs that count lines and frames, and the memory they read.
//!
//! Nothing is shown. But a card that the firmware has posted may show a picture, and a driver must not disturb it:
//! so the model knows what a CRTC reads, and its counters move as long as it runs. R5xx to R7xx have the same two
//! CRTCs at the same places.

use std::time::Duration;

use lapidary_registers::Field;

use crate::machine::Machine;
use crate::registers::Space;

/// A frame at 60 Hz.
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Lines that a CRTC shows before its vertical blanking.
const VISIBLE: u32 = Picture::FIRST.height;

/// The registers of a CRTC and of the surface that it reads, by byte offset.
pub struct Crtc {
    /// DxCRTC_CONTROL.
    pub control: u32,
    /// DxCRTC_H_TOTAL.
    pub h_total: u32,
    /// DxCRTC_V_TOTAL.
    pub v_total: u32,
    /// DxCRTC_STATUS.
    pub status: u32,
    /// DxCRTC_STATUS_POSITION.
    pub position: u32,
    /// DxCRTC_STATUS_FRAME_COUNT.
    pub frames: u32,
    /// DxGRPH_ENABLE.
    pub enable: u32,
    /// DxGRPH_CONTROL.
    pub format: u32,
    /// DxGRPH_PITCH.
    pub pitch: u32,
    /// DxGRPH_X_END.
    pub x_end: u32,
    /// DxGRPH_Y_START.
    pub y_start: u32,
    /// DxGRPH_Y_END.
    pub y_end: u32,
    /// DxGRPH_PRIMARY_SURFACE_ADDRESS.
    pub address: u32,
}

/// Fields of these registers.
pub struct Fields {
    /// The CRTC runs.
    pub master_en: Field,
    /// It does not read.
    pub read_disable: Field,
    /// There is a surface.
    pub grph_enable: Field,
    /// Binary logarithm of the bytes of a pixel.
    pub depth: Field,
    /// The line that it is at.
    pub vert_count: Field,
    /// It is in the vertical blanking.
    pub v_blank: Field,
}

/// The display of a family.
pub struct Display {
    /// Its CRTCs.
    pub crtcs: [Crtc; 2],
    /// Their fields.
    pub fields: Fields,
}

/// A range of memory that a CRTC reads all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanout {
    /// First GPU address.
    pub start: u64,
    /// Bytes.
    pub len: u64,
}

/// A picture that the firmware shows.
pub struct Picture {
    /// Pixels of a line.
    pub width: u32,
    /// Lines.
    pub height: u32,
    /// Binary logarithm of the bytes of a pixel.
    pub depth: u32,
    /// Where in VRAM.
    pub at: u32,
    /// Pixels of a line and lines with the blanking.
    pub total: (u32, u32),
}

impl Picture {
    /// That of CRTC 1: 640 by 480, 32 bits a pixel, from the start of VRAM.
    pub const FIRST: Picture = Picture {
        width: 640,
        height: 480,
        depth: 2,
        at: 0,
        total: (799, 524),
    };
    /// That of CRTC 2: smaller, with 16 bits a pixel, and away from the start of VRAM.
    pub const SECOND: Picture = Picture {
        width: 512,
        height: 304,
        depth: 1,
        at: 0x90_0000,
        total: (499, 324),
    };

    fn bytes(&self) -> usize {
        (self.width * self.height) as usize * (1 << self.depth)
    }
}

impl Display {
    /// Let the firmware show a picture on the CRTC of that number, VRAM being at that GPU address.
    pub fn light(&self, crtc: usize, regs: &mut Space, m: &mut Machine, vram: u32) {
        let picture = &[Picture::FIRST, Picture::SECOND][crtc];
        let c = &self.crtcs[crtc];
        m.vram
            .write(picture.at.into(), &pattern()[..picture.bytes()]);
        for (offset, value) in [
            (c.h_total, picture.total.0),
            (c.v_total, picture.total.1),
            (c.control, self.fields.master_en.mask()),
            (c.enable, self.fields.grph_enable.mask()),
            (c.format, self.fields.depth.of(picture.depth)),
            (c.address, vram + picture.at),
            (c.pitch, picture.width),
            (c.x_end, picture.width),
            (c.y_end, picture.height),
        ] {
            regs.set(offset, value);
        }
    }

    /// Return whether the CRTC of that number counts lines.
    pub fn runs(&self, crtc: usize, regs: &Space) -> bool {
        self.fields
            .master_en
            .any(regs.get(self.crtcs[crtc].control))
    }

    /// Return what each CRTC reads, as its registers say.
    pub fn scanouts(&self, regs: &Space) -> [Option<Scanout>; 2] {
        let f = &self.fields;
        [0, 1].map(|n| {
            let c = &self.crtcs[n];
            let on = self.runs(n, regs)
                && !f.read_disable.any(regs.get(c.control))
                && f.grph_enable.any(regs.get(c.enable));
            let row = u64::from(regs.get(c.pitch)) << f.depth.get(regs.get(c.format));
            let rows = regs.get(c.y_end).saturating_sub(regs.get(c.y_start));
            let len = row.saturating_mul(rows.into());
            (on && len > 0).then_some(Scanout {
                start: regs.get(c.address).into(),
                len,
            })
        })
    }

    /// Return what a register that counts reads, so long after power-on; none if it is not one.
    pub fn counter(&self, regs: &Space, offset: u32, elapsed: Duration) -> Option<u32> {
        let counts = |c: &Crtc| [c.status, c.position, c.frames].contains(&offset);
        let n = self.crtcs.iter().position(counts)?;
        let c = &self.crtcs[n];
        if !self.runs(n, regs) {
            return Some(0);
        }
        let frame = elapsed.as_nanos() / FRAME.as_nanos();
        let lines = u128::from(regs.get(c.v_total)) + 1;
        let line = ((elapsed.as_nanos() % FRAME.as_nanos()) * lines / FRAME.as_nanos()) as u32;
        Some(if offset == c.frames {
            frame as u32
        } else if offset == c.position {
            self.fields.vert_count.of(line)
        } else {
            self.fields.v_blank.of((line >= VISIBLE).into())
        })
    }
}

/// Return a picture that shows damage anywhere: no two neighbouring lines or columns are alike, and a block of
/// something like text stands in its upper half, as a boot console would.
fn pattern() -> Vec<u8> {
    const WIDTH: u32 = Picture::FIRST.width;
    const HEIGHT: u32 = Picture::FIRST.height;
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
