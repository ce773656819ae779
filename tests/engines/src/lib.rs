// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the engines of each family understand: command streams that draw, and the family's painter for tests that hold
//! for all ([`lapidary_guest::painter`]). A module for each family.

pub mod chips;
pub mod r500;
pub mod r600;
