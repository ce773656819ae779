// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Allocations that fail on purpose.
//!
//! A kernel with fault injection counts the allocations of a thread and lets the one fail whose number was written
//! to the thread's `fail-nth`. Whatever a call needs, it can be denied each of its allocations in turn: number one, two
//! and so on, until the call makes fewer allocations than the number. Only allocations made by the thread itself count,
//! not those of interrupts or of workers.
//!
//! Source: Linux, `Documentation/fault-injection/fault-injection.rst`.

use crate::skip;
use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// More allocations than any call makes.
const FAR: u32 = 3000;
/// Where the kernel says what may fail.
const SETTINGS: &str = "/sys/kernel/debug";

/// The calling thread's switch. Whatever is armed is disarmed when it is dropped.
#[derive(Debug)]
pub struct Injection {
    nth: File,
}

impl Injection {
    /// Return the switch. Skip the test if this kernel has none. From now on every kind of allocation may be denied, also
    /// those that may wait, and the kernel does not log it. This process's memory is locked, so that its own page faults
    /// do not count.
    pub fn find() -> Result<Injection> {
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
            return skip("this kernel has no fault injection");
        }
        for (kind, name, value) in settings {
            let path = Path::new(SETTINGS).join(kind).join(name);
            std::fs::write(&path, value).with_context(|| path.display().to_string())?;
        }
        mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).context("keeping memory here")?;
        let nth = File::options().read(true).write(true).open(path)?;
        Ok(Injection { nth })
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

    /// Fail the allocations of a call one after the other, each on a fresh try, until a try makes fewer allocations than
    /// that. The call may only fail with `errors`. `rest` is checked after each try. Return how many tries have failed.
    pub fn walk<'a>(
        &self,
        what: &str,
        errors: &[Errno],
        mut prepare: impl FnMut() -> Result<Try<'a>>,
        rest: impl Fn() -> Result<()>,
    ) -> Result<u32> {
        // One try without failures, because what is allocated at the first use does not belong to the call.
        let Try { mut call, verify } = prepare()?;
        call().with_context(|| format!("{what}, with memory"))?;
        drop(call);
        verify(true)?;
        rest()?;
        let mut failed = 0;
        for n in 1..FAR {
            let Try { mut call, verify } = prepare()?;
            let (answer, denied) = self.deny(n, &mut call)?;
            drop(call);
            let place = || format!("{what}, denied allocation {n}");
            if let Err(error) = answer {
                ensure!(denied, "{}: {error} without a denial", place());
                ensure!(errors.contains(&error), "{}: {error}", place());
                failed += 1;
            }
            verify(answer.is_ok()).with_context(place)?;
            rest().with_context(place)?;
            if !denied {
                return Ok(failed);
            }
        }
        bail!("{what}: more than {FAR} allocations")
    }

    fn disarm(&self) -> Result<()> {
        self.nth.write_at(b"0", 0)?;
        Ok(())
    }
}

/// One try at a call: the call, and what has to be true after it succeeded (`true`) or failed.
pub struct Try<'a> {
    call: Box<dyn FnMut() -> Result<(), Errno> + 'a>,
    verify: Box<dyn FnOnce(bool) -> Result<()> + 'a>,
}

impl<'a> Try<'a> {
    /// Make one of a call that leaves nothing to look at.
    pub fn new(call: impl FnMut() -> Result<(), Errno> + 'a) -> Try<'a> {
        Try::verified(call, |_| Ok(()))
    }

    /// Make one whose outcome is checked. What the call owns is dropped before.
    pub fn verified(
        call: impl FnMut() -> Result<(), Errno> + 'a,
        verify: impl FnOnce(bool) -> Result<()> + 'a,
    ) -> Try<'a> {
        Try {
            call: Box::new(call),
            verify: Box::new(verify),
        }
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        if let Err(error) = self.disarm() {
            eprintln!("disarming the fault injection: {error:#}");
        }
    }
}
