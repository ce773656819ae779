// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring's pointers (R5xx 4.4, 4.5, 4.8).
//!
//! Both count dwords from the ring's base. Equal pointers mean an empty ring. The host writes the write pointer into
//! a staging register, where it waits for a timer or for a number of further writes. The read pointer is written back
//! to memory when it crosses a block's boundary and when the ring is empty.

use std::time::{Duration, Instant};

use lapidary_registers::r500::mmio::{cp_rb_cntl, cp_rb_wptr_delay};

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

/// Return the ring's size in dwords, a power of two.
pub fn size(cntl: u32) -> u32 {
    2 << cp_rb_cntl::RB_BUFSZ.get(cntl).min(22)
}

/// Return the dwords between write-backs of the read pointer.
pub fn block(cntl: u32) -> u32 {
    2 << cp_rb_cntl::RB_BLKSZ.get(cntl).min(22)
}

impl Ring {
    /// The host writes the write pointer; true if it takes effect at once.
    pub fn stage(&mut self, value: u32, delay: u32, now: Instant) -> bool {
        let timer = cp_rb_wptr_delay::PRE_WRITE_TIMER.get(delay);
        let limit = cp_rb_wptr_delay::PRE_WRITE_LIMIT.get(delay);
        let writes = self.staged.map_or(0, |s| s.writes) + 1;
        self.staged = Some(Staged {
            value,
            due: now + CLOCK * timer,
            writes,
        });
        timer == 0 || (limit != 0 && writes >= limit)
    }

    /// When a staged pointer takes effect by itself.
    pub fn due(&self) -> Option<Instant> {
        self.staged.map(|s| s.due)
    }

    /// Return what reading the write pointer yields.
    pub fn written(&self) -> u32 {
        self.staged.map_or(self.wptr, |s| s.value)
    }

    /// The staged pointer becomes the write pointer; `rptr_wr` is given if it also sets the read pointer.
    pub fn commit(&mut self, cntl: u32, rptr_wr: Option<u32>) -> Verdict {
        let Some(staged) = self.staged.take() else {
            return Verdict::Good;
        };
        let mask = size(cntl) - 1;
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
    pub fn pending(&self, cntl: u32) -> u32 {
        self.wptr.wrapping_sub(self.rptr) & (size(cntl) - 1)
    }

    /// Go on by `n` dwords; true if the read pointer is to be written back.
    pub fn advance(&mut self, n: u32, cntl: u32) -> bool {
        let mask = size(cntl) - 1;
        let old = self.rptr & mask;
        let crossed = old / block(cntl) != (old + n) / block(cntl) || old + n > mask;
        self.rptr = (old + n) & mask;
        crossed || self.pending(cntl) == 0
    }

    /// A soft reset: reading begins at the ring's start again, the write pointer stays (so the host must write it).
    pub fn reset(&mut self) {
        self.rptr = 0;
        self.staged = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 dwords, blocks of 4.
    fn cntl() -> u32 {
        cp_rb_cntl::RB_BUFSZ.put(0, 3) | cp_rb_cntl::RB_BLKSZ.put(0, 1)
    }

    fn write(ring: &mut Ring, value: u32) -> Verdict {
        assert!(ring.stage(value, 0, Instant::now()));
        ring.commit(cntl(), None)
    }

    #[test]
    fn wraps_and_writes_back_per_block() {
        let mut ring = Ring::default();
        assert_eq!(write(&mut ring, 15), Verdict::Good);
        assert_eq!(ring.pending(cntl()), 15);
        assert!(!ring.advance(3, cntl()));
        assert!(ring.advance(1, cntl()), "a block is done");
        assert!(ring.advance(11, cntl()), "empty");
        assert_eq!(write(&mut ring, 2), Verdict::Good);
        assert_eq!(ring.pending(cntl()), 3);
        assert!(ring.advance(1, cntl()), "the wrap ends a block");
        assert_eq!(ring.rptr, 0);
        assert!(!ring.advance(1, cntl()));
    }

    #[test]
    fn overruns_are_seen() {
        let mut ring = Ring::default();
        write(&mut ring, 10);
        ring.advance(4, cntl());
        assert_eq!(write(&mut ring, 3), Verdict::Good, "one slot stays free");
        assert_eq!(write(&mut ring, 5), Verdict::Overrun);
        let mut ring = Ring::default();
        write(&mut ring, 10);
        ring.advance(4, cntl());
        assert_eq!(
            write(&mut ring, 4),
            Verdict::Overrun,
            "a full ring looks empty"
        );
        assert_eq!(write(&mut ring, 16), Verdict::Outside);
    }

    #[test]
    fn the_staging_register_waits_for_time_or_writes() {
        let delay = cp_rb_wptr_delay::PRE_WRITE_TIMER.put(0, 1_000_000)
            | cp_rb_wptr_delay::PRE_WRITE_LIMIT.put(0, 3);
        let mut ring = Ring::default();
        let now = Instant::now();
        assert!(!ring.stage(1, delay, now));
        assert_eq!((ring.wptr, ring.written()), (0, 1));
        assert_eq!(ring.due(), Some(now + Duration::from_millis(2)));
        assert!(!ring.stage(2, delay, now));
        assert!(ring.stage(3, delay, now), "the third write forces it");
        ring.commit(cntl(), None);
        assert_eq!((ring.wptr, ring.due()), (3, None));
    }

    #[test]
    fn the_read_pointer_can_be_given_with_the_write_pointer() {
        let mut ring = Ring::default();
        ring.stage(5, 0, Instant::now());
        assert_eq!(ring.commit(cntl(), Some(5)), Verdict::Good);
        assert_eq!((ring.rptr, ring.pending(cntl())), (5, 0));
        ring.reset();
        assert_eq!((ring.rptr, ring.wptr), (0, 5));
    }
}
