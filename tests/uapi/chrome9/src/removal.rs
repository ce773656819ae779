// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chip is removed while clients use it. No mainboard lets one pull its graphics out, but the PCI core can, and a chip
//! that has failed answers no more than one that is not there.

use crate::support::Chrome9;
use lapidary_harness::Test;
use lapidary_uapi_shared::removal::{faulting, pulled_out, submitting, unbound, waiting};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("removal/idle", |c| pulled_out::<Chrome9>(c, &[])).needs_control(),
        Test::new("removal/while_it_is_used", |c| {
            pulled_out::<Chrome9>(
                c,
                &[
                    submitting::<Chrome9>,
                    waiting::<Chrome9>,
                    faulting::<Chrome9>,
                ],
            )
        })
        .needs_control()
        .limit(120),
        Test::new("removal/unbinding_in_use", |_| {
            unbound::<Chrome9>(
                &[
                    submitting::<Chrome9>,
                    waiting::<Chrome9>,
                    faulting::<Chrome9>,
                ],
                4,
            )
        })
        .limit(120),
    ]
}
