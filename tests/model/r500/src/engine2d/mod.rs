// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine.
//!
//! What R100 had for drawing windows is still in R5xx: rectangles, copies, lines, bitmaps from the command stream,
//! with ternary raster operations, brushes, colour keys, scissors and tiled surfaces. It is programmed by registers,
//! or by the 13 type-3 packets of R5xx 5.2.2, which are nothing but such register writes made by the CP's microcode.
//!
//! The way of an operation through the files here:
//!
//! ```text
//! packets ──▶ registers ──▶ state ──▶ blit | hostdata | line | (fill) ──▶ draw ──▶ surface ──▶ memory
//!  (type 3)    (triggers)   (set-up)      (source and order)          (rop, brush, key, clip)
//! ```
//!
//! The manual describes the packets, the bits of `GUI_CONTROL` and the surfaces, and none of the registers. The
//! registers are public knowledge: offsets in the kernel's radeon_reg.h, use in xf86-video-ati (radeon_exa_funcs.c,
//! radeon_accelfuncs.c) and in the kernel (r100_copy_blit in r100.c, radeonfb's radeon_accel.c). Where neither manual
//! nor these settle a question, the file concerned says what was decided and why.

pub mod blit;
pub mod brush;
pub mod clip;
pub mod draw;
pub mod hostdata;
pub mod key;
pub mod line;
pub mod packets;
mod registers;
pub mod scanline;
pub mod state;
pub mod surface;
#[cfg(test)]
mod tests;

use crate::kind;
use lapidary_registers::r500::mmio;

use self::hostdata::HostBlit;
use self::line::Line;
use self::state::{Origin, Setup, Shape};
use super::engine2d_api::{Engine2d, Port};

/// The engine: what it remembers besides the registers.
#[derive(Default)]
pub struct Engine {
    host: Host,
    palette: Vec<u32>,
}

/// The state of the host data port.
#[derive(Default)]
enum Host {
    /// No operation waits for data.
    #[default]
    Idle,
    /// An operation waits for data.
    Waiting(Box<HostBlit>),
    /// All data came, but not the write of `HOST_DATA_LAST` that ends the operation.
    NotEnded,
}

impl Engine {
    /// Return the palette that `LOAD_PALETTE` loaded for the scaler.
    pub fn palette(&self) -> &[u32] {
        &self.palette
    }

    /// Draw the rectangle that the registers describe, or begin to.
    fn rectangle(&mut self, port: &mut dyn Port) {
        self.abandon(port);
        let (x, y) = state::position(port, mmio::DST_Y_X);
        let (width, height) = state::size(port);
        if width == 0 || height == 0 {
            return;
        }
        let Some(Setup {
            mut pipe,
            origin,
            direction,
        }) = Setup::read(port, Shape::Plane)
        else {
            return;
        };
        let area = direction.area(x, y, width, height);
        let visible = area.intersection(pipe.clip);
        if !visible.is_empty() && !pipe.surface.reaches(visible) {
            port.finding(
                kind::ENGINE2D_BAD_SURFACE,
                format_args!("the destination ends above 4 GiB"),
            );
            return;
        }
        port.count("engine2d_rectangles", 1);
        port.trace(format_args!(
            "2d rectangle {area}, clip {}, on {}, rop {:#04x}, from {origin}",
            pipe.clip, pipe.surface, pipe.rop.0
        ));
        match origin {
            Origin::None => pipe.fill(port, area),
            Origin::Memory(source) => {
                let (source_x, source_y) = state::position(port, mmio::SRC_Y_X);
                blit::copy(
                    port,
                    &mut pipe,
                    &source,
                    area,
                    (source_x - x, source_y - y),
                    direction,
                );
            }
            Origin::Host {
                format,
                byte_aligned,
            } => {
                let blit = HostBlit::new(pipe, format, byte_aligned, area, direction);
                self.host = Host::Waiting(Box::new(blit));
            }
        }
    }

    /// Draw a line between two points held in registers; the pattern's phase is then that of the next pixel.
    fn line(&mut self, port: &mut dyn Port, start: u32, end: u32) {
        self.abandon(port);
        let start = state::position(port, start);
        let end = state::position(port, end);
        let Some(Setup { mut pipe, .. }) = Setup::read(port, Shape::Line) else {
            return;
        };
        let visible = line_extent(start, end).intersection(pipe.clip);
        if !visible.is_empty() && !pipe.surface.reaches(visible) {
            port.finding(
                kind::ENGINE2D_BAD_SURFACE,
                format_args!("the destination ends above 4 GiB"),
            );
            return;
        }
        port.trace(format_args!(
            "2d line {start:?} to {end:?}, clip {}, on {}, rop {:#04x}",
            pipe.clip, pipe.surface, pipe.rop.0
        ));
        port.count("engine2d_lines", 1);
        let last = mmio::dp_cntl::DST_LAST_PEL.get(port.register(mmio::DP_CNTL)) != 0;
        let phase =
            mmio::dst_line_patcount::LINE_PATCOUNT.get(port.register(mmio::DST_LINE_PATCOUNT));
        let line = Line::new(start, end, last);
        for step in line.inside(pipe.clip) {
            if let Some(pattern) = pipe.brush.along(phase.wrapping_add(step.n)) {
                pipe.point(port, step.x, step.y, pattern);
            }
        }
        registers::set_phase(port, phase.wrapping_add(line.pixels()));
    }

    /// Take a dword of host data.
    fn host_data(&mut self, port: &mut dyn Port, value: u32, last: bool) {
        match std::mem::take(&mut self.host) {
            Host::Waiting(mut blit) => {
                blit.feed(port, value);
                if last {
                    blit.end(port);
                } else if blit.is_complete() {
                    self.host = Host::NotEnded;
                } else {
                    self.host = Host::Waiting(blit);
                }
            }
            Host::NotEnded | Host::Idle => {
                port.finding(
                    kind::HOST_DATA_UNEXPECTED,
                    format_args!("host data {value:#010x} that no operation needs"),
                );
            }
        }
    }

    /// End what still waits for host data and will never get it, since a new operation begins.
    fn abandon(&mut self, port: &mut dyn Port) {
        match std::mem::take(&mut self.host) {
            Host::Waiting(blit) => blit.end(port),
            Host::NotEnded => port.finding(
                kind::HOST_DATA_MISSING,
                format_args!("a new operation before HOST_DATA_LAST ended the last one"),
            ),
            Host::Idle => {}
        }
    }

    /// Write a register as the CP would.
    fn write(&mut self, port: &mut dyn Port, offset: u32, value: u32) {
        port.set_register(offset, value);
        registers::written(self, port, offset, value);
    }
}

/// Return the rectangle around a line, last pixel included.
fn line_extent(a: (i32, i32), b: (i32, i32)) -> clip::Rect {
    clip::Rect {
        left: a.0.min(b.0),
        top: a.1.min(b.1),
        right: a.0.max(b.0) + 1,
        bottom: a.1.max(b.1) + 1,
    }
}

impl Engine2d for Engine {
    fn reset(&mut self) {
        *self = Engine::default();
    }

    fn owns(&self, offset: u32) -> bool {
        registers::owns(offset)
    }

    fn register_written(&mut self, port: &mut dyn Port, offset: u32, value: u32) {
        registers::written(self, port, offset, value);
    }

    fn is_packet(&self, opcode: u8) -> bool {
        packets::is_packet(opcode)
    }

    fn packet(&mut self, port: &mut dyn Port, opcode: u8, body: &[u32]) {
        packets::execute(self, port, opcode, body);
    }
}
