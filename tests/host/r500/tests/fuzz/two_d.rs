// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Operations of the 2D engine: mostly legal ones.

use fastrand::Rng;
use r500::portable::{checker::Object, pm4, regs::mmio};

use crate::{
    scene::{pick, rarely, Scene},
    support::{copy_control, fill_control, gui, host_control, pitch_offset, y_x, Stream},
};

/// What operations use of an object: enough for any mistake, and little to draw.
const MOST: u64 = 24 << 10;

#[derive(Clone, Copy)]
struct Canvas {
    entry: u32,
    word: u32,
    /// Pixels and lines that surely fit.
    width: i32,
    height: i32,
}

fn depth(control: u32) -> u32 {
    match gui::DST_TYPE.get(control) {
        2 => 1,
        3 | 4 => 2,
        _ => 4,
    }
}

fn canvas(rng: &mut Rng, objects: &[Object], depth: u32) -> Canvas {
    let entry = rng.u32(..objects.len() as u32);
    let size = objects[entry as usize].size.min(MOST);
    let pitch = 256 * rng.u32(1..=4);
    let offset = 2048 * rng.u64(..size / 2048);
    let room = size - offset;
    let tile = match rng.u32(..8) {
        0 => pitch_offset::TILE_MACRO.of(1),
        1 => pitch_offset::TILE_MICRO.of(1),
        2 => pitch_offset::TILE_MACRO.of(1) | pitch_offset::TILE_MICRO.of(1),
        _ => 0,
    };
    let lines = (room / u64::from(pitch)).max(1) as i32;
    Canvas {
        entry,
        word: pitch_offset::PITCH.of(pitch / 64)
            | pitch_offset::OFFSET.of((offset / 1024) as u32)
            | tile,
        width: (pitch / depth) as i32,
        height: if tile == 0 {
            lines
        } else {
            (lines / 32 * 32).max(1)
        },
    }
}

fn rect(rng: &mut Rng, canvas: Canvas) -> (i32, i32, i32, i32) {
    let (x, y) = (rng.i32(0..canvas.width), rng.i32(0..canvas.height));
    let (w, h) = (
        rng.i32(1..=canvas.width - x),
        rng.i32(1..=canvas.height - y),
    );
    (x, y, w, h)
}

fn control(rng: &mut Rng, base: u32) -> u32 {
    let word = gui::DST_TYPE.put(base, *rng.choice([2, 3, 4, 6].iter()).unwrap());
    let word = if gui::BRUSH_TYPE.get(base) == gui::brush_type::NONE {
        word
    } else {
        let brush = *rng
            .choice([0, 0, 1, 1, 6, 7, 10, 13, 13, 13, 13, 13, 14, 14].iter())
            .unwrap();
        gui::BRUSH_TYPE.put(word, brush)
    };
    let word = if rarely(rng, 6) {
        gui::DST_CLIPPING.put(word, 1)
    } else {
        word
    };
    match rng.u32(..96) {
        3 => gui::BRUSH_TYPE.put(word, rng.u32(..16)),
        0 | 4 => gui::SRC_TYPE.put(word, rng.u32(..4)),
        1 | 5 => gui::SRC_LOAD.put(word, rng.u32(..8)),
        2 => gui::WIN31_ROP.put(word, rng.u32(..256)),
        _ => word,
    }
}

/// Return the dwords of host data for a rectangle.
fn host_dwords(control: u32, width: i32, height: i32) -> u32 {
    let bits = match gui::SRC_TYPE.get(control) {
        0 | 1 => 1,
        _ => 8 * depth(control),
    };
    let row = width as u32 * bits;
    match gui::SRC_LOAD.get(control) {
        gui::src_load::HOST_DATA => (row * height as u32).div_ceil(32),
        _ => (row.div_ceil(8) * height as u32).div_ceil(4),
    }
}

/// Return the control word of host data as one colour or many, packed one way or the other.
fn host(rng: &mut Rng) -> u32 {
    let word = control(rng, host_control());
    let word = gui::SRC_TYPE.put(word, *rng.choice([0, 1, 3].iter()).unwrap());
    gui::SRC_LOAD.put(word, rng.u32(3..=4))
}

/// Return a small rectangle: the data for a large one would be all that a stream has.
fn small(rng: &mut Rng, canvas: Canvas) -> (i32, i32, i32, i32) {
    let (x, y, w, h) = rect(rng, canvas);
    (x, y, w.min(12), h.min(12))
}

