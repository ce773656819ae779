// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects on submissions, binary and timeline: what a submission waits for, and what it signals.

use crate::support::{Chrome9, refused_for};
use anyhow::Result;
use lapidary_chrome9_client::abi::Sync;
use lapidary_chrome9_client::{Device, Errno, Submission, reason};
use lapidary_harness::Test;
use lapidary_uapi_shared::syncobj;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new(
            "syncobj/a_signal_comes_with_the_work",
            syncobj::signals::<Chrome9>,
        )
        .needs_control(),
        Test::new(
            "syncobj/points_of_a_timeline_come_in_order",
            syncobj::timeline::<Chrome9>,
        )
        .needs_control(),
        Test::new(
            "syncobj/waits_for_own_work_take_no_time",
            syncobj::own_work::<Chrome9>,
        )
        .needs_control(),
        Test::new(
            "syncobj/another_drivers_fence_is_waited_for",
            syncobj::waits::<Chrome9>,
        ),
        Test::new(
            "syncobj/a_wait_can_be_killed",
            syncobj::interruptible::<Chrome9>,
        ),
        Test::new(
            "syncobj/a_chain_is_waited_for_as_a_whole",
            syncobj::chain::<Chrome9>,
        ),
        Test::new(
            "syncobj/nothing_would_signal",
            syncobj::not_submitted::<Chrome9>,
        ),
        Test::new(
            "syncobj/unknown_handles_are_refused",
            syncobj::unknown_handles::<Chrome9>,
        ),
        Test::new(
            "syncobj/one_handle_is_signalled_once",
            syncobj::twice::<Chrome9>,
        ),
        Test::new("syncobj/a_refused_submission_signals_nothing", |c| {
            syncobj::refused_signals_nothing::<Chrome9>(c, refuse)
        }),
        Test::new("syncobj/fences_as_files", syncobj::files::<Chrome9>).needs_control(),
        Test::new(
            "syncobj/between_clients",
            syncobj::between_clients::<Chrome9>,
        )
        .needs_control(),
        Test::new("syncobj/many", syncobj::many::<Chrome9>),
    ]
}

/// Submit what is refused, with objects to signal.
fn refuse(device: &Device, objects: &[Sync]) -> Result<()> {
    let mut bad = Submission::nothing();
    bad.signal = objects.to_vec();
    bad.words[3] = 0;
    let why = (reason::NO_HEADER, 3);
    refused_for("a bad stream", device, &bad, Errno::INVAL, why)
}
