// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects on submissions, binary and timeline: what a submission waits for, and what it signals.

use crate::{Interface, Job as _, device, engine_works, late};
use anyhow::{Context as _, Result, ensure};
use lapidary_harness::child::{self, Child, End};
use lapidary_harness::drm::{self, SyncobjTransfer};
use lapidary_harness::foreign::{Vgem, VgemFence};
use lapidary_harness::interface::{Buffer as _, Device as _};
use lapidary_harness::limit::within;
use lapidary_harness::syncobj::{Sync, Syncobj, fence_status};
use lapidary_harness::{Context, refused, untouched};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(5);
const AT_ONCE: Duration = Duration::ZERO;
/// Reasons for which submissions are refused.
const NO_SYNCOBJ: u32 = 0x301;
const NOT_SUBMITTED: u32 = 0x302;
const SIGNALLED_TWICE: u32 = 0x304;

/// An object signals when the work is done, and not before.
pub fn signals<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let bo = I::surface(&device, 16, I::USUAL)?;
    bo.wait()?;
    let done = Syncobj::new(&device, false)?;
    let early = done.wait(0, AT_ONCE, false);
    refused("a wait for nothing", early, Errno::INVAL)?;
    for colour in 1..4 {
        late(context)?;
        I::fill(&bo, colour, 1)
            .signals(&[done.at(0)])
            .submit(&device)?;
        ensure!(!done.wait(0, AT_ONCE, false)?, "signalled before the work");
        ensure!(done.wait(0, LONG, false)?, "never signalled");
        let seen = bo.map()?.get(0);
        ensure!(seen == colour, "signalled, but nothing is drawn");
        ensure!(!bo.is_busy()?, "signalled, but the object is busy");
    }
    Ok(())
}

/// Points of a timeline signal in their order.
pub fn timeline<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    engine_works::<I>(&device)?;
    let line = Syncobj::new(&device, false)?;
    late(context)?;
    for point in [3, 7, 1 << 40] {
        I::nothing().signals(&[line.at(point)]).submit(&device)?;
    }
    ensure!(line.point()? == 0, "a point has signalled before the work");
    ensure!(!line.wait(3, AT_ONCE, false)?, "the first point is early");
    ensure!(line.wait(1 << 40, LONG, false)?, "the last point");
    ensure!(line.point()? == 1 << 40, "it stands at {}", line.point()?);
    ensure!(line.wait(4, AT_ONCE, false)?, "a point between");
    let beyond = line.wait((1 << 40) + 1, AT_ONCE, false);
    refused("a point beyond", beyond, Errno::INVAL)
}

/// A fence of our own ring is in order there: the submission does not wait for it, and the work does.
pub fn own_work<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    engine_works::<I>(&device)?;
    let (first, second) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    let line = Syncobj::new(&device, false)?;
    late(context)?;
    I::nothing()
        .signals(&[first.at(0), line.at(5)])
        .submit(&device)?;
    let next = I::nothing()
        .after(&[first.at(0), line.at(4), line.at(5)])
        .signals(&[second.at(0)]);
    within(Duration::from_millis(200), "the submission", || {
        next.submit(&device)
    })??;
    ensure!(!first.wait(0, AT_ONCE, false)?, "the fence was not late");
    ensure!(second.wait(0, LONG, false)?, "the second submission");
    ensure!(first.wait(0, AT_ONCE, false)?, "the second came first");
    Ok(())
}

/// Return a new object with a fence of another driver.
fn foreign<I: Interface>(device: &I::Device, fence: &VgemFence<'_>) -> Result<Syncobj> {
    let foreign = Syncobj::new(device, false)?;
    foreign.import_fence(fence.file.as_fd())?;
    Ok(foreign)
}

/// Start a child that signals a fence after a while, and check that a submission waits for an entry until then.
fn waits_for<I: Interface>(device: &I::Device, entry: Sync, fence: &VgemFence<'_>) -> Result<()> {
    let child: Child = child::spawn(|| {
        std::thread::sleep(Duration::from_millis(400));
        fence.signal()?;
        Ok(0)
    })?;
    let begin = Instant::now();
    I::nothing().after(&[entry]).submit(device)?;
    let taken = begin.elapsed();
    ensure!(
        taken > Duration::from_millis(300),
        "the submission did not wait: {taken:?}"
    );
    ensure!(child.wait(LONG)? == End::Exit(0), "signalling failed");
    Ok(())
}

