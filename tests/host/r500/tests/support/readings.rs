// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which bytes 3D draws touch, by readings of the manual that neither the checker nor the model has made its own.
//!
//! Checker and model are two programs, but where the manual is silent they may have been given the same answer. So
//! this is a third one, which takes the other answers: each is a [`Reading`]. Some of them the checker bears
//! ([`BORNE`]): a stream that it lets through stays inside its objects even if the chip works that way. The others
//! ([`COSTLY`]) it does not, because real clients would not be let through; `Documentation/r500/checker.md` says what
//! each would cost.
//!
//! Registers start with the worst that another client could have left in them. An object has no gaps, so of each
//! picture and array only the first and the last byte are reported.

use r500::portable::regs::mmio;

use super::footprint::Touch;

/// Another answer to a question that the manual leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// The width alone decides whether a level of a texture is macro-tiled (`MACRO_SWITCH`, as the manual has it).
    MacroByWidth,
    /// `MACRO_SWITCH` makes no level linear at all that is as wide as a macro-block, nor the first one.
    FirstLevelTiled,
    /// All levels are fetched, whatever filter there is between them, and one more than there are if that is named
    /// as the finest.
    EveryLevel,
    /// Vertex arrays are fetched by pairs, also the second one of half a pair.
    ArraysByPairs,
    /// The tiling bits of a sampled buffer mean that buffer.
    SampledAsSaid,
    /// A target whose channels are masked is read if blending may read at all.
    MaskedIsRead,
    /// Copies of the first output are written even if there is no such output.
    CopiesOfNothing,
    /// The depth unit touches its buffer when it helps to clear colour, whatever else is off.
    ClearTouchesDepth,
    /// Fast fill and compression work on squares in both directions.
    SquaresOfDepth,

    /// The index is clamped first, and then `VAP_INDEX_OFFSET` is added.
    ClampFirst,
    /// The edges of cubes are padded to powers of two.
    CubesPadded,
    /// All textures are padded to powers of two.
    TexturesPadded,
    /// Compressed depth comes in squares of eight pixels, whatever `GB_Z_PEQ_CONFIG` says.
    LargeSquares,
    /// What samples are resolved to is micro- and macro-tiled like the samples.
    ResolvedTiled,
    /// A target is touched though its channels are masked.
    MaskedIsWritten,
}

/// Readings that what is let through stays inside by, all at once.
pub const BORNE: [Reading; 9] = [
    Reading::MacroByWidth,
    Reading::FirstLevelTiled,
    Reading::EveryLevel,
    Reading::ArraysByPairs,
    Reading::SampledAsSaid,
    Reading::MaskedIsRead,
    Reading::CopiesOfNothing,
    Reading::ClearTouchesDepth,
    Reading::SquaresOfDepth,
];

/// Readings that real clients would have to pay for.
pub const COSTLY: [Reading; 6] = [
    Reading::ClampFirst,
    Reading::CubesPadded,
    Reading::TexturesPadded,
    Reading::LargeSquares,
    Reading::ResolvedTiled,
    Reading::MaskedIsWritten,
];

/// Another client's memory.
const FOREIGN: u32 = 0x0800_0000;
const REGISTERS: usize = 0x8000 / 4;
const MICRO: u64 = 32;

/// A block of elements that lie side by side in memory.
#[derive(Clone, Copy)]
struct Block {
    width: u64,
    height: u64,
    bytes: u64,
}

/// Return the tables of R5xx 2.2 and 2.3; `micro` as the registers code it.
fn block(element: u64, micro: u32, macro_tiled: bool) -> Block {
    let (width, height) = match (element, micro) {
        (_, 0) | (16, _) => (MICRO / element, 1),
        (1, _) => (8, 4),
        (2, 2) => (4, 4),
        (2, _) => (8, 2),
        (4, _) => (4, 2),
        _ => (2, 2),
    };
    let edge = if macro_tiled { 8 } else { 1 };
    Block {
        width: width * edge,
        height: height * edge,
        bytes: MICRO * edge * edge,
    }
}

impl Block {
    /// Return the bytes of a picture whose rows are `pitch` elements apart.
    fn picture(self, pitch: u64, width: u64, height: u64) -> u64 {
        let row = pitch.div_ceil(self.width);
        let rows = height.div_ceil(self.height);
        ((rows - 1) * row + row.max(width.div_ceil(self.width))) * self.bytes
    }
}

/// A picture that is drawn to.
struct Surface {
    base: u64,
    pitch: u64,
    bytes: u64,
    micro: u32,
    macro_tiled: bool,
}

