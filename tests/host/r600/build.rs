// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Generates the register constants that the driver's portable code includes, from the same database and by
//! the same program as the module build.

use std::{env, path::PathBuf, process::Command};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("../../..")
        .canonicalize()
        .expect("the crate lies three levels below the top");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let generator = root.join("scripts/registers.py");
    let registers = root.join("drivers/r600/registers");
    println!("cargo:rerun-if-changed={}", root.join("scripts").display());
    println!("cargo:rerun-if-changed={}", registers.display());

    let status = Command::new("python3")
        .arg(&generator)
        .arg(registers.join("r600.xml"))
        .arg("--out")
        .arg(&out)
        .status()
        .expect("python3 runs");
    assert!(status.success(), "the register database is refused");
    println!("cargo:rustc-env=R600_GENERATED={out}");
}