/// A submission waits for another driver's fence.
pub fn waits<I: Interface>(_: &mut Context) -> Result<()> {
    let (device, vgem) = (device::<I>()?, Vgem::open()?);
    let fence = vgem.fence()?;
    let foreign = foreign::<I>(&device, &fence)?;
    waits_for::<I>(&device, foreign.at(0), &fence)?;
    // A signalled fence delays no submission.
    within(Duration::from_millis(300), "the second submission", || {
        I::nothing().after(&[foreign.at(0)]).submit(&device)
    })??;
    engine_works::<I>(&device)
}

/// A client that waits for another driver's fence can be killed.
pub fn interruptible<I: Interface>(_: &mut Context) -> Result<()> {
    let (device, vgem) = (device::<I>()?, Vgem::open()?);
    let fence = vgem.fence()?;
    let foreign = foreign::<I>(&device, &fence)?;
    let child = child::spawn(|| {
        I::nothing().after(&[foreign.at(0)]).submit(&device)?;
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
    engine_works::<I>(&device)
}

/// A point whose own fence is of our ring lies behind one that is not.
pub fn chain<I: Interface>(_: &mut Context) -> Result<()> {
    let (device, vgem) = (device::<I>()?, Vgem::open()?);
    let fence = vgem.fence()?;
    let (line, foreign) = (
        Syncobj::new(&device, false)?,
        foreign::<I>(&device, &fence)?,
    );
    let mut transfer = SyncobjTransfer {
        src_handle: foreign.handle(),
        dst_handle: line.handle(),
        dst_point: 1,
        ..Default::default()
    };
    device.ioctl(drm::SYNCOBJ_TRANSFER, &mut transfer)?;
    I::nothing().signals(&[line.at(2)]).submit(&device)?;
    waits_for::<I>(&device, line.at(2), &fence)
}

/// What nothing that was submitted will signal is not waited for.
pub fn not_submitted<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let (empty, done, line) = (
        Syncobj::new(&device, false)?,
        Syncobj::new(&device, true)?,
        Syncobj::new(&device, false)?,
    );
    I::nothing().signals(&[line.at(5)]).submit(&device)?;
    ensure!(line.wait(5, LONG, false)?, "the point");
    I::nothing()
        .after(&[done.at(0), line.at(0), line.at(1), line.at(5)])
        .submit(&device)
        .context("all have been submitted")?;
    untouched(context, || {
        for (what, entry) in [
            ("an object without a fence", empty.at(0)),
            ("a point of it", empty.at(3)),
            ("a point of a binary object", done.at(1)),
            ("a point that comes later", line.at(6)),
            ("the last point", line.at(u64::MAX)),
        ] {
            let job = I::nothing().after(&[done.at(0), entry]);
            I::refused_for(what, &device, &job, Errno::NODATA, (NOT_SUBMITTED, 1))?;
        }
        Ok(())
    })?;
    // An object without a fence has nothing to wait for, although it was signalled once.
    done.reset()?;
    let job = I::nothing().after(&[done.at(0)]);
    let why = (NOT_SUBMITTED, 0);
    I::refused_for("after a reset", &device, &job, Errno::NODATA, why)
}

/// Handles that are not the client's are refused.
pub fn unknown_handles<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let other = device.another()?;
    let good = Syncobj::new(&device, true)?;
    let foreign: Vec<Syncobj> = (0..30)
        .map(|_| Syncobj::new(&other, true))
        .collect::<Result<_, _>>()?;
    let foreign = foreign[29].handle();
    let why = (NO_SYNCOBJ, 1);
    untouched(context, || {
        for handle in [0, 77, foreign, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            for point in [0, 1] {
                let bad = Sync {
                    handle,
                    flags: 0,
                    point,
                };
                let what = format!("handle {handle:#x}, point {point}");
                let wait = I::nothing().after(&[good.at(0), bad]);
                I::refused_for(&what, &device, &wait, Errno::NOENT, why)?;
                let signal = I::nothing().signals(&[good.at(0), bad]);
                I::refused_for(&what, &device, &signal, Errno::NOENT, why)?;
            }
        }
        Ok(())
    })
}

