// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What clients cannot set and all rely on.
//!
//! A chip has SIMDs, whose pipes execute shaders, and render backends, which write pictures. Memory is divided into
//! tiles that are distributed among pipes, and each pipe has a backend. Fuses say which units work.
//! `GB_TILING_CONFIG` says how tiles are distributed and which backend serves which pipe. Each unit that addresses tiles
//! has a copy of it, without the map of the backends. User space asks for all of this, because tiled pictures and the
//! results of occlusion queries are laid out by it.
//!
//! Everything else here are shares of the chip (registers, threads, stack, caches, FIFOs), which clients may not set, or
//! defaults of registers that they may set.
//!
//! The facts are from Linux' `radeon` (`r600_gpu_init`, `rv770_gpu_init`, `r6xx_remap_render_backend`). The engines must
//! be idle.

use kernel::{
    io::poll,
    prelude::*,
    time::Delta, //
};

use crate::{
    chip::Chipset,
    hal::{
        self,
        engines::{
            Geometry,
            Limits, //
        }, //
    },
    portable::regs::mmio::{
        self,
        cc_gc_shader_pipe_config,
        cc_rb_backend_disable,
        cp_queue_thresholds,
        gb_tiling_config,
        grbm_cntl,
        pa_cl_enhance,
        spi_ps_in_control_0,
        vgt_out_dealloc_cntl,
        vgt_vertex_reuse_block_cntl, //
    },
    regs::{
        Far,
        Window, //
    },
};

/// How long engines that have been halted may take to become idle.
const IDLE_TIME: Delta = Delta::from_millis(100);

/// The most backends, and the bits of one in the map.
const MOST_BACKENDS: u32 = 4;
const MAP_BITS: u32 = 2;

/// Bits of `GB_TILING_CONFIG` of which other units have a copy.
const COPIED: u32 = 0xffff;

/// Log2 of the most rows that the tiling knows.
const MOST_ROWS: u32 = 3;

/// The engines, as INFO reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Engines {
    /// Pipes of a SIMD, as the chip was made.
    pub(crate) pipes: u32,
    /// Pipes among which tiles are distributed.
    pub(crate) tile_pipes: u32,
    /// SIMDs that work.
    pub(crate) simds: u32,
    /// Render backends, as the chip was made.
    pub(crate) backends: u32,
    /// The backend of each tile pipe, two bits each.
    pub(crate) backend_map: u32,
    /// `GB_TILING_CONFIG`.
    pub(crate) tiling: u32,
    /// Sets of state of the graphics pipe.
    pub(crate) contexts: u32,
}

/// Set up the engines.
///
/// # Errors
///
/// `ETIMEDOUT` if they do not become idle.
pub(crate) fn set_up(chipset: Chipset, window: Window<'_>) -> Result<Engines> {
    let reset = hal::reset::of(chipset);
    poll::read_poll_timeout(
        || Ok(reset.is_busy(window)),
        |busy| !busy,
        Delta::from_micros(10),
        IDLE_TIME,
    )?;

    let hal = hal::engines::of(chipset);
    let far = Far::new(window);
    far.write(mmio::GRBM_CNTL, grbm_cntl::GRBM_READ_TIMEOUT.of(0xff));

    let limits = hal.limits();
    let disabled =
        cc_rb_backend_disable::BACKEND_DISABLE.get(far.read(mmio::CC_RB_BACKEND_DISABLE));
    let backend_map = backend_map(limits, disabled);
    let tiling = tiling(limits, hal.geometry(window), backend_map);
    far.write(mmio::GB_TILING_CONFIG, tiling);
    for copy in [mmio::DCP_TILING_CONFIG, mmio::HDP_TILING_CONFIG] {
        far.write(copy, tiling & COPIED);
    }
    for copy in hal.copies() {
        far.write(*copy, tiling & COPIED);
    }

    let fuses = far.read(mmio::CC_GC_SHADER_PIPE_CONFIG);
    let inactive = cc_gc_shader_pipe_config::INACTIVE_QD_PIPES;
    let pipes = inactive.max().count_ones() - inactive.get(fuses).count_ones();
    let dead = cc_gc_shader_pipe_config::INACTIVE_SIMDS.get(fuses) & hal.simd_fuses();
    let distance = vgt_out_dealloc_cntl::DEALLOC_DIST.of(pipes * 4);
    far.write(mmio::VGT_OUT_DEALLOC_CNTL, distance);
    let depth = vgt_vertex_reuse_block_cntl::VTX_REUSE_DEPTH.of((pipes * 4).saturating_sub(2));
    far.write(mmio::VGT_VERTEX_REUSE_BLOCK_CNTL, depth);
    far.write(
        mmio::CP_QUEUE_THRESHOLDS,
        cp_queue_thresholds::ROQ_IB1_START.of(0x16) | cp_queue_thresholds::ROQ_IB2_START.of(0x2b),
    );
    hal.program(far, pipes);
    for (register, value) in DEFAULTS {
        far.write(register, value);
    }
    for target in (0..mmio::CB_COLOR_BASE.len()).filter_map(|index| mmio::CB_COLOR_BASE.at(index)) {
        far.write(target, 0);
    }
    if let Some(last) = mmio::CB_COLOR_FRAG.at(mmio::CB_COLOR_FRAG.len() - 1) {
        far.write(last, 0);
    }

    Ok(Engines {
        pipes: limits.pipes,
        tile_pipes: limits.tile_pipes,
        simds: limits.simds.saturating_sub(dead.count_ones()),
        backends: limits.backends,
        backend_map,
        tiling,
        contexts: limits.contexts,
    })
}

