// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pictures of HQV as clients make them: windows, surfaces, and the pairs of registers that say it.

use chrome9::portable::regs::{
    enums::hqv_format,
    mmio::{
        self, hqv_background_offset, hqv_control, hqv_destination_stride, hqv_source_stride,
        hqv_subpicture_control, hqv_subpicture_palette, hqv_video_source_start,
    },
};
use lapidary::portable::bits::RegArray;

use crate::support::{base, set, Pair, Stream};

/// How far second places of registers are behind the first ones.
const ALIAS: u32 = 0x2000;

/// What starts a picture.
pub const START: u32 = hqv_control::ENABLE.mask() | hqv_control::SOURCE_FLIP.mask();
/// Waits for both engines.
pub const WAITS: [u32; 2] = [1 << 31, 1 << 30];
/// Writes of an entry of the palette.
pub const ENTRY: u32 = hqv_subpicture_palette::WRITE_Y.mask()
    | hqv_subpicture_palette::WRITE_U.mask()
    | hqv_subpicture_palette::WRITE_V.mask();

/// Return where a stream has a register of an engine.
pub fn at(register: RegArray, engine: u32) -> u32 {
    register.at(engine).expect("two engines") + ALIAS
}

/// Return a corner of a window.
pub fn corner((x, y): (u32, u32)) -> u32 {
    hqv_video_source_start::X.of(x) | hqv_video_source_start::Y.of(y)
}

/// First and last pixel of a window.
pub type Window = [(u32, u32); 2];

/// A sub-picture.
#[derive(Clone, Copy, Debug)]
pub struct Inset {
    /// Bits of its control, but for the stride.
    pub control: u32,
    /// In bytes.
    pub stride: u32,
    pub from: Window,
    pub to: Window,
    /// Object and offset.
    pub at: (u32, u32),
}

/// A picture.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    pub engine: u32,
    pub format: u32,
    /// Bits of the control beside the format.
    pub control: u32,
    pub mode: u32,
    /// Bits of the first destination.
    pub layout: u32,
    pub from: Window,
    pub to: Window,
    /// Last pixel of the background.
    pub background: (u32, u32),
    /// Strides in bytes.
    pub stride: u32,
    pub to_stride: u32,
    /// Objects and offsets.
    pub luma: (u32, u32),
    pub chroma: (u32, u32),
    pub destinations: [(u32, u32); 3],
    pub residue: (u32, u32),
    pub inset: Option<Inset>,
}

/// Scale 16 x 8 pixels of object 0 to 20 x 12 of object 1, of 16 bits each, with two destinations.
pub const PICTURE: Picture = Picture {
    engine: 0,
    format: hqv_format::YUV422,
    control: START,
    mode: 0,
    layout: 0,
    from: [(0, 0), (15, 7)],
    to: [(0, 0), (19, 11)],
    background: (0, 0),
    stride: 32,
    to_stride: 64,
    luma: (0, 0),
    chroma: (0, 1024),
    destinations: [(1, 0), (1, 1024), (1, 2048)],
    residue: (1, 3072),
    inset: None,
};

/// 8 x 4 pixels with a palette, at the upper left corner.
pub const INSET: Inset = Inset {
    control: hqv_subpicture_control::ENABLE.mask(),
    stride: 16,
    from: [(0, 0), (7, 3)],
    to: [(0, 0), (7, 3)],
    at: (0, 2048),
};

impl Picture {
    /// Return whether there is a second plane.
    pub fn planar(&self) -> bool {
        self.format >= hqv_format::NV12
    }

    /// Return how many destinations take turns.
    pub fn buffers(&self) -> usize {
        if hqv_control::SINGLE_BUFFER.any(self.control) {
            1
        } else if hqv_control::TRIPLE_BUFFER.any(self.control) {
            3
        } else {
            2
        }
    }

