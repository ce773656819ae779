// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 3D engine, as far as memory is concerned: which bytes a draw may touch.
//!
//! Nothing is drawn. But for every draw the engine works out, from its registers alone, what its units may read and
//! write whatever the shaders do, and the memory side judges that as if it happened ([`super::bus::Bus::touch`]):
//! vertex arrays, textures, colour targets, depth. This *footprint* holds what hardware could touch and leaves out
//! what it cannot: a texture that is off, a masked target, pixels outside of the scissor.
//!
//! | file | what |
//! | --- | --- |
//! | [`state`] | registers as a raster pipe sees them |
//! | [`vertices`] | vertex counts, indices, vertex arrays |
//! | [`texture`], [`format`] | textures |
//! | [`window`] | the pixels that can be reached |
//! | [`targets`] | colour, resolve and depth |
//! | [`surface`] | where pixels lie in memory |
//! | [`area`] | runs of bytes, and who touches them |
//! | [`onchip`] | memories on the chip |

pub mod area;
mod format;
pub mod onchip;
pub mod state;
mod surface;
pub mod targets;
mod texture;
mod vertices;
mod window;

use lapidary_registers::r500::mmio::{self, vap_vf_cntl};

use self::area::Area;
use self::state::{Pipes, State};
use self::vertices::{Trigger, Vertices};
use lapidary_model::registers::Space;

/// A draw that waits for data from the stream.
struct Pending {
    trigger: Trigger,
    vertices: Vertices,
    /// Dwords that have come.
    come: u64,
    /// Registers were written since it began.
    disturbed: bool,
}

/// What happened to data that were sent to the vertex ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// The draw wants more.
    More,
    /// The draw has all it needs.
    Complete,
    /// Nothing wants them.
    Unwanted,
}

/// The engine.
pub struct Engine3d {
    /// Its pipes.
    pub pipes: Pipes,
    pending: Option<Pending>,
    areas: Vec<Area>,
}

impl Engine3d {
    /// Return an engine with so many raster pipes and depth units.
    pub fn new(raster: u32, depth: u32) -> Engine3d {
        Engine3d {
            pipes: Pipes::new(raster, depth),
            pending: None,
            areas: Vec::new(),
        }
    }

    /// Go back to rest.
    pub fn reset(&mut self) {
        self.pipes.reset();
        self.pending = None;
        self.areas.clear();
    }

    /// Act on a write to a register, which held `old` before.
    pub fn written(&mut self, offset: u32, old: u32, value: u32) {
        self.pipes.written(offset, old, value);
        if let Some(p) = &mut self.pending {
            p.disturbed = true;
        }
    }

    /// Return how many dwords are missing, if a draw waits for data.
    pub fn missing(&self) -> Option<u64> {
        self.pending
            .as_ref()
            .map(|p| p.trigger.dwords().saturating_sub(p.come))
    }

    /// Forget a waiting draw.
    pub fn abandon(&mut self) {
        self.pending = None;
    }

    /// Begin a draw, since `VAP_VF_CNTL` was written. A waiting draw is lost. Return what is drawn, in words, or none
    /// if nothing is. If [`Engine3d::missing`] then says so, the rest of its data is to come by [`Engine3d::feed`].
    pub fn trigger(&mut self, regs: &Space, cntl: u32) -> Option<String> {
        self.areas.clear();
        self.pending = None;
        let first = State::new(regs, &self.pipes, 0);
        let trigger = Trigger::new(&first, cntl)?;
        let mut pending = Pending {
            trigger,
            vertices: Vertices::default(),
            come: 0,
            disturbed: false,
        };
        if trigger.walk() == vap_vf_cntl::prim_walk::VERTEX_LIST {
            pending.vertices = Vertices::counted(&trigger);
        }
        self.raster(regs, &trigger);
        if trigger.dwords() == 0 {
            pending
                .vertices
                .fetched(&State::new(regs, &self.pipes, 0), &mut self.areas);
        } else {
            self.pending = Some(pending);
        }
        Some(trigger.describe())
    }

