// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Maps: one domain whose registers lie elsewhere on other chips.

use crate::*;

/// Return the good database with two maps.
pub(crate) fn with_maps() -> String {
    const MAPS: &str = r#"</domain>
<domain name="mmio_one" map-of="mmio" block="B">
<doc>The first map.</doc>
<reg32 offset="0x100" name="MOVED" src="seed:L8"><doc>Here.</doc><bitfield name="SET" pos="0"/></reg32>
<reg32 offset="0x104" name="MANY" length="2" src="seed:L8"><doc>Two.</doc></reg32>
</domain>
<domain name="mmio_two" map-of="mmio" block="B">
<doc>The second map.</doc>
<reg32 offset="0x104" name="MOVED" src="seed:L8"><doc>There.</doc><bitfield name="SET" pos="0"/></reg32>
</domain>
"#;
    let packets = r#"<packet name="MOVE" opcode="0x92"><doc>Moves.</doc>"#;
    assert!(GOOD.contains(packets));
    GOOD.replace("</domain>\n", MAPS).replace(
        packets,
        &format!(
            r#"{packets}<dword register="MOVED"/><when test="MOVED.SET=1"><dword name="X"/></when>"#
        ),
    )
}

/// Check as `refuse` does, with the database with two maps, but without the line.
#[track_caller]
fn refuse_map(from: &str, to: &str, message: &str) {
    let good = with_maps();
    assert_eq!(good.matches(from).count(), 1, "{from}");
    let text = error(&good.replace(from, to)).unwrap_or_else(|| panic!("accepted: {to}"));
    assert_eq!(text.trim_end().lines().count(), 1, "one line: {text}");
    assert!(text.contains(message), "{text}");
}

#[test]
fn two_maps_may_place_a_register_differently() {
    assert_eq!(error(&with_maps()), None);
}

#[test]
fn a_map_overlaps_neither_itself_nor_its_domain() {
    // The good database has the last word of GROUP_B at 0x8c, within the array's second round.
    refuse_map(
        r#"offset="0x100" name="MOVED""#,
        r#"offset="0x8c" name="MOVED""#,
        "register MOVED of mmio_one overlaps GROUP_B of mmio at 0x008c",
    );
    refuse_map(
        r#"offset="0x104" name="MANY""#,
        r#"offset="0x100" name="MANY""#,
        "register MANY overlaps MOVED at 0x0100",
    );
}

#[test]
fn a_name_is_not_both_in_a_map_and_in_its_domain() {
    refuse_map(
        r#"name="MANY""#,
        r#"name="ARRAY""#,
        "register ARRAY of mmio_one looks like ARRAY of mmio",
    );
    refuse_map(
        r#"name="MANY""#,
        r#"name="F1RST" spelling="sic""#,
        "register F1RST of mmio_one looks like FIRST of mmio",
    );
}

#[test]
fn a_map_is_of_a_domain() {
    refuse_map(
        r#"name="mmio_two" map-of="mmio""#,
        r#"name="mmio_two" map-of="memory""#,
        "mmio_two is a map of memory, which is no domain",
    );
    refuse_map(
        r#"name="mmio_two" map-of="mmio""#,
        r#"name="mmio_two" map-of="mmio_one""#,
        "or a map itself",
    );
    refuse_map(
        r#"name="mmio_two" map-of="mmio""#,
        r#"name="mmio_two" map-of="mmio" unit="index""#,
        "another unit",
    );
    refuse_map(
        r#"name="mmio_two" map-of="mmio""#,
        r#"name="mmio_one" map-of="memory""#,
        "domain mmio_one is a map of something else elsewhere",
    );
}

#[test]
fn a_dword_that_is_a_register_is_the_same_in_all_maps() {
    refuse_map(
        r#"<doc>There.</doc><bitfield name="SET" pos="0"/>"#,
        r#"<doc>There.</doc><bitfield name="SET" pos="1"/>"#,
        "register MOVED has other fields in mmio_two than in mmio_one",
    );
    // One map is enough.
    let good = with_maps().replace(
        r#"<dword register="MOVED"/>"#,
        r#"<dword register="MOVED"/><dword register="MANY"/>"#,
    );
    assert_eq!(error(&good), None);
    refuse_map(
        r#"<dword register="MOVED"/>"#,
        r#"<dword register="GONE"/>"#,
        "no register GONE",
    );
}

#[test]
fn outputs_have_the_maps() {
    let folder = Folder::new();
    folder.write("db.xml", &with_maps());
    folder.write(
        "driver.list",
        "mmio FIRST\nmmio_one MOVED\nmmio_two MOVED\n",
    );
    let output = folder.generate();
    assert_eq!(String::from_utf8(output.stderr).expect("text"), "");

    let portable = folder.generated("portable.rs");
    let (common, maps) = portable
        .split_once("pub mod mmio_one {")
        .expect("the first map");
    let (one, two) = maps.split_once("pub mod mmio_two {").expect("the second");
    assert!(!common.contains("MOVED"), "{common}");
    assert!(one.contains("pub const MOVED: u32 = 0x0100;"), "{one}");
    assert!(one.contains("pub const MANY: RegArray"), "{one}");
    assert!(two.contains("pub const MOVED: u32 = 0x0104;"), "{two}");

    let kernel = folder.generated("kernel.rs");
    let (one, two) = kernel
        .split_once("pub(crate) mod mmio_two {")
        .expect("the second");
    assert!(one.contains("pub(crate) mod mmio_one {"), "{kernel}");
    assert!(one.contains("pub(crate) MOVED(u32) @ 0x0100 {"), "{kernel}");
    assert!(two.contains("pub(crate) MOVED(u32) @ 0x0104 {"), "{kernel}");

    // Host programs see no address space of a map: its registers are in the domain that it is a map of.
    let tables = folder.generated("tables.rs");
    assert!(tables.contains("ALL: &[Domain] = &[MMIO];"), "{tables}");
    let (common, maps) = tables.split_once("pub static MMIO_ONE: ").expect("a table");
    let (one, two) = maps.split_once("pub static MMIO_TWO: ").expect("another");
    let moved = |at| {
        format!(
            "Register {{ domain: domain::MMIO, block: \"B\", name: \"MOVED\", manual: \"MOVED\", offset: {at},"
        )
    };
    assert!(!common.contains("\"MOVED\""), "{tables}");
    assert!(one.contains(&moved("0x0100")), "{tables}");
    assert!(two.contains(&moved("0x0104")), "{tables}");

    assert!(
        folder
            .generated("coverage.md")
            .contains("### mmio_two\n\nThe second map.\n")
    );
}
