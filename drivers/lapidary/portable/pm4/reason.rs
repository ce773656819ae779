// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Why a stream of packets is refused, whichever family it is for.
//!
//! The numbers of these reasons are the same for all families and are shown to user space (see
//! [`portable::reason`](crate::portable::reason)). A family adds its own with [`pm4_reasons!`](crate::pm4_reasons).

/// Define an enum of reasons, with numbers and texts in one place.
macro_rules! faults {
    ($($name:ident = $number:literal: $text:literal,)*) => {
        /// What is wrong with a stream.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $(#[doc = $text] $name,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Return the number for user space. No family ever uses it for another reason.
            pub const fn number(self) -> u32 {
                match self {
                    $(Self::$name => $number,)*
                }
            }

            /// Return a few words for a log line.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

faults! {
    // The caller's buffers.
    TooManyFixups = 0x1001: "fixup buffer too short",

    // Packets.
    Truncated = 0x1002: "packet longer than the rest of the stream",
    ReservedHeaderBits = 0x1003: "reserved bits set in a packet header",
    Type1 = 0x1004: "type-1 packet",
    UnknownPacket = 0x1005: "unknown type-3 packet",
    ForbiddenPacket = 0x1006: "type-3 packet that streams may not contain",
    PacketLength = 0x1008: "length of a packet does not fit its contents",

    // Relocations.
    MissingRelocation = 0x1012: "address without a relocation marker behind its packet",
    BadRelocation = 0x1013: "relocation marker that names no entry",
    OffsetBeyondObject = 0x1014: "offset beyond the end of the object",
}

/// Define a family's `Reason`. First stand the names of [`Fault`], which has their numbers and texts, then the family's
/// own names with numbers and texts.
#[macro_export]
macro_rules! pm4_reasons {
    (
        common: $($common:ident)*;
        $($(#[$meta:meta])* $name:ident = $number:literal: $text:literal,)*
    ) => {
        /// What is wrong with a command stream.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $(#[doc = concat!("As [`Fault::", stringify!($common), "`](")]
            #[doc = concat!("lapidary::portable::pm4::Fault::", stringify!($common), ").")]
            $common,)*
            $($(#[$meta])* #[doc = $text] $name,)*
        }

        impl Reason {
            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$common,)* $(Self::$name,)*];

            /// Return the number for user space. A number is never used for another reason.
            pub const fn number(self) -> u32 {
                match self {
                    $(Self::$common => $crate::portable::pm4::Fault::$common.number(),)*
                    $(Self::$name => $number,)*
                }
            }

            /// Return a few words for a log line.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$common => $crate::portable::pm4::Fault::$common.text(),)*
                    $(Self::$name => $text,)*
                }
            }
        }

        impl From<$crate::portable::pm4::Fault> for Reason {
            #[inline]
            fn from(fault: $crate::portable::pm4::Fault) -> Self {
                match fault {
                    $($crate::portable::pm4::Fault::$common => Self::$common,)*
                }
            }
        }
    };
}
