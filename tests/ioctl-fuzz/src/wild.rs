// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls with any number and any argument, on a file that has nothing to lose.

use crate::interface::Interface;
use lapidary_harness::drm;
use lapidary_harness::node::ioctl_raw;
use rustix::io::Errno;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

/// Dwords that arguments may point at.
const TARGET: usize = 1024;
/// The most synchronisation objects that a call names.
const MOST_SYNCOBJS: u32 = 1 << 16;
/// The largest argument.
const BYTES: usize = 256;

/// Calls of the DRM core that a render node answers, with the size of their argument. Not those that wait for as long
/// as the argument says.
const CORE: [(u32, usize); 14] = [
    (0x00, 64),
    (0x09, 8),
    (0x0c, 16),
    (0x0d, 16),
    (0x2d, 12),
    (0x2e, 12),
    (0xbf, 8),
    (0xc0, 8),
    (0xc1, 16),
    (0xc2, 16),
    (0xc4, 16),
    (0xc5, 16),
    (0xcb, 24),
    (0xcd, 24),
];
/// Return an address at which user space has nothing.
pub fn nowhere(rng: &mut fastrand::Rng) -> u64 {
    match rng.u32(..4) {
        0 => 0,
        1 => rng.u64(..4096),
        2 => rng.u64(..) | (1 << 63),
        _ => u64::MAX - rng.u64(..4096),
    }
}

/// What a call may write to.
pub struct Wild {
    target: Box<[u64; TARGET]>,
}

impl Wild {
    /// Make it with a target of its own.
    pub fn new() -> Wild {
        Wild {
            target: Box::new([0; TARGET]),
        }
    }

    /// Make one call.
    pub fn call<I: Interface>(
        &mut self,
        rng: &mut fastrand::Rng,
        device: &I::Device,
    ) -> Result<(), Errno> {
        let (nr, usual) = match rng.u32(..4) {
            0 => CORE[rng.usize(..CORE.len())],
            1..=2 => {
                let (nr, size) = I::CALLS[rng.usize(..I::CALLS.len())];
                (drm::COMMAND_BASE + nr, size)
            }
            _ => (rng.u32(0x40..0xa0), rng.usize(..BYTES)),
        };
        // A descriptor that is not told cannot be closed.
        let makes_descriptor = [0x2d, 0xc1].contains(&nr);
        let (size, direction) = match rng.u32(..8) {
            0 if !makes_descriptor => (rng.usize(..BYTES), rng.u32(..4)),
            _ => (usual, 3),
        };
        let mut argument = [0u32; BYTES / 4];
        for at in 0..argument.len() / 2 {
            let value = match rng.u32(..8) {
                0 => rng.u64(..) | (1 << 63),
                1 => nowhere(rng),
                2 | 3 => std::ptr::from_mut(&mut self.target[rng.usize(..TARGET / 2)]) as u64,
                4 => rng.u64(..8),
                5 => (rng.u64(..8) << 32) | rng.u64(..64),
                _ => 0,
            };
            (argument[2 * at], argument[2 * at + 1]) = (value as u32, (value >> 32) as u32);
        }
        for word in self.target.iter_mut().take(64) {
            *word = match rng.u32(..4) {
                0 => nowhere(rng),
                1 => rng.u64(..16),
                _ => I::FILLER,
            };
        }
        if makes_descriptor {
            argument[2] = u32::MAX;
        }
        // The core allocates an array as long as these say, and warns when no array can be that long.
        match nr {
            0xc4 | 0xc5 => argument[2] %= MOST_SYNCOBJS,
            0xcb | 0xcd => argument[4] %= MOST_SYNCOBJS,
            _ => {}
        }
        let request = drm::request(direction, nr, size);
        // SAFETY: the argument is larger than any size that the number can say; addresses in it are those of
        // `target`, which has room behind them for every answer, or lead nowhere.
        let answer = unsafe {
            ioctl_raw(
                device.as_fd(),
                request,
                std::ptr::from_mut(&mut argument).cast(),
            )
        };
        if makes_descriptor && answer.is_ok() && argument[2] != u32::MAX {
            // SAFETY: made by this call, and nothing else knows it.
            drop(unsafe { OwnedFd::from_raw_fd(argument[2] as i32) });
        }
        answer.map(drop)
    }
}
