// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A library for `LD_PRELOAD` that has a program find function 3 of a VX855's host bridge where that is on a mainboard.
//!
//! Programs that know the chip set look at 00:00.3, by libpciaccess. In a guest of QEMU's machine q35 the slot belongs to
//! that machine's own host bridge, and the model's function is in another one. This library overrides the look-up for that
//! one place, and passes all others on.

use libc::{c_char, c_void};
use std::ffi::CStr;

/// Any number, to libpciaccess.
const ANY: u32 = u32::MAX;
/// Function 3 of the host bridge.
const VENDOR: u32 = 0x1106;
const DEVICE: u32 = 0x3409;

/// Which devices an iterator of libpciaccess goes through (`struct pci_id_match` of pciaccess.h).
#[repr(C)]
struct Match {
    vendor: u32,
    device: u32,
    subvendor: u32,
    subdevice: u32,
    class: u32,
    class_mask: u32,
    data: isize,
}

type FindBySlot = unsafe extern "C" fn(u32, u32, u32, u32) -> *mut c_void;
type CreateIterator = unsafe extern "C" fn(*const Match) -> *mut c_void;
type NextDevice = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type DestroyIterator = unsafe extern "C" fn(*mut c_void);

/// Return the next definition of a function after this library's, if there is one.
fn next(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a string; dlsym has no other condition.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast::<c_char>()) };
    (!found.is_null()).then_some(found)
}

/// Return the model's function, if libpciaccess knows it.
fn host_bridge() -> Option<*mut c_void> {
    let [create, advance, destroy] = [
        c"pci_id_match_iterator_create",
        c"pci_device_next",
        c"pci_iterator_destroy",
    ]
    .map(next);
    let wanted = Match {
        vendor: VENDOR,
        device: DEVICE,
        subvendor: ANY,
        subdevice: ANY,
        class: 0,
        class_mask: 0,
        data: 0,
    };
    // SAFETY: these are the types that pciaccess.h gives the three functions. The iterator is used before it is destroyed,
    // and the device that it gives belongs to libpciaccess until the program ends its use of the library.
    let device = unsafe {
        let create: CreateIterator = std::mem::transmute(create?);
        let advance: NextDevice = std::mem::transmute(advance?);
        let destroy: DestroyIterator = std::mem::transmute(destroy?);
        let iterator = create(&wanted);
        let device = advance(iterator);
        destroy(iterator);
        device
    };
    (!device.is_null()).then_some(device)
}

/// Stand before libpciaccess' `pci_device_find_by_slot`.
///
/// # Safety
/// As of that function: the program has initialised libpciaccess.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pci_device_find_by_slot(
    domain: u32,
    bus: u32,
    device: u32,
    function: u32,
) -> *mut c_void {
    if (domain, bus, device, function) == (0, 0, 0, 3) {
        if let Some(device) = host_bridge() {
            return device;
        }
    }
    let Some(real) = next(c"pci_device_find_by_slot") else {
        return std::ptr::null_mut();
    };
    // SAFETY: pciaccess.h gives the function this type, and the arguments are the caller's.
    unsafe {
        let real: FindBySlot = std::mem::transmute(real);
        real(domain, bus, device, function)
    }
}
