// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets that set resources, written by numbers.

/// A texture, as its seven dwords say it. Sizes are as they are, not less one.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    pub dimensions: u32,
    pub mode: u32,
    pub depth_order: bool,
    /// Texels from line to line.
    pub pitch: u32,
    pub width: u32,
    pub height: u32,
    pub depth: u32,
    pub format: u32,
    /// In units of 256 bytes.
    pub base: u32,
    pub mips: u32,
    pub base_level: u32,
    pub last_level: u32,
    pub base_array: u32,
    pub last_array: u32,
}

/// A picture of 64 by 64 texels of 4 bytes without tiles.
pub const PLAIN: Texture = Texture {
    dimensions: 1,
    mode: 1,
    depth_order: false,
    pitch: 64,
    width: 64,
    height: 64,
    depth: 1,
    format: 26,
    base: 0,
    mips: 0,
    base_level: 0,
    last_level: 0,
    base_array: 0,
    last_array: 0,
};

impl Texture {
    pub fn words(&self) -> [u32; 7] {
        [
            self.dimensions
                | (self.mode << 3)
                | (u32::from(self.depth_order) << 7)
                | ((self.pitch / 8 - 1) << 8)
                | ((self.width - 1) << 19),
            (self.height - 1) | ((self.depth - 1) << 13) | (self.format << 26),
            self.base,
            self.mips,
            // As Mesa sets them: requests, the order of the components.
            0x0688_4000 | (self.base_level << 28),
            self.last_level | (self.base_array << 4) | (self.last_array << 17),
            0x8000_0010,
        ]
    }
}

/// Return the dwords of a buffer.
pub fn buffer(offset: u64, size: u32, stride: u32) -> [u32; 7] {
    let high = (offset >> 32) as u32;
    [
        offset as u32,
        size,
        high | (stride << 8),
        0,
        0,
        0,
        0xc000_0000,
    ]
}

/// Return a packet of type 3 with markers for `entries` behind it.
pub fn packet(opcode: u32, body: &[u32], entries: &[u32]) -> Vec<u32> {
    let mut words = vec![0xc000_0000 | ((body.len() as u32 - 1) << 16) | (opcode << 8)];
    words.extend(body);
    for entry in entries {
        words.extend([0xc000_1000, entry * 4]);
    }
    words
}

/// Return a packet that sets the resources from slot `slot` on.
pub fn set_resource(slot: u32, resources: &[[u32; 7]], entries: &[u32]) -> Vec<u32> {
    let mut body = vec![slot * 7];
    body.extend(resources.iter().flatten());
    packet(0x6d, &body, entries)
}
