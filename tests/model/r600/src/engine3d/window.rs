// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Whether a draw can reach any pixel at all.
//!
//! A scissor whose right or lower edge is not beyond its left or upper one lets no pixel through. The window offset moves both
//! edges, so it does not matter. Where within a target pixels lie does not count: a backend is taken to reach all of it.

use lapidary_registers::r600::mmio;
use lapidary_registers::r600::mmio::{
    pa_sc_generic_scissor_br as br, pa_sc_generic_scissor_tl as tl, pa_sc_screen_scissor_br,
    pa_sc_screen_scissor_tl,
};

use super::state::State;

/// Return whether a pixel can be drawn.
pub fn any(state: &State<'_>) -> bool {
    use pa_sc_screen_scissor_br::{BR_X, BR_Y};
    use pa_sc_screen_scissor_tl::{TL_X, TL_Y};
    let first = state.get(mmio::PA_SC_SCREEN_SCISSOR_TL);
    let last = state.get(mmio::PA_SC_SCREEN_SCISSOR_BR);
    let screen = TL_X.get(first) < BR_X.get(last) && TL_Y.get(first) < BR_Y.get(last);
    screen
        && [
            (mmio::PA_SC_WINDOW_SCISSOR_TL, mmio::PA_SC_WINDOW_SCISSOR_BR),
            (
                mmio::PA_SC_GENERIC_SCISSOR_TL,
                mmio::PA_SC_GENERIC_SCISSOR_BR,
            ),
        ]
        .into_iter()
        .all(|(first, last)| {
            let (first, last) = (state.get(first), state.get(last));
            tl::TL_X.get(first) < br::BR_X.get(last) && tl::TL_Y.get(first) < br::BR_Y.get(last)
        })
}
