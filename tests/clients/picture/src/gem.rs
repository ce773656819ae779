// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A brilliant-cut stone seen from the side, as coloured convex facets.

use crate::{Span, mix};

/// One facet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    /// Corners in drawing order.
    pub corners: Vec<(i32, i32)>,
    /// Its colour.
    pub colour: u32,
}

impl Facet {
    /// Return the runs of pixels whose centres lie inside.
    pub fn spans(&self) -> Vec<Span> {
        let top = self.corners.iter().map(|c| c.1).min().unwrap_or(0);
        let bottom = self.corners.iter().map(|c| c.1).max().unwrap_or(0);
        let mut spans = Vec::new();
        for y in top..bottom {
            // Crossings of the row's centre line, in 1/65536 pixel.
            let mut crossings: Vec<i64> = Vec::new();
            for (i, &(x0, y0)) in self.corners.iter().enumerate() {
                let (x1, y1) = self.corners[(i + 1) % self.corners.len()];
                if (y0 <= y) != (y1 <= y) {
                    let (dx, dy) = (i64::from(x1 - x0), i64::from(y1 - y0));
                    crossings.push(
                        (i64::from(x0) << 16) + dx * ((2 * i64::from(y - y0) + 1) << 15) / dy,
                    );
                }
            }
            crossings.sort_unstable();
            if let (Some(&left), Some(&right)) = (crossings.first(), crossings.last()) {
                // A pixel belongs to the run if its centre does.
                let edge = |v: i64| ((v + 0x7fff) >> 16) as i32;
                if edge(left) < edge(right) {
                    spans.push((y, edge(left), edge(right)));
                }
            }
        }
        spans
    }
}

/// Return the stone: `centre` of its table, `top` of its table, `radius` of its girdle, in pixels.
pub fn brilliant(centre: i32, top: i32, radius: i32) -> Vec<Facet> {
    let at = |x: i32, y: i32| (centre + x * radius / 100, top + y * radius / 100);
    // Table, star line, girdle and culet; the numbers are hundredths of the radius.
    let table = [at(-56, 0), at(-20, 0), at(20, 0), at(56, 0)];
    let star = [at(-76, 20), at(-38, 22), at(0, 24), at(38, 22), at(76, 20)];
    let girdle = [
        at(-100, 44),
        at(-60, 46),
        at(-20, 47),
        at(20, 47),
        at(60, 46),
        at(100, 44),
    ];
    let culet = at(0, 148);
    let shades = |i: usize| {
        const LIGHT: [u32; 7] = [70, 190, 30, 235, 110, 160, 10];
        mix(0x0012_4a8c, 0x00a6_ecfa, LIGHT[i % LIGHT.len()])
    };
    let mut facets = Vec::new();
    let mut facet = |corners: &[(i32, i32)]| {
        let colour = shades(facets.len() * 3 + 1);
        facets.push(Facet {
            corners: corners.to_vec(),
            colour,
        });
    };
    // Crown: triangles between table and star line, then down to the girdle.
    facet(&[table[0], star[0], star[1]]);
    facet(&[table[0], star[1], table[1]]);
    facet(&[table[1], star[1], star[2]]);
    facet(&[table[1], star[2], table[2]]);
    facet(&[table[2], star[2], star[3]]);
    facet(&[table[2], star[3], table[3]]);
    facet(&[table[3], star[3], star[4]]);
    for i in 0..5 {
        facet(&[star[i], girdle[i], girdle[i + 1]]);
        if i < 4 {
            facet(&[star[i], girdle[i + 1], star[i + 1]]);
        }
    }
    // Pavilion: from the girdle to the culet, each main facet split in two.
    for i in 0..5 {
        let middle = (
            (girdle[i].0 + girdle[i + 1].0) / 2,
            (girdle[i].1 + girdle[i + 1].1) / 2 + radius / 3,
        );
        facet(&[girdle[i], middle, girdle[i + 1]]);
        facet(&[girdle[i], culet, middle]);
        facet(&[girdle[i + 1], middle, culet]);
    }
    facets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_square() {
        let facet = Facet {
            corners: vec![(2, 1), (6, 1), (6, 4), (2, 4)],
            colour: 0,
        };
        assert_eq!(facet.spans(), [(1, 2, 6), (2, 2, 6), (3, 2, 6)]);
    }

    #[test]
    fn neighbours_share_no_pixel_and_leave_none() {
        let left = Facet {
            corners: vec![(0, 0), (9, 0), (3, 10), (0, 10)],
            colour: 0,
        };
        let right = Facet {
            corners: vec![(9, 0), (12, 0), (12, 10), (3, 10)],
            colour: 0,
        };
        for (a, b) in left.spans().iter().zip(right.spans()) {
            assert_eq!((a.0, a.2), (b.0, b.1));
        }
    }

    #[test]
    fn the_stone_stays_in_its_box() {
        for facet in brilliant(100, 10, 80) {
            for (x, y) in facet.corners {
                assert!((20..=180).contains(&x) && (10..=10 + 80 * 148 / 100).contains(&y));
            }
        }
    }
}
