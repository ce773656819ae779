// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Helpers that several topics use: small streams, a check that the engine works, a device at rest.

use crate::refusal::refused_for;
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::abi::{self, info_request};
use lapidary_guest::on_upstream;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::submit::{Chunk, Envelope, after, before};
use lapidary_guest::{Bo, Device, Domain, Errno, Stream};
use lapidary_harness::control::Control;
use lapidary_harness::limit::Limit;
use lapidary_harness::syncobj::Sync;
use lapidary_harness::{Context, debugfs, patience, skip};
use lapidary_uapi_shared::recovery::BRUSH;
use lapidary_uapi_shared::{self as shared, Interface, Job};
use std::rc::Rc;
use std::time::Duration;

pub use lapidary_harness::limit::within;
pub use lapidary_harness::sysfs::{Reprobe, bound};
pub use lapidary_harness::untouched;
pub use lapidary_uapi_shared::PITCH;
/// Pixels of a row.
pub const WIDTH: i32 = shared::WIDTH as i32;

/// The interface, for the tests that hold for every interface.
pub struct Radeon;

impl Interface for Radeon {
    type Device = Device;
    type Place = Domain;
    type Bo = Bo;
    type Job = Envelope;

    const NAME: &'static str = "radeon";
    const VIDEO: Domain = Domain::Vram;
    const SYSTEM: Domain = Domain::Gtt;
    const USUAL: Domain = Domain::Gtt;

    fn create(device: &Rc<Device>, bytes: u64, domain: Domain) -> Result<Bo, Errno> {
        device.create(bytes, domain)
    }

    fn surface(device: &Rc<Device>, rows: u32, domain: Domain) -> Result<Bo> {
        surface(device, rows, domain)
    }

    fn nothing() -> Envelope {
        Envelope::of(&nothing())
    }

    fn fill(bo: &Bo, colour: u32, times: usize) -> Envelope {
        Envelope::of(&fill_often(bo, colour, times))
    }

    fn copy(from: &Bo, to: &Bo) -> Envelope {
        Envelope::of(&copy(from, to))
    }

    fn paint(bo: &Bo, corner: (u32, u32), colour: u32) -> Envelope {
        let mut stream = painter().stream();
        painter().fill(&mut stream, Area::new(bo, PITCH), colour, brush(corner));
        Envelope::of(&stream)
    }

    fn painted(_: u32, colour: u32) -> u32 {
        colour
    }

    fn stamp(bo: &Bo, (x, y): (u32, u32), to: (u32, u32)) -> Envelope {
        let mut stream = painter().stream();
        let (area, from) = (Area::new(bo, PITCH), (x as i32, y as i32));
        painter().copy(&mut stream, area, area, from, brush(to));
        Envelope::of(&stream)
    }

    fn refused_for(
        what: &str,
        device: &Device,
        job: &Envelope,
        error: Errno,
        (reason, position): (u32, u32),
    ) -> Result<()> {
        refused_for(what, device, job, error, reason, position)
    }

    fn resets(device: &Device) -> Result<u64> {
        Ok(device.reset_counter()?.into())
    }

    fn is_guilty(device: &Device) -> Result<()> {
        let status = device.reset_status()?;
        ensure!(
            status.flags & 1 == 1 && status.guilty == 1 && status.innocent <= 1,
            "the guilty is told {status:?}"
        );
        ensure!(status.resets == device.reset_counter()?, "{status:?}");
        accelerates(device)
    }

    fn is_innocent(device: &Device) -> Result<()> {
        let status = device.reset_status()?;
        ensure!(
            status.flags & 1 == 0 && status.guilty == 0 && status.innocent == 1,
            "an innocent is told {status:?}"
        );
        ensure!(status.resets == device.reset_counter()?, "{status:?}");
        Ok(())
    }
}

impl Job<Radeon> for Envelope {
    fn after(self, syncs: &[Sync]) -> Envelope {
        self.with(before(syncs))
    }

