// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The demo `first-light`: a picture drawn twice, by the GPU and by the CPU, and compared.
//!
//! On R5xx it is a scene of the 2D engine, on R6xx and R7xx a [`collage`] of copies.
//!
//! [`scene`] says what to draw, and `lapidary_picture` gives it shapes and letters. [`emit`] turns each
//! primitive into PM4; [`reference`] draws it with the CPU after its own reading of the manual. The
//! two have nothing in common but the list of primitives.

pub mod collage;
pub mod emit;
pub mod reference;
pub mod scene;
