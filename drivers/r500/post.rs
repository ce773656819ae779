// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the video BIOS reaches when it posts the card ([`lapidary::amd::bios`]): all registers, through the guard of
//! [`portable::posting`](crate::portable::posting).
//!
//! That the BIOS has been there shows in two places: a display that runs, or the size of memory, which it writes down
//! (Linux, `radeon_device.c`: `radeon_card_posted`).

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
    amd::{
        bios::{
            self,
            Bios,
            Dropped, //
        },
        indirect::Pair, //
    },
    portable::atom::Card, //
};

use crate::{
    chip::Chipset,
    display, hal,
    portable::posting::Guard,
    regs::{
        mmio::*,
        McPair,
        PllPair,
        RegisterIo,
        Window, //
    },
};

/// Whether firmware has set the card up. Running displays need memory, else its size has been
/// written down.
fn is_posted(window: Window<'_>) -> bool {
    display::is_on(window) || window.read(CONFIG_MEMSIZE).into_raw() != 0
}

/// Posts the card unless firmware has, as [`bios::ensure`].
pub(crate) fn ensure(
    dev: &Device,
    chipset: Chipset,
    window: Window<'_>,
    bios: Option<&Bios>,
) -> Result {
    bios::ensure(dev, &Unposted { window, chipset }, bios)
}

/// A card that perhaps has to be posted.
struct Unposted<'a> {
    window: Window<'a>,
    chipset: Chipset,
}

impl bios::Chip for Unposted<'_> {
    fn is_posted(&self) -> bool {
        is_posted(self.window)
    }

    fn reach(&self, program: &mut dyn FnMut(&mut dyn Card)) -> Option<Dropped> {
        let (window, hal) = (self.window, hal::post::of(self.chipset));
        let mut card = Registers { window, hal };
        let mut guard = Guard::new(&mut card, hal.memory_controller());
        program(&mut guard);
        guard.dropped().map(|dropped| Dropped {
            count: dropped.count,
            space: dropped.first.space(),
            number: dropped.first.number(),
        })
    }
}

/// What a command table works on.
struct Registers<'a> {
    window: Window<'a>,
    hal: &'a dyn hal::post::Hal,
}

/// Writes a register on the way through an index and a data register, on some chips behind a read of it.
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

    /// A window of memory, and a device to complain to.
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

    /// What a video BIOS waits for has no other sign than the time: it must not be shorter.
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
