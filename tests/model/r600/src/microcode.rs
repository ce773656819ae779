// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memories for microcode: written by an address and a data register, the address counting up by itself.

/// Such a memory. Addresses beyond its words are ignored.
#[derive(Clone, Default)]
pub struct Memory {
    words: Vec<u32>,
    /// The next write.
    at: usize,
    /// The next read.
    read_at: usize,
    filled: usize,
}

/// More words than any of the memories has.
const MOST: usize = 1 << 13;

impl Memory {
    /// Set the address of the next write, in words.
    pub fn seek(&mut self, word: u32) {
        self.at = word as usize;
    }

    /// Set the address of the next read, in words.
    pub fn seek_read(&mut self, word: u32) {
        self.read_at = (word as usize).min(MOST);
    }

    /// Write a word and count up.
    pub fn write_here(&mut self, value: u32) {
        if self.at >= MOST {
            return;
        }
        if self.words.len() <= self.at {
            self.words.resize(self.at + 1, 0);
        }
        self.words[self.at] = value;
        self.at += 1;
        if self.at == self.filled + 1 {
            self.filled = self.at;
        }
    }

    /// Return the word at the address and count up; 0 beyond what was written.
    pub fn read_here(&mut self) -> u32 {
        let word = self.words.get(self.read_at).copied().unwrap_or(0);
        self.read_at = (self.read_at + 1).min(MOST);
        word
    }

    /// Return how many words from the beginning on have been written without a gap.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Return what has been written.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_counts_up_and_gaps_are_noticed() {
        let mut memory = Memory::default();
        memory.seek(0);
        for word in 0..4 {
            memory.write_here(word);
        }
        assert_eq!(memory.filled(), 4);
        memory.seek(8);
        memory.write_here(8);
        assert_eq!(memory.filled(), 4, "words 4 to 7 are missing");
        memory.seek_read(2);
        assert_eq!(
            [memory.read_here(), memory.read_here(), memory.read_here()],
            [2, 3, 0]
        );
        memory.seek(u32::MAX);
        memory.write_here(1);
        assert_eq!(memory.words().len(), 9);
    }
}
