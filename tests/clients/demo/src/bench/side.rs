// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The drivers that are compared: one device each, and the model behind it.

use anyhow::{Context, Result, bail};
use lapidary_guest::{Device, abi, painter};
use lapidary_harness::control::{Control, Counters};
use lapidary_harness::sysfs::PciDevice;
use std::path::PathBuf;
use std::rc::Rc;

/// Return the control port of the GPU at a PCI address, as scripts/boot lays them out.
fn port(address: &str) -> Option<&'static str> {
    match address {
        "0000:00:04.0" => Some("lapidary.control"),
        "0000:00:05.0" => Some("lapidary.control2"),
        _ => None,
    }
}

/// One driver, on a device of its own.
pub struct Side {
    /// Name of the module.
    pub driver: String,
    /// A client of it.
    pub device: Rc<Device>,
    control: Option<Control>,
}

/// What a model counts, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Register reads by the CPU.
    pub reads: u64,
    /// Register writes by the CPU.
    pub writes: u64,
    /// Interrupts sent to the CPU.
    pub interrupts: u64,
    /// Packets that the engine has executed.
    pub packets: u64,
}

impl Accesses {
    fn of(counters: &Counters) -> Accesses {
        // A counter exists from the first event on.
        let get = |name| counters.get(name).unwrap_or(0);
        Accesses {
            reads: get("mmio_reads"),
            writes: get("mmio_writes"),
            interrupts: get("irqs"),
            packets: get("packets"),
        }
    }

    /// Return what was counted since `earlier`.
    pub fn since(self, earlier: Accesses) -> Accesses {
        Accesses {
            reads: self.reads.wrapping_sub(earlier.reads),
            writes: self.writes.wrapping_sub(earlier.writes),
            interrupts: self.interrupts.wrapping_sub(earlier.interrupts),
            packets: self.packets.wrapping_sub(earlier.packets),
        }
    }
}

impl Side {
    /// Return all devices of this machine, by the name of the driver bound to them.
    ///
    /// # Errors
    ///
    /// If there is none, or a model's port is there but does not open.
    pub fn all() -> Result<Vec<Side>> {
        let mut sides = Vec::new();
        for minor in 128..192 {
            let path = PathBuf::from(format!("/dev/dri/renderD{minor}"));
            if !path.exists() {
                continue;
            }
            let device = Rc::new(Device::open_path(&path)?);
            if device.version()?.name != "radeon" {
                continue;
            }
            painter::choose(&device);
            let pci = PciDevice::of(&*device)?;
            let driver = pci.driver().context("a device without a driver")?;
            // What Mesa owns when it submits. One client has them, and there is none but this.
            for what in [
                const { abi::info_request("WANT_HYPERZ") },
                const { abi::info_request("WANT_CMASK") },
            ] {
                device.info_with(what, 1)?;
            }
            let control = match port(&pci.address()) {
                Some(name) => Control::find_named(name)?,
                None => None,
            };
            sides.push(Side {
                driver,
                device,
                control,
            });
        }
        if sides.is_empty() {
            bail!("no device whose driver calls itself radeon");
        }
        Ok(sides)
    }

    /// Return the model's counters; `None` on a real card.
    ///
    /// # Errors
    ///
    /// If the model does not answer.
    pub fn accesses(&mut self) -> Result<Option<Accesses>> {
        let counters = self.control.as_mut().map(Control::counters).transpose()?;
        Ok(counters.as_ref().map(Accesses::of))
    }
}
