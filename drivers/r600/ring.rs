// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The rings, with the command processor and the DMA engine as what empties them.
//!
//! A ring itself is that of all families ([`lapidary::amd::ring`]). Both engines write their read pointer to the page of
//! reports behind their ring. A fence of the command processor (CP) is an end-of-pipe event: when all that was drawn is
//! in memory, the CP writes the number there and interrupts. A fence of the DMA engine is a packet that writes the
//! number, and one that interrupts. No register keeps the number.
//!
//! The ring test of the CP writes a scratch register, which the CP also sends to the page of reports. The DMA engine has
//! no such register and writes to memory only.

use kernel::{
    io::{
        register::Array,
        Io, //
    },
    prelude::*, //
};

use lapidary::{
    amd::ring::{
        self,
        Numbered,
        Shape,
        MOST_ALIGN, //
    },
    family::{
        GpuAddr,
        Ib, //
    },
    portable::sink::SliceSink,
};

use crate::{
    chip::Generation,
    cp, dma,
    portable::{
        dma as packets,
        emit, //
    },
    probe::is_dead,
    regs::{
        mmio::*,
        Window, //
    },
};

/// Index of the graphics ring.
pub(crate) const GFX: usize = 0;
/// Index of the DMA ring.
pub(crate) const DMA: usize = 1;

/// Alignment of the write pointers in dwords: the most that an engine fetches at once.
const ALIGN: u32 = 16;

/// Scratch register that the ring test writes.
pub(crate) const TEST: u32 = 0;

/// Places in a page of reports, in dwords. Each is in a cache line of its own. The first is that of the scratch
/// registers.
const SCRATCH: usize = 0;
const READ_POINTER: usize = 16;
const FENCE: usize = 32;

/// The graphics ring: 256 KiB, some 1,600 jobs.
pub(crate) const GFX_SHAPE: Shape = Shape {
    dwords: 1 << 16,
    align: ALIGN,
    filler: emit::FILLER,
    fence: FENCE,
    test: SCRATCH + TEST as usize,
    read_pointer: READ_POINTER,
};

/// The DMA ring: 256 KiB.
pub(crate) const DMA_SHAPE: Shape = Shape {
    filler: packets::FILLER,
    ..GFX_SHAPE
};

/// A ring of a chip.
pub(crate) type Ring<'a> = ring::Ring<Engine<'a>>;

/// The engine that empties a ring.
pub(crate) enum Engine<'a> {
    /// The command processor.
    Gfx(Gfx<'a>),
    /// The DMA engine.
    Dma(Dma<'a>),
}

/// The command processor.
pub(crate) struct Gfx<'a> {
    window: Window<'a>,
    fence: Numbered<{ emit::FENCE_DWORDS }>,
    /// Makes the chip neutral.
    neutral: Ib,
}

/// The DMA engine.
pub(crate) struct Dma<'a> {
    window: Window<'a>,
    fence: Numbered<{ packets::FENCE_DWORDS }>,
}

/// Return the GPU address of dword `index` of the page of reports of a ring that starts at `start`.
fn report(shape: &Shape, start: GpuAddr, index: usize) -> GpuAddr {
    start + (shape.ring_bytes() + index * size_of::<u32>()) as u64
}

impl<'a> Engine<'a> {
    /// Return the command processor of a chip of `generation`, whose ring will be at GPU address `start`. It executes
    /// `neutral` between clients.
    ///
    /// # Errors
    ///
    /// Those of [`Numbered::new`], which do not happen.
    pub(crate) fn gfx(
        window: Window<'a>,
        generation: Generation,
        start: GpuAddr,
        neutral: Ib,
    ) -> Result<Self> {
        let fence = Numbered::new(|sequence| {
            let mut words = [0; emit::FENCE_DWORDS];
            let fence = emit::Fence {
                generation,
                address: report(&GFX_SHAPE, start, FENCE),
                sequence,
            };
            emit::fence(&mut SliceSink::new(&mut words), fence).map_err(|_| ENOSPC)?;
            Ok(words)
        })?;
        Ok(Self::Gfx(Gfx {
            window,
            fence,
            neutral,
        }))
    }

    /// Return the DMA engine of a chip whose DMA ring will be at GPU address `start`.
    ///
    /// # Errors
    ///
    /// Those of [`Numbered::new`], which do not happen.
    pub(crate) fn dma(window: Window<'a>, start: GpuAddr) -> Result<Self> {
        let address = report(&DMA_SHAPE, start, FENCE);
        let fence = Numbered::new(|sequence| {
            let mut words = [0; packets::FENCE_DWORDS];
            packets::fence(&mut SliceSink::new(&mut words), address, sequence)
                .map_err(|_| ENOSPC)?;
            Ok(words)
        })?;
        Ok(Self::Dma(Dma { window, fence }))
    }

