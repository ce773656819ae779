// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The DRM driver, generic over the family: its types and their owners.
//!
//! - [`DeviceData`] is part of the DRM device. Open files and objects hold references to the DRM device, so it
//!   outlives the binding of the PCI device. It contains memory managers, counters, and the flag that says that the
//!   hardware is gone.
//! - [`Registered`] is what ioctls see of the running GPU, behind a guard that keeps the device registered.
//! - [`File`] is an open file.
//!
//! [`crate::probe`] describes how a device is probed and unbound, and what owns the GPU in between.
//!
//! # Circular imports
//!
//! [`drm::Driver`] names the types of the device's data, of what ioctls see, of files and of objects. An object names
//! the driver. So these types and their parts have to know each other. They are in this file, in the traits that name
//! objects ([`crate::family`]), in the object with its uses and surfaces, in the running GPU with its lanes and
//! workspaces, and in the shrinker of objects. Files that use these types are above them, and what these types need
//! is below.

use core::{
    marker::PhantomData,
    pin::Pin, //
};

use kernel::{
    device::DeviceContext,
    drm,
    pci,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    }, //
};

use crate::{
    allowance::Allowance,
    client_record::ClientRecord,
    corner::{
        fdinfo::{
            Accounts,
            Region,
            Share, //
        },
        roster::Roster,
        shrinker::Shrinker, //
    },
    family::{
        Family,
        Uapi, //
    },
    hangs::Hangs,
    memory::{
        managers::Memory,
        object::{
            Bo,
            Object, //
        }, //
    },
    portable::placement::Domain,
    residency::reclaim::Reclaim,
    running::Running,
    submit::placing::Placing, //
};

/// The DRM driver of family `F`.
pub struct Driver<F>(PhantomData<fn() -> F>);

/// The state that outlives unbind.
pub struct DeviceData<F: Family> {
    /// Managers of the GPU's memory.
    pub memory: Arc<Memory>,
    /// All objects.
    pub objects: Arc<Roster<Object<F>>>,
    /// The submissions that are placing objects.
    pub placing: Arc<Placing>,
    /// The submissions that are bringing objects to VRAM that they can use only there.
    pub bringing: Arc<Placing>,
    /// The log of hangs and their processes.
    pub hangs: Arc<Hangs>,
    /// Gives back pages of objects when the system needs memory.
    _shrinker: Shrinker<Reclaim<F>>,
    /// The hardware is gone or about to be. Set by unbind.
    pub(crate) gone: Atomic<bool>,
    /// How often the GPU had to be stopped or reset.
    resets: Atomic<u32>,
    /// Fences that a thread waited for and no interrupt announced.
    polled: Atomic<u64>,
    /// State of the user-space interface.
    pub uapi: <F::Uapi as Uapi<F>>::Device,
}

impl<F: Family> DeviceData<F> {
    /// Make the state of a device with this memory.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(memory: Arc<Memory>) -> Result<Self> {
        let objects = Roster::new()?;
        let reclaim = Arc::new(Reclaim::new(objects.clone(), memory.clone()), GFP_KERNEL)?;
        Ok(Self {
            memory,
            objects,
            placing: Placing::new()?,
            bringing: Placing::new()?,
            hangs: Hangs::new()?,
            _shrinker: Shrinker::new(F::NAME, reclaim)?,
            gone: Atomic::new(false),
            resets: Atomic::new(0),
            polled: Atomic::new(0),
            uapi: F::Uapi::device()?,
        })
    }

    /// Return whether the hardware is gone or about to be. Then waits should end.
    pub fn gone(&self) -> bool {
        self.gone.load(Relaxed)
    }

    /// Return how often the GPU had to be stopped or reset.
    pub fn resets(&self) -> u32 {
        self.resets.load(Relaxed)
    }

    /// Return the number of fences that a thread waited for and no interrupt announced.
    pub fn polled(&self) -> u64 {
        self.polled.load(Relaxed)
    }

    pub(crate) fn count_reset(&self) {
        self.resets.add(1, Relaxed);
    }

    /// Count polled fences. Return whether these are the first.
    pub(crate) fn count_polled(&self, fences: u64) -> bool {
        self.polled.fetch_add(fences, Relaxed) == 0
    }
}

/// What ioctls see of a registered device.
pub struct Registered<'a, F: Family> {
    /// The running GPU.
    pub running: Arc<Running<'a, F>>,
}

/// An open file.
pub struct File<F: Family> {
    dev: ARef<drm::Device<Driver<F>>>,
    /// The record that its jobs update.
    pub record: Arc<ClientRecord>,
    /// Its limits.
    pub allowance: Allowance,
    /// State of the user-space interface.
    pub client: <F::Uapi as Uapi<F>>::Client,
}

impl<F: Family> drm::file::DriverFile for File<F> {
    type Driver = Driver<F>;

    fn open(dev: &drm::Device<Driver<F>>) -> Result<Pin<KBox<Self>>> {
        let file = Self {
            dev: dev.into(),
            record: ClientRecord::new()?,
            allowance: dev.memory.allowance()?,
            client: F::Uapi::client(&dev.uapi)?,
        };
        Ok(KBox::new(file, GFP_KERNEL)?.into())
    }
}

impl<F: Family> Drop for File<F> {
    fn drop(&mut self) {
        F::Uapi::closed(&self.dev.uapi, &self.client);
    }
}

#[vtable]
impl<F: Family> drm::Driver for Driver<F> {
    type OwnerModule = F::Module;
    type Data = DeviceData<F>;
    type RegistrationData<'a> = Registered<'a, F>;
    type File = File<F>;
    type Object = Bo<F>;
    type ParentDevice<C: DeviceContext> = pci::Device<C>;

    const INFO: drm::DriverInfo = F::Uapi::INFO;
    const FEAT_RENDER: bool = true;
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor] = F::Uapi::IOCTLS;
}

impl<F: Family> Accounts for Driver<F> {
    type Content = Object<F>;

    fn engine(file: &File<F>) -> u64 {
        file.record.engine()
    }

    fn share(object: &Bo<F>) -> Share {
        let status = object.status();
        Share {
            region: match status.domain {
                Domain::Vram => Region::Vram,
                Domain::Gtt => Region::Gtt,
                Domain::System => Region::Cpu,
            },
            resident: status.resident,
        }
    }
}
