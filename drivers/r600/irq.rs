// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Interrupts.
//!
//! A fence of the graphics ring ends with an end-of-pipe event, a fence of the DMA ring with a trap. Each raises an
//! interrupt if its source is enabled (`CP_INT_CNTL`, `DMA_CNTL`). The chip then writes a vector to the ring of vectors
//! in memory ([`lapidary::amd::ih`]) and interrupts the CPU. A source is enabled only while a thread waits for a fence
//! of its ring, so that a busy ring without waiters neither interrupts nor writes vectors.
//!
//! To arm a ring, the driver enables its source and reads a register. The answer comes behind the write, so a fence that
//! completes later does raise the interrupt. The handler disables the source, and writes the read pointer of the vectors.
//! With messages that write lets the next one through. With a line it makes the line low.
//!
//! With messages the write pointer of the vectors is taken from memory, because the chip writes it before it sends the
//! message, unless what is there cannot be true. With a line the handler reads the register, and so knows whether the interrupt is this chip's.
//!
//! Display sources are off ([`display`]). The facts are from Linux' `radeon` (`r600_irq_init`, `r600_irq_process`).

use kernel::{
    device::{
        Bound,
        Device, //
    },
    io::Io,
    pci,
    prelude::*,
    sync::atomic::{
        Atomic,
        Full,
        Relaxed, //
    },
};

use lapidary::{
    amd::ih::{
        self,
        Vector, //
    },
    family::{
        Event,
        GpuAddr,
        TopHalf, //
    }, //
};

use crate::{
    chip::Chipset,
    display,
    regs::{
        mmio::*,
        Window, //
    },
    ring::{
        DMA,
        GFX, //
    },
};

/// Numbers of sources: interrupts of the CP's ring and its two levels of indirect buffers, the end of the pipe, and a
/// trap of the DMA engine.
mod source {
    pub(super) const CP_RING: u8 = 176;
    pub(super) const CP_IB2: u8 = 178;
    pub(super) const END_OF_PIPE: u8 = 181;
    pub(super) const DMA_TRAP: u8 = 224;
}

/// Writes of vectors that may be under way, and clocks after which they count as done. The values are Linux'.
const CREDIT: u32 = 0x10;
const CLEAN_COUNT: u32 = 0x10;

/// Rings that have a source.
const RINGS: usize = 2;

/// Enable or disable the source of ring `ring`.
fn enable(window: Window<'_>, ring: usize, on: bool) {
    match ring {
        GFX => window.write_reg(CP_INT_CNTL::zeroed().with_time_stamp_int_enable(on)),
        _ => window.write_reg(DMA_CNTL::zeroed().with_trap_enable(on)),
    }
}

/// Return the ring whose fences raise `vector`, if it comes from a ring.
fn ring_of(vector: Vector) -> Option<usize> {
    match vector.source {
        source::CP_RING..=source::CP_IB2 | source::END_OF_PIPE => Some(GFX),
        source::DMA_TRAP => Some(DMA),
        _ => None,
    }
}

/// The registers of the ring of vectors.
pub(crate) struct Registers<'a>(Window<'a>);

impl Registers<'_> {
    /// Return the control register of a ring that is written.
    fn control() -> IH_RB_CNTL {
        IH_RB_CNTL::zeroed()
            .with_ih_rb_enable(true)
            .with_const_ih_rb_size::<{ ih::LOG2_DWORDS }>()
            .with_ih_wptr_writeback_enable(true)
            .with_ih_wptr_overflow_enable(true)
    }
}

impl ih::Registers for Registers<'_> {
    fn set_read_pointer(&self, offset: u32) {
        self.0.write_reg(IH_RB_RPTR::from(offset));
    }

    fn write_pointer(&self) -> u32 {
        self.0.read(IH_RB_WPTR).into_raw()
    }

    fn clear_overflow(&self) {
        let control = Self::control();
        self.0.write_reg(control.with_ih_wptr_overflow_clear(true));
        // With the bit set the next overflow would not be seen.
        self.0.write_reg(control);
    }
}

/// The interrupt logic of one chip.
pub(crate) struct Irq<'a> {
    window: Window<'a>,
    vectors: ih::Vectors<Registers<'a>>,
    /// The sources that there are. The DMA engine of R6xx is not used.
    rings: usize,
    /// Interrupts are messages.
    messages: Atomic<bool>,
    /// The source of each ring is enabled, and has not interrupted since.
    armed: [Atomic<bool>; RINGS],
    /// The ring has interrupted, and the thread has not reported it yet.
    seen: [Atomic<bool>; RINGS],
}

