// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `radeon` user-space interface, as numbers and layouts: what upstream defines ([`uapi`]), what we add to it
//! ([`additions`]), and which chunks of a submission are taken ([`envelope`]).

pub mod additions;
pub mod envelope;
pub mod uapi;
