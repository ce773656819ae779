// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Our drivers' files in debugfs, `lapidary_NAME` in the folder of the device.

use crate::skip;
use crate::sysfs::PciDevice;
use anyhow::{Context, Result};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Their names.
pub const FILES: [&str; 7] = [
    "rings",
    "fences",
    "clients",
    "objects",
    "memory",
    "resets",
    "registers",
];

/// Return the path of one of the files. Skip the test where debugfs does not have the device.
pub fn path(node: impl AsFd, name: &str) -> Result<PathBuf> {
    let folder = Path::new("/sys/kernel/debug/dri").join(PciDevice::of(node)?.address());
    if !folder.exists() {
        return skip("no debugfs");
    }
    Ok(folder.join(format!("lapidary_{name}")))
}

/// Read one of the files. Skip the test where debugfs does not have the device.
pub fn read(node: impl AsFd, name: &str) -> Result<String> {
    let path = path(node, name)?;
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}