fn registers(rng: &mut Rng, objects: &[Object], stream: &mut Stream) {
    let copying = rng.bool();
    let base = if copying {
        copy_control()
    } else {
        fill_control()
    };
    let word = control(rng, base);
    let to = canvas(rng, objects, depth(word));
    let from = canvas(rng, objects, depth(word));
    let direction = rng.u32(..4);
    stream
        .write(mmio::DP_GUI_MASTER_CNTL, word)
        .write(mmio::DP_CNTL, direction)
        .write(mmio::DST_PITCH_OFFSET, to.word)
        .marker(to.entry);
    if gui::DST_CLIPPING.any(word) {
        let (x, y, w, h) = rect(rng, to);
        stream.writes(mmio::SC_TOP_LEFT, &[y_x(y, x), y_x(y + h - 1, x + w - 1)]);
    }
    if copying {
        stream
            .write(mmio::SRC_PITCH_OFFSET, from.word)
            .marker(from.entry);
    }
    for _ in 0..rng.u32(1..4) {
        let common = Canvas {
            width: if copying {
                to.width.min(from.width)
            } else {
                to.width
            },
            height: if copying {
                to.height.min(from.height)
            } else {
                to.height
            },
            ..to
        };
        let (x, y, w, h) = rect(rng, common);
        let (cx, cy) = (
            if direction & 1 != 0 { x } else { x + w - 1 },
            if direction & 2 != 0 { y } else { y + h - 1 },
        );
        if copying {
            stream.write(mmio::SRC_Y_X, y_x(cy, cx));
        }
        stream.write(mmio::DST_Y_X, y_x(cy, cx));
        if rng.bool() {
            stream.write(mmio::DST_HEIGHT_WIDTH, y_x(h, w));
        } else {
            stream.write(mmio::DST_WIDTH_HEIGHT, y_x(w, h));
        }
    }
    let solid = matches!(
        gui::BRUSH_TYPE.get(word),
        gui::brush_type::SOLID_COLOR | gui::brush_type::SOLID_COLOR_ALT
    );
    if !copying && solid && rng.u32(..3) == 0 {
        let (x, y, w, h) = rect(rng, to);
        stream.writes(
            mmio::DST_LINE_START,
            &[y_x(y, x), y_x(y + h - 1, x + w - 1)],
        );
    }
}

fn host_registers(rng: &mut Rng, objects: &[Object], stream: &mut Stream) {
    let word = gui::DST_CLIPPING.put(host(rng), 0);
    let to = canvas(rng, objects, depth(word));
    let (x, y, w, h) = small(rng, to);
    stream
        .write(mmio::DP_CNTL, 3)
        .write(mmio::DP_GUI_MASTER_CNTL, word)
        .write(mmio::DST_PITCH_OFFSET, to.word)
        .marker(to.entry)
        .rectangle(x, y, w, h);
    let data: Vec<u32> = (1..host_dwords(word, w, h)).map(|_| rng.u32(..)).collect();
    if !data.is_empty() {
        stream.words(&[pm4::write_one(
            mmio::HOST_DATA.at(0).unwrap(),
            data.len() as u32,
        )]);
        stream.words(&data);
    }
    stream.write(mmio::HOST_DATA_LAST, rng.u32(..));
}

/// Append an operation after only some of its state has been said again, and perhaps taken back.
fn again(rng: &mut Rng, stream: &mut Stream) {
    for _ in 0..rng.u32(1..4) {
        match rng.u32(..6) {
            0 => {
                let base = if rng.bool() {
                    fill_control()
                } else {
                    copy_control()
                };
                let word = gui::DST_PITCH_OFF.put(control(rng, base), rng.u32(..2));
                let word = gui::SRC_PITCH_OFF.put(word, rng.u32(..2));
                stream.write(mmio::DP_GUI_MASTER_CNTL, word);
            }
            1 => {
                stream.write(mmio::DP_GUI_MASTER_CNTL, fill_control());
            }
            2 => {
                stream.write(mmio::DP_CNTL, rng.u32(..4));
            }
            3 => {
                stream.write(mmio::DP_CNTL_XDIR_YDIR_YMAJOR, rng.u32(..) & 0x8000_8004);
            }
            4 => {
                stream.writes(mmio::SC_TOP_LEFT, &[0, y_x(rng.i32(0..64), rng.i32(0..64))]);
            }
            _ => {
                stream.write(mmio::CLR_CMP_CNTL, pick(rng, &[0, 4, 0x0100_0004]));
            }
        }
    }
    if rng.bool() {
        stream.write(mmio::SRC_Y_X, y_x(rng.i32(0..8), rng.i32(0..8)));
    }
    if rng.bool() {
        stream.write(mmio::DST_Y_X, y_x(rng.i32(0..8), rng.i32(0..8)));
    }
    if rarely(rng, 6) {
        stream.write(mmio::DST_LINE_END, y_x(rng.i32(0..8), rng.i32(0..8)));
    } else {
        stream.write(mmio::DST_HEIGHT_WIDTH, y_x(rng.i32(1..8), rng.i32(1..8)));
    }
}

/// Append 2D work to a scene.
pub fn add(s: &mut Scene<'_>) {
    while s.objects.is_empty() || (s.objects.len() < 3 && rarely(s.rng, 3)) {
        s.object();
    }
    for _ in 0..s.rng.u32(1..4) {
        let mut stream = Stream::new();
        let objects = &s.objects;
        match s.rng.u32(..8) {
            0 => {
                stream.words(&[pm4::FILLER]).words(&crate::support::FLUSH);
            }
            1 | 2 => host_registers(s.rng, objects, &mut stream),
            _ => registers(s.rng, objects, &mut stream),
        }
        if rarely(s.rng, 8) {
            again(s.rng, &mut stream);
        }
        *s.piece() = stream;
    }
}
