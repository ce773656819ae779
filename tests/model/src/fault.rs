// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Faults that a test can switch on.
//!
//! A fault is armed for a number of times or until it is cleared. Each time its moment comes, [`Faults::take`] consumes one.

use std::time::Duration;

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// What can go wrong on demand.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault { $($(#[doc = $doc])+ $variant,)+ }

        impl Fault {
            /// All faults.
            pub const ALL: &'static [Fault] = &[$(Fault::$variant,)+];

            /// The name that the control port uses.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$variant => $name,)+ }
            }

            /// The fault of that name.
            pub fn by_name(name: &str) -> Option<Fault> {
                Fault::ALL.iter().copied().find(|f| f.name() == name)
            }
        }
    };
}

faults! {
    /// The command processor stops for good at the next packet; a soft reset of the CP brings it back.
    Hang = "hang",
    /// The next indirect buffer never ends: it is executed over and over until a soft reset of the CP.
    EndlessBuffer = "endless-buffer",
    /// An interrupt is raised in the status register and never sent to the CPU.
    LostInterrupt = "lost-interrupt",
    /// A write-back of a scratch register does not reach memory.
    LostWriteback = "lost-writeback",
    /// A read pointer is not written back.
    LostRptr = "lost-rptr",
    /// A scratch register that would be written is written 500 ms later.
    LateFence = "late-fence",
    /// The card is pulled out: everything reads all ones, writes are lost, nothing runs, no DMA, no interrupt. Clearing it puts
    /// the card back, as after power-on (see [`crate::power`]).
    Dead = "dead",
    /// The same, at the Nth register access of the CPU from now on, which already finds nothing.
    DeadSoon = "dead-soon",
}

/// How long [`Fault::LateFence`] holds a command stream.
pub const LATE: Duration = Duration::from_millis(500);

/// Which faults are armed.
#[derive(Default)]
pub struct Faults {
    left: Vec<(Fault, Option<u64>)>,
}

impl Faults {
    /// Arms a fault `times` times, or until [`Faults::clear`].
    pub fn arm(&mut self, fault: Fault, times: Option<u64>) {
        self.left.retain(|(f, _)| *f != fault);
        if times != Some(0) {
            self.left.push((fault, times));
        }
    }

    /// Disarms all faults.
    pub fn clear(&mut self) {
        self.left.clear();
    }

    /// Whether the fault is armed, without consuming it.
    pub fn armed(&self, fault: Fault) -> bool {
        self.left.iter().any(|(f, _)| *f == fault)
    }

    /// For a fault that comes at the Nth occasion: whether this is it. Consumes one.
    pub fn last(&mut self, fault: Fault) -> bool {
        self.take(fault) && !self.armed(fault)
    }

    /// Whether the fault happens now; consumes one of its times.
    pub fn take(&mut self, fault: Fault) -> bool {
        let Some(i) = self.left.iter().position(|(f, _)| *f == fault) else {
            return false;
        };
        if let Some(n) = &mut self.left[i].1 {
            *n -= 1;
            if *n == 0 {
                self.left.remove(i);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_consumed() {
        let mut faults = Faults::default();
        faults.arm(Fault::LostInterrupt, Some(2));
        faults.arm(Fault::Dead, None);
        assert!(faults.take(Fault::LostInterrupt));
        assert!(faults.take(Fault::LostInterrupt));
        assert!(!faults.take(Fault::LostInterrupt));
        assert!(faults.take(Fault::Dead) && faults.take(Fault::Dead));
        faults.clear();
        assert!(!faults.armed(Fault::Dead));
        faults.arm(Fault::DeadSoon, Some(3));
        assert!(!faults.last(Fault::DeadSoon) && !faults.last(Fault::DeadSoon));
        assert!(faults.last(Fault::DeadSoon) && !faults.last(Fault::DeadSoon));
    }

    #[test]
    fn names_lead_back() {
        for f in Fault::ALL {
            assert_eq!(Fault::by_name(f.name()), Some(*f));
        }
    }
}
