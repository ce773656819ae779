// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Interrupts.
//!
//! `GEN_INT_CNTL` enables sources. `GEN_INT_STATUS` shows which are pending; writing ones acknowledges them. The driver
//! uses the source `SW_INT`. A fence ends with a command that writes `SW_INT_FIRE` to the status register. This raises
//! the interrupt behind everything that the command processor did before. The source is enabled only while a thread
//! waits for a fence, so that a busy ring without waiters does not interrupt at all.
//!
//! A message-signalled interrupt (MSI) is sent once and then has to be re-armed. On an R5xx a write of one to
//! `MSI_REARM_EN` does this. That bit is a trigger and not stored. The re-arm must be the last access, because a source
//! that is pending then sends the next message.
//!
//! A register access costs the CPU about as much as a thousand instructions, so a wait has few of them:
//!
//! - With messages the source stays enabled, and the re-arm lets one message through. To arm, the driver acknowledges
//!   the old state, reads it back, and re-arms the message. The handler accesses no register: only this chip sends the
//!   message, only an enabled source causes it, and the next arming acknowledges.
//! - A line stays high as long as an enabled source is pending. The handler reads the status, disables the source and
//!   acknowledges it. Arming enables the source.
//!
//! Display interrupts show in one bit of the same status. The driver does not use them. If one is pending, its sources
//! are switched off (see [`display`]).
//!
//! The manual mentions interrupts in 4.9 and 9.1.13 only. The facts are from Linux' `radeon` (`rs600_irq_process`).

use kernel::{
    io::Io,
    pci,
    prelude::*,
    sync::atomic::{
        Atomic,
        Full,
        Relaxed, //
    },
};

use lapidary::family::TopHalf;

use crate::{
    chip::Chipset,
    display, hal,
    regs::{
        mmio::*,
        Window, //
    },
};

/// The ring whose fences raise the interrupt. There is only one.
const RING: usize = 0;

/// What is pending in a value of the status register.
#[derive(Clone, Copy)]
struct Pending {
    /// A fence has completed.
    fence: bool,
    /// A display source is pending.
    display: bool,
}

impl Pending {
    fn decode(status: GEN_INT_STATUS) -> Self {
        Self {
            fence: status.sw_int(),
            display: status.display_int_stat(),
        }
    }
}

/// The interrupt logic of one chip.
pub(crate) struct Irq<'a> {
    window: Window<'a>,
    /// Interrupts are messages, which are re-armed after each.
    messages: Atomic<bool>,
    /// The fence interrupt is armed, and has not come since.
    armed: Atomic<bool>,
    /// The source is enabled.
    enabled: Atomic<bool>,
    /// The chip may send a message. None has come since the last re-arm.
    ready: Atomic<bool>,
}

impl<'a> Irq<'a> {
    /// Take over the interrupts of the chip in `window`, and disable them all.
    pub(crate) fn new(window: Window<'a>) -> Self {
        let irq = Self {
            window,
            messages: Atomic::new(false),
            armed: Atomic::new(false),
            enabled: Atomic::new(false),
            ready: Atomic::new(false),
        };
        irq.off();
        display::silence(window);
        irq
    }

    /// Note the kind of interrupt. Called before the handler can run.
    pub(crate) fn set_kind(&self, kind: pci::IrqType) {
        let messages = !matches!(kind, pci::IrqType::Intx);
        self.messages.store(messages, Relaxed);
        if messages {
            self.ready.store(true, Relaxed);
            self.rearm();
        }
    }

    /// Arm the fence interrupt for one time, or disarm it. Return whether that is a change. Arming acknowledges what
    /// was pending.
    pub(crate) fn arm(&self, on: bool) -> bool {
        if self.is_armed() == on {
            return false;
        }
        if on {
            let status = self.acknowledge_fence();
            // This store comes before the interrupt can. A message that was on its way is taken for the awaited one.
            // The handler clears `ready` first. So either this function re-arms, or the handler finds that a thread
            // still waits, and arms again.
            self.armed.store(true, Relaxed);
            if !self.enabled.load(Relaxed) {
                self.enabled.store(true, Relaxed);
                self.window
                    .write_reg(GEN_INT_CNTL::zeroed().with_sw_int_en(true));
            }
            if self.messages.load(Relaxed) && !self.ready.xchg(true, Full) {
                self.rearm();
            }
            if status.into_raw() != u32::MAX && Pending::decode(status).display {
                display::silence(self.window);
            }
        } else {
            self.off();
        }
        true
    }

