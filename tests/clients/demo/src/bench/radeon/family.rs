// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command streams of the rows, family by family.

mod r500;
mod r600;

use crate::rows::Row;
use lapidary_guest::painter::{self, Painter, painter};
use lapidary_guest::{Bo, Stream};

/// A family's streams. Every checker of this interface admits them, unless they say otherwise.
pub trait Family: Sync {
    /// Return the painter whose chips these are.
    fn painter(&self) -> &'static dyn Painter;

    /// Return a stream of exactly `dwords` that names each of `objects` once, evenly spread. It draws nothing.
    ///
    /// # Panics
    ///
    /// If it is too short for the objects.
    fn state(&self, objects: &[Bo], dwords: usize) -> Stream;

    /// Return [`Family::state`] with a last packet that is refused.
    fn refused(&self, objects: &[Bo], dwords: usize) -> Stream;

    /// Return a stream that keeps the engine at work for some milliseconds. It writes to `target`, of some megabytes.
    fn slow(&self, target: &Bo) -> Stream;

    /// Return the most instructions of a submission, in upstream's.
    fn submission(&self) -> f64;

    /// Return the rows that other families do not have.
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
}

static PAINTERS: [&dyn Painter; 2] = [&lapidary_engines::r500::R500, &lapidary_engines::r600::R600];
static FAMILIES: [&dyn Family; 2] = [&r500::R500, &r600::R600];

/// Make the families known. Before a device is opened.
pub fn supply() {
    painter::supply(&PAINTERS);
}

/// Return the family of the devices.
///
/// # Panics
///
/// If no device has been opened.
pub fn family() -> &'static dyn Family {
    let module = painter().module();
    let found = FAMILIES
        .iter()
        .find(|family| family.painter().module() == module);
    *found.expect("a family for each painter")
}
