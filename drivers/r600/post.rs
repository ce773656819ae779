// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the video BIOS reaches when it posts the card ([`lapidary::amd::bios`]). It reads all registers. The rules of
//! [`portable::posting`](crate::portable::posting) say which ones it writes.
//!
//! A posted card shows in two places. Its display runs, or `CONFIG_MEMSIZE` is not 0, because the BIOS writes down how
//! much memory there is (Linux, `radeon_device.c`: `radeon_card_posted`).
//!
//! All registers have byte offsets in one space. There are no separate spaces for clocks and memory controller as on
//! older chips. A program that names a register there reads zero and writes nothing.

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
        Far,
        RegisterIo,
        Window,
        WINDOW, //
    },
};

/// End of the registers that a program names: an operand has 16 bits and counts dwords.
const END: u32 = 0x4_0000;

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
        hal::post::rules(self.chipset)
    }

    fn reach(&self, program: &mut dyn FnMut(&mut dyn Card)) {
        program(&mut Registers(self.window));
    }
}

/// The card as a command table accesses it.
struct Registers<W>(W);

impl<'a, W: RegisterIo<'a>> Registers<W> {
    /// Access the register at `offset`, if there is one. The program may use the pair that leads there itself, so the
    /// index stays.
    fn reach<R>(&self, offset: u32, access: impl FnOnce(Far<W>) -> R) -> Option<R> {
        let far = Far::new(self.0);
        if offset as usize + size_of::<u32>() <= WINDOW {
            return Some(access(far));
        }
        if offset >= END {
            return None;
        }
        let index = self.0.read(MM_INDEX);
        let result = access(far);
        self.0.write_reg(index);
        Some(result)
    }
}

impl<'a, W: RegisterIo<'a>> Card for Registers<W> {
    fn read(&mut self, offset: u32) -> Option<u32> {
        self.reach(offset, |far| far.read(offset))
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        self.reach(offset, |far| far.write(offset, value))
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.write(offset, value)
    }

    fn read_pll(&mut self, _index: u8) -> u32 {
        0
    }

    fn write_pll(&mut self, _index: u8, _value: u32) {}

    fn read_mc(&mut self, _index: u8) -> u32 {
        0
    }

    fn write_mc(&mut self, _index: u8, _value: u32) {}

    fn wait(&mut self, micros: u32) {
        fsleep(Delta::from_micros(micros.into()));
    }
}

#[kunit_tests(r600_post)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use kernel::time::{
        Instant,
        Monotonic, //
    };

    #[test]
    fn a_posted_card_is_left_alone() -> Result {
        let device = fake::Device::new()?;
        for posted in [CONFIG_MEMSIZE_SET, DISPLAY_SET] {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            assert!(!is_posted(window));
            posted(window);
            ensure(device.dev(), Chipset::Rv770, window, None)?;
        }
        Ok(())
    }

    const CONFIG_MEMSIZE_SET: fn(Window<'_>) =
        |window| window.write_reg(CONFIG_MEMSIZE::from(1 << 24));
    const DISPLAY_SET: fn(Window<'_>) =
        |window| window.write_reg(D2CRTC_CONTROL::zeroed().with_crtc_en(true));

    /// Registers behind the window are reached through the pair of all registers, whose index stays as it was.
    #[test]
    fn a_program_reaches_all_registers() {
        use fake::Access::{
            Read,
            Write, //
        };
        let log = fake::Log::new();
        let mut card = Registers(log.registers());
        // CAST: 64 KiB.
        let end = WINDOW as u32;
        assert_eq!(card.write(end - 4, 7), Some(()));
        assert_eq!(card.read(end - 4), Some(0));
        assert_eq!(card.write_for_port(0x2_8350, 8), Some(()));
        assert_eq!(card.read(0x2_8350), Some(0));
        let want = [
            Write(WINDOW - 4, 7),
            Read(WINDOW - 4),
            Read(0),
            Write(0, 0x2_8350),
            Write(4, 8),
            Write(0, 0),
            Read(0),
            Write(0, 0x2_8350),
            Read(4),
            Write(0, 0),
        ];
        assert_eq!(log.take().as_slice(), want.as_slice());
        assert_eq!((card.read(END), card.write(END, 7)), (None, None));
        assert_eq!(card.write_for_port(u32::MAX - 3, 7), None);
        card.write_pll(3, 1);
        card.write_mc(3, 1);
        assert_eq!((card.read_pll(3), card.read_mc(3)), (0, 0));
        assert!(log.take().is_empty());
    }

    /// A video BIOS waits for the hardware by time alone, so a wait must not be shorter.
    #[test]
    fn waits_last_as_long_as_they_are_asked_to() -> Result {
        let mut memory = fake::Memory::new()?;
        let mut card = Registers(memory.window()?);
        let begin = Instant::<Monotonic>::now();
        card.wait(3000);
        assert!(begin.elapsed() >= Delta::from_micros(3000));
        Ok(())
    }
}
