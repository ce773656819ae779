// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a unit may touch in a draw: which unit, how, and the runs of bytes.
//!
//! Addresses are those of the chip, but do not wrap at the end of its space: what reaches beyond is found to hit nothing.
//! A family says by its type `C` which units there are.

use std::fmt;

use crate::runs::Runs;

/// What one unit may do in a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area<C> {
    /// Which.
    pub client: C,
    /// It may read.
    pub read: bool,
    /// It may write.
    pub write: bool,
    /// Where.
    pub runs: Runs,
}

impl<C: fmt::Display> fmt::Display for Area<C> {
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
            client: "colour target 1",
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
