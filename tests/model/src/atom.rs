// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A minimal ATOM expansion ROM, made from documented structure facts.
//!
//! A Radeon's ROM is an ordinary PCI expansion ROM (signature, PCIR structure, checksum) that also holds an "ATOM" header:
//! two master lists of 16-bit pointers, one to command tables (byte code that a driver interprets) and one to data tables.
//! Offsets and structures are those of the public `atombios.h` and of the reader in Linux's `atom.c`: only what a driver
//! cannot do without is there, which means that no display output is described and a driver comes up without any.
//!
//! | place | content |
//! | --- | --- |
//! | 0x00 | 55 AA, length in 512-byte units, a far return for whoever calls the entry point |
//! | 0x18 | pointer to PCIR; 0x30 the vendor's magic number; 0x48 pointer to the ATOM header |
//! | data table 4 | FirmwareInfo 1.1: default and limit clocks, in units of 10 kHz |
//! | data table 23 | IndirectIOAccess: an empty list |
//! | command table 0 | ASIC_Init: the register writes that post the card, then end of table |

/// Size of the image in bytes.
const SIZE: usize = 4096;

const PCIR: usize = 0x60;
const HEADER: usize = 0x80;
const NAME: usize = 0xb0;
const COMMAND_LIST: usize = 0x100;
const DATA_LIST: usize = 0x200;
const FIRMWARE_INFO: usize = 0x280;
const INDIRECT_IO: usize = 0x2e0;
const ASIC_INIT: usize = 0x300;

/// Entries of the two master lists, as the last documented version has them.
const COMMANDS: usize = 81;
const DATAS: usize = 34;

/// Index of FirmwareInfo among the data tables.
const DATA_FIRMWARE_INFO: usize = 4;
/// Index of IndirectIOAccess among the data tables.
const DATA_INDIRECT_IO: usize = 23;

/// Byte code: move a 32-bit immediate (source type 5) to a register.
const OP_MOVE_REGISTER: u8 = 1;
const SOURCE_IMMEDIATE: u8 = 5;
/// Byte code: end of table.
const OP_END: u8 = 91;

/// What goes into an image.
pub struct Image {
    device: u16,
    posting: Vec<(u32, u32)>,
}

impl Image {
    /// An image for that PCI device whose ASIC_Init does nothing.
    pub fn new(device: u16) -> Image {
        Image {
            device,
            posting: Vec::new(),
        }
    }

    /// Lets ASIC_Init write these registers (byte offset, value), in order. At most 256 writes are kept.
    pub fn posting(mut self, writes: &[(u32, u32)]) -> Image {
        self.posting = writes.iter().copied().take(256).collect();
        self
    }

    /// The bytes, with a valid checksum; a multiple of 512.
    pub fn build(&self) -> Vec<u8> {
        let mut rom = vec![0; SIZE];
        put(&mut rom, 0, &[0x55, 0xaa, (SIZE / 512) as u8, 0xcb]);
        put16(&mut rom, 0x18, PCIR);
        put(&mut rom, 0x30, b" 761295520");
        put16(&mut rom, 0x48, HEADER);

        put(&mut rom, PCIR, b"PCIR");
        put16(&mut rom, PCIR + 0x04, 0x1002);
        put16(&mut rom, PCIR + 0x06, self.device.into());
        put16(&mut rom, PCIR + 0x0a, 0x18);
        put(&mut rom, PCIR + 0x0d, &[0x00, 0x80, 0x03]);
        put16(&mut rom, PCIR + 0x10, SIZE / 512);
        rom[PCIR + 0x15] = 0x80; // last image; the code type before it is 0, x86

        table(&mut rom, HEADER, 0x24, 1, 1);
        put(&mut rom, HEADER + 0x04, b"ATOM");
        put16(&mut rom, HEADER + 0x10, NAME);
        put16(&mut rom, HEADER + 0x18, 0x1002);
        put16(&mut rom, HEADER + 0x1a, self.device.into());
        put16(&mut rom, HEADER + 0x1e, COMMAND_LIST);
        put16(&mut rom, HEADER + 0x20, DATA_LIST);
        put(&mut rom, NAME, b"Lapidary.model");

        table(&mut rom, COMMAND_LIST, 4 + 2 * COMMANDS, 1, 1);
        put16(&mut rom, COMMAND_LIST + 4, ASIC_INIT);
        table(&mut rom, DATA_LIST, 4 + 2 * DATAS, 1, 1);
        put16(
            &mut rom,
            DATA_LIST + 4 + 2 * DATA_FIRMWARE_INFO,
            FIRMWARE_INFO,
        );
        put16(&mut rom, DATA_LIST + 4 + 2 * DATA_INDIRECT_IO, INDIRECT_IO);

        firmware_info(&mut rom);
        table(&mut rom, INDIRECT_IO, 8, 1, 1);
        self.asic_init(&mut rom);

        let sum = rom.iter().fold(0u8, |a, b| a.wrapping_add(*b));
        rom[SIZE - 1] = sum.wrapping_neg();
        rom
    }

