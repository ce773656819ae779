// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Vertices: how many a draw has, which ones its indices name, and where they lie (R5xx 6.2, 6.4.1).
//!
//! An index, given or counted, gets `VAP_INDEX_OFFSET` added and is then held between a minimum and a maximum: the
//! manual says that of "the index to be fetched". Where that leaves two possibilities (a sum below zero, a minimum
//! above the maximum) both count. Only the lowest and the highest vertex matter: an array that lies in one object
//! with both lies in it altogether.

use lapidary_registers::r500::mmio::{self, vap_vf_cntl, vap_vtx_aos_attr};

use super::area::{Area, Client};
use super::state::State;
use lapidary_model::runs::Runs;

/// Arrays that there are registers for.
pub const ARRAYS: u32 = 16;

/// What starts a draw: a value of `VAP_VF_CNTL`, with what it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The register's value.
    pub cntl: u32,
    /// Vertices.
    pub count: u32,
    /// Dwords of a vertex in the stream.
    vertex_size: u32,
}

impl Trigger {
    /// Return what a write of the register triggers, or none if it draws nothing.
    pub fn new(state: &State<'_>, cntl: u32) -> Option<Trigger> {
        let count = if vap_vf_cntl::USE_ALT_NUM_VERTS.any(cntl) {
            mmio::vap_alt_num_vertices::NUM_VERTICES.get(state.get(mmio::VAP_ALT_NUM_VERTICES))
        } else {
            vap_vf_cntl::NUM_VERTICES.get(cntl)
        };
        let off = mmio::vap_cntl::VAP_NO_RENDER.any(state.get(mmio::VAP_CNTL));
        let none = vap_vf_cntl::PRIM_TYPE.get(cntl) == vap_vf_cntl::prim_type::NONE;
        (!off && !none).then(|| Trigger {
            cntl,
            count,
            vertex_size: mmio::vap_vtx_size::DWORDS_PER_VTX.get(state.get(mmio::VAP_VTX_SIZE)),
        })
    }

    /// Return where vertices come from: a value of `PRIM_WALK`.
    pub fn walk(&self) -> u32 {
        vap_vf_cntl::PRIM_WALK.get(self.cntl)
    }

    fn wide(&self) -> bool {
        vap_vf_cntl::INDEX_SIZE.any(self.cntl)
    }

    /// Return whether the draw is of triangles whose index stream has a word of flags after each three.
    fn flags(&self) -> bool {
        vap_vf_cntl::PRIM_TYPE.get(self.cntl) == vap_vf_cntl::prim_type::TRIANGLES_WFLAGS
            && !self.wide()
    }

    /// Return the dwords that the stream owes.
    pub fn dwords(&self) -> u64 {
        use vap_vf_cntl::prim_walk::{INDEXES, VERTEX_DATA};
        let n = u64::from(self.count);
        match self.walk() {
            INDEXES if self.wide() => n,
            INDEXES if self.flags() => (n + n / 3).div_ceil(2),
            INDEXES => n.div_ceil(2),
            VERTEX_DATA => n * u64::from(self.vertex_size),
            _ => 0,
        }
    }

    /// Return whether all that is drawn are triangles that are dropped whichever way they face.
    pub fn culled(&self, state: &State<'_>) -> bool {
        use mmio::su_cull_mode::{CULL_BACK, CULL_FRONT};
        use vap_vf_cntl::prim_type::{LINE_LOOP, LINE_STRIP, LINES, POINTS};
        let cull = state.get(mmio::SU_CULL_MODE);
        let faceless = [POINTS, LINES, LINE_STRIP, LINE_LOOP];
        CULL_FRONT.any(cull)
            && CULL_BACK.any(cull)
            && !faceless.contains(&vap_vf_cntl::PRIM_TYPE.get(self.cntl))
    }

    /// Return primitive and count, for the trace.
    pub fn describe(&self) -> String {
        use vap_vf_cntl::prim_walk::{INDEXES, VERTEX_DATA, VERTEX_LIST};
        let kind = match vap_vf_cntl::PRIM_TYPE.get(self.cntl) {
            1 => "points",
            2 => "lines",
            3 => "line strip",
            4 => "triangles",
            5 => "triangle fan",
            6 => "triangle strip",
            7 => "triangles with flags",
            12 => "line loop",
            13 => "quads",
            14 => "quad strip",
            15 => "polygon",
            _ => "unknown primitive",
        };
        let from = match self.walk() {
            INDEXES => "by indices",
            VERTEX_LIST => "from arrays",
            VERTEX_DATA => "from the stream",
            _ => "from registers",
        };
        format!("{kind}, {} vertices {from}", self.count)
    }
}

/// The lowest and the highest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Lowest.
    pub low: i64,
    /// Highest.
    pub high: i64,
}

impl Span {
    fn add(span: &mut Option<Span>, n: i64) {
        *span = Some(match *span {
            None => Span { low: n, high: n },
            Some(s) => Span {
                low: s.low.min(n),
                high: s.high.max(n),
            },
        });
    }
}

