// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sleep of the machine, in earnest or as a rehearsal (`/sys/power/pm_test`).
//!
//! Three devices of a guest do not survive sleep, and are removed or restored here:
//!
//! - the 9p share, whose driver does not support sleep;
//! - virtio's serial ports, the model's control port among them, because their driver (Linux 7.3) ignores what the host
//!   says of a port at wake-up;
//! - the chipset's register with the address of the power management block, which QEMU resets at wake-up and its
//!   firmware does not restore.
//!
//! A real machine has none of them.

use anyhow::{Context as _, Result, bail};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Where the machine's state is while it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In RAM.
    Memory,
    /// On a disk of swap space.
    Disk,
}

/// How much of going to sleep a rehearsal does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Drivers are told; devices keep their power.
    Devices,
    /// Devices get their sleep states.
    Platform,
    /// One processor goes on alone.
    Processors,
    /// All but the last step.
    Core,
}

/// How a machine that sleeps on disk comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// At once, from what it has just written, as a test.
    AtOnce,
    /// It is switched off. `scripts/boot --lives` starts it again with `resume=`.
    SwitchedOff,
}

const STATE: &str = "/sys/power/state";
const REHEARSAL: &str = "/sys/power/pm_test";
/// Seconds that a rehearsal lasts.
const DELAY: &str = "/sys/module/suspend/parameters/pm_test_delay";
/// The disk that `scripts/boot --swap` gives.
const SWAP: &str = "/dev/vda";

fn set(path: &str, value: &str) -> Result<()> {
    fs::write(path, value).with_context(|| format!("writing {value} to {path}"))
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Memory => "mem",
            Kind::Disk => "disk",
        }
    }
}

/// Go to sleep as far as `depth` and come back.
pub fn rehearse(kind: Kind, depth: Depth) -> Result<()> {
    let _aside = Aside::put()?;
    let level = match depth {
        Depth::Devices => "devices",
        Depth::Platform => "platform",
        Depth::Processors => "processors",
        Depth::Core => "core",
    };
    set(DELAY, "0")?;
    set(REHEARSAL, level)?;
    let result = set(STATE, kind.word());
    set(REHEARSAL, "none")?;
    result
}

/// Return whether there is more than one CPU. Under emulation the others do not always come back from sleep in RAM, and
/// those that the kernel does not use run wild then.
pub fn has_many_cpus() -> bool {
    fs::read_to_string("/sys/devices/system/cpu/present").is_ok_and(|cpus| cpus.trim() != "0")
}

/// Sleep in RAM until a key is pressed, or until `scripts/boot` wakes the guest.
pub fn sleep_in_memory() -> Result<()> {
    let _aside = Aside::put()?;
    set(STATE, Kind::Memory.word())
}

/// Return whether there is a disk to sleep on.
pub fn has_swap() -> bool {
    fs::exists(SWAP).unwrap_or(false)
}

/// Sleep on disk.
pub fn sleep_on_disk(back: Back) -> Result<()> {
    let _aside = Aside::put()?;
    let path = c"/dev/vda";
    // SAFETY: plain system call. A disk that is swapped to already is as good.
    if unsafe { libc::swapon(path.as_ptr(), 0) } != 0 {
        let error = std::io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EBUSY) {
            return Err(error).context("swapping to the disk");
        }
    }
    set(
        "/sys/power/disk",
        match back {
            Back::AtOnce => "test_resume",
            Back::SwitchedOff => "shutdown",
        },
    )?;
    // As large as it likes: squeezing it takes memory away until the kernel has none to write the image with, and
    // says so.
    set("/sys/power/image_size", "536870912")?;
    set(STATE, Kind::Disk.word())
}

/// What does not sleep well, until this is dropped.
struct Aside {
    mounted: bool,
    devices: Vec<Unbound>,
    chipset: Option<Chipset>,
}

impl Aside {
    fn put() -> Result<Aside> {
        let mounted = leave_share()?;
        let mut devices = unbind("9pnet_virtio")?;
        devices.extend(unbind("virtio_console")?);
        Ok(Aside {
            mounted,
            devices,
            chipset: Chipset::remember(),
        })
    }

    fn bring_back(&self) -> Result<()> {
        self.chipset.as_ref().map_or(Ok(()), Chipset::restore)?;
        for device in &self.devices {
            set(&device.driver("bind"), &device.name)?;
        }
        if self.mounted {
            let options = c"trans=virtio,version=9p2000.L,msize=262144";
            mount("out", "/out", "9p", MountFlags::empty(), Some(options))
                .context("mounting /out")?;
        }
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Err(error) = self.bring_back() {
            eprintln!("after sleep: {error:#}");
        }
    }
}

/// Unmount the guest's only 9p share; say whether there is one.
fn leave_share() -> Result<bool> {
    let mounts = fs::read_to_string("/proc/mounts")?;
    let mut places = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let place = words.next()?;
        (words.next() == Some("9p")).then_some(place)
    });
    match (places.next(), places.next()) {
        (None, _) => return Ok(false),
        (Some("/out"), None) => {}
        (first, second) => bail!("shares keep the machine awake: {first:?}, {second:?}"),
    }
    unmount("/out", UnmountFlags::empty()).context("unmounting /out")?;
    Ok(true)
}

/// A virtio device without its driver.
struct Unbound {
    of: &'static str,
    name: String,
}

impl Unbound {
    fn driver(&self, file: &str) -> String {
        format!("/sys/bus/virtio/drivers/{}/{file}", self.of)
    }
}

/// Take its devices from a virtio driver.
fn unbind(of: &'static str) -> Result<Vec<Unbound>> {
    let Ok(entries) = fs::read_dir(format!("/sys/bus/virtio/drivers/{of}")) else {
        return Ok(Vec::new());
    };
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let devices: Vec<_> = names
        .filter(|name| name.starts_with("virtio"))
        .map(|name| Unbound { of, name })
        .collect();
    for device in &devices {
        set(&device.driver("unbind"), &device.name)?;
    }
    Ok(devices)
}

/// Two dwords of the LPC bridge of QEMU's machine q35: where the registers of power management are.
struct Chipset {
    config: PathBuf,
    registers: [u8; 8],
}

const PMBASE: u64 = 0x40;

impl Chipset {
    fn remember() -> Option<Chipset> {
        let directory = PathBuf::from("/sys/bus/pci/devices/0000:00:1f.0");
        let device = fs::read_to_string(directory.join("device")).ok()?;
        if device.trim() != "0x2918" {
            return None;
        }
        let config = directory.join("config");
        let mut registers = [0; 8];
        let file = fs::File::open(&config).ok()?;
        file.read_exact_at(&mut registers, PMBASE).ok()?;
        Some(Chipset { config, registers })
    }

    fn restore(&self) -> Result<()> {
        let file = fs::OpenOptions::new().write(true).open(&self.config)?;
        file.write_all_at(&self.registers, PMBASE)
            .context("restoring the chipset's registers")
    }
}
