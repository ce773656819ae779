// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chips of the family.
//!
//! All R5xx share one command processor, one 2D engine and one register map. [`ids`](crate::ids) says which PCI device
//! is which chip, and [`hal`](crate::hal) what differs between them.

/// A chip of the R5xx family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chipset {
    /// RV505, RV515, RV516, RV550 and their mobile forms (M52, M54, M62, M64, M71): Radeon X1300,
    /// X1550, X2300.
    Rv515,
    /// R520 and its mobile form (M58): Radeon X1800.
    R520,
    /// RV530, RV535 and their mobile forms (M56, M66): Radeon X1600, X1650 Pro.
    Rv530,
    /// RV560: Radeon X1650 XT.
    Rv560,
    /// RV570: Radeon X1950 Pro, X1950 GT.
    Rv570,
    /// R580, R580+ and the mobile form (M59): Radeon X1900, X1950 XTX.
    R580,
}

impl Chipset {
    /// Return the chip's name for log lines, for example `RV515`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rv515 => "RV515",
            Self::R520 => "R520",
            Self::Rv530 => "RV530",
            Self::Rv560 => "RV560",
            Self::Rv570 => "RV570",
            Self::R580 => "R580",
        }
    }
}
