// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Hangs of single engines. The reset restarts each of them.

use lapidary_harness::Test;
use lapidary_uapi_radeon::recovery::{OWN, innocents};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("recovery/stuck_2d", |c| innocents(c, "hang-2d"))
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
        Test::new("recovery/stuck_3d", |c| innocents(c, "hang-3d"))
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
        Test::new("recovery/stuck_pipe", |c| innocents(c, "hang-raster"))
            .needs_control()
            .hangs(1)
            .lapidary_only(OWN),
    ]
}
