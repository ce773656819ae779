// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memory of two kinds: the card's own VRAM, and guest RAM that the device reaches over the bus.
//!
//! Both are mappings shared with other processes (QEMU and, through it, guest CPUs), so nothing here hands out
//! references into them: all access is by copy.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use memmap2::{MmapOptions, MmapRaw};

/// A shared mapping of bytes that other processes may change at any time.
struct Shared {
    map: MmapRaw,
}

impl Shared {
    fn of_file(file: &File, offset: u64, len: usize) -> io::Result<Shared> {
        Ok(Shared {
            map: MmapOptions::new().offset(offset).len(len).map_raw(file)?,
        })
    }

    #[inline]
    fn len(&self) -> usize {
        self.map.len()
    }

    /// Copy out; false (and `bytes` untouched) if the range is not inside.
    #[inline]
    fn read(&self, offset: u64, bytes: &mut [u8]) -> bool {
        let Some(at) = self.range(offset, bytes.len()) else {
            return false;
        };
        // SAFETY: `range` proved that `at .. at + len` lies inside the mapping, which lives as long as `self`; the
        // destination is exclusively ours. Other processes may write at the same time: the bytes then are a mixture,
        // as on a bus.
        unsafe {
            if bytes.len() == 4 && at % 4 == 0 {
                let word = self.map.as_ptr().add(at).cast::<u32>().read_volatile();
                bytes.copy_from_slice(&word.to_ne_bytes());
            } else {
                std::ptr::copy_nonoverlapping(
                    self.map.as_ptr().add(at),
                    bytes.as_mut_ptr(),
                    bytes.len(),
                );
            }
        }
        true
    }

    /// Copy in; false if the range is not inside.
    #[inline]
    fn write(&self, offset: u64, bytes: &[u8]) -> bool {
        let Some(at) = self.range(offset, bytes.len()) else {
            return false;
        };
        // SAFETY: as in `read`, with the roles exchanged. A dword is written at once, since fences are polled by the
        // CPU.
        unsafe {
            match (<[u8; 4]>::try_from(bytes), at % 4) {
                (Ok(word), 0) => self
                    .map
                    .as_mut_ptr()
                    .add(at)
                    .cast::<u32>()
                    .write_volatile(u32::from_ne_bytes(word)),
                _ => std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    self.map.as_mut_ptr().add(at),
                    bytes.len(),
                ),
            }
        }
        true
    }

    #[inline]
    fn range(&self, offset: u64, len: usize) -> Option<usize> {
        let at = usize::try_from(offset).ok()?;
        (at.checked_add(len)? <= self.map.len()).then_some(at)
    }
}

fn memfd(name: &str, len: u64) -> io::Result<File> {
    let fd = rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?;
    let file = File::from(fd);
    file.set_len(len)?;
    Ok(file)
}

/// Bytes of a page, the unit of address translation.
const PAGE: u64 = 4096;

/// Split what lies at an address at page boundaries, in order.
pub fn split(address: u64, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (head, tail) = bytes.split_at(head(address, bytes.len()));
    std::iter::once(head)
        .filter(|h| !h.is_empty())
        .chain(tail.chunks(PAGE as usize))
}

/// Split bytes that are to be filled in the same way.
pub fn split_mut(address: u64, bytes: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let (head, tail) = bytes.split_at_mut(head(address, bytes.len()));
    std::iter::once(head)
        .filter(|h| !h.is_empty())
        .chain(tail.chunks_mut(PAGE as usize))
}

fn head(address: u64, len: usize) -> usize {
    ((PAGE - address % PAGE) as usize).min(len)
}

/// The card's memory, in a memfd that QEMU may map.
pub struct Vram {
    file: File,
    shared: Shared,
}

impl Vram {
    /// Make VRAM of that many bytes, filled with zeroes.
    ///
    /// # Errors
    /// When the system has no such memory.
    pub fn new(len: u64) -> io::Result<Vram> {
        let file = memfd("vram", len)?;
        let bytes = usize::try_from(len).map_err(|_| io::Error::other("VRAM too large"))?;
        let shared = Shared::of_file(&file, 0, bytes)?;
        Ok(Vram { file, shared })
    }

