// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the engines of R5xx understand.

pub mod draw2d;
pub mod draw3d;
pub mod territory;
