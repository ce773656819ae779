// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ioctls of the wrong size or number, and arguments of random bytes.
//!
//! The DRM core copies as many bytes as the caller's number says and fills up with zeros, so a size
//! that is off is not an error in itself. It must not do harm either.

use crate::support::engine_works;
use anyhow::{Result, bail, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi;
use lapidary_guest::{Device, Errno};
use lapidary_harness::{Context, Test};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("malformed/sizes", sizes),
        Test::new("malformed/unused_numbers", unused_numbers),
        Test::new("malformed/dead_numbers", dead_numbers),
        Test::new("malformed/directions", directions),
        Test::new("malformed/random_arguments", random_arguments)
            .lapidary_only("our driver bounds what a call may allocate"),
    ]
}

/// The driver's own ioctls, as offsets from the first private number.
const LIVE: [u32; 13] = [
    0x1c, 0x1d, 0x1e, 0x23, 0x24, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d,
];

type Argument = [u64; 64];

fn call(device: &Device, request: u64, argument: &mut Argument) -> Result<i32, Errno> {
    device.ioctl(request, argument)
}

/// Close the objects that a call may have made, so that a long run does not fill memory.
fn tidy(device: &Device) {
    for handle in 1..64 {
        let _ = device.close(handle);
    }
}

fn sizes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in LIVE {
        for size in [
            0, 1, 3, 4, 8, 12, 15, 16, 20, 24, 31, 32, 33, 64, 128, 256, 512,
        ] {
            let mut argument: Argument = [0; 64];
            // Any answer will do. A call that succeeds must be harmless.
            let _ = call(&device, abi::private(nr, size), &mut argument);
            let beyond = argument
                .iter()
                .skip(size.div_ceil(8))
                .any(|&word| word != 0);
            ensure!(
                !beyond,
                "number {nr:#x} of {size} bytes wrote beyond its argument"
            );
        }
    }
    tidy(&device);
    engine_works(&device)
}

fn unused_numbers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in [0x1f, 0x20, 0x25].into_iter().chain(0x2e..0x60) {
        for size in [0, 8, 32] {
            let answer = call(&device, abi::private(nr, size), &mut [0; 64]);
            ensure!(
                answer == Err(Errno::INVAL),
                "number {nr:#x} of {size} bytes: {answer:?}"
            );
        }
    }
    Ok(())
}

/// Call the numbers of the interface before memory management.
fn dead_numbers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in 0..=0x1b {
        for size in [0, 8, 32] {
            let answer = call(&device, abi::private(nr, size), &mut [0; 64]);
            let refused = matches!(answer, Err(Errno::INVAL | Errno::ACCESS | Errno::PERM));
            ensure!(refused, "number {nr:#x} of {size} bytes: {answer:?}");
        }
    }
    Ok(())
}

/// Call numbers that say the argument is only read, only written, or not there.
fn directions(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in LIVE {
        for direction in 0..4 {
            let mut argument: Argument = [0; 64];
            let _ = call(
                &device,
                abi::request(direction, 0x40 + nr, 32),
                &mut argument,
            );
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

fn random_arguments(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut random = fastrand::Rng::with_seed(0x600d_5eed);
    for i in 0..20_000 {
        let nr = LIVE[random.u64(..LIVE.len() as u64) as usize];
        let mut argument: Argument = [0; 64];
        for word in argument.iter_mut().take(4) {
            // Small numbers hit handles and flags, large ones everything else.
            *word = match random.u64(..4) {
                0 => 0,
                1 => random.u64(..16),
                2 => random.u64(..16) | (random.u64(..8) << 32),
                _ => random.u64(..),
            };
        }
        if nr == 0x1d {
            // Sizes that can be had would only fill memory.
            argument[0] = random.u64(..3) * 4096;
        }
        let answer = call(&device, abi::private(nr, 32), &mut argument);
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
