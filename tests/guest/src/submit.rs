// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The CS ioctl's envelope: chunks of relocations, commands and flags.
//!
//! [`Envelope`] makes any envelope, also impossible ones: chunk lengths and pointers can be set
//! apart from the data behind them. [`Device::submit`] is the ordinary way.

use crate::abi::{self, CsChunk, CsReloc};
use crate::device::Device;
use crate::stream::Stream;
use rustix::io::Errno;
use zerocopy::IntoBytes;

/// One chunk: what the kernel is told, and the memory that the pointer shows.
#[derive(Clone, Debug)]
pub struct Chunk {
    id: u32,
    words: Vec<u32>,
    length: Option<u32>,
    pointer: Option<u64>,
}

impl Chunk {
    /// Return a chunk whose length and pointer are those of its words.
    pub fn new(id: u32, words: Vec<u32>) -> Chunk {
        Chunk {
            id,
            words,
            length: None,
            pointer: None,
        }
    }

    /// Return a chunk of commands.
    pub fn commands(words: &[u32]) -> Chunk {
        Chunk::new(abi::CHUNK_IB, words.to_vec())
    }

    /// Return a chunk of relocations.
    pub fn relocations(entries: &[CsReloc]) -> Chunk {
        let words = entries
            .iter()
            .flat_map(|e| [e.handle, e.read_domains, e.write_domain, e.flags])
            .collect();
        Chunk::new(abi::CHUNK_RELOCS, words)
    }

    /// Return a chunk of flags.
    pub fn flags(words: &[u32]) -> Chunk {
        Chunk::new(abi::CHUNK_FLAGS, words.to_vec())
    }

    /// Claim another length, in dwords.
    pub fn claim(mut self, length: u32) -> Chunk {
        self.length = Some(length);
        self
    }

    /// Point elsewhere.
    pub fn point_at(mut self, pointer: u64) -> Chunk {
        self.pointer = Some(pointer);
        self
    }
}

/// Return a chunk of a submission: wait for these.
pub fn before(entries: &[abi::Sync]) -> Chunk {
    chunk(abi::CHUNK_SYNC_IN, entries)
}

/// Return a chunk of a submission: signal these.
pub fn after(entries: &[abi::Sync]) -> Chunk {
    chunk(abi::CHUNK_SYNC_OUT, entries)
}

fn chunk(id: u32, entries: &[abi::Sync]) -> Chunk {
    let words = entries
        .iter()
        .flat_map(|e| [e.handle, e.flags, e.point as u32, (e.point >> 32) as u32])
        .collect();
    Chunk::new(id, words)
}

/// A whole argument of the CS ioctl.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    chunks: Vec<Chunk>,
    count: Option<u32>,
    pointers: Option<u64>,
    chunk_pointer: Option<(usize, u64)>,
    cs: abi::Cs,
}

impl Envelope {
    /// Return one without chunks.
    pub fn new() -> Envelope {
        Envelope::default()
    }

    /// Return one with these commands, and with the flags and the ring of a stream. It lists no objects.
    pub fn with_flags_of(stream: &Stream, commands: Chunk) -> Envelope {
        Envelope::new()
            .with(commands)
            .with(Chunk::flags(stream.flags()))
    }

    /// Return the ordinary one: relocations, commands, and the flags and the ring of the stream.
    pub fn of(stream: &Stream) -> Envelope {
        Envelope::new()
            .with(Chunk::relocations(stream.relocations()))
            .with(Chunk::commands(stream.words()))
            .with(Chunk::flags(stream.flags()))
    }

    /// Append a chunk.
    pub fn with(mut self, chunk: Chunk) -> Envelope {
        self.chunks.push(chunk);
        self
    }

    /// Claim another number of chunks.
    pub fn claim(mut self, count: u32) -> Envelope {
        self.count = Some(count);
        self
    }

    /// Show the kernel another array of pointers.
    pub fn point_at(mut self, pointers: u64) -> Envelope {
        self.pointers = Some(pointers);
        self
    }

    /// Show the kernel another chunk header in place of number `index`.
    pub fn chunk_pointer(mut self, index: usize, pointer: u64) -> Envelope {
        self.chunk_pointer = Some((index, pointer));
        self
    }

    /// Set the fields that the interface ignores.
    pub fn ignored_fields(mut self, cs_id: u32, gart_limit: u64, vram_limit: u64) -> Envelope {
        self.cs = abi::Cs {
            cs_id,
            gart_limit,
            vram_limit,
            ..self.cs
        };
        self
    }

    /// Issue the ioctl once; the kernel's own answer, `EAGAIN` included.
    pub fn submit(&self, device: &Device) -> Result<(), Errno> {
        let headers: Vec<CsChunk> = self
            .chunks
            .iter()
            .map(|chunk| CsChunk {
                chunk_id: chunk.id,
                length_dw: chunk.length.unwrap_or(chunk.words.len() as u32),
                chunk_data: chunk
                    .pointer
                    .unwrap_or(chunk.words.as_bytes().as_ptr() as u64),
            })
            .collect();
        let mut pointers: Vec<u64> = headers
            .iter()
            .map(|header| std::ptr::from_ref(header) as u64)
            .collect();
        if let Some((index, pointer)) = self.chunk_pointer {
            pointers[index] = pointer;
        }
        let mut cs = abi::Cs {
            num_chunks: self.count.unwrap_or(pointers.len() as u32),
            chunks: self.pointers.unwrap_or(pointers.as_ptr() as u64),
            ..self.cs
        };
        device.ioctl(abi::RADEON_CS, &mut cs).map(drop)
    }

    /// Issue the ioctl. `EAGAIN` is retried, as libdrm does, but not for ever: a driver that keeps saying it makes no
    /// progress.
    pub fn submit_again(&self, device: &Device) -> Result<(), Errno> {
        for _ in 0..1000 {
            match self.submit(device) {
                Err(Errno::AGAIN) => std::thread::yield_now(),
                answer => return answer,
            }
        }
        Err(Errno::AGAIN)
    }
}

impl Device {
    /// Submit a stream to its ring, as [`Envelope::submit_again`] does.
    pub fn submit(&self, stream: &Stream) -> Result<(), Errno> {
        Envelope::of(stream).submit_again(self)
    }
}
