// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects, and what must be in them.
//!
//! Every dword that a process writes begins with a mark of its own, [`Mark`]. Its copy of the content says what it has
//! to find in its objects. Where it cannot know the content, because a spoilt stream may have written there, a dword
//! with the mark of another process shows that memory was read which must not be read.

use crate::interface::{Buffer as _, Interface};
use anyhow::{Context as _, Result, bail};
use lapidary_harness::mapping::{Mapping, PAGE};
use lapidary_harness::syncobj::Syncobj;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;
use std::time::Duration;

/// Bytes of a row of every surface.
pub const PITCH: u32 = 256;
/// Pixels of a row.
pub const WIDTH: i32 = PITCH as i32 / 4;

/// Return the bytes of the smallest object.
pub fn smallest(scale: u32) -> u64 {
    PAGE * u64::from(scale)
}

/// The upper 24 bits of all that a process writes.
///
/// The process's number is there twice, in two bytes of which the second is a permutation of the first. A stream may
/// write one byte or one half of a dword, combine dwords by a raster operation, or move them by bytes. What is left of the
/// process's own mark then is no mark of another process. For the last two that holds for the first four processes.
#[derive(Clone, Copy, Debug)]
pub struct Mark(u32);

impl Mark {
    const COMMON: u32 = 0x5e00_0000;

    /// Return the mark of a process. Another life of it has another mark.
    pub fn of(worker: u32, life: u32) -> Mark {
        Mark::of_number(((worker << 4) | (life & 0xf)) as u8)
    }

    fn of_number(number: u8) -> Mark {
        let again = number.wrapping_mul(27).wrapping_add(9);
        Mark(Mark::COMMON | (u32::from(number) << 16) | (u32::from(again) << 8))
    }

    /// Return a dword.
    pub fn word(self, low: u8) -> u32 {
        self.0 | u32::from(low)
    }

    /// Return whether a dword has the mark of any process.
    pub fn any(word: u32) -> bool {
        word & !0xff == Mark::of_number((word >> 16) as u8).0
    }

    /// Return whether a dword has the mark of another process.
    pub fn foreign(self, word: u32) -> bool {
        Mark::any(word) && word & !0xff != self.0
    }
}

/// Memory of the process itself.
pub struct UserMemory {
    address: *mut c_void,
    bytes: usize,
}

impl UserMemory {
    /// Make new, zeroed memory.
    pub fn new(bytes: usize) -> Result<UserMemory> {
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        Ok(UserMemory { address, bytes })
    }

    /// Return where it is.
    pub fn address(&self) -> u64 {
        self.address as u64
    }
}

impl Drop for UserMemory {
    fn drop(&mut self) {
        // SAFETY: ours, and nothing refers to it.
        let _ = unsafe { munmap(self.address, self.bytes) };
    }
}

/// How the CPU comes to an object.
pub enum Window {
    /// Not at the moment.
    None,
    /// By a mapping.
    Mapped(Mapping),
    /// It is memory of the process.
    User(UserMemory),
}

/// A handle, and what it is the name of. Two clients may have one each for the same content.
pub struct Object<I: Interface> {
    /// The handle.
    pub bo: I::Bo,
    /// What must be in it.
    pub content: Rc<RefCell<Vec<u32>>>,
    /// The CPU's way to it.
    pub window: Window,
}

impl<I: Interface> Object<I> {
    /// Return a new object, which must be zero.
    pub fn new(bo: I::Bo) -> Object<I> {
        let words = (bo.size() / 4) as usize;
        Object {
            bo,
            content: Rc::new(RefCell::new(vec![0; words])),
            window: Window::None,
        }
    }

    /// Return the rows of its surface.
    pub fn rows(&self) -> i32 {
        (self.bo.size() / u64::from(PITCH)) as i32
    }

    /// Return whether both are names of the same.
    pub fn is_same(&self, other: &Object<I>) -> bool {
        Rc::ptr_eq(&self.content, &other.content)
    }

    /// Return the dwords of it for the CPU, and map it if need be.
    pub fn words(&mut self) -> Result<(*mut u32, usize)> {
        if let Window::None = self.window {
            self.window = Window::Mapped(self.bo.map().context("mapping")?);
        }
        Ok(match &self.window {
            Window::Mapped(mapping) => (mapping.address().cast(), mapping.len()),
            Window::User(memory) => (memory.address.cast(), memory.bytes / 4),
            Window::None => bail!("no way to the object"),
        })
    }

