// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The drivers that are compared: one device each, and the model behind it.

use crate::chrome9::Chrome9;
use crate::client::Client;
use crate::radeon::Radeon;
use anyhow::{Context, Result, bail};
use lapidary_chrome9_client::abi;
use lapidary_harness::control::{Control, Counters};
use lapidary_harness::node::Node;
use lapidary_harness::sysfs::PciDevice;
use std::path::PathBuf;

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
    pub client: Box<dyn Client>,
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
            let node = Node::open(&path)?;
            let client: Box<dyn Client> = match node.version()?.name.as_str() {
                "radeon" => Box::new(Radeon::open(&path)?),
                abi::NAME => Box::new(Chrome9::open()?),
                _ => continue,
            };
            let pci = PciDevice::of(&node)?;
            let driver = pci.driver().context("a device without a driver")?;
            let control = match port(&pci.address()) {
                Some(name) => Control::find_named(name)?,
                None => None,
            };
            sides.push(Side {
                driver,
                client,
                control,
            });
        }
        if sides.is_empty() {
            bail!(
                "no device whose driver calls itself radeon or {}",
                abi::NAME
            );
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
