// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 3D engine, as far as memory is concerned.
//!
//! | file | what |
//! | --- | --- |
//! | [`area`] | who touches memory in a draw |

pub mod area;
