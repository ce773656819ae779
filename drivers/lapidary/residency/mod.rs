// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where objects are, and how they move.
//!
//! Creating, clearing and moving objects puts commands of the kernel on a ring. So this folder is above
//! [`crate::submit`]. Objects and managers ([`crate::memory`]) do not depend on it.
//!
//! - [`create`]: objects are created, and the ring clears them;
//! - [`moves`]: an object moves from VRAM to system pages or back;
//! - [`evict`]: which objects are evicted for another;
//! - [`to_vram`]: objects that should be in VRAM move there;
//! - [`reclaim`]: the system needs pages back;
//! - `hooks`: page faults, sharing with other drivers, the release of an object.
//!
//! A page fault calls downwards: the hook, a move, the kernel's stream, the job. A submission calls downwards, too:
//! the user-space interface moves the objects to VRAM between locking and placing them.

pub mod create;
pub(crate) mod evict;
mod hooks;
pub mod moves;
pub mod reclaim;
pub mod to_vram;
