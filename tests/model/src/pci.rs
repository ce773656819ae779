// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PCI: what a function is, by the table of its family, and its configuration space.
//!
//! A device has one function or several, each with configuration space, windows and an interrupt of its own. QEMU
//! emulates most of what the guest writes to configuration space (BARs, MSI); the model needs the command register and
//! the power state.

use std::ops::Range;

/// Offsets in configuration space that the model itself looks at (PCI Local Bus Specification 3.0, 6.1).
mod at {
    pub const COMMAND: usize = 0x04;
    pub const HEADER: usize = 0x0e;
    pub const BAR: usize = 0x10;
    pub const ROM: usize = 0x30;
}

const COMMAND_MASTER: u16 = 1 << 2;
const COMMAND_INTX_DISABLE: u16 = 1 << 10;
/// In the header type: the device has several functions.
const MULTIFUNCTION: u8 = 0x80;

/// What a function is.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Vendor, of card and chip.
    pub vendor: u16,
    /// Device, of card and chip.
    pub device: u16,
    /// Revision.
    pub revision: u8,
    /// Base class, sub-class and programming interface, 8 bits each from the highest.
    pub class: u32,
    /// Its windows.
    pub bars: Vec<Bar>,
    /// Its capabilities, in the order of their list.
    pub capabilities: Vec<Capability>,
    /// What only this device has in configuration space: words of 16 bits, each as offset, value and writable bits.
    pub words: Vec<(u8, u16, u16)>,
    /// How it interrupts by MSI; it has INTA# in any case.
    pub msi: Msi,
    /// The expansion ROM: empty, or a power of two of bytes.
    pub rom: Vec<u8>,
    /// Its power state and its reset are the whole chip's. Of another function they are its own affair.
    pub powers: bool,
}

/// How MSI follows the chip's interrupt output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Msi {
    /// Not at all: the function has none.
    #[default]
    None,
    /// One vector; each rise of the output sends.
    Edge,
    /// One vector; after it has sent, nothing is sent until the driver re-arms it.
    Rearmed,
}

/// A window onto the device.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Which one, 0 to 5. One of 64 bits also takes the next.
    pub index: u8,
    /// Bytes, a power of two; at most 256 of I/O ports.
    pub size: u64,
    /// In which space the CPU sees it.
    pub kind: BarKind,
    /// What is behind it.
    pub window: Window,
}

/// In which space the CPU sees a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarKind {
    /// Memory, by a 32-bit address.
    Memory32,
    /// The same, without side effects of reads.
    Prefetchable32,
    /// Memory, by a 64-bit address.
    Memory64,
    /// The same, without side effects of reads.
    Prefetchable64,
    /// I/O ports.
    Io,
}

/// What is behind a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Window {
    /// The card's memory, from its beginning. QEMU maps it, unless the model is to see each access.
    Memory,
    /// Registers.
    Registers {
        /// The register at the window's beginning: windows of several functions may show different ones.
        first: u32,
        /// The registers that are commonly accessed by bytes: VGA, index/data pairs, clocks.
        bytes: Range<u32>,
    },
    /// Doorbells.
    Doorbells,
}

/// A capability: what stands in configuration space, and what of it can be written.
#[derive(Clone, Debug)]
pub struct Capability {
    at: u8,
    id: u8,
    /// Words of 16 bits: offset from the capability's beginning, value, writable bits.
    words: Vec<(u8, u16, u16)>,
}

impl Capability {
    /// Numbers of the capabilities that the model knows more of (PCI Local Bus Specification 3.0, appendix H).
    const POWER: u8 = 0x01;
    /// Where the power state is.
    const PMCSR: u8 = 4;

    /// Return any capability. `at` is where it begins, and `id` its number. `words` are words of 16 bits, each as
    /// offset from there, value and writable bits. Words that are not listed are zero and cannot be written.
    pub fn new(at: u8, id: u8, words: &[(u8, u16, u16)]) -> Capability {
        Capability {
            at,
            id,
            words: words.into(),
        }
    }

    /// Return power management 1.2, with D1 and D2 supported, and without No_Soft_Reset.
    pub fn power(at: u8) -> Capability {
        Capability::new(at, Self::POWER, &[(2, 0x0602, 0), (Self::PMCSR, 0, 3)])
    }

    /// Return PCI Express, version 1 endpoint, with payloads of 128 bytes and a link of 2.5 GT/s and 16 lanes.
    pub fn express(at: u8) -> Capability {
        Capability::new(
            at,
            0x10,
            &[
                (2, 0x0001, 0),
                (4, 0x0fa0, 0),
                (8, 0x0810, 0x78ff),
                (12, 0x1d01, 0),
                (14, 0x0003, 0),
                (16, 0x0000, 0x01fb),
                (18, 0x1101, 0),
            ],
        )
    }

