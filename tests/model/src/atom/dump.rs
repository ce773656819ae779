// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Is a file the ROM of a card that these chips could have?
//!
//! Owners of a card can give its real ROM to the model: as read from `/sys/bus/pci/devices/…/rom`, or from the flash
//! chip, where unused bytes may follow the image.

use thiserror::Error;

/// The largest file that is taken, in bytes.
pub const LARGEST: usize = 1 << 20;

/// Why a file is not such a ROM.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Wrong {
    /// Not a ROM's size.
    #[error("{0} bytes: a ROM has 512 bytes to 1 MiB")]
    Size(usize),
    /// No PCI expansion ROM.
    #[error("it begins with {0:02x} {1:02x}, not 55 aa as an expansion ROM does")]
    Signature(u8, u8),
    /// The length in its header is 0 or more than there is.
    #[error("its header says {said} bytes, and the file has {there}")]
    Length {
        /// Bytes by the header.
        said: usize,
        /// Bytes in the file.
        there: usize,
    },
    /// The bytes do not add up.
    #[error("its checksum is wrong: the bytes add up to {0:#04x}, not 0")]
    Checksum(u8),
    /// No or a damaged PCIR structure.
    #[error("it has no PCIR structure")]
    Pcir,
    /// Another vendor's.
    #[error("it belongs to a card of vendor {0:#06x}, not 0x1002")]
    Vendor(u16),
    /// A Radeon's, but from before ATOM, or for another processor.
    #[error("it has no ATOM header: it is older than these chips, or not for x86")]
    NotAtom,
    /// ATOM without the tables that every driver needs.
    #[error("its ATOM header leads to no {0}")]
    Table(&'static str),
}

/// Look at a file's bytes; the image in it, without what follows.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(file: &[u8]) -> Result<&[u8], Wrong> {
    if file.len() < 512 || file.len() > LARGEST {
        return Err(Wrong::Size(file.len()));
    }
    if file[..2] != [0x55, 0xaa] {
        return Err(Wrong::Signature(file[0], file[1]));
    }
    let said = usize::from(file[2]) * 512;
    let image = match file.get(..said) {
        Some(image) if said > 0 => image,
        _ => {
            return Err(Wrong::Length {
                said,
                there: file.len(),
            });
        }
    };
    let sum = image.iter().fold(0u8, |a, b| a.wrapping_add(*b));
    if sum != 0 {
        return Err(Wrong::Checksum(sum));
    }
    let pcir = word(image, 0x18).ok_or(Wrong::Pcir)?;
    if image.get(pcir..pcir + 4) != Some(b"PCIR".as_slice()) {
        return Err(Wrong::Pcir);
    }
    let vendor = word(image, pcir + 4).ok_or(Wrong::Pcir)?;
    if vendor != 0x1002 {
        return Err(Wrong::Vendor(vendor as u16));
    }
    let header = word(image, 0x48).ok_or(Wrong::NotAtom)?;
    let x86 = image.get(pcir + 0x14) == Some(&0);
    let magic = image.get(0x30..0x3a) == Some(b" 761295520".as_slice());
    if !x86 || !magic || image.get(header + 4..header + 8) != Some(b"ATOM".as_slice()) {
        return Err(Wrong::NotAtom);
    }
    for (pointer, what, needed) in [
        (0x1e, "command table ASIC_Init", 0),
        (
            0x20,
            "data table FirmwareInfo",
            super::image::data::FIRMWARE_INFO,
        ),
    ] {
        let table = word(image, header + pointer)
            .and_then(|list| word(image, list + 4 + 2 * needed))
            .filter(|table| *table != 0);
        let size = table.and_then(|table| word(image, table));
        if !matches!((table, size), (Some(at), Some(size)) if at + size <= image.len()) {
            return Err(Wrong::Table(what));
        }
    }
    Ok(image)
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let two = bytes.get(at..at + 2)?;
    Some(usize::from(u16::from_le_bytes([two[0], two[1]])))
}

#[cfg(test)]
mod tests {
    use super::super::clocks::{Clocks, describe};
    use super::super::code::Code;
    use super::super::image::Image;
    use super::*;

    fn good() -> Vec<u8> {
        let clocks = Clocks {
            engine: 45_000,
            memory: 25_000,
        };
        describe(Image::new(0x7142), clocks)
            .command(0, Code::new(2).build())
            .build()
    }

    /// Return the good image with some bytes changed and the checksum made right again.
    fn with(changes: &[(usize, u8)]) -> Vec<u8> {
        let mut rom = good();
        for (at, byte) in changes {
            rom[*at] = *byte;
        }
        let last = rom.len() - 1;
        let sum = rom.iter().fold(0u8, |a, b| a.wrapping_add(*b));
        rom[last] = rom[last].wrapping_sub(sum);
        rom
    }

    #[test]
    fn a_good_image_passes_with_and_without_a_tail() {
        let rom = good();
        assert_eq!(check(&rom), Ok(rom.as_slice()));
        let mut flash = rom.clone();
        flash.resize(0x1_0000, 0xff);
        assert_eq!(check(&flash), Ok(rom.as_slice()));
    }

    #[test]
    fn each_damage_has_its_message() {
        let rom = good();
        let header = word(&rom, 0x48).unwrap();
        let pcir = word(&rom, 0x18).unwrap();
        let list = word(&rom, header + 0x1e).unwrap();
        let mut flipped = rom.clone();
        flipped[0x300] ^= 1;
        let cases: Vec<(Vec<u8>, Wrong)> = vec![
            (vec![0; 511], Wrong::Size(511)),
            (vec![0; LARGEST + 1], Wrong::Size(LARGEST + 1)),
            (vec![0x7f; 512], Wrong::Signature(0x7f, 0x7f)),
            (
                rom[..512].to_vec(),
                Wrong::Length {
                    said: rom.len(),
                    there: 512,
                },
            ),
            (
                with(&[(2, 0)]),
                Wrong::Length {
                    said: 0,
                    there: rom.len(),
                },
            ),
            (with(&[(pcir, b'Q')]), Wrong::Pcir),
            (with(&[(0x18, 0xff), (0x19, 0xff)]), Wrong::Pcir),
            (
                with(&[(pcir + 4, 0xde), (pcir + 5, 0x10)]),
                Wrong::Vendor(0x10de),
            ),
            (with(&[(header + 4, b'X')]), Wrong::NotAtom),
            (with(&[(0x31, b'0')]), Wrong::NotAtom),
            (with(&[(pcir + 0x14, 3)]), Wrong::NotAtom),
            (
                with(&[(list + 4, 0), (list + 5, 0)]),
                Wrong::Table("command table ASIC_Init"),
            ),
            (
                with(&[(list + 4, 0xff), (list + 5, 0xff)]),
                Wrong::Table("command table ASIC_Init"),
            ),
            (
                with(&[(header + 0x20, 0xff), (header + 0x21, 0xff)]),
                Wrong::Table("data table FirmwareInfo"),
            ),
        ];
        for (file, wrong) in cases {
            assert_eq!(check(&file), Err(wrong));
        }
        assert!(matches!(check(&flipped), Err(Wrong::Checksum(_))));
        assert_eq!(
            Wrong::Length {
                said: 4096,
                there: 512
            }
            .to_string(),
            "its header says 4096 bytes, and the file has 512"
        );
    }
}
