// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a family adds to its painter: other ways to the same pixels, which its checker has to follow, and more commands.

mod r500;
mod r600;

use super::Radeon;
use crate::objects;
use anyhow::Result;
use lapidary_guest::painter::{self, Area, Painter, Rect, painter};
use lapidary_guest::{Device, Stream};

/// An object of this interface.
pub type Object = objects::Object<Radeon>;

/// A family's part in sound streams.
pub trait Family: Sync {
    /// Return the painter whose chips these are.
    fn painter(&self) -> &'static dyn Painter;

    /// Look at what the device has, once, before there are streams.
    ///
    /// # Errors
    ///
    /// Those of the calls.
    fn look_at(&self, _: &Device) -> Result<()> {
        Ok(())
    }

    /// Return what the model's judge may find in spoilt streams: their pixels come out undefined. No other client's
    /// pixels may. Findings about memory, pages, waiting, or anything that the kernel does are not among these.
    fn own_fault(&self) -> &'static [&'static str];

    /// Return an empty stream for one of the rings that the family's streams work on.
    fn stream(&self, rng: &mut fastrand::Rng) -> Stream;

    /// Append fills, in one way or another.
    fn fill(
        &self,
        rng: &mut fastrand::Rng,
        stream: &mut Stream,
        to: Area<'_>,
        colour: u32,
        rect: Rect,
    );

    /// Append copies, in one way or another.
    fn copy(
        &self,
        rng: &mut fastrand::Rng,
        stream: &mut Stream,
        from: Area<'_>,
        to: Area<'_>,
        at: (i32, i32),
        rect: Rect,
    );

    /// Append commands that are sound as they are and touch nothing but some of the objects, of which there is at least
    /// one.
    fn draw(&self, rng: &mut fastrand::Rng, stream: &mut Stream, objects: &[Object]);
}

static PAINTERS: [&dyn Painter; 2] = [&lapidary_engines::r500::R500, &lapidary_engines::r600::R600];
static FAMILIES: [&dyn Family; 2] = [&r500::R500, &R600];
static R600: r600::R600 = r600::R600::new();

/// Make the families known. Before the device is opened.
pub fn supply() {
    painter::supply(&PAINTERS);
}

/// Return the family of the device.
pub fn family() -> &'static dyn Family {
    let module = painter().module();
    let found = FAMILIES
        .iter()
        .find(|family| family.painter().module() == module);
    *found.expect("a family for each painter")
}
