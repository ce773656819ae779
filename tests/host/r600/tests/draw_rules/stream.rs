// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams that are built from parts. A part is a write to one register, or a packet, with its markers. Registers and
//! packets are given by number.

use crate::support::{run, Checked, RV770};
use r600::portable::checker::{
    check_gfx,
    reason::{Reason, Refusal},
    Chip,
};

/// The objects of [`scene`], by number.
pub mod object {
    pub const COLOR: u32 = 0;
    pub const DEPTH: u32 = 1;
    pub const HTILE: u32 = 2;
    pub const PROGRAMS: u32 = 3;
    pub const CONSTANTS: u32 = 4;
    pub const VERTICES: u32 = 5;
    pub const INDICES: u32 = 6;
    /// For what a test adds.
    pub const MORE: u32 = 7;
}

/// Bytes of the colour target and of the depth target of [`scene`]: 64 by 64 pixels of 4 bytes.
pub const TARGET: u64 = 64 * 64 * 4;
pub const PAGE: u64 = 4096;
/// The sizes of the objects of [`scene`].
pub const SIZES: [u64; 8] = [TARGET, TARGET, 16384, PAGE, PAGE, PAGE, PAGE, 1 << 20];

/// A draw with counted indices, an indexed draw.
pub const DRAW: u32 = 0x2d;
pub const DRAW_INDEX: u32 = 0x2b;

/// A stream in parts.
#[derive(Clone, Debug)]
pub struct Stream {
    parts: Vec<(u32, Vec<u32>)>,
    pub sizes: Vec<u64>,
    pub chip: Chip,
}

impl Stream {
    pub fn new(chip: &Chip) -> Self {
        Self {
            parts: Vec::new(),
            sizes: SIZES.to_vec(),
            chip: *chip,
        }
    }

    /// Return the dwords of a packet with markers for these objects.
    pub fn packet(opcode: u32, body: &[u32], objects: &[u32]) -> Vec<u32> {
        let mut words = vec![(3 << 30) | ((body.len() as u32 - 1) << 16) | (opcode << 8)];
        words.extend(body);
        for object in objects {
            words.extend([0xc000_1000, object * 4]);
        }
        words
    }

    fn write(register: u32, values: &[u32], objects: &[u32]) -> Vec<u32> {
        let (opcode, base) = match register {
            0x28000.. => (0x69, 0x28000),
            _ => (0x68, 0x8000),
        };
        let mut body = vec![(register - base) / 4];
        body.extend(values);
        Self::packet(opcode, &body, objects)
    }

    /// Add a packet.
    pub fn op(mut self, opcode: u32, body: &[u32], objects: &[u32]) -> Self {
        self.parts
            .push((opcode, Self::packet(opcode, body, objects)));
        self
    }

    /// Add a filler.
    pub fn filler(mut self) -> Self {
        self.parts.push((0, vec![0x8000_0000]));
        self
    }

    /// Add a write to a register.
    pub fn set(mut self, register: u32, value: u32) -> Self {
        self.parts
            .push((register, Self::write(register, &[value], &[])));
        self
    }

    /// Add a write to a register that has an address in `object`.
    pub fn at(mut self, register: u32, value: u32, object: u32) -> Self {
        self.parts
            .push((register, Self::write(register, &[value], &[object])));
        self
    }

    /// Add a write of several values to registers that follow each other.
    pub fn all(mut self, register: u32, values: &[u32]) -> Self {
        for (i, value) in values.iter().enumerate() {
            self = self.set(register + 4 * i as u32, *value);
        }
        self
    }

    /// Return the stream without the last part of this number.
    pub fn without(&self, number: u32) -> Self {
        let mut stream = self.clone();
        stream.parts.remove(self.last(number));
        stream
    }

    /// Return the stream with another dword in the last part of this number. The header is dword 0.
    pub fn dword(&self, number: u32, at: usize, word: u32) -> Self {
        let mut stream = self.clone();
        stream.parts[self.last(number)].1[at] = word;
        stream
    }

    /// Return the stream with another value of a register.
    pub fn with(&self, register: u32, value: u32) -> Self {
        self.dword(register, 2, value)
    }

    /// Return the stream with other parts before its last part of this number.
    pub fn before(&self, number: u32, other: Self) -> Self {
        let mut stream = self.clone();
        let at = self.last(number);
        stream.parts.splice(at..at, other.parts);
        stream
    }

    /// Return the stream with an object of another size.
    pub fn sized(&self, object: u32, bytes: u64) -> Self {
        let mut stream = self.clone();
        stream.sizes[object as usize] = bytes;
        stream
    }

    fn last(&self, number: u32) -> usize {
        let mut parts = self.parts.iter();
        parts
            .rposition(|part| part.0 == number)
            .unwrap_or_else(|| panic!("no part {number:#x}"))
    }

