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
    PITCH, Radeon, WIDTH, emptied, fill, settled, stocked, surface, usage, within,
};
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::abi::{self, info_request};
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Client as _, Device, Domain, Errno, Stream, on_upstream};
use lapidary_harness::child::{self, End};
use lapidary_harness::limit::Limit;
use lapidary_harness::{Context, Test, patience};
use lapidary_uapi_shared::recovery::{self, BOUND, ROWS, Wait};
use std::rc::Rc;
use std::time::Duration;

/// Bytes of objects that have to be cleared.
const SIZE: u64 = 1 << 20;
/// Hangs in a row.
const AGAIN: u32 = 24;
/// Why upstream's driver is left out.
pub const OWN: &str =
    "upstream's driver notices a hang after 30 s, its restart fails, and it refuses no client";

type Artist = recovery::Artist<Radeon>;
type Culprit = recovery::Culprit<Radeon>;

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
        Test::new(
            "recovery/second_attempt",
            recovery::second_attempt::<Radeon>,
        )
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
        Test::new("recovery/two_guilty", recovery::two_guilty::<Radeon>)
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
            .hangs(AGAIN.into())
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

/// A client's 3D draw, which has to be executed once.
struct Draw {
    device: Rc<Device>,
    bo: Bo,
    before: u64,
}

impl Draw {
    fn new(context: &mut Context) -> Result<Draw> {
        let device = context.device()?;
        let bo = surface(&device, ROWS, Domain::Vram)?;
        bo.wait()?;
        let before = draws(context)?;
        Ok(Draw { device, bo, before })
    }

    fn submit(&self) -> Result<()> {
        match triangle(&self.bo) {
            Some(stream) => Ok(self.device.submit(&stream)?),
            None => Ok(()),
        }
    }

    fn check(&self, context: &mut Context) -> Result<()> {
        self.bo.wait()?;
        let expected = self.before + u64::from(triangle(&self.bo).is_some());
        let seen = draws(context)?;
        ensure!(seen == expected, "{seen} 3D draws, not {expected}");
        Ok(())
    }
}

/// Hang the GPU as the model's `fault` says. The work of other clients is done all the same.
pub fn innocents(context: &mut Context, fault: &str) -> Result<()> {
    let draw = Draw::new(context)?;
    recovery::innocents::<Radeon>(context, fault, || draw.submit())?;
    draw.check(context)
}

/// After a reset everything works as before, 2D and 3D, and when the ring begins anew.
fn goes_on(context: &mut Context) -> Result<()> {
    let draw = Draw::new(context)?;
    recovery::goes_on::<Radeon>(context, 900)?;
    draw.submit()?;
    draw.check(context)
}

/// A wait for the domain of an object ends as well, and a new object has to be cleared behind the hang.
fn all_waits_end(context: &mut Context) -> Result<()> {
    fn domain<'a>(device: &'a Device, bo: &'a Bo) -> Vec<Wait<'a>> {
        let wait = || {
            crate::domains::set_domain(device, bo.handle(), abi::DOMAIN_CPU, 0)?;
            Ok(0)
        };
        vec![("SET_DOMAIN", Box::new(wait))]
    }
    let device = context.device()?;
    let _stock = emptied(&device)?;
    recovery::all_waits_end::<Radeon>(context, domain)
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
            match device.submit(&fill(bo, count + 1)) {
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

/// Wait until the bytes in use are those of before.
fn released(device: &Device, before: [u64; 2]) -> Result<()> {
    let mut limit = Limit::new(Duration::from_secs(3));
    while usage(device)? != before {
        limit.rest("memory of a dead client is kept")?;
    }
    Ok(())
}

/// The memory of a guilty client that was killed is released.
fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let before = settled(&device)?;
    recovery::killed::<Radeon>(context)?;
    released(&device, before)
}

/// Many hangs leave nothing behind.
fn again_and_again(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut innocent = Artist::new(device.another()?, Domain::Vram)?;
    // What the driver allocates once is allocated in the first rounds.
    recovery::again(context, &mut innocent, 0..4)?;
    let (used, kernel) = (settled(&device)?, unreclaimable()?);
    recovery::again(context, &mut innocent, 4..AGAIN)?;
    released(&device, used)?;
    let more = unreclaimable()?.saturating_sub(kernel);
    // The debug kernel keeps what has been freed for a while (megabytes of it), and looks for leaks by itself.
    ensure!(
        more < 1024 || patience() > 1,
        "the kernel keeps {more} KiB more"
    );
    let status = innocent.device.reset_status()?;
    ensure!(status.guilty == 0 && status.innocent == AGAIN, "{status:?}");
    Ok(())
}

/// Return the KiB of the kernel's memory that it cannot reclaim.
fn unreclaimable() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find(|line| line.starts_with("SUnreclaim:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(number.context("no such line in meminfo")?.parse()?)
}

/// The GPU hangs again and again, in its restarts as well. A new object is not in video memory then.
fn wedged(context: &mut Context) -> Result<()> {
    let arm = |context: &mut Context| {
        let device = context.device()?;
        ensure!(!on_upstream(&device), "this is about our driver");
        stocked(&device)?;
        context.control()?.request("fault hang").map(drop)
    };
    recovery::wedged::<Radeon>(context, arm, |device, later| {
        ensure!(
            device.info(const { info_request("ACCEL_WORKING2") })? == 0,
            "ACCEL_WORKING2 when wedged"
        );
        ensure!(
            device.busy(later.handle()).1 == abi::DOMAIN_GTT,
            "it is in the memory of a GPU that does not work"
        );
        Ok(())
    })
}
