// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hangs. The driver resets the GPU, executes what other clients had submitted, so that their pictures are right, and
//! refuses the client whose commands hung. Every wait is bounded.
//!
//! The device model hangs on demand: at the next packet (`hang`), which may as well be one of the ring test, or in the
//! next indirect buffer (`endless-buffer`).

mod budget;
mod clearing;
mod halt;

use crate::support::{
    PITCH, Reprobe, WIDTH, emptied, engine_works, nothing, settled, stocked, surface, usage, within,
};
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi::info_request;
use lapidary_guest::on_upstream;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Device, Domain, Errno, Stream};
use lapidary_harness::child::{self, End};
use lapidary_harness::limit::Limit;
use lapidary_harness::uevent::Uevents;
use lapidary_harness::{Context, Test, patience, refused};
use std::rc::Rc;
use std::time::Duration;

/// The bound of a hang (module parameter `hang_ms`, 5 s if not set; 10 s in upstream's driver) and of a reset, and time
/// for a loaded machine.
const BOUND: Duration = Duration::from_secs(20);
/// Rows of the surfaces here.
const ROWS: u32 = 32;
/// INFO request of our own: the resets that concern the client.
const RESET_STATUS: u32 = 0x4c50_0002;
/// Bytes of objects that have to be cleared.
const SIZE: u64 = 1 << 20;
/// Hangs in a row.
const AGAIN: u64 = 24;
/// Why upstream's driver is left out.
pub const OWN: &str =
    "upstream's driver notices a hang after 30 s, its restart fails, and it refuses no client";

/// Return its tests.
pub fn tests() -> Vec<Test> {
    vec![
        Test::new("recovery/stuck_ring", |c| innocents(c, "hang"))
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
        Test::new("recovery/endless_buffer", |c| {
            innocents(c, "endless-buffer")
        })
        .needs_control()
        .hangs(1)
        .lapidary_only(OWN),
        Test::new("recovery/second_attempt", second_attempt)
            .needs_control()
            .hangs(1)
            .kernel("GPU reset 1 failed", 1)
            .kernel("ring test failed", 1)
            .lapidary_only(OWN),
        Test::new("recovery/done_at_the_halt", |c| halt::done(c, true))
            .needs_control()
            .lapidary_only(OWN),
        Test::new("recovery/done_unreported", |c| halt::done(c, false))
            .needs_control()
            .lapidary_only(OWN),
        Test::new("recovery/goes_on", goes_on)
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
        Test::new("recovery/two_guilty", two_guilty)
            .needs_control()
            .hangs(2)
            .lapidary_only(OWN),
        Test::new("recovery/clearing", clearing::once)
            .needs_control()
            .hangs(1)
            .lapidary_only("upstream's driver does not clear"),
        Test::new("recovery/clearing_fails", clearing::twice)
            .needs_control()
            .hangs(2)
            .lapidary_only("upstream's driver does not clear"),
        Test::new("recovery/clearing_fails_for_others", clearing::exported)
            .needs_control()
            .kernel("hung, no fence in", 2)
            .lapidary_only("upstream's driver does not clear"),
        Test::new(
            "recovery/clearing_fails_before_others",
            clearing::spied_upon,
        )
        .needs_control()
        .kernel("hung, no fence in", 2)
        .lapidary_only("upstream's driver does not clear"),
        Test::new("recovery/all_waits_end", all_waits_end)
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
        Test::new("recovery/room", room)
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
        Test::new("recovery/killed", killed)
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
        Test::new("recovery/again_and_again", again_and_again)
            .needs_control()
            .hangs(AGAIN)
            .lapidary_only(OWN)
            .limit(150),
        Test::new("recovery/hangs_are_limited", budget::limited)
            .needs_control()
            .hangs(budget::HANGS)
            .lapidary_only(OWN)
            .limit(90),
        Test::new("recovery/wedged", wedged)
            .needs_control()
            .hangs(1)
            .kernel("ring test failed", 3)
            .kernel("GPU reset 1 failed", 1)
            .kernel("GPU reset 2 failed", 1)
            .kernel("GPU reset 3 failed", 1)
            .kernel("stopped until a new probe", 1)
            .lapidary_only("upstream's driver tries again for ever"),
    ]
}

fn on(bo: &Bo) -> Area<'_> {
    Area::new(bo, PITCH)
}

