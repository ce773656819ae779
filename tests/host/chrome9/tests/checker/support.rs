// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams of clients, and what the checker says to them.

use chrome9::portable::checker::{check, most_fixups, Fixup, Object, Refusal};
use chrome9::portable::emit::PAD;
use chrome9::portable::place::Place;
use chrome9::portable::regs::{
    header,
    mmio::{self, dimension, dstpos, gecmd, gemode, pitch},
};

/// Dwords of a unit.
pub const UNIT: usize = 4;

pub const FILL: u32 =
    gecmd::ROP.of(0xf0) | gecmd::FIXED_COLOR_PATTERN.mask() | gecmd::COMMAND.of(1);
pub const COPY: u32 = gecmd::ROP.of(0xcc) | gecmd::COMMAND.of(1);
pub const UPLOAD: u32 = COPY | gecmd::SOURCE_SYSTEM.mask();
pub const MONO: u32 = gecmd::ROP.of(0xcc)
    | gecmd::COMMAND.of(2)
    | gecmd::SOURCE_SYSTEM.mask()
    | gecmd::MONO_SOURCE.mask();

/// Return a header.
pub const fn head(code: u32, address: u32) -> u32 {
    0xfe00_0000 | (code << 16) | address
}

/// Return a point or a size less one, as registers have it.
pub fn point(x: u32, y: u32) -> u32 {
    dstpos::X.of(x) | dstpos::Y.of(y)
}

/// A pair: a register, its value, and the object and offset that its address means.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub register: u32,
    pub value: u32,
    pub target: Option<(u32, u32)>,
}

/// Return a pair without an address.
pub fn set(register: u32, value: u32) -> Pair {
    Pair {
        register,
        value,
        target: None,
    }
}

/// Return a pair with an address.
pub fn base(register: u32, object: u32, offset: u32) -> Pair {
    Pair {
        register,
        value: 0,
        target: Some((object, offset)),
    }
}

/// A stream with its relocations.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub words: Vec<u32>,
    pub relocations: Vec<[u32; 4]>,
    /// Registers, and where their values stand.
    values: Vec<(u32, usize)>,
}

impl Stream {
    pub fn new() -> Self {
        Self::default()
    }

    /// Append dwords.
    pub fn words(&mut self, words: &[u32]) -> &mut Self {
        self.words.extend(words);
        self
    }

    /// Append padding up to a unit.
    pub fn pad(&mut self) -> &mut Self {
        self.words
            .resize(self.words.len().next_multiple_of(UNIT), PAD);
        self
    }

    /// Append pairs for the 2D engine.
    pub fn pairs(&mut self, pairs: &[Pair]) -> &mut Self {
        self.headed(header::REGISTERS_2D, pairs)
    }

    /// Append pairs for HQV.
    pub fn video(&mut self, pairs: &[Pair]) -> &mut Self {
        self.headed(header::VIDEO_REGISTERS, pairs)
    }

    /// Append pairs behind a header.
    fn headed(&mut self, code: u32, pairs: &[Pair]) -> &mut Self {
        self.words(&[head(code, 0), pairs.len() as u32, 0, PAD]);
        for pair in pairs {
            self.words(&[pair.register, pair.value]);
            self.values.push((pair.register, self.words.len() - 1));
            if let Some((object, offset)) = pair.target {
                let dword = self.words.len() as u32 - 1;
                self.relocations.push([dword, object, offset, 0]);
            }
        }
        self.pad()
    }

    /// Append the header of parameters of the 3D window.
    pub fn open(&mut self, setting: u32) -> &mut Self {
        let space = mmio::SPACE_3D.at(0).expect("there is one");
        self.words(&[
            head(header::PARAMETERS, space),
            mmio::SETTING_3D,
            setting,
            PAD,
        ])
    }

    /// Append the header of so many dwords for the 3D window.
    pub fn counted(&mut self, setting: u32, dwords: usize) -> &mut Self {
        let first = head(header::VERTEX_DATA, mmio::SETTING_3D);
        self.words(&[first, dwords as u32, setting, PAD])
    }

    /// Note where the next dword stands.
    pub fn note(&mut self, key: u32) -> &mut Self {
        self.values.push((key, self.words.len()));
        self
    }

