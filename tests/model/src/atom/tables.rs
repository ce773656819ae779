// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command tables that all families have alike: what ASIC_Init calls, and how the firmware runs it.

use lapidary_registers::RegArray;

use super::clocks::Clocks;
use super::code::{Code, Place, When};
use super::image::command;
use super::run::{self, Card};

/// "ASIC_Init is complete" in BIOS_SCRATCH[7] (`atombios.h` in Linux).
const INIT_COMPLETE: u32 = 1 << 9;

/// The scratch word of the BIOS with that flag.
const STATE: u32 = 7;

/// Return an element of an array of registers, the first if there is none with that number.
pub fn element(array: RegArray, n: u32) -> Place {
    Place::Register(array.at(n).unwrap_or(array.base()))
}

/// Append what ASIC_Init does on each card: registers, engine clock, memory clock, memory controller. The table's
/// parameters are the two clocks. Word 2 becomes the parameter of the tables that it calls.
pub fn set_up(t: &mut Code) -> &mut Code {
    let called = Place::Parameter(2);
    t.call(command::REGISTERS_INIT)
        .set(called, Place::Parameter(0))
        .call(command::SET_ENGINE_CLOCK)
        .set(called, Place::Parameter(1))
        .call(command::SET_MEMORY_CLOCK)
        .call(command::MEMORY_CONTROLLER_INIT)
}

/// Append that ASIC_Init says that it is done. `scratch` are the words of the BIOS.
pub fn complete(t: &mut Code, scratch: RegArray) -> &mut Code {
    t.or(element(scratch, STATE), INIT_COMPLETE)
}

/// Return an ASIC_Init that sets up the card and says so.
pub fn asic_init(scratch: RegArray) -> Vec<u8> {
    let mut t = Code::new(2);
    complete(set_up(&mut t), scratch).build()
}

/// Return an ASIC_Init that polls `register` as long as it is zero. On a card with a broken memory controller the size
/// of memory stays zero for ever.
pub fn endless_init(register: u32) -> Vec<u8> {
    let mut t = Code::new(2);
    let again = t.label();
    t.place(again)
        .test(Place::Register(register), u32::MAX)
        .jump(When::Equal, again);
    t.build()
}

/// Post a card as the computer's firmware does: run ASIC_Init out of its ROM with the default clocks.
pub fn post(image: &[u8], clocks: Clocks, card: &mut dyn Card) {
    let Clocks { engine, memory } = clocks;
    if let Err(e) = run::run(image, command::ASIC_INIT, &[engine, memory], card) {
        log::error!("the firmware does not post: {e}");
    }
}
