// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `radeon` user-space interface, as numbers and layouts. [`uapi`] contains what upstream defines, [`additions`]
//! what this driver adds, and [`envelope`] which chunks of a submission are accepted.

pub mod additions;
pub mod envelope;
pub mod uapi;
