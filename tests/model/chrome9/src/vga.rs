// SPDX-License-Identifier: GPL-2.0 OR MIT

//! VGA, at 8000h and the number of a port: registers that keep what is written. No mode is set by them, and no display is
//! scanned out.
//!
//! | port | what |
//! | --- | --- |
//! | 3C0h, 3C1h | attribute controller: index and data in turn at the first, data to be read at the second |
//! | 3C2h, 3CCh | miscellaneous output, written and read; without a monitor the sense at 3C2h is 0 |
//! | 3C3h | enable |
//! | 3C4h, 3C5h | sequencer, with the GART behind it ([`crate::gart`]) |
//! | 3C6h to 3C9h | palette: the last written byte of each port is kept, and no entries |
//! | 3CEh, 3CFh | graphics controller |
//! | 3D4h, 3D5h | CRT controller |
//! | 3DAh | status; a read makes the next write to 3C0h an index |

use std::ops::Range;
use std::time::Instant;

use lapidary_model::machine::Machine;
use lapidary_model::registers::{Space, Touched, judge_read, judge_write};
use lapidary_registers::chrome9::domain;
use lapidary_registers::chrome9::mmio::{
    self, vga_attribute, vga_crtc, vga_graphics, vga_sequencer, vga_status,
};
use lapidary_registers::{Domain, Field};

use crate::regs::{self, REGISTERS};
use crate::{CPU, Chrome9};

/// VGA registers by their port numbers, which programs access by bytes.
pub const PORTS: Range<u32> = 0x8000..0x9000;

/// Registers of 8 bits behind an index.
pub struct Indexed {
    registers: Space,
    index: u32,
}

impl Indexed {
    /// Return the registers of a domain.
    pub fn new(name: &'static str, domain: Domain) -> Indexed {
        Indexed {
            registers: Space::new(&REGISTERS, name, domain, "", 1, 0x100),
            index: 0,
        }
    }

    /// Lose everything.
    pub fn reset(&mut self) {
        self.registers.reset();
        self.index = 0;
    }

    /// Return the register that the index chooses.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Take the index.
    pub fn choose(&mut self, index: u32) {
        self.index = index;
    }

    /// Return a register.
    pub fn get(&self, register: u32) -> u32 {
        self.registers.get(register)
    }

    /// Serve a read of the chosen register.
    pub fn read(&mut self, m: &mut Machine) -> u32 {
        if judge_read(m, &mut self.registers, self.index, Some(CPU)) {
            self.registers.get(self.index)
        } else {
            0
        }
    }

    /// Serve a write of the chosen register, some of whose bits read as 0. Return whether it has an effect.
    pub fn write(&mut self, m: &mut Machine, value: u32, zeroes: u32) -> bool {
        let accepted = judge_write(m, &mut self.registers, self.index, value, Some(CPU));
        if accepted {
            self.registers.set(self.index, value & !zeroes);
        }
        accepted
    }

    /// Return a register by name.
    pub fn peek(&self, name: &str) -> Option<u32> {
        Some(self.registers.get(self.registers.find(name)?))
    }

    /// Return the registers that were touched.
    pub fn touched(&self) -> Vec<Touched> {
        self.registers.touched()
    }

    /// Serve a write of index or data, of which the mask says which bytes are written.
    fn write_port(&mut self, m: &mut Machine, [index, data]: [Field; 2], value: u32, mask: u32) {
        if index.any(mask) {
            self.choose(index.get(value));
        }
        if data.any(mask) {
            self.write(m, data.get(value), 0);
        }
    }

    /// Serve a read of index and data.
    fn read_port(&mut self, m: &mut Machine, [index, data]: [Field; 2]) -> u32 {
        index.of(self.index) | data.of(self.read(m))
    }
}

/// The registers but for the sequencer's.
pub struct Vga {
    attribute: Indexed,
    /// The next write to the attribute controller is data.
    data_next: bool,
    graphics: Indexed,
    crtc: Indexed,
}

impl Default for Vga {
    fn default() -> Vga {
        Vga {
            attribute: Indexed::new("attribute controller", domain::AR),
            data_next: false,
            graphics: Indexed::new("graphics controller", domain::GR),
            crtc: Indexed::new("CRT controller", domain::CRTC),
        }
    }
}

