// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The pointers of a command ring (R5xx 4.4, 4.5, 4.8; the same in R6xx and later).
//!
//! Both count dwords from the ring's base. Equal pointers mean an empty ring. The host writes the write pointer into
//! a staging register, where it waits for a timer or for a number of further writes. The read pointer is written back
//! to memory when it crosses a block's boundary and when the ring is empty.

use std::time::{Duration, Instant};

/// A clock of the command processor, as long as the staging timer counts it.
const CLOCK: Duration = Duration::from_nanos(2);

/// The pointers.
#[derive(Default)]
pub struct Ring {
    /// Where the CP fetches next.
    pub rptr: u32,
    /// Up to where it fetches.
    pub wptr: u32,
    staged: Option<Staged>,
}

#[derive(Clone, Copy)]
struct Staged {
    value: u32,
    due: Instant,
    writes: u32,
}

/// What was wrong with a new write pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Good,
    /// It is not inside the ring.
    Outside,
    /// It overtakes the read pointer or leaves no slot free.
    Overrun,
}

/// What the control register says of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its size in dwords, a power of two.
    pub size: u32,
    /// Dwords between write-backs of the read pointer, a power of two.
    pub block: u32,
}

/// When a staged write pointer takes effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// After so many clocks; 0: at once.
    pub timer: u32,
    /// After so many writes, if that is earlier; 0: writes do not count.
    pub limit: u32,
}

impl Shape {
    /// Return the shape for the binary logarithms that control registers have: of the size, and of a block, in units of
    /// two dwords.
    pub fn of(size: u32, block: u32) -> Shape {
        Shape {
            size: 2 << size.min(22),
            block: 2 << block.min(22),
        }
    }

    fn mask(self) -> u32 {
        self.size - 1
    }
}

impl Ring {
    /// Stage a write of the write pointer by the host. True if it takes effect at once.
    pub fn stage(&mut self, value: u32, delay: Delay, now: Instant) -> bool {
        let Delay { timer, limit } = delay;
        let writes = self.staged.map_or(0, |s| s.writes) + 1;
        self.staged = Some(Staged {
            value,
            due: now + CLOCK * timer,
            writes,
        });
        timer == 0 || (limit != 0 && writes >= limit)
    }

    /// Return when a staged pointer takes effect by itself.
    pub fn due(&self) -> Option<Instant> {
        self.staged.map(|s| s.due)
    }

    /// Return what reading the write pointer yields.
    pub fn written(&self) -> u32 {
        self.staged.map_or(self.wptr, |s| s.value)
    }

    /// Make the staged pointer the write pointer. `rptr_wr` is given if it also sets the read pointer.
    pub fn commit(&mut self, shape: Shape, rptr_wr: Option<u32>) -> Verdict {
        let Some(staged) = self.staged.take() else {
            return Verdict::Good;
        };
        let mask = shape.mask();
        let new = staged.value & mask;
        let mut verdict = if staged.value > mask {
            Verdict::Outside
        } else {
            Verdict::Good
        };
        match rptr_wr {
            Some(rptr) => self.rptr = rptr & mask,
            None => {
                let pending = self.wptr.wrapping_sub(self.rptr) & mask;
                let added = new.wrapping_sub(self.wptr) & mask;
                if verdict == Verdict::Good && pending + added > mask {
                    verdict = Verdict::Overrun;
                }
            }
        }
        self.wptr = new;
        verdict
    }

    /// Return the dwords that wait to be fetched.
    pub fn pending(&self, shape: Shape) -> u32 {
        self.wptr.wrapping_sub(self.rptr) & shape.mask()
    }

    /// Return where the CP fetches next, within the ring. Its shape may have changed since.
    pub fn position(&self, shape: Shape) -> u32 {
        self.rptr & shape.mask()
    }

    /// Go on by `n` dwords; true if the read pointer is to be written back.
    pub fn advance(&mut self, n: u32, shape: Shape) -> bool {
        let mask = shape.mask();
        let old = self.position(shape);
        let crossed = old / shape.block != (old + n) / shape.block || old + n > mask;
        self.rptr = (old + n) & mask;
        crossed || self.pending(shape) == 0
    }

    /// Soft-reset the ring. Reading begins at the ring's start again. The write pointer stays, so the host must write
    /// it.
    pub fn reset(&mut self) {
        self.rptr = 0;
        self.staged = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return a ring of 16 dwords with blocks of 4.
    fn shape() -> Shape {
        Shape::of(3, 1)
    }

    fn write(ring: &mut Ring, value: u32) -> Verdict {
        assert!(ring.stage(value, Delay::default(), Instant::now()));
        ring.commit(shape(), None)
    }

    #[test]
    fn wraps_and_writes_back_per_block() {
        let mut ring = Ring::default();
        assert_eq!(write(&mut ring, 15), Verdict::Good);
        assert_eq!(ring.pending(shape()), 15);
        assert!(!ring.advance(3, shape()));
        assert!(ring.advance(1, shape()), "a block is done");
        assert!(ring.advance(11, shape()), "empty");
        assert_eq!(write(&mut ring, 2), Verdict::Good);
        assert_eq!(ring.pending(shape()), 3);
        assert!(ring.advance(1, shape()), "the wrap ends a block");
        assert_eq!(ring.rptr, 0);
        assert!(!ring.advance(1, shape()));
    }

    #[test]
    fn a_ring_that_shrinks_is_read_from_within() {
        let mut ring = Ring::default();
        write(&mut ring, 15);
        ring.advance(14, shape());
        let smaller = Shape::of(1, 1);
        assert_eq!((ring.position(smaller), smaller.size), (2, 4));
        assert!(ring.advance(1, smaller));
        assert_eq!(ring.rptr, 3);
    }

    #[test]
    fn overruns_are_seen() {
        let mut ring = Ring::default();
        write(&mut ring, 10);
        ring.advance(4, shape());
        assert_eq!(write(&mut ring, 3), Verdict::Good, "one slot stays free");
        assert_eq!(write(&mut ring, 5), Verdict::Overrun);
        let mut ring = Ring::default();
        write(&mut ring, 10);
        ring.advance(4, shape());
        assert_eq!(
            write(&mut ring, 4),
            Verdict::Overrun,
            "a full ring looks empty"
        );
        assert_eq!(write(&mut ring, 16), Verdict::Outside);
    }

    #[test]
    fn the_staging_register_waits_for_time_or_writes() {
        let delay = Delay {
            timer: 1_000_000,
            limit: 3,
        };
        let mut ring = Ring::default();
        let now = Instant::now();
        assert!(!ring.stage(1, delay, now));
        assert_eq!((ring.wptr, ring.written()), (0, 1));
        assert_eq!(ring.due(), Some(now + Duration::from_millis(2)));
        assert!(!ring.stage(2, delay, now));
        assert!(ring.stage(3, delay, now), "the third write forces it");
        ring.commit(shape(), None);
        assert_eq!((ring.wptr, ring.due()), (3, None));
    }

    #[test]
    fn the_read_pointer_can_be_given_with_the_write_pointer() {
        let mut ring = Ring::default();
        ring.stage(5, Delay::default(), Instant::now());
        assert_eq!(ring.commit(shape(), Some(5)), Verdict::Good);
        assert_eq!((ring.rptr, ring.pending(shape())), (5, 0));
        ring.reset();
        assert_eq!((ring.rptr, ring.wptr), (0, 5));
    }
}
