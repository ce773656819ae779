// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Engines: how many units a chip has, how its memory is built, and the settings that the generations do not share.
//!
//! The facts are from Linux' `radeon` (`r600_gpu_init`, `rv770_gpu_init`).

use crate::{
    chip::Chipset,
    regs::{
        Far,
        Window, //
    },
};

mod r6xx;
mod r7xx;

/// Units of a chip of which no fuse is blown.
pub(crate) struct Limits {
    /// Pipes of a SIMD.
    pub(crate) pipes: u32,
    /// Pipes among which tiles of memory are distributed, a power of two up to 8.
    pub(crate) tile_pipes: u32,
    /// SIMDs.
    pub(crate) simds: u32,
    /// Render backends, up to 4.
    pub(crate) backends: u32,
    /// Sets of state of the graphics pipe.
    pub(crate) contexts: u32,
}

/// How the memory is built, as `GB_TILING_CONFIG` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// 0 for 4 banks, 1 for 8.
    pub(crate) banks: u32,
    /// 0 for groups of 256 bytes, 1 for 512.
    pub(crate) group: u32,
    /// Logarithm of the rows; up to 7, of which the tiling takes 3.
    pub(crate) rows: u32,
}

/// The engines of a chip.
pub(crate) trait Hal: Sync {
    /// Return what the chip has.
    fn limits(&self) -> &Limits;

    /// Return how its memory is built.
    fn geometry(&self, window: Window<'_>) -> Geometry;

    /// Return which of the fuses of SIMDs count.
    fn simd_fuses(&self) -> u32;

    /// Return the registers that take a copy of the lower half of `GB_TILING_CONFIG`, beside those that all chips have.
    fn copies(&self) -> &'static [u32];

    /// Program what the generations do not share. The fuses have left `pipes` pipes.
    fn program(&self, far: Far<Window<'_>>, pipes: u32);
}

/// Return the engines of a chip.
pub(crate) fn of(chipset: Chipset) -> &'static dyn Hal {
    match chipset {
        Chipset::R600 => &r6xx::R600,
        Chipset::Rv610 => &r6xx::RV610,
        Chipset::Rv635 => &r6xx::RV635,
        Chipset::Rv670 => &r6xx::RV670,
        Chipset::Rv770 => &r7xx::RV770,
        Chipset::Rv730 => &r7xx::RV730,
        Chipset::Rv710 => &r7xx::RV710,
        Chipset::Rv740 => &r7xx::RV740,
    }
}

/// Shares of the four kinds of shaders.
#[derive(Clone, Copy)]
struct Shares {
    ps: u32,
    vs: u32,
    gs: u32,
    es: u32,
}

/// What the kinds of shaders have of a SIMD.
struct Shaders {
    registers: Shares,
    /// Registers of a clause.
    temporaries: u32,
    threads: Shares,
    stack: Shares,
}

impl Shaders {
    /// Program the shares.
    fn program(&self, far: Far<Window<'_>>) {
        use crate::portable::regs::{
            mmio::{
                self,
                sq_gpr_resource_mgmt_2,
                sq_stack_resource_mgmt_1,
                sq_stack_resource_mgmt_2,
                sq_thread_resource_mgmt, //
            },
            // The register has one field more on R7xx, which stays zero.
            mmio_r6xx::{
                sq_gpr_resource_mgmt_1,
                SQ_GPR_RESOURCE_MGMT_1, //
            },
        };

        far.write(
            SQ_GPR_RESOURCE_MGMT_1,
            sq_gpr_resource_mgmt_1::NUM_PS_GPRS.of(self.registers.ps)
                | sq_gpr_resource_mgmt_1::NUM_VS_GPRS.of(self.registers.vs)
                | sq_gpr_resource_mgmt_1::NUM_CLAUSE_TEMP_GPRS.of(self.temporaries),
        );
        far.write(
            mmio::SQ_GPR_RESOURCE_MGMT_2,
            sq_gpr_resource_mgmt_2::NUM_GS_GPRS.of(self.registers.gs)
                | sq_gpr_resource_mgmt_2::NUM_ES_GPRS.of(self.registers.es),
        );
        far.write(
            mmio::SQ_THREAD_RESOURCE_MGMT,
            sq_thread_resource_mgmt::NUM_PS_THREADS.of(self.threads.ps)
                | sq_thread_resource_mgmt::NUM_VS_THREADS.of(self.threads.vs)
                | sq_thread_resource_mgmt::NUM_GS_THREADS.of(self.threads.gs)
                | sq_thread_resource_mgmt::NUM_ES_THREADS.of(self.threads.es),
        );
        far.write(
            mmio::SQ_STACK_RESOURCE_MGMT_1,
            sq_stack_resource_mgmt_1::NUM_PS_STACK_ENTRIES.of(self.stack.ps)
                | sq_stack_resource_mgmt_1::NUM_VS_STACK_ENTRIES.of(self.stack.vs),
        );
        far.write(
            mmio::SQ_STACK_RESOURCE_MGMT_2,
            sq_stack_resource_mgmt_2::NUM_GS_STACK_ENTRIES.of(self.stack.gs)
                | sq_stack_resource_mgmt_2::NUM_ES_STACK_ENTRIES.of(self.stack.es),
        );
    }
}

/// Set the order in which kinds of shaders are served, and whether there is a vertex cache. The bits of `also` are set,
/// too. All others stay.
fn configure_shaders(far: Far<Window<'_>>, vertex_cache: bool, also: u32) {
    use crate::portable::regs::mmio::{
        sq_config,
        SQ_CONFIG, //
    };

    let mut config = far.read(SQ_CONFIG) | also;
    let fields = [
        (sq_config::PS_PRIO, 0),
        (sq_config::VS_PRIO, 1),
        (sq_config::GS_PRIO, 2),
        (sq_config::ES_PRIO, 3),
        // The constants are in registers, until a client says otherwise.
        (sq_config::DX9_CONSTS, 1),
        (sq_config::VC_ENABLE, u32::from(vertex_cache)),
    ];
    for (field, value) in fields {
        config = field.put(config, value);
    }
    far.write(SQ_CONFIG, config);
}

/// Return the value of `VGT_CACHE_INVALIDATION`: the caches that a flush of fetches empties.
const fn invalidated(vertex_cache: bool) -> u32 {
    // Vertex and texture cache, or the texture cache alone.
    if vertex_cache {
        2
    } else {
        1
    }
}