const ATTRIBUTE: [Field; 2] = [vga_attribute::INDEX, vga_attribute::DATA];
const SEQUENCER: [Field; 2] = [vga_sequencer::INDEX, vga_sequencer::DATA];
const GRAPHICS: [Field; 2] = [vga_graphics::INDEX, vga_graphics::DATA];
const CRTC: [Field; 2] = [vga_crtc::INDEX, vga_crtc::DATA];

/// In the index of the attribute controller: which register.
const ATTRIBUTE_INDEX: u32 = 0x1f;

impl Vga {
    /// Lose everything.
    pub fn reset(&mut self) {
        self.attribute.reset();
        self.data_next = false;
        self.graphics.reset();
        self.crtc.reset();
    }

    /// Return a register by name.
    pub fn peek(&self, name: &str) -> Option<u32> {
        self.spaces().into_iter().find_map(|s| s.peek(name))
    }

    /// Return the registers that were touched.
    pub fn touched(&self) -> Vec<Touched> {
        self.spaces()
            .into_iter()
            .flat_map(Indexed::touched)
            .collect()
    }

    fn spaces(&self) -> [&Indexed; 3] {
        [&self.attribute, &self.graphics, &self.crtc]
    }

    /// Take what is written to the port of the attribute controller.
    fn write_attribute(&mut self, m: &mut Machine, value: u32) {
        if self.data_next {
            self.attribute.write(m, value, 0);
        } else {
            self.attribute.choose(value & ATTRIBUTE_INDEX);
        }
        self.data_next = !self.data_next;
    }
}

impl Chrome9 {
    /// Serve a read of four ports.
    pub(crate) fn read_vga(&mut self, m: &mut Machine, offset: u32) -> u32 {
        let stored = regs::read(m, &mut self.regs, offset);
        let now = Instant::now();
        match offset {
            mmio::VGA_ATTRIBUTE => {
                let enable = stored & vga_attribute::ENABLE.mask();
                enable | self.vga.attribute.read_port(m, ATTRIBUTE)
            }
            mmio::VGA_SEQUENCER => stored | self.gart.sequencer.read_port(m, SEQUENCER),
            mmio::VGA_GRAPHICS => {
                let written = self.regs.get(mmio::VGA_ATTRIBUTE);
                vga_graphics::MISC_OUTPUT.of(vga_attribute::MISC_OUTPUT.get(written))
                    | self.vga.graphics.read_port(m, GRAPHICS)
            }
            mmio::VGA_CRTC => self.vga.crtc.read_port(m, CRTC),
            mmio::VGA_STATUS => {
                self.vga.data_next = false;
                let blank = u32::from(self.display.lit().0 && self.display.blanks(now));
                vga_status::BLANK.of(blank) | vga_status::RETRACE.of(blank)
            }
            _ => stored,
        }
    }

    /// Serve a write of some of four ports, which the mask chooses.
    pub(crate) fn write_vga(&mut self, m: &mut Machine, offset: u32, value: u32, mask: u32) {
        if !judge_write(m, &mut self.regs, offset, value, Some(CPU)) {
            return;
        }
        // What is behind an index is kept there.
        let pair: &[Field] = match offset {
            mmio::VGA_ATTRIBUTE => {
                if vga_attribute::INDEX.any(mask) {
                    self.vga.write_attribute(m, vga_attribute::INDEX.get(value));
                }
                &ATTRIBUTE
            }
            mmio::VGA_SEQUENCER => {
                if vga_sequencer::INDEX.any(mask) {
                    let index = vga_sequencer::INDEX.get(value);
                    self.gart.sequencer.choose(index);
                }
                if vga_sequencer::DATA.any(mask) {
                    self.gart.write(m, vga_sequencer::DATA.get(value));
                }
                &SEQUENCER
            }
            mmio::VGA_GRAPHICS => {
                self.vga.graphics.write_port(m, GRAPHICS, value, mask);
                &GRAPHICS
            }
            mmio::VGA_CRTC => {
                self.vga.crtc.write_port(m, CRTC, value, mask);
                &CRTC
            }
            _ => &[],
        };
        let behind = pair.iter().fold(0, |all, field| all | field.mask());
        let kept = mask & !behind;
        let stored = self.regs.get(offset);
        self.regs.set(offset, (value & kept) | (stored & !kept));
    }
}
