// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Failed allocations. Each allocation of each call fails in turn, so that every error path of the driver is taken. A
//! failed call returns `ENOMEM` and changes nothing, and the device still works.
//!
//! A walk cannot see memory to which nothing refers any more. The debug kernel's leak detector does.

use crate::support::{engine_works, fill, surface};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Device, Errno, Place, Submission};
use lapidary_harness::injection::{Injection, Try};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::{Context, Test};
use std::rc::Rc;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("failures/questions", questions),
        Test::new("failures/creating", creating).limit(120),
        Test::new("failures/mapping", mapping),
        Test::new("failures/submitting", submitting).limit(300),
        Test::new("failures/waiting", waiting),
    ]
}

/// A client that denies itself memory.
struct Walk {
    device: Rc<Device>,
    injection: Injection,
}

impl Walk {
    fn new(context: &mut Context) -> Result<Walk> {
        let injection = Injection::find()?;
        let device = context.device()?;
        engine_works(&device)?;
        Ok(Walk { device, injection })
    }

    /// Fail the call's allocations one after the other, each on a fresh try. At least `least` tries fail.
    fn deny<'a>(
        &self,
        what: &str,
        least: u32,
        prepare: impl FnMut() -> Result<Try<'a>>,
    ) -> Result<()> {
        let rest = || engine_works(&self.device);
        let failed = self.injection.walk(what, &[Errno::NOMEM], prepare, rest)?;
        ensure!(failed >= least, "{what}: only {failed} calls failed");
        Ok(())
    }
}

fn questions(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    for param in Param::ALL {
        walk.deny(&format!("{param:?}"), 0, || {
            Ok(Try::new(|| walk.device.param(param).map(drop)))
        })?;
    }
    Ok(())
}

/// The frame buffer can do without some allocations: an object for which there is no place there is in system pages.
fn creating(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    for place in Place::ALL {
        for bytes in [PAGE, 1 << 20] {
            walk.deny(&format!("{bytes} bytes in {place}"), 1, || {
                Ok(Try::new(|| walk.device.create(bytes, place).map(drop)))
            })?;
        }
    }
    Ok(())
}

fn mapping(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    for place in Place::ALL {
        let bo = surface(&walk.device, 16, place)?;
        bo.write(&[7])?;
        walk.deny(&format!("mapping {place}"), 1, || {
            Ok(Try::verified(
                || bo.map().map(drop),
                |_| {
                    ensure!(bo.read()?[0] == 7, "the content is another");
                    Ok(())
                },
            ))
        })?;
    }
    Ok(())
}

/// A submission that fails draws nothing and signals nothing.
fn submitting(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let device = &walk.device;
    for place in Place::ALL {
        let bo = surface(device, 16, place)?;
        let done = Syncobj::new(device, false)?;
        let before = Syncobj::new(device, true)?;
        let submission = Submission::of(&fill(&bo, 5))
            .after(before.at(0))
            .signals(done.at(0));
        let refusals = device.refusal()?.count;
        let verify = |submitted| {
            bo.wait()?;
            let seen = bo.map()?.get(0);
            let expected = if submitted { 5 } else { 1 };
            ensure!(seen == expected, "the first pixel is {seen}");
            let signalled = done.wait(0, Duration::ZERO, false);
            let expected = if submitted {
                Ok(true)
            } else {
                Err(Errno::INVAL)
            };
            ensure!(signalled == expected, "its fence: {signalled:?}");
            let now = device.refusal()?.count;
            ensure!(now == refusals, "it counts as a refusal");
            Ok(())
        };
        walk.deny(&format!("a fill in {place}"), 3, || {
            done.reset()?;
            bo.write(&[1])?;
            Ok(Try::verified(|| submission.issue(device), verify))
        })?;
    }
    Ok(())
}

fn waiting(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let bo = surface(&walk.device, 16, Place::FrameBuffer)?;
    walk.deny("GEM_WAIT", 0, || {
        Ok(Try::new(|| {
            walk.device.wait(bo.handle(), Duration::from_secs(1))
        }))
    })
}
