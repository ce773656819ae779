// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine: rectangles of pixels in the frame buffer, filled, copied, or made from data of the CPU.
//!
//! | file | what |
//! | --- | --- |
//! | this | registers, and the command that starts a blit |
//! | [`blit`] | a blit: what it reads and writes, row by row |
//! | [`host`] | rows of pixels from data of the CPU |
//! | [`surface`] | pixels in the frame buffer |
//!
//! Part I of the manual, which describes the engine, is not public. What is here is what public drivers rely on (decision
//! 11); a command with anything else is a finding and does nothing.

mod blit;
mod host;
mod surface;

use lapidary_model::machine::Machine;
use lapidary_model::rop::Rop3;
use lapidary_registers::chrome9::mmio::{
    self, bgcolor, clipbr, cliptl, dimension, dstbase, dstpos, fgcolor, gecmd, gemode, keycontrol,
    monopatfgc, pitch, srcbase, srcpos,
};

use self::blit::{Blit, Key, Pixels, Source};
use self::host::{Format, HostRows};
use self::surface::{Rect, Surface};
use crate::kind;

/// Registers of the engine.
const REGISTERS: usize = 0x200 / 4;

/// The engine.
pub struct Engine2d {
    registers: [u32; REGISTERS],
    /// A blit that waits for data of the CPU.
    pending: Option<(Blit, HostRows)>,
}

impl Default for Engine2d {
    fn default() -> Engine2d {
        Engine2d {
            registers: [0; REGISTERS],
            pending: None,
        }
    }
}

impl Engine2d {
    /// Return whether it is at work, which here is to wait for data.
    pub fn busy(&self) -> bool {
        self.pending.is_some()
    }

    /// Take a register write in the order of commands.
    pub fn write(&mut self, m: &mut Machine, offset: u32, value: u32) {
        let Some(register) = self.registers.get_mut(offset as usize / 4) else {
            return;
        };
        *register = value;
        if offset == mmio::GECMD {
            self.command(m, value);
        }
    }

    /// Take a dword of data of the CPU.
    ///
    /// What comes without need is dropped: viafb sends eight times as much as a monochrome picture has, and the engine
    /// bears it.
    pub fn host_data(&mut self, m: &mut Machine, value: u32) {
        let Some((blit, rows)) = &mut self.pending else {
            m.counters.add("host_data_dropped", 1);
            return;
        };
        rows.push(value);
        while let Some(row) = rows.next_row() {
            blit.row(m, Some(row));
        }
        if blit.done() {
            self.pending = None;
        }
    }