    /// Return the descriptor to map; valid as long as the VRAM.
    pub fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Return the size in bytes.
    #[inline]
    pub fn len(&self) -> u64 {
        self.shared.len() as u64
    }

    /// Return whether there is no VRAM at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Read; false if the range is not all inside.
    #[inline]
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> bool {
        self.shared.read(offset, bytes)
    }

    /// Write; false if the range is not all inside.
    #[inline]
    pub fn write(&self, offset: u64, bytes: &[u8]) -> bool {
        self.shared.write(offset, bytes)
    }
}

/// One range of guest physical memory.
struct Range {
    start: u64,
    shared: Shared,
}

/// Guest RAM, as the ranges that QEMU has told. They come and go during firmware start-up.
#[derive(Default)]
pub struct GuestRam {
    ranges: Vec<Range>,
}

impl GuestRam {
    /// Map `len` bytes of `file` from `offset` on at bus address `start`. What was mapped there before is replaced.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub fn map(&mut self, start: u64, len: u64, file: &File, offset: u64) -> io::Result<()> {
        let bytes = usize::try_from(len).map_err(|_| io::Error::other("range too large"))?;
        let shared = Shared::of_file(file, offset, bytes)?;
        self.unmap(start, len);
        self.ranges.push(Range { start, shared });
        Ok(())
    }

    /// Map fresh zeroed memory: for tests without a guest.
    ///
    /// # Errors
    /// When the system has no memory.
    pub fn map_anonymous(&mut self, start: u64, len: u64) -> io::Result<()> {
        let file = memfd("guest-ram", len)?;
        self.map(start, len, &file, 0)
    }

    /// Remove every range that begins inside `start .. start + len`.
    pub fn unmap(&mut self, start: u64, len: u64) {
        self.ranges
            .retain(|r| r.start < start || r.start - start >= len);
    }

    /// Remove all ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Read; false if no one range holds all of it.
    #[inline]
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.find(address)
            .is_some_and(|r| r.shared.read(address - r.start, bytes))
    }

    /// Write; false if no one range holds all of it.
    #[inline]
    pub fn write(&self, address: u64, bytes: &[u8]) -> bool {
        self.find(address)
            .is_some_and(|r| r.shared.write(address - r.start, bytes))
    }

    #[inline]
    fn find(&self, address: u64) -> Option<&Range> {
        self.ranges
            .iter()
            .find(|r| address >= r.start && address - r.start < r.shared.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vram_refuses_what_lies_outside() {
        let vram = Vram::new(8192).unwrap();
        let mut word = [0; 4];
        assert!(vram.write(8188, &[1, 2, 3, 4]) && vram.read(8188, &mut word));
        assert_eq!(word, [1, 2, 3, 4]);
        assert!(!vram.write(8190, &[0; 4]) && !vram.read(u64::MAX, &mut word));
    }

    #[test]
    fn ranges_are_split_at_pages() {
        let mut bytes = [0; 9000];
        let lens = |address| split(address, &bytes).map(<[u8]>::len).collect::<Vec<_>>();
        assert_eq!(lens(0), [4096, 4096, 808]);
        assert_eq!(lens(4095), [1, 4096, 4096, 807]);
        assert_eq!(split(8000, &[0; 4]).count(), 1);
        assert_eq!(split(4096, &[]).count(), 0);
        let parts: Vec<_> = split_mut(4000, &mut bytes).map(|p| p.len()).collect();
        assert_eq!(parts, [96, 4096, 4096, 712]);
    }

    #[test]
    fn guest_ranges_come_and_go() {
        let mut ram = GuestRam::default();
        ram.map_anonymous(0x10_0000, 0x1000).unwrap();
        ram.map_anonymous(0x20_0000, 0x1000).unwrap();
        assert!(ram.write(0x20_0ffc, &[9; 4]));
        assert!(!ram.write(0x20_0ffe, &[9; 4]));
        ram.unmap(0x20_0000, 0x1000);
        assert!(!ram.write(0x20_0ffc, &[9; 4]));
        assert!(ram.write(0x10_0000, &[9; 4]));
    }
}
