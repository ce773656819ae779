// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Commands that the kernel writes into the ring: calls of clients' buffers, fences and padding. [`super::blit`] has the
//! kernel's own work for the engines.
//!
//! The formats of headers are public (decision 2 of the register database). Each sequence is a whole number of units of
//! 16 bytes, because the regulator looks for a header only there.

use lapidary::portable::sink::{
    Full,
    Sink, //
};

use super::regs::{
    enums::{
        location,
        para_type, //
    },
    header,
    mmio::{
        self,
        cr_setting, //
    },
    para_11::{
        self,
        branch_2,
        branch_3,
        branch_4,
        fence_1,
        fence_2,
        fence_3,
        fence_4, //
    },
};

/// A dword without effect, wherever a parameter or a header may be.
pub const PAD: u32 = 0xcc00_0000;
/// Bytes that the regulator fetches at once.
pub const UNIT: u32 = 16;

/// Length of [`branch`] in dwords.
pub const BRANCH_DWORDS: usize = 12;
/// Units that the regulator may have requested behind a branch before it takes notice of it. Public drivers pad with half
/// as many pairs of units (via:chrome9_drm).
const REQUESTS: usize = 34;
/// Length of [`BEHIND_BRANCH`] in dwords.
pub const BEHIND_BRANCH_DWORDS: usize = REQUESTS * UNIT as usize / 4;
/// Length of [`fence`] in dwords.
pub const FENCE_DWORDS: usize = 8;

/// Bits 31:16 of a header.
const HEADER: u32 = 0xfe00_0000;
/// Where the header's code is.
const CODE: u32 = 16;
/// The first dword of the space of the regulator's window.
const SPACE: u32 = match mmio::CR_SPACE.at(0) {
    Some(offset) => offset,
    None => 0,
};
/// Where a parameter's sub-address is.
const SUB_ADDRESS: u32 = 24;
/// Bits of an address in the lower of its two parameters.
const LOW_BITS: u32 = 24;

/// A header that lets parameters without effect follow, and a unit of those.
const IDLE: [u32; 8] = [
    regulator(header::PARAMETERS),
    mmio::CR_SETTING,
    setting(para_type::DUMMY),
    PAD,
    PAD,
    PAD,
    PAD,
    PAD,
];

/// What comes behind a [`branch`]: commands without effect, for what the regulator has requested already.
pub const BEHIND_BRANCH: [u32; BEHIND_BRANCH_DWORDS] = {
    let mut words = [0; BEHIND_BRANCH_DWORDS];
    let mut at = 0;
    while at < BEHIND_BRANCH_DWORDS {
        words[at] = IDLE[at % IDLE.len()];
        at += 1;
    }
    words
};

/// What a sequence cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An address, or a length, is no multiple of 16 bytes.
    Alignment,
    /// An address has too many bits, or a length does.
    Range,
    /// The space reserved for the sequence is used up.
    Full,
}

impl From<Full> for Error {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// Memory that an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// The frame buffer, by offset.
    FrameBuffer,
    /// System pages behind the GART.
    Gart,
}

impl Location {
    /// Return the code that parameters have for it. Bus addresses, which reach all of memory, have none here.
    pub const fn code(self) -> u32 {
        match self {
            Self::FrameBuffer => location::SYSTEM_LOCAL,
            Self::Gart => location::SYSTEM_DYNAMIC,
        }
    }
}

/// Return a parameter: its sub-address, and a value of 24 bits.
pub const fn parameter(sub_address: u32, value: u32) -> u32 {
    (sub_address << SUB_ADDRESS) | (value & 0xff_ffff)
}

/// Return the setting for parameters of a type.
pub const fn setting(kind: u32) -> u32 {
    cr_setting::HPARATYPE.of(kind)
}

/// Return the first dword of a header.
pub const fn header_word(code: u32) -> u32 {
    HEADER | (code << CODE)
}

/// Return the first dword of a header that names the space of the regulator's window.
const fn regulator(code: u32) -> u32 {
    header_word(code) | SPACE
}

