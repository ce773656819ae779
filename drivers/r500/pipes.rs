// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The pixel pipes.
//!
//! An R5xx has one to four pixel pipes. Each draws its share of a checkerboard of screen tiles. The fuses in
//! `GB_PIPE_SELECT` say how many pipes there are; `GB_TILE_CONFIG` sets how many take part (R5xx 9.3.4). The 2D engine
//! follows the same setting. User space asks for the numbers, because they decide how occlusion results are summed.
//!
//! The sequence is Linux' (`r420_pipes_init`, `rv515_gpu_init`, `r520_gpu_init`). The engines must be idle. A change of
//! the tiling loses all state of the 3D pipe.

use kernel::{
    io::Io,
    prelude::*, //
};

use crate::{
    chip::Chipset,
    cp,
    hal,
    regs::{
        mmio::*,
        pll,
        Pll,
        Window, //
    },
    state, //
};

/// How many pipes take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pipes {
    /// Pixel pipes, 1 to 4.
    pub(crate) pixel: u32,
    /// Z pipes, 1 or 2.
    pub(crate) z: u32,
}

/// `GB_TILE_CONFIG`: tiles of 16 by 16 pixels, the only size that all pipes support.
const TILE_16: u32 = 1;

/// Codes for one to four pipes in `GB_TILE_CONFIG` (R5xx 9.3.4.1).
const PIPE_COUNT: [u32; 4] = [0, 3, 6, 7];

/// Count the pipes and set all of them up.
///
/// # Errors
///
/// `ETIMEDOUT` if the engines do not become idle.
pub(crate) fn set_up(chipset: Chipset, window: Window<'_>) -> Result<Pipes> {
    let hal = hal::pipes::of(chipset);
    hal.before(window);
    // Let register accesses mix with drawing. Without this the geometry front end can lock up.
    window.write_reg(
        GA_ENHANCE::zeroed()
            .with_deadlock_cntl(true)
            .with_fastsync_cntl(true)
            .with_reg_readwrite(true)
            .with_reg_nostall(true),
    );
    cp::wait_idle(window)?;

    let fuses = window.read(GB_PIPE_SELECT);
    let highest = fuses.max_pipe().get();
    let pixel = highest + 1;
    let count = PIPE_COUNT.get(highest as usize).copied().unwrap_or(0);
    window.write_reg(SU_REG_DEST::zeroed().try_with_select(state::every(pixel))?);
    let before = window.read(GB_TILE_CONFIG);
    window.write_reg(
        GB_TILE_CONFIG::zeroed()
            .with_enable(true)
            .try_with_pipe_count(count)?
            .with_const_tile_size::<TILE_16>(),
    );
    cp::wait_idle(window)?;
    if before.pipe_count().get() != count || !before.enable() {
        // Another number of pipes takes effect by a reset (R5xx 9.4.1).
        cp::reset_3d(window);
        cp::wait_idle(window)?;
    }

    window.update(DST_PIPE_CONFIG, |config| config.with_pipe_auto_config(true));
    window.update(RB2D_DSTCACHE_MODE, |mode| {
        mode.with_dc_autoflush_enable(true)
            .with_dc_disable_ignore_pe(true)
    });
    cp::wait_idle(window)?;

    pin_init::stack_pin_init!(let pll = Pll::new(window));
    clocks(window, &pll, fuses)?;
    Ok(Pipes {
        pixel,
        z: hal.z_pipes(window),
    })
}

/// Power the memories of the pipes in use, and keep the clocks of the command processor and the 2D engine on.
///
/// A sync pulse that arrives while the command processor's clock is off would be lost (R5xx 4.9).
fn clocks(window: Window<'_>, pll: &Pll<'_>, fuses: GB_PIPE_SELECT) -> Result {
    let pipe = window.read(DST_PIPE_CONFIG).pipe_select().get();
    pll.write(
        pll::DYN_SCLK_PWMEM_PIPE::zeroed()
            .try_with_pipe_enable(1 << pipe)?
            .with_pipe_memory(fuses.pipe_mask()),
    );
    pll.update(|clock: pll::CP_DYN_CNTL| clock.with_cp_forceon(true));
    pll.update(|clock: pll::E2_DYN_CNTL| clock.with_e2_forceon(true));
    pll.update(|clock: pll::IDCT_DYN_CNTL| clock.with_idct_forceon(true));
    Ok(())
}

