// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ROM image around the tables.
//!
//! | place | content |
//! | --- | --- |
//! | 0x00 | 55 AA, length in 512-byte units, a far return for a caller of the entry point |
//! | 0x18 | pointer to PCIR; 0x30 the vendor's magic number; 0x48 pointer to the ATOM header |
//! | 0x60 | PCIR: vendor, device, class, length, "last image" |
//! | 0x80 | ATOM header: pointers to the card's name and to the two master lists |
//! | 0x100 | master list of command tables, and that of data tables: 16-bit pointers, 0 for a table that is not there |
//! | behind | the tables, each with its size and revision at its start |
//!
//! The bytes add up to 0 modulo 256.

use std::collections::BTreeMap;

use super::port::{self, Port};

/// Command tables by their public numbers (`atom-names.h` in Linux).
pub mod command {
    /// Posts the card. Parameters: engine and memory clock in units of 10 kHz.
    pub const ASIC_INIT: u8 = 0;
    /// First part of posting: registers that need no order.
    pub const REGISTERS_INIT: u8 = 2;
    /// Memory controller: width, place and size of VRAM.
    pub const MEMORY_CONTROLLER_INIT: u8 = 5;
    /// Parameter: engine clock in units of 10 kHz, in bits 23:0.
    pub const SET_ENGINE_CLOCK: u8 = 10;
    /// Parameter: memory clock in units of 10 kHz, in bits 23:0.
    pub const SET_MEMORY_CLOCK: u8 = 11;
    /// Parameter: 1 lets idle blocks stop their clocks, 0 does not.
    pub const DYNAMIC_CLOCK_GATING: u8 = 13;
    /// Gives the memory clock in units of 10 kHz.
    pub const GET_MEMORY_CLOCK: u8 = 47;
    /// Gives the engine clock in units of 10 kHz.
    pub const GET_ENGINE_CLOCK: u8 = 48;
}

/// Data tables by their places in the master list (`atombios.h` in Linux).
pub mod data {
    /// Clocks.
    pub const FIRMWARE_INFO: usize = 4;
    /// Memory that the command tables may use.
    pub const VRAM_USAGE: usize = 11;
    /// Power states.
    pub const POWER_PLAY: usize = 15;
    /// Ports.
    pub const INDIRECT_IO: usize = 23;
}

/// Entries of the two master lists, as the last documented version has them.
const COMMANDS: usize = 81;
const DATAS: usize = 34;

const PCIR: usize = 0x60;
const HEADER: usize = 0x80;
const HEADER_SIZE: usize = 0x24;
const NAME: usize = 0xb0;
const NAME_SIZE: usize = 0x100 - NAME;
const LISTS: usize = 0x100;

/// PCI vendor.
const ATI: usize = 0x1002;

/// What goes into an image.
pub struct Image {
    device: u16,
    name: String,
    commands: BTreeMap<u8, Vec<u8>>,
    datas: BTreeMap<usize, Vec<u8>>,
}

impl Image {
    /// Return an image for that PCI device, without tables but an empty list of ports.
    pub fn new(device: u16) -> Image {
        let image = Image {
            device,
            name: "Lapidary.model".into(),
            commands: BTreeMap::new(),
            datas: BTreeMap::new(),
        };
        image.ports(&[])
    }

    /// Return the name that a driver prints: letters, digits and dots.
    pub fn name(mut self, name: &str) -> Image {
        self.name = name.chars().take(NAME_SIZE - 1).collect();
        self
    }

    /// Add a command table as [`super::code::Code::build`] makes them.
    pub fn command(mut self, number: u8, table: Vec<u8>) -> Image {
        self.commands.insert(number, table);
        self
    }

    /// Add a data table of that format and content revision; `body` is what follows its header of four bytes.
    pub fn data(mut self, number: usize, format: u8, content: u8, body: &[u8]) -> Image {
        let size = (4 + body.len()) as u16;
        let mut table = size.to_le_bytes().to_vec();
        table.extend_from_slice(&[format, content]);
        table.extend_from_slice(body);
        self.datas.insert(number, table);
        self
    }

    /// Set the ports that command tables use.
    pub fn ports(self, ports: &[Port]) -> Image {
        self.data(data::INDIRECT_IO, 1, 1, &port::assemble(ports))
    }

