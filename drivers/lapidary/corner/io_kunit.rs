// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers without hardware, for KUnit suites: a register window of plain memory, a window that records the order
//! of accesses, and a device on the faux bus.

use core::cell::Cell;

use kernel::{
    bindings,
    device,
    faux,
    io::{
        IoBackend,
        IoBase,
        IoCapable,
        Mmio,
        MmioRaw,
        Region, //
    },
    prelude::*,
    ptr::KnownSize,
    str::CString, //
};

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read of the place with this offset in bytes.
    Read(usize),
    /// A write of 32 bits to a place, and the value.
    Write(usize, u32),
    /// A write of 64 bits to a place, and the value.
    Write64(usize, u64),
}

/// The accesses, in order.
pub struct Log(Cell<KVec<Access>>);

impl Log {
    /// Make an empty log.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(Cell::new(KVec::new()))
    }

    /// Record an access.
    pub fn note(&self, access: Access) {
        let mut all = self.0.take();
        assert!(all.push(access, GFP_KERNEL).is_ok());
        self.0.set(all);
    }

    /// Return a window of `size` bytes that reads as zeros, and whose accesses are recorded.
    pub fn window(&self, size: usize) -> Noted<'_, Region> {
        // Only the offsets are used. No code dereferences this pointer.
        let place = Region::ptr_from_raw_parts_mut(core::ptr::null_mut(), size);
        Noted { place, log: self }
    }

    /// Return a register window of `SIZE` bytes that reads as zeros, and whose accesses are recorded.
    pub fn registers<const SIZE: usize>(&self) -> Noted<'_, Region<SIZE>> {
        let place = Region::ptr_from_raw_parts_mut(core::ptr::null_mut(), SIZE);
        Noted { place, log: self }
    }

    /// Take all accesses recorded up to now.
    pub fn take(&self) -> KVec<Access> {
        self.0.take()
    }
}

/// A part of such a window.
pub struct Noted<'a, T: ?Sized> {
    place: *mut T,
    log: &'a Log,
}

impl<T: ?Sized> Copy for Noted<'_, T> {}

impl<T: ?Sized> Clone for Noted<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, T: ?Sized + KnownSize> IoBase<'a> for Noted<'a, T> {
    type Backend = Notes;
    type Target = T;

    fn as_view(self) -> Self {
        self
    }
}

/// A backend that only records accesses.
pub struct Notes;

impl IoBackend for Notes {
    type View<'a, T: ?Sized + KnownSize> = Noted<'a, T>;

    fn as_ptr<'a, T: ?Sized + KnownSize>(view: Self::View<'a, T>) -> *mut T {
        view.place
    }

    unsafe fn project_view<'a, T: ?Sized + KnownSize, U: ?Sized + KnownSize>(
        view: Self::View<'a, T>,
        place: *mut U,
    ) -> Self::View<'a, U> {
        let log = view.log;
        Noted { place, log }
    }
}

impl IoCapable<u32> for Notes {
    fn io_read(view: Noted<'_, u32>) -> u32 {
        view.log.note(Access::Read(view.place.addr()));
        0
    }

    fn io_write(view: Noted<'_, u32>, value: u32) {
        view.log.note(Access::Write(view.place.addr(), value));
    }
}

impl IoCapable<u64> for Notes {
    fn io_read(view: Noted<'_, u64>) -> u64 {
        view.log.note(Access::Read(view.place.addr()));
        0
    }

    fn io_write(view: Noted<'_, u64>, value: u64) {
        view.log.note(Access::Write64(view.place.addr(), value));
    }
}

/// A device on the faux bus whose DMA reaches all memory.
pub struct Device(faux::Registration);

impl Device {
    /// Make a device.
    ///
    /// Its name contains the current time. A failed test case never frees its device, and an exported buffer keeps the name
    /// of its device until the process that loads the module returns to user space. The next case must not find the name
    /// taken, not even after the module has been loaded again.
    pub fn new() -> Result<Self> {
        // SAFETY: The clock may be read in any context.
        let now = unsafe { bindings::ktime_get() };
        let name = CString::try_from_fmt(fmt!("lapidary-kunit-{now}"))?;
        let device = Self(faux::Registration::new(&name, None)?);
        let raw = core::ptr::from_ref(device.dev())
            .cast_mut()
            .cast::<bindings::device>();
        // SAFETY: The device is bound, and no other thread knows of it yet.
        unsafe {
            (*raw).coherent_dma_mask = u64::MAX;
            (*raw).dma_mask = &raw mut (*raw).coherent_dma_mask;
        }
        Ok(device)
    }

    /// Return the device.
    pub fn dev(&self) -> &device::Device<device::Bound> {
        self.faux().as_ref()
    }

    /// Return the device as one of the faux bus.
    pub fn faux(&self) -> &faux::Device<device::Bound> {
        self.0.as_ref()
    }
}

/// Zeroed memory that stands in for a register window of `SIZE` bytes: every register is storage.
pub struct Memory<const SIZE: usize>(KVec<u32>);

impl<const SIZE: usize> Memory<SIZE> {
    /// Allocate a window.
    pub fn new() -> Result<Self> {
        Ok(Self(KVec::from_elem(
            0,
            SIZE / size_of::<u32>(),
            GFP_KERNEL,
        )?))
    }

    /// Return the same memory without registers.
    pub fn bytes(&mut self) -> Result<Mmio<'_, Region>> {
        let raw = MmioRaw::new_region(self.0.as_mut_ptr().expose_provenance(), SIZE)?;
        // SAFETY: As in `window`.
        Ok(unsafe { Mmio::from_raw(raw) })
    }

    /// Return the registers in it.
    pub fn window(&mut self) -> Result<Mmio<'_, Region<SIZE>>> {
        let raw = MmioRaw::new_region(self.0.as_mut_ptr().expose_provenance(), SIZE)?;
        // SAFETY: The memory is `SIZE` bytes long, aligned to four, and exclusively borrowed while the view lives. It is
        // ordinary memory, on which the accessors of memory-mapped I/O work as loads and stores.
        Ok(unsafe { Mmio::from_raw(raw) })
    }
}
