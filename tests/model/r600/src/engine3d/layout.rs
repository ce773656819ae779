// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How much memory a surface takes: the alignments of its lines, slices and address by its tiling.
//!
//! The manual names the modes and gives no rule. The rules here are those that upstream's checker enforces (Linux,
//! `r600_cs.c`) and by which Mesa allocates (`radeon_surface.c` of its window system):
//!
//! | mode | pitch, in elements | lines | address |
//! | --- | --- | --- | --- |
//! | linear general | any | any | an element |
//! | linear aligned | 64, and at least a group | any | a group |
//! | 1D tiled | a micro tile, and so many that a line of a tile is not smaller than an eighth of a group | 8 | a group |
//! | 2D tiled | a macro tile, as wide as there are banks | a macro tile, as high as there are pipes | a macro tile |

use lapidary_registers::r600::enums::array_mode;
use lapidary_registers::r600::mmio::{self, gb_tiling_config};

use super::state::State;

/// Elements of a micro tile's edge.
pub const EDGE: u64 = 8;

/// How a surface is tiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Lines of any pitch.
    General,
    /// Lines of an aligned pitch.
    Linear,
    /// Micro tiles.
    Tiles1d,
    /// Micro tiles in macro tiles.
    Tiles2d,
}

impl Mode {
    /// Return what ARRAY_MODE or TILE_MODE says; none for a reserved number.
    pub fn of(number: u32) -> Option<Mode> {
        Some(match number {
            array_mode::ARRAY_LINEAR_GENERAL => Mode::General,
            array_mode::ARRAY_LINEAR_ALIGNED => Mode::Linear,
            array_mode::ARRAY_1D_TILED_THIN1 => Mode::Tiles1d,
            array_mode::ARRAY_2D_TILED_THIN1 => Mode::Tiles2d,
            _ => return None,
        })
    }

    /// Return whether it has tiles.
    pub fn tiled(self) -> bool {
        matches!(self, Mode::Tiles1d | Mode::Tiles2d)
    }
}

/// The memory that surfaces lie in: GB_TILING_CONFIG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Number of pipes.
    pub pipes: u64,
    /// Number of banks.
    pub banks: u64,
    /// Bytes of a group.
    pub group: u64,
}

impl Memory {
    /// Return what the register says.
    pub fn of(state: &State<'_>) -> Memory {
        let config = state.get(mmio::GB_TILING_CONFIG);
        Memory {
            pipes: 1 << gb_tiling_config::PIPE_TILING.get(config).min(3),
            banks: 4 << gb_tiling_config::BANK_TILING.get(config).min(1),
            group: 256 << gb_tiling_config::GROUP_SIZE.get(config),
        }
    }

    /// Return the alignments of a surface whose elements have so many bytes and samples.
    pub fn alignment(&self, mode: Mode, bytes: u64, samples: u64) -> Alignment {
        let Memory {
            pipes,
            banks,
            group,
        } = *self;
        let bytes = bytes.max(1);
        match mode {
            Mode::General => Alignment {
                pitch: 1,
                lines: 1,
                base: bytes,
            },
            Mode::Linear => Alignment {
                pitch: (group / bytes).max(64),
                lines: 1,
                base: group,
            },
            Mode::Tiles1d => Alignment {
                pitch: (group / (EDGE * bytes * samples)).max(EDGE),
                lines: EDGE,
                base: group,
            },
            Mode::Tiles2d => {
                let pitch = (group * banks / (EDGE * bytes * samples)).max(EDGE * banks);
                let lines = EDGE * pipes;
                let macro_tile = banks * pipes * EDGE * EDGE * bytes * samples;
                Alignment {
                    pitch,
                    lines,
                    base: macro_tile.max(pitch * lines * bytes * samples),
                }
            }
        }
    }
}

/// Alignments of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of a line, in elements.
    pub pitch: u64,
    /// Of a slice, in lines.
    pub lines: u64,
    /// Of the address, in bytes.
    pub base: u64,
}

