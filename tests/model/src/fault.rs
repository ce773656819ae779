// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Faults that a test can switch on.
//!
//! A fault is armed for a number of times or until it is cleared. Each time its moment comes, [`Faults::take`]
//! consumes one. For a few the number says something else: which occasion it is, or what to look for.

/// What can go wrong on demand, by its name at the control port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault(&'static str);

impl Fault {
    /// Return a fault of that name. Use [`faults!`](crate::faults).
    pub const fn new(name: &'static str) -> Fault {
        Fault(name)
    }

    /// Return the name that the control port uses.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// Defines faults as constants, and `ALL`, a list of them.
#[macro_export]
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        $($(#[doc = $doc])+
        pub const $name: $crate::fault::Fault = $crate::fault::Fault::new($text);)+

        /// All faults of this list.
        pub const ALL: &[$crate::fault::Fault] = &[$($name,)+];
    };
}

faults! {
    /// The card is pulled out: everything reads all ones, writes are lost, nothing runs, no DMA, no interrupt.
    /// Clearing it puts the card back, as after power-on (see [`crate::power`]).
    DEAD = "dead",
    /// The same, the next time the card goes to D3hot: it does not come back from sleep.
    DEAD_ASLEEP = "dead-asleep",
    /// The same, at the Nth register access of the CPU from now on, which already finds nothing.
    DEAD_SOON = "dead-soon",
}

/// Return the fault of that name, of the family's or of any card.
///
/// # Errors
/// One line that names the faults there are.
pub fn by_name(family: &[Fault], name: &str) -> Result<Fault, String> {
    let faults = || family.iter().chain(ALL).copied();
    faults().find(|f| f.name() == name).ok_or_else(|| {
        let all: Vec<_> = faults().map(Fault::name).collect();
        format!("no fault {name}; there are {}", all.join(", "))
    })
}

/// Which faults are armed.
#[derive(Default)]
pub struct Faults {
    left: Vec<(Fault, Option<u64>)>,
}

impl Faults {
    /// Arm a fault `times` times, or until [`Faults::clear`].
    pub fn arm(&mut self, fault: Fault, times: Option<u64>) {
        self.left.retain(|(f, _)| *f != fault);
        if times != Some(0) {
            self.left.push((fault, times));
        }
    }

    /// Disarm all faults.
    pub fn clear(&mut self) {
        self.left.clear();
    }

    /// Return whether the fault is armed, without consuming it.
    #[inline]
    pub fn armed(&self, fault: Fault) -> bool {
        self.left.iter().any(|(f, _)| *f == fault)
    }

    /// Return the number that the fault was armed with.
    pub fn value(&self, fault: Fault) -> Option<u64> {
        self.left.iter().find(|(f, _)| *f == fault)?.1
    }

    /// Return whether this is the occasion of a fault that comes at the Nth one. Consumes one. Without a number, each
    /// occasion is.
    pub fn last(&mut self, fault: Fault) -> bool {
        let each = self.value(fault).is_none();
        self.take(fault) && (each || !self.armed(fault))
    }

    /// Return whether the fault happens now; consumes one of its times.
    #[inline]
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

    mod family {
        crate::faults! {
            /// One of a family.
            LOST_INTERRUPT = "lost-interrupt",
        }
    }

    #[test]
    fn times_are_consumed() {
        let mut faults = Faults::default();
        faults.arm(family::LOST_INTERRUPT, Some(2));
        faults.arm(DEAD, None);
        assert!(faults.take(family::LOST_INTERRUPT));
        assert!(faults.take(family::LOST_INTERRUPT));
        assert!(!faults.take(family::LOST_INTERRUPT));
        assert!(faults.take(DEAD) && faults.take(DEAD));
        faults.clear();
        assert!(!faults.armed(DEAD));
        faults.arm(DEAD_SOON, Some(3));
        assert!(!faults.last(DEAD_SOON) && !faults.last(DEAD_SOON));
        assert!(faults.last(DEAD_SOON) && !faults.last(DEAD_SOON));
        faults.arm(DEAD_SOON, None);
        assert!(faults.last(DEAD_SOON) && faults.last(DEAD_SOON));
    }

    #[test]
    fn names_lead_back() {
        for f in ALL.iter().chain(family::ALL) {
            assert_eq!(by_name(family::ALL, f.name()), Ok(*f));
        }
        let refused = by_name(family::ALL, "none").unwrap_err();
        assert_eq!(
            refused,
            "no fault none; there are lost-interrupt, dead, dead-asleep, dead-soon"
        );
    }
}
