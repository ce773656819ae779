// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a family of chips is to the programs: a table, which its crate provides.

use lapidary_registers::{Database, Register};

use crate::chip::{Chip, Options};
use crate::pci::Facts;
use crate::registers::{Class, Registers};

/// A family.
pub struct Family {
    /// Its name, which is that of its driver and of its register database.
    pub name: &'static str,
    /// Its registers, and what its model makes of each.
    pub registers: &'static Registers,
    /// Its chips.
    pub chips: fn() -> Vec<&'static dyn Entry>,
}

impl Family {
    /// Return its register database.
    pub fn database(&self) -> &'static Database {
        self.registers.database
    }

    /// Return what its model makes of a register; none if it has not been decided.
    pub fn class(&self, register: &Register) -> Option<Class> {
        (self.registers.class)(register)
    }

    /// Return the chip of that name.
    pub fn chip(&self, name: &str) -> Option<&'static dyn Entry> {
        (self.chips)().into_iter().find(|c| c.name() == name)
    }
}

/// Return the chip of that name, in whichever of the families it is.
///
/// # Errors
/// One line that names the chips there are.
pub fn find(
    families: &[&'static Family],
    name: &str,
) -> Result<(&'static Family, &'static dyn Entry), String> {
    families
        .iter()
        .find_map(|family| Some((*family, family.chip(name)?)))
        .ok_or_else(|| {
            let chips = families.iter().flat_map(|family| (family.chips)());
            let all: Vec<_> = chips.map(|c| c.name()).collect();
            format!("no chip {name}; there are {}", all.join(", "))
        })
}

/// One chip of a family.
pub trait Entry: Sync {
    /// Return its name for the command line.
    fn name(&self) -> &'static str;

    /// Make the chip; it must be reset before use.
    fn build(&'static self, options: Options) -> Box<dyn Chip>;

    /// Return its PCI functions, of which the one that the firmware looks at has that ROM (empty, or a power of two of
    /// bytes).
    fn functions(&self, options: Options, rom: Vec<u8>) -> Vec<Facts>;

    /// Return whether fuses say which of its units work.
    fn has_fuses(&self) -> bool {
        false
    }

    /// Return the bytes of memory of its own; 0 of a chip that uses the computer's.
    fn memory(&self, options: Options) -> u64 {
        options.vram
    }

    /// Return one of the ROMs that the family makes for it, as long as what is in it; none if the family makes no ROM
    /// of that name. A family whose cards have a ROM makes `synthetic`, the one that has left the card as
    /// `options.state` says.
    fn image(&self, name: &str, options: Options) -> Option<Vec<u8>>;

    /// Return the ROM in what was read from a real card, without what stands behind it.
    ///
    /// # Errors
    /// One line that says why it is no ROM for this chip.
    fn dump<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], String>;
}
