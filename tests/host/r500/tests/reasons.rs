// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Numbers of refusals are part of the user interface: each is used once, and stays.

use r500::portable::checker::Reason;
use std::collections::BTreeSet;

#[test]
fn every_reason_has_a_number_of_its_own() {
    let numbers: BTreeSet<u32> = Reason::ALL.iter().map(|reason| reason.number()).collect();
    assert_eq!(numbers.len(), Reason::ALL.len());
    assert!(numbers.iter().all(|&number| number > 0x1000));
    // What INFO has room for.
    assert!(Reason::ALL
        .iter()
        .all(|reason| reason.text().is_ascii() && reason.text().len() < 104));
}

/// What user space may have written down. To be added to, never to be changed.
#[test]
fn numbers_stay() {
    for (reason, number) in [
        (Reason::TooManyFixups, 0x1001),
        (Reason::Truncated, 0x1002),
        (Reason::Type1, 0x1004),
        (Reason::UnknownRegister, 0x1009),
        (Reason::MissingRelocation, 0x1012),
        (Reason::OffsetBeyondObject, 0x1014),
        (Reason::IndicesDue, 0x105f),
    ] {
        assert_eq!(reason.number(), number, "{reason:?}");
    }
}
