// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects without a GPU, for KUnit suites: a device on the faux bus with a DRM device that is never registered.

use kernel::{
    device,
    drm::{
        self,
        gem, //
    },
    faux, new_mutex, new_spinlock,
    prelude::*,
    sync::{
        aref::ARef,
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Mutex,
        SpinLock, //
    },
};

use crate::corner::{
    fdinfo::{
        Accounts,
        Region,
        Share, //
    },
    gem::{
        Backed,
        Frame, //
    },
    io_kunit::Device,
    pages::Pages,
    prime::{
        Import,
        Shareable, //
    },
    roster::{
        Place,
        Roster,
        Seat, //
    },
};

/// The driver of the DRM device.
pub(crate) struct Driver;

/// A client. The tests open none.
pub(crate) struct File;

impl drm::file::DriverFile for File {
    type Driver = Driver;

    fn open(_dev: &drm::Device<Driver>) -> Result<Pin<KBox<Self>>> {
        Ok(KBox::new(Self, GFP_KERNEL)?.into())
    }
}

/// Data of an object that counts its releases.
#[pin_data]
pub(crate) struct Object {
    roster: Arc<Roster<Self>>,
    seat: Seat,
    #[pin]
    place: SpinLock<Place>,
    released: Arc<Atomic<u32>>,
    /// Number of pins.
    pub(crate) pins: Atomic<u32>,
    /// Whether the object counts as memory of a process.
    pub(crate) private: Atomic<bool>,
    #[pin]
    pages: Mutex<Option<Pages>>,
}

impl Object {
    /// Set where the object belongs on the list.
    pub(crate) fn stand(&self, place: Place) {
        *self.place.lock() = place;
    }

    /// Pass the pages of a pinned object to `show`.
    pub(crate) fn with_pages(&self, show: impl FnOnce(&Pages) -> Result) -> Result {
        show(self.pages.lock().as_ref().ok_or(EINVAL)?)
    }
}

impl gem::DriverObject for Object {
    type Driver = Driver;
    type Args = (Arc<Atomic<u32>>, Arc<Roster<Self>>, Result);

    fn new(
        _dev: &drm::Device<Driver>,
        _size: usize,
        (released, roster, result): Self::Args,
    ) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            roster,
            seat: Seat::new(),
            place <- new_spinlock!(Place::Apart),
            released,
            pins: result.map(|()| Atomic::new(0))?,
            private: Atomic::new(false),
            pages <- new_mutex!(None),
        })
    }
}

// SAFETY: It reports no frames, and does not use `seat`.
unsafe impl Backed for Object {
    fn roster(&self) -> Option<&Arc<Roster<Self>>> {
        Some(&self.roster)
    }

    fn seat(&self) -> &Seat {
        &self.seat
    }

    fn place(&self) -> Place {
        *self.place.lock()
    }

    fn release(object: &gem::Object<Self>) {
        if let Some(pages) = object.pages.lock().take() {
            pages.put(object);
        }
        object.released.add(1, Relaxed);
    }

    fn frames(
        _object: &gem::Object<Self>,
        _dev: &drm::Device<Driver, drm::Registered>,
        _first: usize,
        _report: &mut dyn FnMut(Frame) -> bool,
    ) -> Result {
        Err(EINVAL)
    }
}

impl Shareable for Object {
    fn is_private(&self) -> bool {
        self.private.load(Relaxed)
    }

    fn pin(
        object: &gem::Object<Self>,
        _dev: Option<&drm::Device<Driver, drm::Registered>>,
    ) -> Result {
        let mut pages = object.pages.lock();
        if pages.is_none() {
            *pages = Some(Pages::get(object)?);
        }
        object.pins.add(1, Relaxed);
        Ok(())
    }

    fn unpin(object: &gem::Object<Self>) {
        object.pins.fetch_sub(1, Relaxed);
    }

    fn pages(object: &gem::Object<Self>, show: &mut dyn FnMut(&Pages)) -> Result {
        object.with_pages(|pages| {
            show(pages);
            Ok(())
        })
    }

    fn most(_dev: &drm::Device<Driver, drm::Registered>) -> u64 {
        0
    }

    fn import(
        _dev: &drm::Device<Driver, drm::Registered>,
        _import: Arc<Import>,
    ) -> Result<ARef<gem::Object<Self>>> {
        // The device is never registered, so the core does not call this.
        Err(ENODEV)
    }
}

#[vtable]
impl drm::Driver for Driver {
    type Data = ();
    type RegistrationData<'a> = ();
    type File = File;
    type Object = gem::Object<Object>;
    type ParentDevice<C: device::DeviceContext> = faux::Device<C>;

    const INFO: drm::DriverInfo = drm::DriverInfo {
        major: 0,
        minor: 0,
        patchlevel: 0,
        name: c"lapidary-kunit",
        desc: c"Lapidary KUnit",
    };
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor] = &[];
}

impl Accounts for Driver {
    type Content = Object;

    fn engine(_file: &File) -> u64 {
        0
    }

    fn share(_object: &gem::Object<Object>) -> Share {
        Share {
            region: Region::Cpu,
            resident: false,
        }
    }
}

/// A device that can map DMA, and the objects on it.
pub(crate) struct Machine {
    drm: drm::UnregisteredDevice<Driver>,
    device: Device,
    /// Number of objects that have been released.
    pub(crate) released: Arc<Atomic<u32>>,
    /// All objects.
    pub(crate) roster: Arc<Roster<Object>>,
}

impl Machine {
    /// Make a device whose DMA reaches all memory.
    pub(crate) fn new() -> Result<Self> {
        let device = Device::new()?;
        Ok(Self {
            drm: drm::UnregisteredDevice::new(device.faux(), Ok::<(), Error>(()))?,
            device,
            released: Arc::new(Atomic::new(0), GFP_KERNEL)?,
            roster: Roster::new()?,
        })
    }

    /// Return the device.
    pub(crate) fn dev(&self) -> &device::Device<device::Bound> {
        self.device.dev()
    }

    /// Return the DRM device.
    pub(crate) fn drm(&self) -> &drm::UnregisteredDevice<Driver> {
        &self.drm
    }

    /// Make an object.
    pub(crate) fn object(&self, size: usize) -> Result<ARef<gem::Object<Object>>> {
        self.object_if(size, Ok(()))
    }

    /// Make an object. The driver's part of it is made if `result` is no error.
    pub(crate) fn object_if(
        &self,
        size: usize,
        result: Result,
    ) -> Result<ARef<gem::Object<Object>>> {
        crate::corner::gem::new(
            &self.drm,
            size,
            (self.released.clone(), self.roster.clone(), result),
        )
    }
}
