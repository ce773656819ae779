// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A running chip: its bring-up in order, and the traits by which the generic driver uses it.

use kernel::{
    device::Bound,
    io::IoBase,
    pci,
    prelude::*, //
};

use lapidary::{
    amd::{
        bios::Bios,
        ih,
        picture::Picture, //
    },
    corner::{
        mm::Range,
        wc, //
    },
    family::{
        self,
        Event,
        GpuAddr,
        Layout,
        Step,
        TopHalf, //
    },
    hardware::board::VRAM_BAR,
    memory::{
        vram::Kept,
        Memory, //
    },
    portable::sink::SliceSink, //
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    clock::Clock,
    cp,
    dma,
    dump,
    engines::{
        self,
        Engines, //
    },
    firmware::Images,
    golden,
    hdp,
    irq::Irq,
    isolation::Isolation,
    mc,
    neutral::{
        self,
        Neutral, //
    },
    portable::{
        dma as packets,
        emit,
        pte, //
    },
    probe::Board,
    regs::{
        Window,
        WINDOW, //
    },
    reset,
    ring::{
        self,
        Engine,
        Ring,
        DMA,
        DMA_SHAPE,
        GFX,
        GFX_SHAPE, //
    },
    vm::{
        self,
        Gart, //
    }, //
};

/// A running chip.
///
/// Fields are dropped from top to bottom. First the chip is stopped, then its memory and registers are released.
#[pin_data]
pub(crate) struct Gpu<'a> {
    running: Running<'a>,
    pub(crate) pdev: &'a pci::Device<Bound>,
    pub(crate) chipset: Chipset,
    /// What the processors execute.
    pub(crate) images: Images,
    /// Where the engines find their rings. Only R7xx have a DMA ring.
    pub(crate) gfx: cp::Setup,
    pub(crate) dma: Option<dma::Setup>,
    pub(crate) irq: Irq<'a>,
    #[pin]
    pub(crate) clock: Clock,
    isolation: Isolation,
    pub(crate) engines: Engines,
    /// The card's video BIOS, if it has one.
    pub(crate) bios: Option<Pin<KBox<Bios>>>,
    pub(crate) rings: KVec<Pin<KBox<Ring<'a>>>>,
    /// What the graphics ring executes between clients.
    pub(crate) neutral: Neutral,
    #[pin]
    pub(crate) gart: Gart<'a>,
    #[pin]
    pub(crate) picture: Picture<'a>,
    /// Where memory was at probe. It stays there.
    pub(crate) layout: Layout,
    pub(crate) location: mc::Location,
    pub(crate) places: Places,
    /// VRAM of the page table. Everything else that the driver keeps is system memory.
    _table: Kept,
    /// The mapping that all windows in the other fields point to.
    _registers: pci::Bar<'a, WINDOW>,
    /// All mappings of VRAM are write-combined.
    _combining: wc::Combining<'a>,
}

/// The chip is stopped when this is dropped.
struct Running<'a> {
    chipset: Chipset,
    window: Window<'a>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        reset::halt(self.chipset, self.window);
    }
}

/// Where the memory of rings, interrupt vectors and the commands between clients lies in the window on system memory.
pub(crate) struct Places {
    pub(crate) gfx: GpuAddr,
    pub(crate) dma: GpuAddr,
    pub(crate) vectors: GpuAddr,
    neutral: GpuAddr,
    /// The first entry in the page table.
    entry: u64,
    _range: Range,
}

impl Places {
    /// Reserve addresses for a chip with `rings` rings.
    fn new(memory: &Memory, layout: &Layout, rings: usize) -> Result<Self> {
        let dma = match rings > DMA {
            true => DMA_SHAPE.bytes(),
            false => 0,
        };
        let bytes = GFX_SHAPE.bytes() + dma + ih::BYTES + neutral::BYTES;
        let range = memory.reserve_gtt(bytes as u64, pte::PAGE_SIZE)?;
        let gfx = range.start();
        let behind = gfx + GFX_SHAPE.bytes() as u64;
        Ok(Self {
            gfx,
            dma: behind,
            vectors: behind + dma as u64,
            neutral: behind + (dma + ih::BYTES) as u64,
            entry: (gfx - layout.gtt.start) / pte::PAGE_SIZE,
            _range: range,
        })
    }
}

/// Return how many rings chips of `generation` have.
pub(crate) fn rings(generation: Generation) -> usize {
    match generation {
        Generation::R6xx => 1,
        Generation::R7xx => 2,
    }
}

