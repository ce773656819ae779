// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Kinds of misuse: the names that tests declare.
//!
//! Here are the kinds that any card can show. A family adds its own by [`kinds!`](crate::kinds), in a module that
//! re-exports these, so that its code finds all of them in one place.

use std::fmt;

/// What kind of misuse a finding is.
///
/// Kinds are ordered: these first, and within a list as it has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    order: u16,
    name: &'static str,
}

/// Where the order of a family's kinds begins.
pub const FAMILY: u16 = 0x100;

impl Kind {
    /// Return a kind, by its place in the order and its name. Use [`kinds!`](crate::kinds).
    pub const fn new(order: u16, name: &'static str) -> Kind {
        Kind { order, name }
    }

    /// Return the name that the control port and the report use.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Defines kinds as constants, and `ALL`, a list of them. The number before the list is the first one's place in the
/// order: [`FAMILY`](crate::kind::FAMILY) for those of a family.
#[macro_export]
macro_rules! kinds {
    ($first:expr; $($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        $($(#[doc = $doc])+
        pub const $name: $crate::kind::Kind = $crate::kind::Kind::new($first + Order::$name as u16, $text);)+

        /// All kinds of this list, in its order.
        pub const ALL: &[$crate::kind::Kind] = &[$($name,)+];

        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "named as the constants are")]
        enum Order { $($name,)+ }
    };
}

/// Return the names of a family's kinds that another kind has too, or that are not words of small letters and digits
/// with hyphens between them.
pub fn mistakes(family: &[Kind]) -> Vec<&'static str> {
    let all = || family.iter().chain(ALL).map(|kind| kind.name());
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    all()
        .filter(|name| !name.chars().all(letter) || all().filter(|other| other == name).count() > 1)
        .collect()
}

kinds! { 0;
    /// A register that the database does not know was read.
    UNDEFINED_REGISTER_READ = "undefined-register-read",
    /// A register that the database does not know was written.
    UNDEFINED_REGISTER_WRITE = "undefined-register-write",
    /// A register was touched at which hardware does something that the model does not; once for each. This is a gap
    /// of the model, and what the driver made of the answer is worth nothing.
    UNIMPLEMENTED_REGISTER = "unimplemented-register",
    /// A register that can only be read was written.
    READ_ONLY_REGISTER_WRITE = "read-only-register-write",
    /// A register access that is not a dword (except where bytes are usual) or not aligned.
    REGISTER_ACCESS_SIZE = "register-access-size",
    /// The CPU accessed registers or memory of a function that is not in the power state D0.
    POWER_STATE = "power-state",
    /// A bus address that is not guest RAM.
    DMA_FAULT = "dma-fault",
    /// The device had to go to the bus while bus mastering was off.
    BUS_MASTER_OFF = "bus-master-off",
    /// An engine touched memory outside of all objects that the test declared.
    OUTSIDE_OBJECTS = "outside-objects",
    /// A CPU access to VRAM beyond its end.
    VRAM_RANGE = "vram-range",
}

#[cfg(test)]
mod tests {
    use super::{Kind, mistakes};

    #[test]
    fn names_are_distinct_words() {
        assert_eq!(mistakes(&[]), [""; 0]);
        let own = ["ring", "no ring", "dma-fault", "ring"].map(|name| Kind::new(0, name));
        let found = mistakes(&own);
        assert_eq!(found, ["ring", "no ring", "dma-fault", "ring", "dma-fault"]);
    }
}
