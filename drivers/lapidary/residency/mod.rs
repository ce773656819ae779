// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where objects are, and how they get there.
//!
//! Making, clearing and moving objects puts commands of the kernel on a ring. So this is above [`crate::submit`], and
//! objects and managers ([`crate::memory`]) know nothing of it.
//!
//! - [`create`]: objects come into being, and the ring clears them;
//! - [`moves`]: an object goes from VRAM to system pages or back;
//! - [`evict`]: which objects make room for another;
//! - [`to_vram`]: objects that should be in VRAM go there;
//! - [`reclaim`]: the system wants pages back;
//! - `hooks`: page faults, sharing with other drivers, the end of an object.
//!
//! A page fault walks down: the hook, a move, the kernel's stream, the job. A submission walks down as well: the
//! user-space interface brings the objects home between locking and placing them.

pub mod create;
pub(crate) mod evict;
mod hooks;
pub mod moves;
pub mod reclaim;
pub mod to_vram;