/// What is the same for all chips.
const DEFAULTS: [(u32, u32); 14] = [
    (mmio::VGT_ES_PER_GS, 128),
    (mmio::VGT_GS_PER_VS, 2),
    (mmio::VGT_GS_VERTEX_REUSE, 16),
    (mmio::PA_SC_LINE_STIPPLE_STATE, 0),
    (mmio::VGT_STRMOUT_EN, 0),
    (mmio::SX_MISC, 0),
    (mmio::PA_SC_MODE_CNTL, 0),
    (mmio::PA_SC_AA_CONFIG, 0),
    (mmio::PA_SC_LINE_STIPPLE, 0),
    (mmio::SPI_INPUT_Z, 0),
    (
        mmio::SPI_PS_IN_CONTROL_0,
        spi_ps_in_control_0::NUM_INTERP.of(2),
    ),
    (mmio::PA_SC_MULTI_CHIP_CNTL, 0),
    (
        mmio::PA_CL_ENHANCE,
        pa_cl_enhance::CLIP_VTX_REORDER_ENA.of(1) | pa_cl_enhance::NUM_CLIP_SEQ.of(3),
    ),
    (mmio::VC_ENHANCE, 0),
];

/// Return which backend serves which tile pipe. A bit of `disabled` says that a backend does not work. If none does,
/// the fuses are wrong, and all are used.
///
/// Each backend serves the same number of pipes. If that does not come out even, the last ones serve one more. The last
/// backend serves the highest pipes.
fn backend_map(limits: &Limits, disabled: u32) -> u32 {
    let all = (1 << limits.backends.min(MOST_BACKENDS)) - 1;
    let enabled = match all & !disabled {
        0 => all,
        some => some,
    };
    let count = enabled.count_ones().max(1);
    let (each, mut more) = (limits.tile_pipes / count, limits.tile_pipes % count);
    let mut map = 0;
    for backend in (0..MOST_BACKENDS).rev() {
        if enabled & 1 << backend == 0 {
            continue;
        }
        let one_more = more.min(1);
        more -= one_more;
        for _ in 0..each + one_more {
            map = map << MAP_BITS | backend;
        }
    }
    map
}

/// Return `GB_TILING_CONFIG`.
fn tiling(limits: &Limits, geometry: Geometry, backend_map: u32) -> u32 {
    let rows = geometry.rows.min(MOST_ROWS);
    gb_tiling_config::PIPE_TILING.of(limits.tile_pipes.trailing_zeros())
        | gb_tiling_config::BANK_TILING.of(geometry.banks)
        | gb_tiling_config::GROUP_SIZE.of(geometry.group)
        | gb_tiling_config::ROW_TILING.of(rows)
        | gb_tiling_config::SAMPLE_SPLIT.of(rows)
        | gb_tiling_config::BANK_SWAPS.of(1)
        | gb_tiling_config::BACKEND_MAP.of(backend_map)
}

#[kunit_tests(r600_engines)]
mod tests {
    use super::*;
    use crate::{
        portable::regs::{
            mmio_r6xx,
            mmio_r7xx, //
        },
        regs::fake, //
    };

    const CHIPS: [Chipset; 8] = [
        Chipset::R600,
        Chipset::Rv610,
        Chipset::Rv635,
        Chipset::Rv670,
        Chipset::Rv770,
        Chipset::Rv730,
        Chipset::Rv710,
        Chipset::Rv740,
    ];

    #[test]
    fn each_chip_has_its_map() {
        let want = [0xfa50, 0, 0, 0xe4, 0xfa50, 0x50, 0, 0xe4];
        for (chipset, want) in CHIPS.into_iter().zip(want) {
            assert_eq!(backend_map(hal::engines::of(chipset).limits(), 0), want);
        }
    }

    /// With one backend of four less two serve a pipe more. Fuses without any backend are not believed.
    #[test]
    fn a_dead_backend_serves_no_pipe() {
        let limits = hal::engines::of(Chipset::Rv770).limits();
        assert_eq!(backend_map(limits, 0b0001), 0xfea5);
        assert_eq!(backend_map(limits, 0b1110), 0);
        assert_eq!(backend_map(limits, 0xff), 0xfa50);
        assert_eq!(backend_map(limits, 0xf0), 0xfa50);
        let one = hal::engines::of(Chipset::Rv710).limits();
        assert_eq!(backend_map(one, 0b1110), 0);
        assert_eq!(backend_map(one, 0b1111), 0);
    }