/// Implement [`family::Family::bring_up`].
pub(crate) fn bring_up<'a, 'm>(
    board: Board<'a>,
    memory: &'m Memory,
) -> impl PinInit<Gpu<'a>, Error> + use<'a, 'm> {
    pin_init::pin_init_scope(move || {
        let Board {
            pdev,
            chipset,
            registers,
            layout,
            bios,
        } = board;
        let dev = pdev.as_ref();
        let count = rings(chipset.generation());

        // SAFETY: A window is a copy of the mapping's address, and stays valid when `registers` is moved. All users of
        // this one are fields of `Gpu`, which are dropped before `_registers`, or end with this function.
        let window: Window<'a> = unsafe { &*core::ptr::from_ref(&registers) }.as_view();

        let combining = wc::Combining::new(pdev, VRAM_BAR, &layout.reserved)
            .inspect_err(|_| dev_err!(dev, "VRAM is mapped with another memory type already\n"))?;
        let size = vm::table_size(layout.gtt.end - layout.gtt.start);
        let table = memory
            .vram()
            .allocate(size, pte::PAGE_SIZE, 0)
            .inspect_err(|_| dev_err!(dev, "no VRAM for the page table\n"))?;
        let view = wc::Window::new(
            pdev,
            VRAM_BAR,
            table.start() - layout.vram.start,
            usize::try_from(table.size())?,
        )?;
        let places = Places::new(memory, &layout, count)
            .inspect_err(|_| dev_err!(dev, "no addresses for the rings\n"))?;

        Ok(try_pin_init!(Gpu {
            _combining: combining,
            _registers: registers,
            // The firmware, or a kernel that was replaced, may have left the chip running.
            _: { reset::halt(chipset, window) },
            irq: Irq::new(dev, chipset, window, count)?,
            location: mc::location(chipset, window),
            _: {
                golden::program(chipset, window);
                mc::arrange(dev, chipset, window, &layout)?
            },
            clock <- Clock::new(),
            bios,
            gart <- vm::new(dev, chipset, window, &layout.gtt, table.start(), view)?,
            engines: engines::set_up(chipset, window)
                .inspect_err(|_| dev_err!(dev, "engines do not become idle\n"))?,
            images: Images::get(dev, chipset)?,
            neutral: Neutral::new(dev, chipset, places.neutral)?,
            rings: make_rings(pdev, chipset, window, &places, neutral)?,
            _: { map(&gart, rings, irq, neutral, &places)? },
            gfx: ring::gfx_setup(rings.get(GFX).ok_or(ENODEV)?, places.gfx)?,
            dma: rings.get(DMA).map(|ring| ring::dma_setup(ring, places.dma)).transpose()?,
            running: Running { chipset, window },
            _: {
                reset::start(dev, chipset, window, reset::Parts {
                    images,
                    irq,
                    rings,
                    gfx,
                    dma: dma.as_ref(),
                    places: &places,
                    contexts: engines.contexts,
                })?;
                dev_info!(dev, "ring tests passed\n");
            },
            pdev,
            isolation: Isolation::new(chipset, engines),
            chipset,
            picture <- Picture::new(pdev, VRAM_BAR, &layout),
            layout,
            _table: table,
            places,
        }? Error))
    })
}

/// Make the rings, whose memory will be mapped at `places`.
fn make_rings<'a>(
    pdev: &'a pci::Device<Bound>,
    chipset: Chipset,
    window: Window<'a>,
    places: &Places,
    neutral: &Neutral,
) -> Result<KVec<Pin<KBox<Ring<'a>>>>> {
    let (dev, generation) = (pdev.as_ref(), chipset.generation());
    let mut all = KVec::new();
    let gfx = Engine::gfx(window, generation, places.gfx, neutral.ib())?;
    all.push(KBox::pin_init(Ring::new(dev, gfx), GFP_KERNEL)?, GFP_KERNEL)?;
    if rings(generation) > DMA {
        let dma = Engine::dma(window, places.dma)?;
        all.push(KBox::pin_init(Ring::new(dev, dma), GFP_KERNEL)?, GFP_KERNEL)?;
    }
    Ok(all)
}

