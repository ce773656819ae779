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
    chip::Chipset,
    cp,
    dump,
    firmware,
    gart::{
        self,
        Gart, //
    },
    hal::memory::FbLocation,
    irq::{
        self,
        Irq, //
    },
    isolation::Isolation,
    mc,
    pipes::{
        self,
        Pipes, //
    },
    portable::{
        emit,
        pte, //
    },
    probe::Board,
    regs::{
        Window,
        WINDOW, //
    },
    ring::{
        self,
        Cp,
        Ring, //
    },
    selftest,
    surface::{
        self,
        Surfaces, //
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
    /// What the command processor executes.
    pub(crate) microcode: firmware::Image,
    /// Where the command processor finds the ring.
    pub(crate) setup: cp::Setup,
    pub(crate) irq: Irq<'a>,
    isolation: Isolation,
    pub(crate) pipes: Pipes,
    /// The card's video BIOS, if it has one.
    pub(crate) bios: Option<Pin<KBox<Bios>>>,
    #[pin]
    pub(crate) ring: Ring<'a>,
    #[pin]
    pub(crate) gart: Gart<'a>,
    surfaces: Surfaces<'a>,
    #[pin]
    pub(crate) picture: Picture<'a>,
    /// Where memory was at probe. It stays there.
    pub(crate) layout: Layout,
    pub(crate) location: FbLocation,
    /// Bytes of the host's window on VRAM.
    pub(crate) bar_size: u64,
    /// Where the ring lies in the window on system memory, and its first entry in the page table.
    _place: Range,
    pub(crate) ring_entry: u64,
    /// VRAM of the page table, and behind it a page of zeros, from which discarded reads are answered. Everything else
    /// that the driver keeps is system memory.
    _table: Kept,
    /// The mapping that all windows in the other fields point to.
    _registers: pci::Bar<'a, WINDOW>,
    /// All mappings of VRAM are write-combined.
    _combining: wc::Combining<'a>,
}

/// The chip is stopped when this is dropped.
struct Running<'a>(Window<'a>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        cp::stop(self.0);
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

        // SAFETY: A window is a copy of the mapping's address, and stays valid when `registers` is moved. All users of
        // this one are fields of `Gpu`, which are dropped before `_registers`, or end with this function.
        let window: Window<'a> = unsafe { &*core::ptr::from_ref(&registers) }.as_view();

        let combining = wc::Combining::new(pdev, VRAM_BAR, &layout.reserved)
            .inspect_err(|_| dev_err!(dev, "VRAM is mapped with another memory type already\n"))?;
        let size = gart::table_size(layout.gtt.end - layout.gtt.start);
        let table = memory
            .vram()
            .allocate(size + pte::PAGE_SIZE, pte::PAGE_SIZE, surface::GUARD)
            .inspect_err(|_| dev_err!(dev, "no VRAM for the page table\n"))?;
        let zeros = table.start() + size;
        let view = wc::Window::new(
            pdev,
            VRAM_BAR,
            table.start() - layout.vram.start,
            usize::try_from(table.size())?,
        )?;
        let place = memory
            .reserve_gtt(ring::BYTES as u64, ring::ALIGNMENT)
            .inspect_err(|_| dev_err!(dev, "no addresses for the ring\n"))?;

        Ok(try_pin_init!(Gpu {
            _combining: combining,
            _registers: registers,
            // The firmware, or a kernel that was replaced, may have left the chip running.
            irq: irq::take_over(window),
            _: { cp::stop(window) },
            location: mc::location(chipset, window),
            bar_size: pdev.resource_len(VRAM_BAR)?,
            _: { mc::arrange(dev, chipset, window, &layout, *bar_size) },
            surfaces: Surfaces::new(window),
            pipes: pipes::set_up(chipset, window)
                .inspect_err(|_| dev_err!(dev, "engines do not become idle\n"))?,
            bios,
            gart <- gart::new(window, &layout.gtt, table.start(), zeros, view)?,
            microcode: firmware::get(dev)?,
            _: { firmware::load(dev, window, microcode)? },
            ring <- Ring::new(dev, Cp::new(window)?),
            ring_entry: (place.start() - layout.gtt.start) / pte::PAGE_SIZE,
            _: { map_ring(&gart, &ring, *ring_entry)? },
            setup: ring::setup(&ring, place.start())?,
            running: {
                cp::start(window, setup)?;
                Running(window)
            },
            _: {
                selftest::run(dev, chipset, &ring, pipes.pixel)?;
                dev_info!(dev, "CP ring test passed\n");
            },
            pdev,
            isolation: Isolation::new(chipset, pipes),
            chipset,
            picture <- Picture::new(pdev, VRAM_BAR, &layout),
            layout,
            _table: table,
            _place: place,
        }? Error))
    })
}

