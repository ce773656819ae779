// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What an admitted stream draws with: a fuzz whose draws all look alike proves little.
//!
//! The state of each draw is read from the words of the stream. What the stream leaves alone does not count.

use std::collections::BTreeMap;

use lapidary_registers::r600::{
    mmio,
    pm4::{op, set_config_reg, set_context_reg},
};

use crate::{packets::packets, scene::Case};

/// What must be among the draws that were judged.
pub const KINDS: [&str; 45] = [
    "draw: 16-bit indices",
    "draw: 32-bit indices",
    "draw: immediate indices",
    "draw: counted indices",
    "draw: as much as was streamed out",
    "draw: predicated",
    "colour: 1 targets",
    "colour: 2 targets",
    "colour: 4 targets",
    "colour: 8 targets",
    "colour: linear general",
    "colour: linear aligned",
    "colour: 1D",
    "colour: 2D",
    "colour: 2 samples",
    "colour: 4 samples",
    "colour: 8 samples",
    "colour: CMASK",
    "colour: CMASK and FMASK",
    "colour: slices",
    "colour: resolve",
    "depth: 1D",
    "depth: 2D",
    "depth: samples",
    "depth: slices",
    "depth: HTILE",
    "depth: copy or decompression",
    "texture: 1D",
    "texture: 2D",
    "texture: 3D",
    "texture: cube",
    "texture: 1D layers",
    "texture: 2D layers",
    "texture: 2D samples",
    "texture: 2D layers with samples",
    "texture: levels",
    "texture: blocks",
    "texture: linear",
    "texture: tiled 1D",
    "texture: tiled 2D",
    "buffer",
    "constants",
    "stream-out",
    "geometry shader",
    "scratch",
];

/// The state that a stream has set.
#[derive(Default)]
struct State {
    registers: BTreeMap<u32, u32>,
    resources: BTreeMap<u32, [u32; 7]>,
    wide: bool,
}

impl State {
    fn register(&self, register: u32) -> u32 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    fn set(&mut self, base: u32, body: &[u32]) {
        let [offset, values @ ..] = body else {
            return;
        };
        for (i, value) in values.iter().enumerate() {
            self.registers
                .insert(base + 4 * (offset + i as u32), *value);
        }
    }

    fn array(&self, array: lapidary_registers::RegArray) -> Vec<u32> {
        (0..array.len())
            .filter_map(|n| array.at(n))
            .map(|register| self.register(register))
            .collect()
    }

    fn targets(&self, kinds: &mut Vec<String>) {
        use mmio::{cb_color_info as info, cb_color_view as view, db_depth_info as depth};
        let tilings = ["linear general", "linear aligned", "1D", "", "2D"];
        let samples = 1 << (self.register(mmio::PA_SC_AA_CONFIG) & 3);
        let views = self.array(mmio::CB_COLOR_VIEW);
        let mut number = 0;
        for (word, slices) in self.array(mmio::CB_COLOR_INFO).into_iter().zip(views) {
            if info::FORMAT.get(word) == 0 {
                continue;
            }
            number += 1;
            let tiling = tilings.get(info::ARRAY_MODE.get(word) as usize);
            kinds.push(format!("colour: {}", tiling.unwrap_or(&"")));
            kinds.push(format!("colour: {samples} samples"));
            match info::TILE_MODE.get(word) {
                0 => {}
                1 => kinds.push("colour: CMASK".into()),
                _ => kinds.push("colour: CMASK and FMASK".into()),
            }
            if view::SLICE_MAX.get(slices) > 0 {
                kinds.push("colour: slices".into());
            }
        }
        kinds.push(format!("colour: {number} targets"));
        if mmio::cb_color_control::SPECIAL_OP.get(self.register(mmio::CB_COLOR_CONTROL)) == 7 {
            kinds.push("colour: resolve".into());
        }
        let word = self.register(mmio::DB_DEPTH_INFO);
        if depth::FORMAT.get(word) != 0 {
            let tiling = tilings.get(depth::ARRAY_MODE.get(word) as usize);
            kinds.push(format!("depth: {}", tiling.unwrap_or(&"")));
            let slices = self.register(mmio::DB_DEPTH_VIEW);
            for (kind, holds) in [
                ("depth: samples", samples > 1),
                ("depth: HTILE", depth::TILE_SURFACE_ENABLE.any(word)),
                (
                    "depth: slices",
                    mmio::db_depth_view::SLICE_MAX.get(slices) > 0,
                ),
                (
                    "depth: copy or decompression",
                    self.register(mmio::DB_RENDER_CONTROL) & 0x6c != 0,
                ),
            ] {
                if holds {
                    kinds.push(kind.into());
                }
            }
        }
    }