/// Map the memory of the rings, of the interrupt vectors and of the commands between clients for the chip, one behind
/// the other.
pub(crate) fn map(
    gart: &Gart<'_>,
    rings: &[Pin<KBox<Ring<'_>>>],
    irq: &Irq<'_>,
    neutral: &Neutral,
    places: &Places,
) -> Result {
    let rings = rings.iter().flat_map(|ring| ring.pieces());
    let pieces = Iterator::chain(rings, [irq.piece(), neutral.piece()]);
    gart.map_own(places.entry, pieces)
}

impl<'a> Gpu<'a> {
    /// Return the registers.
    pub(crate) fn window(&self) -> Window<'a> {
        self.running.window
    }
}

impl<'a> family::Gpu<'a> for Gpu<'a> {
    type Ring = Pin<KBox<Ring<'a>>>;
    type Space = Gart<'a>;
    type Isolation = Isolation;

    const STEP_DWORDS: usize = most(
        most(emit::Fill::DWORDS, emit::Copy::DWORDS),
        most(packets::Fill::DWORDS, packets::Copy::DWORDS),
    );

    const HOST_PATH: bool = true;

    /// On R7xx the flush is complete after a read of VRAM.
    fn flush_host_path(&self) {
        hdp::flush(self.chipset, self.window());
        if self.chipset.generation() == Generation::R7xx {
            self.gart.settle();
        }
    }

    fn rings(&self) -> &[Self::Ring] {
        &self.rings
    }

    /// Moves and clears do not delay what is drawn, if there is a DMA ring.
    fn kernel_ring(&self) -> usize {
        self.rings.len() - 1
    }

    fn space(&self) -> &Self::Space {
        &self.gart
    }

    /// The driver does not use the chip's surface registers, and neither does Linux: the CPU sees tiled memory as it is.
    fn surfaces(&self) -> Option<&dyn family::Surfaces> {
        None
    }

    fn isolation(&self) -> &Self::Isolation {
        &self.isolation
    }

    fn quiesce(&self) {
        self.irq.off();
        reset::halt(self.chipset, self.window());
    }

    fn reset(&self) -> Result {
        // `quiesce` has halted everything.
        self.restart()
    }

    fn suspend(&self) -> Result {
        self.fall_asleep()
    }

    fn resume(&self) -> Result {
        self.awake()
    }

    fn fill(
        &self,
        ring: usize,
        out: &mut [u32],
        dst: GpuAddr,
        len: u64,
        value: u32,
    ) -> Result<Step> {
        let mut out = SliceSink::new(out);
        let bytes = if ring == DMA {
            let fill = packets::Fill::new(dst, len, value).map_err(|_| EINVAL)?;
            fill.emit(&mut out).map_err(|_| ENOSPC)?;
            fill.bytes()
        } else {
            let fill = emit::Fill::new(dst, len, value).map_err(|_| EINVAL)?;
            fill.emit(&mut out).map_err(|_| ENOSPC)?;
            fill.bytes()
        };
        Ok(Step {
            dwords: out.written(),
            bytes,
        })
    }

    fn copy(
        &self,
        ring: usize,
        out: &mut [u32],
        dst: GpuAddr,
        src: GpuAddr,
        len: u64,
    ) -> Result<Step> {
        let mut out = SliceSink::new(out);
        let bytes = if ring == DMA {
            let copy = packets::Copy::new(dst, src, len).map_err(|_| EINVAL)?;
            copy.emit(&mut out).map_err(|_| ENOSPC)?;
            copy.bytes()
        } else {
            let copy = emit::Copy::new(dst, src, len).map_err(|_| EINVAL)?;
            copy.emit(&mut out).map_err(|_| ENOSPC)?;
            copy.bytes()
        };
        Ok(Step {
            dwords: out.written(),
            bytes,
        })
    }

    fn dump(&self, report: &mut dyn FnMut(&'static str, u32)) {
        dump::dump(self.chipset, self.window(), report);
    }

    fn interrupt(&self, kind: pci::IrqType) {
        self.irq.set_kind(kind);
    }

    fn arm(&self, rings: u32) -> bool {
        self.irq.arm(rings)
    }

    fn is_armed(&self, ring: usize) -> bool {
        self.irq.is_armed(ring)
    }

    fn top_half(&self) -> TopHalf {
        self.irq.top_half()
    }

    fn drain(&self, report: &mut dyn FnMut(Event)) {
        self.irq.drain(report);
    }
}

/// The larger of two numbers.
const fn most(a: usize, b: usize) -> usize {
    if a > b {
        a
    } else {
        b
    }
}
