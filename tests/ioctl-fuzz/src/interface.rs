// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a user interface supplies: objects, submissions, and steps that only it has.
//!
//! What processes do and how they are watched does not depend on the interface. An interface implements [`Interface`] over
//! its client library, in a folder of its own.

use crate::objects::{Mark, Object};
use crate::worker::Worker;
use anyhow::Result;
pub use lapidary_harness::interface::{Buffer, Device};
use lapidary_harness::syncobj::Sync;
use rustix::io::Errno;
use std::fmt::Debug;
use std::rc::Rc;

/// An interface, as its client library has it.
pub trait Interface: Sized + 'static {
    /// A client: an open render node.
    type Device: Device;
    /// Where an object is when it is new.
    type Place: Copy + Debug + 'static;
    /// A handle of a client, closed when dropped.
    type Bo: Buffer<Device = Self::Device, Place = Self::Place>;
    /// The argument of a submission, well formed or not.
    type Submission: Submission<Self>;
    /// What a sound submission does to the contents of its objects.
    type Effect;

    /// All places.
    const PLACES: &'static [Self::Place];
    /// The calls of the driver: number of the ioctl, and size of the argument.
    const CALLS: &'static [(u32, usize)];
    /// What is in most of the memory that wild arguments point at. It may be a command without effect.
    const FILLER: u64 = 0;
    /// The CPU may see an object in another way than as lines.
    const SURFACES: bool = false;

    /// Return the steps by their names, and how often each is done beside the others. Names that [`Worker`] does not know
    /// are those of [`Interface::step`].
    fn steps(surfaces: bool) -> Vec<(&'static str, u32)>;

    /// Name the families of the interface. Before a device is opened.
    fn supply() {}

    /// Look at what the device has, once, before there are processes.
    ///
    /// # Errors
    ///
    /// Those of the calls.
    fn look_at(_: &Self::Device) -> Result<()> {
        Ok(())
    }

    /// Return what the model's judge may find in spoilt streams: their pixels come out undefined. No other client's
    /// pixels may. Findings about memory, pages, waiting, or anything that the kernel does are not among these.
    fn own_fault() -> &'static [&'static str];

    /// Return how often the engine was reset.
    ///
    /// # Errors
    ///
    /// Those of the call.
    fn resets(device: &Self::Device) -> Result<u64>;

    /// Return the bytes of all objects of the device, in one number or several.
    ///
    /// # Errors
    ///
    /// Those of the calls.
    fn usage(device: &Self::Device) -> Result<Vec<u64>>;

    /// Return how many submissions of the client were refused; `None` where that does not follow from the errors that it
    /// has got.
    ///
    /// # Errors
    ///
    /// Those of the call.
    fn refusals(_: &Self::Device) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Return whether a submission that gets this error counts as refused.
    fn is_refusal(_: Errno) -> bool {
        false
    }

    /// Create an object of whole pages and return its handle.
    ///
    /// # Errors
    ///
    /// Those of the call.
    fn create(
        rng: &mut fastrand::Rng,
        device: &Self::Device,
        size: u64,
        place: Self::Place,
    ) -> Result<u32, Errno>;

    /// Take over a handle.
    fn adopt(device: Rc<Self::Device>, handle: u32, size: u64, place: Self::Place) -> Self::Bo;

    /// Fill some pixels of an object.
    ///
    /// # Errors
    ///
    /// Those of the submission.
    fn paint(rng: &mut fastrand::Rng, bo: &Self::Bo, colour: u32) -> Result<()>;

    /// Make a submission that has to be accepted, of the objects, of which there is at least one.
    fn sound(
        rng: &mut fastrand::Rng,
        objects: &[Object<Self>],
        mark: Mark,
    ) -> (Self::Submission, Self::Effect);

    /// Do to the contents what the GPU will do to the objects.
    fn apply(effect: &Self::Effect, objects: &[Object<Self>]);

    /// Make a submission that was sound and then lost some of it. It names nothing but `objects`.
    fn spoilt(rng: &mut fastrand::Rng, objects: &[Object<Self>], mark: Mark) -> Self::Submission;

    /// Make a submission whose argument lies.
    fn broken(rng: &mut fastrand::Rng, bo: &Self::Bo) -> Self::Submission;

    /// Make a call that changes nothing that is known, and return whether the driver answers it. `other` is another
    /// client of the process, which knows nothing of the object.
    ///
    /// # Errors
    ///
    /// The answer cannot be.
    fn ask(rng: &mut fastrand::Rng, object: &Object<Self>, other: &Self::Device) -> Result<bool>;

    /// Do a step that only this interface has, and return whether the driver did it.
    ///
    /// # Errors
    ///
    /// What the driver did is wrong, or there is no such step.
    fn step(_: &mut Worker<'_, Self>, name: &str) -> Result<bool> {
        anyhow::bail!("no step {name}")
    }
}

/// The argument of a submission. Its debug form is for a message.
pub trait Submission<I: Interface>: Debug {
    /// Wait for this first.
    fn wait_for(&mut self, sync: Sync);

    /// Signal this at the end.
    fn signal(&mut self, sync: Sync);

    /// Make the call once.
    ///
    /// # Errors
    ///
    /// The kernel's own answer.
    fn issue(&self, device: &I::Device) -> Result<(), Errno>;
}