/// A submission signals an object once, and may wait for it twice.
pub fn twice<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    let (one, other) = (Syncobj::new(&device, true)?, Syncobj::new(&device, true)?);
    untouched(context, || {
        for (what, entries) in [
            ("binary twice", [one.at(0), other.at(0), one.at(0)]),
            ("two points", [one.at(1), other.at(1), one.at(2)]),
            ("both kinds", [one.at(1), other.at(0), one.at(0)]),
        ] {
            let job = I::nothing().signals(&entries);
            I::refused_for(what, &device, &job, Errno::INVAL, (SIGNALLED_TWICE, 2))?;
        }
        Ok(())
    })?;
    // To wait for one twice is harmless, as is waiting for what is signalled.
    I::nothing()
        .after(&[one.at(0), one.at(0)])
        .signals(&[one.at(0)])
        .submit(&device)?;
    ensure!(one.wait(0, LONG, false)?, "the object never signals");
    Ok(())
}

/// A refused submission signals nothing. `refuse` makes one that would signal these.
pub fn refused_signals_nothing<I: Interface>(
    _: &mut Context,
    refuse: impl FnOnce(&I::Device, &[Sync]) -> Result<()>,
) -> Result<()> {
    let device = device::<I>()?;
    let (empty, line) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    I::nothing().signals(&[line.at(4)]).submit(&device)?;
    refuse(&device, &[empty.at(0), line.at(9)])?;
    ensure!(line.wait(4, LONG, false)?, "the point before");
    for (object, point) in [(&empty, 0), (&line, 9)] {
        let wait = object.wait(point, AT_ONCE, false);
        refused("a wait for what never was", wait, Errno::INVAL)?;
    }
    // A client that waits for a submission gets the next one.
    let child = child::spawn(|| Ok(i32::from(!empty.wait(0, LONG, true)?)))?;
    std::thread::sleep(Duration::from_millis(100));
    I::nothing().signals(&[empty.at(0)]).submit(&device)?;
    ensure!(child.wait(LONG)? == End::Exit(0), "the waiter was left");
    Ok(())
}

/// A fence goes to a file and back.
pub fn files<I: Interface>(context: &mut Context) -> Result<()> {
    let device = device::<I>()?;
    engine_works::<I>(&device)?;
    let (done, again) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    refused("a file of nothing", done.export_fence(), Errno::INVAL)?;
    late(context)?;
    I::nothing().signals(&[done.at(0)]).submit(&device)?;
    let file = done.export_fence()?;
    let status = || fence_status(file.as_fd());
    ensure!(status()? == 0, "signalled before the work");
    again.import_fence(file.as_fd())?;
    ensure!(again.wait(0, LONG, false)?, "the imported fence");
    ensure!(status()? == 1, "the file says {}", status()?);
    // The file and its fence outlive the client.
    drop((done, again, device));
    ensure!(status()? == 1, "after the client it says {}", status()?);
    Ok(())
}

/// An object that two clients share orders their work.
pub fn between_clients<I: Interface>(context: &mut Context) -> Result<()> {
    let first = device::<I>()?;
    let second = first.another()?;
    let bo = I::surface(&first, 16, I::USUAL)?;
    bo.wait()?;
    let line = Syncobj::new(&first, false)?;
    let shared = Syncobj::import(&second, line.export()?.as_fd())?;
    late(context)?;
    I::fill(&bo, 1, 1).submit(&first)?;
    I::nothing().signals(&[line.at(1)]).submit(&first)?;
    I::nothing()
        .after(&[shared.at(1)])
        .signals(&[shared.at(2)])
        .submit(&second)?;
    ensure!(line.wait(2, LONG, false)?, "the other client's point");
    ensure!(shared.point()? == 2, "it stands at {}", shared.point()?);
    Ok(())
}

/// Submit as many entries as there may be, again and again, in any order.
pub fn many<I: Interface>(_: &mut Context) -> Result<()> {
    const ROUNDS: u64 = 99;
    let device = device::<I>()?;
    let objects: Vec<Syncobj> = (0..256)
        .map(|i| Syncobj::new(&device, i % 2 == 0))
        .collect::<Result<_, _>>()?;
    let points = |round: u64| -> Vec<Sync> {
        let point = |i: usize| if i % 2 == 0 { 0 } else { round };
        (0..256).map(|i| objects[i].at(point(i))).collect()
    };
    let mut random = fastrand::Rng::with_seed(0x5eed_0b1e);
    for round in 1..=ROUNDS {
        let mut entries = points(round);
        random.shuffle(&mut entries);
        let mut job = I::nothing().signals(&entries);
        if round > 1 {
            job = job.after(&points(round - 1));
        }
        job.submit(&device)?;
    }
    for (i, object) in objects.iter().enumerate() {
        let point = if i % 2 == 0 { 0 } else { ROUNDS };
        ensure!(object.wait(point, LONG, false)?, "object {i}");
    }
    engine_works::<I>(&device)
}
