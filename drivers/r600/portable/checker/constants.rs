// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Constants without addresses: samplers, ALU constants, boolean constants, loop constants, and what is added to the
//! indices of vertices and instances (R6xx/R7xx 3.6; packets in 5.3.3).
//!
//! Each packet writes to a range of its own. The ranges lie side by side, so a packet that went beyond the end of its
//! own would reach the resources. Only registers that exist are admitted, which are fewer than the ranges have room for.
//! The values bound no access. A sampler says how coordinates are wrapped and texels are filtered within a texture, a
//! loop constant how often a shader repeats.
//!
//! There are 18 samplers for each of pixel, vertex and geometry shaders. Whole ones are admitted, at the beginning of
//! one. The colours of borders are registers, which any stream may write.

use lapidary::portable::{
    bits::RegArray,
    pm4::Body, //
};

use super::{
    gfx::Checker,
    Reason, //
};
use crate::portable::regs::{
    mmio::{
        sq_tex_sampler_word2 as word2,
        SQ_ALU_CONSTANT,
        SQ_BOOL_CONST,
        SQ_LOOP_CONST,
        SQ_TEX_SAMPLER_WORD0,
        SQ_VTX_BASE_VTX_LOC,
        SQ_VTX_START_INST_LOC, //
    },
    pm4::{
        set_alu_const,
        set_bool_const,
        set_ctl_const,
        set_loop_const,
        set_sampler, //
    }, //
};

/// Dwords of a sampler.
const SAMPLER: u32 = 3;
/// Dwords of all samplers.
const SAMPLERS: u32 = dwords(SQ_TEX_SAMPLER_WORD0, SAMPLER, set_sampler::BASE);
const ALU: u32 = dwords(SQ_ALU_CONSTANT, 1, set_alu_const::BASE);
const BOOL: u32 = dwords(SQ_BOOL_CONST, 1, set_bool_const::BASE);
const LOOP: u32 = dwords(SQ_LOOP_CONST, 1, set_loop_const::BASE);
const CTL: u32 = {
    assert!(SQ_VTX_BASE_VTX_LOC == set_ctl_const::BASE);
    assert!(SQ_VTX_START_INST_LOC == set_ctl_const::BASE + 4);
    2
};

/// The bits of a sampler's third dword that have a meaning. Those of the others all have.
const KNOWN_WORD2: u32 = word2::LOD_BIAS_SEC.mask()
    | word2::MC_COORD_TRUNCATE.mask()
    | word2::FORCE_DEGAMMA.mask()
    | word2::HIGH_PRECISION_FILTER.mask()
    | word2::PERF_MIP.mask()
    | word2::PERF_Z.mask()
    | word2::FETCH_4.mask()
    | word2::SAMPLE_IS_PCF.mask()
    | word2::TYPE.mask();

/// Return the number of dwords of `array`, which begins at `base`, where the packet's range does. Every constant has
/// `each` dwords. The compiler evaluates this.
const fn dwords(array: RegArray, each: u32, base: u32) -> u32 {
    assert!(matches!(array.index_of(base), Some(0)));
    assert!(matches!(array.index_of(base + 4 * each), Some(1)));
    array.len() * each
}

/// Take the number of the first dword. Return it if all dwords of `body` have a place among the first `most`.
fn first(body: &mut Body<'_>, most: u32, outside: Reason) -> Result<u32, Reason> {
    let first = body.take()?;
    // A body has at most 2^14 dwords.
    let dwords = body.len() as u32;
    if first.checked_add(dwords).is_none_or(|behind| behind > most) {
        return Err(outside);
    }
    Ok(first)
}

impl Checker<'_> {
    /// Check a packet that sets samplers.
    pub(super) fn set_sampler(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let first = first(body, SAMPLERS, Reason::SamplerSlot)?;
        if first % SAMPLER != 0 || body.len() as u32 % SAMPLER != 0 {
            return Err(Reason::PartialSampler);
        }
        while !body.is_empty() {
            let (_word0, _word1) = (body.take()?, body.take()?);
            if body.take()? & !KNOWN_WORD2 != 0 {
                return Err(Reason::ForbiddenBits);
            }
        }
        Ok(())
    }

    /// Check a packet that sets ALU constants.
    pub(super) fn set_alu_const(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        first(body, ALU, Reason::ConstantRange).map(drop)
    }

    /// Check a packet that sets boolean constants.
    pub(super) fn set_bool_const(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        first(body, BOOL, Reason::ConstantRange).map(drop)
    }

    /// Check a packet that sets loop constants.
    pub(super) fn set_loop_const(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        first(body, LOOP, Reason::ConstantRange).map(drop)
    }

    /// Check a packet that sets what is added to the indices of vertices and instances.
    pub(super) fn set_ctl_const(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        first(body, CTL, Reason::ConstantRange).map(drop)
    }
}
