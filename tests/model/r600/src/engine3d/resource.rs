// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Resources: what fetches of a slot may read.
//!
//! A resource has no enable bit: it is what its TYPE says as long as it stands there. Shaders choose slots, and a program may
//! change after its draw was judged, so every valid slot of a stage that runs counts. Pixel shaders have slots 0 to 159,
//! vertex and export shaders 160 to 319, fetch shaders 320 to 335, geometry shaders 336 to 495.
//!
//! A fetch from a buffer yields zero beyond SIZE (seed 2.4), so it reads from BASE_ADDRESS to SIZE + 1 bytes behind it.

use std::ops::Range;

use lapidary_model::runs::Runs;
use lapidary_registers::r600::enums::resource_type;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{
    sq_vtx_constant_word2 as word2, sq_vtx_constant_word6 as word6,
};

use super::area::Client;
use super::state::{Found, State};
use super::texture;

/// Slots that there are.
pub const SLOTS: u32 = 496;
/// Bytes of a resource.
pub const BYTES: u32 = 28;
/// Slots of pixel shaders.
pub const PIXEL: Range<u32> = 0..160;
/// Slots of vertex, export and fetch shaders.
pub const VERTEX: Range<u32> = 160..336;
/// Slots of geometry shaders.
pub const GEOMETRY: Range<u32> = 336..SLOTS;

/// Return the slot that holds a register.
pub fn slot_of(register: u32) -> Option<u32> {
    let first = mmio::SQ_TEX_RESOURCE_WORD0.base();
    let slot = register.checked_sub(first)? / BYTES;
    (slot < SLOTS).then_some(slot)
}

/// Find what fetches of a slot may read.
pub fn touched(state: &State<'_>, slot: u32, found: &mut Found) {
    match word6::TYPE.get(state.at(mmio::SQ_VTX_CONSTANT_WORD6, slot)) {
        resource_type::SQ_TEX_VTX_VALID_TEXTURE => texture::touched(state, slot, found),
        resource_type::SQ_TEX_VTX_VALID_BUFFER => buffer(state, slot, found),
        _ => {}
    }
}

fn buffer(state: &State<'_>, slot: u32, found: &mut Found) {
    let w2 = state.at(mmio::SQ_VTX_CONSTANT_WORD2, slot);
    let low = u64::from(state.at(mmio::SQ_VTX_CONSTANT_WORD0, slot));
    let base = low | (u64::from(word2::BASE_ADDRESS_HI.get(w2)) << 32);
    let bytes = u64::from(state.at(mmio::SQ_VTX_CONSTANT_WORD1, slot)) + 1;
    let at = mmio::SQ_VTX_CONSTANT_WORD0.at(slot).unwrap_or_default();
    found.reads(at, Client::Buffer(slot as u16), Runs::one(base, bytes));
}
