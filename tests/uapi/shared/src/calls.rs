// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls of the wrong size or number, and arguments of random bytes. Calls are named by their offset from the first
//! private number.
//!
//! The DRM core copies as many bytes as the caller's number says and fills up with zeroes, so a size that is off is not
//! an error in itself. It must not do harm either.

use crate::{Interface, device, engine_works};
use anyhow::{Result, bail, ensure};
use lapidary_harness::drm::{self, COMMAND_BASE};
use lapidary_harness::node::Node;
use lapidary_harness::refused;
use rustix::io::Errno;

/// Room for any argument.
pub type Argument = [u64; 64];

/// Close the objects that calls may have made, so that a long run does not fill memory.
pub fn tidy(node: &Node) {
    for handle in 1..64 {
        let _ = node.close(handle);
    }
}

/// Numbers without a call are refused, whatever the size.
pub fn unknown<I: Interface>(numbers: impl IntoIterator<Item = u32>) -> Result<()> {
    let device = device::<I>()?;
    for nr in numbers {
        for size in [0, 8, 16, 32, 64] {
            let answer = device.ioctl(drm::private(nr, size), &mut [0u64; 64]);
            let what = format!("number {nr:#x} of {size} bytes");
            refused(&what, answer, Errno::INVAL)?;
        }
    }
    Ok(())
}

/// Nothing is written beyond the argument.
pub fn sizes<I: Interface>(live: &[u32]) -> Result<()> {
    let device = device::<I>()?;
    for &nr in live {
        for size in [
            0, 1, 3, 4, 7, 8, 12, 15, 16, 17, 20, 24, 31, 32, 33, 60, 63, 64, 65, 128, 256, 512,
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
    engine_works::<I>(&device)
}

/// Call numbers that say the argument, of `size` bytes, is only read, only written, or not there.
pub fn directions<I: Interface>(live: &[u32], size: usize) -> Result<()> {
    let device = device::<I>()?;
    for &nr in live {
        for direction in 0..4 {
            let mut argument: Argument = [0; 64];
            let request = drm::request(direction, COMMAND_BASE + nr, size);
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
    engine_works::<I>(&device)
}

/// Make calls with random arguments of `size` bytes. `bend` changes those of the calls that would take long or much
/// memory.
pub fn random<I: Interface>(
    live: &[u32],
    size: usize,
    bend: impl Fn(&mut fastrand::Rng, u32, &mut Argument),
) -> Result<()> {
    let device = device::<I>()?;
    let mut random = fastrand::Rng::with_seed(0x600d_5eed);
    for i in 0..20_000 {
        let nr = live[random.usize(..live.len())];
        let mut argument: Argument = [0; 64];
        for word in argument.iter_mut().take(size / 8) {
            // Small numbers hit handles, counts and flags, large ones everything else.
            *word = match random.u64(..4) {
                0 => 0,
                1 => random.u64(..16),
                2 => random.u64(..16) | (random.u64(..8) << 32),
                _ => random.u64(..),
            };
        }
        bend(&mut random, nr, &mut argument);
        let answer = device.ioctl(drm::private(nr, size), &mut argument);
        if let Err(error @ (Errno::IO | Errno::BADF | Errno::NOSYS)) = answer {
            bail!("call {i}, number {nr:#x}: an odd error, {error:?}");
        }
        if i % 500 == 0 {
            tidy(&device);
        }
    }
    tidy(&device);
    engine_works::<I>(&device)
}
