// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets of the asynchronous DMA engine, and the kernel's own sequences of them.
//!
//! The engine copies and fills beside the 3D pipe, from a ring of its own. Its packets have nothing in common with PM4.
//! The upper four bits of a header are the operation, the lower sixteen a number of dwords. How long a packet is depends
//! on both. The kernel uses the ring on R7xx only. There the upper address bits of both sides of a copy have dwords of
//! their own, and the engine can fill.
//!
//! The engine fetches an indirect buffer only if its packet ends at a multiple of eight dwords of the ring.
//! [`ib_padding`] says how many fillers must come before it.
//!
//! The manual does not have this engine. The facts are Linux' (`drivers/gpu/drm/radeon/r600_dma.c`, `rv770_dma.c`,
//! `r600d.h`).

use lapidary::portable::sink::{
    Full,
    Sink, //
};

use super::{
    emit::{
        both,
        high,
        low,
        pages,
        PAGE_SIZE, //
    },
    regs::dma::{
        header,
        indirect_buffer as ib,
        mmio_r7xx::constant_fill,
        op, //
    },
};

pub use super::emit::Error;

/// A packet of one dword that does nothing.
pub const FILLER: u32 = operation(op::NOP, 0);

/// Length of [`write`] in dwords.
pub const WRITE_DWORDS: usize = 4;
/// Length of [`fence`] in dwords.
pub const FENCE_DWORDS: usize = 5;
/// Length of [`signal`] and [`wait`] in dwords.
pub const SEMAPHORE_DWORDS: usize = 3;
/// Length of [`indirect_buffer`] in dwords, without what is before it.
pub const INDIRECT_BUFFER_DWORDS: usize = 3;
/// The packet of an indirect buffer ends at a multiple of this many dwords of the ring.
pub const IB_BOUNDARY: u32 = 8;
/// The most that [`ib_padding`] returns.
pub const MOST_IB_PADDING: usize = IB_BOUNDARY as usize - 1;

/// The most dwords of an indirect buffer.
pub const MOST_INDIRECT_DWORDS: u32 = ib::ib_size::IB_SIZE.max();
/// Alignment of an indirect buffer in bytes.
pub const INDIRECT_ALIGNMENT: u64 = ib::ib_base_lo::IB_BASE_LO.mask().wrapping_neg() as u64;

/// Return the header of an operation on `count` dwords, at most 65535.
#[inline]
pub const fn operation(opcode: u8, count: u32) -> u32 {
    header::OP.of(opcode as u32) | header::COUNT.of(count)
}

/// Write `value` to the dword at GPU address `address`, a multiple of 4.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`WRITE_DWORDS`].
pub fn write(out: &mut impl Sink, address: u64, value: u32) -> Result<(), Full> {
    out.put_all(&[operation(op::WRITE, 1), low(address), high(address), value])
}

/// Write a fence. When everything before it is done, the engine writes `sequence` to the dword at GPU address `address`,
/// a multiple of 4, and interrupts.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`FENCE_DWORDS`].
pub fn fence(out: &mut impl Sink, address: u64, sequence: u32) -> Result<(), Full> {
    out.put_all(&[
        operation(op::FENCE, 0),
        low(address),
        high(address),
        sequence,
        operation(op::TRAP, 0),
    ])
}

/// Signal the semaphore at GPU address `address`, a multiple of 8, when everything before is done.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`SEMAPHORE_DWORDS`].
pub fn signal(out: &mut impl Sink, address: u64) -> Result<(), Full> {
    let header = operation(op::SEMAPHORE, 0) | header::SIGNAL.mask();
    out.put_all(&[header, low(address), high(address)])
}

/// Wait for the semaphore at GPU address `address`, a multiple of 8, before anything that follows.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`SEMAPHORE_DWORDS`].
pub fn wait(out: &mut impl Sink, address: u64) -> Result<(), Full> {
    out.put_all(&[operation(op::SEMAPHORE, 0), low(address), high(address)])
}

/// Return how many fillers the packet of an indirect buffer needs before it, at `position` of the ring in dwords. At
/// most [`MOST_IB_PADDING`].
#[inline]
pub const fn ib_padding(position: u32) -> u32 {
    position
        .wrapping_add(INDIRECT_BUFFER_DWORDS as u32)
        .wrapping_neg()
        % IB_BOUNDARY
}

