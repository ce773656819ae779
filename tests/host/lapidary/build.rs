// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Translates the system's `drm/radeon_drm.h`, and our own header, to Rust, so that a test can compare our definitions
//! with them.

use std::{env, process::Command};

fn main() {
    translate(
        "tests/radeon_drm.h",
        "radeon_drm",
        "drm_radeon_.*|RADEON_.*|DRM_RADEON_.*|IOCTL_.*",
    );
    translate(
        "../../../uapi/drm/lapidary_drm.h",
        "lapidary_drm",
        "LAPIDARY_.*|drm_lapidary_.*",
    );
    println!("cargo:rerun-if-changed=/usr/include/drm/radeon_drm.h");
}

/// Translate what has a name like `names` in `header`.
fn translate(header: &str, to: &str, names: &str) {
    let out = format!("{}/{to}.rs", env::var("OUT_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed={header}");
    let status = Command::new("bindgen")
        .args([header, "-o", &out])
        .args(["--allowlist-item", names])
        .args([
            "--no-layout-tests",
            "--no-doc-comments",
            "--rust-target",
            "1.82",
        ])
        .args(["--", "-I/usr/include/drm"])
        .status()
        .expect("bindgen is installed");
    assert!(status.success(), "bindgen cannot read {header}");
}
