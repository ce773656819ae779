// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Blits: mostly legal ones.

use chrome9::portable::regs::mmio::{self, gecmd, keycontrol};
use fastrand::Rng;

use crate::scene::{extent, pick, rarely, GENEROUS};
use crate::support::{base, point, set, Blit, Pair, Stream, COPY, FILL, MONO, UPLOAD};

/// What blits use of an object: enough for any mistake, and little to draw.
const MOST: u32 = 16 << 10;

/// Return the command of a blit, some of them odd.
fn command(rng: &mut Rng) -> u32 {
    let command = match rng.u32(..8) {
        0..=2 => FILL,
        3..=5 => COPY,
        6 => UPLOAD,
        _ => mono(rng),
    };
    let command = match rng.u32(..24) {
        0 => gecmd::ROP.put(command, rng.u32(..)),
        1 => {
            gecmd::ROP.put(command, pick(rng, &[0, 0xff, 0x55, 0xaa]))
                & !gecmd::SOURCE_SYSTEM.mask()
        }
        2 => gecmd::ROP.put(command, 0x5a) | gecmd::FIXED_COLOR_PATTERN.mask(),
        3 => gecmd::ROP.put(command, 0xca) | gecmd::FIXED_COLOR_PATTERN.mask(),
        4 => command ^ (1 << rng.u32(..32)),
        _ => command,
    };
    let host = gecmd::SOURCE_SYSTEM.any(command);
    if host && !rarely(rng, 32) {
        return command;
    }
    command | gecmd::DEC_X.of(rng.u32(..2)) | gecmd::DEC_Y.of(rng.u32(..2))
}

fn mono(rng: &mut Rng) -> u32 {
    let kind = match rng.u32(..4) {
        0 => gecmd::MONO_PACK.mask(),
        align => gecmd::MONO_ALIGN.of(align - 1),
    };
    let transparent = gecmd::MONO_SOURCE_TRANSPARENT.of(rng.u32(..2));
    let command = gecmd::COMMAND.put(MONO, rng.u32(1..=2));
    command | kind | transparent
}

/// Return a pitch for rows of so many bytes: often just enough, sometimes less.
fn pitch(rng: &mut Rng, row: u32) -> u32 {
    let least = row.next_multiple_of(8);
    match rng.u32(..8) {
        0 => least,
        1 => 8 * rng.u32(1..=row.div_ceil(8)),
        _ => least + 8 * extent(rng, 64),
    }
    .min(0x3ff8)
}

/// Return an object, and an offset in it.
fn target(rng: &mut Rng, objects: u32) -> (u32, u32) {
    let offset = match rng.u32(..4) {
        0 | 1 => 0,
        2 => 8 * rng.u32(..64),
        _ => 8 * rng.u32(..MOST / 8),
    };
    (rng.u32(..objects), offset)
}

/// Return the corner that a command names of a rectangle at `left`, `top`.
fn corner(command: u32, (left, top): (u32, u32), (width, height): (u32, u32)) -> (u32, u32) {
    let x = if gecmd::DEC_X.any(command) {
        width - 1
    } else {
        0
    };
    let y = if gecmd::DEC_Y.any(command) {
        height - 1
    } else {
        0
    };
    (left + x, top + y)
}

/// Return a blit that lies in its objects by far.
fn blit(rng: &mut Rng, objects: u32) -> Blit {
    let mut command = command(rng);
    let bytes = pick(rng, &[1, 2, 4]);
    let host = gecmd::SOURCE_SYSTEM.any(command);
    let most = if host { 24 } else { 200 };
    let size = (extent(rng, most), extent(rng, most));
    let row = size.0 * bytes;
    let to_pitch = pitch(rng, row);
    let rows = (MOST / to_pitch.max(8)).clamp(1, 64);
    let place = |rng: &mut Rng| (rng.u32(..64), rng.u32(..rows));
    let to = place(rng);
    let (destination, mut source) = (target(rng, objects), target(rng, objects));
    let (mut from, mut from_pitch) = (place(rng), pitch(rng, row));
    if rarely(rng, 3) {
        // Within one picture, or of two in one object.
        source = destination;
        from_pitch = to_pitch;
        if rarely(rng, 4) {
            source.1 = (source.1 + 8 * rng.u32(..32)).saturating_sub(128);
        }
        // Where the destination is.
        if rng.bool() {
            let near = |rng: &mut Rng, at: u32| (at + rng.u32(..8)).saturating_sub(4);
            from = (near(rng, to.0), near(rng, to.1));
        }
        if !rarely(rng, 4) && !host {
            command = gecmd::DEC_X.put(command, (to.0 > from.0).into());
            command = gecmd::DEC_Y.put(command, (to.1 > from.1).into());
        }
    }
    let key = match rng.u32(..24) {
        0 => keycontrol::SOURCE_KEY.of(1),
        1 => keycontrol::DESTINATION_KEY.of(1),
        2 => rng.u32(..8) << 13,
        3 => keycontrol::BYTE_MASK.of(rng.u32(..16)),
        _ => 0,
    };
    let from = if host {
        (0, 0)
    } else {
        corner(command, from, size)
    };
    Blit {
        command,
        bytes,
        size,
        to_pitch,
        from_pitch,
        to: corner(command, to, size),
        from,
        destination,
        source,
        key,
    }
}

