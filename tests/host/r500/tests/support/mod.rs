// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the tests of the checker share: a builder of streams, and calculators of the bytes that a 2D stream or 3D
//! draws touch which have no code in common with the checker.

#![allow(dead_code)]

pub mod footprint;
pub mod readings;

use r500::portable::{
    checker::{check, max_fixups, Fixup, Object, Options, Refusal},
    pm4,
    regs::{mmio, pm4 as packets, pm4::op},
};

pub use packets::{gui_control as gui, pitch_offset};

/// Both directions ascending.
pub const FORWARD: u32 = 3;
/// A flush and a wait as every client ends with.
pub const FLUSH: [u32; 4] = [
    pm4::write(mmio::DSTCACHE_CTLSTAT, 1),
    0xf,
    pm4::write(mmio::WAIT_UNTIL, 1),
    (1 << 16) | (1 << 9),
];

/// Return the word for a surface of `pitch` bytes a line, `offset` bytes into its object.
pub fn surface(pitch: u32, offset: u32) -> u32 {
    assert!(pitch % 64 == 0 && offset % 1024 == 0);
    pitch_offset::PITCH.of(pitch / 64) | pitch_offset::OFFSET.of(offset / 1024)
}

/// Return y in the upper half and x in the lower one, or height and width.
pub fn y_x(y: i32, x: i32) -> u32 {
    ((y as u32) << 16) | (x as u32 & 0xffff)
}

/// Return a GUI control word for a fill with a solid colour.
pub fn fill_control() -> u32 {
    gui::DST_PITCH_OFF.of(1)
        | gui::BRUSH_TYPE.of(gui::brush_type::SOLID_COLOR)
        | gui::DST_TYPE.of(gui::dst_type::ARGB8888)
        | gui::SRC_TYPE.of(gui::src_type::COLOR)
        | gui::WIN31_ROP.of(0xf0)
        | gui::SRC_LOAD.of(gui::src_load::MEMORY)
        | gui::GMC_CLR_CMP_FCN_DIS.of(1)
        | gui::GMC_WR_MSK_DIS.of(1)
}

/// Return a GUI control word for a copy.
pub fn copy_control() -> u32 {
    let word = gui::WIN31_ROP.put(fill_control(), 0xcc) | gui::SRC_PITCH_OFF.of(1);
    gui::BRUSH_TYPE.put(word, gui::brush_type::NONE)
}

/// Return a GUI control word for monochrome data from the host.
pub fn host_control() -> u32 {
    let word = gui::SRC_LOAD.put(fill_control(), gui::src_load::HOST_DATA);
    let word = gui::SRC_TYPE.put(word, gui::src_type::MONO_OPAQUE);
    let word = gui::BRUSH_TYPE.put(word, gui::brush_type::NONE);
    gui::WIN31_ROP.put(word, 0xcc)
}

/// Builds a stream.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub words: Vec<u32>,
}

impl Stream {
    pub fn new() -> Self {
        Self::default()
    }

    /// Return the index of the next dword.
    pub fn here(&self) -> usize {
        self.words.len()
    }

    pub fn words(&mut self, words: &[u32]) -> &mut Self {
        self.words.extend_from_slice(words);
        self
    }

    /// Append a write of one register.
    pub fn write(&mut self, register: u32, value: u32) -> &mut Self {
        self.words(&[pm4::write(register, 1), value])
    }

    /// Append a write of consecutive registers.
    pub fn writes(&mut self, register: u32, values: &[u32]) -> &mut Self {
        self.words(&[pm4::write(register, values.len() as u32)])
            .words(values)
    }

    pub fn packet(&mut self, opcode: u8, body: &[u32]) -> &mut Self {
        self.words(&[pm4::operation(opcode, body.len() as u32)])
            .words(body)
    }

    /// Return the relocation marker for an entry.
    pub fn marker(&mut self, entry: u32) -> &mut Self {
        self.packet(op::NOP, &[entry * 4])
    }

