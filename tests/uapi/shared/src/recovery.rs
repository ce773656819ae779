// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hangs. The driver resets the GPU, executes what other clients had submitted, so that their pictures are right, and
//! refuses the client whose commands hung. Every wait is bounded.
//!
//! The device model hangs on demand: at the next header of a ring (`hang`), which may as well be one of the ring test, or
//! in the next client's commands (`endless-buffer`).

use crate::{Interface, Job as _, NOWHERE, WIDTH, after_reprobe, device, engine_works};
use anyhow::{Context as _, Result, ensure};
use lapidary_harness::child::{self, End};
use lapidary_harness::interface::{Buffer as _, Device as _};
use lapidary_harness::limit::{Limit, within};
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::sysfs::Reprobe;
use lapidary_harness::uevent::Uevents;
use lapidary_harness::{Context, refused};
use rustix::io::Errno;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// The bound of a hang (module parameter `hang_ms`, 5 s if not set; 10 s in upstream's driver) and of a reset, and time
/// for a loaded machine.
pub const BOUND: Duration = Duration::from_secs(20);
/// Rows of the surfaces here.
pub const ROWS: u32 = 32;
/// Width and height of what an [`Artist`] paints at once.
pub const BRUSH: (u32, u32) = (9, 5);
/// Bytes of objects that have to be cleared.
const SIZE: u64 = 1 << 20;
/// Reason of a refusal: the client has hung the GPU.
const BANNED: u32 = 0x001;

/// A client with a surface, whose pictures are built of painted places and copies that depend on each other.
pub struct Artist<I: Interface> {
    /// The client.
    pub device: Rc<I::Device>,
    /// Its surface.
    pub bo: I::Bo,
    expected: Vec<u32>,
}

impl<I: Interface> Artist<I> {
    /// Return one whose surface is black.
    pub fn new(device: Rc<I::Device>, place: I::Place) -> Result<Artist<I>> {
        let bo = I::surface(&device, ROWS, place)?;
        bo.wait()?;
        let expected = vec![0; (WIDTH * ROWS) as usize];
        Ok(Artist {
            device,
            bo,
            expected,
        })
    }

    /// Submit one more step of the picture. It copies what the one before has painted, so that a step that is missing
    /// shows.
    pub fn step(&mut self, seed: u32) -> Result<(), Errno> {
        let colour = seed.wrapping_mul(0x9e37_79b9) | 1;
        let (x, y) = (seed * 7 % 40, seed * 3 % 16);
        let ((fx, fy), (tx, ty)) = ((x + 2, y + 1), (x + 12, y + 6));
        I::paint(&self.bo, (x, y), colour).submit(&self.device)?;
        I::stamp(&self.bo, (fx, fy), (tx, ty)).submit(&self.device)?;
        let at = |x, y| (y * WIDTH + x) as usize;
        let all = || (0..BRUSH.1).flat_map(|row| (0..BRUSH.0).map(move |column| (column, row)));
        for (column, row) in all() {
            let pixel = &mut self.expected[at(x + column, y + row)];
            *pixel = I::painted(*pixel, colour);
        }
        for (column, row) in all() {
            self.expected[at(tx + column, ty + row)] = self.expected[at(fx + column, fy + row)];
        }
        Ok(())
    }

    /// Check that every pixel of the picture is right.
    pub fn check(&self) -> Result<()> {
        let seen = within(BOUND, "waiting for a picture", || self.bo.read())??;
        for (at, (seen, want)) in seen.iter().zip(&self.expected).enumerate() {
            ensure!(
                seen == want,
                "{:?}: pixel {at} is {seen:#010x}, not {want:#010x}",
                self.bo.place()
            );
        }
        Ok(())
    }
}

/// A client with a job that hangs, when the model is told to.
pub struct Culprit<I: Interface> {
    /// The client.
    pub device: Rc<I::Device>,
    /// Its surface.
    pub bo: I::Bo,
}

