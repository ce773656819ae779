// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R5xx: 2D and 3D drawing.

pub mod draw2d;
pub mod draw3d;
mod painter;

pub use painter::R500;