    /// Judge everything behind the vertex shader.
    fn raster(&mut self, regs: &Space, trigger: &Trigger) {
        if trigger.count == 0 {
            return;
        }
        for pipe in self.pipes.views() {
            let state = State::new(regs, &self.pipes, pipe);
            let window = window::visible(&state);
            if window.is_empty() || trigger.culled(&state) {
                continue;
            }
            texture::fetched(&state, &mut self.areas);
            targets::touched(&state, &window, &mut self.areas);
        }
    }

    /// Feed the waiting draw with dwords. Those behind its end are unwanted.
    pub fn feed(&mut self, regs: &Space, words: &[u32]) -> Fed {
        let Some(p) = &mut self.pending else {
            // While it draws nothing, the vertex unit ignores what comes to its ports too (R5xx 10.10, VAP_CNTL).
            return if mmio::vap_cntl::VAP_NO_RENDER.any(regs.get(mmio::VAP_CNTL)) {
                Fed::More
            } else {
                Fed::Unwanted
            };
        };
        let want = p.trigger.dwords().saturating_sub(p.come);
        let n = words.len().min(usize::try_from(want).unwrap_or(usize::MAX));
        if p.trigger.walk() == vap_vf_cntl::prim_walk::INDEXES {
            p.vertices.indices(&p.trigger, p.come, &words[..n]);
        }
        p.come += n as u64;
        if p.come < p.trigger.dwords() {
            return Fed::More;
        }
        if let Some(p) = self.pending.take() {
            self.areas.clear();
            p.vertices
                .fetched(&State::new(regs, &self.pipes, 0), &mut self.areas);
            if p.disturbed {
                self.raster(regs, &p.trigger);
            }
        }
        if n < words.len() {
            Fed::Unwanted
        } else {
            Fed::Complete
        }
    }

    /// Take what the last call has found out. Give it back by [`Engine3d::give_back`], to be used again.
    pub fn take_areas(&mut self) -> Vec<Area> {
        std::mem::take(&mut self.areas)
    }

    /// See [`Engine3d::take_areas`].
    pub fn give_back(&mut self, mut areas: Vec<Area>) {
        areas.clear();
        self.areas = areas;
    }

    /// Return the depth units that a write to a register of theirs reaches, one bit each.
    pub fn depth_selected(&self) -> u32 {
        self.pipes.depth_selected()
    }

