// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the processes tell the supervisor, in memory that all of them map, so that it survives a killed process.

use anyhow::Result;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The most processes.
pub const WORKERS: u32 = 16;

/// The most kinds of steps.
pub const KINDS: usize = 24;

/// A number in shared memory.
pub struct Number(AtomicU64);

impl Number {
    /// Read it.
    pub fn load(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Write it.
    pub fn store(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    fn add(&self, value: u64) {
        self.0.fetch_add(value, Relaxed);
    }
}

#[repr(C)]
struct Content {
    calls: Number,
    killed: Number,
    stop: Number,
    steps: [Number; WORKERS as usize],
    done: [Number; KINDS],
    refused: [Number; KINDS],
}

/// The memory. It stays mapped for good.
pub struct Board(&'static Content);

impl Board {
    /// Make a new board, all zero.
    pub fn new() -> Result<Board> {
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                size_of::<Content>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            )?
        };
        // SAFETY: zeroed, aligned to a page, large enough, never unmapped, and only used by atomic accesses.
        Ok(Board(unsafe { &*address.cast::<Content>() }))
    }

    /// Call to the device that all processes have made.
    pub fn calls(&self) -> u64 {
        self.0.calls.load()
    }

    /// Count calls.
    pub fn count_calls(&self, calls: u64) {
        self.0.calls.add(calls);
    }

    /// Return the number of processes that were killed.
    pub fn killed(&self) -> u64 {
        self.0.killed.load()
    }

    /// Count one.
    pub fn count_killed(&self) {
        self.0.killed.add(1);
    }

    /// Tell all processes to come to an end.
    pub fn stop(&self) {
        self.0.stop.store(1);
    }

    /// Return whether they should.
    pub fn stopped(&self) -> bool {
        self.0.stop.load() != 0
    }

    /// Return the steps that a process has finished.
    pub fn step(&self, worker: u32) -> &Number {
        &self.0.steps[worker as usize]
    }

    /// Return the steps of a kind: those that the driver did, and those that it refused.
    pub fn tally(&self, kind: usize) -> (u64, u64) {
        (self.0.done[kind].load(), self.0.refused[kind].load())
    }

    /// Count one.
    pub fn count(&self, kind: usize, done: bool) {
        let numbers = if done { &self.0.done } else { &self.0.refused };
        numbers[kind].add(1);
    }
}