    /// Return whether the fence interrupt is armed and has not come since.
    pub(crate) fn is_armed(&self) -> bool {
        self.armed.load(Relaxed)
    }

    /// Disable all sources and disarm.
    pub(crate) fn off(&self) {
        self.mask();
        self.armed.store(false, Relaxed);
    }

    /// Disable all sources.
    fn mask(&self) {
        self.window.write_reg(GEN_INT_CNTL::zeroed());
        self.enabled.store(false, Relaxed);
    }

    /// Bring a chip that may have lost its registers to the state after [`Irq::new`] and [`Irq::set_kind`].
    pub(crate) fn renew(&self) {
        self.off();
        display::silence(self.window);
        if self.messages.load(Relaxed) {
            self.ready.store(true, Relaxed);
            self.rearm();
        }
    }

    /// Re-arm the message.
    fn rearm(&self) {
        self.window
            .write_reg(MSI_REARM_EN::zeroed().with_msi_rearm_en(true));
    }

    /// Acknowledge the pending fence interrupt, wait until the chip has done so, and return what else is pending.
    ///
    /// A posted write takes a while to arrive. A late one would also acknowledge the interrupt of a fence that
    /// completes after the caller has looked which fences have. The read waits: its answer comes behind the write, and
    /// behind what the chip wrote to memory before.
    fn acknowledge_fence(&self) -> GEN_INT_STATUS {
        self.window
            .write_reg(GEN_INT_STATUS::zeroed().with_sw_int(true));
        self.window.read(GEN_INT_STATUS)
    }

    /// Handle the hard interrupt. Find out whether the chip has raised it, and quiet it. A fence interrupt comes once
    /// and then has to be armed again.
    pub(crate) fn top_half(&self) -> TopHalf {
        if self.messages.load(Relaxed) {
            // The chip sends no other message before the re-arm. If it was the display, arming finds out.
            self.ready.store(false, Relaxed);
            self.armed.xchg(false, Full);
            return TopHalf::Fence(RING);
        }

        let status = self.window.read(GEN_INT_STATUS);
        if status.into_raw() == u32::MAX {
            return TopHalf::NotMine;
        }
        let pending = Pending::decode(status);
        if pending.display {
            display::silence(self.window);
        }
        if pending.fence {
            self.mask();
            // The line must be low before the handler returns.
            self.acknowledge_fence();
            // This store is the last. From here on another CPU may arm again.
            self.armed.store(false, Relaxed);
            TopHalf::Fence(RING)
        } else if pending.display {
            TopHalf::Handled
        } else {
            TopHalf::NotMine
        }
    }
}

/// Return which kinds of interrupt to request. The `msi` parameter decides (0 no messages, 1 messages). With any other
/// value the chip decides.
pub(crate) fn types(chipset: Chipset, parameter: i32) -> pci::IrqTypes {
    let messages = match parameter {
        0 => false,
        1 => true,
        _ => hal::interrupt::of(chipset).msi_by_default(),
    };
    let types = pci::IrqTypes::default().with(pci::IrqType::Intx);
    if messages {
        types.with(pci::IrqType::Msi)
    } else {
        types
    }
}

#[kunit_tests(r500_irq)]
mod tests {
    use super::*;
    use crate::regs::fake;

