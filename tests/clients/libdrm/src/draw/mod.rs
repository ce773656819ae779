// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A small 2D job, by what the chip's family has for it, and the picture it must leave.

mod r500;
mod r600;

use crate::client::{Bo, Client, Commands};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::device::Domain;
use lapidary_guest::painter::Painter;

/// Pixels a row.
pub const WIDTH: u32 = 128;
/// Rows.
pub const HEIGHT: u32 = 64;
/// Bytes of a row.
const PITCH: u32 = WIDTH * 4;
/// Bytes of a picture.
pub const BYTES: u32 = PITCH * HEIGHT;

/// Left, top, width, height.
#[derive(Clone, Copy, Debug)]
pub struct Rect(pub u32, pub u32, pub u32, pub u32);

/// A picture in the CPU's memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture(pub Vec<u32>);

impl Picture {
    /// Return a picture of one colour.
    pub fn plain(colour: u32) -> Picture {
        Picture(vec![colour; (WIDTH * HEIGHT) as usize])
    }

    /// Fill a rectangle.
    pub fn fill(&mut self, Rect(x, y, w, h): Rect, colour: u32) {
        for row in y..y + h {
            let start = (row * WIDTH + x) as usize;
            self.0[start..start + w as usize].fill(colour);
        }
    }

    /// Copy a rectangle of another picture to a place in this one.
    pub fn copy(&mut self, from: &Picture, (from_x, from_y): (u32, u32), Rect(x, y, w, h): Rect) {
        for row in 0..h {
            let source = ((from_y + row) * WIDTH + from_x) as usize;
            let to = ((y + row) * WIDTH + x) as usize;
            let w = w as usize;
            self.0[to..to + w].copy_from_slice(&from.0[source..source + w]);
        }
    }

    /// Fail at the first pixel of the object that differs.
    pub fn compare(&self, bo: &Bo<'_>) -> Result<()> {
        bo.with_words(false, |words| {
            for (i, (&wanted, &seen)) in self.0.iter().zip(words.iter()).enumerate() {
                let (x, y) = (i as u32 % WIDTH, i as u32 / WIDTH);
                ensure!(
                    wanted == seen,
                    "pixel ({x}, {y}) is {seen:#010x} instead of {wanted:#010x}"
                );
            }
            Ok(())
        })?
    }
}

/// A picture's object, and the domain that commands use it in.
#[derive(Clone, Copy)]
pub struct Surface<'a>(pub &'a Bo<'a>, pub Domain);

impl Surface<'_> {
    /// Mark that the commands before read it.
    fn is_read(self, commands: &mut Commands<'_>) -> Result<()> {
        commands.relocation(self.0, self.1.bits(), 0)
    }

    /// Mark that the commands before write it.
    fn is_written(self, commands: &mut Commands<'_>) -> Result<()> {
        commands.relocation(self.0, 0, self.1.bits())
    }
}

/// What fills and copies rectangles.
pub trait Engine {
    /// Return the painter of the chips that have it.
    fn painter(&self) -> &'static dyn Painter;

    /// Return whether the library lays out surfaces for these chips.
    fn has_surfaces(&self) -> bool;

    /// Fill rectangles of an object.
    fn fill(
        &self,
        client: &Client,
        commands: &mut Commands<'_>,
        to: Surface<'_>,
        rectangles: &[(Rect, u32)],
    ) -> Result<()>;

    /// Copy a rectangle from object to object.
    fn copy(
        &self,
        commands: &mut Commands<'_>,
        from: Surface<'_>,
        to: Surface<'_>,
        corner: (u32, u32),
        rect: Rect,
    ) -> Result<()>;
}

/// Return the engine in the chip of this id.
pub fn engine(device_id: u32) -> Result<&'static dyn Engine> {
    let engines: [&'static dyn Engine; 2] = [&r500::Rectangles, &r600::Rows];
    engines
        .into_iter()
        .find(|engine| engine.painter().knows(device_id))
        .with_context(|| format!("no engine for chip {device_id:#06x}"))
}
