// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own command sequences: fence, flush, call of an indirect buffer, fill and copy by the 2D
//! engine.
//!
//! The number of dwords of each sequence is fixed or known from its arguments, so that space is reserved before the
//! first dword is written. A sequence sets all engine state that it depends on. It does not rely on what a client's
//! commands have left in the registers.
//!
//! The order in [`fence`] is the usual one of this generation (R5xx 4.9 and 9.2.3; Linux,
//! `drivers/gpu/drm/radeon/r300.c`). It ends the 3D operation by a write to a register behind the scan converter, and
//! flushes and frees the colour, Z and 2D caches. It waits until 2D and 3D are idle and clean. It drops what the host
//! data path has read ahead. Then it writes the sequence number and raises the interrupt.

use lapidary::portable::sink::{
    Full,
    Sink, //
};

use super::{
    pm4,
    regs::{
        mmio::{
            self,
            default_sc_bottom_right,
            dp_cntl,
            dp_gui_master_cntl as gui,
            dst_width_height,
            dstcache_ctlstat,
            gen_int_status,
            host_path_cntl,
            rb3d_dstcache_ctlstat,
            wait_until,
            zb_zcache_ctlstat, //
        },
        pm4::pitch_offset, //
    }, //
};

/// Length of [`wait_idle`] in dwords.
pub const WAIT_IDLE_DWORDS: usize = 2;
/// Length of [`flush`] in dwords.
pub const FLUSH_DWORDS: usize = 11 + WAIT_IDLE_DWORDS;
/// Length of [`fence`] in dwords.
pub const FENCE_DWORDS: usize = FLUSH_DWORDS + 8;
/// Length of [`indirect_buffer`] in dwords.
pub const INDIRECT_BUFFER_DWORDS: usize = 3;
/// Length of [`scratch`] in dwords.
pub const SCRATCH_DWORDS: usize = 2;
/// Length of [`forget`] in dwords.
pub const FORGET_DWORDS: usize =
    2 + 1 + BRUSH_REGISTERS as usize + 1 + COMPARE_REGISTERS as usize + 1 + 2;

/// Registers of the brush, one behind the other: both colours, and the pattern.
const BRUSH_REGISTERS: u32 = 2 + 64;
/// Registers of the colour comparison, one behind the other.
const COMPARE_REGISTERS: u32 = 3;

/// Unit of [`Fill`] and [`Copy`] in bytes.
pub const PAGE_SIZE: u64 = 4096;

/// The GPU's addresses have 32 bits.
const ADDRESS_END: u64 = 1 << 32;
/// The most rows of one rectangle. Coordinates end at 8191.
const MAX_ROWS: u64 = 8191;
/// Unit of offsets in pitch and offset words, in bytes.
const OFFSET_UNIT: u64 = 1024;
/// Unit of pitches in pitch and offset words, in bytes.
const PITCH_UNIT: u64 = 64;
/// The largest right and bottom edge of a clipping rectangle.
const EDGE_MAX: u32 = 0x1fff;
/// Raster operation: destination = brush.
const ROP_PATTERN: u32 = 0xf0;
/// Raster operation: destination = source.
const ROP_SOURCE: u32 = 0xcc;

/// Why a fill or copy cannot be expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An address or the length is not a multiple of [`PAGE_SIZE`], or the length is 0.
    Unaligned,
    /// A range leaves the 32-bit address space of the GPU.
    OutOfRange,
    /// Source and destination of a copy overlap.
    Overlap,
}

/// Write `value` to the register at byte offset `register`.
///
/// # Errors
///
/// [`Full`] if `out` takes less than 2 dwords.
pub fn write(out: &mut impl Sink, register: u32, value: u32) -> Result<(), Full> {
    out.put(pm4::write(register, 1))?;
    out.put(value)
}

/// Write `value` to scratch register `index` (0 to 7); higher numbers mean register 0.
///
/// With the register's bit in `SCRATCH_UMSK` set, the command processor also writes it to memory.
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

/// Make the command processor wait until the 2D and 3D engines are idle and their caches clean.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`WAIT_IDLE_DWORDS`].
pub fn wait_idle(out: &mut impl Sink) -> Result<(), Full> {
    write(
        out,
        mmio::WAIT_UNTIL,
        wait_until::WAIT_2D_IDLECLEAN.mask()
            | wait_until::WAIT_3D_IDLECLEAN.mask()
            | wait_until::WAIT_HOST_IDLECLEAN.mask(),
    )
}

/// End a running 3D operation, flush and free the colour, Z and 2D caches, invalidate the texture cache, and wait until
/// everything is idle and clean. Then what was drawn is in memory, and later reads come from memory. This holds for
/// textures too, whose memory another client may have had before.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`FLUSH_DWORDS`].
pub fn flush(out: &mut impl Sink) -> Result<(), Full> {
    out.put(pm4::write(mmio::SC_SCISSOR0, 2))?;
    out.put(0)?;
    out.put(0)?;
    write(
        out,
        mmio::RB3D_DSTCACHE_CTLSTAT,
        rb3d_dstcache_ctlstat::DC_FLUSH.of(3) | rb3d_dstcache_ctlstat::DC_FREE.of(3),
    )?;
    write(
        out,
        mmio::ZB_ZCACHE_CTLSTAT,
        zb_zcache_ctlstat::ZC_FLUSH.of(1) | zb_zcache_ctlstat::ZC_FREE.of(1),
    )?;
    flush_2d(out)?;
    write(out, mmio::TX_INVALTAGS, 0)?;
    wait_idle(out)
}

