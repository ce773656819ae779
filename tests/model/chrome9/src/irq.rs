// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Interrupts: status and enables of the display's three registers, and the one output to the CPU.
//!
//! Status bits of 200h, 204h and 1280h collect what happened; a one clears them (L108-117, L331-334). Bit 31 of 200h
//! enables all. The interrupt of the command regulator (204h bit 5) has no enable of its own that the manual lists.

use lapidary_model::machine::Machine;
use lapidary_registers::Field;
use lapidary_registers::chrome9::mmio::{
    self, address_flip_status as flips, interrupt_flags_masks_control as first,
    interrupt_flags_masks_control_2 as second,
};

use crate::chips::DISPLAY;
use crate::{Chrome9, fault};

/// Enables of 200h and the status bits that they let through.
const SOURCES: &[(Field, Field)] = &[
    (first::LVDS_SENSE_ENABLE, first::LVDS_SENSE_STATUS),
    (first::CAPTURE_0_VBI_ENABLE, first::CAPTURE_0_VBI_STATUS),
    (
        first::CAPTURE_0_ACTIVE_ENABLE,
        first::CAPTURE_0_ACTIVE_STATUS,
    ),
    (first::CAPTURE_1_VBI_ENABLE, first::CAPTURE_1_VBI_STATUS),
    (
        first::CAPTURE_1_ACTIVE_ENABLE,
        first::CAPTURE_1_ACTIVE_STATUS,
    ),
    (first::HQV0_ENABLE, first::HQV0_STATUS),
    (first::HQV1_ENABLE, first::HQV1_STATUS),
    (first::DMA0_DESCRIPTOR_ENABLE, first::DMA0_DESCRIPTOR_STATUS),
    (first::DMA0_TRANSFER_ENABLE, first::DMA0_TRANSFER_STATUS),
    (first::DMA1_DESCRIPTOR_ENABLE, first::DMA1_DESCRIPTOR_STATUS),
    (first::DMA1_TRANSFER_ENABLE, first::DMA1_TRANSFER_STATUS),
    (first::VGA_VSYNC_ENABLE, first::VGA_VSYNC_STATUS),
    (first::SECOND_VSYNC_ENABLE, first::SECOND_VSYNC_STATUS),
    (first::MC_FRAME_ENABLE, first::MC_FRAME_STATUS),
    (first::DVI_SENSE_ENABLE, first::DVI_SENSE_STATUS),
];

/// Status bits of 1280h.
const SECOND_STATUS: u32 = second::CRT_SENSE_STATUS.mask()
    | second::DMA3_TRANSFER_STATUS.mask()
    | second::DMA3_DESCRIPTOR_STATUS.mask()
    | second::DMA2_TRANSFER_STATUS.mask()
    | second::DMA2_DESCRIPTOR_STATUS.mask();

/// Return the status bits of 200h that a one clears.
fn first_status() -> u32 {
    SOURCES
        .iter()
        .fold(0, |bits, (_, status)| bits | status.mask())
}

impl Chrome9 {
    /// Write 200h: enables are stored, ones clear status bits.
    pub(crate) fn write_interrupts(&mut self, m: &mut Machine, value: u32) {
        let status = first_status();
        let all = status | first::VBLANK_STATUS.mask();
        let old = self.regs.get(mmio::INTERRUPT_FLAGS_MASKS_CONTROL);
        let left = old & all & !(value & status);
        self.regs
            .set(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, left | value & !all);
        self.update_interrupt(m);
    }

    /// Write 204h, where a one clears the regulator's interrupt and the rest is read-only.
    pub(crate) fn write_flip_status(&mut self, m: &mut Machine, value: u32) {
        let old = self.regs.get(mmio::ADDRESS_FLIP_STATUS);
        let left = old & !(value & flips::CR_STATUS.mask());
        self.regs.set(mmio::ADDRESS_FLIP_STATUS, left);
        self.update_interrupt(m);
    }

    /// Write 1280h: enables are stored, ones clear status bits, and bit 31 re-arms MSI.
    pub(crate) fn write_interrupts_2(&mut self, m: &mut Machine, value: u32) {
        let old = self.regs.get(mmio::INTERRUPT_FLAGS_MASKS_CONTROL_2);
        let left = old & SECOND_STATUS & !value;
        let enables = value & !SECOND_STATUS & !second::MSI_RETRIGGER.mask();
        self.regs
            .set(mmio::INTERRUPT_FLAGS_MASKS_CONTROL_2, left | enables);
        self.update_interrupt(m);
        if second::MSI_RETRIGGER.any(value) {
            m.rearm(DISPLAY);
        }
    }

    /// Raise the interrupt of the command regulator.
    pub(crate) fn raise_regulator(&mut self, m: &mut Machine) {
        m.counters.add("interrupt_events", 1);
        let status = self.regs.get(mmio::ADDRESS_FLIP_STATUS) | flips::CR_STATUS.mask();
        self.regs.set(mmio::ADDRESS_FLIP_STATUS, status);
        let enables = self.regs.get(mmio::INTERRUPT_FLAGS_MASKS_CONTROL);
        if first::INTERRUPT_ENABLE.any(enables)
            && !m.functions[DISPLAY].irq.level()
            && m.faults.take(fault::LOST_INTERRUPT)
        {
            m.trace.line(format_args!("fault: interrupt lost"));
            m.functions[DISPLAY].irq.lose();
            return;
        }
        self.update_interrupt(m);
    }

    /// Raise the interrupt of an engine of HQV.
    pub(crate) fn raise_hqv(&mut self, m: &mut Machine, engine: u32) {
        let status = if engine == 0 {
            first::HQV0_STATUS
        } else {
            first::HQV1_STATUS
        };
        let word = self.regs.get(mmio::INTERRUPT_FLAGS_MASKS_CONTROL) | status.mask();
        self.regs.set(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, word);
        self.update_interrupt(m);
    }

    /// Update the output after a change of status or enables.
    pub(crate) fn update_interrupt(&mut self, m: &mut Machine) {
        let word = self.regs.get(mmio::INTERRUPT_FLAGS_MASKS_CONTROL);
        let pending = SOURCES
            .iter()
            .any(|(enable, status)| enable.any(word) && status.any(word))
            || flips::CR_STATUS.any(self.regs.get(mmio::ADDRESS_FLIP_STATUS));
        m.interrupt(DISPLAY, first::INTERRUPT_ENABLE.any(word) && pending);
    }
}