/// Execute the `dwords` dwords at GPU address `address` as an indirect buffer, behind `padding` fillers, at most
/// [`MOST_IB_PADDING`]. The address is a multiple of [`INDIRECT_ALIGNMENT`], and there are at most
/// [`MOST_INDIRECT_DWORDS`].
///
/// # Errors
///
/// [`Full`] if `out` takes less than `padding` + [`INDIRECT_BUFFER_DWORDS`].
pub fn indirect_buffer(
    out: &mut impl Sink,
    padding: u32,
    address: u64,
    dwords: u32,
) -> Result<(), Full> {
    let mut words = [FILLER; MOST_IB_PADDING + INDIRECT_BUFFER_DWORDS];
    words[MOST_IB_PADDING] = operation(op::INDIRECT_BUFFER, 0);
    words[MOST_IB_PADDING + 1] = low(address);
    words[MOST_IB_PADDING + 2] = high(address) | ib::ib_size::IB_SIZE.of(dwords);
    let spare = MOST_IB_PADDING.saturating_sub(padding as usize);
    out.put_all(words.get(spare..).unwrap_or(&words))
}

/// The most bytes of one packet: whole pages.
const PIECE: u64 = (header::COUNT.max() as u64 * 4) & !(PAGE_SIZE - 1);
/// The most packets of one step.
const PIECES: u64 = 16;

/// Call `packet` with the place and number of bytes of each packet of a step.
fn pieces(bytes: u64, mut packet: impl FnMut(u64, u64) -> Result<(), Full>) -> Result<(), Full> {
    let mut done = 0;
    while done < bytes {
        let piece = bytes.wrapping_sub(done).min(PIECE);
        packet(done, piece)?;
        done = done.wrapping_add(piece);
    }
    Ok(())
}

/// Return the header of an operation on `bytes` bytes, not more than one packet takes.
fn of_bytes(opcode: u8, bytes: u64) -> u32 {
    operation(opcode, (bytes / 4) as u32)
}

/// Copies GPU memory by the DMA engine of R7xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    destination: u64,
    source: u64,
    bytes: u64,
}

impl Copy {
    /// The most dwords that [`Copy::emit`] writes.
    pub const DWORDS: usize = PIECES as usize * 5;

    /// Return the first step of a copy of `bytes` bytes from GPU address `source` to GPU address `destination`; see
    /// [`Copy::bytes`].
    ///
    /// # Errors
    ///
    /// [`Error`] if a range is not made of whole pages of the 40-bit address space, or if the ranges overlap.
    pub fn new(destination: u64, source: u64, bytes: u64) -> Result<Self, Error> {
        both(destination, source, bytes)?;
        Ok(Self {
            destination,
            source,
            bytes: bytes.min(PIECE * PIECES),
        })
    }

    /// Return how many bytes this step copies: whole pages, up to 1008 of them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Write the commands.
    ///
    /// # Errors
    ///
    /// [`Full`] if `out` takes less than [`Copy::DWORDS`] and the step needs more.
    pub fn emit(&self, out: &mut impl Sink) -> Result<(), Full> {
        pieces(self.bytes, |done, bytes| {
            // No overflow: both ranges end below 2^40.
            let destination = self.destination.wrapping_add(done);
            let source = self.source.wrapping_add(done);
            out.put_all(&[
                of_bytes(op::COPY, bytes),
                low(destination),
                low(source),
                high(destination),
                high(source),
            ])
        })
    }
}

/// Fills GPU memory with a 32-bit value by the DMA engine of R7xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    address: u64,
    bytes: u64,
    value: u32,
}

impl Fill {
    /// The most dwords that [`Fill::emit`] writes.
    pub const DWORDS: usize = PIECES as usize * 4;

    /// Return the first step of a fill of `bytes` bytes from GPU address `address` on; see [`Fill::bytes`].
    ///
    /// # Errors
    ///
    /// [`Error`] if the range is not made of whole pages of the 40-bit address space.
    pub fn new(address: u64, bytes: u64, value: u32) -> Result<Self, Error> {
        pages(address, bytes)?;
        Ok(Self {
            address,
            bytes: bytes.min(PIECE * PIECES),
            value,
        })
    }

    /// Return how many bytes this step fills: whole pages, up to 1008 of them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Write the commands.
    ///
    /// # Errors
    ///
    /// [`Full`] if `out` takes less than [`Fill::DWORDS`] and the step needs more.
    pub fn emit(&self, out: &mut impl Sink) -> Result<(), Full> {
        pieces(self.bytes, |done, bytes| {
            // No overflow: the range ends below 2^40.
            let address = self.address.wrapping_add(done);
            out.put_all(&[
                of_bytes(op::CONSTANT_FILL, bytes),
                low(address),
                self.value,
                constant_fill::address_hi::DST_ADDRESS_HI.of(high(address)),
            ])
        })
    }
}
