// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the client library of every user interface offers. Tests and programs that hold for several interfaces are
//! written in these terms.

use crate::mapping::Mapping;
use crate::node::Node;
use anyhow::{Result, ensure};
use rustix::io::Errno;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;

/// A client: an open render node.
pub trait Device: Deref<Target = Arc<Node>> + AsFd + Sized {
    /// Open the first render node with this interface.
    ///
    /// # Errors
    ///
    /// There is none.
    fn open() -> Result<Rc<Self>>;

    /// Open another client of the same device.
    ///
    /// # Errors
    ///
    /// The device is gone.
    fn another(&self) -> Result<Rc<Self>>;
}

/// An object of a client; its handle is closed when dropped.
pub trait Buffer {
    /// Its client.
    type Device: Device;
    /// Where objects are.
    type Place;

    /// Return the handle.
    fn handle(&self) -> u32;

    /// Return its bytes.
    fn size(&self) -> u64;

    /// Return where it was made.
    fn place(&self) -> Self::Place;

    /// Return the client.
    fn device(&self) -> &Rc<Self::Device>;

    /// Wait until the GPU is done with it.
    ///
    /// # Errors
    ///
    /// The kernel's answer.
    fn wait(&self) -> Result<(), Errno>;

    /// Return whether the GPU has work for it.
    ///
    /// # Errors
    ///
    /// The kernel's answer.
    fn is_busy(&self) -> Result<bool, Errno>;

    /// Map all of it, shared.
    ///
    /// # Errors
    ///
    /// The kernel's answer.
    fn map(&self) -> Result<Mapping, Errno>;

    /// Write dwords from its start, through a mapping of its own.
    ///
    /// # Errors
    ///
    /// There are more than it has, or it cannot be mapped.
    fn write(&self, words: &[u32]) -> Result<()> {
        ensure!(
            words.len() as u64 * 4 <= self.size(),
            "{} dwords into {} bytes",
            words.len(),
            self.size()
        );
        self.map()?.write(0, words);
        Ok(())
    }

    /// Wait for the GPU, then read all whole dwords.
    ///
    /// # Errors
    ///
    /// The wait fails, or it cannot be mapped.
    fn read(&self) -> Result<Vec<u32>> {
        self.wait()?;
        Ok(self.map()?.read(0, (self.size() / 4) as usize))
    }
}
