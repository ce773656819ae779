// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ioctl tables with holes, for argument types of our own.
//!
//! `kernel::declare_drm_ioctls!` needs argument types from `kernel::uapi` and numbers without gaps. The DRM core
//! itself answers `EINVAL` for an empty slot. So a table is an array in which the missing numbers stay empty.
//!
//! The core copies arguments in and out in the directions that both the caller's number and ours contain. It extends
//! a shorter argument of the caller with zeros.

use core::{
    marker::PhantomData,
    mem::size_of, //
};

use kernel::{
    drm::{
        self,
        ioctl::DrmIoctlDescriptor,
        Registered, //
    },
    ioctl::{
        _IOC_NR,
        _IOW,
        _IOWR, //
    },
    prelude::*,
};
use zerocopy::{
    FromBytes,
    IntoBytes, //
};

/// Numbers of driver commands start here.
const COMMAND_BASE: u32 = kernel::uapi::DRM_COMMAND_BASE;

/// Which way the argument of a command goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the kernel.
    In,
    /// To the kernel and back.
    InOut,
}

/// One command.
pub trait Command {
    /// The driver this command belongs to.
    type Driver: drm::Driver;
    /// The argument.
    type Arg: FromBytes + IntoBytes;
    /// Number, counted from `DRM_COMMAND_BASE`.
    const NR: u32;
    /// Direction of the argument.
    const DIRECTION: Direction;
    /// Permission to call it: `drm::ioctl::{AUTH, RENDER_ALLOW, …}`.
    const FLAGS: u32;
    /// Name for debug messages.
    const NAME: &'static CStr;

    /// Run the command. The device stays registered meanwhile, so unbind waits for the command to end.
    fn run(
        dev: &drm::Device<Self::Driver, Registered>,
        reg: &<Self::Driver as drm::Driver>::RegistrationData<'_>,
        arg: &mut Self::Arg,
        file: &drm::File<<Self::Driver as drm::Driver>::File>,
    ) -> Result<u32>;
}

/// Carries the entry point of a command.
struct Entry<C: Command>(PhantomData<C>);

impl<C: Command> Entry<C> {
    const DESCRIPTOR: DrmIoctlDescriptor = DrmIoctlDescriptor {
        cmd: match C::DIRECTION {
            Direction::In => {
                _IOW::<C::Arg>(kernel::uapi::DRM_IOCTL_BASE as u32, COMMAND_BASE + C::NR)
            }
            Direction::InOut => {
                _IOWR::<C::Arg>(kernel::uapi::DRM_IOCTL_BASE as u32, COMMAND_BASE + C::NR)
            }
        },
        func: Some(Self::entry),
        flags: C::FLAGS,
        name: kernel::str::as_char_ptr_in_const_context(C::NAME),
    };

    /// # Safety
    ///
    /// Only the DRM core may call this, for a device of `C::Driver`.
    unsafe extern "C" fn entry(
        raw_dev: *mut kernel::bindings::drm_device,
        raw_arg: *mut c_void,
        raw_file: *mut kernel::bindings::drm_file,
    ) -> c_int {
        // SAFETY: The core passes the device that this table was registered for. Ioctls run only on devices that have
        // been registered.
        let dev: &drm::Device<C::Driver, drm::Ioctl> = unsafe { drm::Device::from_raw(raw_dev) };

        let Some(guard) = dev.registration_guard() else {
            return ENODEV.to_errno();
        };

        // SAFETY: The core passes an exclusive buffer, aligned for `u64` at least, of `_IOC_SIZE(cmd)` bytes or more,
        // which is the size of the argument. Every bit pattern is valid for it.
        let arg = unsafe { &mut *raw_arg.cast::<C::Arg>() };
        // SAFETY: The file was opened through the file type of the same driver.
        let file = unsafe { drm::File::from_raw(raw_file) };

        match guard.registration_data_with(|reg| C::run(&guard, reg, arg, file)) {
            Ok(value) => value.try_into().unwrap_or(ERANGE.to_errno()),
            Err(error) => error.to_errno(),
        }
    }
}

/// A table of `N` slots.
pub struct Table<const N: usize>([DrmIoctlDescriptor; N]);

// SAFETY: The descriptors only point to static strings and functions.
unsafe impl<const N: usize> Sync for Table<N> {}

impl<const N: usize> Table<N> {
    /// Create an empty table.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self([const { pin_init::zeroed() }; N])
    }

    /// Add a command. The build fails if its number is out of range or taken.
    pub const fn with<C: Command>(mut self) -> Self {
        let slot = C::NR as usize;
        assert!(slot < N, "ioctl number outside of the table");
        assert!(self.0[slot].func.is_none(), "ioctl number used twice");
        assert!(_IOC_NR(Entry::<C>::DESCRIPTOR.cmd) == COMMAND_BASE + C::NR);
        assert!(size_of::<C::Arg>() < 1 << 14);
        assert!(align_of::<C::Arg>() <= 8);
        self.0[slot] = Entry::<C>::DESCRIPTOR;
        self
    }

    /// Return the slots, for `drm::Driver::IOCTLS`.
    pub const fn as_slice(&'static self) -> &'static [DrmIoctlDescriptor] {
        &self.0
    }
}

#[kunit_tests(lapidary_ioctl)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::{
        Driver,
        File, //
    };

    macro_rules! command {
        ($name:ident, $nr:expr, $direction:ident, $arg:ty) => {
            struct $name;

            impl Command for $name {
                type Driver = Driver;
                type Arg = $arg;
                const NR: u32 = $nr;
                const DIRECTION: Direction = Direction::$direction;
                const FLAGS: u32 = drm::ioctl::RENDER_ALLOW;
                const NAME: &'static CStr = c"KUNIT";

                fn run(
                    _dev: &drm::Device<Driver, Registered>,
                    _reg: &(),
                    _arg: &mut $arg,
                    _file: &drm::File<File>,
                ) -> Result<u32> {
                    Ok(0)
                }
            }
        };
    }

    command!(Second, 2, In, u64);
    command!(Fifth, 5, InOut, [u32; 4]);

    static TABLE: Table<7> = Table::new().with::<Second>().with::<Fifth>();

    #[test]
    fn numbers_sizes_and_directions() {
        let table = TABLE.as_slice();
        assert!(table.len() == 7);
        // As C's `_IOW('d', 0x42, u64)` and `_IOWR('d', 0x45, u32[4])`.
        assert!(table[2].cmd == 0x4008_6442);
        assert!(table[5].cmd == 0xc010_6445);
        assert!(table[5].flags == drm::ioctl::RENDER_ALLOW);
    }

    #[test]
    fn holes_are_empty() {
        for (nr, slot) in TABLE.as_slice().iter().enumerate() {
            assert!(slot.func.is_some() == (nr == 2 || nr == 5));
        }
    }
}
