// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Bindings generated from `extra.h`, on top of `kernel::bindings`.

#![allow(
    clippy::all,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    improper_ctypes,
    unreachable_pub,
    unsafe_op_in_unsafe_fn
)]
#![allow(
    clippy::as_underscore,
    clippy::ptr_as_ptr,
    clippy::ref_as_ptr,
    clippy::undocumented_unsafe_blocks
)]

use kernel::{
    bindings::*,
    ffi, //
};

include!(concat!(
    env!("LAPIDARY_GENERATED"),
    "/corner/extra_generated.rs"
));
