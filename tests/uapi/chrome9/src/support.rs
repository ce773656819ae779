// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Helpers that several topics use: small streams, a check that the engine works, a device at rest.

use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::{self, Param, Sync};
use lapidary_chrome9_client::blit::{Blit, Depth, Rect, Surface};
use lapidary_chrome9_client::{Bo, Device, Errno, Place, Stream, Submission, emit};
use lapidary_harness::{Context, debugfs, refused};
use lapidary_uapi_shared::recovery::BRUSH;
use lapidary_uapi_shared::{self as shared, Interface, Job};
use std::rc::Rc;

pub use lapidary_harness::limit::within;
pub use lapidary_harness::sysfs::{Reprobe, bound};
pub use lapidary_harness::untouched;
pub use lapidary_uapi_shared::{NOWHERE, PITCH, WIDTH};
/// Pixels of most surfaces have 32 bits.
pub const DEPTH: Depth = Depth::Bits32;

/// The interface, for the tests that hold for every interface.
pub struct Chrome9;

impl Interface for Chrome9 {
    type Device = Device;
    type Place = Place;
    type Bo = Bo;
    type Job = Submission;

    const NAME: &'static str = abi::NAME;
    const VIDEO: Place = Place::FrameBuffer;
    const SYSTEM: Place = Place::System;
    const USUAL: Place = Place::FrameBuffer;

    fn create(device: &Rc<Device>, bytes: u64, place: Place) -> Result<Bo, Errno> {
        device.create(bytes, place)
    }

    fn surface(device: &Rc<Device>, rows: u32, place: Place) -> Result<Bo> {
        surface(device, rows, place)
    }

    fn nothing() -> Submission {
        Submission::nothing()
    }

    fn fill(bo: &Bo, colour: u32, times: usize) -> Submission {
        Submission::of(&fill_often(bo, colour, times))
    }

    fn copy(from: &Bo, to: &Bo) -> Submission {
        Submission::of(&copy(from, to))
    }

    /// Invert pixels, so that a job that is executed twice shows.
    fn paint(bo: &Bo, corner: (u32, u32), colour: u32) -> Submission {
        let fill = Blit::fill(DEPTH, on(0), brush(corner), colour).with_rop(0x5a);
        Submission::of(&stream(&[bo], &[fill]))
    }

    fn painted(pixel: u32, colour: u32) -> u32 {
        pixel ^ colour
    }

    fn stamp(bo: &Bo, from: (u32, u32), to: (u32, u32)) -> Submission {
        let copy = Blit::copy(DEPTH, on(0), brush(to), on(0), from);
        Submission::of(&stream(&[bo], &[copy]))
    }

    fn refused_for(
        what: &str,
        device: &Device,
        job: &Submission,
        error: Errno,
        why: (u32, u32),
    ) -> Result<()> {
        refused_for(what, device, job, error, why)
    }

    fn resets(device: &Device) -> Result<u64> {
        Ok(device.param(Param::Resets)?)
    }

    fn is_guilty(device: &Device) -> Result<()> {
        let caused = device.param(Param::GuiltyResets)?;
        ensure!(caused == 1, "it has caused {caused} resets");
        Ok(())
    }

    fn is_innocent(device: &Device) -> Result<()> {
        let caused = device.param(Param::GuiltyResets)?;
        ensure!(caused == 0, "it has caused {caused} resets");
        Ok(())
    }
}

impl Job<Chrome9> for Submission {
    fn after(mut self, syncs: &[Sync]) -> Submission {
        self.wait.extend(syncs);
        self
    }

    fn signals(mut self, syncs: &[Sync]) -> Submission {
        self.signal.extend(syncs);
        self
    }

    fn submit(&self, device: &Device) -> Result<(), Errno> {
        self.issue(device)
    }
}

/// Return the rectangle that a test of every interface paints at once.
fn brush((x, y): (u32, u32)) -> Rect {
    Rect::new(x, y, BRUSH.0, BRUSH.1)
}