impl<I: Interface> Culprit<I> {
    /// Return one that is innocent so far.
    pub fn new(device: Rc<I::Device>) -> Result<Culprit<I>> {
        let bo = I::surface(&device, ROWS, I::USUAL)?;
        bo.wait()?;
        Ok(Culprit { device, bo })
    }

    /// Submit a fill of its surface.
    pub fn submit(&self, colour: u32) -> Result<(), Errno> {
        I::fill(&self.bo, colour, 1).submit(&self.device)
    }

    /// Submit a fill that hangs as the model's `fault` says.
    pub fn hang(&self, context: &mut Context, fault: &str) -> Result<()> {
        context.control()?.fault(fault, 1)?;
        self.submit(1).context("the submission that hangs")
    }

    /// Check that the client is refused, and its memory is still there.
    pub fn is_refused(&self) -> Result<()> {
        for (what, job) in [
            ("new work of the guilty", I::fill(&self.bo, 9, 1)),
            ("an empty job of the guilty", I::nothing()),
        ] {
            let why = (BANNED, NOWHERE);
            I::refused_for(what, &self.device, &job, Errno::CANCELED, why)?;
        }
        I::is_guilty(&self.device)?;
        within(Duration::from_secs(1), "its wait", || self.bo.wait())??;
        self.bo.write(&[7])?;
        ensure!(self.bo.read()?[0] == 7, "its memory does not hold");
        Ok(())
    }
}

/// Wait for the event about a hang, and check what it says.
fn told(events: &mut Uevents, expected: &str) -> Result<()> {
    let event = events.wait(Duration::from_secs(5), |event| {
        event.get("WEDGED").is_some()
    })?;
    ensure!(event.get("WEDGED") == Some(expected), "{event:?}");
    if expected == "none" {
        let own = std::process::id().to_string();
        ensure!(event.get("PID") == Some(&own), "{event:?}");
    }
    Ok(())
}

/// Hang the GPU as the model's `fault` says. The work of other clients is done all the same. `more` submits what the
/// interface wants to see done as well.
pub fn innocents<I: Interface>(
    context: &mut Context,
    fault: &str,
    more: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let guilty = Culprit::<I>::new(device::<I>()?)?;
    let mut artists = Vec::new();
    for place in [I::SYSTEM, I::VIDEO, I::VIDEO] {
        let mut artist = Artist::<I>::new(guilty.device.another()?, place)?;
        artist.step(1)?;
        artist.bo.wait()?;
        artists.push(artist);
    }
    let before = I::resets(&guilty.device)?;
    let mut events = Uevents::listen()?;
    within(BOUND, "all of it", || -> Result<()> {
        guilty.hang(context, fault)?;
        for seed in 2..8 {
            guilty.submit(seed)?;
            for artist in &mut artists {
                artist.step(seed)?;
            }
        }
        more()?;
        for (i, artist) in artists.iter().enumerate() {
            artist.check().with_context(|| format!("client {i}"))?;
        }
        Ok(guilty.bo.wait()?)
    })??;
    let after = I::resets(&guilty.device)?;
    ensure!(after == before + 1, "{after} resets after {before}");
    let seen = guilty.bo.read()?;
    ensure!(
        seen.iter().all(|&pixel| pixel < 2),
        "jobs of the guilty were executed after its hang"
    );
    guilty.is_refused()?;
    // The event says that the device works, and names the guilty process.
    told(&mut events, "none")?;
    // They go on, and so does a client that comes later.
    for (i, artist) in artists.iter_mut().enumerate() {
        I::is_innocent(&artist.device).with_context(|| format!("client {i}"))?;
        artist.step(20)?;
        artist.check().with_context(|| format!("client {i}"))?;
    }
    engine_works::<I>(&guilty.device.another()?)
}

/// After a reset everything works as before, also when the ring begins anew: `jobs` are more than it has room for.
pub fn goes_on<I: Interface>(context: &mut Context, jobs: u32) -> Result<()> {
    let guilty = Culprit::<I>::new(device::<I>()?)?;
    let mut artist = Artist::<I>::new(guilty.device.another()?, I::VIDEO)?;
    guilty.hang(context, "endless-buffer")?;
    within(BOUND, "the guilty's wait", || guilty.bo.wait())??;
    for seed in 0..jobs {
        artist.step(seed)?;
    }
    artist.check()
}

