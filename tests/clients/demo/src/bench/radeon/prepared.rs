// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A submission whose ioctl argument lies ready, so that next to nothing of user space is measured with it.

use lapidary_guest::abi::{self, Cs, CsChunk, CsReloc};
use lapidary_guest::{Device, Errno};
use zerocopy::IntoBytes;

/// A submission, ready to be made any number of times.
pub struct Prepared {
    // What the argument points to; none of it moves or changes.
    _data: Box<(Vec<u32>, Vec<CsReloc>, [u32; 2])>,
    _chunks: Box<[CsChunk; 3]>,
    pointers: Box<[u64; 3]>,
}

impl Prepared {
    /// Prepare commands `words` and objects `entries`, with flags for a ring.
    pub fn new(words: &[u32], entries: &[CsReloc], flags: [u32; 2]) -> Prepared {
        let data = Box::new((words.to_vec(), entries.to_vec(), flags));
        let chunk = |chunk_id, bytes: &[u8]| CsChunk {
            chunk_id,
            length_dw: (bytes.len() / 4) as u32,
            chunk_data: bytes.as_ptr() as u64,
        };
        let chunks = Box::new([
            chunk(abi::CHUNK_IB, data.0.as_bytes()),
            chunk(abi::CHUNK_RELOCS, data.1.as_bytes()),
            chunk(abi::CHUNK_FLAGS, data.2.as_bytes()),
        ]);
        let pointers = Box::new([0, 1, 2].map(|i| std::ptr::from_ref(&chunks[i]) as u64));
        Prepared {
            _data: data,
            _chunks: chunks,
            pointers,
        }
    }

    /// Make the submission.
    ///
    /// # Errors
    ///
    /// The kernel's own answer.
    pub fn submit(&self, device: &Device) -> Result<(), Errno> {
        let mut cs = Cs {
            num_chunks: 3,
            chunks: self.pointers.as_ptr() as u64,
            ..Cs::default()
        };
        device.ioctl(abi::RADEON_CS, &mut cs).map(drop)
    }
}
