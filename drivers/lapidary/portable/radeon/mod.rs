// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `radeon` user-space interface, as numbers and layouts. [`uapi`] contains what upstream defines, [`additions`]
//! what this driver adds, and [`envelope`] which chunks of a submission are accepted.

/// Defines a structure that is exchanged with user space.
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

pub mod additions;
pub mod envelope;
pub mod uapi;
