// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hangs. The driver resets the chip, executes what other clients had submitted, so that their pictures are right, and
//! refuses the client whose stream hung. Every wait is bounded.
//!
//! The device model hangs on demand: its fetcher stops at the next header (`hang`), or executes the next client's stream over
//! and over (`endless-buffer`).

use crate::support::{
    Chrome9, NOWHERE, Reprobe, after_reprobe, engine_works, fill, refused_for, within,
};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Device, Errno, Place, Submission, reason};
use lapidary_harness::child::{self, End};
use lapidary_harness::limit::Limit;
use lapidary_harness::syncobj::{Syncobj, fence_status};
use lapidary_harness::{Context, Test, refused, skip};
use lapidary_uapi_shared::recovery::{self, BOUND};
use std::fs;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// Hangs in a row.
const AGAIN: u32 = 4;
/// Hangs of one process until it is refused.
const OF_PROCESS: u64 = 3;

type Artist = recovery::Artist<Chrome9>;
type Culprit = recovery::Culprit<Chrome9>;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("recovery/a_stuck_ring", |c| {
            recovery::innocents::<Chrome9>(c, "hang", || Ok(()))
        })
        .needs_control()
        .hangs(1),
        Test::new("recovery/an_endless_stream", |c| {
            recovery::innocents::<Chrome9>(c, "endless-buffer", || Ok(()))
        })
        .needs_control()
        .hangs(1),
        Test::new("recovery/a_late_success_is_one", at_the_halt).needs_control(),
        Test::new("recovery/the_hung_jobs_fence_has_an_error", fences)
            .needs_control()
            .hangs(1),
        Test::new(
            "recovery/a_second_attempt",
            recovery::second_attempt::<Chrome9>,
        )
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
        Test::new("recovery/two_guilty", recovery::two_guilty::<Chrome9>)
            .needs_control()
            .hangs(2),
        Test::new("recovery/all_waits_end", |c| {
            recovery::all_waits_end::<Chrome9>(c, |_, _| Vec::new())
        })
        .needs_control()
        .hangs(1),
        Test::new("recovery/goes_on_behind_the_rings_end", |c| {
            recovery::goes_on::<Chrome9>(c, 1500)
        })
        .needs_control()
        .hangs(1),
        Test::new("recovery/the_guilty_is_killed", recovery::killed::<Chrome9>)
            .needs_control()
            .hangs(1),
        Test::new("recovery/again_and_again", |c| {
            let mut innocent = Artist::new(c.device()?, Place::FrameBuffer)?;
            recovery::again(c, &mut innocent, 0..AGAIN)
        })
        .needs_control()
        .hangs(AGAIN.into())
        .limit(120),
        Test::new("recovery/hangs_of_a_process_are_limited", limited)
            .needs_control()
            .hangs(OF_PROCESS),
        Test::new("recovery/leaves_a_dump", dump)
            .needs_control()
            .hangs(1),
        Test::new("recovery/wedged", |c| {
            recovery::wedged::<Chrome9>(c, no_reset_helps, |_, _| Ok(()))
        })
        .needs_control()
        .hangs(1)
        .kernel("engines do not become idle", 3)
        .kernel("GPU reset 1 failed", 1)
        .kernel("GPU reset 2 failed", 1)
        .kernel("GPU reset 3 failed", 1)
        .kernel("stopped until a new probe", 1),
    ]
}

fn no_reset_helps(context: &mut Context) -> Result<()> {
    context.control()?.request("fault reset-fails")?;
    context.control()?.fault("hang", 1)
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
