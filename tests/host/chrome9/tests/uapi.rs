// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `uapi/drm/chrome9_drm.h` compiles alone, in every way user space may, and says the same as the driver's definitions.
//!
//! The test writes a C program from the driver's definitions: for each structure its size, for each field its place, size
//! and sign, for each number its value. Compilers for 64-bit and for 32-bit programs have to agree with all of it.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::mem::offset_of;
use std::process::{Command, Stdio};

use chrome9::portable::checker;
use chrome9::portable::envelope::Error;
use chrome9::portable::uapi::{self, *};
use lapidary::portable::reason::Reason;

const HEADER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../uapi/drm/chrome9_drm.h"
);
/// Folders with a `drm.h`: the kernel's, and libdrm's. Those headers are not pedantic themselves, so they are included as
/// the system's.
const DRM: [&str; 2] = ["/usr/include/drm", "/usr/include/libdrm"];
/// First private number (`DRM_COMMAND_BASE`).
const BASE: u32 = 0x40;
/// Directions of an ioctl number.
const WRITE: u32 = 1;
const READ: u32 = 2;

/// A C program of which each line is a claim.
#[derive(Default)]
struct Claims {
    text: String,
    count: usize,
}

impl Claims {
    /// Claim that a constant expression is not 0. Nothing that has not compiled like this in C99 and in C++ is used.
    fn claim(&mut self, expression: &str) {
        self.count += 1;
        let number = self.count;
        writeln!(
            self.text,
            "typedef char claim_{number}[({expression}) ? 1 : -1];"
        )
        .unwrap();
    }

    fn equal(&mut self, name: &str, value: u64) {
        // Both as unsigned numbers, so that a compiler does not warn of signs.
        self.claim(&format!("(unsigned long long){name} == {value}ULL"));
    }

    fn field(&mut self, structure: &str, field: &str, at: usize, size: usize, signed: bool) {
        self.equal(&format!("offsetof(struct {structure}, {field})"), at as u64);
        let member = format!("((struct {structure} *)0)->{field}");
        self.equal(&format!("sizeof({member})"), size as u64);
        let sign = if signed { "<" } else { ">" };
        self.claim(&format!("(__typeof__({member}))-1 {sign} 0"));
    }
}

/// Return the size of a field, and whether it has a sign.
fn kind<S, T: 'static>(_: fn(&S) -> &T) -> (usize, bool) {
    (size_of::<T>(), TypeId::of::<T>() == TypeId::of::<i64>())
}

/// Claims that a structure of the header has the fields of the driver's structure, and no others.
macro_rules! structure {
    ($claims:ident, $ours:ident, $theirs:literal: $($field:ident),+) => {
        $claims.equal(concat!("sizeof(struct ", $theirs, ")"), size_of::<$ours>() as u64);
        let mut all = 0;
        $(
            let (size, signed) = kind(|ours: &$ours| &ours.$field);
            all += size;
            $claims.field($theirs, stringify!($field), offset_of!($ours, $field), size, signed);
        )+
        // So there is no hole, and no field of the header is missing here.
        assert_eq!(all, size_of::<$ours>(), $theirs);
        // No field of the driver is missing here.
        let _ = |ours: $ours| {
            let $ours { $($field: _),+ } = ours;
        };
    };
}

/// Return all that the header has to say.
fn claims() -> String {
    let mut c = Claims {
        text: "#include <stddef.h>\n".into(),
        count: 0,
    };
    structure!(c, GetParam, "drm_chrome9_get_param": param, reserved, value);
    structure!(c, GemCreate, "drm_chrome9_gem_create": size, flags, handle);
    structure!(c, GemMmap, "drm_chrome9_gem_mmap": handle, reserved, offset);
    structure!(c, GemWait, "drm_chrome9_gem_wait": handle, reserved, timeout_ns);
    structure!(c, Object, "drm_chrome9_object": handle, reserved);
    structure!(c, Relocation, "drm_chrome9_relocation": dword, object, offset, field);
    structure!(c, Sync, "drm_chrome9_sync": handle, reserved, point);
    structure!(c, Submit, "drm_chrome9_submit":
        stream, objects, relocations, wait, signal,
        dwords, object_count, relocation_count, wait_count, signal_count, flags);
    let both = READ | WRITE;
    for (name, number, direction, size) in [
        ("GET_PARAM", ioctl::GET_PARAM, both, size_of::<GetParam>()),
        (
            "GEM_CREATE",
            ioctl::GEM_CREATE,
            both,
            size_of::<GemCreate>(),
        ),
        ("GEM_MMAP", ioctl::GEM_MMAP, both, size_of::<GemMmap>()),
        ("GEM_WAIT", ioctl::GEM_WAIT, WRITE, size_of::<GemWait>()),
        ("SUBMIT", ioctl::SUBMIT, WRITE, size_of::<Submit>()),
    ] {
        c.equal(&format!("DRM_CHROME9_{name}"), number.into());
        let whole =
            (direction << 30) | ((size as u32) << 16) | (u32::from(b'd') << 8) | (BASE + number);
        c.equal(&format!("DRM_IOCTL_CHROME9_{name}"), whole.into());
    }
    for (name, number) in [
        ("CHIP", param::CHIP),
        ("FRAME_BUFFER_SIZE", param::FRAME_BUFFER_SIZE),
        ("GART_SIZE", param::GART_SIZE),
        ("MOST_DWORDS", param::MOST_DWORDS),
        ("MOST_OBJECTS", param::MOST_OBJECTS),
        ("MOST_RELOCATIONS", param::MOST_RELOCATIONS),
        ("MOST_SYNCS", param::MOST_SYNCS),
        ("RESETS", param::RESETS),
        ("GUILTY_RESETS", param::GUILTY_RESETS),
        ("REFUSALS", param::REFUSALS),
        ("REFUSAL_REASON", param::REFUSAL_REASON),
        ("REFUSAL_POSITION", param::REFUSAL_POSITION),
    ] {
        c.equal(&format!("DRM_CHROME9_PARAM_{name}"), number.into());
    }
    c.equal("DRM_CHROME9_GEM_SYSTEM", GEM_SYSTEM.into());
    c.text
}

