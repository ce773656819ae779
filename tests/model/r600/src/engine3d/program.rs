// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Programs: where they begin, which constants they read, and what they demand of the sequencer.
//!
//! The pixel and the vertex shader run with every draw, and the fetch shader as a subroutine. With VGT_GS_MODE the geometry
//! shader runs, and the export shader in the vertex shader's place before it. A program's first instruction pair is fetched in
//! any case. Where it goes from there is not known from registers.
//!
//! Constant buffers count if they have a size and the constant file is off (DX9_CONSTS; the two exclude each other).

use lapidary_model::runs::Runs;
use lapidary_registers::RegArray;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{
    sq_config, sq_gpr_resource_mgmt_2 as gprs_2, sq_pgm_exports_ps, sq_pgm_resources_ps,
};
use lapidary_registers::r600::mmio_r7xx::{self, sq_gpr_resource_mgmt_1 as gprs_1};

use super::area::{Client, Stage};
use super::state::{Found, State};
use crate::kind;

/// Bytes of an instruction of control flow.
const INSTRUCTION: u64 = 8;

/// The registers of a program.
struct Program {
    stage: Stage,
    start: u32,
    offset: u32,
    resources: u32,
}

const PS: Program = Program {
    stage: Stage::Ps,
    start: mmio::SQ_PGM_START_PS,
    offset: mmio::SQ_PGM_CF_OFFSET_PS,
    resources: mmio::SQ_PGM_RESOURCES_PS,
};
const VS: Program = Program {
    stage: Stage::Vs,
    start: mmio::SQ_PGM_START_VS,
    offset: mmio::SQ_PGM_CF_OFFSET_VS,
    resources: mmio::SQ_PGM_RESOURCES_VS,
};
const FS: Program = Program {
    stage: Stage::Fs,
    start: mmio::SQ_PGM_START_FS,
    offset: mmio::SQ_PGM_CF_OFFSET_FS,
    resources: mmio::SQ_PGM_RESOURCES_FS,
};
const GS: Program = Program {
    stage: Stage::Gs,
    start: mmio::SQ_PGM_START_GS,
    offset: mmio::SQ_PGM_CF_OFFSET_GS,
    resources: mmio::SQ_PGM_RESOURCES_GS,
};
const ES: Program = Program {
    stage: Stage::Es,
    start: mmio::SQ_PGM_START_ES,
    offset: mmio::SQ_PGM_CF_OFFSET_ES,
    resources: mmio::SQ_PGM_RESOURCES_ES,
};

/// Find what programs may read on their own, without the pixel shader if no pixel can be drawn.
pub fn touched(state: &State<'_>, pixels: bool, found: &mut Found) {
    let geometry = state.geometry();
    let file = sq_config::DX9_CONSTS.any(state.get(mmio::SQ_CONFIG));
    for (program, runs) in [
        (PS, pixels),
        (VS, true),
        (FS, true),
        (GS, geometry),
        (ES, geometry),
    ] {
        if !runs {
            continue;
        }
        start(state, &program, found);
        let buffers = match program.stage {
            Stage::Ps => (
                mmio::SQ_ALU_CONST_CACHE_PS,
                mmio::SQ_ALU_CONST_BUFFER_SIZE_PS,
            ),
            Stage::Vs => (
                mmio::SQ_ALU_CONST_CACHE_VS,
                mmio::SQ_ALU_CONST_BUFFER_SIZE_VS,
            ),
            Stage::Gs => (
                mmio::SQ_ALU_CONST_CACHE_GS,
                mmio::SQ_ALU_CONST_BUFFER_SIZE_GS,
            ),
            // These two read the vertex shader's.
            Stage::Es | Stage::Fs => continue,
        };
        if !file {
            constants(state, program.stage, buffers, found);
        }
    }
}

fn start(state: &State<'_>, program: &Program, found: &mut Found) {
    let base = u64::from(state.get(program.start)) << 8;
    // All stages have the same field.
    let offset = mmio::sq_pgm_cf_offset_ps::PGM_CF_OFFSET.get(state.get(program.offset));
    let first = Runs::one(base + u64::from(offset) * INSTRUCTION, 2 * INSTRUCTION);
    found.reads(program.start, Client::Program(program.stage), first);
}

fn constants(
    state: &State<'_>,
    stage: Stage,
    (caches, sizes): (RegArray, RegArray),
    found: &mut Found,
) {
    for n in 0..caches.len() {
        // All stages have the same field.
        let size = mmio::sq_alu_const_buffer_size_ps::DATA.get(state.at(sizes, n));
        let base = u64::from(state.at(caches, n)) << 8;
        let at = caches.at(n).unwrap_or_default();
        let client = Client::Constants(stage, n as u8);
        found.reads(at, client, Runs::one(base, u64::from(size) << 8));
    }
}

/// Judge what programs demand: a demand that cannot be met hangs the chip.
pub fn judge(state: &State<'_>, pixels: bool, found: &mut Found) {
    let first = state.get(mmio_r7xx::SQ_GPR_RESOURCE_MGMT_1);
    let second = state.get(mmio::SQ_GPR_RESOURCE_MGMT_2);
    let (ps, vs) = (
        gprs_1::NUM_PS_GPRS.get(first),
        gprs_1::NUM_VS_GPRS.get(first),
    );
    let (gs, es) = (
        gprs_2::NUM_GS_GPRS.get(second),
        gprs_2::NUM_ES_GPRS.get(second),
    );
    let geometry = state.geometry();
    let dynamic = state.chip.generation.is_r7xx && gprs_1::DYN_GPR_ENABLE.any(first);
    for (program, share, runs) in [
        (&PS, ps, pixels),
        (&VS, vs, true),
        (&GS, gs, geometry),
        (&ES, es, geometry),
    ] {
        // All stages have the same field.
        let demand = sq_pgm_resources_ps::NUM_GPRS.get(state.get(program.resources));
        if runs && !dynamic && demand > share {
            found.complain(
                kind::GPR_DEMAND,
                format!("the {} wants {demand} of {share}", program.stage),
            );
        }
    }
    // Temporaries of clauses are there twice, for two clauses at a time.
    let all = ps + vs + gs + es + 2 * gprs_1::NUM_CLAUSE_TEMP_GPRS.get(first);
    if !dynamic && all > state.chip.gprs {
        let text = format!("shares of {all}, and there are {}", state.chip.gprs);
        found.complain(kind::GPR_DEMAND, text);
    }
    let exports = sq_pgm_exports_ps::EXPORT_MODE.get(state.get(mmio::SQ_PGM_EXPORTS_PS));
    if pixels && exports == 0 {
        found.complain(
            kind::NO_PIXEL_EXPORT,
            "SQ_PGM_EXPORTS_PS is zero".to_owned(),
        );
    }
}
