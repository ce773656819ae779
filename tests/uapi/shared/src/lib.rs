// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests that every driver of ours must pass, whatever its user interface. Each is a function of an [`Interface`]. The
//! program of an interface implements that, and gives the test its name, and what it declares.
//!
//! | file | what |
//! | --- | --- |
//! | [`binding`] | the device is taken away from its driver |
//! | [`calls`] | calls of the wrong size or number, and random arguments |
//! | [`faults`] | a device that misbehaves but does not hang |
//! | [`fdinfo`] | what `/proc/PID/fdinfo` says |
//! | [`isolation`] | clients that look for each other's data |
//! | [`recovery`] | hangs |
//! | [`removal`] | the device is removed in use, and put back |
//! | [`stress`] | processes and threads at the same time |
//! | [`syncobj`] | synchronisation objects on submissions |

pub mod binding;
pub mod calls;
pub mod faults;
pub mod fdinfo;
pub mod isolation;
pub mod recovery;
pub mod removal;
pub mod stress;
pub mod syncobj;

use anyhow::{Context as _, Result, ensure};
use lapidary_harness::Context;
use lapidary_harness::interface::{Buffer, Device};
use lapidary_harness::limit::insist;
use lapidary_harness::syncobj::Sync;
use lapidary_harness::sysfs::Reprobe;
use rustix::io::Errno;
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

/// Bytes from row to row of the surfaces that tests draw on. Pixels have 32 bits.
pub const PITCH: u32 = 256;
/// Pixels of a row.
pub const WIDTH: u32 = PITCH / 4;
/// What the position of a refusal is that is about none.
pub const NOWHERE: u32 = u32::MAX;

/// An interface, as the tests here use it. Surfaces are objects of whole rows of [`PITCH`] bytes.
pub trait Interface: Sized + 'static {
    /// A client.
    type Device: Device;
    /// Where an object is when it is new.
    type Place: Copy + Debug + PartialEq;
    /// An object.
    type Bo: Buffer<Device = Self::Device, Place = Self::Place>;
    /// A submission.
    type Job: Job<Self>;

    /// The name of the driver, as the DRM core reports it.
    const NAME: &'static str;
    /// The memory that belongs to the chip.
    const VIDEO: Self::Place;
    /// System memory.
    const SYSTEM: Self::Place;
    /// Where a surface is if nothing speaks for another place.
    const USUAL: Self::Place;

    /// Create an object.
    ///
    /// # Errors
    ///
    /// The kernel's answer.
    fn create(device: &Rc<Self::Device>, bytes: u64, place: Self::Place)
    -> Result<Self::Bo, Errno>;

    /// Create a black surface.
    ///
    /// # Errors
    ///
    /// The object cannot be made.
    fn surface(device: &Rc<Self::Device>, rows: u32, place: Self::Place) -> Result<Self::Bo>;

    /// Make a job that does nothing.
    fn nothing() -> Self::Job;

    /// Make a job that fills a surface `times` times.
    fn fill(bo: &Self::Bo, colour: u32, times: usize) -> Self::Job;

    /// Make a job that copies one surface to another of the same size.
    fn copy(from: &Self::Bo, to: &Self::Bo) -> Self::Job;

    /// Make a job that paints [`recovery::BRUSH`] pixels of a surface from a corner on, x before y.
    fn paint(bo: &Self::Bo, corner: (u32, u32), colour: u32) -> Self::Job;

    /// Return what a pixel is that was painted.
    fn painted(pixel: u32, colour: u32) -> u32;

    /// Make a job that copies [`recovery::BRUSH`] pixels of a surface from one corner to another.
    fn stamp(bo: &Self::Bo, from: (u32, u32), to: (u32, u32)) -> Self::Job;

    /// Submit, and check that it is refused with this error, for this reason, at this position, and counted once.
    ///
    /// # Errors
    ///
    /// It is not.
    fn refused_for(
        what: &str,
        device: &Self::Device,
        job: &Self::Job,
        error: Errno,
        why: (u32, u32),
    ) -> Result<()>;

    /// Return the resets of the device.
    ///
    /// # Errors
    ///
    /// The kernel's answer.
    fn resets(device: &Self::Device) -> Result<u64>;

    /// Check that a client is known to have hung the GPU once, and that the GPU works.
    ///
    /// # Errors
    ///
    /// It is not so.
    fn is_guilty(device: &Self::Device) -> Result<()>;

    /// Check that a client is known to have hung nothing, and to have lived through one reset.
    ///
    /// # Errors
    ///
    /// It is not so.
    fn is_innocent(device: &Self::Device) -> Result<()>;
}

/// A submission.
pub trait Job<I: Interface>: Sized {
    /// Wait for more objects.
    fn after(self, syncs: &[Sync]) -> Self;

    /// Signal more objects.
    fn signals(self, syncs: &[Sync]) -> Self;

    /// Submit it.
    ///
    /// # Errors
    ///
    /// The kernel's answer.
    fn submit(&self, device: &I::Device) -> Result<(), Errno>;
}

/// Return a client of the device.
fn device<I: Interface>() -> Result<Rc<I::Device>> {
    insist(Duration::from_secs(5), I::Device::open)
}

/// Make the fence of the next submission late, by half a second or a little less.
fn late(context: &mut Context) -> Result<()> {
    context.control()?.fault("late-fence", 1)
}

/// Check that the engine works: draw into a new object and read it.
///
/// # Errors
///
/// It does not.
pub fn engine_works<I: Interface>(device: &Rc<I::Device>) -> Result<()> {
    let bo = I::surface(device, 16, I::USUAL)?;
    let colour = 0x1234_5678;
    I::fill(&bo, colour, 1)
        .submit(device)
        .context("submitting a fill")?;
    let seen = bo.read().context("waiting for a fill")?;
    ensure!(
        seen.iter().all(|&pixel| pixel == colour),
        "a fill left {:#010x}",
        seen[0]
    );
    Ok(())
}

/// Clear faults, probe the device again, and check that it works, with nothing of the fault left.
///
/// # Errors
///
/// It does not.
pub fn after_reprobe<I: Interface>(context: &mut Context, reprobe: &Reprobe) -> Result<()> {
    if let Some(control) = context.control_if_any() {
        control.clear_faults()?;
    }
    reprobe.now()?;
    let device = device::<I>()?;
    engine_works::<I>(&device).context("after a new probe")?;
    let resets = I::resets(&device)?;
    ensure!(resets == 0, "{resets} resets after a new probe");
    Ok(())
}
