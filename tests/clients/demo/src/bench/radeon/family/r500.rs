// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R5xx. The state is what a 3D driver emits before it draws. The registers, the lengths of the packets and their mix are
//! those of such streams: relocated surfaces and textures, runs of consecutive registers, and uploads of shader code and
//! constants through one register.

use super::Family;
use lapidary_engines::r500::draw2d::{self, Rect, Surface};
use lapidary_guest::painter::Painter;
use lapidary_guest::stream::Access;
use lapidary_guest::{Bo, Stream, pm4};
use lapidary_registers::r500::mmio;

/// Width in pixels of what keeps the engine at work.
const WIDTH: u32 = 2048;
/// The float 1.0.
const ONE: u32 = 0x3f80_0000;
/// Texture format with four components of 8 bits.
const W8Z8Y8X8: u32 = 0xc;
/// 256 pixels of 32 bits, in the form of `RB3D_COLORPITCH`: ARGB8888.
const COLOR_PITCH: u32 = 256 | (6 << 21);

/// A run of values: first register, how many values, all to the same register, and the value.
struct Run(u32, usize, bool, u32);

/// What is emitted again and again, in this order.
const RUNS: &[Run] = &[
    Run(mmio::VAP_VPORT_XSCALE, 6, false, ONE),
    Run(first(mmio::VAP_PROG_STREAM_CNTL), 8, false, 0),
    Run(first(mmio::VAP_PROG_STREAM_CNTL_EXT), 8, false, 0),
    Run(mmio::VAP_PVS_VECTOR_INDX_REG, 1, false, 0),
    Run(mmio::VAP_PVS_VECTOR_DATA_REG_128, 32, true, ONE),
    Run(first(mmio::RS_IP), 8, false, 0),
    Run(first(mmio::RS_INST), 8, false, 0),
    Run(mmio::GA_US_VECTOR_INDEX, 1, false, 0),
    Run(mmio::GA_US_VECTOR_DATA, 48, true, 0),
    Run(first(mmio::US_OUT_FMT), 4, false, 0),
    Run(mmio::SC_CLIP_0_A, 2, false, 0),
    Run(mmio::ZB_ZSTENCILCNTL, 1, false, 0),
    Run(mmio::RB3D_BLENDCNTL, 1, false, 0),
    Run(first(mmio::TX_FILTER0), 4, false, 0),
    Run(first(mmio::TX_FILTER1), 4, false, 0),
    Run(first(mmio::TX_FORMAT0), 4, false, 0),
    Run(first(mmio::TX_FORMAT1), 4, false, W8Z8Y8X8),
    Run(first(mmio::TX_BORDER_COLOR), 4, false, 0),
];

/// Return the first register of an array.
const fn first(array: lapidary_registers::RegArray) -> u32 {
    match array.at(0) {
        Some(register) => register,
        None => panic!("an empty array"),
    }
}

/// Append runs up to length `end`, the last one cut short.
fn fill<'a>(stream: &mut Stream, end: usize, runs: &mut impl Iterator<Item = &'a Run>) {
    while stream.len() < end {
        let left = end - stream.len();
        if left == 1 {
            stream.word(pm4::PACKET2);
            return;
        }
        let Some(&Run(register, count, same, value)) = runs.next() else {
            return;
        };
        let count = count.min(left - 1);
        if same {
            stream.word(pm4::packet0_same(register, count));
        } else {
            stream.word(pm4::packet0(register, count));
        }
        stream.extend(&vec![value; count]);
    }
}

/// The family.
pub struct R500;

impl Family for R500 {
    fn painter(&self) -> &'static dyn Painter {
        &lapidary_engines::r500::R500
    }

    fn submission(&self) -> f64 {
        0.9
    }

    /// Return a stream whose first object is the colour buffer, and whose other objects are textures.
    fn state(&self, objects: &[Bo], dwords: usize) -> Stream {
        let mut stream = Stream::new();
        let mut runs = RUNS.iter().cycle();
        for (i, object) in objects.iter().enumerate() {
            match i.checked_sub(1) {
                None => stream
                    .register(first(mmio::RB3D_COLOROFFSET), 0)
                    .relocation(object, Access::Write)
                    .register(first(mmio::RB3D_COLORPITCH), COLOR_PITCH),
                Some(i) => {
                    let unit = i as u32 % mmio::TX_OFFSET.len();
                    let register = mmio::TX_OFFSET.at(unit).expect("within the array");
                    stream
                        .register(register, 0)
                        .relocation(object, Access::Read)
                }
            };
            let end = dwords * (i + 1) / objects.len();
            assert!(stream.len() <= end, "{dwords} dwords are too short");
            fill(&mut stream, end, &mut runs);
        }
        assert_eq!(
            (stream.len(), stream.relocations().len()),
            (dwords, objects.len())
        );
        stream
    }

    /// Return a stream whose last packet would move the ring.
    fn refused(&self, objects: &[Bo], dwords: usize) -> Stream {
        let mut stream = self.state(objects, dwords - 2);
        stream.register(mmio::CP_RB_BASE, 0);
        stream
    }

    fn slow(&self, target: &Bo) -> Stream {
        const FILLS: usize = 24;
        let mut stream = Stream::new();
        let pitch = WIDTH * 4;
        let rows = target.size() as u32 / pitch - 1;
        for _ in 0..FILLS {
            let all = Rect::new(0, 0, WIDTH as i32, rows as i32);
            draw2d::fill_by_registers(&mut stream, Surface::new(target, pitch), 0x0012_3456, all);
        }
        stream
    }
}
