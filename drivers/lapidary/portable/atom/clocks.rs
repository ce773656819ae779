// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The clocks that a card runs with after it has been posted.
//!
//! Data table 4, FirmwareInfo, has the clocks that the BIOS sets, and the reference clock of the PLLs. (Source: Linux,
//! `radeon_atombios.c` and `atombios.h`.) Clocks that no card has are refused.

use super::image::{Error, Image};

/// The clocks that the BIOS sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// Engine clock in kHz, at most [`HIGHEST_KHZ`].
    pub engine_khz: u32,
    /// Memory clock in kHz, at most [`HIGHEST_KHZ`].
    pub memory_khz: u32,
    /// Reference clock of the PLLs in kHz, at most [`HIGHEST_REFERENCE_KHZ`].
    pub reference_khz: u32,
}

/// No engine or memory runs faster, in kHz.
pub const HIGHEST_KHZ: u32 = 5_000_000;
/// No PLL has a faster reference, in kHz.
pub const HIGHEST_REFERENCE_KHZ: u32 = 200_000;

/// Number of the table.
const FIRMWARE_INFO: u8 = 4;
/// In FirmwareInfo, revision 1: the clocks in units of 10 kHz.
const REVISION: u8 = 1;
const ENGINE: usize = 0x08;
const MEMORY: usize = 0x0c;
const REFERENCE: usize = 0x52;
/// Unit of the clocks in kHz.
const UNIT_KHZ: u32 = 10;

/// Read the clocks from a card's image.
///
/// # Errors
///
/// [`Error`] for the first thing that is missing or wrong on the way from the image's start to the clocks.
pub fn clocks(image: &[u8]) -> Result<Clocks, Error> {
    of(&Image::new(image)?)
}

/// Read the clocks from an image whose header has been found.
///
/// # Errors
///
/// As [`clocks`].
pub fn of(image: &Image<'_>) -> Result<Clocks, Error> {
    let table = image.data(FIRMWARE_INFO)?.ok_or(Error::NoTable)?;
    let bytes = image.bytes();
    // Size, then the revisions of format and contents.
    let size = bytes.pointer(table)?;
    if bytes.byte(table.saturating_add(2))? != REVISION {
        return Err(Error::OtherRevision);
    }
    let info = bytes.part(table, size)?;
    Ok(Clocks {
        engine_khz: khz(info.long(ENGINE)?, HIGHEST_KHZ)?,
        memory_khz: khz(info.long(MEMORY)?, HIGHEST_KHZ)?,
        reference_khz: khz(u32::from(info.word(REFERENCE)?), HIGHEST_REFERENCE_KHZ)?,
    })
}

impl Clocks {
    /// Return engine and memory clock as ASIC_Init takes them, in units of 10 kHz.
    pub fn parameters(&self) -> [u32; 2] {
        [self.engine_khz / UNIT_KHZ, self.memory_khz / UNIT_KHZ]
    }
}

/// Convert a clock from units of 10 kHz to kHz.
fn khz(units: u32, highest: u32) -> Result<u32, Error> {
    match units.checked_mul(UNIT_KHZ) {
        Some(khz) if khz != 0 && khz <= highest => Ok(khz),
        _ => Err(Error::BadClock),
    }
}
