// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One client looks for another's data in memory that was used before, with the CPU and with the engine.

use crate::{Interface, Job as _, PITCH, device};
use anyhow::{Result, ensure};
use lapidary_harness::Context;
use lapidary_harness::interface::{Buffer as _, Device as _};
use lapidary_harness::mapping::{Mapping, PAGE};
use std::rc::Rc;

/// What the victim writes.
pub const SECRET: u32 = 0x5ec2_e701;
const ROWS: u32 = 256;
const BYTES: u64 = (PITCH * ROWS) as u64;

/// Return the first dword that is not zero, of every `step`-th one and the last one.
fn found(mapping: &Mapping, step: usize) -> Option<usize> {
    let mut looks = (0..mapping.len()).step_by(step).chain([mapping.len() - 1]);
    looks.find(|&at| mapping.get(at) != 0)
}

/// Leave secrets in memory and free it.
fn leave_secrets<I: Interface>(
    spy: &Rc<I::Device>,
    place: I::Place,
    count: usize,
    bytes: u64,
) -> Result<()> {
    let victim = spy.another()?;
    let objects: Vec<I::Bo> = (0..count)
        .map(|_| I::create(&victim, bytes, place))
        .collect::<Result<_, _>>()?;
    for bo in &objects {
        let mapping = bo.map()?;
        // First and last dword of every page, and some in between.
        for i in (0..mapping.len()).step_by(64).chain([mapping.len() - 1]) {
            mapping.set(i, SECRET);
        }
    }
    Ok(())
}

/// Look at many objects of one page.
pub fn small<I: Interface>(_: &mut Context, place: I::Place) -> Result<()> {
    for round in 0..4 {
        let spy = device::<I>()?;
        leave_secrets::<I>(&spy, place, 500, PAGE)?;
        let mut kept = Vec::new();
        for i in 0..500 {
            let bo = I::create(&spy, PAGE, place)?;
            let found = found(&bo.map()?, 1);
            ensure!(
                found.is_none(),
                "round {round}, object {i}: dword {found:?}"
            );
            // Some stay, so that the next ones come from elsewhere.
            if i % 3 == 0 {
                kept.push(bo);
            }
        }
    }
    Ok(())
}

/// Look at many objects of 4 MiB, and three of 40 MiB, which engines do not clear in one go: Chrome9's clears 4096
/// pages, R5xx's 8191. Three leave little of the model's video memory that has never been written.
pub fn large<I: Interface>(_: &mut Context, place: I::Place) -> Result<()> {
    for (count, bytes) in [(12, 4 << 20), (3, 40 << 20)] {
        let spy = device::<I>()?;
        leave_secrets::<I>(&spy, place, count, bytes)?;
        let objects: Vec<I::Bo> = (0..count)
            .map(|_| I::create(&spy, bytes, place))
            .collect::<Result<_, _>>()?;
        for (i, bo) in objects.iter().enumerate() {
            let found = found(&bo.map()?, 64);
            ensure!(found.is_none(), "object {i} of {bytes}: dword {found:?}");
        }
    }
    Ok(())
}

/// The spy lets the engine copy from an object that it has never mapped.
pub fn by_engine<I: Interface>(_: &mut Context, place: I::Place) -> Result<()> {
    let spy = device::<I>()?;
    leave_secrets::<I>(&spy, place, 200, BYTES)?;
    let seen = I::surface(&spy, ROWS, I::SYSTEM)?;
    for i in 0..200 {
        let new = I::create(&spy, BYTES, place)?;
        I::copy(&new, &seen).submit(&spy)?;
        let found = seen.read()?.iter().position(|&word| word != 0);
        ensure!(found.is_none(), "object {i} in {place:?}: dword {found:?}");
    }
    Ok(())
}

/// The victim closes its objects while the engine still draws secrets into them. The next owner of the memory must not
/// see them arrive.
pub fn closed_while_drawn<I: Interface>(_: &mut Context) -> Result<()> {
    let victim = device::<I>()?;
    let spy = victim.another()?;
    for round in 0..20 {
        for place in [I::VIDEO, I::SYSTEM] {
            let bo = I::create(&victim, BYTES, place)?;
            I::fill(&bo, SECRET, 20).submit(&victim)?;
            drop(bo);
            let new = I::create(&spy, BYTES, place)?;
            for look in 0..3 {
                let found = found(&new.map()?, 1);
                ensure!(
                    found.is_none(),
                    "round {round}, {place:?}, look {look}: dword {found:?}"
                );
            }
        }
    }
    Ok(())
}
