// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects that the CPU sees as tiles for a moment.

use super::Radeon;
use crate::objects::{Mark, Object};
use anyhow::{Context as _, Result, bail};
use lapidary_guest::abi;

impl Object<Radeon> {
    /// Let the CPU see the object with these flags and this pitch for a moment, whatever they are. What it writes it
    /// finds again, and afterwards all of it lies in the object, in some order. What is in the object then is its
    /// content.
    ///
    /// Not for memory of the process.
    pub fn tile(&mut self, flags: u32, pitch: u32, mark: Mark) -> Result<()> {
        let moved = |object: &Object<Radeon>| -> Result<u64> {
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
