// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What programs need that talk to a `chrome9` device as user space: in the guest beside the device model, or on a
//! machine with the real chip.
//!
//! - [`abi`], [`device`], [`bo`]: the kernel interface (`uapi/drm/chrome9_drm.h`), typed.
//! - [`submit`]: submissions, well formed or deliberately not.
//! - [`stream`]: streams of the command regulator, with relocations.
//! - [`blit`]: what the 2D engine can be told, as data. [`emit`] makes a stream of it, [`reference`] draws it by the
//!   CPU. The two have nothing in common but the description.
//! - [`reason`]: why a submission is refused.
//!
//! Registers come from the register database by name. The layouts and numbers of the interface are user space's own
//! reading of the header. Nothing is shared with the driver, so a wrong number on either side fails a test.

pub mod abi;
pub mod blit;
pub mod bo;
pub mod device;
pub mod emit;
pub mod reason;
pub mod reference;
pub mod stream;
pub mod submit;

pub use bo::Bo;
pub use device::{Client, Device, Place};
pub use rustix::io::Errno;
pub use stream::Stream;
pub use submit::Submission;