    fn signals(self, syncs: &[Sync]) -> Envelope {
        self.with(after(syncs))
    }

    fn submit(&self, device: &Device) -> Result<(), Errno> {
        self.submit_again(device)
    }
}

/// Return the rectangle that a test of every interface paints at once.
fn brush((x, y): (u32, u32)) -> Rect {
    Rect::new(x as i32, y as i32, BRUSH.0 as i32, BRUSH.1 as i32)
}

/// Check that the driver says that the GPU works.
pub fn accelerates(device: &Device) -> Result<()> {
    let working = device.info(const { info_request("ACCEL_WORKING2") })?;
    ensure!(working == 1, "ACCEL_WORKING2 is {working}");
    Ok(())
}

/// Check that the engine works: draw into a new object and read it.
pub fn engine_works(device: &Rc<Device>) -> Result<()> {
    shared::engine_works::<Radeon>(device)
}

/// Make a stream that does nothing.
pub fn nothing() -> Stream {
    let mut stream = painter().stream();
    painter().nothing(&mut stream);
    stream
}

/// Number of chunks of [`envelope`], and so the index of the first one that a test adds.
pub const CHUNKS: u32 = 2;
/// A number that is no ring's.
pub const NO_RING: u32 = 99;

/// Make an envelope with these commands, and with the flags and the ring of the painter's streams. It lists no objects.
pub fn envelope(commands: Chunk) -> Envelope {
    Envelope::with_flags_of(&painter().stream(), commands)
}

/// Make an envelope that the driver refuses with `EINVAL` before it reaches the ring: for its commands, or, where the
/// driver does not check commands, for its ring.
pub fn refused_envelope() -> Envelope {
    match painter().forbidden().first() {
        Some(forbidden) => envelope(Chunk::commands(&forbidden.words)),
        None => on_ring(NO_RING, painter().stream().flags()[0]),
    }
}

/// Make an envelope that does nothing, with any flags and for any ring.
pub fn on_ring(ring: u32, flags: u32) -> Envelope {
    Envelope::new()
        .with(Chunk::commands(nothing().words()))
        .with(Chunk::flags(&[flags, ring]))
}

/// Return the flags without which a submission of the painter's streams is refused.
pub fn needed_flags() -> u32 {
    painter().stream().flags()[0] & abi::CS_USE_VM
}

/// Skip the test if the driver does not check the commands of the painter's streams.
pub fn needs_checker() -> Result<()> {
    if painter().forbidden().is_empty() {
        return skip("the driver does not check commands");
    }
    Ok(())
}

/// Make `dwords` commands without effect.
pub fn fillers(dwords: usize) -> Vec<u32> {
    vec![painter().filler(); dwords]
}

/// Make an object that is a black surface of `rows` rows.
pub fn surface(device: &Rc<Device>, rows: u32, domain: Domain) -> Result<Bo> {
    let bo = device
        .create(u64::from(PITCH * rows), domain)
        .with_context(|| format!("a surface in {domain:?}"))?;
    if on_upstream(device) {
        // Its video memory is as the last user left it.
        bo.write(&vec![0; (bo.size() / 4) as usize])?;
    }
    Ok(bo)
}

/// Return the rectangle of all of an object, as a surface.
fn whole(bo: &Bo) -> Rect {
    Rect::new(0, 0, WIDTH, (bo.size() / u64::from(PITCH)) as i32)
}

/// Make a stream that fills an object.
pub fn fill(bo: &Bo, colour: u32) -> Stream {
    fill_often(bo, colour, 1)
}

/// Make a stream that fills an object `times` times, for tests that keep the GPU busy.
pub fn fill_often(bo: &Bo, colour: u32, times: usize) -> Stream {
    let mut stream = painter().stream();
    for _ in 0..times {
        painter().fill(&mut stream, Area::new(bo, PITCH), colour, whole(bo));
    }
    stream
}

