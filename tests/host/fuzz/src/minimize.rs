// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The smallest stream that shows a fault.

use crate::family::{Case, Grammar};

/// Take away packets, then bits, as long as `fails` holds.
pub fn minimize<G: Grammar>(
    grammar: &mut G,
    case: &G::Case,
    fails: &mut dyn FnMut(&mut G, &G::Case) -> bool,
) -> G::Case {
    let mut best = case.clone();
    loop {
        let before = best.words().to_vec();
        let mut i = grammar.packets(&best).len();
        while i > 0 {
            i -= 1;
            let mut less = best.clone();
            let Some(range) = grammar.packets(&less).get(i).cloned() else {
                continue;
            };
            less.words_mut().drain(range);
            if fails(grammar, &less) {
                best = less;
            }
        }
        for at in 0..best.words().len() {
            let mut zero = best.clone();
            zero.words_mut()[at] = 0;
            if best.words()[at] != 0 && fails(grammar, &zero) {
                best = zero;
                continue;
            }
            for bit in 0..32 {
                let mut less = best.clone();
                less.words_mut()[at] &= !(1 << bit);
                if less.words()[at] != best.words()[at] && fails(grammar, &less) {
                    best = less;
                }
            }
        }
        if best.words() == before {
            return best;
        }
    }
}
