// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A command stream under construction: dwords, and the list of the objects that they use.
//!
//! A family whose clients have no address spaces relocates. User space does not know GPU addresses. Where one belongs
//! it writes an offset inside an object, and directly after the packet a NOP packet whose one dword says which entry of
//! the list (in dwords, so entry × 4) names the object. The kernel adds the object's address.
//!
//! Where clients have address spaces ([`abi::CS_USE_VM`]), user space maps objects and writes their addresses. The
//! kernel leaves the words alone, and takes from the list which objects the job uses.

use crate::abi::{self, CsReloc};
use crate::bo::Bo;
use crate::pm4;

/// What the GPU may do with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it.
    Read,
    /// Write it (and read it).
    Write,
}

/// Commands, and the objects that they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    words: Vec<u32>,
    relocations: Vec<CsReloc>,
    flags: [u32; 2],
}

impl Default for Stream {
    fn default() -> Stream {
        Stream::on(abi::CS_KEEP_TILING, abi::RING_GFX)
    }
}

impl Stream {
    /// Return an empty one, for the graphics ring, whose tiling bits are kept as they are.
    pub fn new() -> Stream {
        Stream::default()
    }

    /// Return an empty one for any ring (`RING_*`), with any flags (`CS_*`).
    pub fn on(flags: u32, ring: u32) -> Stream {
        Stream {
            words: Vec::new(),
            relocations: Vec::new(),
            flags: [flags, ring],
        }
    }

    /// Return its flags and its ring, as the flags chunk has them.
    pub fn flags(&self) -> &[u32] {
        &self.flags
    }

    /// Return the commands so far.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Return whether addresses are those of the client's address space.
    pub fn is_virtual(&self) -> bool {
        self.flags[0] & abi::CS_USE_VM != 0
    }

    /// Return the entries of the list of objects (the relocation chunk) so far.
    pub fn relocations(&self) -> &[CsReloc] {
        &self.relocations
    }

    /// Return the dwords so far.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Return true before the first dword.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Append one dword as it is.
    pub fn word(&mut self, word: u32) -> &mut Self {
        self.words.push(word);
        self
    }

    /// Append dwords as they are.
    pub fn extend(&mut self, words: &[u32]) -> &mut Self {
        self.words.extend_from_slice(words);
        self
    }

    /// Write one register.
    pub fn register(&mut self, offset: u32, value: u32) -> &mut Self {
        self.registers(offset, &[value])
    }

    /// Write consecutive registers.
    pub fn registers(&mut self, offset: u32, values: &[u32]) -> &mut Self {
        self.word(pm4::packet0(offset, values.len())).extend(values)
    }

    /// Append a type 3 packet.
    pub fn packet(&mut self, opcode: u8, body: &[u32]) -> &mut Self {
        self.word(pm4::packet3(opcode, body.len())).extend(body)
    }

    /// Enter an object into the relocation chunk, once, and say its dword index there.
    pub fn entry(&mut self, bo: &Bo, access: Access) -> u32 {
        let bits = bo.domain().bits();
        let (read, write) = match access {
            Access::Read => (bits, 0),
            Access::Write => (0, bits),
        };
        if let Some(i) = self
            .relocations
            .iter()
            .position(|entry| entry.handle == bo.handle())
        {
            self.relocations[i].read_domains |= read;
            self.relocations[i].write_domain |= write;
            return i as u32 * 4;
        }
        self.raw_entry(CsReloc {
            handle: bo.handle(),
            read_domains: read,
            write_domain: write,
            flags: 0,
        })
    }

    /// Enter a relocation as it is, and say its dword index.
    pub fn raw_entry(&mut self, entry: CsReloc) -> u32 {
        self.relocations.push(entry);
        (self.relocations.len() as u32 - 1) * 4
    }

    /// Enter `bo` in the list, and return its address in the client's address space.
    ///
    /// # Panics
    ///
    /// If the stream's addresses are not virtual, or the object could not be mapped.
    pub fn address(&mut self, bo: &Bo, access: Access) -> u64 {
        assert!(self.is_virtual(), "addresses in a stream that relocates");
        self.entry(bo, access);
        let address = bo.address().expect("the object is mapped");
        address.expect("the painter maps objects")
    }

    /// Mark the packet before as one that names `bo`.
    ///
    /// # Panics
    ///
    /// If the stream's addresses are virtual. The kernel would not look at the marker.
    pub fn relocation(&mut self, bo: &Bo, access: Access) -> &mut Self {
        assert!(
            !self.is_virtual(),
            "a relocation in a stream with addresses"
        );
        let index = self.entry(bo, access);
        self.marker(index)
    }

    /// Append a relocation marker with any index.
    pub fn marker(&mut self, index: u32) -> &mut Self {
        self.packet(pm4::NOP, &[index])
    }

    /// Fill up with type 2 packets to a multiple of `unit` dwords.
    pub fn pad(&mut self, unit: usize) -> &mut Self {
        while self.words.len() % unit != 0 {
            self.words.push(pm4::PACKET2);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_name_entries_in_dwords() {
        let mut stream = Stream::new();
        let first = stream.raw_entry(CsReloc {
            handle: 7,
            ..Default::default()
        });
        let second = stream.raw_entry(CsReloc {
            handle: 8,
            ..Default::default()
        });
        assert_eq!((first, second), (0, 4));
        stream.marker(second);
        assert_eq!(stream.words(), [0xc000_1000, 4]);
    }

    #[test]
    fn padding_fills_up() {
        let mut stream = Stream::new();
        stream.pad(8);
        assert!(stream.is_empty());
        stream.packet(pm4::NOP, &[1, 2]).pad(8);
        assert_eq!(stream.len(), 8);
        assert_eq!(stream.words()[3..], [pm4::PACKET2; 5]);
    }
}
