// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Interrupts.
//!
//! A fence raises the interrupt of the command regulator, bit 5 of 204h (L113, L675). The manual lists no enable of its own
//! for it. Bit 31 of 200h enables all interrupts of the chip (L108), and the driver enables no other source. [`OneShot`]
//! enables them while a thread waits. A message is re-armed by bit 31 of 1280h, when the handler leaves (L331).

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

use crate::regs::{
    mmio::*,
    Window, //
};

/// The interrupt logic of one chip.
pub(crate) type Irq<'a> = OneShot<Registers<'a>>;

/// The registers of the interrupt.
pub(crate) struct Registers<'a>(Window<'a>);

/// Take over the interrupts of the chip in `window`, and disable them all.
pub(crate) fn take_over(window: Window<'_>) -> Irq<'_> {
    OneShot::new(Registers(window))
}

impl Source for Registers<'_> {
    fn enable(&self, on: bool) {
        // Status bits are cleared by ones, so that they stay.
        self.0
            .write_reg(INTERRUPT_FLAGS_MASKS_CONTROL::zeroed().with_interrupt_enable(on));
    }

    fn acknowledge(&self) {
        self.0
            .write_reg(ADDRESS_FLIP_STATUS::zeroed().with_cr_status(true));
        let _ = self.0.read(ADDRESS_FLIP_STATUS);
    }

    fn rearm(&self) {
        self.0
            .write_reg(INTERRUPT_FLAGS_MASKS_CONTROL_2::zeroed().with_msi_retrigger(true));
    }

    fn pending(&self) -> Pending {
        let status = self.0.read(ADDRESS_FLIP_STATUS);
        match status.into_raw() != u32::MAX && status.cr_status() {
            true => Pending::Fence,
            false => Pending::Nothing,
        }
    }
}

/// Return which kinds of interrupt to request: messages as well, if `messages` is set. Nobody says how well the chip sends
/// them.
pub(crate) fn types(messages: bool) -> pci::IrqTypes {
    let types = pci::IrqTypes::default().with(pci::IrqType::Intx);
    match messages {
        true => types.with(pci::IrqType::Msi),
        false => types,
    }
}

#[kunit_tests(chrome9_irq)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use lapidary::family::TopHalf;

    #[test]
    fn nothing_is_on_before_a_thread_waits() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(INTERRUPT_FLAGS_MASKS_CONTROL::from(u32::MAX));
        let irq = take_over(window);
        assert_eq!(window.read(INTERRUPT_FLAGS_MASKS_CONTROL).into_raw(), 0);
        assert!(irq.arm(true));
        let on = INTERRUPT_FLAGS_MASKS_CONTROL::zeroed().with_interrupt_enable(true);
        let control = window.read(INTERRUPT_FLAGS_MASKS_CONTROL);
        assert_eq!(control.into_raw(), on.into_raw());
        // What was pending before is acknowledged, and nothing else.
        let status = ADDRESS_FLIP_STATUS::zeroed().with_cr_status(true);
        let acknowledged = window.read(ADDRESS_FLIP_STATUS);
        assert_eq!(acknowledged.into_raw(), status.into_raw());
        assert!(irq.arm(false));
        assert_eq!(window.read(INTERRUPT_FLAGS_MASKS_CONTROL).into_raw(), 0);
        Ok(())
    }

    #[test]
    fn a_line_belongs_to_the_regulator_or_to_another_device() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = take_over(window);
        irq.set_kind(pci::IrqType::Intx);
        for (status, mine) in [(0, false), (u32::MAX, false), (!0x20, false), (0x20, true)] {
            assert!(irq.arm(true));
            window.write_reg(ADDRESS_FLIP_STATUS::from(status));
            let want = match mine {
                true => TopHalf::Fence(0),
                false => TopHalf::NotMine,
            };
            assert!(irq.top_half() == want);
            assert_eq!(irq.is_armed(), !mine);
            irq.off();
        }
        Ok(())
    }

    #[test]
    fn messages_are_rearmed_by_their_own_bit() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let irq = take_over(window);
        irq.set_kind(pci::IrqType::Intx);
        assert!(!window.read(INTERRUPT_FLAGS_MASKS_CONTROL_2).msi_retrigger());
        irq.set_kind(pci::IrqType::Msi);
        let rearmed = INTERRUPT_FLAGS_MASKS_CONTROL_2::zeroed().with_msi_retrigger(true);
        let control = window.read(INTERRUPT_FLAGS_MASKS_CONTROL_2);
        assert_eq!(control.into_raw(), rearmed.into_raw());
        Ok(())
    }
}
