// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 3D engine, as far as memory is concerned: which bytes a draw may touch.
//!
//! Nothing is drawn and no shader runs. But for every draw the engine works out, from registers and constants alone, what its
//! units may read and write whatever the programs do, and the memory side judges that as if it happened
//! ([`crate::mc::Bus::touch`]). This *footprint* leaves out what hardware cannot reach: stages that do not run, masked targets,
//! pixels outside of an empty scissor.
//!
//! | file | what |
//! | --- | --- |
//! | [`state`] | the registers that a draw sees, and what is found out about it |
//! | [`layout`], [`format`] | how much memory surfaces take |
//! | [`color`], [`depth`], [`window`] | targets |
//! | [`resource`], [`texture`] | fetches |
//! | [`program`], [`rings`], [`streamout`] | programs and their constants, rings, stream-out |
//! | [`errata`] | rules of single chips |
//! | [`area`] | who touches memory |
//!
//! Most draws of a client differ from the one before in a few registers, and a client restates hundreds with the same values. So
//! the engine keeps what it has found until a register changes its value. Resources are kept each for itself.
//!
//! Registers keep their values from one client to the next, and resources have no enable bit. A resource, a ring or a constant
//! buffer that the present indirect buffer has not stated may lead to memory that is gone. It belongs to the footprint all
//! the same, but is *left over*: see [`Piece::base`] and [`Engine3d::left_over`].

pub mod area;
pub(crate) mod classes;
mod color;
mod depth;
mod errata;
mod format;
mod layout;
mod program;
mod resource;
mod rings;
mod state;
pub mod streamout;
mod texture;
mod window;

use lapidary_model::registers::Space;
use lapidary_registers::r600::mmio;

pub use self::state::{Found, Piece, State};

use crate::chips::Variant;
use crate::regs::WORDS;

/// What is known of a resource.
#[derive(Debug, Default)]
struct Slot {
    found: Found,
    /// It has to be worked out again.
    changed: bool,
}

/// The engine.
pub struct Engine3d {
    /// What a draw may touch beside resources.
    pipe: Found,
    /// Whether pixels can be drawn.
    pixels: bool,
    /// A register besides resources has changed.
    changed: bool,
    /// A register has changed on which the layout of resources depends.
    layout_changed: bool,
    slots: Vec<Slot>,
    /// For each word of the registers, the buffer that has written it last.
    stamps: Vec<u32>,
    /// The present buffer.
    buffer: u32,
}

impl Default for Engine3d {
    fn default() -> Engine3d {
        Engine3d {
            pipe: Found::default(),
            pixels: false,
            changed: true,
            layout_changed: true,
            slots: (0..resource::SLOTS).map(|_| Slot::default()).collect(),
            stamps: vec![0; WORDS],
            buffer: 1,
        }
    }
}

impl Engine3d {
    /// Forget what is known of the registers.
    pub fn forget(&mut self) {
        self.changed = true;
        self.layout_changed = true;
        self.stamps.fill(0);
        self.buffer = 1;
    }

    /// Act on a write to a register, which has another value than before or not.
    pub fn written(&mut self, register: u32, changed: bool) {
        if let Some(stamp) = self.stamps.get_mut(register as usize / 4) {
            *stamp = self.buffer;
        }
        if !changed {
            return;
        }
        match resource::slot_of(register) {
            Some(slot) => self.slots[slot as usize].changed = true,
            None => self.changed = true,
        }
        if register == mmio::GB_TILING_CONFIG {
            self.layout_changed = true;
        }
    }

    /// Begin a first-level indirect buffer.
    pub fn buffer_begins(&mut self) {
        self.buffer = self.buffer.wrapping_add(1);
    }

    /// Return whether a piece of a footprint was left over from before the present buffer.
    pub fn left_over(&self, piece: &Piece) -> bool {
        self.stamps.get(piece.base as usize / 4) != Some(&self.buffer)
    }

    /// Work out what has changed since the last draw.
    pub fn work_out(&mut self, regs: &Space, chip: &'static Variant) {
        let state = State::new(regs, chip);
        if self.changed {
            self.changed = false;
            let found = &mut self.pipe;
            found.clear();
            let pixels = window::any(&state);
            self.pixels = pixels;
            program::touched(&state, pixels, found);
            program::judge(&state, pixels, found);
            rings::touched(&state, pixels, found);
            streamout::touched(&state, found);
            errata::judge(&state, pixels, found);
            if pixels {
                color::touched(&state, found);
                depth::touched(&state, found);
            }
        }
        let all = std::mem::take(&mut self.layout_changed);
        for (n, slot) in (0..).zip(&mut self.slots) {
            if all || slot.changed {
                slot.changed = false;
                slot.found.clear();
                resource::touched(&state, n, &mut slot.found);
            }
        }
    }

    /// Return what the present draw may touch and what is wrong with it: all parts that count.
    pub fn found(&self, geometry: bool) -> impl Iterator<Item = &Found> {
        let of = |slots: std::ops::Range<u32>, runs: bool| {
            let range = if runs { slots } else { 0..0 };
            self.slots[range.start as usize..range.end as usize].iter()
        };
        std::iter::once(&self.pipe).chain(
            of(resource::PIXEL, self.pixels)
                .chain(of(resource::VERTEX, true))
                .chain(of(resource::GEOMETRY, geometry))
                .map(|slot| &slot.found),
        )
    }
}

#[cfg(test)]
mod tests;
