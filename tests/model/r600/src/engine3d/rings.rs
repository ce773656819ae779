// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rings of the shader core, and the window of memory exports.
//!
//! A ring is bounded by its size alone: programs compute the place in it. So a ring counts, whole, as soon as it has a size and
//! a stage that can reach it runs. The rings between stages belong to the geometry shader. Scratch memory belongs to a
//! stage. How the chip numbers the threads that share scratch memory is not public, so the least that can be demanded of its
//! size is one element.

use lapidary_model::runs::Runs;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::sq_estmp_ring_itemsize as itemsize;

use super::area::{Client, Ring, Stage};
use super::state::{Found, State};
use crate::kind;

/// Find which rings a draw may touch.
pub fn touched(state: &State<'_>, pixels: bool, found: &mut Found) {
    let geometry = state.geometry();
    for (ring, base, size, item, runs) in [
        (
            Ring::Esgs,
            mmio::SQ_ESGS_RING_BASE,
            mmio::SQ_ESGS_RING_SIZE,
            mmio::SQ_ESGS_RING_ITEMSIZE,
            geometry,
        ),
        (
            Ring::Gsvs,
            mmio::SQ_GSVS_RING_BASE,
            mmio::SQ_GSVS_RING_SIZE,
            mmio::SQ_GSVS_RING_ITEMSIZE,
            geometry,
        ),
        (
            Ring::Scratch(Stage::Es),
            mmio::SQ_ESTMP_RING_BASE,
            mmio::SQ_ESTMP_RING_SIZE,
            mmio::SQ_ESTMP_RING_ITEMSIZE,
            geometry,
        ),
        (
            Ring::Scratch(Stage::Gs),
            mmio::SQ_GSTMP_RING_BASE,
            mmio::SQ_GSTMP_RING_SIZE,
            mmio::SQ_GSTMP_RING_ITEMSIZE,
            geometry,
        ),
        (
            Ring::Scratch(Stage::Vs),
            mmio::SQ_VSTMP_RING_BASE,
            mmio::SQ_VSTMP_RING_SIZE,
            mmio::SQ_VSTMP_RING_ITEMSIZE,
            true,
        ),
        (
            Ring::Scratch(Stage::Ps),
            mmio::SQ_PSTMP_RING_BASE,
            mmio::SQ_PSTMP_RING_SIZE,
            mmio::SQ_PSTMP_RING_ITEMSIZE,
            pixels,
        ),
        (
            Ring::Fbuf,
            mmio::SQ_FBUF_RING_BASE,
            mmio::SQ_FBUF_RING_SIZE,
            mmio::SQ_FBUF_RING_ITEMSIZE,
            pixels,
        ),
        (
            Ring::Reduction,
            mmio::SQ_REDUC_RING_BASE,
            mmio::SQ_REDUC_RING_SIZE,
            mmio::SQ_REDUC_RING_ITEMSIZE,
            true,
        ),
    ] {
        if !runs {
            continue;
        }
        let bytes = u64::from(state.get(size)) << 8;
        let start = u64::from(state.get(base)) << 8;
        found.changes(base, Client::Ring(ring), Runs::one(start, bytes));
        let item = u64::from(itemsize::ITEMSIZE.get(state.get(item))) * 4;
        let needed = matches!(ring, Ring::Esgs | Ring::Gsvs);
        if item > bytes || needed && bytes == 0 {
            let text = format!("an element of {item} bytes in the {ring} of {bytes}");
            found.complain(kind::RING_TOO_SMALL, text);
        }
    }
    let bytes = u64::from(state.get(mmio::SX_MEMORY_EXPORT_SIZE)) << 8;
    let base = mmio::SX_MEMORY_EXPORT_BASE;
    let start = u64::from(state.get(base)) << 8;
    found.changes(base, Client::Export, Runs::one(start, bytes));
}