/// Return the bytes of an element of a texture, and texels along its edge.
fn element(format1: u32, format2: u32) -> (u64, u64) {
    let format = mmio::tx_format1::TXFORMAT.get(format1);
    if mmio::tx_format2::TXFORMAT_MSB.any(format2) {
        return if format == 5 { (8, 4) } else { (4, 1) };
    }
    match format {
        0 | 2 | 5 => (1, 1),
        1 | 3 | 6 | 7 | 10 | 11 | 18 | 20 | 21 | 22 | 24 => (2, 1),
        14 | 26 | 28 => (8, 1),
        29 => (16, 1),
        15 => (8, 4),
        16 | 17 | 31 => (16, 4),
        _ => (4, 1),
    }
}

struct Engine<'a> {
    registers: Vec<u32>,
    readings: &'a [Reading],
    report: &'a mut dyn FnMut(Touch),
    packet: usize,
}

impl Engine<'_> {
    fn get(&self, register: u32) -> u32 {
        self.registers[register as usize / 4]
    }

    fn set(&mut self, register: u32, value: u32) {
        self.registers[register as usize / 4] = value;
    }

    fn at(&self, array: lapidary::portable::bits::RegArray, i: u32) -> u32 {
        self.get(array.at(i).expect("in the array"))
    }

    fn says(&self, reading: Reading) -> bool {
        self.readings.contains(&reading)
    }

    fn touch(&mut self, start: u64, bytes: u64, write: bool) {
        if bytes > 0 {
            (self.report)(Touch {
                start,
                end: start + bytes,
                write,
                packet: self.packet,
            });
        }
    }

    fn samples(&self) -> u64 {
        let word = self.get(mmio::GB_AA_CONFIG);
        if word & 1 == 0 {
            return 1;
        }
        [2, 3, 4, 6][mmio::gb_aa_config::NUM_AA_SUBSAMPLES.get(word) as usize & 3]
    }

    /// Draw to all pixels of a surface within the scissor, in squares of `square` pixels.
    fn draw_to(&mut self, mut surface: Surface, samples: u64, square: u64, write: bool) {
        if samples > 1 && !self.says(Reading::SampledAsSaid) {
            surface.micro = 1;
            surface.macro_tiled = true;
        }
        let corner = self.get(mmio::SC_SCISSOR1);
        let width = u64::from(mmio::sc_scissor1::XS1.get(corner)) + 1;
        let height = u64::from(mmio::sc_scissor1::YS1.get(corner)) + 1;
        let (width, height) = (
            width.next_multiple_of(square),
            height.next_multiple_of(square),
        );
        let block = block(surface.bytes, surface.micro, surface.macro_tiled);
        let bytes = block.picture(surface.pitch, width, height) * samples;
        self.touch(surface.base, bytes, write);
    }

    fn color(&self, target: u32) -> Surface {
        use mmio::{rb3d_cctl, rb3d_colorpitch as pitch};
        let own = self.at(mmio::RB3D_COLORPITCH, target);
        let independent = rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.any(self.get(mmio::RB3D_CCTL));
        let format = if independent {
            own
        } else {
            self.at(mmio::RB3D_COLORPITCH, 0)
        };
        Surface {
            base: self.at(mmio::RB3D_COLOROFFSET, target).into(),
            pitch: u64::from(pitch::COLORPITCH.get(own)) * 2,
            bytes: match pitch::COLORFORMAT.get(format) {
                2 | 9 => 1,
                3 | 4 | 11..=15 => 2,
                0 | 10 => 8,
                7 => 16,
                _ => 4,
            },
            micro: pitch::COLORMICROTILE.get(own),
            macro_tiled: pitch::COLORTILE.any(own),
        }
    }

    /// Return the targets that are touched, one bit each.
    fn targets(&self, resolving: bool, clearing: bool) -> u32 {
        use mmio::{rb3d_blendcntl as blend, rb3d_cctl, us_out_fmt};
        let control = self.get(mmio::RB3D_CCTL);
        let unused = us_out_fmt::out_fmt::UNUSED;
        let output = |i: u32| us_out_fmt::OUT_FMT.get(self.at(mmio::US_OUT_FMT, i)) != unused;
        let reads = blend::READ_ENABLE.any(self.get(mmio::RB3D_BLENDCNTL));
        let copied = output(0) || self.says(Reading::CopiesOfNothing);
        let mask = self.get(mmio::RB3D_COLOR_CHANNEL_MASK);
        let own_mask = rb3d_cctl::INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE.any(control);
        (0..4)
            .filter(|i| output(*i) || copied && *i <= rb3d_cctl::NUM_MULTIWRITES.get(control))
            .filter(|i| {
                let shift = if own_mask { 4 * i } else { 0 };
                (mask >> shift) & 0xf != 0
                    || resolving
                    || clearing
                    || reads && self.says(Reading::MaskedIsRead)
                    || self.says(Reading::MaskedIsWritten)
            })
            .fold(0, |all, i| all | (1 << i))
    }

    fn raster(&mut self) {
        use mmio::{rb3d_aaresolve_pitch, zb_bw_cntl as mode, zb_cntl, zb_depthpitch as pitch};
        let samples = self.samples();
        let bandwidth = self.get(mmio::ZB_BW_CNTL);
        let clearing = mode::ZB_CB_CLEAR.any(bandwidth);
        let resolving = self.get(mmio::RB3D_AARESOLVE_CTL) & 1 != 0;
        let targets = self.targets(resolving, clearing);
        for i in (0..4).filter(|i| (targets >> i) & 1 != 0) {
            let mut surface = self.color(i);
            if resolving && samples > 1 {
                // The bits are those of the other buffer.
                surface.micro = 1;
                surface.macro_tiled = true;
            }
            self.draw_to(surface, samples, 1, true);
        }
        if resolving {
            let mut surface = self.color(0);
            surface.base = self.get(mmio::RB3D_AARESOLVE_OFFSET).into();
            let word = self.get(mmio::RB3D_AARESOLVE_PITCH);
            surface.pitch = u64::from(rb3d_aaresolve_pitch::AARESOLVE_PITCH.get(word)) * 2;
            if self.says(Reading::ResolvedTiled) {
                surface.micro = 1;
                surface.macro_tiled = true;
            }
            self.draw_to(surface, 1, 1, true);
        }

        let control = self.get(mmio::ZB_CNTL);
        let writes = zb_cntl::STENCIL_ENABLE.any(control) || zb_cntl::ZWRITEENABLE.any(control);
        let clears = clearing && self.says(Reading::ClearTouchesDepth);
        if !(writes || clears || zb_cntl::Z_ENABLE.any(control)) {
            return;
        }
        let squares = mode::FAST_FILL.any(bandwidth)
            || mode::RD_COMP_ENABLE.any(bandwidth)
            || mode::WR_COMP_ENABLE.any(bandwidth);
        let small = self.get(mmio::GB_Z_PEQ_CONFIG) & 1 == 0;
        let square = match squares {
            true if !small || self.says(Reading::LargeSquares) => 8,
            true if self.says(Reading::SquaresOfDepth) => 4,
            _ => 1,
        };
        let word = self.get(mmio::ZB_DEPTHPITCH);
        let surface = Surface {
            base: self.get(mmio::ZB_DEPTHOFFSET).into(),
            pitch: u64::from(pitch::DEPTHPITCH.get(word)) * 4,
            bytes: if self.get(mmio::ZB_FORMAT) & 0xf == 2 {
                4
            } else {
                2
            },
            micro: pitch::DEPTHMICROTILE.get(word),
            macro_tiled: pitch::DEPTHMACROTILE.any(word),
        };
        self.draw_to(surface, samples, square, writes || clears || squares);
    }

    fn texture(&mut self, unit: u32) {
        use mmio::{tx_filter0, tx_filter1, tx_format0, tx_format1, tx_format2, tx_offset};
        let filter0 = self.at(mmio::TX_FILTER0, unit);
        let (format0, format1, format2) = (
            self.at(mmio::TX_FORMAT0, unit),
            self.at(mmio::TX_FORMAT1, unit),
            self.at(mmio::TX_FORMAT2, unit),
        );
        let offset = self.at(mmio::TX_OFFSET, unit);
        let (bytes, edge) = element(format1, format2);
        let kind = tx_format1::TEX_COORD_TYPE.get(format1);
        let filter = tx_filter0::MIP_FILTER.get(filter0) != 0;
        let (last, finest) = (
            tx_format0::NUM_LEVELS.get(format0),
            tx_filter0::MAX_MIP_LEVEL.get(filter0),
        );
        let last = if filter || self.says(Reading::EveryLevel) {
            last.max(finest)
        } else {
            finest
        };
        // Only clamping to 0 to 1 never leaves the picture.
        let wraps = |mode: u32| !matches!(mode, 2 | 4 | 6);
        let padded = last > 0
            || filter
            || self.says(Reading::TexturesPadded)
            || kind == 2 && self.says(Reading::CubesPadded);
        let size = |low: u32, high: bool, wraps: bool| {
            let texels = u64::from(low) + if high { 2049 } else { 1 };
            if padded || wraps {
                texels.next_power_of_two()
            } else {
                texels
            }
        };
        let width = size(
            tx_format0::TXWIDTH.get(format0),
            tx_format2::TXWIDTH_11.any(format2),
            wraps(tx_filter0::CLAMP_S.get(filter0)),
        );
        let height = size(
            tx_format0::TXHEIGHT.get(format0),
            tx_format2::TXHEIGHT_11.any(format2),
            wraps(tx_filter0::CLAMP_T.get(filter0)) || kind != 0,
        );
        let micro = tx_offset::MICRO_TILE.get(offset);
        let tiles = block(bytes, micro, true);
        // A level of just the size of a block is linear.
        let strict = tx_filter1::MACRO_SWITCH.any(self.at(mmio::TX_FILTER1, unit));
        let reaches = |size: u64, block: u64| size > block || size == block && !strict;
        let mut end = 0;
        for level in 0..=last {
            let (w, h) = ((width >> level).max(1), (height >> level).max(1));
            let (across, down) = (w.div_ceil(edge), h.div_ceil(edge));
            let pitch = if tx_format0::TXPITCH_EN.any(format0) {
                (u64::from(tx_format2::TXPITCH.get(format2)) + 1).div_ceil(edge)
            } else {
                across
            };
            let by_width = reaches(across, tiles.width);
            let high = reaches(down, tiles.height) || self.says(Reading::MacroByWidth);
            let always = level == 0 || across >= tiles.width;
            let tiled = by_width && high || always && self.says(Reading::FirstLevelTiled);
            let layout = block(bytes, micro, tiled && tx_offset::MACRO_TILE.any(offset));
            let layers = match kind {
                1 => ((1u64 << tx_format0::TXDEPTH.get(format0)) >> level).max(1),
                2 => 6,
                _ => 1,
            };
            end += layout.picture(pitch, across, down) * layers;
        }
        let base = u64::from(offset & tx_offset::TXOFFSET.mask());
        self.touch(base, end, false);
    }

    /// Fetch vertices from the lowest index to the highest.
    fn vertices(&mut self, low: i64, high: i64) {
        use mmio::vap_vtx_aos_attr as attribute;
        let mut number = self.get(mmio::VAP_VTX_NUM_ARRAYS) & 0x1f;
        if self.says(Reading::ArraysByPairs) {
            number = number.next_multiple_of(2);
        }
        for i in 0..number {
            let word = self.at(mmio::VAP_VTX_AOS_ATTR, i / 2);
            let (count, stride, base) = if i % 2 == 0 {
                (
                    attribute::VTX_AOS_COUNT0.get(word),
                    attribute::VTX_AOS_STRIDE0.get(word),
                    self.at(mmio::VAP_VTX_AOS_ADDR_EVEN, i / 2),
                )
            } else {
                (
                    attribute::VTX_AOS_COUNT1.get(word),
                    attribute::VTX_AOS_STRIDE1.get(word),
                    self.at(mmio::VAP_VTX_AOS_ADDR_ODD, i / 2),
                )
            };
            if count == 0 {
                continue;
            }
            let place = |index: i64| (i64::from(base) + index * i64::from(stride) * 4) as u64;
            // In front of the array is far behind it, modulo 4 GiB.
            let start = place(low) & 0xffff_ffff;
            let bytes = place(high).wrapping_sub(place(low)) + u64::from(count) * 4;
            self.touch(start, bytes, false);
        }
    }

    /// Fetch the vertices of a draw that counts `count` of them, or by indices that may be anything.
    fn fetch(&mut self, count: Option<u32>) {
        let field = mmio::vap_index_offset::INDEX_OFFSET;
        let raw = field.get(self.get(mmio::VAP_INDEX_OFFSET));
        let offset = i64::from(((raw << 7) as i32) >> 7);
        let max = i64::from(self.get(mmio::VAP_VF_MAX_VTX_INDX) & 0xff_ffff);
        let min = i64::from(self.get(mmio::VAP_VF_MIN_VTX_INDX) & 0xff_ffff);
        if self.says(Reading::ClampFirst) && offset != 0 {
            let high = count.map_or(max, |count| i64::from(count - 1).min(max));
            self.vertices(min.min(high) + offset, high.max(min) + offset);
            return;
        }
        match count {
            // Not clamped, or up to the smallest index if that is beyond.
            Some(count) => {
                let last = i64::from(count - 1) + offset;
                self.vertices(offset.min(min), last.max(min));
            }
            None => self.vertices(min.min(max), min.max(max)),
        }
    }

    fn draw(&mut self, word: u32) {
        use mmio::vap_vf_cntl as control;
        let count = if control::USE_ALT_NUM_VERTS.any(word) {
            self.get(mmio::VAP_ALT_NUM_VERTICES) & 0xff_ffff
        } else {
            control::NUM_VERTICES.get(word)
        };
        self.raster();
        let enabled = self.get(mmio::TX_ENABLE);
        for unit in (0..16).filter(|unit| (enabled >> unit) & 1 != 0) {
            self.texture(unit);
        }
        match control::PRIM_WALK.get(word) {
            control::prim_walk::INDEXES => self.fetch(None),
            control::prim_walk::VERTEX_LIST => self.fetch(Some(count)),
            _ => {}
        }
    }

    fn packet3(&mut self, opcode: u32, body: &[u32]) {
        match opcode {
            0x28..=0x2a => self.draw(body[1]),
            0x34..=0x36 => self.draw(body[0]),
            0x2f => {
                let mut rest = &body[1..];
                self.set(mmio::VAP_VTX_NUM_ARRAYS, body[0]);
                for pair in 0..(body[0] & 0x1f).div_ceil(2) {
                    let registers = [
                        mmio::VAP_VTX_AOS_ATTR,
                        mmio::VAP_VTX_AOS_ADDR_EVEN,
                        mmio::VAP_VTX_AOS_ADDR_ODD,
                    ];
                    for array in registers {
                        let Some((word, tail)) = rest.split_first() else {
                            break;
                        };
                        self.set(array.at(pair).expect("eight pairs"), *word);
                        rest = tail;
                    }
                }
            }
            0x33 => self.touch(body[1].into(), u64::from(body[2]) * 4, false),
            _ => {}
        }
    }
}