impl<'a> Irq<'a> {
    /// Take over the interrupts of a chip with `rings` rings, and disable them all.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(
        dev: &Device<Bound>,
        chipset: Chipset,
        window: Window<'a>,
        rings: usize,
    ) -> Result<Self> {
        let irq = Self {
            window,
            vectors: ih::Vectors::new(dev, Registers(window))?,
            rings,
            messages: Atomic::new(false),
            armed: [const { Atomic::new(false) }; RINGS],
            seen: [const { Atomic::new(false) }; RINGS],
        };
        irq.off();
        display::silence(chipset, window);
        Ok(irq)
    }

    /// Return the memory of the vectors, to be mapped for the chip.
    pub(crate) fn piece(&self) -> (kernel::dma::DmaAddress, usize) {
        self.vectors.piece()
    }

    /// Start the ring of vectors, whose memory is at GPU address `start`. All sources stay disabled. The RLC, which
    /// writes the vectors, runs.
    ///
    /// # Errors
    ///
    /// `EINVAL` if an address does not fit its register.
    pub(crate) fn start(&self, start: GpuAddr) -> Result {
        let window = self.window;
        self.off();
        self.vectors.empty();
        // Before it pulls the line, the chip reads this place, so that the vectors are in memory. This is an address of
        // the bus.
        let place = u32::try_from(self.piece().0 >> 8)?;
        window.write_reg(INTERRUPT_CNTL2::from(place));
        window.update(INTERRUPT_CNTL, |control| {
            control
                .with_ih_dummy_rd_override(false)
                .with_ih_req_nonsnoop_en(false)
        });
        window.write_reg(IH_RB_BASE::from(u32::try_from(start >> 8)?));
        let report = start + ih::RING_BYTES as u64;
        let high = u32::try_from(report >> 32)?;
        window.write_reg(IH_RB_WPTR_ADDR_HI::from(high));
        window.write_reg(IH_RB_WPTR_ADDR_LO::from(report as u32));
        let control = Registers::control();
        window.write_reg(
            control
                .with_ih_rb_enable(false)
                .with_ih_wptr_overflow_clear(true),
        );
        window.write_reg(IH_RB_RPTR::zeroed());
        window.write_reg(IH_RB_WPTR::zeroed());
        window.write_reg(control);
        self.deliver();
        self.vectors.open();
        Ok(())
    }

    /// Let interrupts reach the CPU, as messages or by the line. The ring of vectors is empty.
    fn deliver(&self) {
        self.window.write_reg(
            IH_CNTL::zeroed()
                .with_enable_intr(true)
                .with_const_mc_wrreq_credit::<CREDIT>()
                .with_const_mc_wr_clean_cnt::<CLEAN_COUNT>()
                .with_rptr_rearm(self.messages.load(Relaxed)),
        );
        // A handler that found the ring closed has not let the next message through. No source is enabled yet, so the
        // handler does not write this register at the same time.
        self.window.write_reg(IH_RB_RPTR::zeroed());
    }

    /// Note the kind of interrupt. Called before the handler can run.
    pub(crate) fn set_kind(&self, kind: pci::IrqType) {
        self.messages
            .store(!matches!(kind, pci::IrqType::Intx), Relaxed);
        self.deliver();
    }

    /// Arm the rings of the mask `rings` for one interrupt each, and disarm the others. Return whether one was armed
    /// that had been disarmed.
    pub(crate) fn arm(&self, rings: u32) -> bool {
        let mut new = false;
        for (ring, armed) in self.armed.iter().enumerate().take(self.rings) {
            let on = rings & 1 << ring != 0;
            if armed.load(Relaxed) == on {
                continue;
            }
            // This store comes before the interrupt can.
            armed.store(on, Relaxed);
            enable(self.window, ring, on);
            new |= on;
        }
        if new {
            let _ = self.window.read(IH_RB_RPTR);
        }
        new
    }

    /// Return whether ring `ring` is armed and has not interrupted since.
    pub(crate) fn is_armed(&self, ring: usize) -> bool {
        self.armed
            .get(ring)
            .is_some_and(|armed| armed.load(Relaxed))
    }

    /// Disable all sources and the ring of vectors, and disarm. Waits for a handler that reads vectors.
    pub(crate) fn off(&self) {
        self.vectors.close();
        for (ring, armed) in self.armed.iter().enumerate().take(self.rings) {
            enable(self.window, ring, false);
            armed.store(false, Relaxed);
        }
        silence(self.window);
    }

    /// Handle the hard interrupt.
    pub(crate) fn top_half(&self) -> TopHalf {
        let messages = self.messages.load(Relaxed);
        let mut interrupted = [false; RINGS];
        let each = |vector| {
            if let Some(seen) = ring_of(vector).and_then(|ring| interrupted.get_mut(ring)) {
                *seen = true;
            }
        };
        let count = if messages {
            self.vectors.take_reported(each)
        } else {
            let end = ih::Registers::write_pointer(self.vectors.registers());
            if end == u32::MAX || !self.vectors.is_behind(end) {
                return TopHalf::NotMine;
            }
            self.vectors.take(end, each)
        };
        if count == 0 {
            // The message came, but no vector did. All rings that are armed are looked at.
            for (seen, armed) in interrupted.iter_mut().zip(&self.armed) {
                *seen = armed.load(Relaxed);
            }
        }
        for (ring, armed) in self.armed.iter().enumerate() {
            if interrupted.get(ring) == Some(&true) && armed.load(Relaxed) {
                enable(self.window, ring, false);
                // This store is the last. From here on another CPU may arm again.
                armed.store(false, Relaxed);
            }
        }
        match interrupted {
            [false, false] => TopHalf::Handled,
            [true, false] => TopHalf::Fence(GFX),
            [false, true] => TopHalf::Fence(DMA),
            [true, true] => {
                for seen in &self.seen {
                    seen.store(true, Relaxed);
                }
                TopHalf::Wake
            }
        }
    }

    /// Report what the handler has seen on more than one ring.
    pub(crate) fn drain(&self, report: &mut dyn FnMut(Event)) {
        for (ring, seen) in self.seen.iter().enumerate() {
            if seen.xchg(false, Full) {
                report(Event::Fence(ring));
            }
        }
    }
}