/// Write a call of a client's buffer: [`BRANCH_DWORDS`] dwords. The regulator executes `bytes` bytes at `address`, and then goes
/// on behind the call. A call does not wait for what is before it.
///
/// # Errors
///
/// [`Error::Alignment`] if address or length is no multiple of 16 bytes, [`Error::Range`] if the address has more than 32
/// bits or the length is 0 or too large.
pub fn branch(
    sink: &mut impl Sink,
    address: u64,
    bytes: u32,
    location: Location,
) -> Result<(), Error> {
    let address = u32::try_from(address).map_err(|_| Error::Range)?;
    if address % UNIT != 0 || bytes % UNIT != 0 {
        return Err(Error::Alignment);
    }
    let units = bytes / UNIT;
    if units == 0 || units > branch_4::SIZE.max() {
        return Err(Error::Range);
    }
    let low = branch_2::ADDRESS_LOW.of(address >> 1);
    let high =
        branch_3::ADDRESS_HIGH.of(address >> LOW_BITS) | branch_3::LOCATION.of(location.code());
    sink.put_all(&[
        regulator(header::PARAMETERS),
        mmio::CR_SETTING,
        setting(para_type::REGULATOR_MISC),
        PAD,
        parameter(para_11::BRANCH_1, 0),
        parameter(para_11::BRANCH_2, low),
        parameter(para_11::BRANCH_3, high),
        parameter(para_11::BRANCH_4, units),
        regulator(header::BRANCH),
        mmio::CR_SETTING,
        setting(para_type::DUMMY),
        PAD,
    ])?;
    Ok(())
}

/// Write a fence: [`FENCE_DWORDS`] dwords. When all engines are idle, `number` is written to the bus address `address`, and the
/// regulator interrupts.
///
/// The number also goes to a queue, because only such a fence interrupts (L675). How the queue is emptied is not public, so
/// the regulator does not wait for room in it.
///
/// # Errors
///
/// [`Error::Alignment`] if the address is no multiple of 16 bytes, [`Error::Range`] if it has more than 44 bits.
pub fn fence(sink: &mut impl Sink, address: u64, number: u32) -> Result<(), Error> {
    if address % u64::from(UNIT) != 0 {
        return Err(Error::Alignment);
    }
    let high = u32::try_from(address >> LOW_BITS).map_err(|_| Error::Range)?;
    if high > fence_1::ADDRESS_HIGH.max() {
        return Err(Error::Range);
    }
    // Truncated on purpose: the other parameter has the rest.
    let low = fence_2::ADDRESS_LOW.of((address as u32) >> 4);
    let mode = fence_4::TRIGGER.mask()
        | fence_4::WRITE_MEMORY.mask()
        | fence_4::QUEUE.mask()
        | fence_4::SKIP_IF_FULL.mask()
        | fence_4::WAIT_IDLE.mask();
    sink.put_all(&[
        regulator(header::PARAMETERS),
        mmio::CR_SETTING,
        setting(para_type::REGULATOR_MISC),
        PAD,
        parameter(para_11::FENCE_1, high),
        parameter(para_11::FENCE_2, low),
        parameter(para_11::FENCE_3, fence_3::ID_LOW.of(number)),
        parameter(
            para_11::FENCE_4,
            fence_4::ID_HIGH.of(number >> LOW_BITS) | mode,
        ),
    ])?;
    Ok(())
}

/// Write `dwords` dwords without effect, a whole number of units.
///
/// # Errors
///
/// [`Error::Alignment`] if it is none; [`Error::Full`].
pub fn pad(sink: &mut impl Sink, dwords: u32) -> Result<(), Error> {
    const UNIT_DWORDS: u32 = UNIT / 4;

    if dwords % UNIT_DWORDS != 0 {
        return Err(Error::Alignment);
    }
    let mut left = dwords;
    if left >= UNIT_DWORDS {
        let [a, b, c, d, ..] = IDLE;
        sink.put_all(&[a, b, c, d])?;
        left = left.wrapping_sub(UNIT_DWORDS);
    }
    for _ in 0..left {
        sink.put(PAD)?;
    }
    Ok(())
}
