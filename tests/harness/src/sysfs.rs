// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The PCI device behind a render node: its address, ids and driver, and binding by sysfs.

use anyhow::{Context, Result};
use rustix::fs::{fstat, major, minor};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Number of the capability for power management; four bytes from its beginning is the state.
const POWER_MANAGEMENT: u8 = 1;

/// A PCI device in sysfs.
#[derive(Clone, Debug)]
pub struct PciDevice {
    directory: PathBuf,
}

impl PciDevice {
    /// Return the device behind an open DRM node.
    pub fn of(node: impl AsFd) -> Result<PciDevice> {
        let device = fstat(node.as_fd())?.st_rdev;
        let link = format!("/sys/dev/char/{}:{}/device", major(device), minor(device));
        let directory = std::fs::canonicalize(&link).with_context(|| link)?;
        Ok(PciDevice { directory })
    }

    /// Return the address, such as `0000:00:04.0`.
    pub fn address(&self) -> String {
        self.directory
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// Return its folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Return a hexadecimal attribute such as `device` or `vendor`.
    pub fn id(&self, attribute: &str) -> Result<u32> {
        let path = self.directory.join(attribute);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        u32::from_str_radix(text.trim().trim_start_matches("0x"), 16)
            .with_context(|| path.display().to_string())
    }

    /// Return the name of the bound PCI driver.
    pub fn driver(&self) -> Option<String> {
        let driver = std::fs::read_link(self.directory.join("driver")).ok()?;
        Some(driver.file_name()?.to_string_lossy().into_owned())
    }

    /// Return the first byte, the last byte and the flags of a BAR.
    pub fn resource(&self, bar: usize) -> Result<(u64, u64, u64)> {
        let path = self.directory.join("resource");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let line = text.lines().nth(bar).context("too few resources")?;
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16))
            .collect::<Result<_, _>>()?;
        match numbers[..] {
            [first, last, flags] => Ok((first, last, flags)),
            _ => anyhow::bail!("resource line {line:?}"),
        }
    }

    /// Take the device away from its driver; return when the driver has let go.
    pub fn unbind(&self, driver: &str) -> Result<()> {
        self.tell(driver, "unbind")
    }

    /// Give the device to a driver; return when it was probed.
    pub fn bind(&self, driver: &str) -> Result<()> {
        self.tell(driver, "bind")
    }

    /// Remove the device itself, as if it had been pulled out; return when its driver has let go.
    pub fn remove(&self) -> Result<()> {
        let path = self.directory.join("remove");
        std::fs::write(&path, "1").with_context(|| path.display().to_string())
    }

    /// Look for devices that are there, this one among them.
    pub fn rescan(&self) -> Result<()> {
        let path = "/sys/bus/pci/rescan";
        std::fs::write(path, "1").context(path)
    }

    /// Look for devices, this one among them, and leave it without a driver, in power state D0.
    ///
    /// If the card was removed while it slept, QEMU has not seen it wake up, and hides the memory of the card that is
    /// put in until D0 is written. The kernel does not write it, because the card reports D0.
    pub fn rescan_awake(&self) -> Result<()> {
        let path = "/sys/bus/pci/drivers_autoprobe";
        std::fs::write(path, "0").context(path)?;
        let found = self.rescan();
        std::fs::write(path, "1").context(path)?;
        found?;
        let path = self.directory.join("config");
        let config = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .with_context(|| path.display().to_string())?;
        let byte = |at: u8| -> Result<u8> {
            let mut one = [0];
            config.read_exact_at(&mut one, at.into())?;
            Ok(one[0])
        };
        // The list of capabilities: each has its number and the place of the next one.
        let mut at = byte(0x34)?;
        for _ in 0..48 {
            if at == 0 {
                break;
            }
            if byte(at)? == POWER_MANAGEMENT {
                config.write_all_at(&[0], u64::from(at) + 4)?;
                return Ok(());
            }
            at = byte(at + 1)?;
        }
        anyhow::bail!("{} has no power management", self.address())
    }

    fn tell(&self, driver: &str, action: &str) -> Result<()> {
        let path = format!("/sys/bus/pci/drivers/{driver}/{action}");
        std::fs::write(&path, self.address())
            .with_context(|| format!("writing {} to {path}", self.address()))
    }
}

/// Return the PCI device of a client, and its driver's name.
pub fn bound(node: impl AsFd) -> Result<(PciDevice, String)> {
    let pci = PciDevice::of(node)?;
    let driver = pci.driver().context("no driver is bound")?;
    Ok((pci, driver))
}

/// Probes the device again when dropped, so that a test which breaks the engine breaks only itself.
#[derive(Debug)]
pub struct Reprobe {
    pci: PciDevice,
    driver: String,
}

impl Reprobe {
    /// Return one for the device of a client.
    pub fn of(node: impl AsFd) -> Result<Reprobe> {
        let (pci, driver) = bound(node)?;
        Ok(Reprobe { pci, driver })
    }

    /// Unbind, if a driver is bound. The caller's clients of the device are dead afterwards.
    pub fn unbind(&self) -> Result<()> {
        match self.pci.driver() {
            Some(_) => self.pci.unbind(&self.driver),
            None => Ok(()),
        }
    }

    /// Unbind and bind now. The caller's clients of the device are dead afterwards.
    pub fn now(&self) -> Result<()> {
        self.unbind()?;
        self.pci.bind(&self.driver)
    }
}

impl Drop for Reprobe {
    fn drop(&mut self) {
        if let Err(error) = self.now() {
            eprintln!("giving the device a fresh probe: {error:#}");
        }
    }
}
