// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Why a submission is refused: a number for programs, and a text for people.
//!
//! User space receives both. The meaning of a number never changes. The text may change. The number shows which step
//! refuses:
//!
//! | numbers | step |
//! | --- | --- |
//! | 0x001 to 0x0ff | the client itself, before its submission is read |
//! | 0x100 to 0x1ff | the envelope: the user-space interface's |
//! | 0x200 to 0x2ff | an object that the submission names |
//! | 0x300 to 0x3ff | the fences that it waits for and signals |
//! | from 0x1000 on | a command, by the family's checker. Reasons that all packet checkers share are in `pm4::reason` |
//!
//! The reasons of the generic driver are below.

/// The position of a refusal that concerns no part of a submission.
pub const NO_POSITION: u32 = u32::MAX;

/// Why a submission is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Never 0.
    pub number: u32,
    /// A few words in ASCII.
    pub text: &'static str,
}

/// Defines the reasons of the generic driver.
macro_rules! reasons {
    ($($(#[$meta:meta])* $name:ident = $number:literal $text:literal;)*) => {
        impl Reason {
            $(
                $(#[$meta])*
                pub const $name: Self = Self::new($number, $text);
            )*

            /// All of the above.
            pub const GENERIC: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

impl Reason {
    /// Make a reason with this number and text.
    pub const fn new(number: u32, text: &'static str) -> Self {
        Self { number, text }
    }
}

reasons! {
    /// The file's submissions have hung the GPU.
    BANNED = 0x001 "submissions of this file have hung the GPU";
    /// The process, or others of its user, have hung the GPU too often in the last minutes.
    HUNG_TOO_OFTEN = 0x002 "this process or its user has hung the GPU too often";
    /// No object has the handle.
    NO_OBJECT = 0x204 "no object has this handle";
    /// No synchronisation object has the handle.
    NO_SYNCOBJ = 0x301 "no synchronisation object has this handle";
    /// No submission has been made that would signal the object, or the point on its timeline.
    NOT_SUBMITTED = 0x302 "nothing submitted would signal this object or point";
    /// Flags of an entry that do not exist.
    SYNC_FLAGS = 0x303 "unknown flags of a synchronisation object";
    /// Two entries signal one handle.
    SIGNALLED_TWICE = 0x304 "a handle is to be signalled twice";
    /// A fence that the submission waits for did not signal in time.
    NOT_SIGNALLED = 0x305 "a synchronisation object did not signal in time";
}