/// Report what the draws of a placed stream touch if the chip works as `readings` have it.
pub fn execute(words: &[u32], readings: &[Reading], report: &mut dyn FnMut(Touch)) {
    let mut engine = Engine {
        registers: vec![0; REGISTERS],
        readings,
        report,
        packet: 0,
    };
    for (register, value) in [
        (mmio::SC_SCISSOR1, 0x03ff_ffff),
        (mmio::RB3D_CCTL, mmio::rb3d_cctl::NUM_MULTIWRITES.mask()),
        (mmio::RB3D_COLOR_CHANNEL_MASK, u32::MAX),
        (mmio::RB3D_BLENDCNTL, 7),
        (mmio::RB3D_AARESOLVE_CTL, 1),
        (mmio::RB3D_AARESOLVE_OFFSET, FOREIGN),
        (mmio::GB_AA_CONFIG, 7),
        (mmio::GB_Z_PEQ_CONFIG, 1),
        (mmio::ZB_CNTL, 7),
        (mmio::ZB_BW_CNTL, 0x3f),
        (mmio::ZB_DEPTHOFFSET, FOREIGN),
        (mmio::TX_ENABLE, 0xffff),
        (mmio::VAP_VTX_NUM_ARRAYS, 16),
        (mmio::VAP_INDEX_OFFSET, 0xff_ffff),
        (mmio::VAP_VF_MAX_VTX_INDX, 0xff_ffff),
        (mmio::VAP_VF_MIN_VTX_INDX, 0xff_ffff),
        (mmio::VAP_ALT_NUM_VERTICES, 0xff_ffff),
    ] {
        engine.set(register, value);
    }
    for array in [
        mmio::RB3D_COLOROFFSET,
        mmio::TX_OFFSET,
        mmio::VAP_VTX_AOS_ADDR_EVEN,
        mmio::VAP_VTX_AOS_ADDR_ODD,
    ] {
        for i in 0..array.len() {
            engine.set(array.at(i).expect("in range"), FOREIGN);
        }
    }
    for i in 0..mmio::VAP_VTX_AOS_ATTR.len() {
        engine.set(mmio::VAP_VTX_AOS_ATTR.at(i).expect("in range"), 0x7f7f_7f7f);
    }
    let mut at = 0;
    while at < words.len() {
        let header = words[at];
        engine.packet = at;
        at += 1;
        let count = ((header >> 16) & 0x3fff) as usize + 1;
        match header >> 30 {
            0 => {
                for i in 0..count {
                    let step = if (header >> 15) & 1 != 0 { 0 } else { i as u32 };
                    let register = ((header & 0x1fff) + step) * 4;
                    engine.set(register, words[at + i]);
                    if register == mmio::ZB_ZPASS_ADDR {
                        engine.touch(words[at + i].into(), 4, true);
                    }
                }
                at += count;
            }
            3 => {
                engine.packet3((header >> 8) & 0xff, &words[at..at + count]);
                at += count;
            }
            _ => {}
        }
    }
}
