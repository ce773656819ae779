// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls of the wrong size or number, with pointers that lead nowhere, and arguments of random bytes. An argument without
//! its last fields is one with zeroes there.

use crate::support::{Chrome9, bound, fill, surface};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::{Client as _, Errno, Place, Submission, abi};
use lapidary_harness::drm;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::node::ioctl_raw;
use lapidary_harness::{Context, Test, refused};
use lapidary_uapi_shared::calls::{self, Argument, tidy};
use std::os::fd::AsFd;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("calls/numbers_without_a_call_are_refused", |_| {
            calls::unknown::<Chrome9>(LIVE.len() as u32..0x60)
        }),
        Test::new("calls/sizes_do_no_harm", |_| calls::sizes::<Chrome9>(&LIVE)),
        Test::new("calls/short_arguments_have_zeroes", short),
        Test::new("calls/long_arguments_keep_their_end", long),
        Test::new("calls/directions_do_no_harm", |_| {
            calls::directions::<Chrome9>(&LIVE, 64)
        }),
        Test::new("calls/bad_pointers_are_refused", pointers),
        Test::new("calls/random_arguments_do_no_harm", |_| {
            calls::random::<Chrome9>(&LIVE, 64, bend)
        }),
        Test::new("calls/the_node_is_for_rendering_only", rendering),
    ]
}

/// The driver's own calls, as offsets from the first private number.
const LIVE: [u32; abi::CALLS.len()] = [0, 1, 2, 3, 4];

fn short(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    // Without flags and handle: an object whose handle is not told.
    let mut size: Argument = [PAGE; 64];
    device.ioctl(drm::private(1, 8), &mut size)?;
    ensure!(size == [PAGE; 64], "something was written");
    // Without flags.
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    let short = (abi::SUBMIT & !(0x3fff << 16)) | (60 << 16);
    let submission = Submission::of(&fill(&bo, 3));
    let mut argument = abi::Submit::default();
    // The lists outlive the call that needs them.
    submission
        .issue_bent(&device, |whole| {
            argument = *whole;
            argument.flags = u32::MAX;
        })
        .map_err(anyhow::Error::from)?;
    bo.wait()?;
    bo.map()?.set(0, 0);
    device.ioctl(short, &mut argument)?;
    ensure!(bo.read()?[0] == 3, "the short submission drew nothing");
    tidy(&device);
    Ok(())
}

fn long(context: &mut Context) -> Result<()> {
    const MARK: u64 = 0xa5a5_a5a5_a5a5_a5a5;
    let device = context.device()?;
    let mut argument = [0, 0, MARK, MARK];
    device.ioctl(drm::private(0, 32), &mut argument)?;
    ensure!(argument[1] == 0x5122, "the answer is {:#x}", argument[1]);
    ensure!(
        argument[2..] == [MARK; 2],
        "what the kernel does not know has changed: {argument:x?}"
    );
    Ok(())
}

/// Pointers to the argument itself. Those of lists are in `envelope`.
fn pointers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for request in abi::CALLS {
        for pointer in [
            0usize,
            8,
            usize::MAX & !7,
            usize::MAX - 3,
            usize::MAX / 2 + 1,
        ] {
            // SAFETY: nothing of this process is there, so the kernel can neither read nor write anything.
            let answer = unsafe {
                ioctl_raw(
                    device.as_fd(),
                    request,
                    std::ptr::without_provenance_mut(pointer),
                )
            };
            let what = format!("{request:#x} with an argument at {pointer:#x}");
            refused(&what, answer, Errno::FAULT)?;
        }
    }
    Ok(())
}

fn bend(random: &mut fastrand::Rng, nr: u32, argument: &mut Argument) {
    match nr {
        // Sizes that can be had would only fill memory.
        1 => argument[0] = random.u64(..3) * PAGE,
        // No test waits for ever.
        3 => argument[1] = 0,
        _ => {}
    }
}

/// Mode setting is refused: the card has no connector, or there is no card at all.
fn rendering(context: &mut Context) -> Result<()> {
    const MODE_GETRESOURCES: u64 = drm::request(3, 0xa0, 64);
    let device = context.device()?;
    let answer = device.ioctl(MODE_GETRESOURCES, &mut [0u64; 8]);
    ensure!(
        matches!(answer, Err(Errno::ACCESS | Errno::OPNOTSUPP)),
        "mode resources of a render node: {answer:?}"
    );
    bound(&device).map(drop)
}