/// Return which kinds of interrupt to request. The `msi` parameter decides (0 no messages). Messages work on all chips.
pub(crate) fn types(parameter: i32) -> pci::IrqTypes {
    let types = pci::IrqTypes::default().with(pci::IrqType::Intx);
    match parameter {
        0 => types,
        _ => types.with(pci::IrqType::Msi),
    }
}

/// Stop the ring of vectors. The chip neither interrupts nor writes vectors afterwards.
pub(crate) fn silence(window: Window<'_>) {
    window.write_reg(IH_CNTL::zeroed());
    window.write_reg(IH_RB_CNTL::zeroed());
    window.write_reg(IH_RB_RPTR::zeroed());
    window.write_reg(IH_RB_WPTR::zeroed());
}

#[kunit_tests(r600_irq)]
mod tests {
    use super::*;
    use crate::regs::fake;

    /// A chip with two rings, whose registers are storage. Vectors are played.
    fn with_irq(kind: pci::IrqType, test: impl FnOnce(&Irq<'_>, Window<'_>) -> Result) -> Result {
        let device = fake::Device::new()?;
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(device.dev(), Chipset::Rv770, window, RINGS)?;
        irq.start(0x2_0000_1000)?;
        irq.set_kind(kind);
        test(&irq, window)
    }

    /// Let the chip write vectors of these sources, from the first place of the ring on.
    fn play(irq: &Irq<'_>, window: Window<'_>, sources: &[u8]) -> Result {
        for (index, source) in sources.iter().enumerate() {
            irq.vectors.play(4 * index, u32::from(*source))?;
        }
        let end = 16 * sources.len() as u32;
        window.write_reg(IH_RB_WPTR::from(end));
        irq.vectors.play_report(end)
    }

    #[test]
    fn the_ring_of_vectors_is_told_to_the_chip() -> Result {
        with_irq(pci::IrqType::Msi, |irq, window| {
            assert_eq!(window.read(IH_RB_BASE).into_raw(), 0x200_0010);
            assert_eq!(window.read(IH_RB_WPTR_ADDR_HI).into_raw(), 2);
            let report = 0x1000 + ih::RING_BYTES as u32;
            assert_eq!(window.read(IH_RB_WPTR_ADDR_LO).into_raw(), report);
            let control = window.read(IH_RB_CNTL);
            assert!(control.ih_rb_enable() && control.ih_wptr_writeback_enable());
            assert!(!control.ih_wptr_overflow_clear());
            assert_eq!(control.ih_rb_size().get(), 12);
            assert!(window.read(IH_CNTL).enable_intr());
            assert!(window.read(IH_CNTL).rptr_rearm());
            irq.off();
            assert!(!window.read(IH_RB_CNTL).ih_rb_enable());
            assert!(!window.read(IH_CNTL).enable_intr());
            // A handler that comes late does not move the pointer of a ring that has no size.
            play(irq, window, &[source::END_OF_PIPE])?;
            assert!(irq.top_half() == TopHalf::Handled);
            assert_eq!(window.read(IH_RB_RPTR).into_raw(), 0);
            Ok(())
        })
    }