    fn window(&self) -> Window<'a> {
        match self {
            Self::Gfx(gfx) => gfx.window,
            Self::Dma(dma) => dma.window,
        }
    }
}

/// Return what the CP has to know of `ring`, whose pieces are mapped one after the other from GPU address `start` on.
///
/// # Errors
///
/// `EINVAL` if an address does not fit.
pub(crate) fn gfx_setup(ring: &Ring<'_>, start: GpuAddr) -> Result<cp::Setup> {
    Ok(cp::Setup {
        ring: u32::try_from(start >> 8)?,
        order: ring.log2_qwords(),
        scratch: u32::try_from(ring.report_address(start, SCRATCH) >> 8)?,
        read_pointer: ring.report_address(start, READ_POINTER),
    })
}

/// Return what the DMA engine has to know of `ring`, likewise.
///
/// # Errors
///
/// `EINVAL` if an address does not fit.
pub(crate) fn dma_setup(ring: &Ring<'_>, start: GpuAddr) -> Result<dma::Setup> {
    Ok(dma::Setup {
        ring: u32::try_from(start >> 8)?,
        order: ring.log2_qwords() + 1,
        read_pointer: ring.report_address(start, READ_POINTER),
    })
}

/// The larger of two numbers of dwords.
const fn larger(a: usize, b: usize) -> usize {
    if a > b {
        a
    } else {
        b
    }
}

impl ring::Engine for Engine<'_> {
    const JOB_DWORDS: usize = larger(
        2 * emit::INDIRECT_BUFFER_DWORDS + emit::FENCE_DWORDS,
        packets::MOST_IB_PADDING + packets::INDIRECT_BUFFER_DWORDS + packets::FENCE_DWORDS,
    ) + ALIGN as usize;

    const SEMAPHORE_DWORDS: usize = larger(emit::SEMAPHORE_DWORDS, packets::SEMAPHORE_DWORDS);

    fn signal(&self, slot: &mut ring::Slot<'_, Self>, semaphore: GpuAddr) {
        let written = match self {
            Self::Gfx(_) => emit::signal(slot, semaphore),
            Self::Dma(_) => packets::signal(slot, semaphore),
        };
        if written.is_err() {
            slot.spoil();
        }
    }

    fn wait(&self, slot: &mut ring::Slot<'_, Self>, semaphore: GpuAddr) {
        let written = match self {
            Self::Gfx(_) => emit::wait(slot, semaphore),
            Self::Dma(_) => packets::wait(slot, semaphore),
        };
        if written.is_err() {
            slot.spoil();
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Gfx(_) => "CP",
            Self::Dma(_) => "DMA",
        }
    }

    fn shape(&self) -> Shape {
        const { assert!(ALIGN as usize <= MOST_ALIGN) };
        match self {
            Self::Gfx(_) => GFX_SHAPE,
            Self::Dma(_) => DMA_SHAPE,
        }
    }

    fn publish(&self, position: u32) {
        match self {
            Self::Gfx(gfx) => gfx.window.write_reg(CP_RB_WPTR::from(position)),
            Self::Dma(dma) => dma.window.write_reg(DMA_RB_WPTR::from(position << 2)),
        }
    }

    fn read_pointer(&self) -> u32 {
        match self {
            Self::Gfx(gfx) => gfx.window.read(CP_RB_RPTR).into_raw(),
            Self::Dma(dma) => dma.window.read(DMA_RB_RPTR).into_raw() >> 2,
        }
    }

    fn position(&self, report: u32) -> u32 {
        match self {
            Self::Gfx(_) => report,
            Self::Dma(_) => report >> 2,
        }
    }

    fn completed(&self, reported: u32) -> Option<u32> {
        (!is_dead(self.window())).then_some(reported)
    }

    fn emptied(&self, _completed: u32) {
        // The number is in memory only.
    }

    fn change_client(&self, slot: &mut ring::Slot<'_, Self>) {
        // The DMA engine keeps nothing of a client.
        if let Self::Gfx(gfx) = self {
            self.ib(slot, gfx.neutral);
        }
    }

    fn ib(&self, slot: &mut ring::Slot<'_, Self>, ib: Ib) {
        let written = match self {
            Self::Gfx(_) => emit::indirect_buffer(slot, ib.addr, ib.len),
            Self::Dma(_) => {
                let padding = packets::ib_padding(slot.position());
                packets::indirect_buffer(slot, padding, ib.addr, ib.len)
            }
        };
        if written.is_err() {
            slot.spoil();
        }
    }

    fn fence(&self, slot: &mut ring::Slot<'_, Self>, seq: u32) {
        match self {
            Self::Gfx(gfx) => slot.append_numbered(&gfx.fence, seq),
            Self::Dma(dma) => slot.append_numbered(&dma.fence, seq),
        }
    }

    fn test(&self) -> Option<u32> {
        match self {
            Self::Gfx(gfx) => Some(gfx.window.read(SCRATCH_REG::at(TEST as usize)).into_raw()),
            Self::Dma(_) => None,
        }
    }

    fn set_test(&self, value: u32) {
        if let Self::Gfx(gfx) = self {
            let value = SCRATCH_REG::from(value);
            gfx.window.write(SCRATCH_REG::at(TEST as usize), value);
        }
    }

    fn status(&self) -> u32 {
        match self {
            Self::Gfx(gfx) => gfx.window.read(CP_ME_CNTL).into_raw(),
            Self::Dma(dma) => dma.window.read(DMA_STATUS_REG).into_raw(),
        }
    }
}

