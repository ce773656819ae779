// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own command sequences for the command processor (CP): start, fence, call of an indirect buffer,
//! semaphore, and fill and copy by the copy unit of the CP.
//!
//! The number of dwords of each sequence is fixed or has a bound, so that space is reserved before the first dword is
//! written. A sequence does not rely on what a client's commands have left in the registers.
//!
//! A fence is an end-of-pipe event. [`fence`] first drops what the texture, vertex and shader caches have read, so that
//! the next client does not see what memory held before. The event flushes the caches of colour and depth when all
//! draws have left the pipe. Then the CP writes the sequence number to memory, and interrupts when the write is
//! confirmed. The CP does not wait for any of this.
//!
//! The manual has the packets of the fence (R6xx 5.3.4). The others, and the order, are facts from Linux
//! (`drivers/gpu/drm/radeon/r600.c`).

use lapidary::portable::sink::{
    Full,
    Sink, //
};

use super::{
    pm4::{
        self,
        operation, //
    },
    regs::{
        enums::{
            event_index,
            vgt_event, //
        },
        mmio::{
            self,
            wait_until, //
        },
        mmio_r6xx, mmio_r7xx,
        pm4::{
            cp_dma,
            event,
            event_write_eop,
            indirect_buffer as ib,
            me_initialize as start,
            mem_semaphore,
            mem_write,
            op,
            poll_interval,
            upper, //
        },
    },
    Generation, //
};

pub use super::pm4::FILLER;

/// Length of [`scratch`] and of every other write of one register in dwords.
pub const SCRATCH_DWORDS: usize = 3;
/// Length of [`me_initialize`] in dwords.
pub const ME_INITIALIZE_DWORDS: usize = 7;
/// Length of [`invalidate`] in dwords.
pub const INVALIDATE_DWORDS: usize = 5;
/// Length of [`fence`] in dwords.
pub const FENCE_DWORDS: usize = INVALIDATE_DWORDS + 6;
/// Length of [`indirect_buffer`] in dwords.
pub const INDIRECT_BUFFER_DWORDS: usize = 4;
/// Length of [`signal`] and [`wait`] in dwords.
pub const SEMAPHORE_DWORDS: usize = 3;

/// The most dwords of an indirect buffer.
pub const MOST_INDIRECT_DWORDS: u32 = ib::ib_size::IB_SIZE.max();

/// Unit of [`Fill`] and [`Copy`] in bytes.
pub const PAGE_SIZE: u64 = 4096;

/// The GPU's addresses have 40 bits.
pub const ADDRESS_END: u64 = 1 << 40;

/// The time between two looks at the caches that are not clean yet, in units of 16 clocks.
const POLL_INTERVAL: u32 = 10;

/// Why a fill or copy cannot be expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An address or the length is not a multiple of [`PAGE_SIZE`], or the length is 0.
    Unaligned,
    /// A range leaves the 40-bit address space of the GPU.
    OutOfRange,
    /// Source and destination of a copy overlap.
    Overlap,
}

/// Return the lower dword of an address.
#[inline]
pub(super) const fn low(address: u64) -> u32 {
    address as u32
}

/// Return the upper dword of an address, of which the chip takes eight bits.
#[inline]
pub(super) const fn high(address: u64) -> u32 {
    upper::ADDRESS_HI.of((address >> 32) as u32)
}

/// Check a range of whole pages.
pub(super) fn pages(address: u64, bytes: u64) -> Result<(), Error> {
    if address % PAGE_SIZE != 0 || bytes % PAGE_SIZE != 0 || bytes == 0 {
        return Err(Error::Unaligned);
    }
    match address.checked_add(bytes) {
        Some(end) if end <= ADDRESS_END => Ok(()),
        _ => Err(Error::OutOfRange),
    }
}

/// Check two ranges of whole pages of which one is copied to the other.
pub(super) fn both(destination: u64, source: u64, bytes: u64) -> Result<(), Error> {
    if destination.abs_diff(source) < bytes {
        return Err(Error::Overlap);
    }
    pages(source, bytes)?;
    pages(destination, bytes)
}

/// Write `value` to the configuration register at byte offset `register`.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`SCRATCH_DWORDS`].
pub fn write(out: &mut impl Sink, register: u32, value: u32) -> Result<(), Full> {
    out.put_all(&[
        operation(op::SET_CONFIG_REG, 2),
        pm4::config(register),
        value,
    ])
}

/// Write `value` to scratch register `index` (0 to 7); higher numbers mean register 0.
///
/// With the register's bit in `SCRATCH_UMSK` set, the CP also writes it to memory.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`SCRATCH_DWORDS`].
pub fn scratch(out: &mut impl Sink, index: u32, value: u32) -> Result<(), Full> {
    let register = match mmio::SCRATCH_REG.at(index) {
        Some(register) => register,
        None => mmio::SCRATCH_REG.at(0).unwrap_or(0),
    };
    write(out, register, value)
}

