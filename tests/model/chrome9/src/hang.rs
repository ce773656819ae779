// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Faults of the fetcher: it stops, goes round in a branch, or holds a fence.

use std::time::{Duration, Instant};

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::mmio::{cr_setting as setting, cr_space as space};
use lapidary_registers::chrome9::{enums, para_11, para_11::fence_4};

use crate::Chrome9;
use crate::fault::{self, LATE};
use crate::regulator::Source;
use crate::stream::{Stream, code};

/// How long an endless branch rests between its rounds, so that the host's processor stays free.
const ROUND: Duration = Duration::from_millis(1);

/// What faults have done to the fetcher.
#[derive(Default)]
pub struct Halt {
    /// It stands until it is cleared.
    hung: bool,
    /// It does nothing until then.
    rest: Option<Instant>,
    /// The fence at the present address has been held already.
    held: bool,
    /// The unit with a fence that is made when the fetcher is cleared, and its address.
    at_halt: Option<(u64, [u32; 4])>,
}

impl Halt {
    /// Return whether the fetcher stands until it is cleared.
    pub fn stands(&self) -> bool {
        self.hung || self.at_halt.is_some()
    }

    /// Return until when the fetcher rests, if it still does.
    pub fn rests(&mut self, now: Instant) -> Option<Instant> {
        self.rest = self.rest.filter(|until| *until > now);
        self.rest
    }

    /// Rest between two rounds of an endless branch.
    pub fn rest_a_round(&mut self, now: Instant) {
        self.rest = Some(now + ROUND);
    }
}

impl Chrome9 {
    /// Let a fault keep a unit from being executed; `begins` says whether it is the first of a branch that is to hang.
    /// Return whether one does.
    pub(crate) fn held_by_fault(
        &mut self,
        m: &mut Machine,
        now: Instant,
        begins: bool,
        at: u64,
        words: [u32; 4],
    ) -> bool {
        let header = self.fetcher.stream.open() && code(words[0]).is_some();
        let named = !header && self.names_hang(m, &words);
        if begins || named || header && m.faults.take(fault::HANG) {
            m.trace.line(format_args!("fault: hang at {at:#x}"));
            self.fetcher.halt.hung = true;
            return true;
        }
        if header || !self.makes_fence(&words) {
            return false;
        }
        if std::mem::take(&mut self.fetcher.halt.held) {
            return false;
        }
        if m.faults.take(fault::LATE_FENCE) {
            m.trace.line(format_args!("fault: late fence"));
            self.fetcher.halt.rest = Some(now + LATE);
            self.fetcher.halt.held = true;
            return true;
        }
        if m.faults.take(fault::FENCE_AT_HALT) {
            m.trace.line(format_args!("fault: fence at halt"));
            self.fetcher.halt.at_halt = Some((at, words));
            return true;
        }
        false
    }

    /// Return whether a unit has a parameter of type 11h with a sub-address and data as asked.
    fn has_misc(&self, words: &[u32], sub_address: u32, data: impl Fn(u32) -> bool) -> bool {
        let Stream::Parameters(which) = self.fetcher.stream else {
            return false;
        };
        let window = self.windows[Source::Stream as usize][which as usize];
        let kind = window.setting().map(|s| setting::HPARATYPE.get(s));
        kind == Some(enums::para_type::REGULATOR_MISC)
            && words
                .iter()
                .any(|w| space::SUB_ADDRESS.get(*w) == sub_address && data(space::DATA.get(*w)))
    }

    fn makes_fence(&self, words: &[u32]) -> bool {
        self.has_misc(words, para_11::FENCE_4, |d| fence_4::TRIGGER.any(d))
    }

    fn names_hang(&self, m: &Machine, words: &[u32]) -> bool {
        let name = m.faults.value(fault::HANG_ON);
        self.has_misc(words, para_11::SW_INSPECTION_1, |d| name == Some(d.into()))
    }

    /// Clear the fetcher, which ends a hang.
    pub(crate) fn clear_fetch(&mut self, m: &mut Machine) {
        if let Some((at, words)) = self.fetcher.halt.at_halt.take() {
            self.stream_unit(m, at, words);
        }
        if self.fetcher.halt.hung && m.faults.take(fault::RESET_FAILS) {
            m.trace.line(format_args!("fault: the clear does not help"));
            return;
        }
        self.fetcher.halt = Halt::default();
        self.fetcher.clear();
        // A stop ends a list (L558).
        self.engine3d.abandon();
    }
}