/// Check that the engine works: draw into a new object and read it.
pub fn engine_works(device: &Rc<Device>) -> Result<()> {
    shared::engine_works::<Chrome9>(device)
}

/// Clear faults, probe the device again, and check that it works.
pub fn after_reprobe(context: &mut Context, reprobe: &Reprobe) -> Result<()> {
    shared::after_reprobe::<Chrome9>(context, reprobe)
}

/// Create an object that is a black surface of `rows` rows.
pub fn surface(device: &Rc<Device>, rows: u32, place: Place) -> Result<Bo> {
    device
        .create(u64::from(PITCH * rows), place)
        .with_context(|| format!("a surface in {place}"))
}

/// Return an object's place in a list as a surface.
pub const fn on(object: usize) -> Surface {
    Surface {
        object,
        offset: 0,
        pitch: PITCH,
    }
}

/// Return the rectangle of all of an object, as a surface.
pub fn whole(bo: &Bo) -> Rect {
    Rect::new(0, 0, WIDTH, (bo.size() / u64::from(PITCH)) as u32)
}

/// Make a stream of blits, whose surfaces name objects by position.
pub fn stream(objects: &[&Bo], blits: &[Blit]) -> Stream {
    let handles: Vec<u32> = objects.iter().map(|bo| bo.handle()).collect();
    let mut stream = Stream::new();
    for blit in blits {
        emit::blit(&mut stream, &handles, blit);
    }
    stream
}

/// Make a stream that fills an object.
pub fn fill(bo: &Bo, colour: u32) -> Stream {
    fill_often(bo, colour, 1)
}

/// Make a stream that fills an object `times` times.
pub fn fill_often(bo: &Bo, colour: u32, times: usize) -> Stream {
    let fill = Blit::fill(DEPTH, on(0), whole(bo), colour);
    stream(&[bo], &vec![fill; times])
}

/// Make a stream that copies one object to another of the same size.
pub fn copy(from: &Bo, to: &Bo) -> Stream {
    let copy = Blit::copy(DEPTH, on(1), whole(to), on(0), (0, 0));
    stream(&[from, to], &[copy])
}

/// Submit, and check that it is refused with this error, for this reason, at this position.
pub fn refused_for(
    what: &str,
    device: &Device,
    submission: &Submission,
    error: Errno,
    (reason, position): (u32, u32),
) -> Result<()> {
    bent_refused_for(what, device, submission, |_| (), error, (reason, position))
}

/// As [`refused_for`], with a change of the ioctl's argument.
pub fn bent_refused_for(
    what: &str,
    device: &Device,
    submission: &Submission,
    bend: impl FnOnce(&mut abi::Submit),
    error: Errno,
    (reason, position): (u32, u32),
) -> Result<()> {
    let before = device.refusal()?.count;
    refused(what, submission.issue_bent(device, bend), error)?;
    let last = device.refusal()?;
    ensure!(
        last.count == before + 1,
        "{what}: {} refusals after {before}",
        last.count
    );
    ensure!(
        last.reason == reason && last.position == position,
        "{what}: expected reason {reason:#x} at {position}, found {:#x} at {}",
        last.reason,
        last.position
    );
    Ok(())
}

/// Submit a stream whose fence the model makes half a second late.
pub fn submit_late(context: &mut Context, device: &Device, stream: &Stream) -> Result<()> {
    context.control()?.fault("late-fence", 1)?;
    Ok(device.submit(stream)?)
}

/// Return whether an object is in the frame buffer at this moment.
pub fn is_in_frame_buffer(bo: &Bo) -> Result<bool> {
    let list = debugfs::read(&**bo.device(), "objects")?;
    let mine = list
        .split("client ")
        .find(|part| part.contains(&format!("pid {}:", std::process::id())))
        .unwrap_or(&list);
    let begin = format!("handle {}: ", bo.handle());
    let line = mine.lines().find(|line| line.contains(&begin));
    let line = line.with_context(|| format!("no `{begin}` in {list}"))?;
    Ok(line.contains("bytes in vram"))
}
