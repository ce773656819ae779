// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Interrupts.
//!
//! `GEN_INT_CNTL` enables sources. `GEN_INT_STATUS` shows which are pending; writing ones acknowledges them. The driver
//! uses the source `SW_INT`. A fence ends with a command that writes `SW_INT_FIRE` to the status register. This raises
//! the interrupt behind everything that the command processor did before. [`OneShot`] enables the source while a thread
//! waits.
//!
//! A write of one to `MSI_REARM_EN` re-arms a message. That bit is a trigger and not stored.
//!
//! Display interrupts show in one bit of the same status. The driver does not use them. If one is pending, its sources
//! are switched off (see [`display`]).
//!
//! The manual mentions interrupts in 4.9 and 9.1.13 only. The facts are from Linux' `radeon` (`rs600_irq_process`).

use kernel::{
    io::Io,
    pci,
    prelude::*, //
};

use lapidary::hardware::one_shot::{
    OneShot,
    Pending,
    Source, //
};

use crate::{
    chip::Chipset,
    display, hal,
    regs::{
        mmio::*,
        Window, //
    },
};

/// The interrupt logic of one chip.
pub(crate) type Irq<'a> = OneShot<Registers<'a>>;

/// The registers of the interrupt.
pub(crate) struct Registers<'a>(Window<'a>);

/// Take over the interrupts of the chip in `window`, and disable them all.
pub(crate) fn take_over(window: Window<'_>) -> Irq<'_> {
    let irq = OneShot::new(Registers(window));
    display::silence(window);
    irq
}

/// Bring a chip that may have lost its registers to the state that it had before.
pub(crate) fn renew(irq: &Irq<'_>) {
    display::silence(irq.source().0);
    irq.renew();
}

impl Source for Registers<'_> {
    fn enable(&self, on: bool) {
        self.0.write_reg(GEN_INT_CNTL::zeroed().with_sw_int_en(on));
    }

    fn acknowledge(&self) {
        self.0.write_reg(GEN_INT_STATUS::zeroed().with_sw_int(true));
        let status = self.0.read(GEN_INT_STATUS);
        if status.into_raw() != u32::MAX && status.display_int_stat() {
            display::silence(self.0);
        }
    }

    fn rearm(&self) {
        self.0
            .write_reg(MSI_REARM_EN::zeroed().with_msi_rearm_en(true));
    }

    fn pending(&self) -> Pending {
        let status = self.0.read(GEN_INT_STATUS);
        if status.into_raw() == u32::MAX {
            return Pending::Nothing;
        }
        if status.display_int_stat() {
            display::silence(self.0);
        }
        match (status.sw_int(), status.display_int_stat()) {
            (true, _) => Pending::Fence,
            (false, true) => Pending::Other,
            (false, false) => Pending::Nothing,
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
    use lapidary::family::TopHalf;

    /// The ring whose fences raise the interrupt.
    const RING: usize = 0;

    #[test]
    fn vanished_device_has_raised_nothing() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = take_over(window);
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
        let irq = take_over(window);
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
        let irq = take_over(window);
        irq.set_kind(pci::IrqType::Msi);
        assert!(irq.arm(true));
        assert!(irq.top_half() == TopHalf::Fence(RING));
        window.write_reg(MSI_REARM_EN::zeroed());
        window.write_reg(GEN_INT_CNTL::zeroed());
        renew(&irq);
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
        let irq = take_over(window);
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
        let irq = take_over(window);
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
        let irq = take_over(window);
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
        let irq = take_over(window);
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
        let irq = take_over(window);
        assert!(is_quiet(window) && !irq.is_armed());
        for (kind, rearmed) in [(pci::IrqType::Intx, false), (pci::IrqType::Msi, true)] {
            irq.set_kind(kind);
            assert!(irq.arm(true));
            left_on(window);
            renew(&irq);
            assert!(is_quiet(window) && !irq.is_armed());
            assert_eq!(window.read(MSI_REARM_EN).msi_rearm_en(), rearmed);
        }
        Ok(())
    }

    #[test]
    fn messages_begin_with_a_rearm() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = take_over(window);
        irq.set_kind(pci::IrqType::Intx);
        assert!(!window.read(MSI_REARM_EN).msi_rearm_en());
        irq.set_kind(pci::IrqType::Msi);
        assert!(window.read(MSI_REARM_EN).msi_rearm_en());
        Ok(())
    }
}
