// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Random streams: mostly legal ones, and ways to spoil them.

use fastrand::Rng;
use r500::portable::{
    checker::{Object, Options},
    pm4,
    regs::{mmio, pm4::op},
};

use super::{copy_control, fill_control, gui, host_control, objects, pitch_offset, y_x, Stream};

/// A submission.
#[derive(Clone, Debug)]
pub struct Case {
    pub words: Vec<u32>,
    pub objects: Vec<Object>,
    pub options: Options,
}

/// Where the objects are placed: gaps between them, the first one far from address 0.
pub fn addresses(objects: &[Object]) -> Vec<u64> {
    let mut next = 0x1000_0000;
    objects
        .iter()
        .map(|object| {
            let address = next;
            next += object.size.next_multiple_of(4096) + 0x10_0000;
            address
        })
        .collect()
}

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
    let size = objects[entry as usize].size;
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
        let brush = *rng.choice([0, 1, 6, 7, 10, 13, 13, 13, 14].iter()).unwrap();
        gui::BRUSH_TYPE.put(word, brush)
    };
    if rng.u32(..6) == 0 {
        gui::DST_CLIPPING.put(word, 1)
    } else {
        word
    }
}

/// Dwords of host data for a rectangle.
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

/// Host data as one colour or many, packed one way or the other.
fn host(rng: &mut Rng) -> u32 {
    let word = control(rng, host_control());
    let word = gui::SRC_TYPE.put(word, *rng.choice([0, 1, 3].iter()).unwrap());
    gui::SRC_LOAD.put(word, rng.u32(3..=4))
}

/// A small rectangle: the data for a large one would be all that a stream has.
fn small(rng: &mut Rng, canvas: Canvas) -> (i32, i32, i32, i32) {
    let (x, y, w, h) = rect(rng, canvas);
    (x, y, w.min(12), h.min(12))
}

