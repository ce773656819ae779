// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where the elements of a tiled surface lie.
//!
//! A micro tile is 8 by 8 elements in an order that depends on their size. In a 1D tiled surface micro tiles follow each
//! other line by line. In a 2D tiled one a macro tile of banks by pipes micro tiles is spread over all of them: groups
//! of 256 bytes go to the pipe and the bank that bits of x and y choose. (Public knowledge: the address functions of
//! Mesa's classic radeon drivers, `radeon_span.c`; `radeon_surface.c` of its window system.)

use lapidary_registers::r600::mmio::gb_tiling_config;

use crate::chips::Variant;

/// Bytes of a group, the smallest piece that stays in one pipe.
const GROUP: u64 = 256;
/// Elements of a micro tile's edge.
const EDGE: u32 = 8;

/// How a surface is tiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Micro tiles one after the other.
    Tiles1d,
    /// Spread over pipes and banks.
    Tiles2d,
}

/// The memory that tiles are spread over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Binary logarithm of the number of pipes.
    pub pipes: u32,
    /// Binary logarithm of the number of banks, 2 or 3.
    pub banks: u32,
    /// One bit of the bank is chosen by one more bit of x, as on R7xx.
    pub r7xx: bool,
}

impl Memory {
    /// Return what GB_TILING_CONFIG says.
    pub fn of(config: u32, r7xx: bool) -> Memory {
        Memory {
            pipes: gb_tiling_config::PIPE_TILING.get(config).min(3),
            banks: 2 + gb_tiling_config::BANK_TILING.get(config).min(1),
            r7xx,
        }
    }

    fn pipe(self, x: u32, y: u32) -> u64 {
        let bit = |v: u32, n: u32| (v >> n) & 1;
        u64::from(match self.pipes {
            0 => 0,
            1 => bit(x, 3) ^ bit(y, 3),
            2 => (bit(x, 4) ^ bit(y, 3)) | ((bit(x, 3) ^ bit(y, 4)) << 1),
            _ => {
                (bit(x, 5) ^ bit(y, 3))
                    | ((bit(x, 4) ^ bit(x, 5) ^ bit(y, 4)) << 1)
                    | ((bit(x, 3) ^ bit(y, 5)) << 2)
            }
        })
    }

    fn bank(self, x: u32, y: u32) -> u64 {
        let x_bit = |n: u32| (x >> n) & 1;
        let y_bit = |n: u32| (y >> (n + self.pipes)) & 1;
        let more = |n: u32| if self.r7xx { x_bit(n) } else { 0 };
        u64::from(if self.banks == 2 {
            (x_bit(3) ^ y_bit(4)) | ((x_bit(4) ^ y_bit(3) ^ more(5)) << 1)
        } else {
            (x_bit(3) ^ y_bit(5))
                | ((x_bit(4) ^ y_bit(4) ^ y_bit(5)) << 1)
                | ((x_bit(5) ^ y_bit(3) ^ more(6)) << 2)
        })
    }
}

/// A tiled surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// First GPU address.
    pub base: u64,
    /// How it is tiled.
    pub mode: Mode,
    /// Binary logarithm of the bytes of an element, 0 to 4.
    pub log2_bytes: u32,
    /// Micro tiles of a line.
    pub pitch: u32,
    /// Micro tiles of a slice.
    pub slice: u32,
    /// The memory.
    pub memory: Memory,
}

impl Surface {
    /// Return the address of an element.
    pub fn address(&self, x: u32, y: u32, z: u32) -> u64 {
        let inside = u64::from(micro(self.log2_bytes, x, y)) << self.log2_bytes;
        let tile = u64::from(EDGE * EDGE) << self.log2_bytes;
        let slice = u64::from(z) * u64::from(self.slice) * tile;
        match self.mode {
            Mode::Tiles1d => {
                let index = u64::from(y / EDGE) * u64::from(self.pitch) + u64::from(x / EDGE);
                self.base + slice + index * tile + inside
            }
            Mode::Tiles2d => {
                let Memory { pipes, banks, .. } = self.memory;
                let spread = pipes + banks;
                let (width, height) = (EDGE << banks, EDGE << pipes);
                let row = u64::from((self.pitch * EDGE).div_ceil(width));
                let index = u64::from(y / height) * row + u64::from(x / width);
                let whole = slice + index * (tile << spread);
                let local = (whole >> spread) + inside;
                let (high, low) = (local / GROUP, local % GROUP);
                let place =
                    (((high << banks) | self.memory.bank(x, y)) << pipes) | self.memory.pipe(x, y);
                self.base + place * GROUP + low
            }
        }
    }
}

/// Return the number of an element in its micro tile (the order of colour surfaces).
fn micro(log2_bytes: u32, x: u32, y: u32) -> u32 {
    let bits = |order: [u32; 6]| order.iter().fold(0, |all, bit| (all << 1) | bit);
    let (x0, x1, x2) = (x & 1, (x >> 1) & 1, (x >> 2) & 1);
    let (y0, y1, y2) = (y & 1, (y >> 1) & 1, (y >> 2) & 1);
    bits(match log2_bytes {
        0 => [y2, y0, y1, x2, x1, x0],
        1 => [y2, y1, y0, x2, x1, x0],
        2 => [y2, y1, x2, y0, x1, x0],
        3 => [y2, y1, x2, x1, y0, x0],
        _ => [y2, y1, x2, x1, x0, y0],
    })
}

