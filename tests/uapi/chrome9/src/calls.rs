// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls of the wrong size or number, with pointers that lead nowhere, and arguments of random bytes.
//!
//! The DRM core copies as many bytes as the caller's number says and fills up with zeroes, so an argument without its last
//! fields is one with zeroes there.

use crate::support::{bound, engine_works, fill, surface};
use anyhow::{Result, bail, ensure};
use lapidary_chrome9_client::{Client as _, Device, Errno, Place, Submission, abi};
use lapidary_harness::drm::{self, COMMAND_BASE};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::node::ioctl_raw;
use lapidary_harness::{Context, Test, refused};
use std::os::fd::AsFd;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("calls/numbers_without_a_call_are_refused", unknown),
        Test::new("calls/sizes_do_no_harm", sizes),
        Test::new("calls/short_arguments_have_zeroes", short),
        Test::new("calls/long_arguments_keep_their_end", long),
        Test::new("calls/directions_do_no_harm", directions),
        Test::new("calls/bad_pointers_are_refused", pointers),
        Test::new("calls/random_arguments_do_no_harm", random),
        Test::new("calls/the_node_is_for_rendering_only", rendering),
    ]
}

/// The driver's own calls, as offsets from the first private number.
const LIVE: std::ops::Range<u32> = 0..abi::CALLS.len() as u32;

type Argument = [u64; 64];

/// Close the objects that calls may have made, so that a long run does not fill memory.
fn tidy(device: &Device) {
    for handle in 1..64 {
        let _ = device.close(handle);
    }
}

fn unknown(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in LIVE.end..0x60 {
        for size in [0, 8, 16, 64] {
            let answer = device.ioctl(drm::private(nr, size), &mut [0u64; 64]);
            let what = format!("number {nr:#x} of {size} bytes");
            refused(&what, answer, Errno::INVAL)?;
        }
    }
    Ok(())
}

fn sizes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in LIVE {
        for size in [
            0, 1, 3, 4, 7, 8, 12, 15, 16, 17, 24, 32, 60, 63, 64, 65, 512,
        ] {
            let mut argument: Argument = [0; 64];
            // Any answer will do. A call that succeeds must be harmless.
            let _ = device.ioctl(drm::private(nr, size), &mut argument);
            let rest = argument.iter().skip(size.div_ceil(8));
            ensure!(
                rest.copied().all(|word| word == 0),
                "number {nr:#x} of {size} bytes wrote beyond its argument"
            );
        }
    }
    tidy(&device);
    engine_works(&device)
}

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

fn directions(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in LIVE {
        for direction in 0..4 {
            let mut argument: Argument = [0; 64];
            let request = drm::request(direction, COMMAND_BASE + nr, 64);
            let _ = device.ioctl(request, &mut argument);
            let wrote = argument.iter().any(|&word| word != 0);
            // Without the bit for reading the kernel does not copy the argument back.
            ensure!(
                direction & 2 != 0 || !wrote,
                "number {nr:#x}, direction {direction}: something was written"
            );
        }
    }
    tidy(&device);
    engine_works(&device)
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

fn random(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut random = fastrand::Rng::with_seed(0x600d_5eed);
    for i in 0..20_000 {
        let nr = random.u32(LIVE);
        let mut argument: Argument = [0; 64];
        for word in argument.iter_mut().take(8) {
            // Small numbers hit handles, counts and flags, large ones everything else.
            *word = match random.u64(..4) {
                0 => 0,
                1 => random.u64(..16),
                2 => random.u64(..16) | (random.u64(..8) << 32),
                _ => random.u64(..),
            };
        }
        if nr == 1 {
            // Sizes that can be had would only fill memory.
            argument[0] = random.u64(..3) * PAGE;
        }
        if nr == 3 {
            // No test waits for ever.
            argument[1] = 0;
        }
        let answer = device.ioctl(drm::private(nr, 64), &mut argument);
        if let Err(error @ (Errno::IO | Errno::BADF | Errno::NOSYS)) = answer {
            bail!("call {i}, number {nr:#x}: an odd error, {error:?}");
        }
        if i % 500 == 0 {
            tidy(&device);
        }
    }
    tidy(&device);
    engine_works(&device)
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
