// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Runs the register generator for every family's database.

use std::{env, fs, path::Path, process::Command};

/// The families that have one; each is a module of the crate, too.
const FAMILIES: [&str; 3] = ["chrome9", "r500", "r600"];

fn main() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = top.join("scripts/registers.py");
    println!("cargo::rerun-if-changed={}", script.display());
    println!(
        "cargo::rerun-if-changed={}",
        script.with_file_name("register_db.py").display()
    );
    for family in FAMILIES {
        generate(&top, &script, family);
    }
}

/// Make the tables of the database `drivers/FAMILY/registers/FAMILY.xml`.
fn generate(top: &Path, script: &Path, family: &str) {
    let registers = top.join("drivers").join(family).join("registers");
    println!("cargo::rerun-if-changed={}", registers.display());
    for entry in fs::read_dir(&registers).expect("the register database") {
        println!(
            "cargo::rerun-if-changed={}",
            entry.expect("a file of the database").path().display()
        );
    }

    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join(family);
    let output = Command::new("python3")
        .arg(script)
        .arg(registers.join(family).with_extension("xml"))
        .arg("--out")
        .arg(&out)
        .output()
        .expect("python3, which the register generator needs");
    if !output.status.success() {
        // The generator says file, line and mistake in one line.
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    }
}
