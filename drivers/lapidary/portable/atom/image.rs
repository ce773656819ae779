// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The way through a video BIOS: from the first byte of the expansion ROM to its ATOM tables.
//!
//! Every table begins with its size in bytes (16 bits) and two revision numbers. The two lists of tables are tables
//! too. They consist of 16-bit offsets in the image, 0 for a table that the card does not have.

/// Why nothing can be read from an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It does not begin with the signature of an expansion ROM.
    NoRom,
    /// Its code is for another kind of processor than x86.
    OtherCode,
    /// It has no ATOM header: the card is not a Radeon, or an older one.
    NoAtom,
    /// It has no FirmwareInfo table.
    NoTable,
    /// The table has a revision with another layout.
    OtherRevision,
    /// A pointer or a table's size leads out of the image.
    OutOfImage,
    /// A clock that no card has.
    BadClock,
}

impl Error {
    /// Return a few words for a log line.
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

const SIGNATURE: u16 = 0xaa55;
const PCI_DATA: usize = 0x18;
/// In the PCI data structure: the kind of code.
const CODE_TYPE: usize = 0x14;
const CODE_X86: u8 = 0;
const VENDOR: usize = 0x30;
const VENDOR_MAGIC: &[u8] = b" 761295520";
const ATOM_HEADER: usize = 0x48;
/// In the ATOM header: its name, and the lists of programs and of data.
const NAME: usize = 4;
const COMMAND_TABLES: usize = 0x1e;
const DATA_TABLES: usize = 0x20;
/// In a list of tables: the first pointer.
const FIRST_TABLE: usize = 4;

/// Bytes of unknown contents.
#[derive(Clone, Copy)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Return `len` bytes from `at` on.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfImage`] if they are not all there. All functions below have the same error.
    pub fn bytes(self, at: usize, len: usize) -> Result<&'a [u8], Error> {
        self.0
            .get(at..)
            .and_then(|rest| rest.get(..len))
            .ok_or(Error::OutOfImage)
    }

    /// Return `len` bytes from `at` on, as bytes of unknown contents.
    pub fn part(self, at: usize, len: usize) -> Result<Self, Error> {
        self.bytes(at, len).map(Self)
    }

    /// Return the byte at `at`.
    pub fn byte(self, at: usize) -> Result<u8, Error> {
        self.0.get(at).copied().ok_or(Error::OutOfImage)
    }

    /// Return the 16-bit number at `at`, which need not be aligned.
    pub fn word(self, at: usize) -> Result<u16, Error> {
        match self.bytes(at, 2)? {
            &[low, high] => Ok(u16::from_le_bytes([low, high])),
            _ => Err(Error::OutOfImage),
        }
    }

    /// Return the 32-bit number at `at`, which need not be aligned.
    pub fn long(self, at: usize) -> Result<u32, Error> {
        match self.bytes(at, 4)? {
            &[a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d])),
            _ => Err(Error::OutOfImage),
        }
    }

    /// Return the 16-bit number at `at`, which is an index into the image.
    pub fn pointer(self, at: usize) -> Result<usize, Error> {
        self.word(at).map(usize::from)
    }
}

/// An image with an ATOM header.
#[derive(Clone, Copy)]
pub struct Image<'a> {
    bytes: Bytes<'a>,
    header: usize,
}

impl<'a> Image<'a> {
    /// Look for the header.
    ///
    /// # Errors
    ///
    /// [`Error`] for the first thing that is missing or wrong.
    pub fn new(image: &'a [u8]) -> Result<Self, Error> {
        let bytes = Bytes(image);
        if bytes.word(0) != Ok(SIGNATURE) {
            return Err(Error::NoRom);
        }
        let pci_data = bytes.pointer(PCI_DATA)?;
        if bytes.byte(pci_data.saturating_add(CODE_TYPE))? != CODE_X86 {
            return Err(Error::OtherCode);
        }
        if bytes.bytes(VENDOR, VENDOR_MAGIC.len()) != Ok(VENDOR_MAGIC) {
            return Err(Error::NoAtom);
        }
        let header = bytes.pointer(ATOM_HEADER)?;
        if header == 0 || bytes.bytes(header.saturating_add(NAME), 4) != Ok(b"ATOM") {
            return Err(Error::NoAtom);
        }
        Ok(Self { bytes, header })
    }

    /// Return all of its bytes.
    pub fn bytes(&self) -> Bytes<'a> {
        self.bytes
    }

    /// Return where command table `number` begins, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfImage`].
    pub fn command(&self, number: u8) -> Result<Option<usize>, Error> {
        self.entry(COMMAND_TABLES, number)
    }

    /// Return where data table `number` begins, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfImage`].
    pub fn data(&self, number: u8) -> Result<Option<usize>, Error> {
        self.entry(DATA_TABLES, number)
    }

    fn entry(&self, list: usize, number: u8) -> Result<Option<usize>, Error> {
        let list = self.bytes.pointer(self.header.saturating_add(list))?;
        let entry = FIRST_TABLE.saturating_add(usize::from(number).saturating_mul(2));
        let table = self.bytes.pointer(list.saturating_add(entry))?;
        Ok((list != 0 && table != 0).then_some(table))
    }
}
