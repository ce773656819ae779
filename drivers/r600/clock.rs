// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The GPU's clock counter and its temperature.
//!
//! The counter has 64 bits. A write to a register copies it to two others, which are then read.
//!
//! The facts are from Linux' `radeon` (`r600_get_gpu_clock_counter`, `rv6xx_get_temp`, `rv770_get_temp`).

use kernel::{
    io::Io,
    new_mutex,
    prelude::*,
    sync::Mutex, //
};

use crate::{
    chip::{
        Chipset,
        Generation, //
    },
    portable::regs::{
        mmio_r6xx::{
            self,
            cg_thermal_status, //
        },
        mmio_r7xx::{
            self,
            cg_clkpin_cntl,
            cg_mult_thermal_status, //
        },
    },
    regs::{
        mmio::*,
        Far,
        Window, //
    },
};

/// Thousandths of a degree.
const MILLI: i32 = 1000;

/// Clock of R7xx in kHz if it is taken from the bus, a tenth of the bus clock.
const BUS_KHZ: u32 = 10_000;

/// The counter.
#[pin_data]
pub(crate) struct Clock {
    #[pin]
    capture: Mutex<()>,
}

impl Clock {
    /// Return an initializer. There must be only one for a chip.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            capture <- new_mutex!((), "clock.capture"),
        })
    }

    /// Read the counter. Sleeps if another thread reads it.
    pub(crate) fn count(&self, window: Window<'_>) -> u64 {
        let _capture = self.capture.lock();
        window.write_reg(RLC_CAPTURE_GPU_CLOCK_COUNT::from(1));
        let low = window.read(RLC_GPU_CLOCK_COUNT_LSB).into_raw();
        let high = window.read(RLC_GPU_CLOCK_COUNT_MSB).into_raw();
        u64::from(high) << 32 | u64::from(low)
    }
}

/// Return the clock that the counter counts, in kHz. `reference` is that of the card's crystal.
pub(crate) fn counted_khz(chipset: Chipset, window: Window<'_>, reference: u32) -> u32 {
    match chipset.generation() {
        Generation::R6xx => reference,
        Generation::R7xx => {
            let pin = Far::new(window).read(mmio_r7xx::CG_CLKPIN_CNTL);
            if cg_clkpin_cntl::MUX_TCLK_TO_XCLK.any(pin) {
                BUS_KHZ
            } else if cg_clkpin_cntl::XTALIN_DIVIDE.any(pin) {
                reference / 4
            } else {
                reference
            }
        }
    }
}

/// Return the temperature in thousandths of a degree.
pub(crate) fn temperature(chipset: Chipset, window: Window<'_>) -> i32 {
    let far = Far::new(window);
    match chipset.generation() {
        Generation::R6xx => {
            let status = far.read(mmio_r6xx::CG_THERMAL_STATUS);
            degrees(cg_thermal_status::ASIC_T.get(status)) * MILLI
        }
        Generation::R7xx => {
            let status = far.read(mmio_r7xx::CG_MULT_THERMAL_STATUS);
            half_degrees(cg_mult_thermal_status::ASIC_T.get(status)) * MILLI / 2
        }
    }
}

/// Return the degrees of a sensor of R6xx, a number of nine bits with a sign.
fn degrees(value: u32) -> i32 {
    // CAST: eight bits.
    let low = (value & 0xff) as i32;
    match value & 0x100 {
        0 => low,
        _ => low - 0x100,
    }
}

/// Return the half degrees of a sensor of R7xx. Bits 10 and 9 say that the value is below or above what bits 8:0 hold.
fn half_degrees(value: u32) -> i32 {
    const BELOW: u32 = 1 << 10;
    const ABOVE: u32 = 1 << 9;
    if value & BELOW != 0 {
        -256
    } else if value & ABOVE != 0 {
        255
    } else {
        degrees(value)
    }
}

#[kunit_tests(r600_clock)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use kernel::alloc::KBox;

    #[test]
    fn the_counter_has_two_halves() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(RLC_GPU_CLOCK_COUNT_LSB::from(0x89ab_cdef));
        window.write_reg(RLC_GPU_CLOCK_COUNT_MSB::from(0x123));
        let clock = KBox::pin_init(Clock::new(), GFP_KERNEL)?;
        assert_eq!(clock.count(window), 0x123_89ab_cdef);
        assert_eq!(window.read(RLC_CAPTURE_GPU_CLOCK_COUNT).into_raw(), 1);
        Ok(())
    }

    #[test]
    fn r7xx_may_divide_the_crystal() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let far = Far::new(window);
        for (pin, want) in [(0, 27_000), (1 << 9, 6_750), (3 << 8, 10_000)] {
            far.write(mmio_r7xx::CG_CLKPIN_CNTL, pin);
            assert_eq!(counted_khz(Chipset::Rv740, window, 27_000), want);
            assert_eq!(counted_khz(Chipset::Rv610, window, 27_000), 27_000);
        }
        Ok(())
    }

    #[test]
    fn temperatures_have_signs() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let far = Far::new(window);
        for (value, want) in [(60, 60_000), (0x1fe, -2_000)] {
            far.write(mmio_r6xx::CG_THERMAL_STATUS, value);
            assert_eq!(temperature(Chipset::R600, window), want);
        }
        for (value, want) in [(121, 60_500), (0x1fe, -1_000), (0x200, 127_500)] {
            far.write(mmio_r7xx::CG_MULT_THERMAL_STATUS, value << 16);
            assert_eq!(temperature(Chipset::Rv770, window), want);
        }
        assert_eq!(half_degrees(0x400), -256);
        Ok(())
    }
}
