// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The micro-engine's RAM: 256 words of 40 bits that hold the CP's program (R5xx 4.12, 4.13).
//!
//! The model decodes packets itself and does not run the program, but like the hardware it does nothing before one
//! has been loaded. The last four words serve as semaphores (R5xx 5.2.4.1).

/// Number of words.
pub const WORDS: usize = 256;
/// The first semaphore.
pub const SEMAPHORE: u32 = 0xfc;

/// The RAM with its two ports.
#[derive(Clone)]
pub struct MeRam {
    words: [u64; WORDS],
    loaded: [bool; WORDS],
    /// How many words of the program have not been written yet.
    missing: u32,
    write_address: u32,
    write_high: u32,
    read_address: u32,
    read_word: u64,
}

impl Default for MeRam {
    fn default() -> Self {
        MeRam {
            words: [0; WORDS],
            loaded: [false; WORDS],
            missing: SEMAPHORE,
            write_address: 0,
            write_high: 0,
            read_address: 0,
            read_word: 0,
        }
    }
}

impl MeRam {
    /// Set where writing begins.
    pub fn set_write_address(&mut self, address: u32) {
        self.write_address = address % WORDS as u32;
    }

    /// Return where the next word goes.
    pub fn write_address(&self) -> u32 {
        self.write_address
    }

    /// Take bits 39:32 of the next word.
    pub fn write_high(&mut self, value: u32) {
        self.write_high = value & 0xff;
    }

    /// Take bits 31:0, store the word and go to the next. Without a high part before it, that is zero: so
    /// semaphores are set.
    pub fn write_low(&mut self, value: u32) {
        let at = self.write_address as usize % WORDS;
        self.words[at] = (u64::from(self.write_high) << 32) | u64::from(value);
        if !std::mem::replace(&mut self.loaded[at], true) && (at as u32) < SEMAPHORE {
            self.missing -= 1;
        }
        self.write_high = 0;
        self.set_write_address(self.write_address + 1);
    }

    /// Set where reading begins, and read that word into the holding register.
    pub fn set_read_address(&mut self, address: u32) {
        self.read_address = address % WORDS as u32;
        self.fetch();
    }

    /// Return the bits 39:32 of the word held.
    pub fn read_high(&self) -> u32 {
        (self.read_word >> 32) as u32
    }

    /// Return bits 31:0 of the word held, and fetch the next word.
    pub fn read_low(&mut self) -> u32 {
        let low = self.read_word as u32;
        self.fetch();
        low
    }

    fn fetch(&mut self) {
        self.read_word = self.words[self.read_address as usize % WORDS];
        self.read_address = (self.read_address + 1) % WORDS as u32;
    }

    /// Return the word held, for a look without side effects.
    pub fn held(&self) -> u64 {
        self.read_word
    }

    /// Return whether a program is there: every word that is not a semaphore has been written.
    pub fn loaded(&self) -> bool {
        self.missing == 0
    }

    /// Return a word's value.
    pub fn word(&self, address: u32) -> u64 {
        self.words[address as usize % WORDS]
    }

    /// Store a word from inside the CP.
    pub fn set_word(&mut self, address: u32, value: u32) {
        self.words[address as usize % WORDS] = value.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_bits_go_in_and_come_out() {
        let mut ram = MeRam::default();
        ram.set_write_address(254);
        for (high, low) in [(0x1ab, 1), (0xcd, 2), (0xef, 3)] {
            ram.write_high(high);
            ram.write_low(low);
        }
        ram.set_read_address(254);
        let mut got = vec![];
        for _ in 0..3 {
            let high = ram.read_high();
            got.push((high, ram.read_low()));
        }
        assert_eq!(got, [(0xab, 1), (0xcd, 2), (0xef, 3)]);
        assert_eq!(ram.word(0), 0xef_0000_0003);
    }

    #[test]
    fn a_program_needs_every_word_but_the_semaphores() {
        let mut ram = MeRam::default();
        for i in 0..SEMAPHORE {
            assert!(!ram.loaded());
            ram.set_write_address(i);
            ram.write_low(i);
        }
        assert!(ram.loaded());
    }

    #[test]
    fn a_semaphore_is_set_by_its_low_part_alone() {
        let mut ram = MeRam::default();
        ram.set_write_address(0xfd);
        ram.write_low(7);
        assert_eq!((ram.word(0xfd), ram.write_address()), (7, 0xfe));
    }
}
