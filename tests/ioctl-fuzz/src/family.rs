// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a family adds to its painter: other ways to the same pixels, which its checker has to follow, and 3D draws.

mod r500;

use crate::objects::Object;
use lapidary_guest::Stream;
use lapidary_guest::painter::{self, Area, Painter, Rect, painter};

/// A family's part in sound streams.
pub trait Family: Sync {
    /// Return the painter whose chips these are.
    fn painter(&self) -> &'static dyn Painter;

    /// Fills, in one way or another.
    fn fill(
        &self,
        rng: &mut fastrand::Rng,
        stream: &mut Stream,
        to: Area<'_>,
        colour: u32,
        rect: Rect,
    );

    /// Copies, in one way or another.
    fn copy(
        &self,
        rng: &mut fastrand::Rng,
        stream: &mut Stream,
        from: Area<'_>,
        to: Area<'_>,
        at: (i32, i32),
        rect: Rect,
    );

    /// A draw that is sound as it is and touches nothing but some of the objects, of which there is at least one.
    fn draw(&self, rng: &mut fastrand::Rng, stream: &mut Stream, objects: &[Object]);
}

static PAINTERS: [&dyn Painter; 1] = [&lapidary_engines::r500::R500];
static FAMILIES: [&dyn Family; 1] = [&r500::R500];

/// Make the families known. Before the device is opened.
pub fn supply() {
    painter::supply(&PAINTERS);
}

/// That of the device.
pub fn family() -> &'static dyn Family {
    let module = painter().module();
    let found = FAMILIES
        .iter()
        .find(|family| family.painter().module() == module);
    *found.expect("a family for each painter")
}
