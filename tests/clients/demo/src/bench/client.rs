// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a user interface supplies for the rows.

use crate::radeon::Radeon;
use anyhow::Result;

/// Does something once; told how many times it was done before in this round.
pub type Op = Box<dyn FnMut(usize) -> Result<()>>;

/// Where an object is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Video memory, or the frame buffer.
    Vram,
    /// System memory.
    System,
}

/// A client of one device. Each method prepares something that is done again and again.
pub trait Client {
    /// A submission of `dwords` that names each of `objects`, evenly spread. They are made here, by turns in both places.
    /// It draws nothing.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn submission(&self, dwords: usize, objects: usize) -> Result<Op>;

    /// The submission of 500 dwords and two objects, by two clients in turn.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn by_turns(&self) -> Result<Op>;

    /// A submission of as many small rectangles.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn fills(&self, count: usize) -> Result<Op>;

    /// A submission of 500 dwords that is refused for its last register.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn refusal(&self) -> Result<Op>;

    /// A submission for which the engine works for some milliseconds, and the wait for its end.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn wait(&self) -> Result<Op>;

    /// An object is made and closed; in between the CPU may write to each of its pages.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    fn life(&self, size: u64, place: Place, touch: bool) -> Result<Op>;

    /// Return how often the engine was reset.
    ///
    /// # Errors
    ///
    /// Those of the call.
    fn resets(&self) -> Result<u64>;

    /// Return the client of the `radeon` interface, for rows that only that has.
    fn radeon(&self) -> Option<&Radeon> {
        None
    }
}
