// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the video BIOS reaches when it posts the card ([`lapidary::amd::bios`]). It reads all registers. The rules of
//! [`portable::posting`](crate::portable::posting) say which ones it writes.
//!
//! A posted card shows in two places. Its display runs, or `CONFIG_MEMSIZE` is not 0, because the BIOS writes down how
//! much memory there is (Linux, `radeon_device.c`: `radeon_card_posted`).

use kernel::{
    device::Device,
    io::Io,
    prelude::*,
    time::{
        delay::fsleep,
        Delta, //
    },
};

use lapidary::{
    amd::bios::{
        self,
        Bios, //
    },
    hardware::indirect::Pair,
    portable::atom::{
        guard::Rules,
        Card, //
    }, //
};

use crate::{
    chip::Chipset,
    display, hal,
    regs::{
        mmio::*,
        McPair,
        PllPair,
        RegisterIo,
        Window, //
    },
};

/// Return whether the card has been posted: a display runs, or the size of memory is known.
fn is_posted(window: Window<'_>) -> bool {
    display::is_on(window) || window.read(CONFIG_MEMSIZE).into_raw() != 0
}

/// Post the card unless firmware has done so, as [`bios::ensure`] says.
pub(crate) fn ensure(
    dev: &Device,
    chipset: Chipset,
    window: Window<'_>,
    bios: Option<&Bios>,
) -> Result {
    bios::ensure(dev, &Unposted { window, chipset }, bios)
}

/// A card that perhaps has not been posted.
struct Unposted<'a> {
    window: Window<'a>,
    chipset: Chipset,
}

impl bios::Chip for Unposted<'_> {
    fn is_posted(&self) -> bool {
        is_posted(self.window)
    }

    fn rules(&self) -> &'static Rules {
        hal::post::of(self.chipset).rules()
    }

    fn reach(&self, program: &mut dyn FnMut(&mut dyn Card)) {
        program(&mut Registers {
            window: self.window,
            hal: hal::post::of(self.chipset),
        });
    }
}

/// The card as a command table accesses it.
struct Registers<'a> {
    window: Window<'a>,
    hal: &'a dyn hal::post::Hal,
}

/// Write a register as a step of a port's program. Read it before if `reads_first`.
fn write_for_port<'w>(
    window: impl RegisterIo<'w>,
    offset: u32,
    value: u32,
    reads_first: bool,
) -> Option<()> {
    let offset = usize::try_from(offset).ok()?;
    if reads_first {
        window.try_read32(offset).ok()?;
    }
    window.try_write32(value, offset).ok()
}

impl Card for Registers<'_> {
    fn read(&mut self, offset: u32) -> Option<u32> {
        self.window.try_read32(usize::try_from(offset).ok()?).ok()
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        let offset = usize::try_from(offset).ok()?;
        self.window.try_write32(value, offset).ok()
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        write_for_port(self.window, offset, value, self.hal.port_reads_first())
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        PllPair::read(self.window, index.into())
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        PllPair::write(self.window, index.into(), value);
    }

    fn read_mc(&mut self, index: u8) -> u32 {
        McPair::read(self.window, index.into())
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        McPair::write(self.window, index.into(), value);
    }

    fn wait(&mut self, micros: u32) {
        fsleep(Delta::from_micros(micros.into()));
    }
}

#[kunit_tests(r500_post)]
mod tests {
    use super::*;
    use crate::regs::{
        fake,
        WINDOW, //
    };
    use kernel::time::{
        Instant,
        Monotonic, //
    };

    /// A window of memory, and a device whose log takes messages.
    fn with_window(test: impl FnOnce(&Device, Window<'_>) -> Result) -> Result {
        let device = fake::Device::new()?;
        let mut memory = fake::Memory::new()?;
        test(device.dev(), memory.window()?)
    }

    #[test]
    fn a_posted_card_is_left_alone() -> Result {
        with_window(|dev, window| {
            window.write_reg(CONFIG_MEMSIZE::from(1 << 24));
            ensure(dev, Chipset::Rv515, window, None)
        })
    }

    #[test]
    fn registers_end_with_the_window() -> Result {
        with_window(|_, window| {
            for chip in [Chipset::Rv515, Chipset::R580] {
                let mut card = Registers {
                    window,
                    hal: hal::post::of(chip),
                };
                // CAST: 64 KiB.
                let end = WINDOW as u32;
                assert_eq!(card.write(end - 4, 7), Some(()));
                assert_eq!(card.read(end - 4), Some(7));
                assert_eq!(card.read(end), None);
                assert_eq!(card.write(end, 7), None);
                assert_eq!(card.write_for_port(end, 7), None);
                assert_eq!(card.read(u32::MAX - 3), None);
                assert_eq!(card.write_for_port(0x100, 9), Some(()));
                assert_eq!(card.read(0x100), Some(9));
            }
            Ok(())
        })
    }

    #[test]
    fn some_registers_are_read_before_a_port_writes_them() {
        use fake::Access::{
            Read,
            Write, //
        };
        let log = fake::Log::new();
        assert_eq!(write_for_port(log.registers(), 0x70, 3, true), Some(()));
        assert_eq!(log.take().as_slice(), [Read(0x70), Write(0x70, 3)]);
        assert_eq!(write_for_port(log.registers(), 0x70, 3, false), Some(()));
        assert_eq!(log.take().as_slice(), [Write(0x70, 3)]);
    }

    /// A video BIOS waits for the hardware by time alone, so a wait must not be shorter.
    #[test]
    fn waits_last_as_long_as_they_are_asked_to() -> Result {
        with_window(|_, window| {
            let mut card = Registers {
                window,
                hal: hal::post::of(Chipset::R580),
            };
            let begin = Instant::<Monotonic>::now();
            card.wait(3000);
            assert!(begin.elapsed() >= Delta::from_micros(3000));
            Ok(())
        })
    }

    /// All six bits of a clock's number arrive, and so does the memory controller's.
    #[test]
    fn indirect_registers_are_reached_by_number() -> Result {
        with_window(|_, window| {
            let mut card = Registers {
                window,
                hal: hal::post::of(Chipset::R580),
            };
            card.write_pll(0x2d, 5);
            assert_eq!(window.read(CLOCK_CNTL_INDEX).into_raw(), 0x2d);
            assert_eq!(window.read(CLOCK_CNTL_DATA).into_raw(), 5);
            assert_eq!(card.read_pll(0x2d), 5);
            card.write_mc(0x70, 6);
            assert_eq!(window.read(MC_IND_DATA).into_raw(), 6);
            assert_eq!(card.read_mc(0x70), 6);
            Ok(())
        })
    }
}
