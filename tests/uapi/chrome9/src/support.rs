// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Helpers that several topics use: small streams, a check that the engine works, a device at rest.

use anyhow::{Context as _, Result, bail, ensure};
use lapidary_chrome9_client::blit::{Blit, Depth, Rect, Surface};
use lapidary_chrome9_client::{
    Bo, Client as _, Device, Errno, Place, Stream, Submission, abi, emit,
};
use lapidary_harness::control::{Control, Counters};
use lapidary_harness::foreign::Vgem;
use lapidary_harness::limit::timed;
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, patience, refused, skip};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Bytes from row to row of the surfaces that tests draw on.
pub const PITCH: u32 = 256;
/// Pixels of a row.
pub const WIDTH: u32 = PITCH / 4;
/// Pixels of most surfaces have 32 bits.
pub const DEPTH: Depth = Depth::Bits32;
/// What a position is that says none.
pub const NOWHERE: u32 = abi::NOWHERE;

/// Open vgem, a driver whose memory and fences others can use. Skip the test where there is none.
pub fn vgem() -> Result<Vgem> {
    match Vgem::open()? {
        Some(vgem) => Ok(vgem),
        None => skip("there is no vgem"),
    }
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

/// Check that the engine works: draw into a new object and read it.
pub fn engine_works(device: &Rc<Device>) -> Result<()> {
    let bo = surface(device, 16, Place::FrameBuffer)?;
    let colour = 0x1234_5678;
    device
        .submit(&fill(&bo, colour))
        .context("submitting a fill")?;
    let seen = bo.read().context("waiting for a fill")?;
    ensure!(
        seen.iter().all(|&pixel| pixel == colour),
        "a fill left {:#010x}",
        seen[0]
    );
    Ok(())
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

/// Wait until the model's counters stand still, and return them.
pub fn quiet(control: &mut Control) -> Result<Counters> {
    let end = Instant::now() + Duration::from_secs(5);
    let mut last = control.counters()?;
    loop {
        std::thread::sleep(Duration::from_millis(40));
        let now = control.counters()?;
        if now == last {
            return Ok(now);
        }
        if Instant::now() > end {
            bail!("the device does not come to rest: {:?}", now.since(&last));
        }
        last = now;
    }
}

/// Run `work` and check that the device saw nothing of it. Without a model only `work` counts.
///
/// The driver may release what earlier work held at any time, so a trace counts only if it is there every time.
pub fn untouched(context: &mut Context, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    for pause in [300, 600, 0] {
        let before = context.control_if_any().map(quiet).transpose()?;
        work()?;
        let after = context.control_if_any().map(quiet).transpose()?;
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(());
        };
        let trace = after.since(&before);
        if trace.is_empty() {
            return Ok(());
        }
        ensure!(pause > 0, "the device saw it: {trace:?}");
        std::thread::sleep(Duration::from_millis(pause));
    }
    Ok(())
}

/// Submit a stream whose fence the model makes half a second late.
pub fn submit_late(context: &mut Context, device: &Device, stream: &Stream) -> Result<()> {
    context.control()?.fault("late-fence", 1)?;
    Ok(device.submit(stream)?)
}

/// Return the PCI device of a client, and its driver's name.
pub fn bound(device: &Device) -> Result<(PciDevice, String)> {
    let pci = PciDevice::of(device)?;
    let driver = pci.driver().context("no driver is bound")?;
    Ok((pci, driver))
}

/// Read one of the driver's files in debugfs. Skip the test where there is none.
pub fn debugfs(device: &Device, name: &str) -> Result<String> {
    let folder = Path::new("/sys/kernel/debug/dri").join(bound(device)?.0.address());
    if !folder.exists() {
        return skip("no debugfs");
    }
    let path = folder.join(format!("lapidary_{name}"));
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// Return whether an object is in the frame buffer at this moment.
pub fn is_in_frame_buffer(bo: &Bo) -> Result<bool> {
    let list = debugfs(bo.device(), "objects")?;
    let mine = list
        .split("client ")
        .find(|part| part.contains(&format!("pid {}:", std::process::id())))
        .unwrap_or(&list);
    let begin = format!("handle {}: ", bo.handle());
    let line = mine.lines().find(|line| line.contains(&begin));
    let line = line.with_context(|| format!("no `{begin}` in {list}"))?;
    Ok(line.contains("bytes in vram"))
}

/// Probes the device again when dropped, so that a test which breaks the engine breaks only itself.
pub struct Reprobe {
    pci: PciDevice,
    driver: String,
}

impl Reprobe {
    /// Return one for the device of a client.
    pub fn of(device: &Device) -> Result<Reprobe> {
        let (pci, driver) = bound(device)?;
        Ok(Reprobe { pci, driver })
    }

    /// Unbind and bind now. The caller's clients of the device are dead afterwards.
    pub fn now(&self) -> Result<()> {
        if self.pci.driver().is_some() {
            self.pci.unbind(&self.driver)?;
        }
        self.pci.bind(&self.driver)
    }
}

impl Drop for Reprobe {
    fn drop(&mut self) {
        if let Err(error) = self.now() {
            eprintln!("giving the device a fresh probe: {error:#}");
        }
    }
}

/// Clear faults, probe the device again, and check that it works.
pub fn after_reprobe(context: &mut Context, reprobe: &Reprobe) -> Result<()> {
    if let Some(control) = context.control_if_any() {
        control.clear_faults()?;
    }
    reprobe.now()?;
    engine_works(&context.device()?).context("after a new probe")
}

/// Run `work`, which must not fork, nor take longer than `limit` (four times that on the debug kernel).
pub fn within<T>(limit: Duration, what: &str, work: impl FnOnce() -> T) -> Result<T> {
    let limit = limit * patience();
    let (answer, taken) = timed(work);
    ensure!(taken <= limit, "{what} took {taken:?}, more than {limit:?}");
    Ok(answer)
}
