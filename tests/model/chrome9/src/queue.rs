// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command queue: writes of the CPU that the command regulator has not taken yet.
//!
//! It keeps the order of the writes. A queue that is full makes the CPU wait on the bus, which is here: the regulator
//! takes the oldest entry at once.

use std::collections::VecDeque;

/// Entries. The manual gives no number for the FIFO without a queue in memory; with one, it depends on that memory.
const DEPTH: usize = 4096;

/// A write of the CPU on its way to the regulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Byte offset in BAR1.
    pub offset: u32,
    /// What was written.
    pub value: u32,
}

/// The queue.
#[derive(Default)]
pub struct Queue {
    writes: VecDeque<Write>,
}

impl Queue {
    /// Add a write. Return the oldest one if there is no room for both.
    #[must_use]
    pub fn push(&mut self, write: Write) -> Option<Write> {
        self.writes.push_back(write);
        (self.writes.len() > DEPTH).then(|| self.writes.pop_front())?
    }

    /// Take the oldest write.
    pub fn pop(&mut self) -> Option<Write> {
        self.writes.pop_front()
    }

    /// Return whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_a_full_queue_gives_its_oldest_write() {
        let mut queue = Queue::default();
        let write = |value| Write { offset: 4, value };
        for value in 0..DEPTH as u32 {
            assert_eq!(queue.push(write(value)), None);
        }
        assert_eq!(queue.push(write(9999)), Some(write(0)));
        assert_eq!(queue.pop(), Some(write(1)));
        assert!(!queue.is_empty());
    }
}
