// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What programs need that talk to a `radeon` device as user space: in the guest beside the device
//! model, or on a machine with the real card.
//!
//! - [`abi`], [`device`], [`bo`]: the kernel interface (`radeon` ioctls), typed.
//! - [`pm4`], [`stream`], [`submit`]: command streams with relocations, and the CS
//!   envelope around them, well formed or deliberately not.
//! - [`painter`], [`territory`]: what a family supplies for tests that hold for every family, and tests' use of it.
//!
//! No family's engines are known here; they are in `lapidary_engines`. What every driver's tests need, and the harness that judges them, is in `lapidary_harness`.
//!
//! The layouts and encodings here are user space's own reading of the public interface; nothing is
//! shared with the driver, so that a wrong number on either side shows up as a failing test.

pub mod abi;
pub mod bo;
pub mod device;
pub mod painter;
pub mod pm4;
pub mod stream;
pub mod submit;
pub mod territory;

pub use bo::Bo;
pub use device::{Client, Device, Domain, on_upstream};
pub use rustix::io::Errno;
pub use stream::Stream;
