// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chips of the family, and their PCI devices (decision 4).
//!
//! VX855 and VX875 have the same graphics function. The size of the frame buffer is not in it, but in function 3 of the host
//! bridge (decision 9).

use kernel::pci;

/// A chip of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chipset {
    /// VX855 and VX875.
    Vx855,
}

/// PCI vendor VIA.
pub(crate) const VENDOR: u16 = 0x1106;

impl Chipset {
    /// Return the chip's name for log lines.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Vx855 => "VX855",
        }
    }

    /// Return the device number of function 3 of the host bridge.
    pub(crate) fn host_bridge(self) -> u16 {
        match self {
            Self::Vx855 => 0x3409,
        }
    }
}

kernel::pci_device_table!(
    IDS,
    Chipset,
    [(
        pci::DeviceId::from_id(pci::Vendor::VIA, 0x5122),
        Chipset::Vx855
    )]
);

/// The devices.
pub(crate) const TABLE: pci::IdTable<Chipset> = &IDS;
