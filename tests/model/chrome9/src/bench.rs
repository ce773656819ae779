// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A chip on the bench: posted, with a frame buffer, and no QEMU around it. Tests write its registers and step it by hand.

use crate::Chrome9;
use crate::chips::{DISPLAY, VX855};
use lapidary_model::chip::{Chip as _, Fuses, Options, State};
use lapidary_model::family::Entry as _;
use lapidary_model::machine::Machine;
use lapidary_model::memory::Vram;

/// Return a VX855 after a reset, which may access the bus, and its machine with `vram` bytes of frame buffer.
///
/// # Panics
///
/// The system has no such memory.
pub fn chip(vram: u64) -> (Chrome9, Machine) {
    let options = Options {
        vram,
        window: vram,
        trapped: true,
        state: State::Posted,
        fuses: Fuses::Whole,
    };
    let functions = VX855.functions(options, Vec::new());
    let vram = Vram::new(vram).expect("memory for the frame buffer");
    let mut machine = Machine::new(vram, &functions);
    machine.functions[DISPLAY].pci.write(4, &[6]);
    let mut chip = Chrome9::new(options);
    chip.reset(&mut machine);
    (chip, machine)
}