/// Start the micro engine. The ring begins with this packet after each reset. The chip has `contexts` sets of context
/// registers, 1 or more.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`ME_INITIALIZE_DWORDS`].
pub fn me_initialize(
    out: &mut impl Sink,
    generation: Generation,
    contexts: u32,
) -> Result<(), Full> {
    let mode = match generation {
        Generation::R6xx => 3,
        Generation::R7xx => 0,
    };
    out.put_all(&[
        operation(op::ME_INITIALIZE, 6),
        1,
        mode,
        contexts.saturating_sub(1),
        start::device::DEVICE_ID.of(1),
        0,
        0,
    ])
}

/// Drop what the texture, vertex and shader caches hold, of all memory.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`INVALIDATE_DWORDS`].
pub fn invalidate(out: &mut impl Sink, generation: Generation) -> Result<(), Full> {
    let caches = match generation {
        Generation::R6xx => {
            use mmio_r6xx::cp_coher_cntl as caches;
            caches::TC_ACTION_ENA.mask()
                | caches::VC_ACTION_ENA.mask()
                | caches::SH_ACTION_ENA.mask()
        }
        Generation::R7xx => {
            use mmio_r7xx::cp_coher_cntl as caches;
            caches::FULL_CACHE_ENA.mask()
                | caches::TC_ACTION_ENA.mask()
                | caches::VC_ACTION_ENA.mask()
                | caches::SH_ACTION_ENA.mask()
        }
    };
    out.put_all(&[
        operation(op::SURFACE_SYNC, 4),
        caches,
        u32::MAX,
        0,
        poll_interval::INTERVAL.of(POLL_INTERVAL),
    ])
}

/// What a fence consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The generation of the chip.
    pub generation: Generation,
    /// GPU address of the dword that takes the sequence number, a multiple of 4.
    pub address: u64,
    /// The sequence number.
    pub sequence: u32,
}

/// Write a fence. It does what [`invalidate`] does. When everything before it is done and in memory, the CP writes the
/// sequence number and interrupts.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`FENCE_DWORDS`].
pub fn fence(out: &mut impl Sink, fence: Fence) -> Result<(), Full> {
    use event_write_eop::control::{
        self,
        data_sel,
        int_sel, //
    };
    invalidate(out, fence.generation)?;
    out.put_all(&[
        operation(op::EVENT_WRITE_EOP, 5),
        event::EVENT_TYPE.of(vgt_event::CACHE_FLUSH_AND_INV_TS_EVENT)
            | event::EVENT_INDEX.of(event_index::TS_EVENT),
        low(fence.address),
        high(fence.address)
            | control::DATA_SEL.of(data_sel::DATA_32)
            | control::INT_SEL.of(int_sel::INT_CONFIRMED),
        fence.sequence,
        0,
    ])
}

/// Execute the `dwords` dwords at GPU address `address`, a multiple of 4, as an indirect buffer. There are at most
/// [`MOST_INDIRECT_DWORDS`].
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`INDIRECT_BUFFER_DWORDS`].
pub fn indirect_buffer(out: &mut impl Sink, address: u64, dwords: u32) -> Result<(), Full> {
    out.put_all(&[
        operation(op::INDIRECT_BUFFER, 3),
        low(address),
        high(address),
        ib::ib_size::IB_SIZE.of(dwords),
    ])
}

fn semaphore(out: &mut impl Sink, address: u64, what: u32) -> Result<(), Full> {
    use mem_semaphore::control;
    out.put_all(&[
        operation(op::MEM_SEMAPHORE, 2),
        low(address),
        high(address) | control::SEM_SEL.of(what) | control::WAIT_ON_SIGNAL.mask(),
    ])
}

/// Signal the semaphore at GPU address `address`, a multiple of 8, when everything before is in memory.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`SEMAPHORE_DWORDS`].
pub fn signal(out: &mut impl Sink, address: u64) -> Result<(), Full> {
    semaphore(out, address, mem_semaphore::control::sem_sel::SIGNAL)
}

/// Wait for the semaphore at GPU address `address`, a multiple of 8, before anything that follows.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`SEMAPHORE_DWORDS`].
pub fn wait(out: &mut impl Sink, address: u64) -> Result<(), Full> {
    semaphore(out, address, mem_semaphore::control::sem_sel::WAIT)
}

/// Dwords of [`copy`].
const COPY_DWORDS: usize = 6;

/// Copy `bytes` bytes, at most [`cp_dma::command::BYTE_COUNT`] holds, by the copy unit of the CP. If `sync` is set, the
/// CP goes on when the copy is done.
fn copy(
    out: &mut impl Sink,
    destination: u64,
    source: u64,
    bytes: u64,
    sync: bool,
) -> Result<(), Full> {
    out.put_all(&[
        operation(op::CP_DMA, 5),
        low(source),
        cp_dma::src_address_hi::CP_SYNC.put(high(source), u32::from(sync)),
        low(destination),
        high(destination),
        cp_dma::command::BYTE_COUNT.of(bytes as u32),
    ])
}

