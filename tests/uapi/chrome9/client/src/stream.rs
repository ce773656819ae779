// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams of the command regulator.
//!
//! The regulator fetches 16 bytes at a time, and looks for a header at each such unit. A header has four dwords: its code,
//! how many dwords or pairs follow, and two that these headers do not use. What follows is padded to a whole unit with
//! null dwords (decision 2 of the register database).
//!
//! | header | what follows |
//! | --- | --- |
//! | `REGISTERS_2D` | pairs of a register's offset and its value |
//! | `HOST_DATA_2D` | pixels for a blit whose source is the CPU |
//! | `VIDEO_REGISTERS` | pairs of the offset of a register of HQV and its value |
//! | `PARAMETERS` | parameters of the 3D engine, of one type, up to the next header |
//!
//! A value that is an address has zeroes in its address bits, and a relocation.

use crate::abi::{Object, Relocation};
use crate::bo::Bo;
use lapidary_registers::chrome9::header;
use lapidary_registers::chrome9::mmio::{self, cr_setting};

/// A dword without effect.
pub const NULL: u32 = 0xcc00_0000;
/// Dwords that the regulator fetches at once.
pub const UNIT: usize = 4;
/// Bits 31:24 of a header.
const HEADER: u32 = 0xfe00_0000;
/// Where a header's code is.
const CODE: u32 = 16;

/// A place in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Handle of the object.
    pub handle: u32,
    /// Bytes from its beginning.
    pub offset: u32,
}

/// A write of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Its offset.
    pub register: u32,
    /// The value, without the address.
    pub value: u32,
    /// The address that belongs into the value.
    pub address: Option<Address>,
}

impl Write {
    /// Return a write of a value.
    pub const fn new(register: u32, value: u32) -> Write {
        Write {
            register,
            value,
            address: None,
        }
    }

    /// Return a write of an address.
    pub const fn address(register: u32, address: Address) -> Write {
        Write {
            register,
            value: 0,
            address: Some(address),
        }
    }
}

/// A parameter of the 3D engine. Such types have a sub-address in bits 31:24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its sub-address.
    pub sub_address: u32,
    /// The rest, without what belongs to an address.
    pub value: u32,
    /// The address of which a part or the location belongs into it.
    pub address: Option<Address>,
}

impl Parameter {
    /// Return a parameter with a part of an address.
    pub const fn address(sub_address: u32, address: Address) -> Parameter {
        Parameter {
            sub_address,
            value: 0,
            address: Some(address),
        }
    }
}

/// Where a parameter's sub-address is.
const SUB_ADDRESS: u32 = 24;

/// Return the first two dwords of a header.
pub const fn header(code: u32, count: u32) -> [u32; 2] {
    [HEADER | (code << CODE), count]
}

/// A stream under construction: dwords, objects, and where the dwords name the objects.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    words: Vec<u32>,
    objects: Vec<Object>,
    relocations: Vec<Relocation>,
}

impl Stream {
    /// Return an empty stream.
    pub fn new() -> Stream {
        Stream::default()
    }

    /// Return a stream of one unit without effect.
    pub fn nothing() -> Stream {
        let mut stream = Stream::new();
        stream.raw(&[NULL; UNIT]);
        stream
    }

    /// Return the dwords.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Return the objects in the order of their first use.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Return the relocations, sorted.
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations
    }

    /// Return the index of an object in the list. It is added if it is new there.
    pub fn object(&mut self, handle: u32) -> u32 {
        let known = self.objects.iter().position(|o| o.handle == handle);
        known.unwrap_or_else(|| {
            self.objects.push(Object {
                handle,
                reserved: 0,
            });
            self.objects.len() - 1
        }) as u32
    }

    /// List an object that the stream does not name.
    pub fn list(&mut self, bo: &Bo) {
        self.object(bo.handle());
    }

    /// Append writes of registers of the 2D engine.
    pub fn registers(&mut self, writes: &[Write]) {
        self.pairs(header::REGISTERS_2D, writes);
    }

    /// Append writes of registers of HQV, at the places where streams have them.
    pub fn video(&mut self, writes: &[Write]) {
        self.pairs(header::VIDEO_REGISTERS, writes);
    }

    fn pairs(&mut self, code: u32, writes: &[Write]) {
        self.begin(code, writes.len());
        for write in writes {
            self.words.extend([write.register, write.value]);
            self.relocate(write.address);
        }
        self.end();
    }

    /// Append parameters of a type for the 3D engine.
    pub fn parameters(&mut self, kind: u32, parameters: &[Parameter]) {
        let space = mmio::SPACE_3D.base();
        self.words.extend([
            HEADER | (header::PARAMETERS << CODE) | space,
            mmio::SETTING_3D,
            cr_setting::HPARATYPE.of(kind),
            0,
        ]);
        for parameter in parameters {
            self.words
                .push((parameter.sub_address << SUB_ADDRESS) | parameter.value);
            self.relocate(parameter.address);
        }
        self.end();
    }

    /// Let the last dword take an address.
    fn relocate(&mut self, address: Option<Address>) {
        let Some(Address { handle, offset }) = address else {
            return;
        };
        let object = self.object(handle);
        self.relocations.push(Relocation {
            dword: self.words.len() as u32 - 1,
            object,
            offset,
            field: 0,
        });
    }

    /// Append data for the 2D engine.
    pub fn host_data(&mut self, words: &[u32]) {
        self.begin(header::HOST_DATA_2D, words.len());
        self.words.extend(words);
        self.end();
    }

    /// Append dwords as they are.
    pub fn raw(&mut self, words: &[u32]) {
        self.words.extend(words);
    }

    /// Append another stream.
    pub fn append(&mut self, other: &Stream) {
        let base = self.words.len() as u32;
        self.words.extend(&other.words);
        for relocation in &other.relocations {
            let handle = other.objects[relocation.object as usize].handle;
            let object = self.object(handle);
            self.relocations.push(Relocation {
                dword: base + relocation.dword,
                object,
                ..*relocation
            });
        }
    }

    fn begin(&mut self, code: u32, count: usize) {
        self.words.extend(header(code, count as u32));
        self.words.extend([0; 2]);
    }

    fn end(&mut self) {
        let whole = self.words.len().next_multiple_of(UNIT);
        self.words.resize(whole, NULL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_padded_to_whole_units() {
        let mut stream = Stream::new();
        stream.registers(&[Write::new(4, 7)]);
        stream.host_data(&[1, 2, 3, 4, 5]);
        assert_eq!(
            stream.words(),
            [
                0xfe00_0000,
                1,
                0,
                0,
                4,
                7,
                NULL,
                NULL,
                0xfe01_0000,
                5,
                0,
                0,
                1,
                2,
                3,
                4,
                5,
                NULL,
                NULL,
                NULL
            ]
        );
    }

    #[test]
    fn relocations_are_sorted_and_name_objects_by_position() {
        let at = |handle, offset| Address { handle, offset };
        let mut stream = Stream::new();
        stream.registers(&[
            Write::address(0x14, at(9, 8)),
            Write::address(0x1c, at(5, 0)),
        ]);
        let mut other = Stream::new();
        other.registers(&[Write::address(0x14, at(5, 16))]);
        stream.append(&other);
        let handles: Vec<_> = stream.objects().iter().map(|o| o.handle).collect();
        assert_eq!(handles, [9, 5]);
        let relocations: Vec<_> = stream
            .relocations()
            .iter()
            .map(|r| (r.dword, r.object, r.offset))
            .collect();
        assert_eq!(relocations, [(5, 0, 8), (7, 1, 0), (13, 1, 16)]);
    }
}
