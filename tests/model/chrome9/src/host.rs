// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register accesses of the CPU, by what lies where in BAR1 (L531-533).
//!
//! | offset | what | a write |
//! | --- | --- | --- |
//! | 0h-1FFh | 2D engine | passes the command regulator |
//! | 200h-3FFh, 1200h-13FFh | video | acts at once |
//! | 400h-7FFh | command regulator and 3D engine | passes the command regulator |
//! | 8000h-8FFFh | VGA ([`crate::vga`]), by bytes | acts at once |
//! | 2200h-23FFh, 3200h-33FFh | video again | passes the command regulator |
//! | 200000h-3FFFFFh | data for the 2D engine | passes the command regulator |

use std::ops::Range;
use std::time::Instant;

use lapidary_model::machine::Machine;
use lapidary_model::registers::judge_write;
use lapidary_registers::chrome9::mmio::{self, engine_status};
use lapidary_registers::chrome9::mmio_read;

use crate::queue::Write;
use crate::regulator::{Source, Which};
use crate::{CPU, Chrome9, hqv, kind, regs, vga};

const ENGINE2D: Range<u32> = 0..0x200;
const REGULATOR: Range<u32> = 0x400..0x800;
/// Where reads find other registers than writes.
const READ_BACK: Range<u32> = 0x43c..0x700;
/// The second places of the video engines' registers, and how far they are from the first ones.
const ALIASES: [Range<u32>; 2] = [0x2200..0x2400, 0x3200..0x3400];
const ALIAS: u32 = 0x2000;
/// Registers of the regulator among those.
const VIDEO_WAITS: [u32; 2] = [mmio::COMMAND_ID_VIDEO, mmio::WAIT_CONTROL_VIDEO];
/// Data of the CPU for the 2D engine.
const HOST_DATA: Range<u32> = 0x20_0000..0x40_0000;

/// Return whether writes there pass the regulator by way of a second place of a video register.
pub fn is_alias(offset: u32) -> bool {
    ALIASES.iter().any(|range| range.contains(&offset)) && !VIDEO_WAITS.contains(&offset)
}

/// Return whether a register is one that makes video commands wait.
pub fn is_video_wait(offset: u32) -> bool {
    VIDEO_WAITS.contains(&offset)
}

/// Return the first place of a register.
pub fn canonical(offset: u32) -> u32 {
    if is_alias(offset) {
        offset - ALIAS
    } else {
        offset
    }
}

impl Chrome9 {
    /// Serve a read.
    pub(crate) fn read_register(&mut self, m: &mut Machine, offset: u32) -> u32 {
        let offset = canonical(offset);
        if vga::PORTS.contains(&offset) {
            return self.read_vga(m, offset);
        }
        if READ_BACK.contains(&offset) {
            let stored = regs::read(m, &mut self.reads, offset);
            return match self.reads.register(offset) {
                Some(_) if offset != mmio_read::FENCE_ID => self.read_fetcher(m, offset, stored),
                _ => stored,
            };
        }
        let now = Instant::now();
        self.blank(m, now);
        let stored = regs::read(m, &mut self.regs, offset);
        match offset {
            mmio::INTERRUPT_FLAGS_MASKS_CONTROL | mmio::ADDRESS_FLIP_STATUS => {
                stored | self.levels(offset, now)
            }
            mmio::ENGINE_STATUS => self.status(),
            o if mmio::HQV_CONTROL.index_of(o).is_some() => stored | hqv::IDLE,
            _ => stored,
        }
    }

    /// Serve a write.
    pub(crate) fn write_register(&mut self, m: &mut Machine, offset: u32, value: u32) {
        if HOST_DATA.contains(&offset) {
            self.accept(m, offset, value);
            return;
        }
        let place = canonical(offset);
        if !judge_write(m, &mut self.regs, place, value, Some(CPU)) {
            return;
        }
        let passes = [ENGINE2D, REGULATOR].iter().any(|r| r.contains(&place));
        if passes || place != offset || VIDEO_WAITS.contains(&offset) {
            if passes {
                // Reads find what was written last, also while the regulator has not taken it.
                self.regs.set(place, value);
            }
            self.accept(m, offset, value);
        } else {
            self.write_video(m, place, value);
        }
    }

    /// Put a write into the queue.
    fn accept(&mut self, m: &mut Machine, offset: u32, value: u32) {
        if let Some(oldest) = self.queue.push(Write { offset, value }) {
            self.execute(m, oldest);
        }
    }

    /// Do what a write does that has passed the queue.
    pub(crate) fn execute(&mut self, m: &mut Machine, Write { offset, value }: Write) {
        match offset {
            mmio::COMMAND_ID_2D_3D | mmio::COMMAND_ID_VIDEO => self.command_id(m, value),
            mmio::WAIT_CONTROL_2D_3D | mmio::WAIT_CONTROL_VIDEO => {
                self.wait(m, offset, value, Instant::now());
            }
            o if ENGINE2D.contains(&o) => self.engine2d.write(m, o, value),
            o if HOST_DATA.contains(&o) => self.engine2d.host_data(m, value),
            mmio::CR_SETTING => self.set_window(m, Source::Host, Which::Regulator, value),
            mmio::SETTING_3D => self.set_window(m, Source::Host, Which::Engine3d, value),
            o if mmio::CR_SPACE.index_of(o).is_some() => {
                self.parameter(m, Source::Host, Which::Regulator, value);
            }
            o if mmio::SPACE_3D.index_of(o).is_some() => {
                self.parameter(m, Source::Host, Which::Engine3d, value);
            }
            o if is_alias(o) => self.write_video(m, canonical(o), value),
            _ => m.finding(
                kind::UNDEFINED_REGISTER_WRITE,
                format_args!("{offset:#06x} = {value:#010x} by the regulator"),
            ),
        }
    }

    /// Write a register of display, capture or HQV.
    fn write_video(&mut self, m: &mut Machine, offset: u32, value: u32) {
        match offset {
            mmio::INTERRUPT_FLAGS_MASKS_CONTROL => self.write_interrupts(m, value),
            mmio::INTERRUPT_FLAGS_MASKS_CONTROL_2 => self.write_interrupts_2(m, value),
            mmio::ADDRESS_FLIP_STATUS => self.write_flip_status(m, value),
            mmio::AGP_PAUSE_ADDRESS_PORT => {
                self.regs.set(offset, value);
                self.move_pause_to(m, value);
            }
            _ => {
                if let Some(engine) = mmio::HQV_CONTROL.index_of(offset) {
                    self.write_hqv(m, engine, value);
                    return;
                }
                self.regs.set(offset, value);
                self.flip(offset);
            }
        }
    }

    /// Return what is at work.
    fn status(&self) -> u32 {
        let mut status = 0;
        if !self.queue.is_empty() {
            status |= engine_status::QUEUE_BUSY.mask() | engine_status::CR_BUSY.mask();
        }
        if self.fetcher.busy() || self.stalled.is_some() {
            status |= engine_status::CR_BUSY.mask();
        }
        if self.engine2d.busy() {
            status |= engine_status::BUSY_2D.mask();
        }
        status
    }
}