/// The first restart fails, the second does not. Only the log shows it.
pub fn second_attempt<I: Interface>(context: &mut Context) -> Result<()> {
    let guilty = Culprit::<I>::new(device::<I>()?)?;
    let mut innocent = Artist::<I>::new(guilty.device.another()?, I::VIDEO)?;
    let before = I::resets(&guilty.device)?;
    // The second time is in the ring test.
    context.control()?.fault("hang", 2)?;
    guilty.submit(1)?;
    for seed in 1..6 {
        innocent.step(seed)?;
    }
    innocent.check()?;
    guilty.is_refused()?;
    let after = I::resets(&guilty.device)?;
    ensure!(after == before + 1, "a failed restart counts as a reset");
    Ok(())
}

/// Two clients whose jobs hang, one after the other; a third has jobs between them.
pub fn two_guilty<I: Interface>(context: &mut Context) -> Result<()> {
    let first = Culprit::<I>::new(device::<I>()?)?;
    let second = Culprit::<I>::new(first.device.another()?)?;
    let mut innocent = Artist::<I>::new(first.device.another()?, I::VIDEO)?;
    let before = I::resets(&first.device)?;
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
    ensure!(I::resets(&first.device)? == before + 2, "not two resets");
    innocent.step(9)?;
    innocent.check()
}

/// A wait, by its name. A child does it and exits with the answer, which has to be 0.
pub type Wait<'a> = (&'static str, Box<dyn FnOnce() -> Result<i32> + 'a>);

/// Every kind of wait ends within the bound when the GPU hangs, and no object is busy afterwards. `own` makes those that
/// only the interface has, of a client and an object that is in use behind the hang.
pub fn all_waits_end<I: Interface>(
    context: &mut Context,
    own: impl for<'a> FnOnce(&'a I::Device, &'a I::Bo) -> Vec<Wait<'a>>,
) -> Result<()> {
    let guilty = Culprit::<I>::new(device::<I>()?)?;
    let device = guilty.device.another()?;
    let objects: Vec<I::Bo> = (0..3)
        .map(|_| I::surface(&device, ROWS, I::VIDEO))
        .collect::<Result<_>>()?;
    for bo in &objects {
        bo.wait()?;
    }
    let done = Syncobj::new(&device, false)?;
    guilty.hang(context, "hang")?;
    for bo in &objects {
        I::fill(bo, 5, 1).submit(&device)?;
    }
    I::nothing().signals(&[done.at(0)]).submit(&device)?;
    // A new object, whose clearing is behind all that.
    let unclear = I::create(&device, SIZE, I::VIDEO)?;
    let mut waits: Vec<Wait<'_>> = vec![
        ("a wait", Box::new(|| Ok(objects[0].wait().map(|()| 0)?))),
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
            Box::new(|| Ok(i32::from(unclear.map()?.get(SIZE as usize / 4 - 1) != 0))),
        ),
        (
            "the guilty's wait",
            Box::new(|| Ok(guilty.bo.wait().map(|()| 0)?)),
        ),
        (
            "a synchronisation object",
            Box::new(|| Ok(i32::from(!done.wait(0, BOUND, false)?))),
        ),
    ];
    waits.extend(own(&device, &objects[2]));
    let mut limit = Limit::new(BOUND);
    let mut children = Vec::new();
    for (name, wait) in waits {
        children.push((name, child::spawn(wait)?));
    }
    for (name, mut child) in children {
        let end = loop {
            match child.poll()? {
                Some(end) => break end,
                None => limit.rest(&format!("no end: {name}"))?,
            }
        };
        ensure!(end == End::Exit(0), "{name} ended with {end:?}");
    }
    for (i, bo) in objects.iter().enumerate() {
        ensure!(!bo.is_busy()?, "object {i} is busy");
        ensure!(bo.read()?.iter().all(|&pixel| pixel == 5), "picture {i}");
    }
    guilty.is_refused()
}