/// Make a stream that copies one object to another of the same size.
pub fn copy(from: &Bo, to: &Bo) -> Stream {
    let mut stream = painter().stream();
    let (source, target) = (Area::new(from, PITCH), Area::new(to, PITCH));
    painter().copy(&mut stream, source, target, (0, 0), whole(to));
    stream
}

/// Return the bytes that objects take of video memory and of system memory.
pub fn usage(device: &Device) -> Result<[u64; 2]> {
    Ok([
        device.info(const { info_request("VRAM_USAGE") })?,
        device.info(const { info_request("GTT_USAGE") })?,
    ])
}

/// Return the same once it does not change any more. The worker releases a job's memory a little after the job is done.
pub fn settled(device: &Device) -> Result<[u64; 2]> {
    let mut last = usage(device)?;
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(150) * patience());
        let now = usage(device)?;
        if now == last {
            return Ok(now);
        }
        last = now;
    }
    bail!("what is in use changes all the time")
}

/// Read a register of the model, by name, without side effects.
pub fn peek(control: &mut Control, register: &str) -> Result<u32> {
    let lines = control.request(&format!("peek {register}"))?;
    let text = lines.first().context("no answer")?;
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16)
        .with_context(|| format!("{register}: {text}"))
}

/// Have the next indirect buffer hang before its first command, and once more when it is executed again. `begin`
/// submits it. When this returns it has hung once, and has not been executed again.
pub fn hang_twice<R>(context: &mut Context, begin: impl FnOnce() -> Result<R>) -> Result<R> {
    let control = context.control()?;
    let executed = |control: &mut Control| control.counters()?.get("indirect_buffers");
    let before = executed(control)?;
    control.fault("hang-buffer", 1)?;
    let result = begin()?;
    let mut limit = Limit::new(Duration::from_secs(1));
    while executed(control)? == before {
        limit.rest("no buffer is executed")?;
    }
    control.fault("hang-buffer", 1)?;
    Ok(result)
}

/// Return the bytes of free video memory that our driver knows to be zero.
pub fn stock(device: &Device) -> Result<u64> {
    let text = debugfs::read(device, "memory")?;
    let line = text.lines().next().unwrap_or_default();
    let bytes = line
        .strip_suffix(" in stock")
        .and_then(|line| line.rsplit(' ').next());
    let bytes = bytes.with_context(|| format!("{line:?} says nothing of a stock"))?;
    Ok(bytes.parse()?)
}

/// Wait until our driver knows at least 1 MiB of free video memory to be zero, and return how much it is.
pub fn stocked(device: &Rc<Device>) -> Result<u64> {
    const ENOUGH: u64 = 1 << 20;
    for _ in 0..40 {
        // Its memory returns to the stock, as it was not used.
        device.create(ENOUGH, Domain::Vram)?.wait()?;
        let bytes = stock(device)?;
        if bytes >= ENOUGH {
            return Ok(bytes);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("nothing comes to the stock")
}

/// Take all video memory that our driver knows to be zero, so that the ring has to clear the next object.
pub fn emptied(device: &Rc<Device>) -> Result<Vec<Bo>> {
    let mut taken = Vec::new();
    for _ in 0..8 {
        let pages = stock(device)? / 4096;
        if pages == 0 {
            return Ok(taken);
        }
        for _ in 0..pages {
            taken.push(device.create(4096, Domain::Vram)?);
        }
    }
    bail!("the stock is not used up")
}

/// Skip the test on a chip that reports fences to memory only.
pub fn needs_kept_fences() -> Result<()> {
    match painter().keeps_fences() {
        true => Ok(()),
        false => skip("fences are in memory only"),
    }
}

/// Skip the test if the kernel's own jobs are on another ring than clients'. The test rests on their order.
pub fn needs_one_ring(device: &Device) -> Result<()> {
    match device.info_with(const { info_request("RING_WORKING") }, abi::RING_DMA) {
        Ok(1) => skip("the kernel's jobs have a ring of their own"),
        _ => Ok(()),
    }
}