    #[test]
    fn each_ring_has_a_source_of_its_own() -> Result {
        with_irq(pci::IrqType::Msi, |irq, window| {
            let enabled = || {
                (
                    window.read(CP_INT_CNTL).time_stamp_int_enable(),
                    window.read(DMA_CNTL).trap_enable(),
                )
            };
            assert_eq!(enabled(), (false, false));
            assert!(irq.arm(1 << GFX));
            assert_eq!(enabled(), (true, false));
            assert!(!irq.arm(1 << GFX));
            assert!(irq.arm(1 << GFX | 1 << DMA));
            assert_eq!(enabled(), (true, true));
            assert!(!irq.arm(1 << DMA));
            assert_eq!(enabled(), (false, true));
            assert!(!irq.is_armed(GFX) && irq.is_armed(DMA) && !irq.is_armed(2));

            play(irq, window, &[source::DMA_TRAP])?;
            assert!(irq.top_half() == TopHalf::Fence(DMA));
            assert_eq!(enabled(), (false, false));
            assert!(!irq.is_armed(DMA));
            assert_eq!(window.read(IH_RB_RPTR).into_raw(), 16);
            Ok(())
        })
    }

    #[test]
    fn two_rings_are_left_to_the_thread() -> Result {
        with_irq(pci::IrqType::Msi, |irq, window| {
            irq.arm(1 << GFX | 1 << DMA);
            play(irq, window, &[source::DMA_TRAP, source::END_OF_PIPE])?;
            assert!(irq.top_half() == TopHalf::Wake);
            let mut rings = 0;
            irq.drain(&mut |event| match event {
                Event::Fence(ring) => rings |= 1 << ring,
                _ => rings = u32::MAX,
            });
            assert_eq!(rings, 3);
            irq.drain(&mut |_| rings = 0);
            assert_eq!(rings, 3);
            Ok(())
        })
    }

    #[test]
    fn a_message_without_vectors_is_about_the_armed_rings() -> Result {
        with_irq(pci::IrqType::Msi, |irq, window| {
            irq.arm(1 << GFX);
            assert!(irq.top_half() == TopHalf::Fence(GFX));
            assert!(!irq.is_armed(GFX));
            // The next message may come.
            window.write_reg(IH_RB_RPTR::from(0x77));
            assert!(irq.top_half() == TopHalf::Handled);
            assert_eq!(window.read(IH_RB_RPTR).into_raw(), 0);
            Ok(())
        })
    }

    #[test]
    fn other_sources_are_taken_and_dropped() -> Result {
        with_irq(pci::IrqType::Msi, |irq, window| {
            irq.arm(1 << GFX);
            play(irq, window, &[1, 19, 233])?;
            assert!(irq.top_half() == TopHalf::Handled);
            assert!(irq.is_armed(GFX));
            assert_eq!(window.read(IH_RB_RPTR).into_raw(), 48);
            Ok(())
        })
    }

    #[test]
    fn a_line_of_another_device_is_not_answered() -> Result {
        with_irq(pci::IrqType::Intx, |irq, window| {
            assert!(!window.read(IH_CNTL).rptr_rearm());
            irq.arm(1 << GFX);
            window.write_reg(IH_RB_RPTR::from(0x77));
            assert!(irq.top_half() == TopHalf::NotMine);
            window.write_reg(IH_RB_WPTR::from(u32::MAX));
            assert!(irq.top_half() == TopHalf::NotMine);
            assert_eq!(window.read(IH_RB_RPTR).into_raw(), 0x77);
            assert!(irq.is_armed(GFX));
            play(irq, window, &[source::END_OF_PIPE])?;
            assert!(irq.top_half() == TopHalf::Fence(GFX));
            assert_eq!(window.read(IH_RB_RPTR).into_raw(), 16);
            Ok(())
        })
    }
}