    fn asic_init(&self, rom: &mut [u8]) {
        let mut code = Vec::new();
        for (register, value) in &self.posting {
            code.extend_from_slice(&[OP_MOVE_REGISTER, SOURCE_IMMEDIATE]);
            code.extend_from_slice(&((register / 4) as u16).to_le_bytes());
            code.extend_from_slice(&value.to_le_bytes());
        }
        code.push(OP_END);
        // A command table has two more header bytes, the sizes of its work and parameter space.
        table(rom, ASIC_INIT, 6 + code.len(), 1, 1);
        put(rom, ASIC_INIT + 6, &code);
    }
}

/// FirmwareInfo 1.1. Clocks are plausible for an RV515 and mean nothing to the model.
fn firmware_info(rom: &mut [u8]) {
    let at = FIRMWARE_INFO;
    table(rom, at, 0x5c, 1, 1);
    let dwords = [
        (0x08, 45_000),  // default engine clock
        (0x0c, 25_000),  // default memory clock
        (0x10, 45_000),  // target engine clock
        (0x14, 25_000),  // target memory clock
        (0x18, 120_000), // engine PLL output limit
        (0x1c, 120_000), // memory PLL output limit
        (0x20, 120_000), // pixel PLL output limit
        (0x24, 45_000),
        (0x28, 25_000),
    ];
    for (o, v) in dwords {
        put(rom, at + o, &u32::to_le_bytes(v));
    }
    let words = [
        (0x3c, 100), // engine PLL input, low and high
        (0x3e, 1350),
        (0x40, 60_000), // engine PLL output, low
        (0x42, 100),
        (0x44, 1350),
        (0x46, 60_000),
        (0x48, 40_000), // pixel clock limit
        (0x4a, 100),
        (0x4c, 1350),
        (0x4e, 60_000),
        (0x52, 2_700), // reference clock, 27 MHz
    ];
    for (o, v) in words {
        put16(rom, at + o, v);
    }
}

fn table(rom: &mut [u8], at: usize, size: usize, format: u8, content: u8) {
    put16(rom, at, size);
    put(rom, at + 2, &[format, content]);
}

fn put(rom: &mut [u8], at: usize, bytes: &[u8]) {
    rom[at..at + bytes.len()].copy_from_slice(bytes);
}

fn put16(rom: &mut [u8], at: usize, value: usize) {
    put(rom, at, &(value as u16).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(rom: &[u8], at: usize) -> usize {
        usize::from(u16::from_le_bytes([rom[at], rom[at + 1]]))
    }

    #[test]
    fn a_reader_finds_its_way() {
        let rom = Image::new(0x7142).build();
        assert_eq!(rom[..2], [0x55, 0xaa]);
        assert_eq!(usize::from(rom[2]) * 512, rom.len());
        assert_eq!(rom.iter().fold(0u8, |a, b| a.wrapping_add(*b)), 0);
        let pcir = word(&rom, 0x18);
        assert_eq!(&rom[pcir..pcir + 4], b"PCIR");
        assert_eq!(
            (word(&rom, pcir + 4), word(&rom, pcir + 6), rom[pcir + 0x14]),
            (0x1002, 0x7142, 0)
        );
        let header = word(&rom, 0x48);
        assert_eq!(&rom[header + 4..header + 8], b"ATOM");
        let data = word(&rom, header + 0x20);
        let info = word(&rom, data + 4 + 2 * 4);
        assert_eq!(word(&rom, info + 0x52), 2700);
        assert_ne!(word(&rom, info + 8), 0);
        assert_ne!(word(&rom, info + 12), 0);
        let iio = word(&rom, data + 0x32);
        assert_ne!(rom[iio + 4], 1, "the list of indirect accesses is empty");
    }

    #[test]
    fn asic_init_ends() {
        let rom = Image::new(0x7142).posting(&[(0xf8, 0x1000_0000)]).build();
        let list = word(&rom, word(&rom, 0x48) + 0x1e);
        let init = word(&rom, list + 4);
        assert_eq!(rom[init + 6..init + 14], [1, 5, 0x3e, 0, 0, 0, 0, 0x10]);
        assert_eq!(rom[init + 14], 91);
        assert_eq!(word(&rom, init), 6 + 9);
    }
}
