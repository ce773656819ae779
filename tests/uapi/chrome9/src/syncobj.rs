// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects on submissions, binary and timeline: what a submission waits for, and what it signals.

use crate::support::{
    engine_works, fill, refused_for, submit_late, surface, untouched, vgem, within,
};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Sync;
use lapidary_chrome9_client::{Client as _, Errno, Place, Submission, reason};
use lapidary_harness::child::{self, End};
use lapidary_harness::drm::{self, SyncobjTransfer};
use lapidary_harness::syncobj::{Syncobj, fence_status};
use lapidary_harness::{Context, Test, refused};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(5);
const AT_ONCE: Duration = Duration::ZERO;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("syncobj/a_signal_comes_with_the_work", signals).needs_control(),
        Test::new("syncobj/points_of_a_timeline_come_in_order", timeline).needs_control(),
        Test::new("syncobj/waits_for_own_work_take_no_time", own_work).needs_control(),
        Test::new("syncobj/another_drivers_fence_is_waited_for", foreign),
        Test::new("syncobj/a_wait_can_be_killed", killed),
        Test::new("syncobj/a_chain_is_waited_for_as_a_whole", chain),
        Test::new("syncobj/nothing_would_signal", not_submitted),
        Test::new("syncobj/unknown_handles_are_refused", handles),
        Test::new("syncobj/one_handle_is_signalled_once", twice),
        Test::new(
            "syncobj/a_refused_submission_signals_nothing",
            refused_signals_nothing,
        ),
        Test::new("syncobj/fences_as_files", files).needs_control(),
        Test::new("syncobj/between_clients", between_clients).needs_control(),
        Test::new("syncobj/many", many),
    ]
}

fn nothing() -> Submission {
    Submission::nothing()
}

/// Make the fence of the next submission late.
fn late(context: &mut Context) -> Result<()> {
    context.control()?.fault("late-fence", 1)
}

fn signals(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    let done = Syncobj::new(&device, false)?;
    let early = done.wait(0, AT_ONCE, false);
    refused("a wait for nothing", early, Errno::INVAL)?;
    for colour in 1..4 {
        late(context)?;
        Submission::of(&fill(&bo, colour))
            .signals(done.at(0))
            .issue(&device)?;
        ensure!(!done.wait(0, AT_ONCE, false)?, "signalled before the work");
        ensure!(done.wait(0, LONG, false)?, "never signalled");
        ensure!(
            bo.map()?.get(0) == colour,
            "signalled, but nothing is drawn"
        );
        ensure!(!bo.is_busy()?, "signalled, but the object is busy");
    }
    Ok(())
}

fn timeline(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let line = Syncobj::new(&device, false)?;
    late(context)?;
    for point in [3, 7, 1 << 40] {
        nothing().signals(line.at(point)).issue(&device)?;
    }
    ensure!(line.point()? == 0, "a point has signalled before the work");
    ensure!(!line.wait(3, AT_ONCE, false)?, "the first point is early");
    ensure!(line.wait(1 << 40, LONG, false)?, "the last point");
    ensure!(line.point()? == 1 << 40, "it stands at {}", line.point()?);
    ensure!(line.wait(4, AT_ONCE, false)?, "a point between");
    let beyond = line.wait((1 << 40) + 1, AT_ONCE, false);
    refused("a point beyond", beyond, Errno::INVAL)
}

/// Work of one ring is in order there: the submission does not wait, and the work does.
fn own_work(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let (first, second) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    let line = Syncobj::new(&device, false)?;
    late(context)?;
    nothing()
        .signals(first.at(0))
        .signals(line.at(5))
        .issue(&device)?;
    let mut next = nothing().signals(second.at(0));
    next.wait = vec![first.at(0), line.at(4), line.at(5)];
    within(Duration::from_millis(200), "the submission", || {
        next.issue(&device)
    })??;
    ensure!(!first.wait(0, AT_ONCE, false)?, "the fence was not late");
    ensure!(second.wait(0, LONG, false)?, "the second submission");
    ensure!(first.wait(0, AT_ONCE, false)?, "the second came first");
    Ok(())
}