/// Which vertices have been asked for, in array 0 and in the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vertices {
    first: Option<Span>,
    others: Option<Span>,
}

impl Vertices {
    /// Return all of a draw that counts by itself.
    pub fn counted(trigger: &Trigger) -> Vertices {
        let span = (trigger.count > 0).then(|| Span {
            low: 0,
            high: i64::from(trigger.count) - 1,
        });
        Vertices {
            first: span,
            others: span,
        }
    }

    /// Take the dwords of an index stream from its dword number `at` on.
    pub fn indices(&mut self, trigger: &Trigger, at: u64, words: &[u32]) {
        if trigger.wide() {
            for word in words {
                self.index(trigger, *word);
            }
            return;
        }
        let end = u64::from(trigger.count)
            + if trigger.flags() {
                u64::from(trigger.count) / 3
            } else {
                0
            };
        for (i, word) in words.iter().enumerate() {
            for half in 0..2 {
                let number = (at + i as u64) * 2 + half;
                if number < end && !(trigger.flags() && number % 4 == 3) {
                    self.index(trigger, (word >> (16 * half)) & 0xffff);
                }
            }
        }
    }

    fn index(&mut self, trigger: &Trigger, index: u32) {
        let (first, others) = if vap_vf_cntl::DUAL_INDEX_MODE.any(trigger.cntl) {
            ((index >> 16) & 0xff, index & 0xffff)
        } else {
            (index, index)
        };
        Span::add(&mut self.first, first.into());
        Span::add(&mut self.others, others.into());
    }

    /// Append what is fetched from the arrays.
    pub fn fetched(&self, state: &State<'_>, areas: &mut Vec<Area>) {
        let number =
            mmio::vap_vtx_num_arrays::VTX_NUM_ARRAYS.get(state.get(mmio::VAP_VTX_NUM_ARRAYS));
        for array in 0..number.min(ARRAYS) {
            let Some(span) = (if array == 0 { self.first } else { self.others }) else {
                continue;
            };
            let span = held(state, span);
            let attr = state.at(mmio::VAP_VTX_AOS_ATTR, array / 2);
            let (count, stride, base) = if array % 2 == 0 {
                (
                    vap_vtx_aos_attr::VTX_AOS_COUNT0.get(attr),
                    vap_vtx_aos_attr::VTX_AOS_STRIDE0.get(attr),
                    state.at(mmio::VAP_VTX_AOS_ADDR_EVEN, array / 2),
                )
            } else {
                (
                    vap_vtx_aos_attr::VTX_AOS_COUNT1.get(attr),
                    vap_vtx_aos_attr::VTX_AOS_STRIDE1.get(attr),
                    state.at(mmio::VAP_VTX_AOS_ADDR_ODD, array / 2),
                )
            };
            let stride = u64::from(stride) * 4;
            let runs = Runs {
                start: u64::from(base & mmio::vap_vtx_aos_addr_even::VTX_AOS_ADDR.mask())
                    + span.low as u64 * stride,
                len: u64::from(count) * 4,
                stride,
                rows: (span.high - span.low) as u64 + 1,
            };
            if !runs.is_empty() {
                areas.push(Area {
                    client: Client::Vertex(array as u8),
                    read: true,
                    write: false,
                    runs: runs.merged(),
                });
            }
        }
    }
}

