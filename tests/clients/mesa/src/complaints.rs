// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What Mesa says to standard error. A submission that the kernel refuses is no GL error: Mesa prints a line
//! and goes on. Here such a line, or any other, fails the program.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt as _;

/// Lines that are shown of many.
const SHOWN: usize = 3;

/// Standard error of this process from now on.
pub struct Complaints(File);

impl Complaints {
    /// Lead standard error into memory. The process's only message about a panic goes there too, but its
    /// exit status still tells of it.
    pub fn collect() -> Result<Complaints> {
        // SAFETY: the name is a string; the new descriptor is ours alone; dup2 takes any two numbers.
        let (file, answer) = unsafe {
            let fd = libc::memfd_create(c"standard error".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(std::io::Error::last_os_error()).context("memfd_create");
            }
            let file = File::from_raw_fd(fd);
            let answer = libc::dup2(file.as_raw_fd(), libc::STDERR_FILENO);
            (file, answer)
        };
        if answer < 0 {
            return Err(std::io::Error::last_os_error()).context("dup2");
        }
        Ok(Complaints(file))
    }

    /// Return the lines that were said so far.
    pub fn so_far(&self) -> Result<Vec<String>> {
        // The descriptor's position is the writer's, so it must not be moved.
        let mut text = vec![0; self.0.metadata()?.len() as usize];
        self.0.read_exact_at(&mut text, 0)?;
        let text = String::from_utf8_lossy(&text);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Fail if anything was said. To be asked after the context is gone, when Mesa's threads have ended.
    pub fn none(self) -> Result<()> {
        let lines = self.so_far()?;
        if lines.is_empty() {
            return Ok(());
        }
        let shown = lines[..lines.len().min(SHOWN)].join(" | ");
        bail!("Mesa said {} lines: {shown}", lines.len())
    }
}
