// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One client looks for another's data: in memory that was used before, with the CPU and with the engine, and through the
//! other's handles.

use crate::support::{Chrome9, DEPTH, fill, refused_for, stream, surface, untouched};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::Object;
use lapidary_chrome9_client::blit::{Blit, Rect, Surface};
use lapidary_chrome9_client::{Client as _, Errno, Place, Submission, reason};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_uapi_shared::isolation::{self, SECRET};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("isolation/small_objects_in_the_frame_buffer", |c| {
            isolation::small::<Chrome9>(c, Place::FrameBuffer)
        }),
        Test::new("isolation/small_objects_in_system_pages", |c| {
            isolation::small::<Chrome9>(c, Place::System)
        }),
        Test::new("isolation/large_objects_in_the_frame_buffer", |c| {
            isolation::large::<Chrome9>(c, Place::FrameBuffer)
        }),
        Test::new("isolation/large_objects_in_system_pages", |c| {
            isolation::large::<Chrome9>(c, Place::System)
        }),
        Test::new("isolation/looking_by_the_engine", |c| {
            isolation::by_engine::<Chrome9>(c, Place::FrameBuffer)?;
            isolation::by_engine::<Chrome9>(c, Place::System)
        }),
        Test::new(
            "isolation/closed_while_it_is_drawn",
            isolation::closed_while_drawn::<Chrome9>,
        ),
        Test::new("isolation/others_handles_in_submissions", handles),
        Test::new("isolation/what_is_beside_an_object", beside),
    ]
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
