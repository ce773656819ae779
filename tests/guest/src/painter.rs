// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a family's engines do for tests that every radeon driver must pass.
//!
//! A test that holds for all families needs little of the GPU: filled and copied pixels, a job without effect, and some
//! facts about the chip that only the device model shows. [`Painter`] is that little. Each family implements it with
//! the engine that it has: R5xx by 2D drawing in rectangles, a family without a 2D engine by linear fills and copies,
//! row by row.
//!
//! The interface has two forms of submission. Where clients share one set of GPU addresses, commands name objects by
//! relocation markers, and the driver checks the commands. Where each client has an address space
//! ([`CS_USE_VM`](crate::abi::CS_USE_VM)), commands hold addresses, the hardware confines the client, and the driver
//! need not look at the commands. In both forms a chunk lists the objects that a submission uses.
//!
//! A program names its painters once ([`supply`]). The first [`Device`] that the process opens decides which one paints
//! ([`painter`]), by the chip's id, as user space does.

use crate::abi::info_request;
use crate::bo::Bo;
use crate::device::Device;
use crate::pm4;
use crate::stream::Stream;
use anyhow::Result;
use lapidary_harness::control::Control;
use lapidary_harness::skip;
use rustix::io::Errno;
use std::sync::OnceLock;
use std::time::Duration;

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub w: i32,
    /// Height.
    pub h: i32,
}

impl Rect {
    /// Make a rectangle of its corner and size.
    pub const fn new(x: i32, y: i32, w: i32, h: i32) -> Rect {
        Rect { x, y, w, h }
    }
}

/// Linear rows of 32-bit pixels in an object.
#[derive(Clone, Copy, Debug)]
pub struct Area<'a> {
    /// The object.
    pub bo: &'a Bo,
    /// Bytes from its start to the first row, a multiple of 1024.
    pub offset: u32,
    /// Bytes from row to row, a multiple of 256 up to 8192.
    pub pitch: u32,
}

impl<'a> Area<'a> {
    /// Return the rows from the start of an object.
    pub fn new(bo: &'a Bo, pitch: u32) -> Area<'a> {
        Area {
            bo,
            offset: 0,
            pitch,
        }
    }
}

/// What a family supplies. Methods that take a stream append to it, and leave nothing behind that the next ones depend
/// on.
///
/// Objects are named by [`Bo`]. A family whose commands have relocations marks them ([`Stream::relocation`]). One whose
/// clients have address spaces maps objects ([`Painter::map`]) and writes their addresses ([`Stream::address`]).
pub trait Painter: Sync {
    /// Return the name of the family's module.
    fn module(&self) -> &'static str;

    /// Return whether this is a chip of the family (INFO `DEVICE_ID`).
    fn knows(&self, device_id: u32) -> bool;

    /// Return an empty stream, with the flags and the ring of this painter's submissions. The flags say whether
    /// addresses are virtual. The ring is the first one of the driver, by whose number the log names a hang.
    fn stream(&self) -> Stream {
        Stream::new()
    }

    /// Map an object into its client's address space for reading and writing, and return its address there; `None` in a
    /// family whose clients have no address spaces. Called once for each object, when the client has got its handle.
    /// Closing the handle unmaps it.
    ///
    /// # Errors
    ///
    /// Those of GEM_VA.
    fn map(&self, _bo: &Bo) -> Result<Option<u64>, Errno> {
        Ok(None)
    }

    /// Return commands that the driver refuses at their first dword. Empty if the driver does not check commands,
    /// because the hardware confines each client to its address space.
    fn forbidden(&self) -> Vec<Forbidden>;

    /// Fill a rectangle with one colour.
    fn fill(&self, stream: &mut Stream, to: Area<'_>, colour: u32, rect: Rect);

    /// Copy to a rectangle from one of the same size, whose corner is given. The two do not overlap.
    fn copy(&self, stream: &mut Stream, from: Area<'_>, to: Area<'_>, at: (i32, i32), rect: Rect);

    /// Draw a triangle over the first `rows` rows in 3D, as a piece of work that the model counts (`draws…`). `false`
    /// if the painter cannot; nothing is appended then.
    fn triangle(&self, stream: &mut Stream, to: Area<'_>, rows: u32) -> bool;

    /// Name an object that the stream reads, and do nothing with it.
    fn mention(&self, stream: &mut Stream, bo: &Bo);

    /// Do nothing, without naming an object.
    fn nothing(&self, stream: &mut Stream);

    /// Return a dword that is a command without effect, by which streams are padded.
    fn filler(&self) -> u32 {
        pm4::PACKET2
    }

    /// Make the next job hang before its end. A driver that checks streams lets none pass that never ends, so the
    /// model does it.
    fn hang(&self, control: &mut Control) -> Result<()> {
        control.fault("endless-buffer", 1)
    }

    /// Return whether the chip keeps the number of the last fence in a register, too. If it does not, a fence whose write
    /// to memory is lost is a hang.
    fn keeps_fences(&self) -> bool {
        true
    }

    /// Return the bytes from the start of the GPU's addresses to the object, as the model sees it. The object is idle
    /// afterwards.
    fn address(&self, control: &mut Control, bo: &Bo) -> Result<u64>;

    /// Fail if the chip still runs, or still reaches the machine's memory, once its driver has let go.
    fn is_stopped(&self, control: &mut Control) -> Result<()>;

    /// Return the names of registers that show where an engine is. Dumps and debugfs have them.
    fn registers(&self) -> &'static [&'static str];
}

/// Commands that a driver refuses with `EINVAL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The commands. The first dword is the one at fault.
    pub words: Vec<u32>,
    /// Number of the reason that our driver gives.
    pub reason: u32,
}

static SUPPLIED: OnceLock<&'static [&'static dyn Painter]> = OnceLock::new();
static CHOSEN: OnceLock<&'static dyn Painter> = OnceLock::new();

/// Name this program's painters.
pub fn supply(painters: &'static [&'static dyn Painter]) {
    assert!(SUPPLIED.set(painters).is_ok(), "painters are named once");
}

/// Choose the painter of a device, if none is chosen and there are painters to choose from. A device that a search has
/// opened has its painter already.
pub fn choose(device: &Device) {
    let Some(painters) = SUPPLIED.get() else {
        return;
    };
    if CHOSEN.get().is_some() {
        return;
    }
    let Ok(id) = device.info(const { info_request("DEVICE_ID") }) else {
        return;
    };
    if let Some(painter) = painters.iter().find(|painter| painter.knows(id as u32)) {
        // Another thread can only have found the same.
        let _ = CHOSEN.set(*painter);
    }
}

/// Return the painter of the device that this process has opened.
///
/// # Panics
///
/// Before a device was opened, or on a chip that no painter knows.
pub fn painter() -> &'static dyn Painter {
    *CHOSEN.get().expect("a device of a family with a painter")
}

/// Map an object by the chosen painter, if there is one.
pub(crate) fn map(bo: &Bo) -> Result<Option<u64>, Errno> {
    CHOSEN.get().map_or(Ok(None), |painter| painter.map(bo))
}

/// Skip the test if the device is not of this painter's family.
///
/// # Errors
///
/// There is no device.
pub fn only_on(family: &dyn Painter) -> Result<()> {
    Device::open_within(Duration::from_secs(5))?;
    if painter().module() != family.module() {
        return skip(format!("a test of {}", family.module()));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