/// The tiled side of a copy of the DMA engine, which walks whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiled {
    surface: Surface,
    x: u32,
    y: u32,
    z: u32,
}

impl Tiled {
    /// Return what the second to fifth dword of a packet describe.
    ///
    /// # Errors
    /// One line that says what the engine cannot do.
    pub fn of(words: &[u32], config: u32, variant: &Variant) -> Result<Tiled, String> {
        use lapidary_registers::r600::dma::write::{tiled_info, tiled_place, tiled_slice};
        use lapidary_registers::r600::enums::array_mode;
        let mode = match tiled_info::ARRAY_MODE.get(words[2]) {
            array_mode::ARRAY_1D_TILED_THIN1 => Mode::Tiles1d,
            array_mode::ARRAY_2D_TILED_THIN1 => Mode::Tiles2d,
            other => return Err(format!("array mode {other}")),
        };
        let log2_bytes = tiled_info::LOG2_BPP.get(words[2]);
        if log2_bytes > 4 {
            return Err(format!("{} bytes an element", 1 << log2_bytes));
        }
        Ok(Tiled {
            surface: Surface {
                base: u64::from(words[1]) << 8,
                mode,
                log2_bytes,
                pitch: tiled_info::PITCH_TILE_MAX.get(words[2]) + 1,
                slice: tiled_slice::SLICE_TILE_MAX.get(words[3]) + 1,
                memory: Memory::of(config, variant.generation.is_r7xx),
            },
            x: tiled_place::X.get(words[4]),
            y: tiled_place::Y.get(words[4]),
            z: tiled_slice::Z.get(words[3]),
        })
    }

    /// Return where the dword of that number lies, counted along the lines.
    pub fn address(&self, dword: u32) -> u64 {
        let s = &self.surface;
        let bytes = u64::from(dword) * 4;
        let element = bytes >> s.log2_bytes;
        let width = u64::from(s.pitch * EDGE);
        let along = u64::from(self.x) + element;
        let (x, y) = ((along % width) as u32, self.y + (along / width) as u32);
        s.address(x, y, self.z) + (bytes & ((1 << s.log2_bytes) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn surface(mode: Mode, log2_bytes: u32, memory: Memory) -> Surface {
        Surface {
            base: 0,
            mode,
            log2_bytes,
            pitch: 16,
            slice: 16 * 16,
            memory,
        }
    }

    #[test]
    fn every_element_has_a_place_of_its_own() {
        for pipes in 0..4 {
            for (banks, r7xx) in [(2, false), (2, true), (3, false), (3, true)] {
                for log2_bytes in 0..5 {
                    for mode in [Mode::Tiles1d, Mode::Tiles2d] {
                        let memory = Memory { pipes, banks, r7xx };
                        let s = surface(mode, log2_bytes, memory);
                        let all: BTreeSet<u64> = (0..128)
                            .flat_map(|y| (0..128).map(move |x| (x, y)))
                            .map(|(x, y)| s.address(x, y, 0))
                            .collect();
                        assert_eq!(all.len(), 128 * 128, "{s:?}");
                        let last = all.last().unwrap() + (1 << log2_bytes);
                        assert_eq!(last, (128 * 128) << log2_bytes, "{s:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn micro_tiles_have_the_published_order() {
        let s = surface(
            Mode::Tiles1d,
            2,
            Memory {
                pipes: 0,
                banks: 2,
                r7xx: false,
            },
        );
        let at = |x, y| s.address(x, y, 0) / 4;
        assert_eq!(
            [at(1, 0), at(2, 0), at(0, 1), at(4, 0), at(0, 2), at(0, 4)],
            [1, 2, 4, 8, 16, 32]
        );
        assert_eq!(at(8, 0), 64);
        assert_eq!(at(0, 8), 64 * 16);
        assert_eq!(s.address(0, 0, 1), 256 * 256);
    }

    #[test]
    fn neighbouring_tiles_lie_in_other_pipes_and_banks() {
        let memory = Memory {
            pipes: 3,
            banks: 3,
            r7xx: true,
        };
        let s = surface(Mode::Tiles2d, 2, memory);
        // The group of a tile, and from it pipe and bank.
        let place = |x, y| {
            let group = s.address(x, y, 0) / GROUP;
            (group & 7, (group >> 3) & 7)
        };
        assert_eq!(place(0, 0), (0, 0));
        assert_eq!(place(8, 0), (4, 1));
        assert_eq!(place(0, 8), (1, 0));
        assert_eq!(place(64, 0), (0, 4), "bit 6 of x, on R7xx");
        assert_eq!(place(0, 64), (0, 4));
    }
}
