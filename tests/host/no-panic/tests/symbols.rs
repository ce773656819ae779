// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The portable code cannot panic: its machine code refers to nothing that does.
//!
//! The crates are built as the kernel builds them (optimised, abort on panic, overflow checks on), and every
//! symbol that their objects leave undefined must be known to be harmless: memory primitives of the
//! compiler, formatting for `Debug`, and each other.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use object::{Object, ObjectSymbol, read::archive::ArchiveFile};

/// Crates whose objects are looked at.
const CRATES: [&str; 5] = ["lapidary", "chrome9", "r500", "r600", "lapidary_no_panic"];

/// Return whether an undefined symbol cannot panic.
fn harmless(name: &str) -> bool {
    let memory = ["memcpy", "memmove", "memset", "memcmp", "bcmp"];
    memory.contains(&name)
        || name == "_GLOBAL_OFFSET_TABLE_"
        || name.starts_with("core::fmt::")
        || name.starts_with("<core::fmt::")
        || name.contains(" as core::fmt::Debug>::")
        || CRATES.iter().any(|own| {
            name.starts_with(&format!("{own}::")) || name.starts_with(&format!("<{own}::"))
        })
}

/// Build the crates and return the folder of their archives.
fn build(name: &str, features: &[&str]) -> Result<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let status = Command::new(env::var_os("CARGO").context("run this by cargo")?)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--offline",
            "--release",
            "--package",
            "lapidary-no-panic",
        ])
        .args(features)
        .args(["--config", "profile.release.panic='abort'"])
        .args(["--config", "profile.release.opt-level=2"])
        .args(["--config", "profile.release.overflow-checks=true"])
        .args(["--config", "profile.release.debug-assertions=false"])
        .args(["--config", "profile.release.codegen-units=1"])
        .args(["--config", "profile.release.lto='off'"])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()?;
    ensure!(status.success(), "the crates do not build");
    Ok(target.join("release"))
}

/// Return the undefined symbols of the objects in an archive that are not known to be harmless.
fn suspicious(archive: &Path) -> Result<BTreeSet<String>> {
    let data = fs::read(archive).with_context(|| archive.display().to_string())?;
    let mut found = BTreeSet::new();
    let mut objects = 0;
    for member in ArchiveFile::parse(&*data)?.members() {
        let member = member?;
        if !member.name().ends_with(b".o") {
            continue;
        }
        let object = object::File::parse(member.data(&*data)?)?;
        objects += 1;
        for symbol in object.symbols().filter(|symbol| symbol.is_undefined()) {
            let name = symbol.name()?;
            let name = format!("{:#}", rustc_demangle::demangle(name));
            if !name.is_empty() && !harmless(&name) {
                found.insert(name);
            }
        }
    }
    if objects == 0 {
        bail!("{} has no object", archive.display());
    }
    Ok(found)
}

/// Look for an archive by crate name, beside the others or among the dependencies.
fn archive(release: &Path, name: &str) -> Result<PathBuf> {
    let plain = release.join(format!("lib{name}.rlib"));
    if plain.exists() {
        return Ok(plain);
    }
    let prefix = format!("lib{name}-");
    let mut found = Vec::new();
    for entry in fs::read_dir(release.join("deps"))? {
        let path = entry?.path();
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if file.starts_with(&prefix) && file.ends_with(".rlib") {
            found.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    // Older ones are left from earlier builds.
    found.sort();
    Ok(found
        .pop()
        .with_context(|| format!("no archive of {name}"))?
        .1)
}

#[test]
fn nothing_can_panic() -> Result<()> {
    let release = build("no-panic", &[])?;
    for name in CRATES {
        let found = suspicious(&archive(&release, name)?)?;
        assert!(found.is_empty(), "{name} refers to {found:#?}");
    }
    Ok(())
}

/// The test of the test: an index that may be out of bounds and a sum that may overflow are seen.
#[test]
fn a_panic_is_found() -> Result<()> {
    let release = build("provoked", &["--features", "provoke"])?;
    let found = suspicious(&archive(&release, "lapidary_no_panic")?)?;
    for panic in ["panic_bounds_check", "panic_const_add_overflow"] {
        assert!(
            found
                .iter()
                .any(|name| name.starts_with("core::panicking::") && name.ends_with(panic)),
            "{panic} is not among {found:?}"
        );
    }
    Ok(())
}
