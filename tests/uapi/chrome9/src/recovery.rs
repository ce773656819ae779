// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hangs. The driver resets the chip, executes what other clients had submitted, so that their pictures are right, and
//! refuses the client whose stream hung. Every wait is bounded.
//!
//! The device model hangs on demand: its fetcher stops at the next header (`hang`), or executes the next client's stream over
//! and over (`endless-buffer`).

use crate::support::{
    DEPTH, NOWHERE, Reprobe, after_reprobe, engine_works, fill, on, refused_for, stream, surface,
    within,
};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::blit::{Blit, Rect};
use lapidary_chrome9_client::reference::{self, Memory};
use lapidary_chrome9_client::{Bo, Client as _, Device, Errno, Place, Submission, reason};
use lapidary_harness::child::{self, End};
use lapidary_harness::limit::Limit;
use lapidary_harness::syncobj::{Syncobj, fence_status};
use lapidary_harness::uevent::Uevents;
use lapidary_harness::{Context, Test, refused, skip};
use std::fs;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// The bound of a hang (module parameter `hang_ms`, 5 s if not set) and of a reset, and time for a loaded machine.
const BOUND: Duration = Duration::from_secs(20);
/// Rows of the surfaces here.
const ROWS: u32 = 32;
/// Hangs in a row.
const AGAIN: u64 = 4;
/// Hangs of one process until it is refused.
const OF_PROCESS: u64 = 3;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("recovery/a_stuck_ring", |c| innocents(c, "hang"))
            .needs_control()
            .hangs(1),
        Test::new("recovery/an_endless_stream", |c| {
            innocents(c, "endless-buffer")
        })
        .needs_control()
        .hangs(1),
        Test::new("recovery/a_late_success_is_one", at_the_halt).needs_control(),
        Test::new("recovery/the_hung_jobs_fence_has_an_error", fences)
            .needs_control()
            .hangs(1),
        Test::new("recovery/a_second_attempt", second_attempt)
            .needs_control()
            .hangs(1)
            .kernel("GPU reset 1 failed", 1)
            .kernel("ring test failed", 1),
        Test::new("recovery/a_stuck_regulator", stuck_regulator)
            .needs_control()
            .hangs(1)
            .kernel("engines do not become idle", 3)
            .kernel("GPU reset 1 failed", 1)
            .kernel("GPU reset 2 failed", 1)
            .kernel("GPU reset 3 failed", 1)
            .kernel("stopped until a new probe", 1),
        Test::new("recovery/two_guilty", two_guilty)
            .needs_control()
            .hangs(2),
        Test::new("recovery/all_waits_end", all_waits_end)
            .needs_control()
            .hangs(1),
        Test::new("recovery/goes_on_behind_the_rings_end", goes_on)
            .needs_control()
            .hangs(1),
        Test::new("recovery/the_guilty_is_killed", killed)
            .needs_control()
            .hangs(1),
        Test::new("recovery/again_and_again", again_and_again)
            .needs_control()
            .hangs(AGAIN)
            .limit(120),
        Test::new("recovery/hangs_of_a_process_are_limited", limited)
            .needs_control()
            .hangs(OF_PROCESS),
        Test::new("recovery/leaves_a_dump", dump)
            .needs_control()
            .hangs(1),
        Test::new("recovery/wedged", wedged)
            .needs_control()
            .hangs(1)
            .kernel("engines do not become idle", 3)
            .kernel("GPU reset 1 failed", 1)
            .kernel("GPU reset 2 failed", 1)
            .kernel("GPU reset 3 failed", 1)
            .kernel("stopped until a new probe", 1),
    ]
}

/// A client with a surface, whose pictures are built of fills and copies that depend on each other.
struct Artist {
    device: Rc<Device>,
    bo: Bo,
    memory: Memory,
}

impl Artist {
    fn new(device: Rc<Device>, place: Place) -> Result<Artist> {
        let bo = surface(&device, ROWS, place)?;
        bo.wait()?;
        let memory = vec![vec![0; bo.size() as usize]];
        Ok(Artist { device, bo, memory })
    }

