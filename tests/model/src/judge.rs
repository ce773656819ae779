// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The judge: counts and names every use that real silicon would not promise to bear.
//!
//! A finding is not an error of the model: the access goes on as the hardware most plausibly would. Tests take the
//! findings over the control port. Those that no test took end in the report file, and the runner fails on them.

use std::collections::BTreeMap;
use std::fmt;

use crate::kind::{self, Kind};

/// How often a kind was found, and what the first one was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// How often since the last take.
    pub count: u64,
    /// What exactly, the first time; one line.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "finding {} {} {}", self.kind, self.count, self.detail)
    }
}

/// A packet under execution, so that a finding can name it.
#[derive(Clone, Copy, Debug)]
pub struct Doing {
    /// Which stream it came from.
    pub stream: &'static str,
    /// Where its header was: a GPU address, or 0 for pushed data.
    pub address: u64,
    /// Its header.
    pub header: u32,
    /// Names a packet by its header.
    pub name: fn(u32) -> String,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {:#010x}: {}",
            self.stream,
            self.address,
            (self.name)(self.header)
        )
    }
}

/// Bytes of a detail that is put together from several findings, about.
const LONGEST_DETAIL: usize = 8192;

/// Collects findings.
#[derive(Default)]
pub struct Judge {
    found: BTreeMap<Kind, Finding>,
    doing: Option<Doing>,
}

impl Judge {
    /// Say what the command processor is executing; findings name it. None: what the CPU does.
    #[inline]
    pub fn doing(&mut self, what: Option<Doing>) {
        self.doing = what;
    }

    /// Add a finding. Never fails; details beyond the first of a kind are only counted.
    pub fn report(&mut self, kind: Kind, detail: fmt::Arguments<'_>) {
        let doing = self.doing;
        self.found
            .entry(kind)
            .and_modify(|f| {
                f.count = f.count.saturating_add(1);
                // Each of these comes once, and each is to be named.
                if kind == kind::UNIMPLEMENTED_REGISTER && f.detail.len() < LONGEST_DETAIL {
                    log::warn!("finding {kind}: {detail}");
                    f.detail = format!("{}; {detail}", f.detail);
                }
            })
            .or_insert_with(|| {
                let mut text = detail.to_string();
                if let Some(doing) = doing {
                    text = format!("{text}; by {doing}");
                }
                log::warn!("finding {kind}: {text}");
                Finding {
                    kind,
                    count: 1,
                    detail: text.replace('\n', " "),
                }
            });
    }

    /// Return how often a kind was found since the last take.
    pub fn count(&self, kind: Kind) -> u64 {
        self.found.get(&kind).map_or(0, |f| f.count)
    }

    /// Take all findings and forget them.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found).into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod family {
        crate::kinds! { crate::kind::FAMILY;
            /// One of a family.
            RING_OVERRUN = "ring-overrun",
            /// Another one.
            GART_FAULT = "gart-fault",
        }
    }

    #[test]
    fn findings_are_counted_and_taken_once() {
        let mut judge = Judge::default();
        judge.report(family::GART_FAULT, format_args!("first"));
        judge.doing(Some(Doing {
            stream: "ring",
            address: 16,
            header: 7,
            name: |h| format!("packet {h}"),
        }));
        judge.report(family::GART_FAULT, format_args!("second"));
        judge.report(family::RING_OVERRUN, format_args!("third"));
        let taken = judge.take();
        assert_eq!(taken.len(), 2);
        assert_eq!(
            taken[0].to_string(),
            "finding ring-overrun 1 third; by ring 0x00000010: packet 7"
        );
        assert_eq!(
            (taken[1].kind, taken[1].count, taken[1].detail.as_str()),
            (family::GART_FAULT, 2, "first")
        );
        assert!(judge.take().is_empty());
    }

    #[test]
    fn unimplemented_registers_are_all_named() {
        let mut judge = Judge::default();
        judge.report(kind::UNIMPLEMENTED_REGISTER, format_args!("A read"));
        judge.report(kind::UNIMPLEMENTED_REGISTER, format_args!("B read"));
        assert_eq!(
            judge.take()[0].to_string(),
            "finding unimplemented-register 2 A read; B read"
        );
    }

    #[test]
    fn what_any_card_shows_comes_before_what_a_family_shows() {
        assert!(kind::ALL.is_sorted() && family::ALL.is_sorted());
        assert!(kind::ALL.last() < family::ALL.first());
    }
}
