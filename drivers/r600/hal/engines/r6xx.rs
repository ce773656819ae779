// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Engines of R6xx.

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
            db_debug,
            db_watermarks,
            pa_sc_enhance,
            sq_ms_fifo_sizes,
            ta_cntl_aux, //
        },
        mmio_r6xx::{
            self,
            arb_pop,
            cp_meq_thresholds,
            ramcfg,
            sx_debug_1,
            tc_cntl,
            vgt_cache_invalidation, //
        },
    },
    regs::{
        Far,
        Window, //
    },
};

/// What is set in `SQ_MS_FIFO_SIZES`.
enum Fifos {
    /// All of it.
    All(u32),
    /// The level at which results of fetches are waited for.
    Results(u32),
    /// Nothing.
    Kept,
}

/// A chip.
pub(super) struct R6xx {
    limits: Limits,
    shaders: Shaders,
    vertex_cache: bool,
    fifos: Fifos,
    /// Addresses of exports to memory have their later form.
    new_addresses: bool,
    /// The early depth test waits for the late one.
    early_waits: bool,
    /// The decoder of read requests has this value.
    decoder: Option<u32>,
    /// What geometry shaders may have waiting, beside 16 for each pipe.
    waiting: u32,
    /// Size of the texture cache's second level, as coded.
    cache: u32,
    /// It answers late hits as misses.
    late_misses: bool,
}

impl Hal for R6xx {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn geometry(&self, window: Window<'_>) -> Geometry {
        let memory = Far::new(window).read(mmio_r6xx::RAMCFG);
        Geometry {
            banks: ramcfg::NOOFBANK.get(memory),
            group: ramcfg::BURSTLENGTH.get(memory),
            rows: ramcfg::NOOFROWS.get(memory),
        }
    }

    fn simd_fuses(&self) -> u32 {
        0xff
    }

    fn copies(&self) -> &'static [u32] {
        &[mmio_r6xx::DMA_TILING_CONFIG]
    }

    fn program(&self, far: Far<Window<'_>>, _pipes: u32) {
        far.write(
            mmio_r6xx::CP_MEQ_THRESHOLDS,
            cp_meq_thresholds::MEQ_END.of(0x40) | cp_meq_thresholds::ROQ_END.of(0x40),
        );
        far.write(
            mmio::TA_CNTL_AUX,
            ta_cntl_aux::DISABLE_CUBE_ANISO.of(1)
                | ta_cntl_aux::SYNC_GRADIENT.of(1)
                | ta_cntl_aux::SYNC_WALKER.of(1)
                | ta_cntl_aux::SYNC_ALIGNER.of(1),
        );
        if let Some(decoder) = self.decoder {
            far.write(mmio_r6xx::ARB_GDEC_RD_CNTL, decoder);
        }
        let exports = far.read(mmio_r6xx::SX_DEBUG_1)
            | sx_debug_1::SMX_EVENT_RELEASE.of(1)
            | sx_debug_1::ENABLE_NEW_SMX_ADDRESS.of(u32::from(self.new_addresses));
        far.write(mmio_r6xx::SX_DEBUG_1, exports);
        let waits = db_debug::PREZ_MUST_WAIT_FOR_POSTZ_DONE.of(u32::from(self.early_waits));
        far.write(mmio::DB_DEBUG, waits);
        far.write(
            mmio::DB_WATERMARKS,
            db_watermarks::DEPTH_FREE.of(4)
                | db_watermarks::DEPTH_CACHELINE_FREE.of(16)
                | db_watermarks::DEPTH_FLUSH.of(16)
                | db_watermarks::DEPTH_PENDING_FREE.of(4),
        );
        far.write(mmio::VGT_NUM_INSTANCES, 0);
        far.write(mmio::SPI_CONFIG_CNTL, 0);
        far.write(mmio::SPI_CONFIG_CNTL_1, 0);
        let before = far.read(mmio::SQ_MS_FIFO_SIZES);
        let fifos = match self.fifos {
            Fifos::All(value) => value,
            Fifos::Results(level) => sq_ms_fifo_sizes::DONE_FIFO_HIWATER.put(before, level),
            Fifos::Kept => before,
        };
        far.write(mmio::SQ_MS_FIFO_SIZES, fifos);

        configure_shaders(far, self.vertex_cache, 0);
        self.shaders.program(far);
        let caches = invalidated(self.vertex_cache);
        far.write(
            mmio_r6xx::VGT_CACHE_INVALIDATION,
            vgt_cache_invalidation::CACHE_INVALIDATION.of(caches),
        );
        for (register, places) in SAMPLES {
            far.write(register, places);
        }
        let waiting = self.limits.pipes * 16 + self.waiting;
        far.write(mmio::VGT_GS_PER_ES, waiting.min(256));
        let late = tc_cntl::L2_DISABLE_LATE_HIT.of(u32::from(self.late_misses));
        far.write(mmio_r6xx::TC_CNTL, tc_cntl::L2_SIZE.of(self.cache) | late);
        let requests = far.read(mmio_r6xx::ARB_POP) | arb_pop::ENABLE_TC128.of(1);
        far.write(mmio_r6xx::ARB_POP, requests);
        let clocks = pa_sc_enhance::FORCE_EOV_MAX_CLK_CNT.of(4095);
        far.write(mmio::PA_SC_ENHANCE, clocks);
    }
}