    /// Append direction, control and destination for fills.
    pub fn fill_setup(&mut self, pitch: u32, offset: u32, entry: u32) -> &mut Self {
        self.write(mmio::DP_CNTL, FORWARD)
            .write(mmio::DP_GUI_MASTER_CNTL, fill_control())
            .write(mmio::DP_BRUSH_FRGD_CLR, 0x1234_5678)
            .write(mmio::DP_WRITE_MASK, u32::MAX)
            .write(mmio::DST_PITCH_OFFSET, surface(pitch, offset))
            .marker(entry)
    }

    pub fn rectangle(&mut self, x: i32, y: i32, width: i32, height: i32) -> &mut Self {
        self.write(mmio::DST_Y_X, y_x(y, x))
            .write(mmio::DST_HEIGHT_WIDTH, y_x(height, width))
    }

    /// Append direction, control, destination (entry 0) and source (entry 1) for copies.
    pub fn copy_setup(&mut self, pitch: u32) -> &mut Self {
        self.write(mmio::DP_CNTL, FORWARD)
            .write(mmio::DP_GUI_MASTER_CNTL, copy_control())
            .write(mmio::DST_PITCH_OFFSET, surface(pitch, 0))
            .marker(0)
            .write(mmio::SRC_PITCH_OFFSET, surface(pitch, 0))
            .marker(1)
    }

    pub fn copy(&mut self, from: (i32, i32), to: (i32, i32), size: (i32, i32)) -> &mut Self {
        self.write(mmio::SRC_Y_X, y_x(from.1, from.0))
            .write(mmio::DST_Y_X, y_x(to.1, to.0))
            .write(mmio::DST_HEIGHT_WIDTH, y_x(size.1, size.0))
    }
}

/// A stream that was let through.
#[derive(Clone, Debug)]
pub struct Checked {
    pub words: Vec<u32>,
    pub fixups: Vec<Fixup>,
    pub objects: Vec<Object>,
}

impl Checked {
    /// Return the words with objects placed at `addresses`.
    pub fn placed(&self, addresses: &[u64]) -> Vec<u32> {
        let mut words = self.words.clone();
        for fixup in &self.fixups {
            let word = &mut words[fixup.dword as usize];
            *word = fixup
                .apply(*word, addresses[fixup.object as usize])
                .expect("addresses are aligned and low");
        }
        words
    }
}

/// Run the checker with buffers of just the size that it asks for.
pub fn run(words: &[u32], objects: &[Object], options: Options) -> Result<Checked, Refusal> {
    let mut words = words.to_vec();
    let mut fixups = vec![Fixup::default(); max_fixups(words.len())];
    let mut objects = objects.to_vec();
    let count = check(&mut words, &mut objects, options, &mut fixups)?;
    fixups.truncate(count);
    Ok(Checked {
        words,
        fixups,
        objects,
    })
}

/// Return the objects of the given sizes, without tiling.
pub fn objects(sizes: &[u64]) -> Vec<Object> {
    sizes
        .iter()
        .map(|&size| Object {
            size,
            ..Object::default()
        })
        .collect()
}

/// Return 500 dwords with two relocations, as an X server with 2D acceleration sends them for a window full of text and
/// scrolling. The form of each operation is that of xf86-video-ati's EXA code on R5xx.
pub fn recorded_mix() -> Vec<u32> {
    let mut stream = Stream::new();
    stream
        .write(mmio::DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff)
        .fill_setup(4096, 0, 0);
    for i in 0..50 {
        stream.write(mmio::DP_BRUSH_FRGD_CLR, 0x0010_1010 * (i as u32 & 7));
        stream.rectangle(8 * i, 16 * (i % 20), 8, 15);
    }
    stream.copy_setup(4096);
    while stream.here() + 6 + FLUSH.len() <= 500 {
        let line = stream.here() as i32 % 64;
        stream.copy((0, line + 16), (0, line), (640, 16));
    }
    stream.words(&FLUSH);
    while stream.here() < 500 {
        stream.words(&[pm4::FILLER]);
    }
    stream.words
}

/// Return the objects of [`recorded_mix`].
pub fn recorded_objects() -> Vec<Object> {
    objects(&[4096 * 480, 4096 * 480])
}
