// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Stream-out buffers.
//!
//! A buffer counts if VGT_STRMOUT_EN and its bit of VGT_STRMOUT_BUFFER_EN are set. It is written from its offset to its size,
//! which both count dwords from its base. The offset is the one that the last STRMOUT_BUFFER_UPDATE or register write set: no
//! draw is executed, so it does not move.

use lapidary_model::runs::Runs;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{vgt_strmout_buffer_en, vgt_strmout_en};

use super::area::Client;
use super::state::{Found, State};

/// Buffers that there are.
pub const BUFFERS: u32 = 4;

/// Return which buffers are written, one bit each.
pub fn enabled(state: &State<'_>) -> u32 {
    if !vgt_strmout_en::STREAMOUT.any(state.get(mmio::VGT_STRMOUT_EN)) {
        return 0;
    }
    let all = (1 << BUFFERS) - 1;
    debug_assert!(vgt_strmout_buffer_en::BUFFER_3_EN.mask() <= all);
    state.get(mmio::VGT_STRMOUT_BUFFER_EN) & all
}

/// Find which buffers a draw may write.
pub fn touched(state: &State<'_>, found: &mut Found) {
    let enabled = enabled(state);
    for n in (0..BUFFERS).filter(|n| (enabled >> n) & 1 != 0) {
        let base = u64::from(state.at(mmio::VGT_STRMOUT_BUFFER_BASE, n)) << 8;
        let offset = u64::from(state.at(mmio::VGT_STRMOUT_BUFFER_OFFSET, n)) * 4;
        let size = u64::from(state.at(mmio::VGT_STRMOUT_BUFFER_SIZE, n)) * 4;
        let runs = Runs::one(base + offset, size.saturating_sub(offset));
        let at = mmio::VGT_STRMOUT_BUFFER_BASE.at(n).unwrap_or_default();
        found.touches(at, Client::StreamOut(n as u8), (false, true), runs);
    }
}