    /// Submit one more step of the picture: a fill, and a copy of it. A step that is missing, or executed twice, shows.
    fn step(&mut self, seed: u32) -> Result<()> {
        let colour = seed.wrapping_mul(0x9e37_79b9) | 1;
        let (x, y) = (seed * 7 % 40, seed * 3 % 16);
        let fill = Blit::fill(DEPTH, on(0), Rect::new(x, y, 9, 5), colour).with_rop(0x5a);
        let to = Rect::new(x + 12, y + 6, 9, 5);
        let copy = Blit::copy(DEPTH, on(0), to, on(0), (x + 2, y + 1));
        for blit in [fill, copy] {
            self.device
                .submit(&stream(&[&self.bo], std::slice::from_ref(&blit)))?;
            reference::draw(&mut self.memory, &blit);
        }
        Ok(())
    }

    /// Check that every pixel of the picture is right.
    fn check(&self) -> Result<()> {
        let seen = within(BOUND, "waiting for a picture", || self.bo.read())??;
        for (at, (seen, want)) in seen.iter().zip(self.memory[0].chunks_exact(4)).enumerate() {
            ensure!(
                seen.to_le_bytes() == want,
                "{}: pixel {at} is {seen:#010x}, expected bytes {want:x?}",
                self.bo.place()
            );
        }
        Ok(())
    }
}

/// A client with a job that hangs, when the model is told to.
struct Culprit {
    device: Rc<Device>,
    bo: Bo,
}

impl Culprit {
    fn new(device: Rc<Device>) -> Result<Culprit> {
        let bo = surface(&device, ROWS, Place::FrameBuffer)?;
        bo.wait()?;
        Ok(Culprit { device, bo })
    }

    fn submit(&self, colour: u32) -> Result<(), Errno> {
        self.device.submit(&fill(&self.bo, colour))
    }

    fn hang(&self, context: &mut Context, fault: &str) -> Result<()> {
        context.control()?.fault(fault, 1)?;
        self.submit(1).context("the submission that hangs")
    }

    /// Check that the client is refused, and its memory is still there.
    fn is_refused(&self) -> Result<()> {
        let why = (reason::BANNED, NOWHERE);
        for (what, submission) in [
            ("new work", Submission::of(&fill(&self.bo, 9))),
            ("a stream without effect", Submission::nothing()),
        ] {
            refused_for(what, &self.device, &submission, Errno::CANCELED, why)?;
        }
        let guilty = self.device.param(Param::GuiltyResets)?;
        ensure!(guilty == 1, "it has caused {guilty} resets");
        within(Duration::from_secs(1), "its wait", || self.bo.wait())??;
        self.bo.write(&[7])?;
        ensure!(self.bo.read()?[0] == 7, "its memory does not hold");
        Ok(())
    }
}

fn resets(device: &Device) -> Result<u64> {
    Ok(device.param(Param::Resets)?)
}

/// Hang the chip as the model's `fault` says. The work of other clients is done all the same.
fn innocents(context: &mut Context, fault: &str) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let mut artists = Vec::new();
    for place in [Place::FrameBuffer, Place::System, Place::FrameBuffer] {
        let mut artist = Artist::new(guilty.device.another()?, place)?;
        artist.step(1)?;
        artist.bo.wait()?;
        artists.push(artist);
    }
    let before = resets(&guilty.device)?;
    let mut events = Uevents::listen()?;
    within(BOUND, "all of it", || -> Result<()> {
        guilty.hang(context, fault)?;
        for seed in 2..8 {
            guilty.submit(seed)?;
            for artist in &mut artists {
                artist.step(seed)?;
            }
        }
        for (i, artist) in artists.iter().enumerate() {
            artist.check().with_context(|| format!("client {i}"))?;
        }
        Ok(guilty.bo.wait()?)
    })??;
    let after = resets(&guilty.device)?;
    ensure!(after == before + 1, "{after} resets after {before}");
    let seen = guilty.bo.read()?;
    ensure!(
        seen.iter().all(|&pixel| pixel < 2),
        "jobs of the guilty were executed after its hang"
    );
    guilty.is_refused()?;
    // The event says that the device works, and names the guilty process.
    let event = events.wait(Duration::from_secs(5), |event| {
        event.get("WEDGED").is_some()
    })?;
    let own = std::process::id().to_string();
    ensure!(
        event.get("WEDGED") == Some("none") && event.get("PID") == Some(&own),
        "{event:?}"
    );
    // They go on, and so does a client that comes later.
    for (i, artist) in artists.iter_mut().enumerate() {
        let caused = artist.device.param(Param::GuiltyResets)?;
        ensure!(caused == 0, "client {i} has caused {caused} resets");
        artist.step(20)?;
        artist.check().with_context(|| format!("client {i}"))?;
    }
    engine_works(&guilty.device.another()?)
}

