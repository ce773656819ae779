// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pictures of HQV: mostly legal ones, with all the registers that they need, and mistakes that clients could make.

use chrome9::portable::regs::{
    enums::hqv_format,
    mmio::{
        self, hqv_control, hqv_destination_1, hqv_mode, hqv_source_stride, hqv_subpicture_control,
        hqv_subpicture_palette,
    },
};
use fastrand::Rng;
use lapidary::portable::bits::RegArray;

use crate::picture::{
    at as register, corner, Inset, Picture, Window, INSET, PICTURE, START, WAITS,
};
use crate::scene::{extent, pick, rarely};
use crate::support::{set, Pair, Stream};

/// Offsets of surfaces are below that.
const MOST: u32 = 64 << 10;
/// The last column and row of windows.
const LAST: u32 = 96;

const FORMATS: [u32; 11] = [
    hqv_format::RGB32,
    hqv_format::RGB32_10,
    hqv_format::RGB16,
    hqv_format::RGB15,
    hqv_format::YUV444,
    hqv_format::V410,
    hqv_format::YUV422,
    hqv_format::UYVY,
    hqv_format::NV12,
    hqv_format::NV11,
    hqv_format::P208,
];

/// Return a place for a surface.
fn place(rng: &mut Rng, objects: u32) -> (u32, u32) {
    let offset = match rng.u32(..4) {
        0 => 0,
        1 => 16 * rng.u32(..16),
        _ => 16 * rng.u32(..MOST / 16),
    };
    (rng.u32(..objects), offset)
}

/// Return a window of at least two columns and rows.
fn window(rng: &mut Rng, at_zero: bool) -> Window {
    let (x, y) = if at_zero {
        (0, 0)
    } else {
        (extent(rng, LAST) - 1, extent(rng, LAST) - 1)
    };
    [(x, y), (x + extent(rng, LAST), y + extent(rng, LAST))]
}

/// Return a stride: just enough for a row, or anything.
fn stride(rng: &mut Rng, row: u32) -> u32 {
    let least = row.next_multiple_of(16);
    match rng.u32(..4) {
        0 => least,
        1 => 16 * rng.u32(1..64),
        _ => least + 16 * extent(rng, 16),
    }
    .min(0x3ff0)
}

/// Return a picture that lies in its objects by far.
fn picture(rng: &mut Rng, objects: u32) -> Picture {
    let format = pick(rng, &FORMATS);
    let yuv = format >= hqv_format::YUV444;
    let (from, beside) = (window(rng, false), rarely(rng, 3));
    // Video or the sub-picture begins at 0.
    let inset = beside.then(|| {
        let window_of = window(rng, false);
        let bits = pick(
            rng,
            &[
                0,
                hqv_subpicture_control::AYUV.mask(),
                hqv_subpicture_control::IA44.mask(),
                hqv_subpicture_control::INVERSE_ALPHA.mask(),
                hqv_subpicture_control::BLEND_AFTER_SCALING.mask(),
            ],
        );
        Inset {
            control: hqv_subpicture_control::ENABLE.mask() | bits,
            stride: stride(rng, (window_of[1].0 + 1) * 4),
            from: window_of,
            to: window(rng, true),
            at: place(rng, objects),
        }
    });
    let at_zero = inset.is_none() || !yuv || rng.bool();
    let to = window(rng, at_zero);
    let buffers = [
        0,
        hqv_control::SINGLE_BUFFER.mask(),
        hqv_control::TRIPLE_BUFFER.mask(),
    ];
    let other = [
        hqv_control::V_LOW_PASS.mask(),
        hqv_control::SUBPICTURE_FLIP.mask(),
        hqv_control::END_OF_FRAME.mask(),
        0,
    ];
    let (mode, layout) = match rng.u32(..4) {
        0 => (hqv_mode::OUTPUT_32.mask(), 0),
        1 => (0, hqv_destination_1::OUTPUT_10.mask()),
        _ => (hqv_mode::COLOR_CONVERSION.of(rng.u32(..2)), 0),
    };
    Picture {
        engine: rng.u32(..2),
        format,
        control: START | pick(rng, &buffers) | pick(rng, &other),
        mode,
        layout: layout | hqv_destination_1::TILED.of(rng.u32(..2)),
        stride: stride(rng, (from[1].0 + 1) * 4),
        from,
        to_stride: stride(rng, (to[1].0 + 1) * 4),
        to,
        background: pick(rng, &[(0, 0), (LAST, 1), (1, LAST), (2 * LAST, 2 * LAST)]),
        luma: place(rng, objects),
        chroma: place(rng, objects),
        destinations: [0; 3].map(|_| place(rng, objects)),
        residue: place(rng, objects),
        inset,
    }
}