/// Places of samples in a pixel, in sixteenths and two's complement: x and y of each sample from the lowest bits on.
const SAMPLES: [(u32, u32); 4] = [
    (mmio::PA_SC_AA_SAMPLE_LOCS_2S, 0xc44c),
    (mmio::PA_SC_AA_SAMPLE_LOCS_4S, 0xa66a_22ee),
    (mmio::PA_SC_AA_SAMPLE_LOCS_8S_WD0, 0xea61_c4be),
    (mmio::PA_SC_AA_SAMPLE_LOCS_8S_WD1, 0x874b_0016),
];

/// Shares of threads of all chips but the R600.
const THREADS: Shares = Shares {
    ps: 79,
    vs: 78,
    gs: 4,
    es: 31,
};

/// Shares of the stack of the small chips.
const STACK: Shares = Shares {
    ps: 40,
    vs: 40,
    gs: 32,
    es: 16,
};

pub(super) static R600: R6xx = R6xx {
    limits: Limits {
        pipes: 4,
        tile_pipes: 8,
        simds: 4,
        backends: 4,
        contexts: 8,
    },
    shaders: Shaders {
        registers: Shares {
            ps: 124,
            vs: 124,
            gs: 0,
            es: 0,
        },
        temporaries: 4,
        threads: Shares {
            ps: 136,
            vs: 48,
            gs: 4,
            es: 4,
        },
        stack: Shares {
            ps: 128,
            vs: 128,
            gs: 0,
            es: 0,
        },
    },
    vertex_cache: true,
    fifos: Fifos::Results(4),
    new_addresses: false,
    early_waits: true,
    decoder: None,
    waiting: 0,
    cache: 0,
    late_misses: true,
};

pub(super) static RV610: R6xx = R6xx {
    limits: Limits {
        pipes: 1,
        tile_pipes: 1,
        simds: 2,
        backends: 1,
        contexts: 4,
    },
    shaders: Shaders {
        registers: Shares {
            ps: 44,
            vs: 44,
            gs: 17,
            es: 17,
        },
        temporaries: 2,
        threads: THREADS,
        stack: STACK,
    },
    vertex_cache: false,
    fifos: Fifos::All(
        sq_ms_fifo_sizes::CACHE_FIFO_SIZE.of(0xa)
            | sq_ms_fifo_sizes::FETCH_FIFO_HIWATER.of(0xa)
            | sq_ms_fifo_sizes::DONE_FIFO_HIWATER.of(0xe0)
            | sq_ms_fifo_sizes::ALU_UPDATE_FIFO_HIWATER.of(8),
    ),
    new_addresses: true,
    early_waits: true,
    decoder: None,
    waiting: 32,
    cache: 8,
    late_misses: false,
};

pub(super) static RV635: R6xx = R6xx {
    limits: Limits {
        pipes: 2,
        tile_pipes: 2,
        simds: 3,
        backends: 1,
        contexts: 8,
    },
    shaders: Shaders {
        registers: Shares {
            ps: 44,
            vs: 44,
            gs: 18,
            es: 18,
        },
        temporaries: 2,
        threads: THREADS,
        stack: STACK,
    },
    vertex_cache: true,
    fifos: Fifos::Kept,
    new_addresses: true,
    early_waits: false,
    decoder: None,
    waiting: 0,
    cache: 4,
    late_misses: false,
};

pub(super) static RV670: R6xx = R6xx {
    limits: Limits {
        pipes: 4,
        tile_pipes: 4,
        simds: 4,
        backends: 4,
        contexts: 8,
    },
    shaders: Shaders {
        registers: Shares {
            ps: 44,
            vs: 44,
            gs: 17,
            es: 17,
        },
        temporaries: 2,
        threads: THREADS,
        stack: Shares {
            ps: 64,
            vs: 64,
            gs: 64,
            es: 64,
        },
    },
    vertex_cache: true,
    fifos: Fifos::Kept,
    new_addresses: true,
    early_waits: false,
    decoder: Some(0x21),
    waiting: 128,
    cache: 0,
    late_misses: false,
};
