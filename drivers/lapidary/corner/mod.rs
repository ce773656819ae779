// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The unsafe corner: safe abstractions over C interfaces that `kernel` does not wrap in 7.3.
//!
//! Nothing outside this folder calls raw bindings. Each file is one abstraction, written so that its users
//! need no `unsafe`.

pub mod extend;
#[doc(hidden)]
pub mod extra;