    /// Return a pipe's value of the counter of pixels that passed.
    pub fn passed(&self, regs: &Space, unit: u32) -> u32 {
        State::new(regs, &self.pipes, unit).get(mmio::ZB_ZPASS_DATA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use area::Client;
    use lapidary_registers::Domain;
    use proptest::prelude::*;

    /// Registers and pipes, for tests of the parts.
    pub struct Set {
        pub regs: Space,
        pub engine: Engine3d,
    }

    impl Default for Set {
        fn default() -> Set {
            Set {
                regs: Space::new(
                    &crate::regs::REGISTERS,
                    "register",
                    Domain::MMIO,
                    "rv515",
                    4,
                    0x4000,
                ),
                engine: Engine3d::new(1, 1),
            }
        }
    }

    impl Set {
        pub fn write(&mut self, offset: u32, value: u32) {
            let old = self.regs.get(offset);
            self.regs.set(offset, value);
            self.engine.written(offset, old, value);
        }

        pub fn state(&self) -> State<'_> {
            State::new(&self.regs, &self.engine.pipes, 0)
        }

        fn trigger(&mut self, cntl: u32) -> Vec<Area> {
            self.engine.trigger(&self.regs, cntl);
            self.engine.take_areas()
        }

        fn feed(&mut self, words: &[u32]) -> (Fed, Vec<Area>) {
            let fed = self.engine.feed(&self.regs, words);
            (fed, self.engine.take_areas())
        }

        /// Return registers with something of everything: an array, a texture, a target, depth.
        fn scene(w: u32, h: u32) -> Set {
            let mut set = Set::default();
            let at = |a: lapidary_registers::RegArray| a.at(0).unwrap();
            for (offset, value) in [
                (mmio::VAP_VTX_NUM_ARRAYS, 1),
                (at(mmio::VAP_VTX_AOS_ATTR), 0x0303),
                (at(mmio::VAP_VTX_AOS_ADDR_EVEN), 0x1000),
                (mmio::VAP_VF_MAX_VTX_INDX, 0xffff),
                (mmio::TX_ENABLE, 1),
                (at(mmio::TX_OFFSET), 0x2000),
                (at(mmio::RB3D_COLOROFFSET), 0x10_0000),
                (at(mmio::RB3D_COLORPITCH), 64 | (6 << 21)),
                (mmio::RB3D_COLOR_CHANNEL_MASK, 0xf),
                (mmio::US_OUT_FMT.at(1).unwrap(), 15),
                (mmio::US_OUT_FMT.at(2).unwrap(), 15),
                (mmio::US_OUT_FMT.at(3).unwrap(), 15),
                (mmio::ZB_DEPTHOFFSET, 0x20_0000),
                (mmio::ZB_DEPTHPITCH, 64),
                (mmio::ZB_CNTL, 6),
                (mmio::SC_SCISSOR1, (w - 1) | ((h - 1) << 13)),
                (mmio::SC_CLIP_RULE, 0xffff),
                (mmio::SC_SCREENDOOR, 0xff_ffff),
            ] {
                set.write(offset, value);
            }
            set
        }
    }

    const ARRAYS: u32 = 0x24;
    const INDEXED: u32 = 0x14;

    fn clients(areas: &[Area]) -> Vec<Client> {
        areas.iter().map(|a| a.client).collect()
    }

    #[test]
    fn a_draw_touches_all_its_units() {
        let areas = Set::scene(64, 16).trigger(ARRAYS | (3 << 16));
        assert_eq!(
            clients(&areas),
            [
                Client::Texture(0),
                Client::Color(0),
                Client::Depth,
                Client::Vertex(0)
            ]
        );
        assert_eq!((areas[3].runs.start, areas[3].runs.end()), (0x1000, 0x1024));
        assert_eq!(
            (areas[1].runs.start, areas[1].runs.end()),
            (0x10_0000, 0x10_1000)
        );
    }

    #[test]
    fn indices_come_later() {
        let mut set = Set::scene(64, 16);
        let areas = set.trigger(INDEXED | (4 << 16));
        assert_eq!(
            clients(&areas),
            [Client::Texture(0), Client::Color(0), Client::Depth]
        );
        assert_eq!(set.engine.missing(), Some(2));
        assert_eq!(set.feed(&[0x0001_0002]), (Fed::More, vec![]));
        let (fed, areas) = set.feed(&[0x0005_0003]);
        assert_eq!(
            (fed, clients(&areas)),
            (Fed::Complete, vec![Client::Vertex(0)])
        );
        assert_eq!(
            (areas[0].runs.start, areas[0].runs.end()),
            (0x1000 + 12, 0x1000 + 72)
        );
        assert_eq!(set.feed(&[0]).0, Fed::Unwanted);
    }

    #[test]
    fn state_that_changes_in_between_counts_twice() {
        let mut set = Set::scene(64, 16);
        set.trigger(INDEXED | (1 << 16));
        set.write(mmio::ZB_CNTL, 0);
        let (_, areas) = set.feed(&[0]);
        assert_eq!(
            clients(&areas),
            [Client::Vertex(0), Client::Texture(0), Client::Color(0)]
        );
    }

    #[test]
    fn what_draws_nothing_touches_nothing() {
        let cull = mmio::su_cull_mode::CULL_FRONT.mask() | mmio::su_cull_mode::CULL_BACK.mask();
        for (offset, value) in [
            (mmio::SC_CLIP_RULE, 0),
            (mmio::SC_SCREENDOOR, 0),
            (mmio::SC_SCISSOR0, 64),
            (mmio::SU_CULL_MODE, cull),
        ] {
            let mut set = Set::scene(64, 16);
            set.write(offset, value);
            assert_eq!(
                clients(&set.trigger(ARRAYS | (3 << 16))),
                [Client::Vertex(0)]
            );
        }
        let mut set = Set::scene(64, 16);
        set.write(mmio::SU_CULL_MODE, cull);
        assert_eq!(
            set.trigger(ARRAYS & !0xf | 1 | (3 << 16)).len(),
            4,
            "points have no face"
        );
        assert_eq!(Set::scene(64, 16).trigger(ARRAYS), []);
        assert_eq!(Set::scene(64, 16).trigger(ARRAYS & !0xf | (3 << 16)), []);
    }

    #[test]
    fn a_pipe_that_missed_a_write_draws_where_it_did_before() {
        let mut set = Set::scene(64, 16);
        set.engine = Engine3d::new(2, 2);
        set.write(mmio::SU_REG_DEST, 1);
        set.write(mmio::RB3D_COLOROFFSET.at(0).unwrap(), 0x30_0000);
        set.write(mmio::SU_REG_DEST, 3);
        let targets: Vec<u64> = set
            .trigger(ARRAYS | (3 << 16))
            .iter()
            .filter(|a| a.client == Client::Color(0))
            .map(|a| a.runs.start)
            .collect();
        assert_eq!(targets, [0x30_0000, 0x10_0000]);
    }

    proptest! {
        /// Values without meaning for the scene: textures and targets that are off, shaders, blending colours.
        #[test]
        fn dead_state_does_not_matter(junk in proptest::collection::vec((0usize..12, any::<u32>()), 1..20)) {
            let dead = [
                mmio::TX_OFFSET.at(5).unwrap(),
                mmio::TX_FORMAT0.at(15).unwrap(),
                mmio::RB3D_COLOROFFSET.at(2).unwrap(),
                mmio::RB3D_COLORPITCH.at(3).unwrap() ,
                mmio::RB3D_AARESOLVE_OFFSET,
                mmio::RB3D_AARESOLVE_PITCH,
                mmio::VAP_VTX_AOS_ADDR_ODD.at(0).unwrap(),
                mmio::VAP_VTX_AOS_ATTR.at(4).unwrap(),
                mmio::VAP_VTX_SIZE,
                mmio::VAP_ALT_NUM_VERTICES,
                mmio::ZB_DEPTHCLEARVALUE,
                mmio::RS_COUNT,
            ];
            let clean = Set::scene(40, 20).trigger(ARRAYS | (3 << 16));
            let mut set = Set::scene(40, 20);
            for (i, v) in junk {
                set.write(dead[i], v);
            }
            prop_assert_eq!(set.trigger(ARRAYS | (3 << 16)), clean);
        }

        /// A larger scissor touches at least what a smaller one does, whatever the tiling.
        #[test]
        fn a_growing_scissor_never_shrinks_it(w in 1u32..64, h in 1u32..64, dw in 0u32..64, dh in 0u32..64, tiling in 0u32..6) {
            let spans = |w, h| {
                let mut set = Set::scene(w, h);
                let bits = ((tiling % 3) << 17) | ((tiling / 3) << 16);
                set.write(mmio::RB3D_COLORPITCH.at(0).unwrap(), 128 | (6 << 21) | bits);
                set.trigger(ARRAYS | (3 << 16))
            };
            let (small, large) = (spans(w, h), spans(w + dw, h + dh));
            for a in &small {
                let b = large.iter().find(|b| b.client == a.client).unwrap();
                for (start, end) in a.runs.iter() {
                    let within = b.runs.iter().any(|(s, e)| s <= start && end <= e);
                    prop_assert!(within, "{} is not in {}", a, b);
                }
            }
        }
    }
}
