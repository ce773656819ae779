// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Waits of the regulator: numbers of commands at 60h and 3260h, and what it waits for at 6Ch and 326Ch (L755-757).
//!
//! The model executes commands one after the other, so that every engine is idle when the regulator asks. Pictures of HQV end
//! when they begin. Nothing starts the DMA engine or motion compensation, so that waits for them are over, too (decision 15).
//! What takes time are vertical blanks. Both displays blank together here.

use std::time::Instant;

use lapidary_model::machine::Machine;
use lapidary_registers::Field;
use lapidary_registers::chrome9::mmio::{self, command_id_2d_3d as id, wait_control_2d_3d as wait};

use crate::{Chrome9, kind};

/// What of a vertical blank is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Start,
    End,
    Within,
}

/// Which displays a wait needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    First,
    Second,
    Both,
}

const WAITS: &[(Field, Moment, Needs)] = &[
    (wait::WAIT_IGA1_VBLK_START, Moment::Start, Needs::First),
    (wait::WAIT_IGA2_VBLK_START, Moment::Start, Needs::Second),
    (wait::WAIT_IGA1_VBLK_END, Moment::End, Needs::First),
    (wait::WAIT_IGA2_VBLK_END, Moment::End, Needs::Second),
    (wait::WAIT_IGA1_VBLK, Moment::Within, Needs::First),
    (wait::WAIT_IGA2_VBLK, Moment::Within, Needs::Second),
    (wait::WAIT_FORMER_VBLK_START, Moment::Start, Needs::Both),
    (wait::WAIT_LATER_VBLK_START, Moment::Start, Needs::Both),
    (wait::WAIT_FORMER_VBLK_END, Moment::End, Needs::Both),
    (wait::WAIT_LATER_VBLK_END, Moment::End, Needs::Both),
    (wait::WAIT_FORMER_VBLK, Moment::Within, Needs::Both),
    (wait::WAIT_LATER_VBLK, Moment::Within, Needs::Both),
];

impl Chrome9 {
    /// Take the number of a command.
    pub(crate) fn command_id(&mut self, m: &mut Machine, value: u32) {
        if id::FORCE_START.any(value) {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("FORCE_START in a command's number"),
            );
        }
    }

    /// Take what the path waits for.
    pub(crate) fn wait(&mut self, m: &mut Machine, offset: u32, value: u32, now: Instant) {
        if offset != mmio::WAIT_CONTROL_2D_3D {
            return;
        }
        for (field, moment, needs) in WAITS {
            if !field.any(value) {
                continue;
            }
            let (first, second) = self.display.lit();
            let lit = match needs {
                Needs::First => first,
                Needs::Second => second,
                Needs::Both => first && second,
            };
            if !lit {
                m.finding(
                    kind::WAIT_FOR_NOTHING,
                    format_args!("{moment:?} of a vertical blank that does not come"),
                );
                continue;
            }
            let until = match moment {
                Moment::Start => self.display.next_start(now),
                Moment::End => self.display.next_end(now),
                Moment::Within => self.display.within(now),
            };
            self.stalled = self.stalled.max(Some(until));
        }
    }

    /// Return until when the regulator waits, if it still does.
    pub(crate) fn stall(&mut self, now: Instant) -> Option<Instant> {
        self.stalled = self.stalled.filter(|until| *until > now);
        self.stalled
    }
}
