// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The content of an entry of a GPU's page table: where a page is, and what the engines may do with it.
//!
//! All of these chips have 4 KiB pages. They differ in what an entry can express. An entry of the R5xx table can only
//! point to system memory (Linux, `r300.c`). An entry of R6xx and of GCN can also point to the chip's own memory,
//! selected by a bit of the entry (Linux, `r600.c`, `radeon_vm.c`: valid, system, snooped, readable, writeable).

/// Where consecutive pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// In system memory: the bus address of the first byte.
    System(u64),
    /// In the GPU's own memory: bytes from the start of VRAM to the first one.
    Vram(u64),
}

/// What the engines may do with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// They may read.
    pub read: bool,
    /// They may write.
    pub write: bool,
    /// Accesses are coherent with CPU caches. Has no meaning for VRAM.
    pub snooped: bool,
}

impl Flags {
    /// Read and write, coherent: what an ordinary object needs.
    pub const READ_WRITE: Self = Self {
        read: true,
        write: true,
        snooped: true,
    };
}

/// Bytes that one entry of a page table maps, on all of these chips.
pub const GPU_PAGE: usize = 4096;

/// Return the runs of consecutive pages in `addresses`, which has one address for each `page` bytes of the CPU. A run is
/// its first address and its number of entries. `page` is a multiple of [`GPU_PAGE`].
pub fn runs(addresses: &[u64], page: usize) -> impl Iterator<Item = (u64, usize)> + '_ {
    let follows = move |a: &u64, b: &u64| a.checked_add(page as u64) == Some(*b);
    addresses
        .chunk_by(follows)
        .filter_map(move |run| Some((*run.first()?, run.len() * (page / GPU_PAGE))))
}
