// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The demo `chrome9-first-light`: a picture drawn twice, by the 2D engine and by the CPU, and compared.
//!
//! [`scene`] says what to draw, as a list of blits. `lapidary_chrome9_client` has both renderings: streams of the command
//! regulator, and pixels after a reading of the register descriptions. They have nothing in common but the list.

pub mod canvas;
pub mod scene;
