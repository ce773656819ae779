// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The display core. There are three generations of it: R600, RV610 and RV670 have DCE 2, RV635 and RV770 have DCE 3,
//! RV730, RV710 and RV740 have DCE 3.2. They differ in the connectors whose plugs they watch.
//!
//! The facts are from Linux' `radeon` (`r600_disable_interrupt_state`).

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    chip::Chipset,
    portable::regs::{mmio_r6xx, mmio_r7xx},
    regs::Window, //
};

/// Bits that all registers of [`Hal::plugs`] have at the same place: acknowledge, and enable.
pub(crate) const PLUG_ACK: u32 =
    mmio_r6xx::dc_hot_plug_detect1_int_control::DC_HOT_PLUG_DETECT_INT_ACK.mask();
pub(crate) const PLUG_ENABLE: u32 =
    mmio_r6xx::dc_hot_plug_detect1_int_control::DC_HOT_PLUG_DETECT_INT_EN.mask();
/// Bit of the second interrupt of a connector of DCE 3.
const MESSAGE_ENABLE: u32 = mmio_r6xx::dc_hpd1_int_control::DC_HPD_RX_INT_EN.mask();

/// A display core.
pub(crate) trait Hal: Sync {
    /// Return the offsets of the registers that control the interrupts of plugs.
    fn plugs(&self) -> &'static [u32];

    /// Switch off the interrupts of plugs, and acknowledge those pending.
    fn silence_plugs(&self, window: Window<'_>) {
        for control in self.plugs() {
            // No error: the registers are in the window.
            let _ = silence(window, *control as usize);
        }
    }
}

fn silence(window: Window<'_>, control: usize) -> Result {
    let value = window.try_read32(control)? & !(PLUG_ENABLE | MESSAGE_ENABLE);
    window.try_write32(value | PLUG_ACK, control)
}

/// Return the display core of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::R600 | Chipset::Rv610 | Chipset::Rv670 => &Dce2,
        Chipset::Rv635 => &Dce3R6xx,
        Chipset::Rv770 => &Dce3,
        Chipset::Rv730 | Chipset::Rv710 | Chipset::Rv740 => &Dce32,
    }
}

struct Dce2;

impl Hal for Dce2 {
    fn plugs(&self) -> &'static [u32] {
        &[
            mmio_r6xx::DC_HOT_PLUG_DETECT1_INT_CONTROL,
            mmio_r6xx::DC_HOT_PLUG_DETECT2_INT_CONTROL,
            mmio_r6xx::DC_HOT_PLUG_DETECT3_INT_CONTROL,
        ]
    }
}

/// DCE 3 of the RV635, whose registers are in the map of R6xx.
struct Dce3R6xx;

impl Hal for Dce3R6xx {
    fn plugs(&self) -> &'static [u32] {
        &[
            mmio_r6xx::DC_HPD1_INT_CONTROL,
            mmio_r6xx::DC_HPD2_INT_CONTROL,
            mmio_r6xx::DC_HPD3_INT_CONTROL,
            mmio_r6xx::DC_HPD4_INT_CONTROL,
        ]
    }
}

/// The first four connectors of DCE 3 and DCE 3.2.
const FOUR: [u32; 4] = {
    let mut all = [0; 4];
    let mut index = 0;
    while index < all.len() {
        if let Some(offset) = mmio_r7xx::DC_HPD_INT_CONTROL.at(index as u32) {
            all[index] = offset;
        }
        index += 1;
    }
    all
};

struct Dce3;

impl Hal for Dce3 {
    fn plugs(&self) -> &'static [u32] {
        &FOUR
    }
}

struct Dce32;

impl Hal for Dce32 {
    fn plugs(&self) -> &'static [u32] {
        const {
            let [first, second, third, fourth] = FOUR;
            &[
                first,
                second,
                third,
                fourth,
                mmio_r7xx::DC_HPD5_INT_CONTROL,
                mmio_r7xx::DC_HPD6_INT_CONTROL,
            ]
        }
    }
}
