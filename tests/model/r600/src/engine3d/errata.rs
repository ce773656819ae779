// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of single chips: what the manual's driver notes forbid (seed 6), as far as registers show it.
//!
//! The rules on instructions (6.1.3, 6.1.4) and the hints on performance (6.2.1) cannot be judged from registers.

use lapidary_registers::r600::enums::{db_force, frag_func, ref_func, stencil_op, z_order};
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{
    cb_color_control, cb_color_info, db_depth_control, db_render_override, db_shader_control,
    db_stencilrefmask, sq_config, sq_thread_resource_mgmt as threads,
};

use super::depth;
use super::format;
use super::state::{Found, State};
use crate::kind;

/// Judge a draw by the notes on its chip.
pub fn judge(state: &State<'_>, pixels: bool, found: &mut Found) {
    thread_counts(state, found);
    if sq_config::VC_ENABLE.any(state.get(mmio::SQ_CONFIG)) && !state.chip.vertex_cache {
        let text = format!("{} has no vertex cache", state.chip.name);
        found.complain(kind::NO_VERTEX_CACHE, text);
    }
    if pixels {
        rez(state, found);
        fog(state, found);
        depth_copy(state, found);
        eight_samples(state, found);
    }
}

/// Check the counts of threads. R600 counts threads in fours (6.1.2). RV670 wants 16 for export and geometry shaders
/// that run (6.1.5).
fn thread_counts(state: &State<'_>, found: &mut Found) {
    let counts = state.get(mmio::SQ_THREAD_RESOURCE_MGMT);
    let fields = [
        threads::NUM_PS_THREADS,
        threads::NUM_VS_THREADS,
        threads::NUM_GS_THREADS,
        threads::NUM_ES_THREADS,
    ];
    let numbers = fields.map(|f| f.get(counts));
    let odd = state.chip.name == "r600" && numbers.iter().any(|n| n % 4 != 0);
    let few =
        state.chip.name == "rv670" && state.geometry() && numbers[2..].iter().any(|n| *n < 16);
    if odd || few {
        let text = format!(
            "PS, VS, GS and ES threads {numbers:?} on {}",
            state.chip.name
        );
        found.complain(kind::THREAD_COUNT, text);
    }
}

/// Check that there is no second depth test if depth is written where it differs (6.2.2).
fn rez(state: &State<'_>, found: &mut Found) {
    use db_depth_control::{Z_ENABLE, Z_WRITE_ENABLE, ZFUNC};
    let control = state.get(mmio::DB_DEPTH_CONTROL);
    let order = db_shader_control::Z_ORDER.get(state.get(mmio::DB_SHADER_CONTROL));
    if matches!(order, z_order::RE_Z | z_order::EARLY_Z_THEN_RE_Z)
        && Z_ENABLE.any(control)
        && Z_WRITE_ENABLE.any(control)
        && ZFUNC.get(control) == frag_func::FRAG_NOTEQUAL
    {
        let text = format!("Z_ORDER {order} with ZFUNC FRAG_NOTEQUAL and depth writes");
        found.complain(kind::REZ_NOT_EQUAL, text);
    }
}

/// Check fog, which does not work on R6xx with floats of 32 bits (6.2.3).
fn fog(state: &State<'_>, found: &mut Found) {
    let control = state.get(mmio::CB_COLOR_CONTROL);
    if state.chip.generation.is_r7xx || !cb_color_control::FOG_ENABLE.any(control) {
        return;
    }
    let all = cb_color_control::MULTIWRITE_ENABLE.any(control);
    let fogged = if all { 8 } else { 1 };
    let of = |n| cb_color_info::FORMAT.get(state.at(mmio::CB_COLOR_INFO, n));
    if let Some(n) = (0..fogged).find(|n| format::is_float32(of(*n))) {
        let text = format!("colour target {n} has format {} and fog", of(n));
        found.complain(kind::FOG_OF_FLOATS, text);
    }
}

/// Check that a copy from depth to colour has a state by which the block reads depth at all (6.3.1).
fn depth_copy(state: &State<'_>, found: &mut Found) {
    use db_depth_control::*;
    let concerned = matches!(state.chip.name, "rv610" | "rv635");
    if !concerned || !depth::copies(state) {
        return;
    }
    let control = state.get(mmio::DB_DEPTH_CONTROL);
    let mask = db_stencilrefmask::STENCILWRITEMASK.get(state.get(mmio::DB_STENCILREFMASK));
    let hiz = db_render_override::FORCE_HIZ_ENABLE.get(state.get(mmio::DB_RENDER_OVERRIDE));
    let right = Z_ENABLE.any(control)
        && STENCIL_ENABLE.any(control)
        && !Z_WRITE_ENABLE.any(control)
        && mask == 0xff
        && ZFUNC.get(control) == frag_func::FRAG_LEQUAL
        && STENCILFUNC.get(control) == ref_func::REF_ALWAYS
        && STENCILZPASS.get(control) == stencil_op::STENCIL_KEEP
        && STENCILZFAIL.get(control) == stencil_op::STENCIL_INCR_CLAMP
        && hiz == db_force::FORCE_DISABLE;
    if !right {
        let text = format!(
            "DB_DEPTH_CONTROL {control:#010x}, STENCILWRITEMASK {mask:#x}, FORCE_HIZ_ENABLE {hiz}"
        );
        found.complain(kind::DEPTH_COPY_STATE, text);
    }
}

/// Check eight samples. R600 must not have eight targets of which the last was fast-cleared (6.3.2), nor RV610 more
/// than four targets (6.3.3).
fn eight_samples(state: &State<'_>, found: &mut Found) {
    use cb_color_control::{SPECIAL_OP, special_op};
    if state.log2_samples() != 3 {
        return;
    }
    let info = |n| state.at(mmio::CB_COLOR_INFO, n);
    let targets = state.get(mmio::CB_TARGET_MASK);
    let shader = state.get(mmio::CB_SHADER_MASK);
    let has = |mask: u32, n: u32| (mask >> (4 * n)) & 0xf != 0;
    let valid = |n: u32| cb_color_info::FORMAT.get(info(n)) != 0 && has(targets, n);
    let number = (0..8).filter(|n| valid(*n)).count();
    let draws = SPECIAL_OP.get(state.get(mmio::CB_COLOR_CONTROL)) == special_op::SPECIAL_NORMAL;
    let cleared = cb_color_info::TILE_MODE.get(info(7)) != 0;
    let exported = (0..8).all(|n| has(shader, n));
    if state.chip.name == "rv610" && number > 4
        || state.chip.name == "r600" && number == 8 && exported && draws && cleared
    {
        let text = format!("{number} targets of 8 samples on {}", state.chip.name);
        found.complain(kind::EIGHT_SAMPLES, text);
    }
}
