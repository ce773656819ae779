// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Translates the system's `drm/radeon_drm.h` to Rust, so that a test can compare our definitions with it.

use std::{env, process::Command};

fn main() {
    let out = format!(
        "{}/radeon_drm.rs",
        env::var("OUT_DIR").expect("cargo sets it")
    );
    println!("cargo:rerun-if-changed=tests/radeon_drm.h");
    println!("cargo:rerun-if-changed=/usr/include/drm/radeon_drm.h");
    let status = Command::new("bindgen")
        .args(["tests/radeon_drm.h", "-o", &out])
        .args(["--allowlist-type", "drm_radeon_.*"])
        .args(["--allowlist-var", "RADEON_.*|DRM_RADEON_.*|IOCTL_.*"])
        .args([
            "--no-layout-tests",
            "--no-doc-comments",
            "--rust-target",
            "1.82",
        ])
        .args(["--", "-I/usr/include/drm"])
        .status()
        .expect("bindgen is installed");
    assert!(status.success(), "bindgen cannot read drm/radeon_drm.h");
}
