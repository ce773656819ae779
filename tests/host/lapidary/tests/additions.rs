// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `uapi/drm/lapidary_drm.h` compiles alone, in every way user space may, and says the same as the driver's
//! definitions.

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::process::Command;

use lapidary::portable::radeon::additions::*;
use lapidary::portable::radeon::envelope::Error;
use lapidary::portable::reason::Reason;

#[allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals
)]
mod header {
    include!(concat!(env!("OUT_DIR"), "/lapidary_drm.rs"));
}

const HEADER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../uapi/drm/lapidary_drm.h"
);

/// Sizes and offsets as a C compiler has to find them, for 32-bit programs as well as for 64-bit ones.
const CHECKS: &str = r#"
#include <stddef.h>
#define SIZE(type, size) typedef char size_of_##type[sizeof(struct type) == (size) ? 1 : -1]
#define AT(type, field, at) typedef char type##_##field[offsetof(struct type, field) == (at) ? 1 : -1]
SIZE(drm_lapidary_sync, 16);
AT(drm_lapidary_sync, point, 8);
SIZE(drm_lapidary_reset_status, 16);
AT(drm_lapidary_reset_status, flags, 12);
SIZE(drm_lapidary_last_refusal, 128);
AT(drm_lapidary_last_refusal, error, 16);
AT(drm_lapidary_last_refusal, text, 24);
"#;

fn compile(compiler: &str, arguments: &[&str]) {
    let mut child = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
        .args(arguments)
        .args(["-include", HEADER, "-"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    {
        use std::io::Write;
        let mut input = child.stdin.take().expect("piped");
        input
            .write_all(CHECKS.as_bytes())
            .expect("the compiler reads");
    }
    let status = child.wait().expect("the compiler ends");
    assert!(status.success(), "{compiler} {arguments:?}");
}

#[test]
fn the_header_compiles_alone() {
    for standard in ["c99", "c11", "gnu17"] {
        let standard = format!("-std={standard}");
        compile("gcc", &[&standard, "-pedantic", "-x", "c"]);
    }
    compile("clang", &["-std=c++11", "-x", "c++"]);
    compile("clang", &["-std=c99", "-x", "c"]);
    // As a 32-bit program: all integers lie where they lie in a 64-bit one.
    compile("i686-linux-gnu-gcc", &["-std=c99", "-x", "c"]);
}

#[test]
fn the_header_goes_with_those_of_the_system() {
    let with = |name: &str| -> Vec<String> {
        let radeon = format!("/usr/include/{name}");
        vec![
            "-std=gnu11".into(),
            "-x".into(),
            "c".into(),
            "-I/usr/include/drm".into(),
            "-include".into(),
            radeon,
        ]
    };
    for name in ["drm/radeon_drm.h", "libdrm/radeon_drm.h"] {
        if !std::path::Path::new("/usr/include").join(name).exists() {
            continue;
        }
        let arguments = with(name);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        compile("gcc", &arguments);
    }
}

/// Compares a structure field by field, by type as well as by offset.
macro_rules! same_layout {
    ($ours:ident, $theirs:ident: $($field:ident),+) => {
        assert_eq!(size_of::<$ours>(), size_of::<header::$theirs>(), stringify!($theirs));
        assert_eq!(align_of::<$ours>(), align_of::<header::$theirs>(), stringify!($theirs));
        $(
            assert_eq!(
                offset_of!($ours, $field),
                offset_of!(header::$theirs, $field),
                concat!(stringify!($theirs), ".", stringify!($field))
            );
        )+
        // No field of the header is missing.
        let _ = |theirs: header::$theirs| {
            let header::$theirs { $($field: _),+ } = theirs;
        };
    };
}

#[test]
fn layouts_are_the_same() {
    same_layout!(Sync, drm_lapidary_sync: handle, flags, point);
    same_layout!(ResetStatus, drm_lapidary_reset_status: guilty, innocent, resets, flags);
    same_layout!(LastRefusal, drm_lapidary_last_refusal: count, reason, position, error, pad, text);
}

#[test]
fn numbers_are_the_same() {
    for (name, ours, theirs) in [
        (
            "FENCES_POLLED",
            info::FENCES_POLLED,
            header::LAPIDARY_INFO_FENCES_POLLED,
        ),
        ("FEATURES", info::FEATURES, header::LAPIDARY_INFO_FEATURES),
        (
            "RESET_STATUS",
            info::RESET_STATUS,
            header::LAPIDARY_INFO_RESET_STATUS,
        ),
        (
            "LAST_REFUSAL",
            info::LAST_REFUSAL,
            header::LAPIDARY_INFO_LAST_REFUSAL,
        ),
        ("SYNC_IN", chunk::SYNC_IN, header::LAPIDARY_CHUNK_SYNC_IN),
        ("SYNC_OUT", chunk::SYNC_OUT, header::LAPIDARY_CHUNK_SYNC_OUT),
        ("MAX_SYNCS", MAX_SYNCS, header::LAPIDARY_MAX_SYNCS),
        (
            "TEXT",
            TEXT_BYTES as u32,
            header::LAPIDARY_REFUSAL_TEXT_BYTES,
        ),
        (
            "BANNED",
            reset_status::BANNED,
            header::LAPIDARY_RESET_STATUS_BANNED,
        ),
        (
            "SYNCOBJ",
            feature::SYNCOBJ as u32,
            header::LAPIDARY_FEATURE_SYNCOBJ,
        ),
        (
            "f RESET_STATUS",
            feature::RESET_STATUS as u32,
            header::LAPIDARY_FEATURE_RESET_STATUS,
        ),
        (
            "f LAST_REFUSAL",
            feature::LAST_REFUSAL as u32,
            header::LAPIDARY_FEATURE_LAST_REFUSAL,
        ),
        (
            "FDINFO",
            feature::FDINFO as u32,
            header::LAPIDARY_FEATURE_FDINFO,
        ),
    ] {
        assert_eq!(ours, theirs, "{name}");
    }
    assert_eq!(SYNC_DWORDS as usize * 4, size_of::<Sync>());
}

/// The list that user space reads says what the driver does.
#[test]
fn the_documentation_lists_the_reasons() {
    let page = include_str!("../../../../Documentation/radeon-uapi.md");
    let mut numbers = BTreeSet::new();
    let envelope = Error::ALL.map(Error::reason);
    for reason in Reason::GENERIC.iter().chain(&envelope) {
        let Reason { number, text } = *reason;
        assert!((1..0x1000).contains(&number), "{reason:?}");
        assert!(numbers.insert(number), "{reason:?}: {number:#x} twice");
        let line = format!("| {number:#05x} | {text} |");
        assert!(page.contains(&line), "missing: {line}");
        assert!(text.is_ascii() && !text.is_empty() && text.len() < TEXT_BYTES);
    }
}

#[test]
fn texts_end_with_a_zero() {
    let long = "x".repeat(3 * TEXT_BYTES);
    for text in ["", "a few words", long.as_str()] {
        let bytes = LastRefusal::text(text);
        let end = bytes.iter().position(|&byte| byte == 0).expect("a zero");
        assert_eq!(end, text.len().min(TEXT_BYTES - 1));
        assert_eq!(&bytes[..end], &text.as_bytes()[..end]);
        assert!(bytes[end..].iter().all(|&byte| byte == 0));
    }
}