    /// Return MSI with one vector and a 64-bit address.
    pub fn msi(at: u8) -> Capability {
        Capability::new(
            at,
            0x05,
            &[
                (2, 0x0080, 0x0071),
                (4, 0, 0xfffc),
                (6, 0, 0xffff),
                (8, 0, 0xffff),
                (10, 0, 0xffff),
                (12, 0, 0xffff),
            ],
        )
    }
}

/// 256 bytes of configuration space and which of their bits can be written.
pub struct Config {
    bytes: [u8; 256],
    writable: [u8; 256],
    /// Power-on values, for a reset.
    initial: [u8; 256],
    /// Where the power state is, if the function can sleep.
    power: Option<usize>,
}

impl Config {
    /// Return the power-on state of a function, one of several if so said.
    pub fn new(facts: &Facts, several: bool) -> Config {
        let mut c = Config {
            bytes: [0; 256],
            writable: [0; 256],
            initial: [0; 256],
            power: None,
        };
        c.put16(0x00, facts.vendor);
        c.put16(0x02, facts.device);
        c.bytes[0x08] = facts.revision;
        c.bytes[0x09..0x0c].copy_from_slice(&facts.class.to_le_bytes()[..3]);
        c.bytes[at::HEADER] = if several { MULTIFUNCTION } else { 0 };
        c.put16(0x2c, facts.vendor);
        c.put16(0x2e, facts.device);
        c.bytes[0x3d] = 1; // INTA#
        c.allow16(at::COMMAND, 0x0547);
        c.writable[0x0c] = 0xff; // cache line size
        c.writable[0x3c] = 0xff; // interrupt line
        for bar in &facts.bars {
            c.bar(bar);
        }
        if !facts.rom.is_empty() {
            c.allow32(at::ROM, !(facts.rom.len() as u32 - 1) | 1);
        }
        for (offset, value, writable) in &facts.words {
            c.put16(usize::from(*offset), *value);
            c.allow16(usize::from(*offset), *writable);
        }
        let mut link = 0x34;
        for capability in &facts.capabilities {
            let at = usize::from(capability.at);
            c.put16(0x06, 0x0010); // capabilities list
            c.bytes[link] = capability.at;
            c.bytes[at] = capability.id;
            link = at + 1;
            for (offset, value, writable) in &capability.words {
                c.put16(at + usize::from(*offset), *value);
                c.allow16(at + usize::from(*offset), *writable);
            }
            if capability.id == Capability::POWER {
                c.power = Some(at + usize::from(Capability::PMCSR));
            }
        }
        c.initial = c.bytes;
        c
    }

    /// Read bytes; beyond the 256 there are zeroes, as in the extended space of a function without such capabilities.
    pub fn read(&self, offset: usize, data: &mut [u8]) {
        for (i, b) in data.iter_mut().enumerate() {
            *b = offset
                .checked_add(i)
                .and_then(|o| self.bytes.get(o))
                .copied()
                .unwrap_or(0);
        }
    }

    /// Write bytes; only writable bits change.
    pub fn write(&mut self, offset: usize, data: &[u8]) {
        for (i, b) in data.iter().enumerate() {
            let Some(o) = offset.checked_add(i).filter(|o| *o < 256) else {
                return;
            };
            let mask = self.writable[o];
            self.bytes[o] = self.bytes[o] & !mask | b & mask;
        }
    }

    /// Return to the power-on state.
    pub fn reset(&mut self) {
        self.bytes = self.initial;
    }

    /// Return whether the function may go to the bus by itself.
    #[inline]
    pub fn bus_master(&self) -> bool {
        self.command() & COMMAND_MASTER != 0
    }

    /// Return whether the driver has forbidden INTx.
    pub fn intx_disabled(&self) -> bool {
        self.command() & COMMAND_INTX_DISABLE != 0
    }

    /// Return the power state, 0 for D0 to 3 for D3hot; 0 of a function that cannot sleep.
    #[inline]
    pub fn power_state(&self) -> u8 {
        self.power.map_or(0, |at| self.bytes[at] & 3)
    }

    #[inline]
    fn command(&self) -> u16 {
        u16::from_le_bytes([self.bytes[at::COMMAND], self.bytes[at::COMMAND + 1]])
    }

    fn put16(&mut self, o: usize, v: u16) {
        self.bytes[o..o + 2].copy_from_slice(&v.to_le_bytes());
    }

    fn put32(&mut self, o: usize, v: u32) {
        self.bytes[o..o + 4].copy_from_slice(&v.to_le_bytes());
    }

