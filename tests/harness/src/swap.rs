// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Less memory than is asked for: swap space, and reclaim on demand.

use crate::mapping::PAGE;
use crate::skip;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::os::unix::fs::FileExt;

/// Swap space in compressed memory, switched off again when dropped.
pub struct Zram;

impl Zram {
    const DEVICE: &'static str = "/dev/zram0";

    /// Switch on `bytes` bytes of it. Skip the test where there is no zram.
    pub fn new(bytes: u64) -> Result<Zram> {
        let size = "/sys/block/zram0/disksize";
        if fs::metadata(size).is_err() {
            return skip("there is no zram: `load zram` before the tests");
        }
        fs::write("/sys/block/zram0/reset", "1").context("resetting zram")?;
        fs::write(size, bytes.to_string()).context(size)?;
        // A swap area: version 1 and the number of its last page behind the boot sectors, the magic at the end of
        // the first page (mkswap(8)).
        let mut header = vec![0u8; PAGE as usize];
        header[1024..1028].copy_from_slice(&1u32.to_ne_bytes());
        header[1028..1032].copy_from_slice(&((bytes / PAGE - 1) as u32).to_ne_bytes());
        header[4086..].copy_from_slice(b"SWAPSPACE2");
        let file = fs::OpenOptions::new().write(true).open(Self::DEVICE)?;
        file.write_all_at(&header, 0)?;
        file.sync_all()?;
        let path = std::ffi::CString::new(Self::DEVICE)?;
        // SAFETY: a path that ends with 0.
        ensure!(unsafe { libc::swapon(path.as_ptr(), 0) } == 0, "swapon");
        Ok(Zram)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        if let Ok(path) = std::ffi::CString::new(Self::DEVICE) {
            // SAFETY: a path that ends with 0.
            unsafe { libc::swapoff(path.as_ptr()) };
        }
        let _ = fs::write("/sys/block/zram0/reset", "1");
    }
}

/// The hierarchy of control groups, mounted somewhere until this is dropped.
pub struct Groups;

impl Groups {
    const PATH: &'static str = "/tmp/groups";

    /// Mount it.
    pub fn new() -> Result<Groups> {
        fs::create_dir_all(Self::PATH)?;
        let path = std::ffi::CString::new(Self::PATH)?;
        let none = std::ptr::null();
        let kind = c"cgroup2".as_ptr();
        // SAFETY: strings that end with 0.
        let answer = unsafe { libc::mount(kind, path.as_ptr(), kind, 0, none) };
        ensure!(answer == 0, "mounting: {}", std::io::Error::last_os_error());
        Ok(Groups)
    }

    /// Have the kernel reclaim up to `bytes` bytes of pages of all processes.
    pub fn reclaim(&self, bytes: u64) -> Result<()> {
        match fs::write(format!("{}/memory.reclaim", Self::PATH), bytes.to_string()) {
            Err(error) if error.raw_os_error() != Some(libc::EAGAIN) => {
                Err(error).context("memory.reclaim")
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        if let Ok(path) = std::ffi::CString::new(Self::PATH) {
            // SAFETY: a path that ends with 0.
            unsafe { libc::umount(path.as_ptr()) };
        }
    }
}

/// Return a line of /proc/meminfo in bytes.
pub fn meminfo(name: &str) -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(number.context("meminfo")?.parse::<u64>()? * 1024)
}

/// Return the bytes that are swapped out.
pub fn swapped() -> Result<u64> {
    Ok(meminfo("SwapTotal:")? - meminfo("SwapFree:")?)
}
