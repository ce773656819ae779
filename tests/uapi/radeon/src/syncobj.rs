// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects on submissions: chunks of our own, binary and timeline, in and out.

use crate::refusal::refused_for;
use crate::support::{self, CHUNKS, PITCH, WIDTH, engine_works, envelope, nothing, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi::{self, Sync};
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::submit::{after, before};
use lapidary_guest::{Domain, Errno};
use lapidary_harness::child::{self, End};
use lapidary_harness::syncobj::{Syncobj, fence_status};
use lapidary_harness::{Context, Test, refused};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

const OURS: &str = "upstream's driver has no synchronisation objects";
const LONG: Duration = Duration::from_secs(5);
const AT_ONCE: Duration = Duration::ZERO;

pub fn tests() -> Vec<Test> {
    let ours = |name, body| Test::new(name, body).lapidary_only(OURS);
    vec![
        ours("syncobj/announced", announced),
        ours("syncobj/out_signals_with_the_work", out_signals).needs_control(),
        ours("syncobj/timeline_points_signal_in_order", timeline).needs_control(),
        ours("syncobj/in_of_the_same_ring_does_not_wait", same_ring).needs_control(),
        ours("syncobj/in_waits_for_another_driver", waits),
        ours("syncobj/wait_is_interruptible", interruptible),
        ours("syncobj/in_of_a_chain_waits_for_all", chain),
        ours("syncobj/not_submitted", not_submitted),
        ours("syncobj/bad_entries", bad_entries),
        ours("syncobj/bad_chunks", bad_chunks),
        ours("syncobj/refused_leaves_out_alone", refused_leaves_alone),
        ours("syncobj/as_files", files).needs_control(),
        ours("syncobj/between_clients", between_clients).needs_control(),
        ours("syncobj/many", many),
    ]
}

/// Make an envelope that does nothing, with these chunks behind its own ([`CHUNKS`]).
fn with(chunks: impl IntoIterator<Item = Chunk>) -> Envelope {
    let nothing = envelope(Chunk::commands(nothing().words()));
    chunks.into_iter().fold(nothing, Envelope::with)
}

/// Make the next submission's fence come late.
fn late(context: &mut Context) -> Result<()> {
    context.control()?.fault("late-fence", 1)
}

fn announced(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    ensure!(device.features()? & 1 != 0, "no feature bit");
    ensure!(
        device.capability(abi::CAP_SYNCOBJ)? == 1
            && device.capability(abi::CAP_SYNCOBJ_TIMELINE)? == 1,
        "no capability"
    );
    Ok(())
}

fn out_signals(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    let done = Syncobj::new(&device, false)?;
    refused(
        "a wait for nothing",
        done.wait(0, AT_ONCE, false),
        Errno::INVAL,
    )?;
    for colour in 1..4 {
        let mut work = painter().stream();
        painter().fill(
            &mut work,
            Area::new(&bo, PITCH),
            colour,
            Rect::new(0, 0, WIDTH, 16),
        );
        late(context)?;
        Envelope::of(&work)
            .with(after(&[done.at(0)]))
            .submit(&device)?;
        ensure!(!done.wait(0, AT_ONCE, false)?, "signalled before the work");
        ensure!(done.wait(0, LONG, false)?, "never signalled");
        let mapping = bo.map()?;
        ensure!(mapping.get(0) == colour, "signalled, but nothing is drawn");
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
        with([after(&[line.at(point)])]).submit(&device)?;
    }
    ensure!(line.point()? == 0, "a point has signalled before the work");
    ensure!(!line.wait(3, AT_ONCE, false)?, "the first point is early");
    ensure!(line.wait(1 << 40, LONG, false)?, "the last point");
    ensure!(line.point()? == 1 << 40, "it stands at {}", line.point()?);
    ensure!(line.wait(4, AT_ONCE, false)?, "a point between");
    refused(
        "a point beyond",
        line.wait((1 << 40) + 1, AT_ONCE, false),
        Errno::INVAL,
    )
}

/// A fence of our own ring is in order there: the submission does not wait for it, and the work does.
fn same_ring(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let (first, second) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    let line = Syncobj::new(&device, false)?;
    late(context)?;
    with([after(&[first.at(0), line.at(5)])]).submit(&device)?;
    let next = with([
        before(&[first.at(0), line.at(4), line.at(5)]),
        after(&[second.at(0)]),
    ]);
    within(Duration::from_millis(200), "the submission", || {
        next.submit(&device)
    })??;
    ensure!(!first.wait(0, AT_ONCE, false)?, "the fence was not late");
    ensure!(second.wait(0, LONG, false)?, "the second submission");
    ensure!(first.wait(0, AT_ONCE, false)?, "the second came first");
    Ok(())
}

/// A child signals the fence after a while; the parent's submission waits for it.
fn waits(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = support::vgem()?;
    let foreign = Syncobj::new(&device, false)?;
    let fence = vgem.fence()?;
    foreign.import_fence(fence.file.as_fd())?;
    let child = child::spawn(|| {
        std::thread::sleep(Duration::from_millis(400));
        fence.signal()?;
        Ok(0)
    })?;
    let begin = Instant::now();
    with([before(&[foreign.at(0)])]).submit(&device)?;
    let taken = begin.elapsed();
    ensure!(
        taken > Duration::from_millis(300),
        "the submission did not wait: {taken:?}"
    );
    ensure!(
        child.wait(LONG)? == End::Exit(0),
        "signalling the fence failed"
    );
    // A signalled fence delays no submission.
    within(Duration::from_millis(300), "the second submission", || {
        with([before(&[foreign.at(0)])]).submit(&device)
    })??;
    engine_works(&device)
}

fn interruptible(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = support::vgem()?;
    let foreign = Syncobj::new(&device, false)?;
    let fence = vgem.fence()?;
    foreign.import_fence(fence.file.as_fd())?;
    let child = child::spawn(|| {
        with([before(&[foreign.at(0)])]).submit(&device)?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(300));
    child.signal(libc::SIGKILL);
    let end = within(Duration::from_millis(500), "the child's end", || {
        child.wait(LONG)
    })??;
    ensure!(
        end == End::Signal(libc::SIGKILL),
        "the child ended: {end:?}"
    );
    ensure!(
        fence_status(fence.file.as_fd())? == 0,
        "the fence has signalled"
    );
    fence.signal()?;
    engine_works(&device)
}

/// A point whose own fence is of our ring lies behind one that is not.
fn chain(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = support::vgem()?;
    let (line, foreign) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    let fence = vgem.fence()?;
    foreign.import_fence(fence.file.as_fd())?;
    let mut transfer = abi::SyncobjTransfer {
        src_handle: foreign.handle(),
        dst_handle: line.handle(),
        dst_point: 1,
        ..Default::default()
    };
    device.ioctl(abi::SYNCOBJ_TRANSFER, &mut transfer)?;
    with([after(&[line.at(2)])]).submit(&device)?;
    let child = child::spawn(|| {
        std::thread::sleep(Duration::from_millis(400));
        fence.signal()?;
        Ok(0)
    })?;
    let begin = Instant::now();
    with([before(&[line.at(2)])]).submit(&device)?;
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
    with([after(&[line.at(5)])]).submit(&device)?;
    ensure!(line.wait(5, LONG, false)?, "the point");
    with([before(&[done.at(0), line.at(0), line.at(1), line.at(5)])])
        .submit(&device)
        .context("all have been submitted")?;
    support::untouched(context, || {
        for (what, entry) in [
            ("an object without a fence", empty.at(0)),
            ("a point of it", empty.at(3)),
            ("a point of a binary object", done.at(1)),
            ("a point that comes later", line.at(6)),
            ("the last point", line.at(u64::MAX)),
        ] {
            let envelope = with([before(&[done.at(0), entry])]);
            refused_for(what, &device, &envelope, Errno::NODATA, 0x302, 1)?;
        }
        Ok(())
    })?;
    // An object without a fence has nothing to wait for, although it was signalled once.
    done.reset()?;
    let envelope = with([before(&[done.at(0)])]);
    refused_for("after a reset", &device, &envelope, Errno::NODATA, 0x302, 0)
}

fn bad_entries(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (one, other) = (Syncobj::new(&device, true)?, Syncobj::new(&device, true)?);
    support::untouched(context, || {
        for make in [before as fn(&[Sync]) -> Chunk, after] {
            for handle in [0, 77, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
                for point in [0, 1] {
                    let bad = Sync {
                        handle,
                        flags: 0,
                        point,
                    };
                    let envelope = with([make(&[one.at(0), bad])]);
                    let what = format!("handle {handle:#x}, point {point}");
                    refused_for(&what, &device, &envelope, Errno::NOENT, 0x301, 1)?;
                }
            }
            for flags in [1, 2, 0x8000_0000, u32::MAX] {
                let bad = Sync { flags, ..one.at(0) };
                let what = format!("flags {flags:#x}");
                let envelope = with([make(&[bad])]);
                refused_for(&what, &device, &envelope, Errno::INVAL, 0x303, 0)?;
            }
        }
        for (what, entries) in [
            ("binary twice", [one.at(0), other.at(0), one.at(0)]),
            ("two points", [one.at(1), other.at(1), one.at(2)]),
            ("both kinds", [one.at(1), other.at(0), one.at(0)]),
        ] {
            let envelope = with([after(&entries)]);
            refused_for(what, &device, &envelope, Errno::INVAL, 0x304, 2)?;
        }
        Ok(())
    })?;
    // To wait for one twice is harmless, as is waiting for what is signalled.
    with([before(&[one.at(0), one.at(0)]), after(&[one.at(0)])]).submit(&device)?;
    ensure!(one.wait(0, LONG, false)?, "the object never signals");
    Ok(())
}

fn bad_chunks(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let one = Syncobj::new(&device, true)?;
    let none = u32::MAX;
    support::untouched(context, || {
        for make in [before as fn(&[Sync]) -> Chunk, after] {
            let good = || make(&[one.at(0)]);
            for length in [1, 2, 3, 5, 7] {
                let envelope = with([good().claim(length)]);
                let what = format!("{length} dwords");
                refused_for(&what, &device, &envelope, Errno::INVAL, 0x109, CHUNKS)?;
            }
            for length in [257 * 4, 0x4000_0000, 0x4000_0004, 0xffff_fffc] {
                let envelope = with([good().claim(length)]);
                let what = format!("{length:#x} dwords");
                refused_for(&what, &device, &envelope, Errno::INVAL, 0x10a, CHUNKS)?;
            }
            let envelope = with([good(), good()]);
            let second = CHUNKS + 1;
            refused_for(
                "two of a kind",
                &device,
                &envelope,
                Errno::INVAL,
                0x10b,
                second,
            )?;
            let envelope = Envelope::new().with(good());
            refused_for("no commands", &device, &envelope, Errno::INVAL, 0x10c, none)?;
            for bad in [0, 8, 0xffff_8880_0000_0000, u64::MAX - 15] {
                let envelope = with([good().point_at(bad)]);
                refused(
                    &format!("entries at {bad:#x}"),
                    envelope.submit(&device),
                    Errno::FAULT,
                )?;
            }
        }
        Ok(())
    })?;
    with([before(&[]), after(&[])])
        .submit(&device)
        .context("empty chunks")?;
    // The ids next to ours are unknown, and unknown chunks are ignored.
    for id in [0x4c4f_ffff, 0x4c50_0002, 0xcc50_0000] {
        with([Chunk::new(id, vec![1, 2, 3])])
            .submit(&device)
            .with_context(|| format!("chunk {id:#x}"))?;
    }
    Ok(())
}

/// A refused submission signals nothing.
fn refused_leaves_alone(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (empty, line) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    with([after(&[line.at(4)])]).submit(&device)?;
    let bad = support::refused_envelope().with(after(&[empty.at(0), line.at(9)]));
    refused("a bad submission", bad.submit(&device), Errno::INVAL)?;
    ensure!(line.wait(4, LONG, false)?, "the point before");
    for (object, point) in [(&empty, 0), (&line, 9)] {
        refused(
            "a wait for what never was",
            object.wait(point, AT_ONCE, false),
            Errno::INVAL,
        )?;
    }
    // A client that waits for a submission gets the next one.
    let child = child::spawn(|| Ok(i32::from(!empty.wait(0, LONG, true)?)))?;
    std::thread::sleep(Duration::from_millis(100));
    with([after(&[empty.at(0)])]).submit(&device)?;
    ensure!(child.wait(LONG)? == End::Exit(0), "the waiter was left");
    Ok(())
}

fn files(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let (done, again) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    refused("a file of nothing", done.export_fence(), Errno::INVAL)?;
    late(context)?;
    with([after(&[done.at(0)])]).submit(&device)?;
    let file = done.export_fence()?;
    ensure!(
        fence_status(file.as_fd())? == 0,
        "signalled before the work"
    );
    again.import_fence(file.as_fd())?;
    ensure!(again.wait(0, LONG, false)?, "the imported fence");
    ensure!(
        fence_status(file.as_fd())? == 1,
        "the file says {}",
        fence_status(file.as_fd())?
    );
    // The file and its fence outlive the client.
    drop((done, again, device));
    ensure!(
        fence_status(file.as_fd())? == 1,
        "the file after the client"
    );
    Ok(())
}

/// An object that two clients share orders their work.
fn between_clients(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    let second = first.another()?;
    engine_works(&first)?;
    let line = Syncobj::new(&first, false)?;
    let shared = Syncobj::import(&second, line.export()?.as_fd())?;
    late(context)?;
    with([after(&[line.at(1)])]).submit(&first)?;
    with([before(&[shared.at(1)]), after(&[shared.at(2)])]).submit(&second)?;
    ensure!(line.wait(2, LONG, false)?, "the other client's point");
    ensure!(shared.point()? == 2, "it stands at {}", shared.point()?);
    Ok(())
}

/// Submit as many entries as there may be, again and again, in any order.
fn many(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects: Vec<Syncobj> = (0..256)
        .map(|i| Syncobj::new(&device, i % 2 == 0))
        .collect::<Result<_, _>>()?;
    let points = |round: u64| -> Vec<Sync> {
        let point = |i: usize| if i % 2 == 0 { 0 } else { round };
        (0..256).map(|i| objects[i].at(point(i))).collect()
    };
    let mut random = fastrand::Rng::with_seed(0x5eed_0b1e);
    for round in 1..100 {
        let mut entries = points(round);
        entries.swap(random.u64(..256) as usize, random.u64(..256) as usize);
        let mut chunks = vec![after(&entries)];
        if round > 1 {
            chunks.push(before(&points(round - 1)));
        }
        with(chunks).submit(&device)?;
    }
    for (i, object) in objects.iter().enumerate() {
        let point = if i % 2 == 0 { 0 } else { 99 };
        ensure!(object.wait(point, LONG, false)?, "object {i}");
    }
    engine_works(&device)
}