impl<'a> Gpu<'a> {
    /// Return the isolation, which knows the sizes of the memories on the chip.
    pub(crate) fn on_chip(&self) -> &Isolation {
        &self.isolation
    }

    /// Return the registers.
    pub(crate) fn window(&self) -> Window<'a> {
        self.running.0
    }
}

/// Map the ring's memory for the chip, from entry `first` of the page table on.
pub(crate) fn map_ring(gart: &Gart<'_>, ring: &Ring<'_>, first: u64) -> Result {
    gart.map_own(first, ring.pieces().into_iter())
}

impl<'a> family::Gpu<'a> for Gpu<'a> {
    type Ring = Ring<'a>;
    type Space = Gart<'a>;
    type Isolation = Isolation;

    // A copy names its source too.
    const STEP_DWORDS: usize = emit::Copy::DWORDS;

    fn rings(&self) -> &[Self::Ring] {
        core::slice::from_ref(&self.ring)
    }

    fn kernel_ring(&self) -> usize {
        0
    }

    fn space(&self) -> &Self::Space {
        &self.gart
    }

    fn surfaces(&self) -> Option<&dyn family::Surfaces> {
        Some(&self.surfaces)
    }

    fn isolation(&self) -> &Self::Isolation {
        &self.isolation
    }

    fn quiesce(&self) {
        self.irq.off();
        cp::stop(self.running.0);
    }

    fn reset(&self) -> Result {
        // `quiesce` has switched the interrupt off.
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
        _ring: usize,
        out: &mut [u32],
        dst: GpuAddr,
        len: u64,
        value: u32,
    ) -> Result<Step> {
        let fill = emit::Fill::new(dst, len, value).map_err(|_| EINVAL)?;
        let mut out = SliceSink::new(out);
        fill.emit(&mut out).map_err(|_| ENOSPC)?;
        Ok(Step {
            dwords: out.written(),
            bytes: fill.bytes(),
        })
    }

    fn copy(
        &self,
        _ring: usize,
        out: &mut [u32],
        dst: GpuAddr,
        src: GpuAddr,
        len: u64,
    ) -> Result<Step> {
        let copy = emit::Copy::new(dst, src, len).map_err(|_| EINVAL)?;
        let mut out = SliceSink::new(out);
        copy.emit(&mut out).map_err(|_| ENOSPC)?;
        Ok(Step {
            dwords: out.written(),
            bytes: copy.bytes(),
        })
    }

    fn dump(&self, report: &mut dyn FnMut(&'static str, u32)) {
        dump::dump(self.running.0, report);
    }

    fn interrupt(&self, kind: pci::IrqType) {
        self.irq.set_kind(kind);
    }

    fn arm(&self, rings: u32) -> bool {
        let on = rings != 0;
        self.irq.arm(on) && on
    }

    fn is_armed(&self, _ring: usize) -> bool {
        self.irq.is_armed()
    }

    fn top_half(&self) -> TopHalf {
        self.irq.top_half()
    }

    fn drain(&self, _report: &mut dyn FnMut(Event)) {
        // The top half has reported everything.
    }
}