/// A job that completes at the moment when the driver gives it up is a success, and its client goes on.
fn at_the_halt(context: &mut Context) -> Result<()> {
    let mut artist = Artist::new(context.device()?, Place::FrameBuffer)?;
    artist.step(1)?;
    artist.check()?;
    context.control()?.fault("fence-at-halt", 1)?;
    artist.step(2)?;
    artist.check()?;
    artist.step(3)?;
    artist.check()?;
    let guilty = artist.device.param(Param::GuiltyResets)?;
    ensure!(guilty == 0, "it has caused {guilty} resets");
    Ok(())
}

fn fences(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let innocent = guilty.device.another()?;
    let new = |device: &Rc<Device>| Syncobj::new(device, false);
    let (hung, cancelled, fine) = (new(&guilty.device)?, new(&guilty.device)?, new(&innocent)?);
    context.control()?.fault("hang", 1)?;
    let work = |colour| Submission::of(&fill(&guilty.bo, colour));
    work(1).signals(hung.at(0)).issue(&guilty.device)?;
    work(2).signals(cancelled.at(0)).issue(&guilty.device)?;
    Submission::nothing().signals(fine.at(0)).issue(&innocent)?;
    for (what, sync, expected) in [
        ("the hung job", &hung, -libc::EIO),
        ("the job behind it", &cancelled, -libc::ECANCELED),
        ("the innocent's job", &fine, 1),
    ] {
        let file = sync.export_fence()?;
        ensure!(sync.wait(0, BOUND, false)?, "{what} never signals");
        let status = fence_status(file.as_fd())?;
        ensure!(status == expected, "{what} ended with {status}");
    }
    guilty.is_refused()
}

/// The first restart fails, the second does not. Only the log shows it.
fn second_attempt(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let mut innocent = Artist::new(guilty.device.another()?, Place::FrameBuffer)?;
    let before = resets(&guilty.device)?;
    // The second time is in the ring test.
    context.control()?.fault("hang", 2)?;
    guilty.submit(1)?;
    for seed in 1..6 {
        innocent.step(seed)?;
    }
    innocent.check()?;
    guilty.is_refused()?;
    let after = resets(&guilty.device)?;
    ensure!(after == before + 1, "a failed restart counts as a reset");
    Ok(())
}

/// The regulator takes nothing of what the CPU writes, so that no reset reaches it. Every wait ends.
fn stuck_regulator(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let reprobe = Reprobe::of(&guilty.device)?;
    context.control()?.request("fault stuck-regulator")?;
    guilty.submit(1)?;
    within(BOUND, "its wait", || guilty.bo.wait())??;
    let another = guilty.device.another()?;
    let new = Submission::nothing().issue(&another);
    refused("new work", new, Errno::BUSY)?;
    drop((guilty, another));
    after_reprobe(context, &reprobe)
}

/// Two clients whose jobs hang, one after the other; a third has jobs between them.
fn two_guilty(context: &mut Context) -> Result<()> {
    let first = Culprit::new(context.device()?)?;
    let second = Culprit::new(first.device.another()?)?;
    let mut innocent = Artist::new(first.device.another()?, Place::FrameBuffer)?;
    let before = resets(&first.device)?;
    // The second's job is the oldest on the ring after the first reset.
    context.control()?.fault("endless-buffer", 2)?;
    first.submit(1)?;
    second.submit(1)?;
    for seed in 1..4 {
        innocent.step(seed)?;
        first.submit(seed)?;
        second.submit(seed)?;
    }
    within(2 * BOUND, "the wait", || innocent.bo.wait())??;
    innocent.check()?;
    first.is_refused()?;
    second.is_refused()?;
    ensure!(resets(&first.device)? == before + 2, "not two resets");
    innocent.step(9)?;
    innocent.check()
}