    /// Return the pairs of registers, the control last.
    pub fn pairs(&self) -> Vec<Pair> {
        let value = |register, value| set(at(register, self.engine), value);
        let place = |register, (object, offset), bits: u32| Pair {
            value: bits,
            ..base(at(register, self.engine), object, offset)
        };
        let mut pairs = vec![
            value(mmio::HQV_COLOR_ADJUSTMENT_1, 0x0ffe_0123),
            value(mmio::HQV_COLOR_ADJUSTMENT_2, 0),
            value(mmio::HQV_COLOR_ADJUSTMENT_3, 0),
            value(mmio::HQV_COLOR_ADJUSTMENT_4, 0x100),
            value(mmio::HQV_VIDEO_SOURCE_START, corner(self.from[0])),
            value(mmio::HQV_VIDEO_SOURCE_END, corner(self.from[1])),
            value(mmio::HQV_VIDEO_DESTINATION_START, corner(self.to[0])),
            value(mmio::HQV_VIDEO_DESTINATION_END, corner(self.to[1])),
            value(mmio::HQV_TUNING, 0x4664_8688),
            value(mmio::HQV_EXTENDED_CONTROL, 0),
            value(mmio::HQV_STATIC_BASE, 0),
            value(mmio::HQV_STATIC_STRIDE, 0x100 << 15),
            value(mmio::HQV_COLOR_ADJUSTMENT_5, 0x100),
            value(mmio::HQV_COLOR_ADJUSTMENT_6, 0x100),
            value(mmio::HQV_COLOR_ADJUSTMENT_7, 0),
            value(mmio::HQV_COLOR_ADJUSTMENT_8, 0),
            value(mmio::HQV_VIDEO_H_SCALE, 0x8000_0666),
            value(mmio::HQV_VIDEO_V_SCALE, 0x8000_0555),
            value(mmio::HQV_BACKGROUND, 0x3fff_ffff),
            value(
                mmio::HQV_BACKGROUND_OFFSET,
                hqv_background_offset::X.of(self.background.0)
                    | hqv_background_offset::Y.of(self.background.1),
            ),
            place(mmio::HQV_RESIDUE_BASE, self.residue, 0),
        ];
        match self.inset {
            Some(inset) => pairs.extend(self.inset_pairs(&inset)),
            None => pairs.push(value(mmio::HQV_SUBPICTURE_CONTROL, 0)),
        }
        pairs.push(place(mmio::HQV_SOURCE_LUMA, self.luma, 0));
        if self.planar() {
            pairs.push(place(mmio::HQV_SOURCE_CHROMA, self.chroma, 0));
        }
        pairs.push(value(mmio::HQV_MODE, self.mode));
        pairs.push(value(mmio::HQV_DEINTERLACE, 0));
        let destinations = [
            mmio::HQV_DESTINATION_1,
            mmio::HQV_DESTINATION_2,
            mmio::HQV_DESTINATION_3,
        ];
        for (n, register) in destinations.into_iter().enumerate().take(self.buffers()) {
            let bits = if n == 0 { self.layout } else { 0 };
            pairs.push(place(register, self.destinations[n], bits));
        }
        pairs.extend([
            value(
                mmio::HQV_DESTINATION_STRIDE,
                hqv_destination_stride::STRIDE.of(self.to_stride / 16),
            ),
            value(
                mmio::HQV_SOURCE_STRIDE,
                hqv_source_stride::STRIDE.of(self.stride / 16),
            ),
            value(
                mmio::HQV_CONTROL,
                self.control | hqv_control::FORMAT.of(self.format),
            ),
        ]);
        pairs
    }

    /// Return the pairs of a sub-picture.
    fn inset_pairs(&self, inset: &Inset) -> Vec<Pair> {
        let value = |register, value| set(at(register, self.engine), value);
        let mut pairs = vec![
            value(
                mmio::HQV_SUBPICTURE_CONTROL,
                inset.control | hqv_subpicture_control::STRIDE.of(inset.stride / 16),
            ),
            value(mmio::HQV_SUBPICTURE_SOURCE_START, corner(inset.from[0])),
            value(mmio::HQV_SUBPICTURE_SOURCE_END, corner(inset.from[1])),
            value(mmio::HQV_SUBPICTURE_DESTINATION_START, corner(inset.to[0])),
            value(mmio::HQV_SUBPICTURE_DESTINATION_END, corner(inset.to[1])),
            value(mmio::HQV_SUBPICTURE_H_SCALE, 0x9000_0800),
            value(mmio::HQV_SUBPICTURE_V_SCALE, 0x8000_0800),
            base(
                at(mmio::HQV_SUBPICTURE_BASE, self.engine),
                inset.at.0,
                inset.at.1,
            ),
        ];
        if !hqv_subpicture_control::AYUV.any(inset.control) {
            pairs.extend((0..16).map(|entry| {
                let word = 0xff80_1000 | hqv_subpicture_palette::INDEX.of(entry) | ENTRY;
                value(mmio::HQV_SUBPICTURE_PALETTE, word)
            }));
        }
        pairs
    }

    /// Append the picture and a wait for it.
    pub fn add(&self, stream: &mut Stream) {
        stream.video(&self.pairs());
        stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, WAITS[self.engine as usize])]);
    }

    pub fn stream(&self) -> Stream {
        let mut stream = Stream::new();
        self.add(&mut stream);
        stream
    }
}
