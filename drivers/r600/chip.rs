// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chips of the family.
//!
//! R6xx and R7xx are two generations of one design. They have the same engines and packets. Some registers of R7xx,
//! above all those of the memory controller, have other places than on R6xx, and the host's way to VRAM and the DMA
//! ring work on R7xx only as this driver uses them. [`ids`](crate::ids) says which PCI device is which chip, and
//! [`hal`](crate::hal) what differs between them.

pub(crate) use crate::portable::Generation;

/// A chip of the R6xx or R7xx family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chipset {
    /// R600: Radeon HD 2900.
    R600,
    /// RV610 and its mobile form (M72): Radeon HD 2400.
    Rv610,
    /// RV635 and its mobile form (M86): Radeon HD 3650.
    Rv635,
    /// RV670 and its mobile form (M88): Radeon HD 3850, HD 3870.
    Rv670,
    /// RV770, RV790 and their mobile form (M98): Radeon HD 4850, HD 4870, HD 4890.
    Rv770,
    /// RV730 and its mobile form (M96): Radeon HD 4650, HD 4670.
    Rv730,
    /// RV710 and its mobile forms (M92, M93): Radeon HD 4350, HD 4550.
    Rv710,
    /// RV740 and its mobile form (M97): Radeon HD 4750, HD 4770.
    Rv740,
}

impl Chipset {
    /// Return the chip's name for log lines, for example `RV770`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::R600 => "R600",
            Self::Rv610 => "RV610",
            Self::Rv635 => "RV635",
            Self::Rv670 => "RV670",
            Self::Rv770 => "RV770",
            Self::Rv730 => "RV730",
            Self::Rv710 => "RV710",
            Self::Rv740 => "RV740",
        }
    }

    /// Return the generation that it belongs to.
    pub(crate) fn generation(self) -> Generation {
        match self {
            Self::R600 | Self::Rv610 | Self::Rv635 | Self::Rv670 => Generation::R6xx,
            Self::Rv770 | Self::Rv730 | Self::Rv710 | Self::Rv740 => Generation::R7xx,
        }
    }

    /// Return whether the CP wants to be told which addresses of surfaces have been written (`SURFACE_BASE_UPDATE`).
    pub(crate) fn base_update(self) -> bool {
        matches!(self, Self::Rv610 | Self::Rv635 | Self::Rv670)
    }
}
