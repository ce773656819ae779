// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chips of the family, and their PCI functions.
//!
//! | function | device | what |
//! | --- | --- | --- |
//! | [`DISPLAY`] | 1106:5122 | graphics: frame buffer in BAR0, registers in BAR1 |
//! | [`HOST_BRIDGE`] | 1106:3409 | function 3 of the host bridge, which knows the size of the frame buffer |
//!
//! On a mainboard the two are in different slots. Drivers find the second by its device number (viafb), so that it can
//! be in the same slot here.

use lapidary_model::chip::{Chip, Options};
use lapidary_model::family::{Entry, Family};
use lapidary_model::pci::{Bar, BarKind, Capability, Facts, Msi, Window};

use crate::regs::REGISTERS;
use crate::{Chrome9, vga};

/// Number of the graphics function.
pub const DISPLAY: usize = 0;
/// Number of the host bridge's function.
pub const HOST_BRIDGE: usize = 1;

/// Bytes of BAR1. The window of host data ends at 4 MiB (L533); a VX855 has 16 MiB.
const REGISTERS_SIZE: u64 = 16 << 20;
/// PCI vendor.
const VIA: u16 = 0x1106;
/// Where function 3 of the host bridge says how large the frame buffer is, and at which bit (decision 9).
const FRAME_BUFFER_SIZE: (u8, u32) = (0xa0, 12);

/// The family.
pub static FAMILY: Family = Family {
    name: "chrome9",
    registers: &REGISTERS,
    chips: || CHIPS.iter().map(|c| *c as &dyn Entry).collect(),
};

/// Every chip of it.
pub static CHIPS: &[&Variant] = &[&VX855];

/// What makes one chip of the family.
pub struct Variant {
    /// Name for the command line.
    pub name: &'static str,
    /// PCI device number of its graphics.
    pub device: u16,
    /// PCI device number of function 3 of its host bridge.
    pub host_bridge: u16,
}

/// VX855 and VX875: Chrome9 HCM.
pub static VX855: Variant = Variant {
    name: "vx855",
    device: 0x5122,
    host_bridge: 0x3409,
};

/// Return the code of a frame buffer's size in the host bridge: 1 is 8 MiB, and each next one twice as much.
fn size_code(bytes: u64) -> u16 {
    (bytes >> 20).checked_ilog2().unwrap_or(0).clamp(3, 9) as u16 - 2
}

impl Entry for Variant {
    fn name(&self) -> &'static str {
        self.name
    }

    fn build(&'static self, options: Options) -> Box<dyn Chip> {
        Box::new(Chrome9::new(options))
    }

    fn functions(&self, options: Options, _: Vec<u8>) -> Vec<Facts> {
        let bar = |index, size, kind, window| Bar {
            index,
            size,
            kind,
            window,
        };
        let (word, bit) = FRAME_BUFFER_SIZE;
        let display = Facts {
            vendor: VIA,
            device: self.device,
            class: 0x03_00_00, // VGA
            bars: vec![
                bar(0, options.window, BarKind::Prefetchable32, Window::Memory),
                bar(
                    1,
                    REGISTERS_SIZE,
                    BarKind::Memory32,
                    Window::Registers {
                        first: 0,
                        bytes: vga::PORTS,
                    },
                ),
            ],
            capabilities: vec![Capability::power(0x60), Capability::msi(0x90)],
            msi: Msi::Rearmed,
            powers: true,
            ..Facts::default()
        };
        let host_bridge = Facts {
            vendor: VIA,
            device: self.host_bridge,
            class: 0x06_00_00, // host bridge
            words: vec![(word, size_code(options.vram) << bit, 0)],
            ..Facts::default()
        };
        vec![display, host_bridge]
    }

    fn image(&self, _: &str, _: Options) -> Option<Vec<u8>> {
        None
    }

    fn dump<'a>(&self, _: &'a [u8]) -> Result<&'a [u8], String> {
        Err("its video BIOS is a part of the mainboard's".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_frame_buffers_have_the_codes_of_the_host_bridge() {
        let codes = [8, 16, 32, 64, 128, 256, 512].map(|mib| size_code(mib << 20));
        assert_eq!(codes, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            [0, 1, 4, 1024].map(|mib| size_code(mib << 20)),
            [1, 1, 1, 7]
        );
    }
}
