// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What programs need that talk to a `radeon` device as user space: in the guest beside the device
//! model, or on a machine with the real card.
//!
//! - [`abi`], [`device`], [`bo`]: the kernel interface (DRM core and the `radeon` ioctls), typed.
//! - [`pm4`], [`stream`], [`draw2d`], [`submit`]: command streams with relocations, and the CS
//!   envelope around them, well formed or deliberately not.
//! - [`syncobj`]: synchronisation objects.
//! - [`machine`]: putting the machine to sleep.
//! - [`control`], [`kmsg`], [`sysfs`], [`uevent`]: what a test can see from outside the interface:
//!   the device model's control port (absent on real hardware), the kernel log, driver binding, what
//!   udev is told.
//! - [`injection`]: allocations that fail on purpose.
//! - [`foreign`]: other drivers that share memory and fences with the GPU: vgem and udmabuf.
//! - [`harness`], [`child`]: registered tests, each in a process of its own with a time limit,
//!   judged by what it declared to provoke.
//!
//! The layouts and encodings here are user space's own reading of the public interface; nothing is
//! shared with the driver, so that a wrong number on either side shows up as a failing test.

pub mod abi;
pub mod bo;
pub mod child;
pub mod control;
pub mod device;
pub mod draw2d;
pub mod draw3d;
pub mod foreign;
pub mod harness;
pub mod injection;
pub mod kmsg;
pub mod limit;
pub mod machine;
pub mod pm4;
pub mod stream;
pub mod submit;
pub mod syncobj;
pub mod sysfs;
pub mod territory;
pub mod uevent;

pub use bo::{Bo, Mapping};
pub use device::{Device, Domain};
pub use rustix::io::Errno;
pub use stream::Stream;