    #[test]
    fn tiling_says_how_memory_is_built() -> Result {
        // Banks, rows of 3 and more, of the fields of each generation.
        let cases = [
            (Chipset::R600, 1 | 1 << 2, 0xfa50_4916),
            (Chipset::Rv610, 1 | 1 << 2, 0x4910),
            (Chipset::Rv635, 1 | 1 << 2, 0x4912),
            (Chipset::Rv670, 1 | 1 << 2, 0x00e4_4914),
            (Chipset::Rv670, 7 << 2 | 1 << 8, 0x00e4_cb44),
            (Chipset::Rv770, 1 << 3, 0xfa50_4916),
            (Chipset::Rv730, 1 | 1 << 3, 0x0050_4914),
            (Chipset::Rv710, 1 | 1 << 3, 0x4912),
            (Chipset::Rv740, 2 | 1 << 3, 0x00e4_4914),
            (Chipset::Rv740, 0, 0x00e4_0804),
        ];
        for (chipset, built, want) in cases {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            let far = Far::new(window);
            far.write(mmio_r6xx::RAMCFG, built);
            far.write(mmio_r7xx::MC_ARB_RAMCFG, built);
            idle(window);
            let engines = set_up(chipset, window)?;
            assert_eq!(engines.tiling, want);
            assert_eq!(far.read(mmio::GB_TILING_CONFIG), want);
            let copies = hal::engines::of(chipset).copies();
            assert!(!copies.is_empty());
            for copies in [copies, &[mmio::DCP_TILING_CONFIG, mmio::HDP_TILING_CONFIG]] {
                for copy in copies {
                    assert_eq!(far.read(*copy), want & COPIED);
                }
            }
        }
        Ok(())
    }

    /// Let the DMA engine be idle, as a real one is without commands.
    fn idle(window: Window<'_>) {
        Far::new(window).write(mmio::DMA_STATUS_REG, 1);
    }

    #[test]
    fn fuses_say_how_many_simds_work() -> Result {
        for (chipset, fuses, want) in [
            (Chipset::Rv770, 0, (4, 10)),
            (Chipset::Rv770, 0x0005_0000, (4, 8)),
            (Chipset::R600, 0x0105_0000, (4, 2)),
            (Chipset::Rv610, u32::MAX, (1, 0)),
        ] {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            idle(window);
            Far::new(window).write(mmio::CC_GC_SHADER_PIPE_CONFIG, fuses);
            let engines = set_up(chipset, window)?;
            assert_eq!((engines.pipes, engines.simds), want);
        }
        Ok(())
    }

    /// The values are those that Linux writes.
    #[test]
    fn shaders_get_their_shares() -> Result {
        let cases = [
            (Chipset::R600, [0x407c_007c, 0, 0x0404_3088, 0x0080_0080, 0]),
            (
                Chipset::Rv610,
                [
                    0x202c_002c,
                    0x0011_0011,
                    0x1f04_4e4f,
                    0x0028_0028,
                    0x0010_0020,
                ],
            ),
            (
                Chipset::Rv770,
                [
                    0x0060_0060,
                    0x001c_001c,
                    0x1f04_3e7c,
                    0x0080_0080,
                    0x0080_0080,
                ],
            ),
            (
                Chipset::Rv730,
                [
                    0x8030_0030,
                    0x000e_000e,
                    0x1f04_3e7c,
                    0x0040_0040,
                    0x0040_0040,
                ],
            ),
            (
                Chipset::Rv710,
                [
                    0x0060_0060,
                    0x001c_001c,
                    0x1810_3060,
                    0x0040_0040,
                    0x0040_0040,
                ],
            ),
        ];
        for (chipset, want) in cases {
            let mut memory = fake::Memory::new()?;
            let window = memory.window()?;
            idle(window);
            let far = Far::new(window);
            far.write(mmio::SQ_CONFIG, 0x00ff_0000);
            set_up(chipset, window)?;
            let first = mmio_r7xx::SQ_GPR_RESOURCE_MGMT_1;
            for (offset, want) in (first..).step_by(4).zip(want) {
                assert_eq!(far.read(offset), want);
            }
            let vertex_cache = !matches!(chipset, Chipset::Rv610 | Chipset::Rv710);
            let exports = matches!(chipset, Chipset::Rv770 | Chipset::Rv730 | Chipset::Rv710);
            let config = 0xe4ff_0004 | u32::from(exports) << 1 | u32::from(vertex_cache);
            assert_eq!(far.read(mmio::SQ_CONFIG), config);
        }
        Ok(())
    }

    #[test]
    fn engines_that_stay_busy_are_left_alone() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        idle(window);
        let far = Far::new(window);
        far.write(mmio_r7xx::GRBM_STATUS, 1 << 31);
        assert_eq!(set_up(Chipset::Rv770, window).err(), Some(ETIMEDOUT));
        assert_eq!(far.read(mmio::GB_TILING_CONFIG), 0);
        Ok(())
    }
}