    fn get(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    /// Start what the command says.
    fn command(&mut self, m: &mut Machine, command: u32) {
        let mono = match gecmd::COMMAND.get(command) {
            gecmd::command::NOP => return,
            gecmd::command::BLT => false,
            gecmd::command::BLT_MONO => true,
            other => return unsupported(m, format_args!("command {other}")),
        };
        if self.pending.take().is_some() {
            m.finding(
                kind::HOST_DATA_MISSING,
                format_args!("GECMD = {command:#010x}"),
            );
        }
        if mono && !gecmd::MONO_SOURCE.any(command) {
            return unsupported(m, format_args!("command 2 without a monochrome source"));
        }
        let Some(mut blit) = self.blit(m, command) else {
            return;
        };
        m.counters.add(blit.counter(), 1);
        if m.trace.on() {
            m.trace.line(format_args!("2D {blit}"));
        }
        if let Source::Host(format) = blit.source {
            let rows = HostRows::new(format, blit.rect.width, blit.rect.height);
            self.pending = Some((blit, rows));
            return;
        }
        blit.judge_overlap(m);
        while !blit.done() {
            blit.row(m, None);
        }
    }

    /// Return the blit that registers and command describe, if it is one that public drivers start.
    fn blit(&self, m: &mut Machine, command: u32) -> Option<Blit> {
        const UNKNOWN: &[(lapidary_registers::Field, &str)] = &[
            (gecmd::QUICK_START, "QUICK_START"),
            (gecmd::DESTINATION_SYSTEM, "DESTINATION_SYSTEM"),
            (gecmd::DESTINATION_LINEAR, "DESTINATION_LINEAR"),
            (gecmd::SOURCE_LINEAR, "SOURCE_LINEAR"),
        ];
        if let Some((_, name)) = UNKNOWN.iter().find(|(field, _)| field.any(command)) {
            unsupported(m, format_args!("{name}"));
            return None;
        }
        let mode = self.get(mmio::GEMODE);
        let bytes = match gemode::DEPTH.get(mode) {
            gemode::depth::BPP_8 => 1,
            gemode::depth::BPP_16 => 2,
            gemode::depth::BPP_32 => 4,
            other => {
                m.finding(kind::RESERVED_VALUE, format_args!("GEMODE.DEPTH {other}"));
                return None;
            }
        };
        if gemode::ROTATION.any(mode) {
            unsupported(m, format_args!("rotation"));
            return None;
        }
        let rop = Rop3(gecmd::ROP.get(command) as u8);
        if rop.uses_pattern() && !gecmd::FIXED_COLOR_PATTERN.any(command) {
            unsupported(m, format_args!("a pattern that is not of one colour"));
            return None;
        }
        let size = self.get(mmio::DIMENSION);
        let (width, height) = (
            dimension::WIDTH.get(size) + 1,
            dimension::HEIGHT.get(size) + 1,
        );
        let pitches = self.get(mmio::PITCH);
        let surface = |base: u32, pitch: u32| Surface {
            base: u64::from(base) * 8,
            pitch: u64::from(pitch) * 8,
            bytes,
        };
        let target = surface(
            dstbase::ADDRESS.get(self.get(mmio::DSTBASE)),
            pitch::DESTINATION.get(pitches),
        );
        let (dec_x, dec_y) = (gecmd::DEC_X.any(command), gecmd::DEC_Y.any(command));
        let rect = |x: u32, y: u32| Rect {
            x: i64::from(x) - if dec_x { i64::from(width) - 1 } else { 0 },
            y: i64::from(y) - if dec_y { i64::from(height) - 1 } else { 0 },
            width,
            height,
        };
        let at = self.get(mmio::DSTPOS);
        let from = self.get(mmio::SRCPOS);
        let source = if !rop.uses_source() {
            Source::None
        } else {
            match (
                gecmd::SOURCE_SYSTEM.any(command),
                gecmd::MONO_SOURCE.any(command),
            ) {
                (false, false) => Source::FrameBuffer(Pixels {
                    surface: surface(
                        srcbase::ADDRESS.get(self.get(mmio::SRCBASE)),
                        pitch::SOURCE.get(pitches),
                    ),
                    x: rect(srcpos::X.get(from), 0).x,
                    y: rect(0, srcpos::Y.get(from)).y,
                }),
                (false, true) => {
                    unsupported(m, format_args!("a monochrome source in the frame buffer"));
                    return None;
                }
                (true, mono) => {
                    if from != 0 || dec_x || dec_y {
                        unsupported(
                            m,
                            format_args!("data of the CPU from {from:#x}, or backwards"),
                        );
                        return None;
                    }
                    Source::Host(if mono {
                        self.mono(m, command)?
                    } else {
                        Format::Color { bytes }
                    })
                }
            }
        };
        let pitch_is_zero = match &source {
            Source::FrameBuffer(pixels) => pixels.surface.pitch == 0,
            _ => false,
        } || target.pitch == 0;
        if pitch_is_zero && height > 1 {
            m.finding(kind::PITCH_ZERO, format_args!("{height} rows"));
        }
        let key = self.get(mmio::KEYCONTROL);
        let color = |set: bool, color| set.then_some(color);
        let clip = gecmd::CLIP_ENABLE.any(command).then(|| {
            let (first, last) = (self.get(mmio::CLIPTL), self.get(mmio::CLIPBR));
            (
                (
                    cliptl::LEFT.get(first).into(),
                    cliptl::TOP.get(first).into(),
                ),
                (
                    clipbr::RIGHT.get(last).into(),
                    clipbr::BOTTOM.get(last).into(),
                ),
            )
        });
        Some(Blit {
            rect: rect(dstpos::X.get(at), dstpos::Y.get(at)),
            upwards: dec_y,
            leftwards: dec_x,
            target,
            source,
            rop,
            pattern: monopatfgc::COLOR.get(self.get(mmio::MONOPATFGC)),
            clip,
            key: Key {
                source: color(
                    keycontrol::SOURCE_KEY.any(key),
                    bgcolor::COLOR.get(self.get(mmio::BGCOLOR)),
                ),
                destination: color(
                    keycontrol::DESTINATION_KEY.any(key),
                    fgcolor::COLOR.get(self.get(mmio::FGCOLOR)),
                ),
                inverted: keycontrol::INVERT_KEY.any(key),
                kept: keycontrol::BYTE_MASK.get(key),
            },
            drawn: 0,
        })
    }

    /// Return the format of a monochrome picture that the CPU sends.
    fn mono(&self, m: &mut Machine, command: u32) -> Option<Format> {
        let align = match gecmd::MONO_ALIGN.get(command) {
            _ if gecmd::MONO_PACK.any(command) => 1,
            gecmd::mono_align::DWORD => 32,
            gecmd::mono_align::WORD => 16,
            gecmd::mono_align::BYTE => 8,
            _ => {
                m.finding(kind::RESERVED_VALUE, format_args!("GECMD.MONO_ALIGN 3"));
                return None;
            }
        };
        let transparent = gecmd::MONO_SOURCE_TRANSPARENT.any(command);
        Some(Format::Mono {
            align,
            ones: fgcolor::COLOR.get(self.get(mmio::FGCOLOR)),
            zeroes: (!transparent).then(|| bgcolor::COLOR.get(self.get(mmio::BGCOLOR))),
        })
    }
}

fn unsupported(m: &mut Machine, what: std::fmt::Arguments<'_>) {
    m.finding(kind::ENGINE2D_UNSUPPORTED, what);
}
