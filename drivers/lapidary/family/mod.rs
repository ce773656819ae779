// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The seams between the generic driver and one GPU family.
//!
//! A family module (`r500.ko`, …) supplies a unit struct that implements [`Family`]; everything that user
//! space and the DRM core see is the generic driver of this crate, instantiated for it. The order in which
//! the generic driver calls a family:
//!
//! 1. [`Family::identify`]: map the registers, check that the chip is there and posted, say where VRAM is;
//! 2. the generic driver makes the memory managers from that [`Layout`] and the DRM device around them;
//! 3. [`Family::bring_up`]: page table, microcode, rings, ring test; the result is the [`Gpu`];
//! 4. the generic driver requests the interrupt, runs a fence and an indirect buffer through every ring,
//!    and registers the DRM device;
//! 5. when a ring hangs: [`Gpu::quiesce`], then [`Gpu::reset`], after which the jobs of the innocent are put on the
//!    rings again;
//! 6. at unbind, or when resetting does not help: [`Gpu::quiesce`]. After it the chip touches no memory any more, so
//!    that fences can be signalled with an error and pages given back;
//! 7. when the system sleeps: [`Gpu::suspend`], and afterwards [`Gpu::resume`].
//!
//! The seams lie in files of their own: the chip ([`gpu`]), its rings ([`ring`]), its page tables ([`space`]), what
//! proves that commands are harmless ([`isolation`]), and registers for pictures in VRAM ([`surfaces`]). Here is what
//! knows objects: the family itself and the user-space interface.
//!
//! All methods may sleep unless they say otherwise. Nothing here is called with a reservation lock held
//! *and* allocates: the path from `commit` to retirement is a fence-signalling section.

use core::fmt::Display;

use kernel::{
    device,
    drm,
    pci,
    prelude::*, //
};

use crate::{
    corner::{
        extend::Tables,
        stash::Reusable, //
    },
    memory::{
        managers::Memory,
        object::Bo, //
    },
    portable::replay::Memories, //
};

pub mod gpu;
pub mod isolation;
pub mod ring;
pub mod space;
pub mod surfaces;

// Families take all seams from here. The files of this crate take them from where they are defined, so that those
// which know no objects do not depend on this one.
pub use crate::portable::mapping::{
    Flags,
    Target, //
};

pub use self::{
    gpu::{
        Event,
        Gpu,
        Step,
        TopHalf, //
    },
    isolation::{
        Isolation,
        Proof,
        Refusal, //
    },
    ring::{
        Ib,
        Ring,
        Slot, //
    },
    space::{
        GpuAddr,
        Layout,
        Space, //
    },
    surfaces::{
        Arrangement,
        Surface,
        Surfaces, //
    }, //
};

/// What a family module supplies.
pub trait Family: Sized + Send + Sync + 'static {
    /// The module that open files pin.
    type Module: kernel::ModuleMetadata;
    /// What the PCI id says about the chip.
    type Chip: Send + Sync + 'static;
    /// The user-space interface.
    type Uapi: Uapi<Self>;
    /// A chip whose registers are mapped and that has been identified, not yet touched otherwise.
    type Board<'a>: Send + 'a;
    /// A running chip.
    type Gpu<'a>: Gpu<'a, Isolation: Isolation<Note = Note<Self>>>;

    /// Ids that this family binds.
    const IDS: pci::IdTable<Self::Chip>;
    /// Short name, for the interrupt and fence timelines.
    const NAME: &'static CStr;

    /// Static storage for the driver tables that the generic driver patches once per family.
    ///
    /// Statics cannot be generic, so the family module owns it: `static TABLES: Tables = Tables::new();`.
    fn tables() -> &'static Tables;

    /// The kinds of interrupt to try for `chip`.
    fn irq_types(chip: &Self::Chip) -> pci::IrqTypes;

    /// Maps the registers and reads what is needed to lay out memory.
    ///
    /// The device is enabled for memory accesses; bus mastering is off; the DMA mask is the family's to set.
    /// Must not disturb a display that the firmware has set up.
    ///
    /// # Errors
    ///
    /// `ENODEV` for a chip that does not answer or has not been posted, after one `dev_err!` that says so.
    fn identify<'a>(
        pdev: &'a pci::Device<device::Core<'_>>,
        chip: &'a Self::Chip,
    ) -> Result<(Self::Board<'a>, Layout)>;

    /// Brings the chip up: page table, microcode, rings, ring tests.
    ///
    /// Bus mastering is on. What it takes from `memory` it holds as RAII ranges in the `Gpu`. On return every
    /// ring of [`Gpu::rings`] has executed its ring test and [`Ring::completed`] is 0. On an error everything
    /// is as [`Gpu::quiesce`] would leave it.
    ///
    /// # Errors
    ///
    /// Any, after one clear `dev_err!` line at the place that knows the reason.
    fn bring_up<'a>(board: Self::Board<'a>, memory: &Memory) -> impl PinInit<Self::Gpu<'a>, Error>;
}

/// What the user-space interface of family `F` keeps with an object.
pub type Note<F> = <<F as Family>::Uapi as Uapi<F>>::Note;

/// What the user-space interface of family `F` needs to read a submission.
pub type ScratchOf<F> = <<F as Family>::Uapi as Uapi<F>>::Scratch;

/// A user-space interface: what the DRM core is told about the driver.
pub trait Uapi<F: Family>: Sized + Send + Sync + 'static {
    /// Name and version.
    const INFO: drm::DriverInfo;
    /// The ioctl table; empty slots answer `EINVAL`.
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor];
    /// State of the interface per device.
    type Device: Send + Sync;
    /// State of the interface per open file.
    type Client: Send + Sync;
    /// State of the interface per object, which all clients share that have a handle of it. Its text is one clause for
    /// a developer.
    type Note: Default + Display + Send + Sync;
    /// Memory that reading a submission takes, kept for the next one.
    type Scratch: Reusable + Send;

    /// Makes the device state. It outlives unbind.
    fn device() -> Result<Self::Device>;

    /// Makes the state of a newly opened file. No hardware here.
    fn client(device: &Self::Device) -> Result<Self::Client>;

    /// Another driver's memory has become an object.
    fn imported(object: &Bo<F>);

    /// How the pixels of an object lie in memory, if not in the order of their lines.
    fn arrangement(note: &Self::Note) -> Option<Arrangement>;

    /// The clear of these memories on the chip has failed: they have no owner any more. Called in a fence-signalling
    /// section, while no job can be committed.
    fn lost(device: &Self::Device, memories: Memories);

    /// An object leaves the memory where it is, or its end has come. On return no page table of a client leads there, and
    /// no TLB remembers it ([`Isolation::enter`]). The caller holds the reservation or the last reference, and no job uses
    /// the object. May be called where memory is reclaimed: takes none, and waits for no lock under which memory is
    /// allocated.
    fn displaced(note: &Self::Note) {
        let _ = note;
    }

    /// A file is closed.
    fn closed(device: &Self::Device, client: &Self::Client);
}
