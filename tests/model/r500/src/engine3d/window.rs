// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which pixels can be reached at all: the scissor, and four clip rectangles under a rule (R5xx 10.6).
//!
//! Wherever a vertex shader puts its primitives, nothing outside is rasterised. All edges belong to the
//! rectangles. The rule is a truth table: bit n says whether a pixel is visible whose insides form the number n.

use lapidary_registers::r500::mmio::{self, sc_clip_0_a, sc_clip_0_b, sc_scissor0, sc_scissor1};

use super::state::State;
use super::surface::Rect;

const CORNERS: [(u32, u32); 4] = [
    (mmio::SC_CLIP_0_A, mmio::SC_CLIP_0_B),
    (mmio::SC_CLIP_1_A, mmio::SC_CLIP_1_B),
    (mmio::SC_CLIP_2_A, mmio::SC_CLIP_2_B),
    (mmio::SC_CLIP_3_A, mmio::SC_CLIP_3_B),
];

/// Return the visible pixels as rectangles without overlap, from top to bottom.
pub fn visible(state: &State<'_>) -> Vec<Rect> {
    let (a, b) = (state.get(mmio::SC_SCISSOR0), state.get(mmio::SC_SCISSOR1));
    let scissor = Rect {
        x0: sc_scissor0::XS0.get(a).into(),
        y0: sc_scissor0::YS0.get(a).into(),
        x1: u64::from(sc_scissor1::XS1.get(b)) + 1,
        y1: u64::from(sc_scissor1::YS1.get(b)) + 1,
    };
    // No sample of a pixel may be covered.
    let covered = mmio::sc_screendoor::SCREENDOOR.any(state.get(mmio::SC_SCREENDOOR));
    if scissor.is_empty() || !covered {
        return Vec::new();
    }
    let rule = mmio::sc_clip_rule::CLIP_RULE.get(state.get(mmio::SC_CLIP_RULE));
    let clips = CORNERS.map(|(a, b)| {
        let (a, b) = (state.get(a), state.get(b));
        Rect {
            x0: sc_clip_0_a::XS0.get(a).into(),
            y0: sc_clip_0_a::YS0.get(a).into(),
            x1: u64::from(sc_clip_0_b::XS1.get(b)) + 1,
            y1: u64::from(sc_clip_0_b::YS1.get(b)) + 1,
        }
    });
    under_rule(scissor, &clips, rule)
}

/// Cut the scissor at all edges, and keep the cells that the rule shows.
fn under_rule(scissor: Rect, clips: &[Rect; 4], rule: u32) -> Vec<Rect> {
    match rule {
        0 => return Vec::new(),
        0xffff => return vec![scissor],
        _ => {}
    }
    let cuts = |from: u64, to: u64, edges: &mut dyn Iterator<Item = u64>| {
        let mut all = vec![from, to];
        all.extend(edges.filter(|e| *e > from && *e < to));
        all.sort_unstable();
        all.dedup();
        all
    };
    let xs = cuts(
        scissor.x0,
        scissor.x1,
        &mut clips.iter().flat_map(|c| [c.x0, c.x1]),
    );
    let ys = cuts(
        scissor.y0,
        scissor.y1,
        &mut clips.iter().flat_map(|c| [c.y0, c.y1]),
    );
    let mut all: Vec<Rect> = Vec::new();
    let mut above = 0..0;
    for y in ys.windows(2) {
        let first = all.len();
        for x in xs.windows(2) {
            let inside = |c: &Rect| c.x0 <= x[0] && x[0] < c.x1 && c.y0 <= y[0] && y[0] < c.y1;
            let number = (0..4)
                .filter(|i| inside(&clips[*i]))
                .fold(0, |n, i| n | (1 << i));
            if (rule >> number) & 1 == 0 {
                continue;
            }
            match all[first..].last_mut() {
                Some(left) if left.x1 == x[0] => left.x1 = x[1],
                _ => all.push(Rect {
                    x0: x[0],
                    y0: y[0],
                    x1: x[1],
                    y1: y[1],
                }),
            }
        }
        // Where the band above shows the same columns, it just becomes higher.
        let same = |a: &Rect, b: &Rect| a.x0 == b.x0 && a.x1 == b.x1 && a.y1 == b.y0;
        let equal = all.len() - first == above.len()
            && !above.is_empty()
            && all[above.clone()]
                .iter()
                .zip(&all[first..])
                .all(|(a, b)| same(a, b));
        if equal {
            all.truncate(first);
            for r in &mut all[above.clone()] {
                r.y1 = y[1];
            }
        } else {
            above = first..all.len();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rect(x0: u64, y0: u64, x1: u64, y1: u64) -> Rect {
        Rect { x0, y0, x1, y1 }
    }

    const NONE: Rect = Rect {
        x0: 0,
        y0: 0,
        x1: 1,
        y1: 1,
    };

    #[test]
    fn the_usual_rules() {
        let s = rect(0, 0, 100, 50);
        let clips = [rect(10, 10, 200, 20), NONE, NONE, NONE];
        assert_eq!(under_rule(s, &clips, 0xffff), [s]);
        assert_eq!(under_rule(s, &clips, 0), []);
        // Inside rectangle 0, whatever the others say.
        assert_eq!(under_rule(s, &clips, 0xaaaa), [rect(10, 10, 100, 20)]);
        // Outside of it: a frame without its right side.
        assert_eq!(
            under_rule(s, &clips, 0x5555),
            [
                rect(0, 0, 100, 10),
                rect(0, 10, 10, 20),
                rect(0, 20, 100, 50)
            ]
        );
    }

    fn any_rect() -> impl Strategy<Value = Rect> {
        (0u64..12, 0u64..12, 1u64..13, 1u64..13).prop_map(|(x0, y0, x1, y1)| rect(x0, y0, x1, y1))
    }

    proptest! {
        #[test]
        fn every_pixel_is_right(s in any_rect(), c in [any_rect(), any_rect(), any_rect(), any_rect()], rule in 0u32..0x1_0000) {
            prop_assume!(!s.is_empty());
            let found = under_rule(s, &c, rule);
            for y in 0..13 {
                for x in 0..13 {
                    let within = |r: &Rect| r.x0 <= x && x < r.x1 && r.y0 <= y && y < r.y1;
                    let number: u32 = (0..4).map(|i| u32::from(within(&c[i])) << i).sum();
                    let want = within(&s) && (rule >> number) & 1 != 0;
                    let have = found.iter().filter(|r| within(r)).count();
                    prop_assert_eq!(have, usize::from(want), "({}, {})", x, y);
                }
            }
        }
    }
}