/// SETTINGS for a packet. Source and destination as the control word announces them.
fn settings(rng: &mut Rng, word: u32, source: Canvas, destination: Canvas) -> Vec<u32> {
    let mut body = vec![word];
    if gui::SRC_PITCH_OFF.any(word) {
        body.push(source.word);
    }
    if gui::DST_PITCH_OFF.any(word) {
        body.push(destination.word);
    }
    if gui::SRC_CLIPPING.any(word) {
        body.push(rng.u32(..));
    }
    if gui::DST_CLIPPING.any(word) {
        let (x, y, w, h) = rect(rng, destination);
        body.push(y_x(y, x));
        body.push(y_x(y + h - 1, x + w - 1));
    }
    let brush = match gui::BRUSH_TYPE.get(word) {
        0 => 4,
        1 | 6 => 3,
        7 => 2,
        10 => 16 * depth(word),
        13 | 14 => 1,
        _ => 0,
    };
    for _ in 0..brush {
        body.push(rng.u32(..));
    }
    if gui::BRUSH_FLAG.any(word) {
        body.push(rng.u32(..));
    }
    body
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
    if !copying && rng.u32(..4) == 0 {
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

fn packet(rng: &mut Rng, objects: &[Object], stream: &mut Stream) {
    let opcode = *rng
        .choice(
            [
                op::PAINT,
                op::PAINT_MULTI,
                op::BITBLT,
                op::BITBLT_MULTI,
                op::TRANS_BITBLT,
                op::HOSTDATA_BLT,
                op::POLYLINE,
                op::POLYSCANLINES,
            ]
            .iter(),
        )
        .unwrap();
    let blit = matches!(opcode, op::BITBLT | op::BITBLT_MULTI | op::TRANS_BITBLT);
    let mut word = match opcode {
        op::HOSTDATA_BLT => host(rng),
        _ if blit => control(rng, copy_control()),
        _ => control(rng, fill_control()),
    };
    word = gui::SRC_CLIPPING.put(word, u32::from(rng.u32(..8) == 0));
    word = gui::BRUSH_FLAG.put(word, u32::from(rng.u32(..8) == 0));
    let to = canvas(rng, objects, depth(word));
    let from = canvas(rng, objects, depth(word));
    let mut body = settings(rng, word, from, to);
    let common = Canvas {
        width: to.width.min(from.width),
        height: to.height.min(from.height),
        ..to
    };
    let repeat = rng.u32(1..4);
    match opcode {
        op::PAINT => {
            for _ in 0..repeat {
                let (x, y, w, h) = rect(rng, to);
                body.extend([y_x(y, x), y_x(y + h - 1, x + w - 1)]);
            }
        }
        op::PAINT_MULTI => {
            for _ in 0..repeat {
                let (x, y, w, h) = rect(rng, to);
                body.extend([y_x(x, y), y_x(w, h)]);
            }
        }
        op::HOSTDATA_BLT => {
            body.extend([rng.u32(..), rng.u32(..)]);
            for _ in 0..repeat {
                let (x, y, w, h) = small(rng, to);
                let data = host_dwords(word, w, h);
                body.extend([y_x(y, x), y_x(h, w), data]);
                body.extend((0..data).map(|_| rng.u32(..)));
            }
        }
        op::POLYLINE => {
            for _ in 0..=repeat {
                let (x, y, ..) = rect(rng, to);
                body.push(y_x(y, x));
            }
        }
        op::POLYSCANLINES => {
            body.push(repeat);
            for _ in 0..repeat {
                let (_, y, _, h) = rect(rng, to);
                body.extend([2, y_x(h, y)]);
                for _ in 0..2 {
                    let (x, _, w, _) = rect(rng, to);
                    body.push(y_x(x + w - 1, x));
                }
            }
        }
        _ => {
            if opcode == op::TRANS_BITBLT {
                body.extend([0x0100_0004, rng.u32(..), rng.u32(..)]);
            }
            let repeat = if opcode == op::BITBLT_MULTI {
                repeat
            } else {
                1
            };
            for _ in 0..repeat {
                let (x, y, w, h) = rect(rng, common);
                body.extend([y_x(x, y), y_x(x, y), y_x(w, h)]);
            }
        }
    }
    if opcode != op::POLYLINE {
        stream.write(mmio::DP_CNTL, 3);
    }
    stream.packet(opcode, &body);
    if gui::SRC_PITCH_OFF.any(word) {
        stream.marker(from.entry);
    }
    stream.marker(to.entry);
    // Packets that go on with the settings of the last one.
    let (x, y, w, h) = rect(rng, to);
    match opcode {
        op::HOSTDATA_BLT if rng.bool() => {
            let (w, h) = (w.min(12), h.min(12));
            let mut body = vec![y_x(y, x), y_x(h, w)];
            body.resize(2 + host_dwords(word, w, h) as usize, rng.u32(..));
            stream.packet(op::NEXTCHAR, &body);
        }
        op::PAINT_MULTI if rng.bool() => {
            stream.packet(op::PLY_NEXTSCAN, &[y_x(h, y), y_x(x + w - 1, x)]);
        }
        _ => {}
    }
}

/// A random submission that is legal more often than not.
pub fn case(rng: &mut Rng) -> Case {
    let sizes: Vec<u64> = (0..rng.usize(1..4))
        .map(|_| 4096 * rng.u64(1..32))
        .collect();
    let mut objects = objects(&sizes);
    for object in &mut objects {
        object.tiling = if rng.u32(..4) == 0 { rng.u32(..4) } else { 0 };
    }
    let mut stream = Stream::new();
    for _ in 0..rng.u32(1..4) {
        match rng.u32(..8) {
            0 => {
                stream.packet(op::SET_SCISSORS, &[0, 0x1fff_1fff]);
            }
            1 => {
                stream.words(&[pm4::FILLER]).words(&super::FLUSH);
            }
            2 => host_registers(rng, &objects, &mut stream),
            3 | 4 => packet(rng, &objects, &mut stream),
            _ => registers(rng, &objects, &mut stream),
        }
    }
    Case {
        words: stream.words,
        objects,
        options: Options {
            keep_tiling: rng.u32(..4) != 0,
            ..Options::default()
        },
    }
}

/// Values that mean something in many places.
const INTERESTING: [u32; 20] = [
    0,
    1,
    4,
    8,
    0xffff,
    0x1fff,
    0x2000,
    0x3fff,
    0x8000,
    0x1fff_1fff,
    0x2000_2000,
    0x8000_8000,
    0xffff_ffff,
    0x7fff_ffff,
    0xc000_1000,
    0x8000_0000,
    0x0001_0001,
    0xc001_1e00,
    1 << 22,
    0xffff_fffc,
];

/// Spoils a stream in one place.
pub fn mutate(rng: &mut Rng, words: &mut Vec<u32>) {
    if words.is_empty() {
        words.push(rng.u32(..));
        return;
    }
    let at = rng.usize(..words.len());
    match rng.u32(..12) {
        0 | 1 => words[at] ^= 1 << rng.u32(..32),
        2 => words[at] = rng.u32(..),
        3 => words[at] = INTERESTING[rng.usize(..INTERESTING.len())],
        // Nudge a 16-bit half, which is how most geometry is packed.
        4 => words[at] = words[at].wrapping_add(1),
        5 => words[at] = words[at].wrapping_sub(1),
        6 => words[at] = words[at].wrapping_add(0x1_0000),
        7 => words[at] = words[at].wrapping_sub(0x1_0000),
        8 => {
            words.remove(at);
        }
        9 => {
            let word = words[rng.usize(..words.len())];
            words.insert(at, word);
        }
        10 => {
            let other = rng.usize(..words.len());
            words.swap(at, other);
        }
        // Repeat or drop a run, which duplicates and loses packets.
        _ => {
            let end = (at + rng.usize(1..12)).min(words.len());
            if rng.bool() {
                let run = words[at..end].to_vec();
                let to = rng.usize(..=words.len());
                words.splice(to..to, run);
            } else {
                words.drain(at..end);
            }
        }
    }
}
