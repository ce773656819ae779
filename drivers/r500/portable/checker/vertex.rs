// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Vertices: up to sixteen arrays, and which of their elements a draw fetches (R5xx 6.2, 10.10).
//!
//! An element of an array has some dwords and is a stride away from the next, so each array has a largest
//! index whose element still lies in its object; the smallest of these is what the arrays hold together.
//! Indices of a draw come from the stream or an index buffer, whose contents nobody has looked at, or are
//! counted from zero. To them `VAP_INDEX_OFFSET` is added, and what is fetched then lies between
//! `VAP_VF_MIN_VTX_INDX` and `VAP_VF_MAX_VTX_INDX`: the manual clamps "the index to be fetched".
//!
//! That the clamp comes last is seen on the chip. Mesa sets the largest index from the size of the buffers, whatever
//! is added (`r300_render.c`), and piglit's `arb_draw_elements_base_vertex-negative-index` draws from a buffer of
//! three vertices with indices far beyond and an offset that leads back: clamped first, they would lie in front of the
//! buffer. It passes on RV530 (Mesa's list of known failures, `ci/r300-rv530-nohiz-fails.txt`, does not have it).

use super::Reason;
use crate::portable::regs::mmio::{
    vap_alt_num_vertices as alternative,
    vap_index_offset as index_offset,
    vap_vf_max_vtx_indx as max,
    vap_vf_min_vtx_indx as min,
    vap_vtx_size as size, //
};

/// Indices have 24 bits.
const INDICES: u32 = max::MAX_INDX.max();

/// The upper bound of indices as a stream has set it.
#[derive(Clone, Copy, Debug)]
struct Bound {
    value: u32,
    /// The dword that sets it.
    position: usize,
    /// A draw has relied on it.
    used: bool,
}

/// What a stream has said about vertices.
#[derive(Debug, Default)]
pub(super) struct Vertices {
    /// Largest index that all arrays hold; `None` if arrays have not been loaded.
    held: Option<u32>,
    max: Option<Bound>,
    min: Option<u32>,
    offset: Option<u32>,
    /// Dwords of a vertex in the stream.
    size: Option<u32>,
    count: Option<u32>,
}

/// The largest index of an array with elements of `dwords` dwords, `stride` dwords apart, in `length` bytes;
/// `None` if not even the first element fits.
fn held(dwords: u32, stride: u32, length: u64) -> Option<u32> {
    let rest = length.checked_sub(u64::from(dwords).wrapping_mul(4))?;
    match rest.checked_div(u64::from(stride).wrapping_mul(4)) {
        Some(index) => Some(index.min(u64::from(INDICES)) as u32),
        None => Some(INDICES),
    }
}

impl Vertices {
    // --- state ---------------------------------------------------------------------------------------

    /// New arrays; all of them follow by [`Self::add_array`].
    pub(super) fn start_arrays(&mut self) {
        self.held = Some(INDICES);
    }

    /// One array.
    pub(super) fn add_array(
        &mut self,
        dwords: u32,
        stride: u32,
        length: u64,
    ) -> Result<(), Reason> {
        let index = held(dwords, stride, length).ok_or(Reason::ArrayBounds)?;
        self.held = self.held.map(|held| held.min(index));
        Ok(())
    }

    /// `VAP_VF_MAX_VTX_INDX`, the dword at `position`.
    pub(super) fn set_max(&mut self, word: u32, position: usize) {
        self.max = Some(Bound {
            value: max::MAX_INDX.get(word),
            position,
            used: false,
        });
    }

    pub(super) fn set_min(&mut self, word: u32) {
        self.min = Some(min::MIN_INDX.get(word));
    }

    pub(super) fn set_offset(&mut self, word: u32) {
        self.offset = Some(index_offset::INDEX_OFFSET.get(word));
    }

    pub(super) fn set_size(&mut self, word: u32) {
        self.size = Some(size::DWORDS_PER_VTX.get(word));
    }

    pub(super) fn set_count(&mut self, word: u32) {
        self.count = Some(alternative::NUM_VERTICES.get(word));
    }

    /// `VAP_ALT_NUM_VERTICES`.
    pub(super) fn count(&self) -> Result<u32, Reason> {
        self.count.ok_or(Reason::NoVertexCount)
    }

    /// Dwords of `count` vertices in the stream.
    pub(super) fn data(&self, count: u32) -> Result<u64, Reason> {
        let size = self.size.ok_or(Reason::NoVertexSize)?;
        // A draw that no data end.
        if size == 0 {
            return Err(Reason::EmptyVertex);
        }
        Ok(u64::from(size).wrapping_mul(u64::from(count)))
    }

    // --- what a draw fetches -------------------------------------------------------------------------

    /// Vertices 0 to `count - 1`. The bounds may not make it more; that they make it less is not relied on.
    pub(super) fn counted(&mut self, count: u32) -> Result<(), Reason> {
        let held = self.held.ok_or(Reason::NoArrays)?;
        let min = self.min.ok_or(Reason::NoIndexBounds)?;
        // A negative offset would lead in front of the arrays.
        let offset = self.offset.ok_or(Reason::NoIndexOffset)?;
        if offset > INDICES {
            return Err(Reason::IndexOffset);
        }
        // 24 bits each.
        let last = count.wrapping_sub(1).wrapping_add(offset);
        if last.max(min) > held {
            return Err(Reason::VertexBounds);
        }
        if let Some(max) = &mut self.max {
            max.used = true;
        }
        Ok(())
    }

    /// Vertices by indices that may have any value. If the upper bound is beyond what the arrays hold, returns
    /// the dword that sets it and the value that it must have instead. Clients set it from the size of a
    /// buffer, roughly; indices that mean something do not reach it.
    pub(super) fn indexed(&mut self) -> Result<Option<(usize, u32)>, Reason> {
        let held = self.held.ok_or(Reason::NoArrays)?;
        let min = self.min.ok_or(Reason::NoIndexBounds)?;
        let max = self.max.as_mut().ok_or(Reason::NoIndexBounds)?;
        self.offset.ok_or(Reason::NoIndexOffset)?;
        if min > held {
            return Err(Reason::VertexBounds);
        }
        if max.value <= held {
            max.used = true;
            return Ok(None);
        }
        // Draws before this one would be clamped too.
        if max.used {
            return Err(Reason::VertexBounds);
        }
        max.value = held;
        max.used = true;
        Ok(Some((max.position, held)))
    }
}
