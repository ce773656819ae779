// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The families whose chips the programs beside this file model.

use lapidary_model::family::Family;

/// All of them. To add one: its crate among the dependencies, and its table here.
pub static FAMILIES: &[&Family] = &[
    &lapidary_model_chrome9::FAMILY,
    &lapidary_model_r500::FAMILY,
    &lapidary_model_r600::FAMILY,
];
