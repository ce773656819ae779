// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Engines of R7xx.

use crate::{
    hal::engines::{
        configure_shaders,
        invalidated,
        Geometry,
        Hal,
        Limits,
        Shaders,
        Shares, //
    },
    portable::regs::{
        mmio::{
            self,
            spi_config_cntl,
            spi_config_cntl_1,
            sq_config,
            sq_ms_fifo_sizes,
            sx_export_buffer_sizes,
            ta_cntl_aux, //
        },
        mmio_r7xx::{
            self,
            cp_meq_thresholds,
            db_debug3,
            db_debug4,
            mc_arb_ramcfg,
            pa_sc_fifo_size,
            pa_sc_force_eov_max_cnts,
            smx_dc_ctl0,
            smx_event_ctl,
            sq_dyn_gpr_size_simd_ab,
            sx_debug_1,
            vgt_cache_invalidation, //
        },
    },
    regs::{
        Far,
        Window, //
    },
};

/// A chip.
pub(super) struct R7xx {
    limits: Limits,
    shaders: Shaders,
    /// Registers that each of two rings of a SIMD has when SIMDs give registers to each other.
    dynamic: u32,
    vertex_cache: bool,
    /// The memory has 8 banks, whatever its registers say.
    eight_banks: bool,
    exports: Exports,
    /// Entries of the FIFO of primitives in the scan converter.
    primitives: u32,
    /// Instructions of control flow for which there is room.
    control_flow: u32,
    /// The level at which fetches are waited for.
    fetches: u32,
    /// Events flush the exports of geometry shaders as this driver sets it.
    flushes: bool,
    /// It has the settings that came after the first chip: arbiter of exports, tiles of shaders that run for each
    /// sample.
    later: bool,
    /// Clocks after which an idle depth block stops.
    delay: u32,
    /// What geometry shaders may have waiting, beside 16 for each pipe.
    waiting: u32,
    copies: &'static [u32],
}

/// Sizes of the export buffers, in entries.
struct Exports {
    color: u32,
    position: u32,
    memory: u32,
}

/// Sets of the cache of memory exports.
const SETS: u32 = 7;
/// Entries of the FIFOs of tiles in the scan converter.
const TILES: u32 = 0x30;
const EARLY_TILES: u32 = 0x130;

impl Hal for R7xx {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn geometry(&self, window: Window<'_>) -> Geometry {
        let memory = Far::new(window).read(mmio_r7xx::MC_ARB_RAMCFG);
        let eight = self.eight_banks || mc_arb_ramcfg::NOOFBANK.get(memory) != 0;
        Geometry {
            banks: u32::from(eight),
            group: mc_arb_ramcfg::BURSTLENGTH.get(memory),
            rows: mc_arb_ramcfg::NOOFROWS.get(memory),
        }
    }

    fn simd_fuses(&self) -> u32 {
        0xffff
    }