    #[test]
    fn vanished_device_has_raised_nothing() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        irq.set_kind(pci::IrqType::Intx);
        window.write_reg(GEN_INT_STATUS::from(u32::MAX));
        assert!(irq.top_half() == TopHalf::NotMine);
        assert_eq!(window.read(GEN_INT_STATUS).into_raw(), u32::MAX);
        Ok(())
    }

    #[test]
    fn messages_are_rearmed_before_the_first_and_after_each() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        irq.set_kind(pci::IrqType::Intx);
        assert!(irq.top_half() == TopHalf::NotMine);
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());

        irq.set_kind(pci::IrqType::Msi);
        assert!(window.read(MSI_REARM_EN).msi_rearm_en());
        window.write_reg(MSI_REARM_EN::zeroed());
        // The first one is still to come.
        assert!(irq.arm(true));
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        for _ in 0..2 {
            assert!(irq.top_half() == TopHalf::Fence(RING));
            assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
            assert!(irq.arm(true));
            assert!(window.read(MSI_REARM_EN).msi_rearm_en());
            window.write_reg(MSI_REARM_EN::zeroed());
        }
        // Stopped before it came, it is still to come.
        assert!(irq.arm(false));
        assert!(irq.arm(true));
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        // The message of an arming that was taken back comes all the same.
        assert!(irq.arm(false));
        assert!(irq.top_half() == TopHalf::Fence(RING));
        assert!(irq.arm(true));
        assert!(window.read(MSI_REARM_EN).msi_rearm_en());
        Ok(())
    }

    #[test]
    fn a_chip_that_begins_anew_is_rearmed() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        irq.set_kind(pci::IrqType::Msi);
        assert!(irq.arm(true));
        assert!(irq.top_half() == TopHalf::Fence(RING));
        window.write_reg(MSI_REARM_EN::zeroed());
        window.write_reg(GEN_INT_CNTL::zeroed());
        irq.renew();
        assert!(window.read(MSI_REARM_EN).msi_rearm_en());
        assert!(!irq.is_armed());
        // And enabled when it is armed, but not re-armed once more.
        window.write_reg(MSI_REARM_EN::zeroed());
        assert!(irq.arm(true));
        assert!(window.read(GEN_INT_CNTL).sw_int_en());
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        Ok(())
    }

    #[test]
    fn a_line_is_acknowledged_and_masked() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        irq.set_kind(pci::IrqType::Intx);
        assert!(irq.arm(true));
        let fired = GEN_INT_STATUS::zeroed().with_sw_int(true);
        window.write_reg(fired.with_vga_int_stat(true));

        assert!(irq.top_half() == TopHalf::Fence(RING));
        // In plain memory the acknowledgement stays to be seen: the fence's bit alone.
        assert_eq!(window.read(GEN_INT_STATUS).into_raw(), fired.into_raw());
        assert_eq!(window.read(GEN_INT_CNTL).into_raw(), 0);
        assert!(!irq.is_armed());
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        Ok(())
    }

    #[test]
    fn a_message_touches_no_register() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        irq.set_kind(pci::IrqType::Msi);
        window.write_reg(MSI_REARM_EN::zeroed());
        assert!(irq.arm(true));
        // Neither read nor written.
        window.write_reg(GEN_INT_STATUS::from(u32::MAX));

        assert!(irq.top_half() == TopHalf::Fence(RING));
        assert_eq!(window.read(GEN_INT_STATUS).into_raw(), u32::MAX);
        assert!(window.read(GEN_INT_CNTL).sw_int_en());
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        assert!(!irq.is_armed());
        Ok(())
    }

    #[test]
    fn display_is_silenced_without_waking() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        irq.set_kind(pci::IrqType::Intx);
        window.write_reg(DXMODE_INT_MASK::from(u32::MAX));
        window.write_reg(GEN_INT_STATUS::zeroed().with_display_int_stat(true));

        assert!(irq.top_half() == TopHalf::Handled);
        assert_eq!(window.read(DXMODE_INT_MASK).into_raw(), 0);
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        Ok(())
    }

    #[test]
    fn arming_forgets_the_past() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        assert!(!irq.arm(false));
        assert!(irq.arm(true));
        assert!(!irq.arm(true));
        assert!(window.read(GEN_INT_CNTL).sw_int_en());
        assert!(window.read(GEN_INT_STATUS).sw_int());
        assert!(irq.arm(false));
        assert_eq!(window.read(GEN_INT_CNTL).into_raw(), 0);
        Ok(())
    }

    /// A chip on which interrupts were left on.
    fn left_on(window: Window<'_>) {
        window.write_reg(GEN_INT_CNTL::zeroed().with_sw_int_en(true));
        window.write_reg(DXMODE_INT_MASK::from(u32::MAX));
        window.write_reg(MSI_REARM_EN::zeroed());
    }

    fn is_quiet(window: Window<'_>) -> bool {
        window.read(GEN_INT_CNTL).into_raw() == 0 && window.read(DXMODE_INT_MASK).into_raw() == 0
    }

    #[test]
    fn what_somebody_left_on_is_off() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        left_on(window);
        let irq = Irq::new(window);
        assert!(is_quiet(window) && !irq.is_armed());
        for (kind, rearmed) in [(pci::IrqType::Intx, false), (pci::IrqType::Msi, true)] {
            irq.set_kind(kind);
            assert!(irq.arm(true));
            left_on(window);
            irq.renew();
            assert!(is_quiet(window) && !irq.is_armed());
            assert_eq!(window.read(MSI_REARM_EN).msi_rearm_en(), rearmed);
        }
        Ok(())
    }

    #[test]
    fn messages_begin_with_a_rearm() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = Irq::new(window);
        irq.set_kind(pci::IrqType::Intx);
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        irq.set_kind(pci::IrqType::Msi);
        assert!(window.read(MSI_REARM_EN).msi_rearm_en());
        Ok(())
    }
}