/// Apply offset and clamp.
fn held(state: &State<'_>, span: Span) -> Span {
    let field = mmio::vap_index_offset::INDEX_OFFSET;
    let raw = i64::from(field.get(state.get(mmio::VAP_INDEX_OFFSET)));
    let offset = if raw > i64::from(field.max() >> 1) {
        raw - i64::from(field.max()) - 1
    } else {
        raw
    };
    let max: i64 = mmio::vap_vf_max_vtx_indx::MAX_INDX
        .get(state.get(mmio::VAP_VF_MAX_VTX_INDX))
        .into();
    let min: i64 = mmio::vap_vf_min_vtx_indx::MIN_INDX
        .get(state.get(mmio::VAP_VF_MIN_VTX_INDX))
        .into();
    let (low, high) = (span.low + offset, span.high + offset);
    if min > max {
        // Every index is beyond one of the two.
        return Span {
            low: max,
            high: min,
        };
    }
    Span {
        low: low.clamp(min, max),
        high: if low < 0 { max } else { high.clamp(min, max) },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Set;
    use super::*;

    fn trigger(cntl: u32, count: u32) -> Trigger {
        Trigger {
            cntl,
            count,
            vertex_size: 3,
        }
    }

    const INDEXED: u32 = 0x14;

    #[test]
    fn dwords_owed() {
        use vap_vf_cntl::{INDEX_SIZE, PRIM_WALK};
        assert_eq!(trigger(INDEXED, 5).dwords(), 3);
        assert_eq!(trigger(INDEXED | INDEX_SIZE.mask(), 5).dwords(), 5);
        assert_eq!(trigger(PRIM_WALK.of(2) | 4, 5).dwords(), 0);
        assert_eq!(trigger(PRIM_WALK.of(3) | 4, 5).dwords(), 15);
        // Six indices and two words of flags.
        assert_eq!(trigger(PRIM_WALK.of(1) | 7, 6).dwords(), 4);
    }

    #[test]
    fn padding_and_flags_are_no_indices() {
        let mut v = Vertices::default();
        v.indices(&trigger(INDEXED, 3), 0, &[0x0007_0009, 0xffff_0008]);
        assert_eq!(v.first, Some(Span { low: 7, high: 9 }));
        let mut v = Vertices::default();
        let t = trigger(vap_vf_cntl::PRIM_WALK.of(1) | 7, 3);
        v.indices(&t, 0, &[0x0007_0009, 0xffff_0008]);
        assert_eq!(v.others, Some(Span { low: 7, high: 9 }));
    }

    #[test]
    fn two_indices_in_one() {
        let mut v = Vertices::default();
        let t = trigger(
            INDEXED | vap_vf_cntl::INDEX_SIZE.mask() | vap_vf_cntl::DUAL_INDEX_MODE.mask(),
            2,
        );
        v.indices(&t, 0, &[0xff02_0100, 0x0003_0200]);
        assert_eq!(v.first, Some(Span { low: 2, high: 3 }));
        assert_eq!(
            v.others,
            Some(Span {
                low: 0x100,
                high: 0x200
            })
        );
    }

    fn fetch(set: &mut Set, v: Vertices) -> Vec<(u64, u64)> {
        let mut areas = Vec::new();
        v.fetched(&set.state(), &mut areas);
        areas.iter().map(|a| (a.runs.start, a.runs.end())).collect()
    }

    /// Return two arrays: 3 dwords every 5, and 2 dwords side by side.
    fn arrays() -> Set {
        let mut set = Set::default();
        set.write(mmio::VAP_VTX_NUM_ARRAYS, 2);
        set.write(mmio::VAP_VTX_AOS_ATTR.at(0).unwrap(), 0x0202_0503);
        set.write(mmio::VAP_VTX_AOS_ADDR_EVEN.at(0).unwrap(), 0x1000);
        set.write(mmio::VAP_VTX_AOS_ADDR_ODD.at(0).unwrap(), 0x8003);
        set.write(mmio::VAP_VF_MAX_VTX_INDX, 0xff_ffff);
        set
    }

    #[test]
    fn arrays_are_fetched_from_first_to_last() {
        let mut set = arrays();
        let v = Vertices::counted(&trigger(0x24, 4));
        assert_eq!(
            fetch(&mut set, v),
            [(0x1000, 0x1000 + 3 * 20 + 12), (0x8000, 0x8000 + 4 * 8)]
        );
        assert_eq!(fetch(&mut set, Vertices::counted(&trigger(0x24, 0))), []);
    }

    #[test]
    fn clamps_and_offset() {
        let mut set = arrays();
        set.write(mmio::VAP_VTX_NUM_ARRAYS, 1);
        let mut v = Vertices::default();
        v.indices(&trigger(INDEXED, 2), 0, &[0x0064_0002]);
        set.write(mmio::VAP_VF_MAX_VTX_INDX, 10);
        set.write(mmio::VAP_VF_MIN_VTX_INDX, 4);
        assert_eq!(fetch(&mut set, v), [(0x1000 + 80, 0x1000 + 200 + 12)]);
        // The offset comes before the clamp.
        set.write(mmio::VAP_INDEX_OFFSET, 5);
        assert_eq!(fetch(&mut set, v), [(0x1000 + 140, 0x1000 + 200 + 12)]);
        set.write(mmio::VAP_INDEX_OFFSET, (-94i32 as u32) & 0x1ff_ffff);
        assert_eq!(fetch(&mut set, v), [(0x1000 + 80, 0x1000 + 200 + 12)]);
        // A minimum above the maximum: either may be fetched.
        set.write(mmio::VAP_VF_MIN_VTX_INDX, 20);
        assert_eq!(fetch(&mut set, v), [(0x1000 + 200, 0x1000 + 400 + 12)]);
    }

    #[test]
    fn nothing_starts_without_a_primitive() {
        let mut set = Set::default();
        assert!(Trigger::new(&set.state(), 0x0003_0020).is_none());
        assert_eq!(Trigger::new(&set.state(), 0x0003_0024).unwrap().count, 3);
        set.write(mmio::VAP_ALT_NUM_VERTICES, 0x12_3456);
        let t = Trigger::new(&set.state(), 0x0003_4024).unwrap();
        assert_eq!(t.count, 0x12_3456);
        set.write(mmio::VAP_CNTL, mmio::vap_cntl::VAP_NO_RENDER.mask());
        assert!(Trigger::new(&set.state(), 0x0003_0024).is_none());
    }
}
