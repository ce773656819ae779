// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Allocations that fail on purpose.
//!
//! A kernel with fault injection counts the allocations of a thread and lets the one fail whose number was written
//! to the thread's `fail-nth`. Whatever a call needs, it can be denied each of its allocations in turn: number one, two
//! and so on, until the call makes fewer allocations than the number. Only allocations made by the thread itself count,
//! not those of interrupts or of workers.
//!
//! Source: Linux, `Documentation/fault-injection/fault-injection.rst`.

use anyhow::{Context, Result};
use rustix::mm::{MlockAllFlags, mlockall};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Where the kernel says what may fail.
const SETTINGS: &str = "/sys/kernel/debug";

/// The calling thread's switch. Whatever is armed is disarmed when it is dropped.
#[derive(Debug)]
pub struct Injection {
    nth: File,
}

impl Injection {
    /// Return the switch, if this kernel has one. From now on every kind of allocation may be denied, also those that
    /// may wait, and the kernel does not log it. This process's memory is locked, so that its own page faults do not
    /// count.
    pub fn find() -> Result<Option<Injection>> {
        let path = Path::new("/proc/thread-self/fail-nth");
        let settings = [
            ("failslab", "ignore-gfp-wait", "N"),
            ("failslab", "verbose", "0"),
            ("fail_page_alloc", "ignore-gfp-wait", "N"),
            ("fail_page_alloc", "ignore-gfp-highmem", "N"),
            ("fail_page_alloc", "min-order", "0"),
            ("fail_page_alloc", "verbose", "0"),
        ];
        if !path.exists() || !Path::new(SETTINGS).join("failslab").exists() {
            return Ok(None);
        }
        for (kind, name, value) in settings {
            let path = Path::new(SETTINGS).join(kind).join(name);
            std::fs::write(&path, value).with_context(|| path.display().to_string())?;
        }
        mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).context("keeping memory here")?;
        let nth = File::options().read(true).write(true).open(path)?;
        Ok(Some(Injection { nth }))
    }

    /// Run `call` with its allocation number `n` (from 1) denied. Return the answer, and whether the call made that
    /// many.
    pub fn deny<T>(&self, n: u32, call: impl FnOnce() -> T) -> Result<(T, bool)> {
        let mut text = [0; 16];
        self.nth.write_at(format!("{n}").as_bytes(), 0)?;
        let answer = call();
        let length = self.nth.read_at(&mut text, 0)?;
        self.disarm()?;
        let left = std::str::from_utf8(&text[..length])?.trim();
        Ok((answer, left == "0"))
    }

    fn disarm(&self) -> Result<()> {
        self.nth.write_at(b"0", 0)?;
        Ok(())
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        if let Err(error) = self.disarm() {
            eprintln!("disarming the fault injection: {error:#}");
        }
    }
}
