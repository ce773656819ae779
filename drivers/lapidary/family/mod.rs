// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The interface between the generic driver and one GPU family.
//!
//! A family module (`r500.ko`, …) supplies a unit struct that implements [`Family`]. User space and the DRM core see
//! the generic driver of this crate, instantiated for the family. The generic driver calls a family in this order:
//!
//! 1. [`Family::identify`]: map the registers, check that the chip exists and is posted, report where VRAM is;
//! 2. the generic driver makes the memory managers from that [`Layout`], and the DRM device;
//! 3. [`Family::bring_up`]: page table, microcode, rings, ring test. The result is the [`Gpu`];
//! 4. the generic driver requests the interrupt, runs a fence and an indirect buffer through every ring, and
//!    registers the DRM device;
//! 5. when a ring hangs: [`Gpu::quiesce`], then [`Gpu::reset`]. Then the jobs of innocent clients are put on the
//!    rings again;
//! 6. at unbind, or when a reset does not help: [`Gpu::quiesce`]. After it the chip accesses no memory any more, so
//!    fences can be signalled with an error and pages can be freed;
//! 7. when the system sleeps: [`Gpu::suspend`], and afterwards [`Gpu::resume`].
//!
//! Each trait has a file of its own: the chip ([`gpu`]), its rings ([`ring`]), its page tables ([`space`]), the proof
//! that commands are harmless ([`isolation`]), and registers for pictures in VRAM ([`surfaces`]). This file contains
//! the traits that name objects: the family itself and the user-space interface.
//!
//! All methods may sleep unless they say otherwise. No method that allocates is called with a reservation lock held,
//! because the path from `commit` to retirement is a fence-signalling section.

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

// Families import all traits from here. The files of this crate import them from the files that define them. So files
// that do not use objects do not depend on this one.
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

/// The traits and types that a family module supplies.
pub trait Family: Sized + Send + Sync + 'static {
    /// The module on which open files hold a reference.
    type Module: kernel::ModuleMetadata;
    /// The chip, as the PCI id identifies it.
    type Chip: Send + Sync + 'static;
    /// The user-space interface.
    type Uapi: Uapi<Self>;
    /// A chip that has been identified. Its registers are mapped, and nothing else has been done to it.
    type Board<'a>: Send + 'a;
    /// A running chip.
    type Gpu<'a>: Gpu<'a, Isolation: Isolation<Note = Note<Self>>>;

    /// Ids that this family binds.
    const IDS: pci::IdTable<Self::Chip>;
    /// Short name, for the interrupt and fence timelines.
    const NAME: &'static CStr;

    /// Return static storage for the driver tables that the generic driver patches once per family.
    ///
    /// Statics cannot be generic, so the family module owns it: `static TABLES: Tables = Tables::new();`.
    fn tables() -> &'static Tables;

    /// Return the kinds of interrupt to try for `chip`.
    fn irq_types(chip: &Self::Chip) -> pci::IrqTypes;

    /// Map the registers and read what is needed to lay out memory.
    ///
    /// The device is enabled for memory accesses and bus mastering is off. The family sets the DMA mask. A display
    /// that the firmware has set up must not be disturbed.
    ///
    /// # Errors
    ///
    /// `ENODEV` for a chip that does not answer or has not been posted, after one `dev_err!` with the reason.
    fn identify<'a>(
        pdev: &'a pci::Device<device::Core<'_>>,
        chip: &'a Self::Chip,
    ) -> Result<(Self::Board<'a>, Layout)>;

    /// Start the chip: page table, microcode, rings, ring tests.
    ///
    /// Bus mastering is on. The `Gpu` holds what it takes from `memory` as RAII ranges. On return every ring of
    /// [`Gpu::rings`] has executed its ring test and [`Ring::completed`] is 0. After an error everything is as
    /// [`Gpu::quiesce`] would leave it.
    ///
    /// # Errors
    ///
    /// Any, after one clear `dev_err!` line at the place that knows the reason.
    fn bring_up<'a>(board: Self::Board<'a>, memory: &Memory) -> impl PinInit<Self::Gpu<'a>, Error>;
}

/// The data that the user-space interface of family `F` keeps with an object.
pub type Note<F> = <<F as Family>::Uapi as Uapi<F>>::Note;

/// The memory that the user-space interface of family `F` needs to read a submission.
pub type ScratchOf<F> = <<F as Family>::Uapi as Uapi<F>>::Scratch;

/// A user-space interface, as it describes the driver to the DRM core.
pub trait Uapi<F: Family>: Sized + Send + Sync + 'static {
    /// Name and version.
    const INFO: drm::DriverInfo;
    /// The ioctl table. Empty slots answer `EINVAL`.
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor];
    /// State of the interface per device.
    type Device: Send + Sync;
    /// State of the interface per open file.
    type Client: Send + Sync;
    /// State of the interface per object, which all clients that have a handle of the object share. Its text is one
    /// clause for a developer.
    type Note: Default + Display + Send + Sync;
    /// Memory that reading a submission needs. It is kept for the next submission.
    type Scratch: Reusable + Send;

    /// Make the device state. It outlives unbind.
    fn device() -> Result<Self::Device>;

    /// Make the state of a newly opened file. The hardware is not accessed.
    fn client(device: &Self::Device) -> Result<Self::Client>;

    /// Note that another driver's memory has become an object.
    fn imported(object: &Bo<F>);

    /// Return how the pixels of an object lie in memory, if not in the order of their lines.
    fn arrangement(note: &Self::Note) -> Option<Arrangement>;

    /// Note that the clear of these memories on the chip has failed, and take them from their owners. Called in a
    /// fence-signalling section, while no job can be committed.
    fn lost(device: &Self::Device, memories: Memories);

    /// Remove an object from the page tables of all clients, because it is about to move or to be freed. On return no page
    /// table and no TLB has an entry for its place ([`Isolation::enter`]). The caller holds the reservation or the last
    /// reference, and no job uses the object. May be called in reclaim, so it does not allocate, and waits for no lock
    /// under which memory is allocated.
    fn displaced(note: &Self::Note) {
        let _ = note;
    }

    /// Note that a file is closed.
    fn closed(device: &Self::Device, client: &Self::Client);
}
