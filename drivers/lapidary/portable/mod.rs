// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Portable code that all families share.
//!
//! It contains bit fields, ring arithmetic, dword writers, heaps, page table entries, the video BIOS, what a display
//! reads and the radeon uAPI. It decides where objects are placed, which free memory is zero, which registers a stream may write, why a
//! submission is refused, how engine time is divided, which jobs a reset executes again, how often a process may hang
//! the GPU, how long a submission waits for work of others, when the chip must be made neutral, and what is dropped together.
//!
//! The same source is compiled into the kernel module and into a host library, where tests, fuzzing and benchmarks
//! run in milliseconds. So it uses `core` only: no allocation, no kernel types, no `unsafe`, buffers that the caller
//! owns, error types of its own. It cannot panic. A host test fails if the compiled object refers to
//! `core::panicking`.

#![forbid(unsafe_code)]

/// Defines a structure that is exchanged with user space.
#[macro_export]
macro_rules! uapi {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty),* $(,)? })*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(
                Clone,
                Copy,
                Debug,
                PartialEq,
                Eq,
                zerocopy_derive::FromBytes,
                zerocopy_derive::IntoBytes,
                zerocopy_derive::Immutable,
                zerocopy_derive::KnownLayout,
            )]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $ty,)*
            }
        )*
    };
}

pub mod atom;
pub mod bits;
pub mod bunch;
pub mod busy;
pub mod hangs;
pub mod heap;
pub mod mapping;
pub mod numbers;
pub mod others;
pub mod placement;
pub mod pm4;
pub mod policy;
pub mod radeon;
pub mod reason;
pub mod replay;
pub mod residue;
pub mod ring;
pub mod scanout;
pub mod sink;
pub mod zeroed;