/// Return the dwords of data that a blit takes of the CPU.
fn data(blit: &Blit) -> u32 {
    let (width, height) = blit.size;
    let command = blit.command;
    let bits = if !gecmd::MONO_SOURCE.any(command) {
        (width * blit.bytes * 8).next_multiple_of(32)
    } else if gecmd::MONO_PACK.any(command) {
        width
    } else {
        width.next_multiple_of(32 >> gecmd::MONO_ALIGN.get(command).min(2))
    };
    (bits * height).div_ceil(32)
}

/// Append data of the CPU in one part or in several.
fn upload(rng: &mut Rng, stream: &mut Stream, mut left: u32) {
    while left != 0 {
        let part = if rarely(rng, 4) {
            rng.u32(1..=left)
        } else {
            left
        };
        let words: Vec<u32> = (0..part)
            .map(|_| match rng.u32(..4) {
                // What looks like a header.
                0 => 0xfe00_0000 | (rng.u32(..8) << 16) | pick(rng, &[0, 0x420, 0x43c]),
                1 => 0xfe82_0420,
                _ => rng.u32(..),
            })
            // What a case takes for a relocation.
            .map(|word| if word >> 16 == 0xf1c5 { 0 } else { word })
            .collect();
        stream.host(4 * rng.u32(..4), &words);
        left -= part;
    }
}

/// Append blits.
pub fn add(rng: &mut Rng, stream: &mut Stream, objects: u32) {
    let blit = blit(rng, objects);
    let mut pairs = Vec::new();
    if rarely(rng, 4) || gecmd::CLIP_ENABLE.any(blit.command) {
        let corner = |rng: &mut Rng| point(rng.u32(..256), rng.u32(..64));
        pairs.push(set(mmio::CLIPTL, corner(rng)));
        pairs.push(set(mmio::CLIPBR, corner(rng)));
    }
    let mut command = blit.pairs();
    pairs.append(&mut command);
    let Some(last) = pairs.pop() else {
        return;
    };
    for pair in &mut pairs {
        if matches!(
            pair.register,
            mmio::FGCOLOR | mmio::BGCOLOR | mmio::MONOPATFGC
        ) {
            pair.value = rng.u32(..) >> rng.u32(..32);
        }
    }
    if rarely(rng, 2) {
        rng.shuffle(&mut pairs);
    }
    // In one header, or several.
    if rarely(rng, 4) && pairs.len() > 1 {
        let rest = pairs.split_off(rng.usize(1..pairs.len()));
        stream.pairs(&pairs);
        pairs = rest;
    }
    let clip = gecmd::CLIP_ENABLE.of(u32::from(rarely(rng, 6)));
    pairs.push(Pair {
        value: last.value | clip,
        ..last
    });
    if rarely(rng, 4) {
        again(rng, &mut pairs, &blit, objects);
    }
    stream.pairs(&pairs);
    if gecmd::SOURCE_SYSTEM.any(blit.command) {
        upload(rng, stream, data(&blit));
    }
}

/// Append commands after only some of their state has been said again. The last command stays what it is.
fn again(rng: &mut Rng, pairs: &mut Vec<Pair>, blit: &Blit, objects: u32) {
    let Some(last) = pairs.last().copied() else {
        return;
    };
    if gecmd::SOURCE_SYSTEM.any(blit.command) {
        return;
    }
    for _ in 0..rng.u32(1..4) {
        let (object, offset) = target(rng, objects);
        pairs.push(match rng.u32(..6) {
            0 => set(mmio::DSTPOS, point(rng.u32(..32), rng.u32(..16))),
            1 => set(mmio::SRCPOS, point(rng.u32(..32), rng.u32(..16))),
            2 => set(mmio::DIMENSION, point(rng.u32(..32), rng.u32(..16))),
            3 => base(mmio::DSTBASE, object, offset),
            4 => base(mmio::SRCBASE, object, offset),
            _ => set(mmio::GEMODE, pick(rng, &[0, 0x100, 0x300])),
        });
        pairs.push(last);
    }
}

/// A blit needs a hundredth of what objects have.
const _: () = assert!((MOST as u64) * 16 < GENEROUS);