#[kunit_tests(r600_ring)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use kernel::alloc::KBox;
    use lapidary::family::{
        self,
        Ring as _,
        Slot as _, //
    };

    const START: GpuAddr = 0x1_2000_0000;

    /// A ring in the memory of a device on the faux bus, and a register window that is storage.
    fn with_ring(
        engine: impl FnOnce(Window<'_>) -> Result<Engine<'_>>,
        test: impl FnOnce(&Ring<'_>, Window<'_>) -> Result,
    ) -> Result {
        let device = fake::Device::new()?;
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let ring = KBox::pin_init(Ring::new(device.dev(), engine(window)?), GFP_KERNEL)?;
        test(&ring, window)
    }

    fn gfx(window: Window<'_>) -> Result<Engine<'_>> {
        let neutral = Ib {
            addr: START + 0x20_0000,
            len: 16,
            vmid: 0,
        };
        Engine::gfx(window, Generation::R7xx, START, neutral)
    }

    fn dma(window: Window<'_>) -> Result<Engine<'_>> {
        Engine::dma(window, START)
    }

    /// Put a job on the ring. Return whether it is as long as it says.
    fn job(ring: &Ring<'_>) -> Result<bool> {
        let mut slot = ring.reserve(<Ring<'_> as family::Ring>::JOB_DWORDS)?;
        slot.change_client();
        slot.ib(Ib {
            addr: START + 0x1000,
            len: 8,
            vmid: 0,
        });
        slot.fence(0x1234_5678);
        let whole = !slot.is_cut();
        slot.kick();
        Ok(whole)
    }

    #[test]
    fn the_graphics_ring_counts_in_dwords() -> Result {
        with_ring(gfx, |ring, window| {
            assert!(job(ring)?);
            let end = ring.write_pointer();
            assert_eq!(end % ALIGN, 0);
            assert_eq!(window.read(CP_RB_WPTR).into_raw(), end);
            assert_eq!(ring.word(end - 1), emit::FILLER);
            ring.play_report(READ_POINTER, end)?;
            assert_eq!(ring.pointers(), (end, end));
            Ok(())
        })
    }

    #[test]
    fn the_dma_ring_counts_in_bytes() -> Result {
        with_ring(dma, |ring, window| {
            for start in 0..ALIGN {
                ring.play_position(start);
                ring.play_report(READ_POINTER, start << 2)?;
                assert!(job(ring)?);
                let end = ring.write_pointer();
                assert_eq!(window.read(DMA_RB_WPTR).into_raw(), end << 2);
                ring.play_report(READ_POINTER, end << 2)?;
                assert_eq!(ring.pointers(), (end, end));
                ring.play_position(0);
            }
            Ok(())
        })
    }

    #[test]
    fn fences_name_the_page_of_reports() -> Result {
        let place = START + GFX_SHAPE.ring_bytes() as u64 + 4 * FENCE as u64;
        for engine in [gfx, dma] {
            with_ring(engine, |ring, _| {
                assert!(job(ring)?);
                let words = |at| (ring.word(at), ring.word(at + 1));
                let named = (0..64).any(|at| {
                    let (low, high) = words(at);
                    u64::from(low) == place & 0xffff_ffff && u64::from(high & 0xff) == place >> 32
                });
                assert!(named);
                assert!((0..64).any(|at| ring.word(at) == 0x1234_5678));
                ring.play_report(FENCE, 5)?;
                assert_eq!((ring.completed(), ring.completed_slow()), (5, Some(5)));
                Ok(())
            })?;
        }
        Ok(())
    }

    #[test]
    fn only_the_graphics_ring_has_a_register_for_the_test() -> Result {
        use ring::Engine as _;
        with_ring(gfx, |ring, _| {
            ring.engine().set_test(7);
            assert_eq!(ring.engine().test(), Some(7));
            Ok(())
        })?;
        with_ring(dma, |ring, _| {
            ring.engine().set_test(7);
            assert_eq!(ring.engine().test(), None);
            Ok(())
        })
    }
}