fn flush_2d(out: &mut impl Sink) -> Result<(), Full> {
    write(
        out,
        mmio::DSTCACHE_CTLSTAT,
        dstcache_ctlstat::DC_FLUSH.of(3) | dstcache_ctlstat::DC_FREE.of(3),
    )
}

/// What a fence consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The scratch register that takes the sequence number, 0 to 7.
    pub scratch: u32,
    /// The sequence number.
    pub sequence: u32,
    /// The value of `HOST_PATH_CNTL` that the driver has found or set up.
    pub host_path_cntl: u32,
}

/// Write a fence. It does what [`flush`] does, drops what the host data path has read ahead, writes the sequence number
/// to its scratch register, and raises the software interrupt.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`FENCE_DWORDS`].
pub fn fence(out: &mut impl Sink, fence: Fence) -> Result<(), Full> {
    flush(out)?;
    let invalidate = host_path_cntl::HDP_READ_BUFFER_INVALIDATE;
    write(
        out,
        mmio::HOST_PATH_CNTL,
        invalidate.put(fence.host_path_cntl, 1),
    )?;
    write(
        out,
        mmio::HOST_PATH_CNTL,
        invalidate.put(fence.host_path_cntl, 0),
    )?;
    scratch(out, fence.scratch, fence.sequence)?;
    write(out, mmio::GEN_INT_STATUS, gen_int_status::SW_INT_SET.of(1))
}

/// Set to zero what a client has left in registers and another client could read.
///
/// The counters of pixels that passed the depth test: a client can have them written to its memory, and they also count
/// the pixels of other clients (R5xx 10.11, ZB_ZPASS_DATA). Register writes must reach all pipes. The colours and patterns of
/// the 2D engine: a client can draw with them without setting them (R5xx 5.2.2).
///
/// The engines must be idle, as behind a fence.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`FORGET_DWORDS`].
pub fn forget(out: &mut impl Sink) -> Result<(), Full> {
    write(out, mmio::ZB_ZPASS_DATA, 0)?;
    zero(out, mmio::DP_BRUSH_BKGD_CLR, BRUSH_REGISTERS)?;
    zero(out, mmio::CLR_CMP_CLR_SRC, COMPARE_REGISTERS)?;
    zero(out, mmio::DP_SRC_FRGD_CLR, 2)
}

/// Write zero to `count` registers from byte offset `first` on.
fn zero(out: &mut impl Sink, first: u32, count: u32) -> Result<(), Full> {
    out.put(pm4::write(first, count))?;
    (0..count).try_for_each(|_| out.put(0))
}

/// Execute the `dwords` dwords at GPU address `address`, a multiple of 4, as an indirect buffer.
///
/// The size is written last, because that write starts the buffer (R5xx 4.10).
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`INDIRECT_BUFFER_DWORDS`].
pub fn indirect_buffer(out: &mut impl Sink, address: u32, dwords: u32) -> Result<(), Full> {
    out.put(pm4::write(mmio::CP_IB_BASE, 2))?;
    out.put(address)?;
    out.put(dwords)
}

/// A rectangle of whole pages, one row each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pages {
    address: u64,
    rows: u64,
}

impl Pages {
    /// Return the part of a range that one rectangle covers.
    fn new(address: u64, bytes: u64) -> Result<Self, Error> {
        if address % PAGE_SIZE != 0 || bytes % PAGE_SIZE != 0 || bytes == 0 {
            return Err(Error::Unaligned);
        }
        match address.checked_add(bytes) {
            Some(end) if end <= ADDRESS_END => Ok(Self {
                address,
                rows: (bytes / PAGE_SIZE).min(MAX_ROWS),
            }),
            _ => Err(Error::OutOfRange),
        }
    }

    /// Return pitch and offset.
    fn word(self) -> u32 {
        pitch_offset::PITCH.put(
            pitch_offset::OFFSET.of((self.address / OFFSET_UNIT) as u32),
            (PAGE_SIZE / PITCH_UNIT) as u32,
        )
    }

    /// Return width and height.
    fn size(self) -> u32 {
        dst_width_height::WIDTH.of(ROW_PIXELS) | dst_width_height::HEIGHT.of(self.rows as u32)
    }

    fn bytes(self) -> u64 {
        self.rows.wrapping_mul(PAGE_SIZE)
    }
}

/// Pixels of 32 bits in one row of a fill or copy.
const ROW_PIXELS: u32 = (PAGE_SIZE / 4) as u32;