/// The guilty client is killed while its job hangs.
pub fn killed<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let mut innocent = Artist::<I>::new(device.another()?, I::VIDEO)?;
    context.control()?.fault("hang", 1)?;
    let child = child::spawn(|| {
        let guilty = Culprit::<I>::new(device.another()?)?;
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

/// Hang the GPU once in each round, while another client works.
pub fn again<I: Interface>(
    context: &mut Context,
    innocent: &mut Artist<I>,
    rounds: Range<u32>,
) -> Result<()> {
    let device = innocent.device.clone();
    let before = I::resets(&device)?;
    let count = u64::from(rounds.end - rounds.start);
    for round in rounds {
        let fault = ["hang", "endless-buffer"][round as usize % 2];
        context.control()?.fault(fault, 1)?;
        let (submitted, tell) = rustix::pipe::pipe()?;
        // Another process of another user each time: none of them hangs the GPU often.
        let guilty = child::spawn(|| {
            child::become_another_user();
            let guilty = Culprit::<I>::new(device.another()?)?;
            for seed in 0..5 {
                guilty.submit(1 + seed)?;
            }
            rustix::io::write(&tell, &[1])?;
            guilty.bo.wait()?;
            guilty.is_refused()?;
            Ok(0)
        })?;
        drop(tell);
        let said = rustix::io::read(&submitted, &mut [0])?;
        ensure!(said == 1, "round {round}: the guilty has submitted nothing");
        for seed in 0..4 {
            innocent.step(4 * round + seed)?;
        }
        innocent.check().with_context(|| format!("round {round}"))?;
        let end = guilty.wait(BOUND)?;
        ensure!(end == End::Exit(0), "round {round}: {end:?}");
    }
    let after = I::resets(&device)?;
    ensure!(after == before + count, "{after} resets after {before}");
    Ok(())
}

/// The GPU hangs and no reset helps, as `arm` tells the model. Every wait ends, and a new probe makes the device work.
/// `verify` checks what the interface says meanwhile, on a client and an object made after the hang.
pub fn wedged<I: Interface>(
    context: &mut Context,
    arm: impl FnOnce(&mut Context) -> Result<()>,
    verify: impl FnOnce(&I::Device, &I::Bo) -> Result<()>,
) -> Result<()> {
    let guilty = Culprit::<I>::new(device::<I>()?)?;
    let reprobe = Reprobe::of(&guilty.device)?;
    let device = guilty.device.another()?;
    let objects: Vec<I::Bo> = (0..3)
        .map(|_| I::surface(&device, ROWS, I::VIDEO))
        .collect::<Result<_>>()?;
    for bo in &objects {
        bo.wait()?;
    }
    let before = I::resets(&device)?;
    let mut events = Uevents::listen()?;
    arm(context)?;
    guilty.submit(1)?;
    for bo in &objects {
        I::fill(bo, 5, 1).submit(&device)?;
    }
    for bo in &objects {
        within(BOUND, "the wait", || bo.wait())??;
        ensure!(!bo.is_busy()?, "an object is busy");
    }
    within(BOUND, "the guilty's wait", || guilty.bo.wait())??;
    refused("new work", I::nothing().submit(&device), Errno::BUSY)?;
    ensure!(I::resets(&device)? == before + 1, "the number of resets");
    told(&mut events, "rebind")?;
    // Memory is still there, and new objects can be made of it, clean ones.
    objects[0].write(&[3])?;
    ensure!(objects[0].read()?[0] == 3, "memory does not hold");
    let later = I::create(&device, SIZE, I::VIDEO)?;
    let clean = later.read()?.iter().all(|&word| word == 0);
    ensure!(clean, "an object made later is not zero");
    verify(&device, &later)?;
    drop((later, objects, guilty, device));
    after_reprobe::<I>(context, &reprobe)
}