fn whole() -> Rect {
    Rect::new(0, 0, WIDTH, ROWS as i32)
}

/// A client with a surface, whose pictures are built of fills and copies that depend on each other.
struct Artist {
    device: Rc<Device>,
    bo: Bo,
    expected: Vec<u32>,
}

impl Artist {
    fn new(device: Rc<Device>, domain: Domain) -> Result<Artist> {
        let bo = surface(&device, ROWS, domain)?;
        bo.wait()?;
        Ok(Artist {
            device,
            bo,
            expected: vec![0; (WIDTH as u32 * ROWS) as usize],
        })
    }

    /// Submit one more step of the picture.
    fn step(&mut self, seed: u32) -> Result<(), Errno> {
        let colour = seed.wrapping_mul(0x9e37_79b9) | 1;
        let (x, y) = ((seed * 7 % 40) as i32, (seed * 3 % 16) as i32);
        let mut stream = painter().stream();
        painter().fill(&mut stream, on(&self.bo), colour, Rect::new(x, y, 9, 5));
        self.device.submit(&stream)?;
        for row in y..y + 5 {
            for column in x..x + 9 {
                self.expected[(row * WIDTH + column) as usize] = colour;
            }
        }
        // Each step copies what the one before has drawn, so that a step that is missing, or executed twice, shows.
        let mut stream = painter().stream();
        let to = Rect::new(x + 12, y + 6, 9, 5);
        painter().copy(&mut stream, on(&self.bo), on(&self.bo), (x + 2, y + 1), to);
        self.device.submit(&stream)?;
        let before = self.expected.clone();
        for row in 0..5 {
            for column in 0..9 {
                let from = (y + 1 + row) * WIDTH + x + 2 + column;
                let into = (y + 6 + row) * WIDTH + x + 12 + column;
                self.expected[into as usize] = before[from as usize];
            }
        }
        Ok(())
    }

    /// Check that every dword of the picture is right.
    fn check(&self) -> Result<()> {
        let seen = within(BOUND, "waiting for a picture", || self.bo.read())??;
        for (at, (seen, want)) in seen.iter().zip(&self.expected).enumerate() {
            ensure!(
                seen == want,
                "{:?}: pixel {at} is {seen:#010x}, not {want:#010x}",
                self.bo.domain()
            );
        }
        Ok(())
    }
}

/// Return a 3D draw, if the painter can.
fn triangle(bo: &Bo) -> Option<Stream> {
    let mut stream = painter().stream();
    let drawn = painter().triangle(&mut stream, on(bo), ROWS);
    drawn.then_some(stream)
}

/// Return how many 3D draws the model has seen.
fn draws(context: &mut Context) -> Result<u64> {
    let counters = context.control()?.counters()?;
    let draws = counters
        .0
        .iter()
        .filter(|(name, _)| name.starts_with("draws"));
    Ok(draws.map(|(_, count)| count).sum())
}

/// A client with a job that hangs, when the model is told to.
struct Culprit {
    device: Rc<Device>,
    bo: Bo,
}

impl Culprit {
    fn new(device: Rc<Device>) -> Result<Culprit> {
        let bo = surface(&device, ROWS, Domain::Gtt)?;
        bo.wait()?;
        Ok(Culprit { device, bo })
    }

    fn submit(&self, colour: u32) -> Result<(), Errno> {
        let mut stream = painter().stream();
        painter().fill(&mut stream, on(&self.bo), colour, whole());
        self.device.submit(&stream)
    }

    fn hang(&self, context: &mut Context, fault: &str) -> Result<()> {
        context.control()?.fault(fault, 1)?;
        self.submit(1).context("the submission that hangs")
    }

    /// Check that the client is refused, and its memory is still there.
    fn is_refused(&self) -> Result<()> {
        refused("new work of the guilty", self.submit(9), Errno::CANCELED)?;
        refused(
            "an empty job of the guilty",
            self.device.submit(&nothing()),
            Errno::CANCELED,
        )?;
        let status = ResetStatus::of(&self.device)?;
        ensure!(
            status.banned && status.guilty == 1 && status.innocent <= 1,
            "the guilty is told {status:?}"
        );
        within(Duration::from_secs(1), "its wait", || self.bo.wait())??;
        self.bo.write(&[7])?;
        ensure!(self.bo.read()?[0] == 7, "its memory does not hold");
        ensure!(
            self.device.info(info_request("ACCEL_WORKING2"))? == 1,
            "the GPU does not work"
        );
        Ok(())
    }
}

