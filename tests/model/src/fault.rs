// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Faults that a test can switch on.
//!
//! A fault is armed for a number of times or until it is cleared. Each time its moment comes, [`Faults::take`]
//! consumes one. For a few the number says something else: which occasion it is, or what to look for.

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
    /// At the first packet of the Nth indirect buffer from now (without N: of each) the command processor stops, as
    /// by `hang`.
    HangBuffer = "hang-buffer",
    /// The command processor stops whenever it comes to a NOP packet whose first dword is N: a test names its own job
    /// by it, which hangs each time it is executed.
    HangOn = "hang-on",
    /// The 3D engine never ends: the next wait for it does not return. VAP and GA are busy until both are soft reset.
    Hang3d = "hang-3d",
    /// The same beyond GA: after its soft reset it is still busy, until GA_SOFT_RESET is written as well (R5xx 9.1.9).
    HangRaster = "hang-raster",
    /// The 2D engine never ends: the next wait for it does not return, until E2 is soft reset.
    Hang2d = "hang-2d",
    /// A soft reset of something that hangs does not help.
    ResetFails = "reset-fails",
    /// The next indirect buffer never ends: it is executed over and over until a soft reset of the CP.
    EndlessBuffer = "endless-buffer",
    /// An interrupt is raised in the status register and never sent to the CPU.
    LostInterrupt = "lost-interrupt",
    /// With the next event that can interrupt, the vertical blanking of display 1 interrupts, too, and goes on until its
    /// source is switched off in DXMODE_INT_MASK: somebody else (a system management routine) has switched it on.
    DisplayInterrupt = "display-interrupt",
    /// A write-back of a scratch register does not reach memory.
    LostWriteback = "lost-writeback",
    /// A read pointer is not written back.
    LostRptr = "lost-rptr",
    /// A scratch register that would be written is written 500 ms later.
    LateFence = "late-fence",
    /// A scratch register that would be written is written only when the streams are switched off: a job that completes
    /// just as somebody gives it up.
    FenceAtHalt = "fence-at-halt",
    /// The card is pulled out: everything reads all ones, writes are lost, nothing runs, no DMA, no interrupt.
    /// Clearing it puts the card back, as after power-on (see [`crate::power`]).
    Dead = "dead",
    /// The same, the next time the card goes to D3hot: it does not come back from sleep.
    DeadAsleep = "dead-asleep",
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

    /// The number that the fault was armed with.
    pub fn value(&self, fault: Fault) -> Option<u64> {
        self.left.iter().find(|(f, _)| *f == fault)?.1
    }

    /// For a fault that comes at the Nth occasion: whether this is it. Consumes one. Without a number, each occasion
    /// is.
    pub fn last(&mut self, fault: Fault) -> bool {
        let each = self.value(fault).is_none();
        self.take(fault) && (each || !self.armed(fault))
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
        faults.arm(Fault::DeadSoon, None);
        assert!(faults.last(Fault::DeadSoon) && faults.last(Fault::DeadSoon));
    }

    #[test]
    fn names_lead_back() {
        for f in Fault::ALL {
            assert_eq!(Fault::by_name(f.name()), Some(*f));
        }
    }
}
