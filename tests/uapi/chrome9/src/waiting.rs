// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GEM_WAIT: an object is waited for until no submission uses it, or until a time of the monotonic clock.
//!
//! The model makes the fence of a submission half a second late where a test needs an object in use.

use crate::support::{self, fill, submit_late, within};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::device::now_ns;
use lapidary_chrome9_client::{Client as _, Errno, Place, abi};
use lapidary_harness::child::{self, End};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(10);
const AT_ONCE: Duration = Duration::from_millis(200);

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("waiting/an_idle_object_is_not_waited_for", idle),
        Test::new("waiting/a_busy_object_is_waited_for", busy).needs_control(),
        Test::new("waiting/a_past_time_only_asks", past).needs_control(),
        Test::new("waiting/ends_at_its_time", ends).needs_control(),
        Test::new("waiting/other_objects_are_not_waited_for", others).needs_control(),
        Test::new("waiting/a_source_is_busy_too", source).needs_control(),
        Test::new("waiting/a_listed_object_is_busy_too", listed).needs_control(),
        Test::new("waiting/can_be_killed", killed).needs_control(),
        Test::new("waiting/reserved_has_to_be_zero", reserved),
    ]
}

fn idle(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(PAGE, place)?;
        for time in [i64::MIN, -1, 0, 1, now_ns(), i64::MAX] {
            within(AT_ONCE, "the wait", || device.wait_until(bo.handle(), time))??;
        }
    }
    Ok(())
}

fn busy(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = support::surface(&device, 16, place)?;
        bo.wait()?;
        for (colour, time) in [(1, i64::MAX), (2, now_ns() + 60_000_000_000)] {
            let begin = Instant::now();
            submit_late(context, &device, &fill(&bo, colour))?;
            ensure!(bo.is_busy()?, "{place}: it is idle at once");
            device.wait_until(bo.handle(), time)?;
            ensure!(
                begin.elapsed() > Duration::from_millis(400),
                "{place}: the wait ended after {:?}",
                begin.elapsed()
            );
            ensure!(
                bo.map()?.get(0) == colour,
                "{place}: the wait ended before the work"
            );
            ensure!(!bo.is_busy()?, "{place}: it is busy after the wait");
        }
    }
    Ok(())
}

fn past(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    submit_late(context, &device, &fill(&bo, 1))?;
    for time in [i64::MIN, -1, 0, 1, now_ns() - 1, now_ns()] {
        let answer = within(AT_ONCE, "the question", || {
            device.wait_until(bo.handle(), time)
        })?;
        refused(&format!("until {time}"), answer, Errno::TIMEDOUT)?;
    }
    bo.wait()?;
    Ok(())
}

fn ends(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    submit_late(context, &device, &fill(&bo, 1))?;
    let begin = now_ns();
    let answer = within(LIMIT, "the wait", || {
        device.wait_until(bo.handle(), begin + 150_000_000)
    })?;
    let taken = now_ns() - begin;
    refused("150 ms of 500", answer, Errno::TIMEDOUT)?;
    ensure!(taken >= 150_000_000, "it ended after {taken} ns");
    bo.wait()?;
    Ok(())
}

fn others(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let bo = support::surface(&device, 16, Place::FrameBuffer)?;
    let unused = support::surface(&device, 16, Place::FrameBuffer)?;
    let foreign = support::surface(&other, 16, Place::FrameBuffer)?;
    for bo in [&bo, &unused, &foreign] {
        bo.wait()?;
    }
    submit_late(context, &device, &fill(&bo, 1))?;
    ensure!(!unused.is_busy()?, "an object that is not used is busy");
    ensure!(!foreign.is_busy()?, "another client's object is busy");
    ensure!(bo.is_busy()?, "the object itself is idle");
    bo.wait()?;
    Ok(())
}

fn source(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let from = support::surface(&device, 16, Place::FrameBuffer)?;
    let to = support::surface(&device, 16, Place::FrameBuffer)?;
    from.wait()?;
    to.wait()?;
    submit_late(context, &device, &support::copy(&from, &to))?;
    ensure!(from.is_busy()? && to.is_busy()?, "one of the two is idle");
    from.wait()?;
    ensure!(!to.is_busy()?, "the target is busy");
    Ok(())
}

fn listed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Place::FrameBuffer)?;
    let listed = support::surface(&device, 16, Place::System)?;
    bo.wait()?;
    listed.wait()?;
    let mut stream = fill(&bo, 1);
    stream.list(&listed);
    submit_late(context, &device, &stream)?;
    ensure!(listed.is_busy()?, "it is idle");
    listed.wait()?;
    Ok(())
}

fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    submit_late(context, &device, &fill(&bo, 1))?;
    let child = child::spawn(|| {
        device.wait_until(bo.handle(), i64::MAX)?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(100));
    child.signal(libc::SIGKILL);
    let end = child.wait(LIMIT)?;
    ensure!(end == End::Signal(libc::SIGKILL), "it ended {end:?}");
    ensure!(bo.is_busy()?, "the wait was not under way");
    bo.wait()?;
    Ok(())
}

fn reserved(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(PAGE, Place::System)?;
    for reserved in [1, 1 << 31] {
        let mut argument = abi::GemWait {
            handle: bo.handle(),
            reserved,
            timeout_ns: i64::MAX,
        };
        let answer = device.ioctl(abi::GEM_WAIT, &mut argument);
        refused(&format!("reserved {reserved:#x}"), answer, Errno::INVAL)?;
    }
    Ok(())
}