/// Return the pair of a register, if it is among those.
fn find(pairs: &mut [Pair], array: RegArray, engine: u32) -> Option<&mut Pair> {
    let place = register(array, engine);
    pairs.iter_mut().rfind(|pair| pair.register == place)
}

/// Make one mistake in a picture.
fn slip(rng: &mut Rng, pairs: &mut [Pair], engine: u32) {
    let mut other = |array, change: &dyn Fn(u32) -> u32| {
        if let Some(pair) = find(pairs, array, engine) {
            pair.value = change(pair.value);
        }
    };
    let control = mmio::HQV_CONTROL;
    match rng.u32(..20) {
        0 => other(mmio::HQV_EXTENDED_CONTROL, &|_| 1),
        1 => other(mmio::HQV_SOURCE_STRIDE, &|value| {
            value | hqv_source_stride::ANY_SIZE.mask()
        }),
        2 => {
            let bits = pick(rng, &[17, 18, 19, 20, 23, 5]);
            other(control, &|value| value | (1 << bits));
        }
        3 => other(mmio::HQV_DEINTERLACE, &|_| 0x100),
        4 => {
            let layout = rng.u32(1..4);
            other(mmio::HQV_MODE, &|value| hqv_mode::TILE.put(value, layout));
        }
        5 => other(control, &|value| value & !hqv_control::SOURCE_FLIP.mask()),
        6 => other(control, &|value| value & !hqv_control::ENABLE.mask()),
        7 => other(control, &|value| {
            value | hqv_control::INTERRUPT_ENABLE.mask()
        }),
        8 => {
            let source = rng.u32(1..4);
            other(control, &|value| hqv_control::SOURCE.put(value, source));
        }
        9 => {
            let format = pick(rng, &[6, 7, 10, 11, 15]);
            other(control, &|value| hqv_control::FORMAT.put(value, format));
        }
        10 => {
            other(mmio::HQV_MODE, &|value| value | hqv_mode::OUTPUT_32.mask());
            other(mmio::HQV_DESTINATION_1, &|value| {
                value | hqv_destination_1::OUTPUT_10.mask()
            });
        }
        11 => {
            let window = pick(
                rng,
                &[
                    mmio::HQV_VIDEO_SOURCE_END,
                    mmio::HQV_VIDEO_DESTINATION_END,
                    mmio::HQV_SUBPICTURE_SOURCE_END,
                    mmio::HQV_SUBPICTURE_DESTINATION_END,
                ],
            );
            let empty = pick(rng, &[0, 1, 0x7ff, 0x7ff_0000]);
            other(window, &|value| value & empty);
        }
        12 => {
            let start = corner((1, 1));
            other(mmio::HQV_VIDEO_DESTINATION_START, &|_| start);
            other(mmio::HQV_SUBPICTURE_DESTINATION_START, &|_| start);
        }
        13 => {
            let strides = pick(
                rng,
                &[
                    mmio::HQV_SOURCE_STRIDE,
                    mmio::HQV_DESTINATION_STRIDE,
                    mmio::HQV_SUBPICTURE_CONTROL,
                ],
            );
            other(strides, &|value| value & !0x3ff0);
        }
        14 => other(mmio::HQV_SUBPICTURE_PALETTE, &|value| {
            value & !hqv_subpicture_palette::WRITE_U.mask()
        }),
        // A register of the other engine, or of none.
        15 | 16 => {
            let chosen = rng.usize(..pairs.len());
            pairs[chosen].register ^= 0x1000;
        }
        17 => {
            let array = pick(
                rng,
                &[
                    mmio::HQV_SOURCE_CHROMA,
                    mmio::HQV_DESTINATION_2,
                    mmio::HQV_DESTINATION_3,
                    mmio::HQV_SUBPICTURE_BASE,
                    mmio::HQV_SUBPICTURE_SOURCE_END,
                ],
            );
            if let Some(pair) = find(pairs, array, engine) {
                pair.register ^= 0x1000;
            }
        }
        18 => {
            let chosen = rng.usize(..pairs.len());
            pairs[chosen].register = pick(rng, &[0x2200, 0x235c, 0x2400, 0x326c, 0x3b8, 0x48]);
        }
        _ => {
            let chosen = rng.usize(..pairs.len());
            pairs[chosen].register += rng.u32(1..4);
        }
    }
}

