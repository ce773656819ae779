// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where a new object may go, in order of preference.
//!
//! An object that asks for VRAM may end in system pages when VRAM is full: the GPU reaches both, and what
//! user space says is a preference (as it is for upstream's radeon driver). The other way round is never
//! tried. An object that the CPU is going to map must lie in the part of VRAM that BAR0 shows; one that it
//! will not map goes behind that part first, to leave room there.

use kernel::{
    page::PAGE_SIZE,
    prelude::*, //
};

/// Where an object is, or is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// System pages, no GPU address yet.
    System,
    /// System pages in the GTT window.
    Gtt,
    /// The GPU's own memory.
    Vram,
}

/// Who is going to access the content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// GPU and CPU.
    Both,
    /// The GPU only. Mapping such an object is allowed, but touching the mapping may end in SIGBUS.
    Gpu,
}

/// What user space asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Bytes; rounded up to whole pages.
    pub size: u64,
    /// Alignment of the GPU address in bytes, any number; at least a page is given.
    pub align: u64,
    /// The preferred place.
    pub domain: Domain,
    /// Whether the CPU takes part.
    pub access: Access,
}

/// A part of the GPU's memory to look for room in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Candidate {
    /// VRAM that the CPU sees.
    Visible,
    /// VRAM behind it.
    Hidden,
    /// System pages.
    System,
}

impl Request {
    /// Size in bytes, whole pages; `limit` is the largest allowed.
    ///
    /// Errors: `EINVAL` for size 0, `ENOMEM` beyond the limit.
    pub fn bytes(&self, limit: u64) -> Result<u64> {
        if self.size == 0 {
            return Err(EINVAL);
        }
        whole_pages(self.size)
            .filter(|&size| size <= limit)
            .ok_or(ENOMEM)
    }

    /// Alignment in bytes, whole pages; `limit` is the largest allowed.
    ///
    /// Errors: `ENOMEM` beyond the limit: there is no such room.
    pub fn alignment(&self, limit: u64) -> Result<u64> {
        whole_pages(self.align.max(1))
            .filter(|&align| align <= limit)
            .ok_or(ENOMEM)
    }

    /// Where to look for room, first to last.
    pub fn candidates(&self) -> &'static [Candidate] {
        match (self.domain, self.access) {
            (Domain::Vram, Access::Both) => &[Candidate::Visible, Candidate::System],
            (Domain::Vram, Access::Gpu) => {
                &[Candidate::Hidden, Candidate::Visible, Candidate::System]
            }
            (Domain::Gtt | Domain::System, _) => &[Candidate::System],
        }
    }
}

fn whole_pages(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(PAGE_SIZE as u64)
}

#[kunit_tests(lapidary_placement)]
mod tests {
    use super::*;

    const PAGE: u64 = PAGE_SIZE as u64;
    const LIMIT: u64 = 16 * PAGE;

    fn request(size: u64, align: u64) -> Request {
        Request {
            size,
            align,
            domain: Domain::Vram,
            access: Access::Both,
        }
    }

    #[test]
    fn sizes_are_rounded_and_bounded() {
        assert_eq!(request(1, 0).bytes(LIMIT).ok(), Some(PAGE));
        assert_eq!(request(PAGE, 0).bytes(LIMIT).ok(), Some(PAGE));
        assert_eq!(request(PAGE + 1, 0).bytes(LIMIT).ok(), Some(2 * PAGE));
        assert_eq!(request(LIMIT, 0).bytes(LIMIT).ok(), Some(LIMIT));
        assert_eq!(request(0, 0).bytes(LIMIT).err(), Some(EINVAL));
        assert_eq!(request(LIMIT + 1, 0).bytes(LIMIT).err(), Some(ENOMEM));
        assert_eq!(request(u64::MAX, 0).bytes(LIMIT).err(), Some(ENOMEM));
        assert_eq!(request(u64::MAX, 0).bytes(u64::MAX).err(), Some(ENOMEM));
    }

    #[test]
    fn alignments_are_rounded_and_bounded() {
        assert_eq!(request(1, 0).alignment(LIMIT).ok(), Some(PAGE));
        assert_eq!(request(1, 3).alignment(LIMIT).ok(), Some(PAGE));
        assert_eq!(request(1, PAGE + 1).alignment(LIMIT).ok(), Some(2 * PAGE));
        assert_eq!(request(1, u64::MAX).alignment(LIMIT).err(), Some(ENOMEM));
    }

    #[test]
    fn vram_falls_back_to_system_pages_only() {
        let mut r = request(1, 0);
        assert!(r.candidates() == [Candidate::Visible, Candidate::System]);
        r.access = Access::Gpu;
        assert!(r.candidates() == [Candidate::Hidden, Candidate::Visible, Candidate::System]);
        r.domain = Domain::Gtt;
        assert!(r.candidates() == [Candidate::System]);
        r.domain = Domain::System;
        assert!(r.candidates() == [Candidate::System]);
    }
}