/// A child signals the fence after a while; the parent's submission waits for it.
fn foreign(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = vgem()?;
    let foreign = Syncobj::new(&device, false)?;
    let fence = vgem.fence()?;
    foreign.import_fence(fence.file.as_fd())?;
    let child = child::spawn(|| {
        std::thread::sleep(Duration::from_millis(400));
        fence.signal()?;
        Ok(0)
    })?;
    let begin = Instant::now();
    nothing().after(foreign.at(0)).issue(&device)?;
    let taken = begin.elapsed();
    ensure!(
        taken > Duration::from_millis(300),
        "the submission did not wait: {taken:?}"
    );
    ensure!(child.wait(LONG)? == End::Exit(0), "signalling failed");
    // A signalled fence delays no submission.
    within(Duration::from_millis(300), "the second submission", || {
        nothing().after(foreign.at(0)).issue(&device)
    })??;
    engine_works(&device)
}

fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = vgem()?;
    let foreign = Syncobj::new(&device, false)?;
    let fence = vgem.fence()?;
    foreign.import_fence(fence.file.as_fd())?;
    let child = child::spawn(|| {
        nothing().after(foreign.at(0)).issue(&device)?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(300));
    child.signal(libc::SIGKILL);
    let end = within(Duration::from_millis(500), "the child's end", || {
        child.wait(LONG)
    })??;
    ensure!(end == End::Signal(libc::SIGKILL), "the child: {end:?}");
    let status = fence_status(fence.file.as_fd())?;
    ensure!(status == 0, "the fence has signalled");
    fence.signal()?;
    engine_works(&device)
}

/// A point whose own fence is of our ring lies behind one that is not.
fn chain(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = vgem()?;
    let (line, foreign) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    let fence = vgem.fence()?;
    foreign.import_fence(fence.file.as_fd())?;
    let mut transfer = SyncobjTransfer {
        src_handle: foreign.handle(),
        dst_handle: line.handle(),
        dst_point: 1,
        ..Default::default()
    };
    device.ioctl(drm::SYNCOBJ_TRANSFER, &mut transfer)?;
    nothing().signals(line.at(2)).issue(&device)?;
    let child = child::spawn(|| {
        std::thread::sleep(Duration::from_millis(400));
        fence.signal()?;
        Ok(0)
    })?;
    let begin = Instant::now();
    nothing().after(line.at(2)).issue(&device)?;
    ensure!(
        begin.elapsed() > Duration::from_millis(300),
        "the submission did not wait for the point before"
    );
    ensure!(child.wait(LONG)? == End::Exit(0), "signalling failed");
    Ok(())
}

fn not_submitted(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (empty, done, line) = (
        Syncobj::new(&device, false)?,
        Syncobj::new(&device, true)?,
        Syncobj::new(&device, false)?,
    );
    nothing().signals(line.at(5)).issue(&device)?;
    ensure!(line.wait(5, LONG, false)?, "the point");
    let mut all = nothing();
    all.wait = vec![done.at(0), line.at(0), line.at(1), line.at(5)];
    all.issue(&device).context("all have been submitted")?;
    let why = (reason::NOT_SUBMITTED, 1);
    untouched(context, || {
        for (what, entry) in [
            ("an object without a fence", empty.at(0)),
            ("a point of it", empty.at(3)),
            ("a point of a binary object", done.at(1)),
            ("a point that comes later", line.at(6)),
            ("the last point", line.at(u64::MAX)),
        ] {
            let submission = nothing().after(done.at(0)).after(entry);
            refused_for(what, &device, &submission, Errno::NODATA, why)?;
        }
        Ok(())
    })?;
    // An object without a fence has nothing to wait for, although it was signalled once.
    done.reset()?;
    let submission = nothing().after(done.at(0));
    let why = (reason::NOT_SUBMITTED, 0);
    refused_for("after a reset", &device, &submission, Errno::NODATA, why)
}

fn handles(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let good = Syncobj::new(&device, true)?;
    let foreign: Vec<Syncobj> = (0..30)
        .map(|_| Syncobj::new(&other, true))
        .collect::<Result<_, _>>()?;
    let foreign = foreign[29].handle();
    let why = (reason::NO_SYNCOBJ, 1);
    untouched(context, || {
        for handle in [0, 77, foreign, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            for point in [0, 1] {
                let bad = Sync {
                    handle,
                    flags: 0,
                    point,
                };
                let what = format!("handle {handle:#x}, point {point}");
                let wait = nothing().after(good.at(0)).after(bad);
                refused_for(&what, &device, &wait, Errno::NOENT, why)?;
                let signal = nothing().signals(good.at(0)).signals(bad);
                refused_for(&what, &device, &signal, Errno::NOENT, why)?;
            }
        }
        Ok(())
    })
}