    /// Wait for the GPU, then compare everything.
    pub fn look(&mut self, mark: Mark) -> Result<()> {
        self.bo.wait().context("waiting")?;
        let (address, count) = self.words()?;
        let content = self.content.borrow();
        // SAFETY: inside the window, which is aligned to a page.
        let read = |i: usize| unsafe { address.add(i).read_volatile() };
        let differs = |i: usize| Some((i, read(i))).filter(|&(i, seen)| seen != content[i]);
        let count = count.min(content.len());
        let mut wrong = (0..count).filter_map(differs);
        let Some((first, seen)) = wrong.next() else {
            return Ok(());
        };
        // What is seen later tells whether it was lost or only late.
        let (others, last) = wrong.fold((0, first), |(others, _), (i, _)| (others + 1, i));
        std::thread::sleep(Duration::from_millis(300));
        let later = (0..count).filter_map(differs).count();
        let whose = if mark.foreign(seen) {
            ", of another process"
        } else {
            ""
        };
        bail!(
            "dword {first} of {count} in {:?} is {seen:#010x}{whose}, expected {:#010x}; {others} more up to dword {last} \
             differ, and {later} a moment later",
            self.bo.place(),
            content[first]
        )
    }

    /// Wait for the GPU, then look for dwords of other processes.
    pub fn search(&mut self, mark: Mark) -> Result<()> {
        self.bo.wait().context("waiting")?;
        let (address, count) = self.words()?;
        for i in 0..count {
            // SAFETY: inside the window, which is aligned to a page.
            let seen = unsafe { address.add(i).read_volatile() };
            if mark.foreign(seen) {
                bail!("dword {i} of {count} is {seen:#010x}, of another process");
            }
        }
        Ok(())
    }

    /// Wait for the GPU, then write some dwords.
    pub fn write(&mut self, rng: &mut fastrand::Rng, mark: Mark) -> Result<()> {
        self.bo.wait().context("waiting")?;
        let (address, count) = self.words()?;
        let mut content = self.content.borrow_mut();
        let first = rng.usize(..count);
        let last = count.min(first + rng.usize(1..=256));
        for (i, word) in content.iter_mut().enumerate().take(last).skip(first) {
            *word = mark.word(rng.u8(..));
            // SAFETY: inside the window, which is aligned to a page.
            unsafe { address.add(i).write_volatile(*word) };
        }
        Ok(())
    }
}

/// A synchronisation object that submissions hand on to each other.
pub struct Link {
    /// It.
    pub object: Syncobj,
    /// Each submission has a point of its own.
    pub timeline: bool,
    /// Submissions so far.
    pub last: u64,
}

impl Link {
    /// Return the point of a submission; 0 for an object that is no timeline.
    pub fn point(&self, submission: u64) -> u64 {
        if self.timeline { submission } else { 0 }
    }
}

/// An open file and what it has.
pub struct Client<I: Interface> {
    /// The file.
    pub device: Rc<I::Device>,
    /// Its objects.
    pub objects: Vec<Object<I>>,
    /// Its synchronisation objects.
    pub links: Vec<Link>,
}

impl<I: Interface> Client<I> {
    /// Make a client without objects.
    pub fn new(device: Rc<I::Device>) -> Client<I> {
        Client {
            device,
            objects: Vec::new(),
            links: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mark;

    fn all() -> impl Iterator<Item = Mark> {
        (0..=255).map(|number| Mark::of(number >> 4, number & 15))
    }

    #[test]
    fn marks_of_others_are_foreign() {
        for (i, mark) in all().enumerate() {
            for (j, other) in all().enumerate() {
                assert_eq!(mark.foreign(other.word(7)), i != j, "{i} and {j}");
            }
        }
    }

    #[test]
    fn what_is_left_of_an_own_dword_is_not_foreign() {
        for mark in all() {
            for part in [0xff, 0xff00, 0xff_0000, 0xff00_0000, 0xffff, 0xffff_0000] {
                for written in [
                    0,
                    u32::MAX,
                    mark.word(3) << 16,
                    mark.word(3) >> 16,
                    0x0101_0101,
                ] {
                    let word = (mark.word(9) & !part) | (written & part);
                    assert!(!mark.foreign(word), "{mark:?}: {word:#x}");
                }
            }
        }
    }

    /// A raster operation of own dwords makes zeroes, ones, the mark or its complement, and a mask may let it do so in
    /// some bytes only.
    #[test]
    fn raster_operations_of_own_dwords_make_no_foreign_one() {
        for mark in all().take(64) {
            let parts = [0, u32::MAX, mark.word(1), !mark.word(1)];
            for choice in 0..4usize.pow(3) {
                let byte = |at: usize| {
                    let part = parts[(choice / 4usize.pow(at as u32)) % 4];
                    part & (0xff00 << (8 * at))
                };
                let word = byte(0) | byte(1) | byte(2);
                assert!(!mark.foreign(word), "{mark:?}: {word:#x}");
            }
        }
    }

    #[test]
    fn own_dwords_that_are_moved_by_bytes_are_not_foreign() {
        for mark in all().take(64) {
            for low in 0..=255 {
                let two = (u64::from(mark.word(low)) << 32) | u64::from(mark.word(!low));
                for bytes in 1..=3 {
                    let word = (two >> (8 * bytes)) as u32;
                    assert!(!mark.foreign(word), "{mark:?}: {word:#x}");
                }
            }
        }
    }
}
