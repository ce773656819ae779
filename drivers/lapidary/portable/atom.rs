// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The video BIOS of a Radeon card, as far as the drivers read it: the clocks it sets.
//!
//! The image is the card's PCI expansion ROM. It begins with 55 AA; the word at 0x18 leads to a PCI data structure
//! that says for which kind of processor the code is; the word at 0x48 leads to the ATOM header, which has the
//! letters "ATOM" and a pointer to a list of tables. Each table begins with its size and two revision numbers. Table
//! 4, FirmwareInfo, has the clocks that the BIOS leaves behind, and the reference clock of the PLLs.
//! (Source: Linux, `drivers/gpu/drm/radeon/{radeon_bios,atom,radeon_atombios}.c` and `atombios.h`.)
//!
//! Nothing in an image is trusted: it may be cut off, damaged, or made by somebody. Every access is inside the
//! bytes that are there, a pointer is followed once, and clocks that no card has are refused.

/// Why an image has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It does not begin with the signature of an expansion ROM.
    NoRom,
    /// Its code is for another kind of processor than x86.
    OtherCode,
    /// It has no ATOM header: a card that is not a Radeon, or an older one.
    NoAtom,
    /// It has no FirmwareInfo table.
    NoTable,
    /// The table has a revision whose layout is another.
    OtherRevision,
    /// A pointer or a table's size leads out of the image.
    OutOfImage,
    /// A clock that no card has.
    BadClock,
}

impl Error {
    /// A few words for a log line.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NoRom => "no expansion ROM",
            Self::OtherCode => "code for another processor",
            Self::NoAtom => "no ATOM header",
            Self::NoTable => "no clocks",
            Self::OtherRevision => "clocks of an unknown revision",
            Self::OutOfImage => "damaged",
            Self::BadClock => "clocks that cannot be",
        }
    }
}

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

const SIGNATURE: u16 = 0xaa55;
const PCI_DATA: usize = 0x18;
/// In the PCI data structure: the kind of code.
const CODE_TYPE: usize = 0x14;
const CODE_X86: u8 = 0;
const VENDOR: usize = 0x30;
const VENDOR_MAGIC: &[u8] = b" 761295520";
const ATOM_HEADER: usize = 0x48;
/// In the ATOM header: its name, and the list of tables with data.
const NAME: usize = 4;
const DATA_TABLES: usize = 0x20;
/// In a list of tables: the first pointer.
const FIRST_TABLE: usize = 4;
const FIRMWARE_INFO: usize = 4;
/// In FirmwareInfo, revision 1: the clocks in units of 10 kHz.
const REVISION: u8 = 1;
const ENGINE: usize = 0x08;
const MEMORY: usize = 0x0c;
const REFERENCE: usize = 0x52;
/// Unit of the clocks in kHz.
const UNIT_KHZ: u32 = 10;

/// Reads the clocks from a card's image.
///
/// # Errors
///
/// [`Error`] says what is missing or wrong first, on the way from the image's start to the clocks.
pub fn clocks(image: &[u8]) -> Result<Clocks, Error> {
    let image = Image(image);
    if image.word(0) != Ok(SIGNATURE) {
        return Err(Error::NoRom);
    }
    let pci_data = image.pointer(PCI_DATA)?;
    if image.byte(pci_data.saturating_add(CODE_TYPE))? != CODE_X86 {
        return Err(Error::OtherCode);
    }
    if image.bytes(VENDOR, VENDOR_MAGIC.len()) != Ok(VENDOR_MAGIC) {
        return Err(Error::NoAtom);
    }
    let header = image.pointer(ATOM_HEADER)?;
    if header == 0 || image.bytes(header.saturating_add(NAME), 4) != Ok(b"ATOM") {
        return Err(Error::NoAtom);
    }
    let tables = image.pointer(header.saturating_add(DATA_TABLES))?;
    let entry = FIRST_TABLE.saturating_add(FIRMWARE_INFO.saturating_mul(2));
    let table = image.pointer(tables.saturating_add(entry))?;
    if tables == 0 || table == 0 {
        return Err(Error::NoTable);
    }
    // Size, then the revisions of format and contents.
    let size = image.pointer(table)?;
    if image.byte(table.saturating_add(2))? != REVISION {
        return Err(Error::OtherRevision);
    }
    let info = Image(image.bytes(table, size)?);
    Ok(Clocks {
        engine_khz: khz(info.long(ENGINE)?, HIGHEST_KHZ)?,
        memory_khz: khz(info.long(MEMORY)?, HIGHEST_KHZ)?,
        reference_khz: khz(u32::from(info.word(REFERENCE)?), HIGHEST_REFERENCE_KHZ)?,
    })
}

/// A clock that is given in units of 10 kHz.
fn khz(units: u32, highest: u32) -> Result<u32, Error> {
    match units.checked_mul(UNIT_KHZ) {
        Some(khz) if khz != 0 && khz <= highest => Ok(khz),
        _ => Err(Error::BadClock),
    }
}

/// Bytes of unknown contents.
struct Image<'a>(&'a [u8]);

impl<'a> Image<'a> {
    fn bytes(&self, at: usize, len: usize) -> Result<&'a [u8], Error> {
        self.0
            .get(at..)
            .and_then(|rest| rest.get(..len))
            .ok_or(Error::OutOfImage)
    }

    fn byte(&self, at: usize) -> Result<u8, Error> {
        self.0.get(at).copied().ok_or(Error::OutOfImage)
    }

    fn word(&self, at: usize) -> Result<u16, Error> {
        match self.bytes(at, 2)? {
            &[low, high] => Ok(u16::from_le_bytes([low, high])),
            _ => Err(Error::OutOfImage),
        }
    }

    fn long(&self, at: usize) -> Result<u32, Error> {
        match self.bytes(at, 4)? {
            &[a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
            _ => Err(Error::OutOfImage),
        }
    }

    /// A word that is an index into the image.
    fn pointer(&self, at: usize) -> Result<usize, Error> {
        self.word(at).map(usize::from)
    }
}