    fn allow16(&mut self, o: usize, v: u16) {
        self.writable[o..o + 2].copy_from_slice(&v.to_le_bytes());
    }

    fn allow32(&mut self, o: usize, v: u32) {
        self.writable[o..o + 4].copy_from_slice(&v.to_le_bytes());
    }

    fn bar(&mut self, bar: &Bar) {
        let o = at::BAR + usize::from(bar.index) * 4;
        let mask = !(bar.size - 1);
        let (flags, wide) = match bar.kind {
            BarKind::Io => (0x1, false),
            BarKind::Memory32 => (0x0, false),
            BarKind::Prefetchable32 => (0x8, false),
            BarKind::Memory64 => (0x4, true),
            BarKind::Prefetchable64 => (0xc, true),
        };
        self.put32(o, flags);
        self.allow32(o, mask as u32);
        if wide {
            self.allow32(o + 4, (mask >> 32) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return a card with two windows of memory and one of ports, that sleeps and sends MSI.
    fn card() -> Config {
        let bar = |index, size, kind| Bar {
            index,
            size,
            kind,
            window: Window::Memory,
        };
        let facts = Facts {
            vendor: 0x1002,
            bars: vec![
                bar(0, 0x1000_0000, BarKind::Prefetchable64),
                bar(2, 0x1_0000, BarKind::Memory64),
                bar(4, 0x100, BarKind::Io),
            ],
            capabilities: vec![
                Capability::power(0x50),
                Capability::express(0x58),
                Capability::msi(0xa0),
            ],
            ..Facts::default()
        };
        Config::new(&facts, false)
    }

    fn read32(c: &Config, o: usize) -> u32 {
        let mut b = [0; 4];
        c.read(o, &mut b);
        u32::from_le_bytes(b)
    }

    #[test]
    fn bars_size_and_keep_their_type() {
        let mut c = card();
        c.write(0x10, &[0xff; 8]);
        c.write(0x18, &[0xff; 8]);
        c.write(0x20, &[0xff; 4]);
        assert_eq!(read32(&c, 0x10), 0xf000_000c);
        assert_eq!(read32(&c, 0x14), 0xffff_ffff);
        assert_eq!(read32(&c, 0x18), 0xffff_0004);
        assert_eq!(read32(&c, 0x20), 0xffff_ff01);
        c.reset();
        assert_eq!(read32(&c, 0x10), 0xc);
    }

    #[test]
    fn capabilities_are_linked() {
        let c = card();
        let mut at = read32(&c, 0x34) as usize & 0xff;
        let mut ids = vec![];
        while at != 0 {
            let word = read32(&c, at);
            ids.push(word & 0xff);
            at = (word as usize >> 8) & 0xff;
        }
        assert_eq!(ids, [0x01, 0x10, 0x05]);
    }

    #[test]
    fn identity_cannot_be_written_and_command_can() {
        let mut c = card();
        c.write(0, &[0; 4]);
        assert_eq!(read32(&c, 0) & 0xffff, 0x1002);
        assert!(!c.bus_master());
        c.write(4, &[4, 4]);
        assert!(c.bus_master() && c.intx_disabled());
        c.write(255, &[1, 2, 3]);
        let mut b = [9; 4];
        c.read(usize::MAX, &mut b);
        assert_eq!(b[1..], [0, 0, 0]);
    }

    #[test]
    fn a_function_has_what_its_table_says_and_no_more() {
        let facts = Facts {
            class: 0x06_04_01,
            bars: vec![Bar {
                index: 1,
                size: 0x1000,
                kind: BarKind::Prefetchable32,
                window: Window::Doorbells,
            }],
            words: vec![(0xa0, 0x6123, 0x00ff)],
            ..Facts::default()
        };
        let mut c = Config::new(&facts, true);
        for bar in 0..6 {
            c.write(0x10 + bar * 4, &[0xff; 4]);
        }
        let bars: Vec<_> = (0..6).map(|bar| read32(&c, 0x10 + bar * 4)).collect();
        assert_eq!(bars, [0, 0xffff_f008, 0, 0, 0, 0]);
        c.write(0xa0, &[0; 4]);
        assert_eq!(read32(&c, 0xa0), 0x6100, "one byte of the word is writable");
        assert_eq!(read32(&c, 8), 0x0604_0100);
        assert_eq!(read32(&c, 0xc) & 0xff_0000, 0x80_0000, "one of several");
        assert_eq!(read32(&c, 4) & 0x10_0000, 0, "no capabilities");
        c.write(0x54, &[3]);
        assert_eq!(c.power_state(), 0, "it cannot sleep");
    }
}