/// Hang the GPU as the model's `fault` says. The work of other clients is done all the same.
pub fn innocents(context: &mut Context, fault: &str) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let mut artists = Vec::new();
    for domain in [Domain::Gtt, Domain::Vram, Domain::Vram] {
        artists.push(Artist::new(guilty.device.another()?, domain)?);
    }
    for artist in &mut artists {
        artist.step(1)?;
        artist.bo.wait()?;
    }
    let resets = guilty.device.reset_counter()?;
    let three = guilty.device.another()?;
    let before = draws(context)?;
    let bo = surface(&three, ROWS, Domain::Vram)?;
    bo.wait()?;
    let mut events = Uevents::listen()?;

    within(BOUND, "all of it", || {
        guilty.hang(context, fault)?;
        for seed in 2..8 {
            guilty.submit(seed)?;
            for artist in &mut artists {
                artist.step(seed)?;
            }
        }
        let drawn = triangle(&bo);
        if let Some(stream) = &drawn {
            three.submit(stream)?;
        }
        for (i, artist) in artists.iter().enumerate() {
            artist.check().with_context(|| format!("client {i}"))?;
        }
        bo.wait()?;
        ensure!(
            draws(context)? == before + u64::from(drawn.is_some()),
            "the 3D draw was not executed once"
        );
        Ok(guilty.bo.wait()?)
    })??;
    ensure!(
        guilty.device.reset_counter()? == resets + 1,
        "reset counter {} after {resets}",
        guilty.device.reset_counter()?
    );
    // Nothing of the guilty's queue was executed.
    ensure!(
        guilty.bo.read()?.iter().all(|&pixel| pixel < 2),
        "jobs of the guilty were executed"
    );
    guilty.is_refused()?;

    // The event says that the device works, and names the guilty process.
    let event = events.wait(Duration::from_secs(5), |event| {
        event.get("WEDGED").is_some()
    })?;
    ensure!(event.get("WEDGED") == Some("none"), "{event:?}");
    let own = std::process::id().to_string();
    ensure!(event.get("PID") == Some(&own), "{event:?}");

    // They go on, and so does a client that comes later.
    for (i, artist) in artists.iter_mut().enumerate() {
        let status = ResetStatus::of(&artist.device)?;
        ensure!(
            !status.banned && status.guilty == 0 && status.innocent == 1,
            "client {i} is told {status:?}"
        );
        artist.step(20)?;
        artist.check().with_context(|| format!("client {i}"))?;
    }
    engine_works(&guilty.device.another()?)
}

/// After a reset everything works as before, 2D and 3D, and when the ring begins anew.
fn goes_on(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let innocent = guilty.device.another()?;
    let target = surface(&innocent, ROWS, Domain::Vram)?;
    guilty.hang(context, "endless-buffer")?;
    within(BOUND, "the guilty's wait", || guilty.bo.wait())??;
    let mut artist = Artist::new(innocent.clone(), Domain::Vram)?;
    // More jobs than the ring has room for, so that its end is passed.
    for seed in 0..900 {
        artist.step(seed)?;
    }
    artist.check()?;
    let before = draws(context)?;
    let drawn = triangle(&target);
    if let Some(stream) = &drawn {
        innocent.submit(stream)?;
    }
    target.wait()?;
    ensure!(
        draws(context)? == before + u64::from(drawn.is_some()),
        "the 3D draw was not executed"
    );
    engine_works(&innocent)
}

/// The first restart fails, the second does not. Only the log shows it.
fn second_attempt(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let mut innocent = Artist::new(guilty.device.another()?, Domain::Vram)?;
    let resets = guilty.device.reset_counter()?;
    // The second time is in the ring test.
    context.control()?.fault("hang", 2)?;
    guilty.submit(1)?;
    for seed in 1..6 {
        innocent.step(seed)?;
    }
    innocent.check()?;
    guilty.is_refused()?;
    ensure!(
        guilty.device.reset_counter()? == resets + 1,
        "a restart that failed counts as a reset"
    );
    Ok(())
}