/// Every kind of wait ends within the bound when the chip hangs, and no object is busy afterwards.
fn all_waits_end(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let device = guilty.device.another()?;
    let objects: Vec<Bo> = (0..2)
        .map(|_| surface(&device, ROWS, Place::FrameBuffer))
        .collect::<Result<_>>()?;
    for bo in &objects {
        bo.wait()?;
    }
    let done = Syncobj::new(&device, false)?;
    guilty.hang(context, "hang")?;
    for bo in &objects {
        device.submit(&fill(bo, 5))?;
    }
    Submission::nothing().signals(done.at(0)).issue(&device)?;
    // A new object, whose clearing is behind all that, and one that has to move for the engine.
    let unclear = device.create(1 << 20, Place::FrameBuffer)?;
    type Wait<'a> = Box<dyn FnOnce() -> Result<i32> + 'a>;
    let waits: Vec<(&str, Wait<'_>)> = vec![
        ("GEM_WAIT", Box::new(|| Ok(objects[0].wait().map(|()| 0)?))),
        (
            "asking",
            Box::new(|| {
                while objects[1].is_busy()? {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok(0)
            }),
        ),
        (
            "a page fault",
            Box::new(|| Ok(i32::from(unclear.map()?.get(1000) != 0))),
        ),
        (
            "the guilty's GEM_WAIT",
            Box::new(|| Ok(guilty.bo.wait().map(|()| 0)?)),
        ),
        (
            "a synchronisation object",
            Box::new(|| Ok(i32::from(!done.wait(0, BOUND, false)?))),
        ),
    ];
    let mut children = Vec::new();
    for (name, wait) in waits {
        children.push((name, child::spawn(wait)?));
    }
    for (name, child) in children {
        let end = child.wait(BOUND)?;
        ensure!(end == End::Exit(0), "{name} ended with {end:?}");
    }
    for (i, bo) in objects.iter().enumerate() {
        ensure!(!bo.is_busy()?, "object {i} is busy");
        ensure!(bo.read()?.iter().all(|&pixel| pixel == 5), "picture {i}");
    }
    guilty.is_refused()
}

/// After a reset everything works as before, also when the ring begins anew.
fn goes_on(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let mut artist = Artist::new(guilty.device.another()?, Place::FrameBuffer)?;
    guilty.hang(context, "endless-buffer")?;
    within(BOUND, "the guilty's wait", || guilty.bo.wait())??;
    // More jobs than the ring has room for, so that its end is passed.
    for seed in 0..1500 {
        artist.step(seed)?;
    }
    artist.check()
}

/// The guilty client is killed while its job hangs.
fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut innocent = Artist::new(device.another()?, Place::FrameBuffer)?;
    context.control()?.fault("hang", 1)?;
    let child = child::spawn(|| {
        let guilty = Culprit::new(device.another()?)?;
        guilty.submit(1)?;
        guilty.submit(2)?;
        guilty.bo.wait()?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(200));
    child.signal(libc::SIGKILL);
    let end = child.wait(Duration::from_secs(1))?;
    ensure!(end == End::Signal(libc::SIGKILL), "the child: {end:?}");
    for seed in 0..5 {
        innocent.step(seed)?;
    }
    innocent.check()
}

/// Hangs one after the other leave nothing behind.
fn again_and_again(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut innocent = Artist::new(device.another()?, Place::FrameBuffer)?;
    let before = resets(&device)?;
    for round in 0..AGAIN as u32 {
        let fault = ["hang", "endless-buffer"][round as usize % 2];
        context.control()?.fault(fault, 1)?;
        // Another process of another user each time: none of them hangs the chip often.
        let guilty = child::spawn(|| {
            child::become_another_user();
            let guilty = Culprit::new(device.another()?)?;
            for seed in 0..5 {
                guilty.submit(1 + seed)?;
            }
            guilty.bo.wait()?;
            guilty.is_refused()?;
            Ok(0)
        })?;
        let end = guilty.wait(BOUND)?;
        ensure!(end == End::Exit(0), "round {round}: {end:?}");
        for seed in 0..4 {
            innocent.step(4 * round + seed)?;
        }
        innocent.check().with_context(|| format!("round {round}"))?;
    }
    let after = resets(&device)?;
    ensure!(after == before + AGAIN, "{after} resets after {before}");
    Ok(())
}

/// A process that hangs the chip again and again, with a new file each time, is refused with any file. Another user's process
/// is not.
fn limited(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    context.control()?.request("fault hang-buffer")?;
    let process = child::spawn(|| {
        for round in 0..OF_PROCESS {
            let guilty = Culprit::new(device.another()?)?;
            guilty.submit(1)?;
            within(BOUND, "its wait", || guilty.bo.wait())??;
            let caused = guilty.device.param(Param::GuiltyResets)?;
            ensure!(caused == 1, "round {round}: {caused} resets");
        }
        let file = device.another()?;
        let why = (reason::HUNG_TOO_OFTEN, NOWHERE);
        let work = Submission::nothing();
        refused_for("a new file", &file, &work, Errno::CANCELED, why)?;
        ensure!(file.param(Param::GuiltyResets)? == 0, "the new file");
        Ok(0)
    })?;
    let end = process.wait(3 * BOUND)?;
    ensure!(end == End::Exit(0), "the process ended with {end:?}");
    context.control()?.clear_faults()?;
    let other = child::run(BOUND, || {
        child::become_another_user();
        engine_works(&device.another()?)?;
        Ok(0)
    })?;
    ensure!(other == End::Exit(0), "another user's ended with {other:?}");
    Ok(())
}

/// The hang leaves a dump with the stream that hung, registers by name, and its object.
fn dump(context: &mut Context) -> Result<()> {
    const CLASS: &str = "/sys/class/devcoredump";
    let find = || -> Result<Option<PathBuf>> {
        let Ok(entries) = fs::read_dir(CLASS) else {
            return skip("this kernel keeps no dumps");
        };
        let paths = entries.map(|entry| Ok(entry?.path()));
        let paths = paths.collect::<Result<Vec<_>>>()?;
        Ok(paths.into_iter().find(|path| path.join("data").exists()))
    };
    // Those of other tests.
    let mut limit = Limit::new(Duration::from_secs(5));
    while let Some(path) = find()? {
        let _ = fs::write(path.join("data"), "1");
        limit.rest("a dump cannot be thrown away")?;
    }
    let guilty = Culprit::new(context.device()?)?;
    let work = fill(&guilty.bo, 0x5eed_c01e);
    context.control()?.fault("hang-buffer", 1)?;
    guilty.device.submit(&work)?;
    within(BOUND, "its wait", || guilty.bo.wait())??;
    let mut limit = Limit::new(Duration::from_secs(5));
    let text = loop {
        if let Some(path) = find()? {
            break String::from_utf8(fs::read(path.join("data"))?)?;
        }
        limit.rest("no dump")?;
    };
    let begins = "lapidary coredump 1\ndriver chrome9\n";
    ensure!(text.starts_with(begins), "{:?}", text.lines().next());
    ensure!(text.ends_with("\n[end]\n"), "it does not end");
    for name in ["ENGINE_STATUS", "AGP_FETCH", "FENCE_ID"] {
        ensure!(text.contains(&format!("\n{name} 0x")), "no {name}");
    }
    // All words of the stream but the address that the driver has put in.
    let address = work.relocations()[0].dword as usize;
    let seen: Vec<u32> = text
        .split_whitespace()
        .filter_map(|word| u32::from_str_radix(word, 16).ok())
        .collect();
    let is_here = |seen: &[u32]| {
        let pairs = seen.iter().zip(work.words()).enumerate();
        pairs
            .into_iter()
            .all(|(at, (a, b))| at == address || a == b)
    };
    ensure!(
        seen.windows(work.words().len()).any(is_here),
        "the stream is not in it"
    );
    let object = format!(" {} write", guilty.bo.size());
    ensure!(text.contains(&object), "its object is not in it");
    Ok(())
}

/// No reset helps. Every wait ends, and a new probe makes the device work.
fn wedged(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let reprobe = Reprobe::of(&guilty.device)?;
    let device = guilty.device.another()?;
    let bo = surface(&device, ROWS, Place::FrameBuffer)?;
    bo.wait()?;
    let before = resets(&device)?;
    let mut events = Uevents::listen()?;
    context.control()?.request("fault reset-fails")?;
    guilty.hang(context, "hang")?;
    device.submit(&fill(&bo, 5))?;
    within(BOUND, "the wait", || bo.wait())??;
    within(BOUND, "the guilty's wait", || guilty.bo.wait())??;
    let new = Submission::nothing().issue(&device);
    refused("new work", new, Errno::BUSY)?;
    ensure!(resets(&device)? == before + 1, "the number of resets");
    let event = events.wait(Duration::from_secs(5), |event| {
        event.get("WEDGED").is_some()
    })?;
    ensure!(event.get("WEDGED") == Some("rebind"), "{event:?}");
    // Memory is still there, and new objects can be made of it, clean ones.
    bo.write(&[3])?;
    ensure!(bo.read()?[0] == 3, "memory does not hold");
    let later = device.create(1 << 20, Place::FrameBuffer)?;
    let clean = later.read()?.iter().all(|&word| word == 0);
    ensure!(clean, "an object made later is not zero");
    drop((later, bo, guilty, device));
    after_reprobe(context, &reprobe)?;
    let device = context.device()?;
    ensure!(resets(&device)? == 0, "resets of a new probe");
    engine_works(&device)
}