    /// Return the bytes, with a valid checksum; a multiple of 512.
    ///
    /// # Panics
    /// If the tables do not fit into 64 KiB or have numbers that the lists do not hold.
    pub fn build(&self) -> Vec<u8> {
        let data_list = LISTS + 4 + 2 * COMMANDS;
        let mut rom = vec![0; data_list + 4 + 2 * DATAS];
        header(&mut rom, LISTS, 4 + 2 * COMMANDS, 1, 1);
        header(&mut rom, data_list, 4 + 2 * DATAS, 1, 1);
        for (number, table) in &self.commands {
            let number = usize::from(*number);
            assert!(number < COMMANDS, "no command table {number}");
            let at = append(&mut rom, table);
            put16(&mut rom, LISTS + 4 + 2 * number, at);
        }
        for (number, table) in &self.datas {
            assert!(*number < DATAS, "no data table {number}");
            let at = append(&mut rom, table);
            put16(&mut rom, data_list + 4 + 2 * number, at);
        }
        // One byte at the end is the checksum's.
        let size = (rom.len() + 1).next_multiple_of(512);
        assert!(size <= 0x1_0000, "an image has at most 64 KiB");
        rom.resize(size, 0);

        put(&mut rom, 0, &[0x55, 0xaa, (size / 512) as u8, 0xcb]);
        put16(&mut rom, 0x18, PCIR);
        put(&mut rom, 0x30, b" 761295520");
        put16(&mut rom, 0x48, HEADER);

        put(&mut rom, PCIR, b"PCIR");
        put16(&mut rom, PCIR + 0x04, ATI);
        put16(&mut rom, PCIR + 0x06, self.device.into());
        put16(&mut rom, PCIR + 0x0a, 0x18);
        put(&mut rom, PCIR + 0x0d, &[0x00, 0x80, 0x03]);
        put16(&mut rom, PCIR + 0x10, size / 512);
        rom[PCIR + 0x15] = 0x80; // last image; the code type before it is 0, x86

        header(&mut rom, HEADER, HEADER_SIZE, 1, 1);
        put(&mut rom, HEADER + 0x04, b"ATOM");
        put16(&mut rom, HEADER + 0x10, NAME);
        put16(&mut rom, HEADER + 0x18, ATI);
        put16(&mut rom, HEADER + 0x1a, self.device.into());
        put16(&mut rom, HEADER + 0x1e, LISTS);
        put16(&mut rom, HEADER + 0x20, data_list);
        put(&mut rom, NAME, self.name.as_bytes());

        let sum = rom.iter().fold(0u8, |a, b| a.wrapping_add(*b));
        rom[size - 1] = sum.wrapping_neg();
        rom
    }
}

/// Append a table at a multiple of four; where it is.
fn append(rom: &mut Vec<u8>, table: &[u8]) -> usize {
    rom.resize(rom.len().next_multiple_of(4), 0);
    let at = rom.len();
    rom.extend_from_slice(table);
    at
}

fn header(rom: &mut [u8], at: usize, size: usize, format: u8, content: u8) {
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
    use super::super::code::{Code, Place};
    use super::*;

    fn word(rom: &[u8], at: usize) -> usize {
        usize::from(u16::from_le_bytes([rom[at], rom[at + 1]]))
    }

    #[test]
    fn a_reader_finds_its_way() {
        let mut code = Code::new(0);
        code.set(Place::Register(0xf8), 0x1000_0000);
        let rom = Image::new(0x7142)
            .name("a.card")
            .command(0, code.build())
            .data(data::FIRMWARE_INFO, 1, 1, &[1, 2, 3])
            .build();
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
        let name = word(&rom, header + 0x10);
        assert_eq!(&rom[name..name + 7], b"a.card\0");
        let commands = word(&rom, header + 0x1e);
        let init = word(&rom, commands + 4);
        assert_eq!(rom[init + 6..init + 15], [1, 5, 0x3e, 0, 0, 0, 0, 0x10, 91]);
        assert_eq!(word(&rom, commands + 4 + 2), 0, "a table that is not there");
        let datas = word(&rom, header + 0x20);
        let info = word(&rom, datas + 4 + 2 * 4);
        assert_eq!(rom[info..info + 7], [7, 0, 1, 1, 1, 2, 3]);
        let ports = word(&rom, datas + 0x32);
        assert_ne!(rom[ports + 4], 1, "the list of ports is empty");
    }

    #[test]
    #[should_panic(expected = "at most 64 KiB")]
    fn an_image_is_bounded() {
        Image::new(1).data(1, 1, 1, &vec![0; 0xfff0]).build();
    }
}
