// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects, and what must be in them.
//!
//! Every dword that a process writes begins with a mark of its own, [`Mark`]. Its copy of the content says what it has
//! to find in its objects. Where it cannot know the content, because a spoilt stream may have written there, a dword
//! with the mark of another process shows that memory was read which must not be read.

use anyhow::{Context as _, Result, bail};
use lapidary_guest::{Bo, Device, abi};
use lapidary_harness::mapping::{Mapping, PAGE};
use lapidary_harness::syncobj::Syncobj;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

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
/// write one byte or one half of a dword. What is left of the process's own mark then is no mark of another process.
#[derive(Clone, Copy, Debug)]
pub struct Mark(u32);

impl Mark {
    const COMMON: u32 = 0x5e00_0000;

    /// Return the mark of a process. Another life of it has another mark.
    pub fn of(worker: u32, life: u32) -> Mark {
        Mark::of_number(((worker << 4) | (life & 0xf)) as u8)
    }

    fn of_number(number: u8) -> Mark {
        let again = number.rotate_left(3) ^ 0xa5;
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
pub struct Object {
    /// The handle.
    pub bo: Bo,
    /// What must be in it.
    pub content: Rc<RefCell<Vec<u32>>>,
    /// The CPU's way to it.
    pub window: Window,
}

impl Object {
    /// Return a new object, which must be zero.
    pub fn new(bo: Bo) -> Object {
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
    pub fn is_same(&self, other: &Object) -> bool {
        Rc::ptr_eq(&self.content, &other.content)
    }

    /// Return the dwords of it for the CPU, and map it if need be.
    fn words(&mut self) -> Result<(*mut u32, usize)> {
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
        for (i, &expected) in self.content.borrow().iter().enumerate().take(count) {
            // SAFETY: inside the window, which is aligned to a page.
            let seen = unsafe { address.add(i).read_volatile() };
            if seen != expected {
                let whose = if mark.foreign(seen) {
                    ", of another process"
                } else {
                    ""
                };
                bail!(
                    "dword {i} of {count} in {:?} is {seen:#010x}{whose}, expected {expected:#010x}",
                    self.bo.domain()
                );
            }
        }
        Ok(())
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

    /// Let the CPU see the object with these flags and this pitch for a moment, whatever they are. What it writes it
    /// finds again, and afterwards all of it lies in the object, in some order. What is in the object then is its
    /// content.
    ///
    /// Not for memory of the process.
    pub fn tile(&mut self, flags: u32, pitch: u32, mark: Mark) -> Result<()> {
        let moved = |object: &Object| -> Result<u64> {
            let device = object.bo.device();
            Ok(device.info(const { abi::info_request("NUM_BYTES_MOVED") })?)
        };
        let what = || format!("flags {flags:#x}, pitch {pitch:#x}");
        self.bo.wait().context("waiting")?;
        let before = moved(self)?;
        self.set_tiling(flags, pitch)?;
        let (address, count) = self.words()?;
        // A page has each of these words four times.
        let word = |i: usize| mark.word((i + i / 1024) as u8);
        for i in 0..count {
            // SAFETY: inside the window, which is aligned to a page.
            unsafe { address.add(i).write_volatile(word(i)) };
        }
        // SAFETY: as above.
        let read = |i: usize| unsafe { address.add(i).read_volatile() };
        let lines: Vec<u32> = (0..count).map(read).collect();
        self.set_tiling(0, 0)?;
        let memory: Vec<u32> = (0..count).map(read).collect();
        let ours = |word: u32| word & !0xff == mark.word(0);
        // Where the surface was its bytes are in the order that the flags say.
        let ordered: Vec<u32> = memory
            .iter()
            .map(|&word| {
                if ours(word) {
                    word
                } else {
                    swapped(word, flags)
                }
            })
            .collect();
        if let Some(seen) = lines.iter().chain(&ordered).find(|&&word| !ours(word)) {
            bail!("{}: {seen:#010x} is seen", what());
        }
        // In system memory it is seen in another way.
        if moved(self)? == before {
            if let Some(i) = (0..count).find(|&i| lines[i] != word(i)) {
                bail!("{}: dword {i} of {count} is {:#010x}", what(), lines[i]);
            }
            let sorted = |mut words: Vec<u32>| {
                words.sort_unstable();
                words
            };
            if sorted(ordered) != sorted(lines) {
                bail!(
                    "{}: something of {count} dwords is not in the object",
                    what()
                );
            }
        }
        *self.content.borrow_mut() = memory;
        Ok(())
    }

    fn set_tiling(&self, flags: u32, pitch: u32) -> Result<()> {
        let mut argument = abi::GemTiling {
            handle: self.bo.handle(),
            flags,
            pitch,
        };
        let device = self.bo.device();
        device
            .ioctl(abi::RADEON_GEM_SET_TILING, &mut argument)
            .context("setting tiling")?;
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

/// Return a word as the CPU sees it through a surface with these flags.
fn swapped(word: u32, flags: u32) -> u32 {
    if flags & abi::TILING_SWAP_32BIT != 0 {
        word.swap_bytes()
    } else if flags & abi::TILING_SWAP_16BIT != 0 {
        word.swap_bytes().rotate_left(16)
    } else {
        word
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
pub struct Client {
    /// The file.
    pub device: Rc<Device>,
    /// Its objects.
    pub objects: Vec<Object>,
    /// Its synchronisation objects.
    pub links: Vec<Link>,
}

impl Client {
    /// Make a client without objects.
    pub fn new(device: Rc<Device>) -> Client {
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
}
