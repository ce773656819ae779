// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a unit may touch in a draw: which unit, how, and the runs of bytes.
//!
//! Addresses are those of the chip, but do not wrap at 4 GiB: what reaches beyond is found to hit nothing.

use std::fmt;

use lapidary_model::runs::Runs;

/// A unit of the 3D engine that goes to memory, with the number of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Vertex fetch, of that array.
    Vertex(u8),
    /// Texture fetch, of that texture.
    Texture(u8),
    /// Colour backend, of that target.
    Color(u8),
    /// Colour backend, writing what it resolves.
    Resolve,
    /// Depth and stencil.
    Depth,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Vertex(n) => write!(f, "vertex array {n}"),
            Client::Texture(n) => write!(f, "texture {n}"),
            Client::Color(n) => write!(f, "colour target {n}"),
            Client::Resolve => f.write_str("resolve target"),
            Client::Depth => f.write_str("depth buffer"),
        }
    }
}

/// What one unit may do in a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Which.
    pub client: Client,
    /// It may read.
    pub read: bool,
    /// It may write.
    pub write: bool,
    /// Where.
    pub runs: Runs,
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match (self.read, self.write) {
            (true, true) => "reads and writes",
            (_, true) => "writes",
            _ => "reads",
        };
        let r = self.runs.merged();
        write!(
            f,
            "{} {how} {:#010x}..{:#010x}",
            self.client,
            r.start,
            r.end()
        )?;
        if r.rows > 1 {
            write!(f, " ({} rows of {} bytes)", r.rows, r.len)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_happens() {
        let area = Area {
            client: Client::Color(1),
            read: false,
            write: true,
            runs: Runs {
                start: 0x1000,
                len: 64,
                stride: 256,
                rows: 4,
            },
        };
        assert_eq!(
            area.to_string(),
            "colour target 1 writes 0x00001000..0x00001340 (4 rows of 64 bytes)"
        );
    }
}
