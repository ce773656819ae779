// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ternary raster operations (ROP3).
//!
//! Every bit that a 2D engine writes is a function of three bits: pattern (the brush), source and destination. An
//! eight-bit code (`GUI_CONTROL.WIN31_ROP`, R5xx 5.2.2; bits 31:24 of a Chrome9's command) is the truth table of that
//! function, in the numbering that Windows made common: the bit of the result for pattern P, source S and destination D
//! is bit `P * 4 + S * 2 + D` of the code. So `0xCC` is the source, `0xF0` the pattern and `0xAA` the destination, and
//! all 256 codes mean something.

/// The truth table of one raster operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rop3(pub u8);

impl Rop3 {
    /// Apply the operation to all 32 bits at once.
    pub fn apply(self, pattern: u32, source: u32, destination: u32) -> u32 {
        // The four frequent ones, and then a multiplexer tree: each input halves the table.
        match self.0 {
            0xcc => return source,
            0xf0 => return pattern,
            0x00 => return 0,
            0xff => return u32::MAX,
            _ => {}
        }
        let spread = |bit: u8| {
            if (self.0 >> bit) & 1 != 0 {
                u32::MAX
            } else {
                0
            }
        };
        let by_destination =
            |base: u8| (spread(base) & !destination) | (spread(base + 1) & destination);
        let by_source =
            |base: u8| (by_destination(base) & !source) | (by_destination(base + 2) & source);
        (by_source(0) & !pattern) | (by_source(4) & pattern)
    }

    /// Return whether the result depends on the brush.
    pub fn uses_pattern(self) -> bool {
        (self.0 ^ (self.0 >> 4)) & 0x0f != 0
    }

    /// Return whether the result depends on the source.
    pub fn uses_source(self) -> bool {
        (self.0 ^ (self.0 >> 2)) & 0x33 != 0
    }

    /// Return whether the result depends on what the destination held.
    pub fn uses_destination(self) -> bool {
        (self.0 ^ (self.0 >> 1)) & 0x55 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Return the definition, bit by bit.
    fn by_definition(code: u8, p: u32, s: u32, d: u32) -> u32 {
        let mut result = 0;
        for bit in 0..32 {
            let index = (((p >> bit) & 1) << 2) | (((s >> bit) & 1) << 1) | ((d >> bit) & 1);
            result |= u32::from((code >> index) & 1) << bit;
        }
        result
    }

    #[test]
    fn named_operations() {
        let (p, s, d) = (0xffff_0000_u32, 0xff00_ff00, 0xf0f0_f0f0);
        let cases: [(u8, u32); 14] = [
            (0x00, 0),
            (0xff, u32::MAX),
            (0xcc, s),
            (0xf0, p),
            (0xaa, d),
            (0x55, !d),
            (0x33, !s),
            (0x0f, !p),
            (0x88, s & d),
            (0xee, s | d),
            (0x66, s ^ d),
            (0x5a, p ^ d),
            (0xb8, (p & !s) | (s & d)), // PSDPxax: source selects the destination
            (0xca, (p & s) | (!p & d)), // DPSDxax: pattern selects the source
        ];
        for (code, expected) in cases {
            assert_eq!(Rop3(code).apply(p, s, d), expected, "{code:#04x}");
        }
    }

    #[test]
    fn dependence_is_what_the_table_says() {
        for code in 0..=255 {
            let rop = Rop3(code);
            let differs = |a: [u32; 3], b: [u32; 3]| {
                rop.apply(a[0], a[1], a[2]) != rop.apply(b[0], b[1], b[2])
            };
            let all = [0, u32::MAX];
            let (mut p, mut s, mut d) = (false, false, false);
            for x in all {
                for y in all {
                    p |= differs([0, x, y], [u32::MAX, x, y]);
                    s |= differs([x, 0, y], [x, u32::MAX, y]);
                    d |= differs([x, y, 0], [x, y, u32::MAX]);
                }
            }
            assert_eq!(
                (p, s, d),
                (
                    rop.uses_pattern(),
                    rop.uses_source(),
                    rop.uses_destination()
                ),
                "{code:#04x}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_code_is_its_truth_table(code: u8, p: u32, s: u32, d: u32) {
            prop_assert_eq!(Rop3(code).apply(p, s, d), by_definition(code, p, s, d));
        }
    }
}