/// Return whether a compiler accepts a program behind the header.
fn compiles(compiler: &str, arguments: &[&str], program: &str) -> bool {
    let mut child = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
        .args(arguments)
        .args(["-include", HEADER, "-"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(program.as_bytes())
        .expect("the compiler reads");
    drop(input);
    child.wait().expect("the compiler ends").success()
}

/// The ways in which user space compiles: compiler and arguments.
const WAYS: &[(&str, &[&str])] = &[
    ("gcc", &["-std=c99", "-pedantic", "-x", "c"]),
    ("gcc", &["-std=c11", "-pedantic", "-x", "c"]),
    ("gcc", &["-std=gnu17", "-pedantic", "-x", "c"]),
    ("clang", &["-std=c99", "-x", "c"]),
    ("clang", &["-std=c++11", "-x", "c++"]),
    // A 32-bit program: all integers lie where they lie in a 64-bit one.
    ("i686-linux-gnu-gcc", &["-std=c99", "-pedantic", "-x", "c"]),
];

#[test]
fn the_header_compiles_alone_and_says_what_the_driver_does() {
    let claims = claims();
    for folder in DRM {
        for (compiler, arguments) in WAYS {
            let arguments = [*arguments, &["-isystem", folder]].concat();
            assert!(
                compiles(compiler, &arguments, &claims),
                "{compiler} {arguments:?}"
            );
        }
    }
}

/// A claim that is wrong does not compile: the comparison compares.
#[test]
fn wrong_claims_do_not_compile() {
    let (compiler, arguments) = WAYS[0];
    let arguments = [arguments, &["-isystem", DRM[0]]].concat();
    for (right, wrong) in [
        ("sizeof(struct drm_chrome9_submit) == 64", "== 56"),
        ("offsetof(struct drm_chrome9_submit, flags) == 60", "== 56"),
        ("DRM_CHROME9_PARAM_RESETS == 7", "== 8"),
    ] {
        let (left, _) = right.split_once("==").unwrap();
        for (claim, expected) in [(right.to_owned(), true), (format!("{left}{wrong}"), false)] {
            let mut claims = Claims {
                text: "#include <stddef.h>\n".into(),
                count: 0,
            };
            claims.claim(&claim);
            assert_eq!(
                compiles(compiler, &arguments, &claims.text),
                expected,
                "{claim}"
            );
        }
    }
}

#[test]
fn the_header_goes_with_those_of_libdrm() {
    let includes = "#include <xf86drm.h>\n#include <radeon_drm.h>\n";
    for (compiler, arguments) in WAYS {
        let arguments = [*arguments, &["-isystem", DRM[1]]].concat();
        let program = format!("{includes}{}", claims());
        assert!(
            compiles(compiler, &arguments, &program),
            "{compiler} {arguments:?}"
        );
    }
}

#[test]
fn a_relocation_has_as_many_dwords_as_the_checker_takes() {
    assert_eq!(RELOCATION_DWORDS as usize * 4, size_of::<Relocation>());
    let fields = [
        offset_of!(Relocation, dword),
        offset_of!(Relocation, object),
        offset_of!(Relocation, offset),
        offset_of!(Relocation, field),
    ];
    assert_eq!(fields, [0, 4, 8, 12]);
    assert_eq!(MOST_DWORDS % UNIT_DWORDS, 0);
}

const PAGE: &str = include_str!("../../../../Documentation/chrome9/uapi.md");

/// Check that the page has a line for each of the reasons.
fn are_listed(reasons: impl Iterator<Item = Reason>) -> BTreeSet<u32> {
    let mut numbers = BTreeSet::new();
    for reason in reasons {
        let Reason { number, text } = reason;
        assert!(numbers.insert(number), "{reason:?}: {number:#x} twice");
        let line = format!("| {number:#05x} | {text} |");
        assert!(PAGE.contains(&line), "missing: {line}");
        assert!(text.is_ascii() && !text.is_empty());
    }
    numbers
}

/// The page for user space has each reason that a submission can be refused for, and no other.
#[test]
fn the_documentation_lists_the_reasons() {
    let generic = Reason::GENERIC.iter().copied();
    let generic = generic.filter(|reason| *reason != Reason::SYNC_FLAGS);
    let envelope = are_listed(generic.chain(Error::ALL.map(Error::reason)));
    let checker = checker::Reason::ALL.iter();
    let checker = are_listed(checker.map(|reason| Reason::new(reason.number(), reason.text())));
    assert!(envelope.is_disjoint(&checker));
    let lines = PAGE.lines().filter(|line| line.starts_with("| 0x")).count();
    assert_eq!(
        lines,
        envelope.len() + checker.len(),
        "the page has a reason that is none"
    );
}

/// The limits that the page names are those of the driver.
#[test]
fn the_documentation_has_the_limits() {
    for (name, most) in [
        ("MOST_DWORDS", uapi::MOST_DWORDS),
        ("MOST_OBJECTS", uapi::MOST_OBJECTS),
        ("MOST_RELOCATIONS", uapi::MOST_RELOCATIONS),
        ("MOST_SYNCS", uapi::MOST_SYNCS),
    ] {
        let line = format!("| `{name}` | {most} |");
        assert!(PAGE.contains(&line), "missing: {line}");
    }
}