fn twice(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (one, other) = (Syncobj::new(&device, true)?, Syncobj::new(&device, true)?);
    let why = (reason::SIGNALLED_TWICE, 2);
    untouched(context, || {
        for (what, entries) in [
            ("binary twice", [one.at(0), other.at(0), one.at(0)]),
            ("two points", [one.at(1), other.at(1), one.at(2)]),
            ("both kinds", [one.at(1), other.at(0), one.at(0)]),
        ] {
            let mut submission = nothing();
            submission.signal = entries.to_vec();
            refused_for(what, &device, &submission, Errno::INVAL, why)?;
        }
        Ok(())
    })?;
    // To wait for one twice is harmless, as is waiting for what is signalled.
    let mut submission = nothing().signals(one.at(0));
    submission.wait = vec![one.at(0), one.at(0)];
    submission.issue(&device)?;
    ensure!(one.wait(0, LONG, false)?, "the object never signals");
    Ok(())
}

fn refused_signals_nothing(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (empty, line) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    nothing().signals(line.at(4)).issue(&device)?;
    let mut bad = nothing().signals(empty.at(0)).signals(line.at(9));
    bad.words[3] = 0;
    let why = (reason::NO_HEADER, 3);
    refused_for("a bad stream", &device, &bad, Errno::INVAL, why)?;
    ensure!(line.wait(4, LONG, false)?, "the point before");
    for (object, point) in [(&empty, 0), (&line, 9)] {
        let wait = object.wait(point, AT_ONCE, false);
        refused("a wait for what never was", wait, Errno::INVAL)?;
    }
    // A client that waits for a submission gets the next one.
    let child = child::spawn(|| Ok(i32::from(!empty.wait(0, LONG, true)?)))?;
    std::thread::sleep(Duration::from_millis(100));
    nothing().signals(empty.at(0)).issue(&device)?;
    ensure!(child.wait(LONG)? == End::Exit(0), "the waiter was left");
    Ok(())
}

fn files(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let (done, again) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    refused("a file of nothing", done.export_fence(), Errno::INVAL)?;
    late(context)?;
    nothing().signals(done.at(0)).issue(&device)?;
    let file = done.export_fence()?;
    let status = fence_status(file.as_fd())?;
    ensure!(status == 0, "signalled before the work");
    again.import_fence(file.as_fd())?;
    ensure!(again.wait(0, LONG, false)?, "the imported fence");
    // The file and its fence outlive the client.
    drop((done, again, device));
    let status = fence_status(file.as_fd())?;
    ensure!(status == 1, "the file says {status}");
    Ok(())
}

/// An object that two clients share orders their work.
fn between_clients(context: &mut Context) -> Result<()> {
    let (first, second) = context.devices()?;
    let bo = surface(&first, 16, Place::FrameBuffer)?;
    bo.wait()?;
    let line = Syncobj::new(&first, false)?;
    let shared = Syncobj::import(&second, line.export()?.as_fd())?;
    submit_late(context, &first, &fill(&bo, 1))?;
    nothing().signals(line.at(1)).issue(&first)?;
    nothing()
        .after(shared.at(1))
        .signals(shared.at(2))
        .issue(&second)?;
    ensure!(line.wait(2, LONG, false)?, "the other client's point");
    ensure!(shared.point()? == 2, "it stands at {}", shared.point()?);
    Ok(())
}

/// Submit as many entries as there may be, again and again, in any order.
fn many(context: &mut Context) -> Result<()> {
    const ROUNDS: u64 = 60;
    let device = context.device()?;
    let objects: Vec<Syncobj> = (0..256)
        .map(|i| Syncobj::new(&device, i % 2 == 0))
        .collect::<Result<_, _>>()?;
    let points = |round: u64| -> Vec<Sync> {
        let point = |i: usize| if i % 2 == 0 { 0 } else { round };
        (0..256).map(|i| objects[i].at(point(i))).collect()
    };
    let mut random = fastrand::Rng::with_seed(0x5eed_0b1e);
    for round in 1..=ROUNDS {
        let mut submission = nothing();
        submission.signal = points(round);
        random.shuffle(&mut submission.signal);
        if round > 1 {
            submission.wait = points(round - 1);
        }
        submission.issue(&device)?;
    }
    for (i, object) in objects.iter().enumerate() {
        let point = if i % 2 == 0 { 0 } else { ROUNDS };
        ensure!(object.wait(point, LONG, false)?, "object {i}");
    }
    engine_works(&device)
}
