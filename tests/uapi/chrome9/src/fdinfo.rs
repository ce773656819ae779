// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `/proc/PID/fdinfo` says about a client: its name and id, the time of the engine, its memory.

use crate::support::Chrome9;
use lapidary_harness::Test;
use lapidary_uapi_shared::fdinfo;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("fdinfo/who", fdinfo::who::<Chrome9>),
        Test::new("fdinfo/engine_time", fdinfo::engine_time::<Chrome9>).needs_control(),
        Test::new("fdinfo/memory", fdinfo::memory::<Chrome9>),
        Test::new("fdinfo/active", fdinfo::active::<Chrome9>).needs_control(),
    ]
}
