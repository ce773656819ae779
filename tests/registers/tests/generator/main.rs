// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The generator refuses what is wrong, with one line that says where. Each case is a small database with one
//! mistake; the same database without it passes, so that a check that has stopped working is seen.

mod engines;
mod maps;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("generator-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file for the test");
    }

    fn generated(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join("out").join(name)).expect("a generated file")
    }

    fn generate(&self) -> Output {
        Command::new("python3")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/registers.py"))
            .arg("db.xml")
            .args(["--out", "out"])
            .current_dir(&self.0)
            .output()
            .expect("python3")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const GOOD: &str = r#"<database>
<enum name="kind"><value name="NONE" value="0"/><value name="SOME" value="1"/></enum>
<domain name="mmio" block="B">
<reg32 offset="0x10" name="FIRST" src="seed:L1"><doc>One.</doc>
<bitfield name="LOW" low="0" high="7" default="0x12"/>
<bitfield name="KIND" pos="8" type="kind"/>
</reg32>
<reg32 offset="0x20" name="ARRAY" length="4" stride="8" src="seed:L2"><doc>Four.</doc></reg32>
<reg32 offset="0x24" name="OTHER" length="4" stride="8" src="seed:L3"><doc>Between them.</doc></reg32>
<reg32 offset="0x10" name="SECOND" overlay-of="FIRST" src="seed:L4"><doc>Another view.</doc></reg32>
<reg32 offset="0x60" name="SAME" mirror-of="FIRST" src="seed:L5"><doc>Again.</doc></reg32>
<array name="GROUP" offset="0x80" length="2" stride="8" src="seed:L7"><reg32 offset="0" name="A"><doc>A.</doc></reg32><reg32 offset="4" name="B"><doc>B.</doc></reg32></array>
</domain>
<packets src="seed:L6">
<layout name="HEAD"><doc>Head.</doc><bitfield name="COUNT" low="0" high="3"/></layout>
<packet name="DRAW" opcode="0x91"><doc>Draws.</doc><dword layout="HEAD"/><repeat count="HEAD.COUNT"><dword name="X"/></repeat></packet>
<packet name="MOVE" opcode="0x92"><doc>Moves.</doc></packet>
</packets>
</database>
"#;

/// Return what the generator says to a database.
fn error(xml: &str) -> Option<String> {
    let folder = Folder::new();
    folder.write("db.xml", xml);
    let output = folder.generate();
    let text = String::from_utf8(output.stderr).expect("text");
    if output.status.success() {
        assert_eq!(text, "");
        assert!(folder.0.join("out/tables.rs").exists());
        None
    } else {
        assert!(
            !folder.0.join("out").exists(),
            "nothing is written after a mistake"
        );
        Some(text)
    }
}

/// Replace `from` in the good database by `to` and expect the error `line: message`.
#[track_caller]
fn refuse(from: &str, to: &str, line: u32, message: &str) {
    assert_eq!(
        GOOD.matches(from).count(),
        1,
        "{from} must be in the good database once"
    );
    let text = error(&GOOD.replace(from, to)).unwrap_or_else(|| panic!("accepted: {to}"));
    assert_eq!(text.trim_end().lines().count(), 1, "one line: {text}");
    assert!(text.starts_with(&format!("db.xml:{line}: ")), "{text}");
    assert!(text.contains(message), "{text}");
}

#[test]
fn the_good_database_passes() {
    assert_eq!(error(GOOD), None);
}

#[test]
fn overlapping_fields() {
    refuse(r#"pos="8""#, r#"pos="7""#, 6, "overlaps LOW");
}

#[test]
fn fields_outside_of_the_word() {
    refuse(
        r#"low="0" high="7""#,
        r#"low="0" high="32""#,
        5,
        "not within 31:0",
    );
    refuse(
        r#"low="0" high="7""#,
        r#"low="7" high="0""#,
        5,
        "not within 31:0",
    );
}

#[test]
fn defaults_and_values_that_do_not_fit() {
    refuse(r#"default="0x12""#, r#"default="0x100""#, 5, "does not fit");
    refuse(
        r#"name="SOME" value="1""#,
        r#"name="SOME" value="2""#,
        6,
        "does not fit",
    );
}

#[test]
fn overlapping_registers() {
    refuse(
        r#"offset="0x24""#,
        r#"offset="0x28""#,
        9,
        "OTHER overlaps ARRAY at 0x0028",
    );
    refuse(r#" overlay-of="FIRST""#, "", 10, "SECOND overlaps FIRST");
}

#[test]
fn overlays_and_mirrors_of_nothing() {
    refuse(
        r#"overlay-of="FIRST""#,
        r#"overlay-of="NOBODY""#,
        10,
        "no register NOBODY",
    );
    refuse(
        r#"offset="0x10" name="SECOND""#,
        r#"offset="0x14" name="SECOND""#,
        10,
        "does not lie within FIRST",
    );
    refuse(
        r#"mirror-of="FIRST""#,
        r#"mirror-of="NOBODY""#,
        11,
        "no register NOBODY",
    );
}

#[test]
fn missing_source() {
    refuse(r#" src="seed:L2""#, "", 8, "ARRAY has no src");
    refuse(
        r#"<packets src="seed:L6">"#,
        "<packets>",
        16,
        "DRAW has no src",
    );
}

#[test]
fn missing_description() {
    refuse("<doc>Four.</doc>", "", 8, "ARRAY has no doc");
}

#[test]
fn letters_of_another_alphabet() {
    // A Cyrillic capital O.
    refuse(r#"name="OTHER""#, "name=\"\u{41e}THER\"", 9, "U+041E");
    // A Greek one, in a field.
    refuse(r#"name="LOW""#, "name=\"L\u{39f}W\"", 5, "U+039F");
}

#[test]
fn lower_case_letters() {
    refuse(r#"name="OTHER""#, r#"name="OTHERl""#, 9, "'l'");
}

#[test]
fn letters_that_look_like_digits() {
    refuse(
        r#"name="OTHER""#,
        r#"name="TX_FORMAT_1O""#,
        9,
        "looks like 0",
    );
    refuse(r#"name="OTHER""#, r#"name="TX_O3""#, 9, "looks like 0");
    refuse(r#"name="OTHER""#, r#"name="TX_1I""#, 9, "looks like 1");
    refuse(
        r#"name="OTHER""#,
        r#"name="FR0NT""#,
        9,
        "looks like a letter",
    );
    refuse(
        r#"name="OTHER""#,
        r#"name="F1LTER""#,
        9,
        "looks like a letter",
    );
    // Right as they are.
    for name in ["T0C0", "D1CRTC_CONTROL", "TX_FORMAT0", "ARGB1555", "R32F"] {
        assert_eq!(
            error(&GOOD.replace(r#"name="OTHER""#, &format!(r#"name="{name}""#))),
            None,
            "{name}"
        );
    }
    // Right, though it does not look so.
    assert_eq!(
        error(&GOOD.replace(r#"name="OTHER""#, r#"name="HZ_Z0MIN" spelling="sic""#)),
        None
    );
}

#[test]
fn names_that_look_alike() {
    refuse(r#"name="OTHER""#, r#"name="F1RST""#, 9, "looks like");
    refuse(
        r#"name="OTHER""#,
        r#"name="ARRAY""#,
        9,
        "ARRAY occurs twice",
    );
    refuse(
        r#"name="SOME" value="1""#,
        r#"name="N0NE" value="1""#,
        2,
        "looks like",
    );
}

#[test]
fn ranges_of_values() {
    let some = r#"name="SOME" value="1""#;
    let with = |last: &str| format!(r#"name="SOME" value="1" last="{last}""#);
    refuse(some, &with("2"), 6, "SOME 0x2 does not fit");
    refuse(some, &with("0"), 2, "the last number 0 is below the first");
}

#[test]
fn packets() {
    refuse(r#"opcode="0x92""#, r#"opcode="0x91""#, 17, "occurs twice");
    refuse(r#"opcode="0x92""#, r#"opcode="0x192""#, 17, "opcode 0x192");
    refuse(r#"layout="HEAD""#, r#"layout="FOOT""#, 16, "no layout FOOT");
    refuse("HEAD.COUNT", "HEAD.LENGTH", 16, "names nothing before it");
    refuse("HEAD.COUNT", "some", 16, "count");
}

/// Instructions that one field of a word tells apart.
const INSTRUCTIONS: &str = r#"<word name="WORD" src="seed:L8"><doc>A word.</doc><bitfield name="INST" low="4" high="7"/></word>
<instructions name="alu" field="WORD.INST" src="seed:L9"><doc>Some.</doc>
<instruction name="ADD" opcode="1"><doc>Adds.</doc></instruction>
<instruction name="MOV" opcode="15"><doc>Moves.</doc></instruction>
</instructions>
</database>
"#;

#[test]
fn instructions() {
    let good = GOOD.replace("</database>\n", INSTRUCTIONS);
    assert_eq!(error(&good), None);
    for (from, to, line, message) in [
        (r#"opcode="15""#, r#"opcode="16""#, 22, "does not fit INST"),
        (r#"opcode="15""#, r#"opcode="1""#, 22, "occurs twice"),
        (r#"name="MOV""#, r#"name="ADD""#, 22, "occurs twice"),
        (r#"name="MOV""#, r#"name="MOV" map="no""#, 22, "no map no"),
        ("<doc>Moves.</doc></inst", "</inst", 22, "MOV has no doc"),
        ("WORD.INST", "WORD.OTHER", 21, "no field WORD.OTHER"),
        ("WORD.INST", "WORD", 20, "is not WORD.FIELD"),
        (r#" src="seed:L9""#, "", 21, "ADD has no src"),
        (r#" src="seed:L8""#, "", 19, "no src"),
        ("<doc>A word.</doc>", "", 19, "word WORD has no doc"),
    ] {
        assert_eq!(good.matches(from).count(), 1, "{from}");
        let text = error(&good.replace(from, to)).unwrap_or_else(|| panic!("accepted: {to}"));
        assert!(text.starts_with(&format!("db.xml:{line}: ")), "{text}");
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn mistakes_of_form() {
    refuse(
        "<bitfield name=\"KIND\"",
        "<bitfeld name=\"KIND\"",
        6,
        "unknown element",
    );
    refuse(
        r#"stride="8" src="seed:L2""#,
        r#"step="8" src="seed:L2""#,
        8,
        "no attribute step",
    );
    refuse(r#"offset="0x24""#, r#"offset="0x2z""#, 9, "not a number");
    refuse(
        r#"offset="0x24""#,
        r#"offset="0x25""#,
        9,
        "offset, stride or length",
    );
    refuse(r#"type="kind""#, r#"type="mind""#, 6, "no enum mind");
    refuse(
        r#"offset="4" name="B""#,
        r#"offset="0" name="B""#,
        12,
        "GROUP_B overlaps GROUP_A at 0x0080",
    );
    refuse(
        r#"offset="4" name="B""#,
        r#"offset="4" length="2" name="B""#,
        12,
        "inside an array",
    );
    refuse("</enum>", "", 19, "mismatched tag");
    let absent = error(&GOOD.replace("<enum name", "<import file=\"absent.xml\"/><enum name"))
        .expect("an error");
    assert!(absent.starts_with("absent.xml:0: "), "{absent}");
}

#[test]
fn driver_lists() {
    let run = |list: &str| {
        let folder = Folder::new();
        folder.write("db.xml", GOOD);
        folder.write("driver.list", list);
        let output = folder.generate();
        let kernel = std::fs::read_to_string(folder.0.join("out/kernel.rs")).unwrap_or_default();
        (String::from_utf8(output.stderr).expect("text"), kernel)
    };
    let (error, kernel) =
        run("# what the driver uses\nmmio FIRST\n\nmmio ARRAY # four\nmmio GROUP_B\n");
    assert_eq!(error, "");
    assert!(kernel.contains("pub(crate) FIRST(u32) @ 0x0010 {"));
    assert!(kernel.contains("pub(crate) ARRAY(u32)[4, stride = 8] @ 0x0020 {"));
    assert!(kernel.contains("pub(crate) GROUP_B(u32)[2, stride = 8] @ 0x0084 {"));
    assert!(kernel.contains("8:8 kind => bool;"));
    assert!(!kernel.contains("OTHER"));
    assert!(
        run("mmio NOBODY\n")
            .0
            .contains("driver.list:1: no register NOBODY in mmio")
    );
    assert!(
        run("mmio FIRST\nmmio FIRST\n")
            .0
            .contains("driver.list:2: register mmio FIRST occurs twice")
    );
    assert!(
        run("FIRST\n")
            .0
            .contains("driver.list:1: 'FIRST' is not `domain NAME`")
    );
}