    pub fn words(&self) -> Vec<u32> {
        self.parts.iter().flat_map(|part| part.1.clone()).collect()
    }

    pub fn run(&self) -> Result<Checked, Refusal> {
        run(check_gfx, &self.words(), &self.sizes, &self.chip)
    }

    #[track_caller]
    pub fn passes(&self) -> Checked {
        match self.run() {
            Ok(checked) => checked,
            Err(refusal) => panic!("{refusal:?} at {:x?}", self.part(&refusal)),
        }
    }

    /// Return the part that a refusal is about.
    fn part(&self, refusal: &Refusal) -> &(u32, Vec<u32>) {
        let mut end = 0;
        self.parts
            .iter()
            .find(|part| {
                end += part.1.len();
                end > refusal.position as usize
            })
            .expect("a position in the stream")
    }

    /// Check that the stream is refused for `reason`, at its last part of this number.
    #[track_caller]
    pub fn refused_at(&self, number: u32, reason: Reason) {
        let refusal = self.run().expect_err("refuses it");
        let part = self.part(&refusal);
        assert_eq!((refusal.reason, part.0), (reason, number), "{part:x?}");
    }

    /// Check that the draw is refused for `reason`.
    #[track_caller]
    pub fn refused(&self, reason: Reason) {
        self.refused_at(DRAW, reason);
    }

    /// Check that `bytes` bytes of an object are enough, and one less is refused for `reason`. Return what the stream
    /// does with the object: reads and writes.
    #[track_caller]
    pub fn needs(&self, object: u32, bytes: u64, reason: Reason) -> (bool, bool) {
        let checked = self.sized(object, bytes).passes();
        self.sized(object, bytes - 1).refused(reason);
        let access = checked.objects[object as usize].access;
        (access.reads, access.writes)
    }
}

/// Return `CB_COLOR_INFO` of a format with a tiling.
pub fn color_info(format: u32, mode: u32) -> u32 {
    (format << 2) | (mode << 8)
}

/// Return the size of a target: tiles of a line and of a slice.
pub fn size(pitch: u32, slice: u32) -> u32 {
    (pitch - 1) | ((slice - 1) << 10)
}

/// Return `CB_COLOR_VIEW` or `DB_DEPTH_VIEW`.
pub fn view(first: u32, last: u32) -> u32 {
    first | (last << 13)
}

/// 2D tiling.
pub const TILED: u32 = 4;
/// Four components of eight bits.
pub const RGBA: u32 = 0x1a;

/// Return a draw with all state that a draw needs: a colour target, a depth target with HTILE, programs, a constant
/// buffer, a vertex buffer.
pub fn scene(chip: &Chip) -> Stream {
    let mut stream = Stream::new(chip)
        // Left by the beginning of every stream: constant buffers and rings of no size.
        .all(0x28140, &[0; 16])
        .all(0x28180, &[0; 16])
        .all(0x281c0, &[0; 16])
        .all(0x288a8, &[0; 6])
        .set(0x28b20, 0)
        .set(0x28ab0, 0)
        .set(0x28a40, 0)
        .set(0x28200, 0)
        .set(0x28030, 0)
        .set(0x28034, (8192 << 16) | 8192)
        // One colour target.
        .set(0x280a0, color_info(RGBA, TILED));
    for target in 1..8 {
        stream = stream.set(0x280a0 + 4 * target, 0);
    }
    stream = stream
        .at(0x28040, 0, object::COLOR)
        .at(0x280e0, 0, object::COLOR)
        .at(0x280c0, 0, object::COLOR)
        .set(0x28060, size(8, 64))
        .set(0x28080, 0)
        .set(0x28100, 0)
        .set(0x28238, 0xf)
        .set(0x28808, 0xcc_0000)
        .set(0x28c04, 0)
        // Depth of 24 bits, stencil, HTILE.
        .set(0x28000, size(8, 64))
        .set(0x28004, 0)
        .at(0x2800c, 0, object::DEPTH)
        .set(0x28010, 3 | (TILED << 15) | (1 << 25))
        .set(0x28d24, 0xb)
        .at(0x28014, 0, object::HTILE)
        .set(0x28204, 1 << 31)
        .set(0x28208, (64 << 16) | 64);
    for program in [0x28840, 0x28858, 0x28894] {
        stream = stream.at(program, 1, object::PROGRAMS);
    }
    stream
        .set(0x28180, 2)
        .at(0x28980, 1, object::CONSTANTS)
        .op(
            0x6d,
            &[320 * 7, 0x10, 0xfef, 16 << 8, 0, 0, 0, 3 << 30],
            &[object::VERTICES],
        )
        .set(0x8958, 4)
        .op(0x2f, &[1], &[])
        .op(DRAW, &[3, 2], &[])
}

/// Return [`scene`] on RV770.
pub fn rv770() -> Stream {
    scene(&RV770)
}