    fn copies(&self) -> &'static [u32] {
        self.copies
    }

    fn program(&self, far: Far<Window<'_>>, pipes: u32) {
        let single = u32::from(pipes == 1);
        far.write(
            mmio::SPI_CONFIG_CNTL,
            spi_config_cntl::DISABLE_INTERP_1.of(single),
        );
        for register in [
            mmio_r7xx::CGTS_SYS_TCC_DISABLE,
            mmio_r7xx::CGTS_TCC_DISABLE,
            mmio_r7xx::CGTS_USER_SYS_TCC_DISABLE,
            mmio_r7xx::CGTS_USER_TCC_DISABLE,
        ] {
            far.write(register, 0);
        }
        far.write(
            mmio_r7xx::CP_MEQ_THRESHOLDS,
            cp_meq_thresholds::STQ_SPLIT.of(0x30),
        );
        self.program_caches(far);
        self.program_depth(far);
        let Exports {
            color,
            position,
            memory,
        } = self.exports;
        far.write(
            mmio::SX_EXPORT_BUFFER_SIZES,
            sx_export_buffer_sizes::COLOR_BUFFER_SIZE.of(color / 4 - 1)
                | sx_export_buffer_sizes::POSITION_BUFFER_SIZE.of(position / 4 - 1)
                | sx_export_buffer_sizes::SMX_BUFFER_SIZE.of(memory / 4 - 1),
        );
        far.write(
            mmio_r7xx::PA_SC_FIFO_SIZE,
            pa_sc_fifo_size::SC_PRIM_FIFO_SIZE.of(self.primitives)
                | pa_sc_fifo_size::SC_HIZ_TILE_FIFO_SIZE.of(TILES)
                | pa_sc_fifo_size::SC_EARLYZ_TILE_FIFO_SIZE.of(EARLY_TILES),
        );
        far.write(mmio::VGT_NUM_INSTANCES, 1);
        far.write(
            mmio::SPI_CONFIG_CNTL_1,
            spi_config_cntl_1::VTX_DONE_DELAY.of(4),
        );
        far.write(mmio::CP_PERFMON_CNTL, 0);
        far.write(
            mmio::SQ_MS_FIFO_SIZES,
            sq_ms_fifo_sizes::CACHE_FIFO_SIZE.of(16 * self.control_flow)
                | sq_ms_fifo_sizes::FETCH_FIFO_HIWATER.of(self.fetches)
                | sq_ms_fifo_sizes::DONE_FIFO_HIWATER.of(0xe0)
                | sq_ms_fifo_sizes::ALU_UPDATE_FIFO_HIWATER.of(8),
        );

        configure_shaders(far, self.vertex_cache, sq_config::EXPORT_SRC_C.of(1));
        self.shaders.program(far);
        let dynamic = sq_dyn_gpr_size_simd_ab::SIMDA_RING0.of(self.dynamic)
            | sq_dyn_gpr_size_simd_ab::SIMDA_RING1.of(self.dynamic)
            | sq_dyn_gpr_size_simd_ab::SIMDB_RING0.of(self.dynamic)
            | sq_dyn_gpr_size_simd_ab::SIMDB_RING1.of(self.dynamic);
        let simds = mmio_r7xx::SQ_DYN_GPR_SIZE_SIMD_AB;
        for register in (0..simds.len()).filter_map(|index| simds.at(index)) {
            far.write(register, dynamic);
        }
        far.write(
            mmio_r7xx::PA_SC_FORCE_EOV_MAX_CNTS,
            pa_sc_force_eov_max_cnts::FORCE_EOV_MAX_CLK_CNT.of(4095)
                | pa_sc_force_eov_max_cnts::FORCE_EOV_MAX_REZ_CNT.of(255),
        );
        // The shaders before the rasteriser empty the caches by themselves.
        let by_itself = vgt_cache_invalidation::AUTO_INVLD_EN.of(3);
        let caches = vgt_cache_invalidation::CACHE_INVALIDATION.of(invalidated(self.vertex_cache));
        far.write(mmio_r7xx::VGT_CACHE_INVALIDATION, caches | by_itself);
        let waiting = self.limits.pipes * 16 + self.waiting;
        far.write(mmio::VGT_GS_PER_ES, waiting.min(256));
        far.write(mmio_r7xx::PA_SC_EDGERULE, 0xaaaa_aaaa);
        far.write(mmio::PA_SC_CLIPRECT_RULE, 0xffff);
        far.write(mmio_r7xx::TCP_CNTL, 0);
    }
}

impl R7xx {
    /// Program texture addressing and the cache of memory exports.
    fn program_caches(&self, far: Far<Window<'_>>) {
        let addressing = far.read(mmio::TA_CNTL_AUX) | ta_cntl_aux::DISABLE_CUBE_ANISO.of(1);
        far.write(mmio::TA_CNTL_AUX, addressing);
        let exports = far.read(mmio_r7xx::SX_DEBUG_1) | sx_debug_1::ENABLE_NEW_SMX_ADDRESS.of(1);
        far.write(mmio_r7xx::SX_DEBUG_1, exports);
        let cache = far.read(mmio_r7xx::SMX_DC_CTL0);
        let cache = smx_dc_ctl0::CACHE_DEPTH.put(cache, SETS * 64 - 1);
        far.write(mmio_r7xx::SMX_DC_CTL0, cache);
        if self.flushes {
            far.write(
                mmio_r7xx::SMX_EVENT_CTL,
                smx_event_ctl::ES_FLUSH_CTL.of(4)
                    | smx_event_ctl::GS_FLUSH_CTL.of(4)
                    | smx_event_ctl::ACK_FLUSH_CTL.of(3)
                    | smx_event_ctl::SYNC_FLUSH_CTL.of(1),
            );
        }
        if self.later {
            far.write(mmio_r7xx::SMX_SAR_CTL0, 0x3f3f);
        }
    }