    /// Append data of the CPU behind a header.
    pub fn host(&mut self, address: u32, data: &[u32]) -> &mut Self {
        self.words(&[
            head(header::HOST_DATA_2D, address),
            data.len() as u32,
            0,
            PAD,
        ]);
        self.words(data).pad()
    }

    /// Return where the value of a register stands that was written last.
    pub fn value_of(&self, register: u32) -> usize {
        let last = self.values.iter().rfind(|(other, _)| *other == register);
        last.expect("it was written").1
    }
}

/// A blit: what a client thinks of, and not how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Blit {
    pub command: u32,
    /// Bytes of a pixel.
    pub bytes: u32,
    pub size: (u32, u32),
    /// Pitches in bytes.
    pub to_pitch: u32,
    pub from_pitch: u32,
    pub to: (u32, u32),
    pub from: (u32, u32),
    /// Objects and offsets.
    pub destination: (u32, u32),
    pub source: (u32, u32),
    pub key: u32,
}

/// Fill 16 x 8 pixels of a byte, with a pitch of 64 bytes, at 4,2 of object 0.
pub const BLIT: Blit = Blit {
    command: FILL,
    bytes: 1,
    size: (16, 8),
    to_pitch: 64,
    from_pitch: 64,
    to: (4, 2),
    from: (0, 0),
    destination: (0, 0),
    source: (1, 0),
    key: 0,
};

/// Return the code of a depth.
pub fn depth(bytes: u32) -> u32 {
    gemode::DEPTH.of(match bytes {
        1 => gemode::depth::BPP_8,
        2 => gemode::depth::BPP_16,
        _ => gemode::depth::BPP_32,
    })
}

impl Blit {
    /// Return whether the command reads the frame buffer.
    pub fn copies(&self) -> bool {
        let rop = gecmd::ROP.get(self.command);
        (rop ^ (rop >> 2)) & 0x33 != 0 && !gecmd::SOURCE_SYSTEM.any(self.command)
    }

    /// Return the pairs of registers, the command last.
    pub fn pairs(&self) -> Vec<Pair> {
        let mut pairs = vec![
            set(mmio::GEMODE, depth(self.bytes)),
            set(
                mmio::PITCH,
                pitch::DESTINATION.of(self.to_pitch / 8) | pitch::SOURCE.of(self.from_pitch / 8),
            ),
            set(
                mmio::DIMENSION,
                dimension::WIDTH.of(self.size.0 - 1) | dimension::HEIGHT.of(self.size.1 - 1),
            ),
            set(mmio::KEYCONTROL, self.key),
            set(mmio::FGCOLOR, 0x1234_5678),
            set(mmio::BGCOLOR, 0x9abc_def0),
            set(mmio::MONOPATFGC, 0xfe03_043c),
            set(mmio::DSTPOS, point(self.to.0, self.to.1)),
            set(mmio::SRCPOS, point(self.from.0, self.from.1)),
            base(mmio::DSTBASE, self.destination.0, self.destination.1),
        ];
        if self.copies() {
            pairs.push(base(mmio::SRCBASE, self.source.0, self.source.1));
        }
        pairs.push(set(mmio::GECMD, self.command));
        pairs
    }

    pub fn stream(&self) -> Stream {
        let mut stream = Stream::new();
        stream.pairs(&self.pairs());
        stream
    }
}

/// What the checker admits.
#[derive(Clone, Debug)]
pub struct Checked {
    pub objects: Vec<Object>,
    pub fixups: Vec<Fixup>,
}

impl Checked {
    /// Return the stream with addresses, if all fit.
    pub fn placed(&self, words: &[u32], places: &[Place]) -> Option<Vec<u32>> {
        let mut words = words.to_vec();
        for fixup in &self.fixups {
            let word = &mut words[fixup.dword()];
            *word = fixup.apply(*word, places[fixup.object()])?;
        }
        Some(words)
    }
}

/// Have a stream checked.
pub fn run(
    words: &[u32],
    relocations: &[[u32; 4]],
    objects: &[Object],
) -> Result<Checked, Refusal> {
    let mut objects = objects.to_vec();
    let mut fixups = vec![Fixup::default(); most_fixups(relocations.len())];
    let count = check(words, &relocations.concat(), &mut objects, &mut fixups)?;
    fixups.truncate(count);
    Ok(Checked { objects, fixups })
}
