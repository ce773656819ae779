// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The data tables about clocks, power states and the firmware's memory.
//!
//! All frequencies are in units of 10 kHz, as everywhere in ATOM. Layouts are those of the public `atombios.h`.

use super::image::{Image, data};

/// The reference crystal: 27 MHz.
pub const REFERENCE: u32 = 2_700;

/// What a board runs at.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    /// Engine clock.
    pub engine: u32,
    /// Memory clock; data comes twice in each.
    pub memory: u32,
}

/// What the PLLs can do; the same for the whole family.
mod limit {
    pub const INPUT: (u16, u16) = (100, 1_350);
    pub const OUTPUT: (u16, u32) = (60_000, 120_000);
    pub const PIXEL: u16 = 40_000;
}

/// Add FirmwareInfo 1.1, PowerPlayInfo 2.1 and VRAM_UsageByFirmware to an image.
///
/// There are two power states: half of the engine clock, and all of it, which is the default; the memory keeps its
/// clock. The firmware asks for no VRAM.
pub fn describe(image: Image, clocks: Clocks) -> Image {
    image
        .data(data::FIRMWARE_INFO, 1, 1, &firmware_info(clocks))
        .data(data::POWER_PLAY, 2, 1, &power_play(clocks))
        .data(data::VRAM_USAGE, 1, 1, &vram_usage())
}

fn firmware_info(clocks: Clocks) -> Vec<u8> {
    let (low_out, high_out) = limit::OUTPUT;
    let mut t = Body::default();
    t.dword(0x0001_0000) // revision of the firmware
        .dword(clocks.engine) // default
        .dword(clocks.memory)
        .dword(clocks.engine) // target of the driver
        .dword(clocks.memory)
        .dword(high_out) // PLL outputs: engine, memory, pixel
        .dword(high_out)
        .dword(high_out)
        .dword(clocks.engine) // highest
        .dword(clocks.memory)
        .dword(0) // temperature: not known
        .zeros(12); // the firmware's own
    for pixel in [false, false, true] {
        if pixel {
            t.word(limit::PIXEL);
        }
        t.word(limit::INPUT.0).word(limit::INPUT.1).word(low_out);
    }
    t.word(0) // capabilities: none
        .word(REFERENCE as u16)
        .zeros(5); // no stream for power management, no design or memory module number
    t.bytes
}

fn power_play(clocks: Clocks) -> Vec<u8> {
    let states = [clocks.engine / 2, clocks.engine];
    let entry = |engine: u32| {
        let mut t = Body::default();
        t.dword(0) // nothing but the clocks changes
            .dword(0)
            .dword(engine)
            .dword(clocks.memory)
            .zeros(4) // voltage, panel, temperatures
            .byte(16); // lanes
        t.bytes
    };
    let mut t = Body::default();
    // No controller for temperature.
    t.zeros(4)
        .byte(entry(0).len() as u8)
        .byte(states.len() as u8);
    for engine in states {
        t.bytes.extend(entry(engine));
    }
    t.bytes
}

fn vram_usage() -> Vec<u8> {
    let mut t = Body::default();
    t.dword(0).word(0).word(0); // from KiB 0, 0 KiB
    t.bytes
}

/// A data table's content.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
}

impl Body {
    fn byte(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    fn word(&mut self, value: u16) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn dword(&mut self, value: u32) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn zeros(&mut self, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len() + count, 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets from the start of the table's header, as `atom.h` and `atombios.h` have them.
    #[test]
    fn firmware_info_has_the_public_layout() {
        let mut t = vec![0; 4];
        t.extend(firmware_info(Clocks {
            engine: 45_000,
            memory: 25_000,
        }));
        let word = |at: usize| u16::from_le_bytes([t[at], t[at + 1]]);
        let dword = |at: usize| u32::from(word(at)) | (u32::from(word(at + 2)) << 16);
        assert_eq!((dword(0x08), dword(0x0c)), (45_000, 25_000));
        assert_eq!(
            (dword(0x18), dword(0x1c), dword(0x20)),
            (120_000, 120_000, 120_000)
        );
        assert_eq!((dword(0x24), dword(0x28)), (45_000, 25_000));
        assert_eq!((word(0x3c), word(0x3e), word(0x40)), (100, 1350, 60_000));
        assert_eq!((word(0x42), word(0x44), word(0x46)), (100, 1350, 60_000));
        assert_eq!(word(0x48), 40_000);
        assert_eq!((word(0x4a), word(0x4c), word(0x4e)), (100, 1350, 60_000));
        assert_eq!(word(0x52), 2_700);
        assert_eq!(t.len(), 0x59);
    }

    #[test]
    fn the_last_power_state_is_the_default() {
        let t = power_play(Clocks {
            engine: 45_000,
            memory: 25_000,
        });
        let (size, count) = (usize::from(t[4]), usize::from(t[5]));
        assert_eq!((size, count), (21, 2));
        assert_eq!(t.len(), 6 + size * count);
        let engine = |state: usize| {
            let at = 6 + state * size + 8;
            u32::from_le_bytes([t[at], t[at + 1], t[at + 2], t[at + 3]])
        };
        assert_eq!((engine(0), engine(1)), (22_500, 45_000));
    }
}
