// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ioctls of the wrong size or number, and arguments of random bytes.

use crate::support::Radeon;
use anyhow::{Result, ensure};
use lapidary_guest::{Client as _, Errno, abi};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_uapi_shared::calls::{self, Argument};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("malformed/sizes", |_| calls::sizes::<Radeon>(&LIVE)),
        Test::new("malformed/unused_numbers", |_| {
            calls::unknown::<Radeon>([0x1f, 0x20, 0x25].into_iter().chain(0x2e..0x60))
        }),
        Test::new("malformed/dead_numbers", dead_numbers),
        Test::new("malformed/directions", |_| {
            calls::directions::<Radeon>(&LIVE, 32)
        }),
        Test::new("malformed/random_arguments", |_| {
            calls::random::<Radeon>(&LIVE, 32, bend)
        })
        .lapidary_only("our driver bounds what a call may allocate"),
    ]
}

/// The driver's own ioctls, as offsets from the first private number.
const LIVE: [u32; 13] = [
    0x1c, 0x1d, 0x1e, 0x23, 0x24, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d,
];

/// Call the numbers of the interface before memory management.
fn dead_numbers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for nr in 0..=0x1b {
        for size in [0, 8, 32] {
            let answer = device.ioctl(abi::private(nr, size), &mut [0u64; 64]);
            let refused = matches!(answer, Err(Errno::INVAL | Errno::ACCESS | Errno::PERM));
            ensure!(refused, "number {nr:#x} of {size} bytes: {answer:?}");
        }
    }
    Ok(())
}

fn bend(random: &mut fastrand::Rng, nr: u32, argument: &mut Argument) {
    if nr == 0x1d {
        // Sizes that can be had would only fill memory.
        argument[0] = random.u64(..3) * PAGE;
    }
}
