// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Vertices: up to sixteen arrays, and which of their elements a draw fetches (R5xx 6.2, 10.10).
//!
//! An element of an array has some dwords, and the next one is a stride away. Each array has a largest index whose
//! element still lies in its object. The smallest of these is the largest index for all arrays together. Indices of a
//! draw come from the stream or from an index buffer, whose contents are not checked, or are counted from zero. The
//! chip adds `VAP_INDEX_OFFSET` and clamps the result between `VAP_VF_MIN_VTX_INDX` and `VAP_VF_MAX_VTX_INDX`: the
//! manual clamps "the index to be fetched".
//!
//! It is seen on the chip that the clamp comes last. Mesa sets the largest index from the size of the buffers, without
//! regard to what is added (`r300_render.c`). Piglit's `arb_draw_elements_base_vertex-negative-index` draws from a
//! buffer of three vertices, with indices far beyond and an offset that leads back. Clamped first, they would lie in
//! front of the buffer. It passes on RV530 (Mesa's list of known failures, `ci/r300-rv530-nohiz-fails.txt`, does not
//! have it).

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
    /// A draw has used it.
    used: bool,
}

/// The vertex state that a stream has set.
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

/// Return the largest index of an array with elements of `dwords` dwords, `stride` dwords apart, in `length` bytes;
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

    /// Forget all arrays. The new ones follow by [`Self::add_array`].
    pub(super) fn start_arrays(&mut self) {
        self.held = Some(INDICES);
    }

    /// Add an array.
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

    /// Track a write to `VAP_VF_MAX_VTX_INDX`, the dword at `position`.
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

    /// Return `VAP_ALT_NUM_VERTICES`.
    pub(super) fn count(&self) -> Result<u32, Reason> {
        self.count.ok_or(Reason::NoVertexCount)
    }

    /// Return the dwords of `count` vertices in the stream.
    pub(super) fn data(&self, count: u32) -> Result<u64, Reason> {
        let size = self.size.ok_or(Reason::NoVertexSize)?;
        // No data would end the draw.
        if size == 0 {
            return Err(Reason::EmptyVertex);
        }
        Ok(u64::from(size).wrapping_mul(u64::from(count)))
    }

    // --- what a draw fetches -------------------------------------------------------------------------

    /// Check a draw of vertices 0 to `count - 1`. The bounds may not make it more. The check does not rely on bounds
    /// that make it less.
    pub(super) fn counted(&mut self, count: u32) -> Result<(), Reason> {
        let held = self.held.ok_or(Reason::NoArrays)?;
        let min = self.min.ok_or(Reason::NoIndexBounds)?;
        // A negative offset would lead in front of the arrays.
        let offset = self.offset.ok_or(Reason::NoIndexOffset)?;
        if offset > INDICES {
            return Err(Reason::IndexOffset);
        }
        // No overflow: both have 24 bits.
        let last = count.wrapping_sub(1).wrapping_add(offset);
        if last.max(min) > held {
            return Err(Reason::VertexBounds);
        }
        if let Some(max) = &mut self.max {
            max.used = true;
        }
        Ok(())
    }

    /// Check a draw of vertices by indices of any value. If the upper bound is beyond what the arrays hold, return the
    /// dword that sets it and the value that it must have instead. Clients set it roughly, from the size of a buffer.
    /// Indices that mean something do not reach it.
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