#[kunit_tests(r500_pipes)]
mod tests {
    use super::*;
    use crate::regs::fake;

    /// Sets up a chip of four pipes whose tiling has been `before`.
    fn with_four(before: GB_TILE_CONFIG, test: impl FnOnce(Window<'_>, Pipes) -> Result) -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let fuses = GB_PIPE_SELECT::zeroed().try_with_max_pipe(3u32)?;
        window.write_reg(fuses.try_with_pipe_mask(0xfu32)?);
        window.write_reg(before);
        let pipes = set_up(Chipset::R580, window)?;
        test(window, pipes)
    }

    #[test]
    fn all_pipes_take_part() -> Result {
        with_four(GB_TILE_CONFIG::zeroed(), |window, pipes| {
            assert_eq!((pipes.pixel, pipes.z), (4, 1));
            assert_eq!(window.read(SU_REG_DEST).into_raw(), 0xf);
            let tiling = window.read(GB_TILE_CONFIG);
            assert!(tiling.enable());
            assert_eq!(tiling.pipe_count().get(), 7);
            assert_eq!(tiling.tile_size().get(), 1);
            assert!(window.read(DST_PIPE_CONFIG).pipe_auto_config());
            let enhance = window.read(GA_ENHANCE);
            assert!(enhance.deadlock_cntl() && enhance.fastsync_cntl());
            assert!(enhance.reg_readwrite() && enhance.reg_nostall());
            let cache = window.read(RB2D_DSTCACHE_MODE);
            assert!(cache.dc_autoflush_enable() && cache.dc_disable_ignore_pe());
            assert_eq!(window.read(GB_FIFO_SIZE2).into_raw(), 0);
            Ok(())
        })
    }

    #[test]
    fn another_number_of_pipes_takes_a_reset() -> Result {
        let four = GB_TILE_CONFIG::zeroed()
            .with_enable(true)
            .try_with_pipe_count(7u32)?;
        with_four(four, |window, _| {
            assert_eq!(window.read(GA_SOFT_RESET).into_raw(), 0);
            Ok(())
        })?;
        for before in [four.with_enable(false), four.try_with_pipe_count(6u32)?] {
            with_four(before, |window, _| {
                assert_eq!(window.read(GA_SOFT_RESET).count().get(), 0x200);
                Ok(())
            })?;
        }
        Ok(())
    }

    #[test]
    fn a_second_z_pipe_has_fifos() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let chip = Chipset::Rv530;
        assert_eq!(set_up(chip, window)?, Pipes { pixel: 1, z: 1 });
        assert_eq!(window.read(GB_FIFO_SIZE2).into_raw(), 0xff);
        window.write_reg(GB_PIPE_SELECT2::zeroed().try_with_z_pipes(3u32)?);
        assert_eq!(set_up(chip, window)?, Pipes { pixel: 1, z: 2 });
        assert_eq!(set_up(Chipset::R520, window)?.z, 1);
        assert_eq!(hal::pipes::of(chip).z_pipe_select(), Some(0b11));
        assert_eq!(hal::pipes::of(Chipset::R520).z_pipe_select(), None);
        Ok(())
    }

    #[test]
    fn busy_engines_are_left_alone() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(RBBM_STATUS::zeroed().with_gui_active(true));
        assert_eq!(set_up(Chipset::R520, window).err(), Some(ETIMEDOUT));
        assert_eq!(window.read(SU_REG_DEST).into_raw(), 0);
        assert_eq!(window.read(GB_TILE_CONFIG).into_raw(), 0);
        Ok(())
    }
}
