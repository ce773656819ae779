// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Prints PM4 command streams by name.
//!
//! A stream is packets one after the other (R5xx chapter 5): a header dword, whose two highest bits are the packet's
//! type, and a body. [`decode_stream`] turns it into one [`Line`] per dword, in order: where it is, its number, and
//! what it means. Every name comes from the register database of the family, which the caller gives. Of a family whose
//! commands are no PM4 packets, each dword is a line by itself.
//!
//! [`decode_engine`] does the same for a stream of another engine of the chip, whose packets are in the database, too.
//! Headers of such packets do not say how long the body is; the decoder reads it from the packet's description.
//!
//! Where a packet writes registers, each of its dwords is shown as the register that it goes to. If a register has
//! several layouts and another register says which one counts, the decoder looks for that in the same packet, before or
//! behind the dword.
//!
//! A decoder is mostly needed when something is wrong, so nothing in a stream can stop it. What does not fit is marked
//! with `!!` in the line where it shows, and decoding continues with the next dword. Each dword is consumed exactly
//! once.
//!
//! Lines hold references and numbers; text is made only when a line is displayed. That keeps tracing affordable.
//!
//! ```
//! use lapidary_decoder::{Options, decode_stream};
//! use lapidary_registers::r500::DATABASE;
//!
//! let stream = [0x0000_05c8, 0x0005_0000, 0x8000_0000];
//! let lines = decode_stream(&DATABASE, &stream, Options::default());
//! let text: Vec<String> = lines.map(|l| l.to_string()).collect();
//! assert_eq!(text, [
//!     "00000000: 000005c8  type 0: 1 dword to WAIT_UNTIL",
//!     "00000004: 00050000    WAIT_UNTIL = 0x00050000 { WAIT_2D_IDLECLEAN=1 WAIT_HOST_IDLECLEAN=1 }",
//!     "00000008: 80000000  type 2: filler",
//! ]);
//! ```

mod body;
pub mod dump;
pub mod input;
pub mod isa;
mod line;
pub mod regulator;
mod stream;

pub use line::{Line, Note};
pub use stream::{Decoder, Options, Ring, decode_engine, decode_stream};

use lapidary_registers::{Database, Domain};

/// Return the lines of one packet, or of several; addresses count from zero.
pub fn packet(database: &'static Database, words: &[u32]) -> Vec<String> {
    decode_stream(database, words, Options::default())
        .map(|line| line.to_string())
        .collect()
}

/// Direction of an access to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The CPU reads.
    Read,
    /// The CPU writes.
    Write,
}

/// Describe one access of the CPU to a register of the aperture, by name: `R RBBM_STATUS = 0x00000040 { … }`.
///
/// `offset` is in bytes.
pub fn mmio_access(database: &Database, access: Access, offset: u32, value: u32) -> String {
    let direction = match access {
        Access::Read => 'R',
        Access::Write => 'W',
    };
    format!(
        "{direction} {}",
        database.describe(Domain::MMIO, offset, value)
    )
}
