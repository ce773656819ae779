// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What ours has to reach, and whom it is compared with: upstream's driver of the same chip; where there is none, our
//! oldest, whose figures upstream's have judged.

use crate::radeon::family::family;
use crate::rows::Kind;
use crate::side::Side;
use crate::table::Target;
use anyhow::{Result, ensure};

/// Driver of the devices that have an upstream driver.
const UPSTREAM: &str = "radeon";

/// Whom ours is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Upstream's driver of the same chip.
    Upstream,
    /// Our driver of R5xx, on another chip.
    R500,
}

/// What has to be reached in one row.
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    /// Instructions of all processes.
    pub instructions: Target,
    /// Those of the calls alone.
    pub entry_to_return: Target,
    /// Register accesses.
    pub accesses: Target,
    /// Register reads among them.
    pub reads: Target,
    /// Interrupts.
    pub interrupts: Target,
    /// Allocations.
    pub allocations: Target,
}

impl Reference {
    /// Return the one of these devices.
    ///
    /// # Errors
    ///
    /// Both devices have drivers that are compared with something else.
    pub fn of(sides: &[Side]) -> Result<Reference> {
        let radeon = sides.iter().all(|side| side.client.radeon().is_some());
        let reference = if radeon {
            Reference::Upstream
        } else {
            Reference::R500
        };
        let with_it = |side: &Side| side.driver == reference.driver();
        ensure!(
            sides.len() == 1 || sides.iter().any(with_it),
            "no device has driver {}",
            reference.driver()
        );
        Ok(reference)
    }

    /// Return the name of the driver's module.
    pub fn driver(self) -> &'static str {
        match self {
            Reference::Upstream => UPSTREAM,
            Reference::R500 => "r500",
        }
    }

    /// Return the heading of its columns.
    pub fn name(self) -> &'static str {
        match self {
            Reference::Upstream => "upstream",
            Reference::R500 => "r500",
        }
    }

    /// Return what has to be reached in rows of a kind.
    pub fn targets(self, kind: Kind) -> Targets {
        match self {
            Reference::Upstream => in_upstreams(kind),
            Reference::R500 => in_r500s(kind),
        }
    }
}

fn only(applies: bool, target: Target) -> Target {
    if applies { target } else { Target::None }
}

fn in_upstreams(kind: Kind) -> Targets {
    let submits = matches!(kind, Kind::Submission | Kind::Submission2d | Kind::Refusal);
    Targets {
        instructions: match kind {
            Kind::Submission | Kind::Refusal => Target::Ratio(family().submission()),
            Kind::Submission2d => Target::Ratio(1.0),
            // 0.8, but how often either side is disturbed while it sleeps depends on the host. With a thread between
            // interrupt and waiter it was 1.58.
            Kind::Wait => Target::Ratio(1.1),
            Kind::LargeTouched => Target::Ratio(1.1),
            Kind::Vram => Target::Ratio(1.5),
            Kind::Other => Target::None,
        },
        entry_to_return: Target::None,
        accesses: match kind {
            Kind::Submission | Kind::Submission2d => Target::Most(1.0),
            Kind::Refusal => Target::Most(0.0),
            Kind::Wait => Target::Most(5.0),
            Kind::Vram | Kind::LargeTouched | Kind::Other => Target::None,
        },
        reads: Target::None,
        interrupts: only(submits, Target::Most(0.0)),
        allocations: Target::None,
    }
}

/// The calls of a submission are exact counts. What they cause later is disturbed by the host, in small rows by a sixth.
fn in_r500s(kind: Kind) -> Targets {
    let submits = matches!(kind, Kind::Submission | Kind::Submission2d | Kind::Refusal);
    Targets {
        instructions: match kind {
            Kind::Submission | Kind::Submission2d | Kind::Refusal => Target::Ratio(1.3),
            Kind::Wait | Kind::LargeTouched => Target::Ratio(1.2),
            Kind::Vram => Target::Ratio(1.5),
            Kind::Other => Target::None,
        },
        // A block of the ring is longer than r500's, and the state of a 3D engine is unknown at first.
        entry_to_return: only(submits, Target::Ratio(1.1)),
        accesses: match kind {
            Kind::Submission | Kind::Submission2d => Target::Most(1.0),
            Kind::Refusal => Target::Most(0.0),
            Kind::Wait => Target::Most(6.0),
            Kind::Vram | Kind::LargeTouched | Kind::Other => Target::None,
        },
        reads: only(submits, Target::Most(0.0)),
        interrupts: only(submits, Target::Most(0.0)),
        allocations: only(submits, Target::Ratio(1.0)),
    }
}
