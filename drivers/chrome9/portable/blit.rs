// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own work for the 2D engine: fills and copies of whole pages of the frame buffer.
//!
//! The engine draws rectangles. Here a row of the rectangle is a page: 1024 pixels of 32 bits. The engine's addresses have no
//! location, because it reaches the frame buffer only (decision 11). Each sequence sets all registers that it depends on.

use lapidary::portable::sink::Sink;

use super::{
    emit::{
        header_word,
        Error,
        Location,
        PAD,
        UNIT, //
    },
    place::Place,
    regs::{
        header,
        mmio::{
            self,
            dimension,
            dstbase,
            gecmd,
            gemode,
            pitch, //
        },
    },
};

/// Bytes of a row.
const ROW: u32 = 4096;
/// Bytes of a pixel.
const PIXEL: u32 = 4;
/// Unit of bases and pitches.
const BASE_UNIT: u32 = 8;
/// Raster operations: the pattern, and the source.
const PATTERN: u32 = 0xf0;
const SOURCE: u32 = 0xcc;

/// Registers that a fill sets.
const FILL_PAIRS: usize = 8;
/// Registers that a copy sets.
const COPY_PAIRS: usize = 9;

/// Return the length in dwords of a header and so many pairs, in whole units.
const fn length(pairs: usize) -> usize {
    let unit = UNIT as usize / 4;
    let dwords = pairs.wrapping_mul(2).wrapping_add(4);
    dwords.wrapping_add(unit - 1) & unit.wrapping_neg()
}

/// A fill of pages with one dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    rows: Rows,
    value: u32,
}

/// A copy of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    rows: Rows,
    source: u32,
}

/// The pages that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    /// Offset in the frame buffer.
    base: u32,
    count: u32,
}

impl Rows {
    /// Take as many rows of `len` bytes at `address` as one rectangle has.
    fn new(address: u64, len: u64) -> Result<Self, Error> {
        let base = page(address, len)?;
        let most = u64::from(dimension::HEIGHT.max()).saturating_add(1);
        let count = (len / u64::from(ROW)).min(most);
        if count == 0 {
            return Err(Error::Range);
        }
        // At most 4096.
        Ok(Self {
            base,
            count: count as u32,
        })
    }

    const fn bytes(&self) -> u64 {
        (self.count as u64).wrapping_mul(ROW as u64)
    }

    /// Return the size of the rectangle.
    fn dimension(&self) -> u32 {
        dimension::HEIGHT.of(self.count.wrapping_sub(1))
            | dimension::WIDTH.of((ROW / PIXEL).wrapping_sub(1))
    }
}

/// Return the offset in the frame buffer of `len` bytes at `address`, if both are in whole pages and the engine reaches
/// them.
fn page(address: u64, len: u64) -> Result<u32, Error> {
    let place = Place::of(address).ok_or(Error::Range)?;
    if place.location != Location::FrameBuffer {
        return Err(Error::Range);
    }
    if place.address % ROW != 0 || len % u64::from(ROW) != 0 {
        return Err(Error::Alignment);
    }
    let reach = u64::from(dstbase::ADDRESS.max())
        .wrapping_add(1)
        .wrapping_mul(BASE_UNIT.into());
    match u64::from(place.address).checked_add(len) {
        Some(end) if end <= reach => Ok(place.address),
        _ => Err(Error::Range),
    }
}

/// Write pairs of a register and its value behind their header.
fn pairs<const N: usize>(sink: &mut impl Sink, pairs: [(u32, u32); N]) -> Result<(), Error> {
    sink.put_all(&[header_word(header::REGISTERS_2D), N as u32, 0, PAD])?;
    for (register, value) in pairs {
        sink.put_all(&[register, value])?;
    }
    for _ in const { 4 + 2 * N }..const { length(N) } {
        sink.put(PAD)?;
    }
    Ok(())
}

impl Fill {
    /// Length in dwords.
    pub const DWORDS: usize = length(FILL_PAIRS);

    /// Fill a first part of the `len` bytes at `address` with `value`.
    ///
    /// # Errors
    ///
    /// [`Error::Alignment`] if address or length are not in whole pages; [`Error::Range`] if the engine does not reach them,
    /// or there are none.
    pub fn new(address: u64, len: u64, value: u32) -> Result<Self, Error> {
        Ok(Self {
            rows: Rows::new(address, len)?,
            value,
        })
    }

    /// Return how many bytes are filled.
    pub const fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// Write the commands.
    ///
    /// # Errors
    ///
    /// [`Error::Full`].
    pub fn emit(&self, sink: &mut impl Sink) -> Result<(), Error> {
        let command = gecmd::ROP.of(PATTERN)
            | gecmd::FIXED_COLOR_PATTERN.mask()
            | gecmd::COMMAND.of(gecmd::command::BLT);
        pairs::<FILL_PAIRS>(
            sink,
            [
                (mmio::GEMODE, gemode::DEPTH.of(gemode::depth::BPP_32)),
                (mmio::KEYCONTROL, 0),
                (mmio::PITCH, pitch::DESTINATION.of(ROW / BASE_UNIT)),
                (mmio::DIMENSION, self.rows.dimension()),
                (mmio::DSTPOS, 0),
                (
                    mmio::DSTBASE,
                    dstbase::ADDRESS.of(self.rows.base / BASE_UNIT),
                ),
                (mmio::MONOPATFGC, self.value),
                (mmio::GECMD, command),
            ],
        )
    }
}

impl Copy {
    /// Length in dwords.
    pub const DWORDS: usize = length(COPY_PAIRS);

    /// Copy a first part of the `len` bytes at `from` to `to`, which do not overlap.
    ///
    /// # Errors
    ///
    /// As [`Fill::new`], for both places.
    pub fn new(to: u64, from: u64, len: u64) -> Result<Self, Error> {
        Ok(Self {
            rows: Rows::new(to, len)?,
            source: page(from, len)?,
        })
    }

    /// Return how many bytes are copied.
    pub const fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// Write the commands.
    ///
    /// # Errors
    ///
    /// [`Error::Full`].
    pub fn emit(&self, sink: &mut impl Sink) -> Result<(), Error> {
        let rows = ROW / BASE_UNIT;
        let command = gecmd::ROP.of(SOURCE) | gecmd::COMMAND.of(gecmd::command::BLT);
        pairs::<COPY_PAIRS>(
            sink,
            [
                (mmio::GEMODE, gemode::DEPTH.of(gemode::depth::BPP_32)),
                (mmio::KEYCONTROL, 0),
                (
                    mmio::PITCH,
                    pitch::DESTINATION.of(rows) | pitch::SOURCE.of(rows),
                ),
                (mmio::DIMENSION, self.rows.dimension()),
                (mmio::SRCPOS, 0),
                (mmio::SRCBASE, dstbase::ADDRESS.of(self.source / BASE_UNIT)),
                (mmio::DSTPOS, 0),
                (
                    mmio::DSTBASE,
                    dstbase::ADDRESS.of(self.rows.base / BASE_UNIT),
                ),
                (mmio::GECMD, command),
            ],
        )
    }
}
