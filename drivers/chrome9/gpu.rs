// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A running chip: its bring-up in order, and the traits by which the generic driver uses it.

use kernel::{
    device::Bound,
    io::{
        Io,
        IoBase, //
    },
    pci,
    prelude::*, //
};

use lapidary::{
    corner::{
        mm::Range,
        wc, //
    },
    family::{
        self,
        Event,
        GpuAddr,
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
    cr,
    dump,
    gart::{
        self,
        Gart, //
    },
    irq::{
        self,
        Irq, //
    },
    isolation::Isolation,
    portable::{
        blit,
        regs::mmio, //
    },
    probe::Board,
    regs::{
        Window,
        WINDOW, //
    },
    ring::{
        self,
        Ring, //
    },
    selftest, //
};

/// Unit of what the driver keeps in the frame buffer.
const PAGE: u64 = 4096;

/// A running chip.
///
/// Fields are dropped from top to bottom. First the chip is stopped, then its memory and registers are released.
#[pin_data]
pub(crate) struct Gpu<'a> {
    running: Running<'a>,
    pub(crate) pdev: &'a pci::Device<Bound>,
    pub(crate) irq: Irq<'a>,
    isolation: Isolation,
    #[pin]
    pub(crate) ring: Ring<'a>,
    #[pin]
    pub(crate) gart: Gart<'a>,
    /// Where the ring lies in the GART's addresses, and its first entry in the table.
    _place: Range,
    pub(crate) ring_entry: u64,
    /// Frame buffer for the state that a stop of the regulator saves.
    pub(crate) state: Kept,
    /// Frame buffer of the GART's table.
    _table: Kept,
    /// The mapping that all windows in the other fields point to.
    _registers: pci::Bar<'a, WINDOW>,
    /// All mappings of the frame buffer are write-combined.
    _combining: wc::Combining<'a>,
}

/// The chip is stopped when this is dropped.
struct Running<'a>(Window<'a>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        cr::stop(self.0, cr::HASTE);
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
            registers,
            layout,
        } = board;
        let dev = pdev.as_ref();

        // SAFETY: A window is a copy of the mapping's address, and stays valid when `registers` is moved. All users of
        // this one are fields of `Gpu`, which are dropped before `_registers`, or end with this function.
        let window: Window<'a> = unsafe { &*core::ptr::from_ref(&registers) }.as_view();

        let combining = wc::Combining::new(pdev, VRAM_BAR, &layout.reserved).inspect_err(|_| {
            dev_err!(
                dev,
                "the frame buffer is mapped with another memory type already\n"
            )
        })?;
        let size = layout.gtt.end - layout.gtt.start;
        let vram = memory.vram();
        let keep = |bytes| {
            vram.allocate(bytes, PAGE, 0)
                .inspect_err(|_| dev_err!(dev, "no frame buffer for the driver itself\n"))
        };
        let table = keep(gart::table_size(size))?;
        let state = keep(cr::STATE_BYTES)?;
        let view = wc::Window::new(
            pdev,
            VRAM_BAR,
            table.start() - layout.vram.start,
            usize::try_from(table.size())?,
        )?;
        let place = memory
            .reserve_gtt(ring::BYTES as u64, PAGE)
            .inspect_err(|_| dev_err!(dev, "no addresses for the ring\n"))?;

        Ok(try_pin_init!(Gpu {
            _combining: combining,
            _registers: registers,
            // The firmware, or a kernel that was replaced, may have left the chip running.
            irq: irq::take_over(window),
            _: {
                if !cr::stop(window, cr::PATIENCE) {
                    dev_err!(dev, "engines do not become idle\n");
                    return Err(ETIMEDOUT);
                }
                engine_state(window, state.start())?;
            },
            gart <- gart::new(window, size, table.start(), view)?,
            ring <- Ring::new(dev, window, place.start()),
            ring_entry: (place.start() - layout.gtt.start) / PAGE,
            _: { map_ring(&gart, &ring, *ring_entry)? },
            running: Running(window),
            _: {
                selftest::run(dev, window, &ring)?;
                dev_info!(dev, "ring test passed\n");
            },
            pdev,
            isolation: Isolation,
            state,
            _table: table,
            _place: place,
        }? Error))
    })
}

/// Map the ring's memory for the regulator, from entry `first` of the table on.
pub(crate) fn map_ring(gart: &Gart<'_>, ring: &Ring<'_>, first: u64) -> Result {
    gart.map_own(first, core::iter::once(ring.piece()))
}

/// Set up what clients cannot: the buffer at offset `state` of the frame buffer that a stop saves to, and registers of the 2D
/// engine that public drivers set to zero before they use it (linux:via/accel.c).
///
/// # Errors
///
/// `EINVAL` if the offset has more than 32 bits.
pub(crate) fn engine_state(window: Window<'_>, state: GpuAddr) -> Result {
    for offset in (mmio::GEMODE..=mmio::MONOPATBGC).step_by(size_of::<u32>()) {
        window.try_write32(0, offset as usize)?;
    }
    cr::set_up(window, u32::try_from(state)?);
    Ok(())
}

impl<'a> Gpu<'a> {
    /// Return the registers.
    pub(crate) fn window(&self) -> Window<'a> {
        self.running.0
    }
}

impl<'a> family::Gpu<'a> for Gpu<'a> {
    type Ring = Ring<'a>;
    type Space = Gart<'a>;
    type Isolation = Isolation;

    // A copy names its source too.
    const STEP_DWORDS: usize = blit::Copy::DWORDS;

    // The 2D engine's addresses have no location.
    const REACHES_SYSTEM: bool = false;

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
        None
    }

    fn isolation(&self) -> &Self::Isolation {
        &self.isolation
    }

    fn quiesce(&self) {
        self.irq.off();
        cr::stop(self.running.0, cr::HASTE);
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
        let fill = blit::Fill::new(dst, len, value).map_err(|_| EINVAL)?;
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
        let copy = blit::Copy::new(dst, src, len).map_err(|_| EINVAL)?;
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
