// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Ports: how command tables reach registers behind an index and data window.
//!
//! The data table `IndirectIOAccess` is a list of small programs, one for reading and one for writing through each
//! port. A program composes a word and writes it to real registers. It can clear and set bits of the word, take bits
//! from the index or the data of the access into it, write it to a register, or load it from one. A read returns the
//! word at the end. Numbers are those of `atom.h` in Linux; the programs are reached through the I/O BAR if the
//! card has one.

/// Ports by their public numbers.
pub mod number {
    /// The memory controller.
    pub const MC: u8 = 2;
    /// The PCI Express block.
    pub const PCIE: u8 = 3;
}

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The word comes from a register, by byte offset.
    Read(u32),
    /// The word goes to a register.
    Write(u32),
    /// So many bits of the word become 0, from a bit on.
    Clear(u8, u8),
    /// So many bits of the word become 1, from a bit on.
    Set(u8, u8),
    /// So many bits of the index, from its bit 0, go into the word, from a bit on.
    Index(u8, u8),
    /// The same with the data of a write.
    Data(u8, u8),
}

pub(super) mod op {
    pub const NOP: u8 = 0;
    pub const START: u8 = 1;
    pub const READ: u8 = 2;
    pub const WRITE: u8 = 3;
    pub const CLEAR: u8 = 4;
    pub const SET: u8 = 5;
    pub const INDEX: u8 = 6;
    pub const DATA: u8 = 8;
    pub const END: u8 = 9;
    /// Bytes of each operation.
    pub const LENGTHS: [usize; 10] = [1, 2, 3, 3, 3, 3, 4, 4, 4, 3];
}

/// Set in the number of the program that writes.
pub(super) const WRITES: u8 = 0x80;

/// How one port is used.
pub struct Port {
    /// Its number, see [`number`].
    pub number: u8,
    /// The program that reads.
    pub read: Vec<Step>,
    /// The program that writes.
    pub write: Vec<Step>,
}

/// Return the list of programs, without a table header.
pub fn assemble(ports: &[Port]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for port in ports {
        for (number, steps) in [
            (port.number, &port.read),
            (port.number | WRITES, &port.write),
        ] {
            bytes.extend_from_slice(&[op::START, number]);
            for step in steps {
                match *step {
                    Step::Read(at) => register(&mut bytes, op::READ, at),
                    Step::Write(at) => register(&mut bytes, op::WRITE, at),
                    Step::Clear(size, to) => bytes.extend_from_slice(&[op::CLEAR, size, to]),
                    Step::Set(size, to) => bytes.extend_from_slice(&[op::SET, size, to]),
                    Step::Index(size, to) => bytes.extend_from_slice(&[op::INDEX, size, 0, to]),
                    Step::Data(size, to) => bytes.extend_from_slice(&[op::DATA, size, 0, to]),
                }
            }
            bytes.extend_from_slice(&[op::END, 0, 0]);
        }
    }
    bytes.push(op::NOP);
    bytes
}

fn register(bytes: &mut Vec<u8>, operation: u8, offset: u32) {
    let index = u16::try_from(offset / 4).expect("registers lie below 256 KiB");
    bytes.push(operation);
    bytes.extend_from_slice(&index.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_their_public_encoding() {
        let bytes = assemble(&[Port {
            number: 2,
            read: vec![
                Step::Clear(32, 0),
                Step::Index(16, 0),
                Step::Write(0x70),
                Step::Read(0x74),
            ],
            write: vec![Step::Set(8, 16), Step::Data(32, 0), Step::Write(0x74)],
        }]);
        let expected: &[u8] = &[
            1, 2, 4, 32, 0, 6, 16, 0, 0, 3, 0x1c, 0, 2, 0x1d, 0, 9, 0, 0, //
            1, 0x82, 5, 8, 16, 8, 32, 0, 0, 3, 0x1d, 0, 9, 0, 0, //
            0,
        ];
        assert_eq!(bytes, expected);
    }
}
