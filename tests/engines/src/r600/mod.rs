// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R6xx and R7xx: copies by the command processor and by the DMA ring.

pub mod cp;
pub mod dma;
mod painter;

pub use painter::R600;
