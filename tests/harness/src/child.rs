// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Child processes for parts of a test that end by a signal, or whose clients must be several processes.
//!
//! Tests run in single-threaded processes (see [`crate`]), so a forked child may use everything. A test that starts
//! threads must not fork while they run.

use crate::limit::Limit;
use anyhow::Result;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It left with this status.
    Exit(i32),
    /// It was killed by this signal.
    Signal(i32),
}

/// A running child; killed and collected when dropped.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    collected: bool,
}

/// No user has an id from this number on.
const FIRST_USER: u32 = 100_000;
/// Exit status of a child whose body returned an error.
pub const FAILED: i32 = 101;

/// Start a child that runs `body` and exits with its answer; an error is printed and becomes
/// [`FAILED`].
pub fn spawn(body: impl FnOnce() -> Result<i32>) -> Result<Child> {
    // SAFETY: the process has one thread (module documentation), so the child finds every lock free.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error().into()),
        0 => {
            // A panic must not go on into what the parent has on its stack.
            let status = match catch_unwind(AssertUnwindSafe(body)) {
                Ok(Ok(status)) => status,
                Ok(Err(error)) => {
                    eprintln!("child: {error:#}");
                    FAILED
                }
                Err(_) => FAILED,
            };
            // SAFETY: leaves without running the parent's exit handlers a second time.
            unsafe { libc::_exit(status) }
        }
        pid => Ok(Child {
            pid,
            collected: false,
        }),
    }
}

/// Give this process a real user of its own, which no other process has, and let it keep its rights. Without the
/// rights to do so nothing happens.
pub fn become_another_user() {
    // SAFETY: plain system calls about this process, which has one thread.
    unsafe {
        let effective = libc::geteuid();
        if effective == 0 {
            libc::setresuid(FIRST_USER + libc::getpid() as u32, effective, effective);
        }
    }
}

/// Run `body` in a child and wait for its end.
pub fn run(limit: Duration, body: impl FnOnce() -> Result<i32>) -> Result<End> {
    spawn(body)?.wait(limit)
}

impl Child {
    /// Return the process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Send a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the child was not collected yet, so the id is still its own.
        unsafe { libc::kill(self.pid, signal) };
    }

    /// Wait for the end, at most `limit` (as [`Limit`] counts it).
    pub fn wait(mut self, limit: Duration) -> Result<End> {
        let mut limit = Limit::new(limit);
        loop {
            if let Some(end) = self.poll()? {
                return Ok(end);
            }
            limit.rest("the child does not end")?;
        }
    }

    /// Return the end, if it has come.
    pub fn poll(&mut self) -> Result<Option<End>> {
        let mut status = 0;
        // SAFETY: plain system call on our own child.
        match unsafe { libc::waitpid(self.pid, &mut status, libc::WNOHANG) } {
            0 => Ok(None),
            -1 => Err(std::io::Error::last_os_error().into()),
            _ => {
                self.collected = true;
                Ok(Some(if libc::WIFSIGNALED(status) {
                    End::Signal(libc::WTERMSIG(status))
                } else {
                    End::Exit(libc::WEXITSTATUS(status))
                }))
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.collected {
            return;
        }
        self.signal(libc::SIGKILL);
        let mut limit = Limit::new(Duration::from_secs(5));
        // A child that the kernel does not let go is left behind: waiting for it would hang us too.
        while matches!(self.poll(), Ok(None)) && limit.pause() {}
    }
}
