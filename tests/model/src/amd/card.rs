// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The PCI function of a card with a Radeon from R5xx to R7xx.

use crate::chip::Options;
use crate::pci::{Bar, BarKind, Capability, Facts, Msi, Window};

/// PCI vendor.
const ATI: u16 = 0x1002;

/// Return the only function of a card: VRAM in BAR0, the registers in BAR2, the first of them as ports in BAR4, and the
/// capabilities at the places where these cards have them.
pub fn function(device: u16, options: Options, rom: Vec<u8>) -> Facts {
    let bar = |index, size, kind, window| Bar {
        index,
        size,
        kind,
        window,
    };
    let registers = Window::Registers {
        first: 0,
        bytes: 0..0x400,
    };
    Facts {
        vendor: ATI,
        device,
        revision: 0,
        class: 0x03_80_00, // display controller, other
        bars: vec![
            bar(0, options.window, BarKind::Prefetchable64, Window::Memory),
            bar(2, 0x1_0000, BarKind::Memory64, registers.clone()),
            bar(4, 0x100, BarKind::Io, registers),
        ],
        capabilities: vec![
            Capability::power(0x50),
            Capability::express(0x58),
            Capability::msi(0xa0),
        ],
        msi: Msi::Rearmed,
        rom,
        powers: true,
        ..Facts::default()
    }
}
