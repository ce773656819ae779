// SPDX-License-Identifier: GPL-2.0 OR MIT

// Part of each family's build script: generates the register constants that the driver's portable code includes, from the
// same database and by the same program as the module build.

/// Generate the constants of a family for the variable `NAME_GENERATED`.
fn generate(family: &str) {
    let root = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("../../..")
        .canonicalize()
        .expect("the crate lies three levels below the top");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let registers = root.join("drivers").join(family).join("registers");
    println!("cargo:rerun-if-changed={}", root.join("scripts").display());
    println!("cargo:rerun-if-changed={}", registers.display());

    let status = std::process::Command::new("python3")
        .arg(root.join("scripts/registers.py"))
        .arg(registers.join(family).with_extension("xml"))
        .arg("--out")
        .arg(&out)
        .status()
        .expect("python3 runs");
    assert!(status.success(), "the register database is refused");
    println!("cargo:rustc-env={}_GENERATED={out}", family.to_uppercase());
}
