// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Failed allocations. Each allocation of each call fails in turn, so that every error path of the driver is taken. A
//! failed call returns `ENOMEM` and changes nothing, and the device still works.
//!
//! A walk cannot see memory to which nothing refers any more. The debug kernel's leak detector does.

use crate::support::{engine_works, fill, surface};
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Device, Errno, Place, Submission};
use lapidary_harness::injection::Injection;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::{Context, Test, skip};
use std::rc::Rc;
use std::time::Duration;

/// More allocations than any call makes.
const FAR: u32 = 2000;

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
        let Some(injection) = Injection::find()? else {
            return skip("this kernel has no fault injection");
        };
        let device = context.device()?;
        engine_works(&device)?;
        Ok(Walk { device, injection })
    }

    /// Fail the call's allocations one after the other until a call makes fewer than that. At least `least` calls fail. What
    /// `verify` checks holds after each, given whether it succeeded.
    fn deny(
        &self,
        what: &str,
        least: u32,
        mut call: impl FnMut() -> Result<(), Errno>,
        mut verify: impl FnMut(bool) -> Result<()>,
    ) -> Result<()> {
        // One without failures, because what is allocated at the first use does not belong to the call.
        call().with_context(|| format!("{what}, with memory"))?;
        verify(true)?;
        let mut failed = 0;
        for n in 1..FAR {
            let (answer, denied) = self.injection.deny(n, &mut call)?;
            let place = || format!("{what}, denied allocation {n}");
            match answer {
                Ok(()) => {}
                Err(Errno::NOMEM) if denied => failed += 1,
                Err(error) => bail!("{}: {error}, denied: {denied}", place()),
            }
            verify(answer.is_ok()).with_context(place)?;
            if n % 8 == 0 || !denied {
                engine_works(&self.device).with_context(place)?;
            }
            if !denied {
                ensure!(failed >= least, "{what}: only {failed} calls failed");
                return Ok(());
            }
        }
        bail!("{what}: more than {FAR} allocations")
    }
}

fn questions(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    for param in Param::ALL {
        let ask = || walk.device.param(param).map(drop);
        walk.deny(&format!("{param:?}"), 0, ask, |_| Ok(()))?;
    }
    Ok(())
}

/// The frame buffer can do without some allocations: an object for which there is no place there is in system pages.
fn creating(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    for place in Place::ALL {
        for bytes in [PAGE, 1 << 20] {
            let create = || {
                let bo = walk.device.create(bytes, place)?;
                drop(bo);
                Ok(())
            };
            walk.deny(&format!("{bytes} bytes in {place}"), 1, create, |_| Ok(()))?;
        }
    }
    Ok(())
}

fn mapping(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    for place in Place::ALL {
        let bo = surface(&walk.device, 16, place)?;
        bo.write(&[7])?;
        let map = || {
            let mapping = bo.map()?;
            drop(mapping);
            Ok(())
        };
        walk.deny(&format!("mapping {place}"), 1, map, |_| {
            ensure!(bo.read()?[0] == 7, "the content is another");
            Ok(())
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
        let mut refusals = device.refusal()?.count;
        bo.write(&[1])?;
        walk.deny(
            &format!("a fill in {place}"),
            3,
            || submission.issue(device),
            |submitted| {
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
                done.reset()?;
                bo.write(&[1])?;
                let now = device.refusal()?.count;
                ensure!(now == refusals, "it counts as a refusal");
                refusals = now;
                Ok(())
            },
        )?;
    }
    Ok(())
}

fn waiting(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let bo = surface(&walk.device, 16, Place::FrameBuffer)?;
    let wait = || walk.device.wait(bo.handle(), Duration::from_secs(1));
    walk.deny("GEM_WAIT", 0, wait, |_| Ok(()))
}