/// Write the state of the 2D engine that fills and copies share. `control` adds source and raster operation.
fn setup(out: &mut impl Sink, control: u32) -> Result<(), Full> {
    write(
        out,
        mmio::DEFAULT_SC_BOTTOM_RIGHT,
        default_sc_bottom_right::RIGHT.of(EDGE_MAX) | default_sc_bottom_right::BOTTOM.of(EDGE_MAX),
    )?;
    write(
        out,
        mmio::DP_GUI_MASTER_CNTL,
        control
            | gui::DST_PITCH_OFF.of(1)
            | gui::DST_TYPE.of(gui::dst_type::ARGB8888)
            | gui::SRC_TYPE.of(gui::src_type::COLOR)
            | gui::SRC_LOAD.of(gui::src_load::MEMORY)
            | gui::GMC_CLR_CMP_FCN_DIS.of(1)
            | gui::GMC_WR_MSK_DIS.of(1),
    )?;
    write(out, mmio::DP_WRITE_MASK, u32::MAX)?;
    write(
        out,
        mmio::DP_CNTL,
        dp_cntl::DST_X_LEFT_TO_RIGHT.of(1) | dp_cntl::DST_Y_TOP_TO_BOTTOM.of(1),
    )
}

/// Dwords of [`setup`].
const SETUP_DWORDS: usize = 8;
/// Dwords of [`finish`].
const FINISH_DWORDS: usize = 4;

/// Flush the 2D cache and wait, so that the next commands see what was written.
fn finish(out: &mut impl Sink) -> Result<(), Full> {
    flush_2d(out)?;
    wait_idle(out)
}

/// Fills GPU memory with a 32-bit value, by a solid rectangle of the 2D engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    pages: Pages,
    value: u32,
}

impl Fill {
    /// Number of dwords that [`Fill::emit`] writes.
    pub const DWORDS: usize = SETUP_DWORDS + 8 + FINISH_DWORDS;

    /// Return the first step of a fill of `bytes` bytes from GPU address `address` on; see [`Fill::bytes`].
    ///
    /// # Errors
    ///
    /// [`Error`] if the range is not made of whole pages of the 32-bit address space.
    pub fn new(address: u64, bytes: u64, value: u32) -> Result<Self, Error> {
        Ok(Self {
            pages: Pages::new(address, bytes)?,
            value,
        })
    }

    /// Return how many bytes this step fills: whole pages, up to 8191 of them.
    pub fn bytes(&self) -> u64 {
        self.pages.bytes()
    }

    /// Write the commands.
    ///
    /// # Errors
    ///
    /// [`Full`] if `out` takes less than [`Fill::DWORDS`].
    pub fn emit(&self, out: &mut impl Sink) -> Result<(), Full> {
        setup(
            out,
            gui::BRUSH_TYPE.of(gui::brush_type::SOLID_COLOR) | gui::WIN31_ROP.of(ROP_PATTERN),
        )?;
        write(out, mmio::DP_BRUSH_FRGD_CLR, self.value)?;
        write(out, mmio::DST_PITCH_OFFSET, self.pages.word())?;
        write(out, mmio::DST_Y_X, 0)?;
        write(out, mmio::DST_WIDTH_HEIGHT, self.pages.size())?;
        finish(out)
    }
}

/// Copies GPU memory by a rectangle of the 2D engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    source: Pages,
    destination: Pages,
}

impl Copy {
    /// Number of dwords that [`Copy::emit`] writes.
    pub const DWORDS: usize = SETUP_DWORDS + 10 + FINISH_DWORDS;

    /// Return the first step of a copy of `bytes` bytes from GPU address `source` to GPU address `destination`; see
    /// [`Copy::bytes`].
    ///
    /// # Errors
    ///
    /// [`Error`] if a range is not made of whole pages of the 32-bit address space, or if the ranges overlap.
    pub fn new(destination: u64, source: u64, bytes: u64) -> Result<Self, Error> {
        if destination.abs_diff(source) < bytes {
            return Err(Error::Overlap);
        }
        Ok(Self {
            source: Pages::new(source, bytes)?,
            destination: Pages::new(destination, bytes)?,
        })
    }

    /// Return how many bytes this step copies: whole pages, up to 8191 of them.
    pub fn bytes(&self) -> u64 {
        self.destination.bytes()
    }

    /// Write the commands.
    ///
    /// # Errors
    ///
    /// [`Full`] if `out` takes less than [`Copy::DWORDS`].
    pub fn emit(&self, out: &mut impl Sink) -> Result<(), Full> {
        setup(
            out,
            gui::SRC_PITCH_OFF.of(1)
                | gui::BRUSH_TYPE.of(gui::brush_type::NONE)
                | gui::WIN31_ROP.of(ROP_SOURCE),
        )?;
        write(out, mmio::SRC_PITCH_OFFSET, self.source.word())?;
        write(out, mmio::DST_PITCH_OFFSET, self.destination.word())?;
        write(out, mmio::SRC_Y_X, 0)?;
        write(out, mmio::DST_Y_X, 0)?;
        write(out, mmio::DST_WIDTH_HEIGHT, self.destination.size())?;
        finish(out)
    }
}