    fn fetched(&self, kinds: &mut Vec<String>) {
        use mmio::{
            sq_tex_resource_word0 as word0, sq_tex_resource_word1 as word1,
            sq_tex_resource_word5 as word5,
        };
        let dims = [
            "1D",
            "2D",
            "3D",
            "cube",
            "1D layers",
            "2D layers",
            "2D samples",
            "2D layers with samples",
        ];
        for words in self.resources.values() {
            match words[6] >> 30 {
                2 => {}
                3 => {
                    kinds.push("buffer".into());
                    continue;
                }
                _ => continue,
            }
            let dim = word0::DIM.get(words[0]) as usize;
            kinds.push(format!("texture: {}", dims[dim]));
            kinds.push(
                match word0::TILE_MODE.get(words[0]) {
                    0 | 1 => "texture: linear",
                    2 => "texture: tiled 1D",
                    _ => "texture: tiled 2D",
                }
                .into(),
            );
            if dim < 6 && word5::LAST_LEVEL.get(words[5]) > 0 {
                kinds.push("texture: levels".into());
            }
            if (49..54).contains(&word1::DATA_FORMAT.get(words[1])) {
                kinds.push("texture: blocks".into());
            }
        }
    }

    fn stages(&self, kinds: &mut Vec<String>) {
        let constants = [
            mmio::SQ_ALU_CONST_BUFFER_SIZE_PS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_VS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_GS,
        ];
        let scratch = [
            (mmio::SQ_ESTMP_RING_SIZE, mmio::SQ_ESTMP_RING_ITEMSIZE),
            (mmio::SQ_GSTMP_RING_SIZE, mmio::SQ_GSTMP_RING_ITEMSIZE),
            (mmio::SQ_VSTMP_RING_SIZE, mmio::SQ_VSTMP_RING_ITEMSIZE),
            (mmio::SQ_PSTMP_RING_SIZE, mmio::SQ_PSTMP_RING_ITEMSIZE),
        ];
        let both =
            |(size, item): &(u32, u32)| self.register(*size) != 0 && self.register(*item) != 0;
        for (kind, holds) in [
            (
                "constants",
                constants
                    .iter()
                    .any(|a| self.array(*a).iter().any(|size| *size != 0)),
            ),
            (
                "stream-out",
                self.register(mmio::VGT_STRMOUT_EN) & 1 != 0
                    && self.register(mmio::VGT_STRMOUT_BUFFER_EN) != 0,
            ),
            ("geometry shader", self.register(mmio::VGT_GS_MODE) & 3 == 3),
            ("scratch", scratch.iter().any(both)),
        ] {
            if holds {
                kinds.push(kind.into());
            }
        }
    }

    /// Return what a draw by this packet has.
    fn draw(&self, opcode: u8, header: u32, body: &[u32]) -> Vec<String> {
        let word = |at: usize| body.get(at).copied().unwrap_or(0);
        let mut kinds = vec![];
        kinds.push(
            match opcode {
                op::DRAW_INDEX if self.wide => "draw: 32-bit indices",
                op::DRAW_INDEX => "draw: 16-bit indices",
                op::DRAW_INDEX_AUTO if word(0) == 0 && word(1) & (1 << 6) != 0 => {
                    "draw: as much as was streamed out"
                }
                op::DRAW_INDEX_AUTO => "draw: counted indices",
                _ => "draw: immediate indices",
            }
            .into(),
        );
        if header & 1 != 0 {
            kinds.push("draw: predicated".into());
        }
        self.targets(&mut kinds);
        self.fetched(&mut kinds);
        self.stages(&mut kinds);
        kinds.sort();
        kinds.dedup();
        kinds
    }
}

/// Return what each draw of a stream for the graphics ring has.
pub fn draws(case: &Case) -> Vec<Vec<String>> {
    let mut state = State::default();
    let mut draws = Vec::new();
    for packet in packets(case) {
        let header = case.words[packet.start];
        if header >> 30 != 3 {
            continue;
        }
        let length = ((header as usize >> 16) & 0x3fff) + 1;
        let from = packet.start + 1;
        let body = &case.words[from..(from + length).min(packet.end)];
        match (header >> 8) as u8 {
            op::SET_CONFIG_REG => state.set(set_config_reg::BASE, body),
            op::SET_CONTEXT_REG => state.set(set_context_reg::BASE, body),
            op::INDEX_TYPE => state.wide = body[0] & 3 == 1,
            op::SET_RESOURCE => {
                let slots = body[0] / 7..;
                for (slot, words) in slots.zip(body[1..].chunks_exact(7)) {
                    let words = words.try_into().expect("seven");
                    state.resources.insert(slot, words);
                }
            }
            opcode @ (op::DRAW_INDEX
            | op::DRAW_INDEX_AUTO
            | op::DRAW_INDEX_IMMD
            | op::DRAW_INDEX_IMMD_BE) => {
                draws.push(state.draw(opcode, header, body));
            }
            _ => {}
        }
    }
    draws
}