/// A surface as colour and depth targets describe it: tiles of a line and of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// First address.
    pub base: u64,
    /// How it is tiled.
    pub mode: Mode,
    /// Bytes of a pixel's sample.
    pub bytes: u64,
    /// Samples of a pixel.
    pub samples: u64,
    /// Tiles of a line.
    pub pitch_tiles: u64,
    /// Tiles of a slice.
    pub slice_tiles: u64,
}

impl Target {
    /// Return the bytes of a slice.
    pub fn slice(&self) -> u64 {
        self.slice_tiles * EDGE * EDGE * self.bytes * self.samples
    }

    /// Return the pixels of a line.
    pub fn pitch(&self) -> u64 {
        self.pitch_tiles * EDGE
    }

    /// Return the whole lines of a slice.
    pub fn lines(&self) -> u64 {
        self.slice_tiles * EDGE / self.pitch_tiles.max(1)
    }

    /// Return what is not aligned, in words.
    pub fn misaligned(&self, memory: &Memory) -> Option<String> {
        let a = memory.alignment(self.mode, self.bytes, self.samples);
        if self.pitch() % a.pitch != 0 {
            return Some(format!(
                "a pitch of {}, not a multiple of {}",
                self.pitch(),
                a.pitch
            ));
        }
        if self.lines() % a.lines != 0 {
            return Some(format!(
                "{} lines, not a multiple of {}",
                self.lines(),
                a.lines
            ));
        }
        if self.base % a.base != 0 {
            return Some(format!(
                "address {:#x}, not a multiple of {:#x}",
                self.base, a.base
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RV770: Memory = Memory {
        pipes: 8,
        banks: 8,
        group: 256,
    };

    fn a(pitch: u64, lines: u64, base: u64) -> Alignment {
        Alignment { pitch, lines, base }
    }

    #[test]
    fn alignments_follow_mode_size_and_samples() {
        let of = |mode, bytes, samples| RV770.alignment(mode, bytes, samples);
        assert_eq!(of(Mode::General, 4, 1), a(1, 1, 4));
        assert_eq!(of(Mode::Linear, 4, 1), a(64, 1, 256));
        assert_eq!(of(Mode::Linear, 1, 1), a(256, 1, 256));
        assert_eq!(of(Mode::Tiles1d, 4, 1), a(8, 8, 256));
        assert_eq!(of(Mode::Tiles1d, 1, 1), a(32, 8, 256));
        assert_eq!(of(Mode::Tiles2d, 4, 1), a(64, 64, 0x4000));
        assert_eq!(of(Mode::Tiles2d, 1, 1), a(256, 64, 0x4000));
        assert_eq!(of(Mode::Tiles2d, 4, 8), a(64, 64, 0x2_0000));
    }

    #[test]
    fn each_alignment_of_a_target_counts() {
        let good = Target {
            base: 0x10_0000,
            mode: Mode::Tiles2d,
            bytes: 4,
            samples: 1,
            pitch_tiles: 8,
            slice_tiles: 64,
        };
        assert_eq!(good.misaligned(&RV770), None);
        assert_eq!((good.slice(), good.lines()), (0x4000, 64));
        for bad in [
            Target {
                pitch_tiles: 4,
                ..good
            },
            Target {
                slice_tiles: 72,
                ..good
            },
            Target {
                base: 0x10_0100,
                ..good
            },
        ] {
            assert!(bad.misaligned(&RV770).is_some(), "{bad:?}");
        }
    }

    #[test]
    fn modes_have_numbers() {
        let modes: Vec<u32> = (0..16).filter(|n| Mode::of(*n).is_some()).collect();
        assert_eq!(modes, [0, 1, 2, 4]);
        assert!(Mode::Tiles1d.tiled() && !Mode::Linear.tiled());
    }
}