/// Two clients whose jobs hang, one after the other; a third has jobs between them.
fn two_guilty(context: &mut Context) -> Result<()> {
    let first = Culprit::new(context.device()?)?;
    let second = Culprit::new(first.device.another()?)?;
    let mut innocent = Artist::new(first.device.another()?, Domain::Vram)?;
    let resets = first.device.reset_counter()?;
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
    ensure!(
        first.device.reset_counter()? == resets + 2,
        "not two resets"
    );
    innocent.step(9)?;
    innocent.check()
}

/// Every kind of wait ends within the bound when the GPU hangs, and no object is busy afterwards.
fn all_waits_end(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let device = guilty.device.another()?;
    let objects: Vec<Bo> = (0..5)
        .map(|_| surface(&device, ROWS, Domain::Vram))
        .collect::<Result<_>>()?;
    for bo in &objects {
        bo.wait()?;
    }
    let _stock = emptied(&device)?;
    guilty.hang(context, "hang")?;
    for bo in &objects {
        let mut stream = painter().stream();
        painter().fill(&mut stream, on(bo), 5, whole());
        device.submit(&stream)?;
    }
    // A new object, whose clearing is behind all that.
    let unclear = device.create(SIZE, Domain::Vram)?;

    type Wait<'a> = Box<dyn FnOnce() -> Result<i32> + 'a>;
    let set_domain = |bo: &Bo, read, write| -> Result<i32> {
        crate::domains::set_domain(&device, bo.handle(), read, write)?;
        Ok(0)
    };
    let waits: Vec<(&str, Wait<'_>)> = vec![
        ("WAIT_IDLE", Box::new(|| Ok(objects[0].wait().map(|()| 0)?))),
        (
            "SET_DOMAIN",
            Box::new(|| set_domain(&objects[1], lapidary_guest::abi::DOMAIN_CPU, 0)),
        ),
        (
            "BUSY",
            Box::new(|| {
                while objects[2].is_busy()? {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok(0)
            }),
        ),
        (
            "page fault",
            Box::new(|| Ok(i32::from(unclear.map()?.get(SIZE as usize / 4 - 1) != 0))),
        ),
        (
            "the guilty's WAIT_IDLE",
            Box::new(|| Ok(guilty.bo.wait().map(|()| 0)?)),
        ),
    ];
    let mut children = Vec::new();
    let mut limit = Limit::new(BOUND);
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

/// A client that waits for room behind a hang goes on after the reset. If the guilty client waits for room, it is
/// refused.
fn room(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let device = guilty.device.another()?;
    let bo = surface(&device, ROWS, Domain::Gtt)?;
    bo.wait()?;
    guilty.hang(context, "hang")?;
    let many = |device: &Rc<Device>, bo: &Bo| -> Result<u32> {
        for count in 0..400 {
            let mut stream = painter().stream();
            painter().fill(&mut stream, on(bo), count + 1, whole());
            match device.submit(&stream) {
                Ok(()) => {}
                Err(Errno::CANCELED) => return Ok(count),
                Err(error) => bail!("submission {count}: {error}"),
            }
        }
        Ok(400)
    };
    let child = child::spawn(|| {
        // The guilty client fills the rest of the ring, and its wait ends with the error.
        let count = many(&guilty.device, &guilty.bo)?;
        Ok(i32::from(count == 400))
    })?;
    ensure!(many(&device, &bo)? == 400, "the innocent was refused");
    within(BOUND, "the wait", || bo.wait())??;
    ensure!(
        bo.read()?.iter().all(|&pixel| pixel == 400),
        "the picture is not the last"
    );
    let end = child.wait(BOUND)?;
    ensure!(end == End::Exit(0), "the guilty ended with {end:?}");
    guilty.is_refused()
}

/// The guilty client is killed while its job hangs.
fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut innocent = Artist::new(device.another()?, Domain::Vram)?;
    innocent.bo.wait()?;
    let before = settled(&device)?;
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
    innocent.check()?;
    // The dead client's memory is released.
    let mut limit = Limit::new(Duration::from_secs(3));
    while usage(&device)? != before {
        limit.rest("memory of the dead client is kept")?;
    }
    Ok(())
}

/// Many hangs leave nothing behind.
fn again_and_again(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut innocent = Artist::new(device.another()?, Domain::Vram)?;
    let mut begin = None;
    for round in 0..AGAIN as u32 {
        let fault = if round % 2 == 0 {
            "hang"
        } else {
            "endless-buffer"
        };
        context.control()?.fault(fault, 1)?;
        let (submitted, tell) = rustix::pipe::pipe()?;
        // Another process of another user each time: none of them hangs the GPU often.
        let guilty = child::spawn(|| {
            child::become_another_user();
            let guilty = Culprit::new(device.another()?)?;
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
        if round == 3 {
            // What the driver allocates once has been allocated.
            begin = Some((settled(&device)?, unreclaimable()?));
        }
    }
    let (used, kernel) = begin.context("too few rounds")?;
    let mut limit = Limit::new(Duration::from_secs(3));
    while usage(&device)? != used {
        limit.rest("memory of dead clients is kept")?;
    }
    let more = unreclaimable()?.saturating_sub(kernel);
    // The debug kernel keeps what has been freed for a while (megabytes of it), and looks for leaks by itself.
    ensure!(
        more < 1024 || patience() > 1,
        "the kernel keeps {more} KiB more"
    );
    let status = ResetStatus::of(&innocent.device)?;
    ensure!(
        status.guilty == 0 && u64::from(status.innocent) == AGAIN,
        "{status:?}"
    );
    Ok(())
}

/// Return the KiB of the kernel's memory that it cannot reclaim.
fn unreclaimable() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find(|line| line.starts_with("SUnreclaim:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(number.context("no such line in meminfo")?.parse()?)
}

/// Answer of the INFO request of our own about resets.
#[derive(Debug)]
struct ResetStatus {
    guilty: u32,
    innocent: u32,
    banned: bool,
}

impl ResetStatus {
    fn of(device: &Device) -> Result<ResetStatus> {
        let bytes = device.info_bytes(RESET_STATUS, 0)?;
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        ensure!(word(8) == device.reset_counter()?, "resets of the device");
        Ok(ResetStatus {
            guilty: word(0),
            innocent: word(4),
            banned: word(12) & 1 != 0,
        })
    }
}

/// The GPU hangs again and again, in its restarts as well. Every wait ends, and a new probe makes the device work.
fn wedged(context: &mut Context) -> Result<()> {
    let guilty = Culprit::new(context.device()?)?;
    let reprobe = Reprobe::of(&guilty.device)?;
    let device = guilty.device.another()?;
    let objects: Vec<Bo> = (0..3)
        .map(|_| surface(&device, ROWS, Domain::Vram))
        .collect::<Result<_>>()?;
    for bo in &objects {
        bo.wait()?;
    }
    stocked(&device)?;
    let resets = device.reset_counter()?;
    let mut events = Uevents::listen()?;
    context.control()?.request("fault hang")?;
    guilty.submit(1)?;
    for bo in &objects {
        let mut stream = painter().stream();
        painter().fill(&mut stream, on(bo), 5, whole());
        device.submit(&stream)?;
    }
    for bo in &objects {
        within(BOUND, "the wait", || bo.wait())??;
        ensure!(!bo.is_busy()?, "an object is busy");
    }
    within(BOUND, "the guilty's wait", || guilty.bo.wait())??;
    refused("new work", device.submit(&nothing()), Errno::BUSY)?;
    ensure!(
        device.info(info_request("ACCEL_WORKING2"))? == 0,
        "ACCEL_WORKING2 when wedged"
    );
    ensure!(device.reset_counter()? == resets + 1, "the reset counter");
    let event = events.wait(Duration::from_secs(5), |event| {
        event.get("WEDGED").is_some()
    })?;
    ensure!(event.get("WEDGED") == Some("rebind"), "{event:?}");
    // Memory is still there, and new objects can be made of it, clean ones.
    objects[0].write(&[3])?;
    ensure!(objects[0].read()?[0] == 3, "memory does not hold");
    let later = device.create(SIZE, Domain::Vram)?;
    ensure!(
        later.read()?.iter().all(|&word| word == 0),
        "an object made later is not zero"
    );
    ensure!(
        device.busy(later.handle()).1 == lapidary_guest::abi::DOMAIN_GTT,
        "it is in the memory of a GPU that does not work"
    );
    ensure!(!on_upstream(&device), "this is about our driver");
    drop((later, objects, guilty, device));
    context.control()?.clear_faults()?;
    reprobe.now()?;
    let device = context.device()?;
    engine_works(&device).context("after a new probe")?;
    ensure!(device.reset_counter()? == 0, "the counter of a new probe");
    drop(device);
    Ok(())
}
