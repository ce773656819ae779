// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A test, and what it declares: what it provokes, what it needs, and how the two drivers differ.
//!
//! Tests are written for both drivers, ours and upstream's. Where they differ, the test says so, with the
//! reason, in one of two ways:
//!
//! - *It answers differently* ([`Test::upstream_answers`], [`Test::lapidary_answers`]): the test runs, and must
//!   fail with exactly the answer that is known. When it passes, the difference is gone and so must the mark.
//! - *It is left out* ([`Test::lapidary_only`], [`Test::upstream_only`]): for tests of something that the other
//!   driver does not have or does not promise.

use super::Context;
use anyhow::Result;
use std::time::Duration;

/// The drivers that speak an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Ours.
    Lapidary,
    /// Upstream's.
    Upstream,
}

/// How a test stands to one of the drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It does not run there.
    LeftOut {
        /// Why.
        because: &'static str,
    },
    /// It fails there.
    Differs {
        /// What its failure says, in part.
        answer: &'static str,
        /// Why the driver may answer so.
        because: &'static str,
    },
}

/// A test and what it declares.
pub struct Test {
    pub(super) name: &'static str,
    pub(super) body: fn(&mut Context) -> Result<()>,
    pub(super) findings: Vec<(&'static str, u64)>,
    pub(super) kernel: Vec<(&'static str, u64)>,
    pub(super) grumbles: Vec<&'static str>,
    pub(super) control: bool,
    pub(super) own_user: bool,
    pub(super) condition: Option<fn() -> Result<()>>,
    pub(super) limit: Duration,
    marks: Vec<(Driver, Mark)>,
}

impl Test {
    /// Make a test that provokes nothing and may take a minute.
    pub fn new(name: &'static str, body: fn(&mut Context) -> Result<()>) -> Test {
        Test {
            name,
            body,
            findings: Vec::new(),
            kernel: Vec::new(),
            grumbles: Vec::new(),
            control: false,
            own_user: false,
            condition: None,
            limit: Duration::from_secs(60),
            marks: Vec::new(),
        }
    }

    /// Declare that the test makes the judge find `kind` exactly `count` times.
    pub fn finding(mut self, kind: &'static str, count: u64) -> Test {
        self.findings.push((kind, count));
        self.needs_control()
    }

    /// Declare that the test makes the kernel log exactly `count` records of level warning or worse that contain
    /// `text`.
    pub fn kernel(mut self, text: &'static str, count: u64) -> Test {
        self.kernel.push((text, count));
        self
    }

    /// Declare that the test hangs the GPU exactly `count` times. It runs as a user of its own: a user who hangs the
    /// GPU often is refused for a while, and that is not to be some other test's affair.
    pub fn hangs(mut self, count: u64) -> Test {
        self.own_user = true;
        self.kernel("hung, no fence in", count)
    }

    /// Declare that the test makes other parts of the kernel log records of level warning or worse that contain `text`:
    /// some number of them, which is not ours to say. For our own lines there is [`Test::kernel`].
    pub fn kernel_grumbles(mut self, text: &'static str) -> Test {
        self.grumbles.push(text);
        self
    }

    /// Declare that the test talks to the device model. It is skipped on real hardware.
    pub fn needs_control(mut self) -> Test {
        self.control = true;
        self
    }

    /// Run `condition` in the test's process before the test. It may skip the test ([`super::skip`]).
    pub fn only_if(mut self, condition: fn() -> Result<()>) -> Test {
        self.condition = Some(condition);
        self
    }

    /// Set another time limit.
    pub fn limit(mut self, seconds: u64) -> Test {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// Leave the test out on upstream's driver. It is about something that only ours promises.
    pub fn lapidary_only(self, because: &'static str) -> Test {
        self.mark(Driver::Upstream, Mark::LeftOut { because })
    }

    /// Leave the test out on our driver. It is about something that only upstream's has.
    pub fn upstream_only(self, because: &'static str) -> Test {
        self.mark(Driver::Lapidary, Mark::LeftOut { because })
    }

    /// Declare that the test fails on upstream's driver, with a reason that contains `answer`.
    pub fn upstream_answers(self, answer: &'static str, because: &'static str) -> Test {
        self.mark(Driver::Upstream, Mark::Differs { answer, because })
    }

    /// Declare that the test fails on our driver, with a reason that contains `answer`.
    pub fn lapidary_answers(self, answer: &'static str, because: &'static str) -> Test {
        self.mark(Driver::Lapidary, Mark::Differs { answer, because })
    }

    fn mark(mut self, driver: Driver, mark: Mark) -> Test {
        assert!(
            self.marked(driver).is_none(),
            "{}: two marks for {driver:?}",
            self.name
        );
        self.marks.push((driver, mark));
        self
    }

    /// Return the mark for a driver.
    pub(super) fn marked(&self, driver: Driver) -> Option<Mark> {
        let found = self.marks.iter().find(|(marked, _)| *marked == driver);
        found.map(|&(_, mark)| mark)
    }
}