/// Let the copy unit begin when the 3D pipe is idle and its caches are clean.
fn begin(out: &mut impl Sink) -> Result<(), Full> {
    write(
        out,
        mmio::WAIT_UNTIL,
        wait_until::WAIT_3D_IDLE.mask() | wait_until::WAIT_3D_IDLECLEAN.mask(),
    )
}

/// Wait until the copy unit is idle. Then what it wrote is in memory, and the fence behind it drops what caches hold.
fn finish(out: &mut impl Sink) -> Result<(), Full> {
    write(out, mmio::WAIT_UNTIL, wait_until::WAIT_CP_DMA_IDLE.mask())
}

/// Dwords of [`begin`] and [`finish`].
const AROUND_DWORDS: usize = 2 * SCRATCH_DWORDS;

/// Copies GPU memory by the copy unit of the CP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    destination: u64,
    source: u64,
    bytes: u64,
}

impl Copy {
    /// The most bytes of one packet: whole pages.
    const PIECE: u64 = (cp_dma::command::BYTE_COUNT.max() as u64) & !(PAGE_SIZE - 1);
    /// The most packets of one step.
    const PIECES: u64 = 8;

    /// The most dwords that [`Copy::emit`] writes.
    pub const DWORDS: usize = AROUND_DWORDS + Self::PIECES as usize * COPY_DWORDS;

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
            bytes: bytes.min(Self::PIECE * Self::PIECES),
        })
    }

    /// Return how many bytes this step copies: whole pages, up to 4088 of them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Write the commands. Only the last packet stops the CP until its copy is done.
    ///
    /// # Errors
    ///
    /// [`Full`] if `out` takes less than [`Copy::DWORDS`] and the step needs more.
    pub fn emit(&self, out: &mut impl Sink) -> Result<(), Full> {
        begin(out)?;
        let mut done = 0;
        while done < self.bytes {
            let rest = self.bytes.wrapping_sub(done);
            let piece = rest.min(Self::PIECE);
            // No overflow: both ranges end below 2^40.
            let destination = self.destination.wrapping_add(done);
            let source = self.source.wrapping_add(done);
            copy(out, destination, source, piece, piece == rest)?;
            done = done.wrapping_add(piece);
        }
        finish(out)
    }
}

/// Fills GPU memory with a 32-bit value by the copy unit of the CP.
///
/// The unit can only copy. The CP writes the first eight bytes itself. Each copy doubles what is filled, until a piece
/// is as large as a copy may be. From there on each copy adds a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    address: u64,
    bytes: u64,
    value: u32,
}

impl Fill {
    /// Bytes that the CP writes itself.
    const SEED: u64 = 8;
    /// How often the seed is doubled at most.
    const DOUBLINGS: u64 = 17;
    /// The most bytes of one copy.
    const PIECE: u64 = Self::SEED << Self::DOUBLINGS;
    /// The most pieces of one step.
    const PIECES: u64 = 16;
    /// Dwords of the write of the seed.
    const SEED_DWORDS: usize = 5;

    /// The most dwords that [`Fill::emit`] writes.
    pub const DWORDS: usize = AROUND_DWORDS
        + Self::SEED_DWORDS
        + (Self::DOUBLINGS + Self::PIECES - 1) as usize * COPY_DWORDS;

    /// Return the first step of a fill of `bytes` bytes from GPU address `address` on; see [`Fill::bytes`].
    ///
    /// # Errors
    ///
    /// [`Error`] if the range is not made of whole pages of the 40-bit address space.
    pub fn new(address: u64, bytes: u64, value: u32) -> Result<Self, Error> {
        pages(address, bytes)?;
        const { assert!(Self::PIECE <= cp_dma::command::BYTE_COUNT.max() as u64) };
        Ok(Self {
            address,
            bytes: bytes.min(Self::PIECE * Self::PIECES),
            value,
        })
    }

    /// Return how many bytes this step fills: whole pages, up to 4096 of them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Write the commands.
    ///
    /// # Errors
    ///
    /// [`Full`] if `out` takes less than [`Fill::DWORDS`] and the step needs more.
    pub fn emit(&self, out: &mut impl Sink) -> Result<(), Full> {
        begin(out)?;
        out.put_all(&[
            operation(op::MEM_WRITE, 4),
            low(self.address),
            high(self.address) | mem_write::control::WR_CONFIRM.mask(),
            self.value,
            self.value,
        ])?;
        let mut done = Self::SEED;
        while done < self.bytes {
            let rest = self.bytes.wrapping_sub(done);
            let piece = done.min(Self::PIECE).min(rest);
            // No overflow: the range ends below 2^40. The next copy reads what this one writes.
            copy(
                out,
                self.address.wrapping_add(done),
                self.address,
                piece,
                true,
            )?;
            done = done.wrapping_add(piece);
        }
        finish(out)
    }
}
