// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rings between export, geometry and vertex shader, and the scratch memory of each kind of shader.
//!
//! A ring has an address and a size in units of 256 bytes, and a size of its elements in dwords. The address and size are
//! configuration registers: there is one set of them, and a write takes effect at once, while draws before it may still
//! run. So a stream may write them only behind a wait for all draws. The size bounds what shaders access. How the chip
//! numbers the elements of scratch memory is not public, so the checker does not compare the number of elements.
//!
//! A ring that a stream leaves alone is as the driver or an earlier stream of the same client has set it. Otherwise the
//! stream states address, size and size of an element before the next draw. A ring of no size needs no address. It must
//! not be used then: elements of scratch memory have no size, and there is no geometry shader with rings.

use super::{
    gfx::Checker,
    place::{
        Doing,
        SURFACE_UNIT, //
    },
    surface::Place,
    Reason, //
};
use crate::portable::regs::{
    enums::gs_mode,
    mmio::{
        self,
        vgt_gs_mode as mode, //
    }, //
};

/// From the export to the geometry shader, from there to the vertex shader, and scratch memory of four kinds of shaders.
const RINGS: usize = 6;
/// Rings that geometry shaders need, one bit each. The others are scratch memory.
const GEOMETRY: u32 = 0b11;
/// Bytes from the registers of a ring to those of the next.
const STEP: u32 = 8;
/// Bytes of a dword.
const DWORD: u64 = 4;

/// One ring.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    base: Option<Place>,
    size: Option<u32>,
    item: Option<u32>,
}

/// The rings that a stream has set.
#[derive(Debug, Default)]
pub(super) struct Rings {
    rings: [Ring; RINGS],
    /// Rings that have changed since the last draw, one bit each.
    changed: u32,
    /// `VGT_GS_MODE`.
    mode: Option<u32>,
}

/// Return the number of the ring whose address or size is `register`.
pub(super) fn ring(register: u32) -> u32 {
    register
        .wrapping_sub(mmio::SQ_ESGS_RING_BASE)
        .wrapping_div(STEP)
}

/// Return the number of the ring whose size of elements is `register`.
fn item(register: u32) -> u32 {
    register
        .wrapping_sub(mmio::SQ_ESGS_RING_ITEMSIZE)
        .wrapping_div(4)
}

/// The registers lie in the order that the functions above count on.
const _: () = {
    let bases = [
        mmio::SQ_ESGS_RING_BASE,
        mmio::SQ_GSVS_RING_BASE,
        mmio::SQ_ESTMP_RING_BASE,
        mmio::SQ_GSTMP_RING_BASE,
        mmio::SQ_VSTMP_RING_BASE,
        mmio::SQ_PSTMP_RING_BASE,
    ];
    let sizes = [
        mmio::SQ_ESGS_RING_SIZE,
        mmio::SQ_GSVS_RING_SIZE,
        mmio::SQ_ESTMP_RING_SIZE,
        mmio::SQ_GSTMP_RING_SIZE,
        mmio::SQ_VSTMP_RING_SIZE,
        mmio::SQ_PSTMP_RING_SIZE,
    ];
    let items = [
        mmio::SQ_ESGS_RING_ITEMSIZE,
        mmio::SQ_GSVS_RING_ITEMSIZE,
        mmio::SQ_ESTMP_RING_ITEMSIZE,
        mmio::SQ_GSTMP_RING_ITEMSIZE,
        mmio::SQ_VSTMP_RING_ITEMSIZE,
        mmio::SQ_PSTMP_RING_ITEMSIZE,
    ];
    let mut i = 0;
    while i < RINGS {
        let number = i as u32;
        assert!(bases[i] == bases[0] + number * STEP);
        assert!(sizes[i] == bases[i] + 4);
        assert!(items[i] == items[0] + number * 4);
        i += 1;
    }
};

impl Rings {
    /// Note that ring `number` has changed, and return it.
    fn changes(&mut self, number: u32) -> Option<&mut Ring> {
        self.changed |= 1u32.wrapping_shl(number);
        self.rings.get_mut(number as usize)
    }

    /// Track a write to the address of a ring.
    pub(super) fn set_base(&mut self, register: u32, place: Place) {
        if let Some(ring) = self.changes(ring(register)) {
            ring.base = Some(place);
        }
    }

    /// Track a write to the size of a ring.
    pub(super) fn set_size(&mut self, register: u32, word: u32) {
        if let Some(ring) = self.changes(ring(register)) {
            ring.size = Some(word);
        }
    }

    /// Track a write to the size of the elements of a ring.
    pub(super) fn set_item(&mut self, register: u32, word: u32) -> Result<(), Reason> {
        use mmio::sq_esgs_ring_itemsize::ITEMSIZE;
        if word & !ITEMSIZE.mask() != 0 {
            return Err(Reason::RegisterBits);
        }
        if let Some(ring) = self.changes(item(register)) {
            ring.item = Some(word);
        }
        Ok(())
    }

    /// Track a write to `VGT_GS_MODE`.
    #[inline]
    pub(super) fn set_mode(&mut self, word: u32) {
        // Whether a ring may be empty depends on it. Mesa states the same mode for each draw.
        if self.mode != Some(word) {
            self.mode = Some(word);
            self.changed |= GEOMETRY;
        }
    }

    /// Return whether there is a geometry shader with rings. Scenario A has none.
    fn geometry(&self) -> Result<bool, Reason> {
        let word = self.mode.ok_or(Reason::NoGeometryMode)?;
        Ok(matches!(
            mode::MODE.get(word),
            gs_mode::GS_SCENARIO_B | gs_mode::GS_SCENARIO_G
        ))
    }
}

impl Checker<'_> {
    /// Check what a draw may access in the rings that have changed.
    pub(super) fn judge_rings(&mut self) -> Result<(), Reason> {
        let geometry = self.rings.geometry()?;
        if self.rings.changed == 0 {
            return Ok(());
        }
        for number in 0..RINGS {
            let bit = 1u32.wrapping_shl(number as u32);
            if self.rings.changed & bit != 0 {
                let used = match bit & GEOMETRY {
                    0 => None,
                    _ => Some(geometry),
                };
                self.judge_ring(number, used)?;
            }
        }
        self.rings.changed = 0;
        Ok(())
    }

    /// Check one ring. `used` says whether it is used; `None` if the size of its elements says so.
    fn judge_ring(&mut self, number: usize, used: Option<bool>) -> Result<(), Reason> {
        let Some(ring) = self.rings.rings.get(number).copied() else {
            return Ok(());
        };
        let used = used.unwrap_or(ring.item.is_some_and(|dwords| dwords != 0));
        let size = match ring.size {
            Some(size) if size != 0 => size,
            // Neither address nor element of a ring without a size count while it is not used.
            None if ring.base.is_some() => return Err(Reason::RingState),
            _ if used => return Err(Reason::RingState),
            _ => return Ok(()),
        };
        let (Some(base), Some(item)) = (ring.base, ring.item) else {
            return Err(Reason::RingState);
        };
        // 40 bits.
        let bytes = u64::from(size).wrapping_mul(SURFACE_UNIT);
        if u64::from(item).wrapping_mul(DWORD) > bytes {
            return Err(Reason::RingItem);
        }
        self.claim(base, bytes, 1, Doing::Writes, Reason::RingBounds)
    }
}