    /// Program the depth block.
    fn program_depth(&self, far: Far<Window<'_>>) {
        let clock = far.read(mmio_r7xx::DB_DEBUG3);
        let clock = db_debug3::DB_CLK_OFF_DELAY.put(clock, self.delay);
        far.write(mmio_r7xx::DB_DEBUG3, clock);
        if self.later {
            let tiles =
                far.read(mmio_r7xx::DB_DEBUG4) | db_debug4::DISABLE_TILE_COVERED_FOR_PS_ITER.of(1);
            far.write(mmio_r7xx::DB_DEBUG4, tiles);
        }
    }
}

/// Return the shares on a chip with so many registers, threads and entries of the stack.
const fn shaders(registers: u32, threads: u32, gs_threads: u32, stack: u32) -> Shaders {
    let quarter = stack / 4;
    Shaders {
        registers: Shares {
            ps: registers * 24 / 64,
            vs: registers * 24 / 64,
            gs: registers * 7 / 64,
            es: registers * 7 / 64,
        },
        temporaries: registers * 24 / 64 / 2,
        threads: Shares {
            ps: threads * 4 / 8,
            vs: threads * 2 / 8,
            gs: gs_threads,
            es: threads / 8,
        },
        stack: Shares {
            ps: quarter,
            vs: quarter,
            gs: quarter,
            es: quarter,
        },
    }
}

/// Copies of the tiling configuration, of the DMA engine.
const DMA: &[u32] = &[mmio_r7xx::DMA_TILING_CONFIG, mmio_r7xx::DMA_TILING_CONFIG2];

pub(super) static RV770: R7xx = R7xx {
    limits: Limits {
        pipes: 4,
        tile_pipes: 8,
        simds: 10,
        backends: 4,
        contexts: 8,
    },
    shaders: shaders(256, 248, 4, 512),
    dynamic: 256 * 38 / 64,
    vertex_cache: true,
    eight_banks: true,
    exports: Exports {
        color: 128,
        position: 16,
        memory: 112,
    },
    primitives: 0xf9,
    control_flow: 2,
    fetches: 1,
    flushes: true,
    later: false,
    delay: 0x1f,
    waiting: 384,
    copies: DMA,
};

pub(super) static RV730: R7xx = R7xx {
    limits: Limits {
        pipes: 2,
        tile_pipes: 4,
        simds: 8,
        backends: 2,
        contexts: 8,
    },
    shaders: shaders(128, 248, 4, 256),
    dynamic: 128 * 38 / 64,
    vertex_cache: true,
    eight_banks: false,
    exports: Exports {
        color: 256,
        position: 16,
        memory: 240,
    },
    primitives: 0xf9,
    control_flow: 2,
    fetches: 1,
    flushes: true,
    later: true,
    delay: 2,
    waiting: 384,
    // The video decoder has copies, too.
    copies: &[
        mmio_r7xx::DMA_TILING_CONFIG,
        mmio_r7xx::DMA_TILING_CONFIG2,
        mmio_r7xx::UVD_UDEC_DB_TILING_CONFIG,
        mmio_r7xx::UVD_UDEC_DBW_TILING_CONFIG,
        mmio_r7xx::UVD_UDEC_TILING_CONFIG,
    ],
};

pub(super) static RV710: R7xx = R7xx {
    limits: Limits {
        pipes: 2,
        tile_pipes: 2,
        simds: 2,
        backends: 1,
        contexts: 4,
    },
    shaders: shaders(256, 192, 16, 256),
    dynamic: 256 * 38 / 64,
    vertex_cache: false,
    eight_banks: false,
    exports: Exports {
        color: 128,
        position: 16,
        memory: 112,
    },
    primitives: 0x40,
    control_flow: 1,
    fetches: 1,
    flushes: true,
    later: true,
    delay: 2,
    waiting: 128,
    copies: DMA,
};

pub(super) static RV740: R7xx = R7xx {
    limits: Limits {
        pipes: 4,
        tile_pipes: 4,
        simds: 8,
        backends: 4,
        contexts: 8,
    },
    shaders: shaders(256, 248, 4, 512),
    dynamic: 256 * 38 / 64,
    vertex_cache: true,
    eight_banks: false,
    exports: Exports {
        color: 256,
        position: 16,
        memory: 240,
    },
    primitives: 0x100,
    control_flow: 2,
    fetches: 4,
    flushes: false,
    later: true,
    delay: 0x1f,
    waiting: 384,
    copies: DMA,
};
