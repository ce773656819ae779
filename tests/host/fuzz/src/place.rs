// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Places for objects, and what lies in them.

use fastrand::Rng;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// The first bytes of each object: large, small and odd numbers of 16 and of 32 bits. Indices and shaders in it are the
/// client's, and may be anything.
pub static CONTENTS: [u8; 1024] = contents();

const fn contents() -> [u8; 1024] {
    let mut bytes = [0; 1024];
    let mut noise = 0x2545_f491u32;
    let mut i = 0;
    while i < bytes.len() {
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        bytes[i] = match (i / 16) % 4 {
            0 => 0xff,
            1 if i % 4 == 0 => noise as u8,
            2 => noise as u8,
            _ => 0,
        };
        i += 1;
    }
    bytes
}

/// Scatter objects over two windows of addresses, each a start and an end, with memory between them that is not the
/// stream's. `objects` are sizes and alignments; an alignment is a power of two and at least [`PAGE`].
///
/// `None` if they do not fit.
pub fn scatter(
    rng: &mut Rng,
    mut windows: [(u64, u64); 2],
    objects: impl Iterator<Item = (u64, u64)>,
) -> Option<Vec<u64>> {
    objects
        .map(|(size, alignment)| {
            let first = rng.usize(..2);
            [first, 1 - first].into_iter().find_map(|window| {
                let (start, end) = &mut windows[window];
                let address = (*start + PAGE * rng.u64(1..64)).next_multiple_of(alignment);
                let next = (address + size.max(1)).next_multiple_of(PAGE);
                (next + PAGE <= *end).then(|| {
                    *start = next;
                    address
                })
            })
        })
        .collect()
}
