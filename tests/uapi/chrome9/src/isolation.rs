// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One client looks for another's data: in memory that was used before, with the CPU and with the engine, and through the
//! other's handles.

use crate::support::{
    self, DEPTH, PITCH, fill, fill_often, refused_for, stream, surface, untouched,
};
use anyhow::{Result, bail, ensure};
use lapidary_chrome9_client::abi::Object;
use lapidary_chrome9_client::blit::{Blit, Rect, Surface};
use lapidary_chrome9_client::{Bo, Client as _, Device, Errno, Place, Submission, reason};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use std::rc::Rc;

const SECRET: u32 = 0x5ec2_e701;
const ROWS: u32 = 256;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("isolation/small_objects_in_the_frame_buffer", |c| {
            small(c, Place::FrameBuffer)
        }),
        Test::new("isolation/small_objects_in_system_pages", |c| {
            small(c, Place::System)
        }),
        Test::new("isolation/large_objects_in_the_frame_buffer", |c| {
            large(c, Place::FrameBuffer)
        }),
        Test::new("isolation/large_objects_in_system_pages", |c| {
            large(c, Place::System)
        }),
        Test::new("isolation/looking_by_the_engine", by_engine),
        Test::new("isolation/closed_while_it_is_drawn", closed_while_drawn),
        Test::new("isolation/others_handles_in_submissions", handles),
        Test::new("isolation/what_is_beside_an_object", beside),
    ]
}

/// Leave secrets in memory and free it.
fn leave_secrets(device: &Rc<Device>, place: Place, count: usize, bytes: u64) -> Result<()> {
    let victim = device.another()?;
    let objects: Vec<Bo> = (0..count)
        .map(|_| victim.create(bytes, place))
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

fn small(context: &mut Context, place: Place) -> Result<()> {
    let spy = context.device()?;
    for round in 0..3 {
        leave_secrets(&spy, place, 400, PAGE)?;
        let mut kept = Vec::new();
        for i in 0..400 {
            let bo = spy.create(PAGE, place)?;
            let mapping = bo.map()?;
            let found = (0..mapping.len()).find(|&at| mapping.get(at) != 0);
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

/// The engine clears 4096 pages in one go, so the largest objects take more than one.
fn large(context: &mut Context, place: Place) -> Result<()> {
    let spy = context.device()?;
    for (count, bytes) in [(12, 4 << 20), (3, 40 << 20)] {
        leave_secrets(&spy, place, count, bytes)?;
        for i in 0..count {
            let bo = spy.create(bytes, place)?;
            let mapping = bo.map()?;
            let found = (0..mapping.len())
                .step_by(64)
                .chain([mapping.len() - 1])
                .find(|&at| mapping.get(at) != 0);
            ensure!(found.is_none(), "object {i} of {bytes}: dword {found:?}");
        }
    }
    Ok(())
}

/// The spy lets the engine copy from an object that it has never mapped.
fn by_engine(context: &mut Context) -> Result<()> {
    let spy = context.device()?;
    let bytes = u64::from(PITCH * ROWS);
    for place in Place::ALL {
        leave_secrets(&spy, place, 100, bytes)?;
        let seen = surface(&spy, ROWS, Place::System)?;
        for i in 0..100 {
            let new = spy.create(bytes, place)?;
            spy.submit(&support::copy(&new, &seen))?;
            let found = seen.read()?.iter().position(|&word| word != 0);
            ensure!(found.is_none(), "object {i} in {place}: dword {found:?}");
        }
    }
    Ok(())
}

/// The victim closes its objects while the engine still draws secrets into them. The next owner of the memory must not
/// see them arrive.
fn closed_while_drawn(context: &mut Context) -> Result<()> {
    let (victim, spy) = context.devices()?;
    for round in 0..20 {
        for place in Place::ALL {
            let bo = surface(&victim, ROWS, place)?;
            victim.submit(&fill_often(&bo, SECRET, 20))?;
            drop(bo);
            let new = surface(&spy, ROWS, place)?;
            for look in 0..3 {
                let mapping = new.map()?;
                let found = (0..mapping.len()).find(|&at| mapping.get(at) != 0);
                if let Some(at) = found {
                    bail!("round {round}, {place}, look {look}: dword {at} is not zero");
                }
            }
        }
    }
    Ok(())
}

fn handles(context: &mut Context) -> Result<()> {
    let (victim, spy) = context.devices()?;
    let mut secrets = Vec::new();
    for _ in 0..10 {
        let secret = surface(&victim, 16, Place::FrameBuffer)?;
        secret.write(&[SECRET; 16])?;
        secrets.push(secret);
    }
    let own = surface(&spy, 16, Place::FrameBuffer)?;
    untouched(context, || {
        for secret in &secrets[1..] {
            let mut submission = Submission::of(&fill(&own, 1));
            submission.objects[0] = Object {
                handle: secret.handle(),
                reserved: 0,
            };
            refused_for(
                &format!("handle {}", secret.handle()),
                &spy,
                &submission,
                Errno::NOENT,
                (reason::NO_OBJECT, 0),
            )?;
        }
        Ok(())
    })?;
    for secret in &secrets {
        ensure!(
            secret.read()?[..16] == [SECRET; 16],
            "an object was changed"
        );
    }
    Ok(())
}

/// Neighbours in the frame buffer: what one client draws, up to the last pixel of its objects, is nowhere else.
fn beside(context: &mut Context) -> Result<()> {
    const COUNT: usize = 40;
    let (victim, spy) = context.devices()?;
    let (mut theirs, mut own) = (Vec::new(), Vec::new());
    for _ in 0..COUNT {
        for (device, list) in [(&victim, &mut theirs), (&spy, &mut own)] {
            list.push(device.create(PAGE, Place::FrameBuffer)?);
        }
    }
    for bo in &theirs {
        bo.write(&[SECRET; 1024])?;
    }
    for bo in &own {
        // All of its bytes, as one row and as rows of 8 bytes.
        let blits = [(4096, 1024, 1), (8, 2, 512)].map(|(pitch, width, height)| {
            let target = Surface {
                object: 0,
                offset: 0,
                pitch,
            };
            Blit::fill(DEPTH, target, Rect::new(0, 0, width, height), 1)
        });
        spy.submit(&stream(&[bo], &blits))?;
    }
    for bo in &own {
        ensure!(bo.read()?.iter().all(|&word| word == 1), "it was not drawn");
    }
    for (i, bo) in theirs.iter().enumerate() {
        let intact = bo.read()?.iter().all(|&word| word == SECRET);
        ensure!(intact, "object {i} of the other client was changed");
    }
    Ok(())
}
