// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Reading this process's own memory where it may not be there.

use std::fs::File;
use std::os::unix::fs::FileExt;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// This process's memory as a file: a wrong address is an error, not a signal.
pub struct Memory(File);

impl Memory {
    /// Open the memory. `None` without `/proc`.
    pub fn open() -> Option<Memory> {
        File::open("/proc/self/mem").ok().map(Memory)
    }

    /// Return `count` values at `address`.
    pub fn slice<T: FromBytes + FromZeros + IntoBytes + Clone>(
        &self,
        address: u64,
        count: usize,
    ) -> Option<Vec<T>> {
        let mut values = vec![T::new_zeroed(); count];
        self.0
            .read_exact_at(values.as_mut_slice().as_mut_bytes(), address)
            .ok()?;
        Some(values)
    }

    /// Return one value at `address`.
    pub fn value<T: FromBytes + FromZeros + IntoBytes + Clone>(&self, address: u64) -> Option<T> {
        self.slice(address, 1)?.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_there_and_nothing_else() {
        let memory = Memory::open().unwrap();
        let there = [7u32, 8, 9];
        assert_eq!(
            memory.slice::<u32>(there.as_ptr() as u64, 3).unwrap(),
            there
        );
        assert_eq!(memory.value::<u32>(16), None);
        assert_eq!(memory.value::<u32>(u64::MAX - 1), None);
    }
}