/// Append pictures, and waits for them.
pub fn add(rng: &mut Rng, stream: &mut Stream, objects: u32) {
    let first = picture(rng, objects);
    let mut pairs = first.pairs();
    if rarely(rng, 4) {
        slip(rng, &mut pairs, first.engine);
    }
    // What comes before the control may come in any order.
    if let Some(last) = pairs.pop() {
        if rarely(rng, 2) {
            rng.shuffle(&mut pairs);
        }
        // In one header, or several.
        if rarely(rng, 4) {
            let rest = pairs.split_off(rng.usize(1..pairs.len()));
            stream.video(&pairs);
            pairs = rest;
        }
        pairs.push(last);
    }
    stream.video(&pairs);
    let wait = match rng.u32(..16) {
        0 => WAITS[1 - first.engine as usize],
        1 => 0x00c0_0000,
        2 | 3 => WAITS[0] | WAITS[1],
        _ => WAITS[first.engine as usize],
    };
    stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, wait)]);
    // Once more, with some of it said again.
    if rarely(rng, 3) {
        let again = Picture {
            engine: first.engine,
            ..picture(rng, objects)
        };
        let mut rest = again.pairs();
        let control = pairs.pop();
        rest.pop();
        rest.retain(|_| rarely(rng, 3));
        // Palettes are not worth their length.
        rest.truncate(8);
        rest.extend(control);
        stream.video(&rest);
        stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, WAITS[first.engine as usize])]);
    }
}

/// Return the registers of HQV as another client can leave them, with all surfaces at a place of its memory. The engines are
/// off.
pub fn left(rng: &mut Rng, foreign: u32) -> Vec<(u32, u32)> {
    let bases = [
        mmio::HQV_RESIDUE_BASE,
        mmio::HQV_SUBPICTURE_BASE,
        mmio::HQV_SOURCE_LUMA,
        mmio::HQV_SOURCE_CHROMA,
        mmio::HQV_DESTINATION_1,
        mmio::HQV_DESTINATION_2,
        mmio::HQV_DESTINATION_3,
        mmio::HQV_STATIC_BASE,
    ];
    let mut all = Vec::new();
    for engine in 0..2 {
        let first = register(mmio::HQV_COLOR_ADJUSTMENT_1, engine) - 0x2000;
        let control = register(mmio::HQV_CONTROL, engine) - 0x2000;
        let places = (first..first + 0xa0).step_by(4);
        all.extend(places.filter(|place| *place != control).map(|place| {
            let base = bases
                .iter()
                .any(|array| register(*array, engine) - 0x2000 == place);
            let value = match rng.u32(..4) {
                _ if base => foreign,
                0 => u32::MAX,
                1 => 0,
                _ => rng.u32(..),
            };
            (place, value)
        }));
    }
    all
}

#[test]
fn a_picture_is_admitted() {
    let inset = Some(INSET);
    let stream = Picture { inset, ..PICTURE }.stream();
    let objects = vec![crate::scene::generous(); 2];
    let checked = crate::support::run(&stream.words, &stream.relocations, &objects);
    assert!(checked.is_ok(), "{checked:?}");
}
