// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Packets of engines, with bodies of every form.

use crate::maps::with_maps;
use crate::*;

/// Return the good database with two maps and packets of every form.
fn with_engines() -> String {
    const MORE: &str = r#"<packet name="SET" opcode="0x93"><doc>Sets registers.</doc>
<dword name="AT"><bitfield name="AT" low="0" high="15"/></dword><registers from="AT.AT" base="0x10" end="0x80"/></packet>
<packet name="LATE" opcode="0x94" map="mmio_one" variants="chip"><doc>Only there.</doc><dword register="MANY"/></packet>
<packet name="LATE" opcode="0x94" map="mmio_two"><doc>Otherwise here.</doc><repeat count="optional"><dword name="X"/></repeat></packet>
</packets>
<packets engine="dma" header="TOP.OP" src="seed:L9"><doc>Another engine.</doc>
<layout name="TOP"><doc>Header.</doc><bitfield name="COUNT" low="0" high="7"/><bitfield name="OP" low="28" high="31"/></layout>
<packet name="COPY" opcode="3"><doc>Copies.</doc><repeat count="TOP.COUNT"><dword name="DATA"/></repeat></packet>
<packet name="STOP" opcode="4" map="mmio_two"><doc>Stops.</doc><dword name="WHY"><bitfield name="WHY" pos="0"/></dword></packet>
</packets>
"#;
    with_maps()
        .replace("</packets>\n", MORE)
        .replace(
            r#"overlay-of="FIRST" src"#,
            r#"overlay-of="FIRST" when="FIRST.KIND=1" src"#,
        )
        .replace(
            "<doc>Four.</doc>",
            r#"<doc>Four.</doc><bitfield name="KIND" pos="0"/>"#,
        )
}

/// Check as `refuse` does, with the database with packets of every form, but without the line.
#[track_caller]
fn refuse_engine(from: &str, to: &str, message: &str) {
    let good = with_engines();
    assert_eq!(good.matches(from).count(), 1, "{from}");
    let text = error(&good.replace(from, to)).unwrap_or_else(|| panic!("accepted: {to}"));
    assert_eq!(text.trim_end().lines().count(), 1, "one line: {text}");
    assert!(text.contains(message), "{text}");
}

#[test]
fn packets_of_every_form_pass() {
    assert_eq!(error(&with_engines()), None);
}

#[test]
fn a_range_of_registers_is_the_end_of_a_body() {
    let range = r#"<registers from="AT.AT" base="0x10" end="0x80"/>"#;
    for (to, message) in [
        (
            r#"<registers from="AT.AT" base="0x12" end="0x80"/>"#,
            "registers from 0x12 to 0x80",
        ),
        (
            r#"<registers from="AT.AT" base="0x80" end="0x80"/>"#,
            "registers from 0x80 to 0x80",
        ),
        (
            r#"<registers from="AT" base="0x10" end="0x80"/>"#,
            "from 'AT' is not DWORD.FIELD",
        ),
        (
            r#"<registers from="AT.TO" base="0x10" end="0x80"/>"#,
            "names nothing before it",
        ),
        (
            r#"<registers from="AT.AT" base="0x10" end="0x80"/><dword name="X"/>"#,
            "registers are the end of a body",
        ),
        (
            r#"<repeat count="2"><registers from="AT.AT" base="0x10" end="0x80"/></repeat>"#,
            "registers are the end of a body",
        ),
    ] {
        refuse_engine(range, to, message);
    }
}

#[test]
fn packets_of_a_map() {
    refuse_engine(r#"map="mmio_one""#, r#"map="mmio""#, "no map mmio");
    refuse_engine(
        r#"<packet name="LATE" opcode="0x94" map="mmio_two">"#,
        r#"<packet name="LATE" opcode="0x95" map="mmio_two">"#,
        "packet LATE (0x95) is LATE (0x94) of mmio_one",
    );
    refuse_engine(
        r#"<packet name="LATE" opcode="0x94" map="mmio_two">"#,
        r#"<packet name="LATE" opcode="0x94" map="mmio_one">"#,
        "packet LATE (0x94) occurs twice",
    );
    refuse_engine(
        r#"<packet name="LATE" opcode="0x94" map="mmio_two">"#,
        r#"<packet name="SET" opcode="0x96" map="mmio_two">"#,
        "packet SET (0x96) occurs twice",
    );
    // A register of the other map is none of a packet's.
    refuse_engine(
        r#"<repeat count="optional"><dword name="X"/>"#,
        r#"<repeat count="optional"><dword register="MANY"/>"#,
        "no register MANY",
    );
}

#[test]
fn engines() {
    refuse_engine(r#"engine="dma""#, r#"engine="pm4""#, "engine name 'pm4'");
    refuse_engine(r#"engine="dma""#, r#"engine="mmio""#, "engine name 'mmio'");
    refuse_engine(r#"engine="dma" "#, "", "headers of PM4 packets");
    refuse_engine(
        r#"header="TOP.OP""#,
        r#"header="TOP""#,
        "is not LAYOUT.FIELD",
    );
    refuse_engine(r#"header="TOP.OP""#, r#"header="TOP.BOP""#, "no TOP.BOP");
    refuse_engine(r#"header="TOP.OP""#, r#"header="BOT.OP""#, "no BOT.OP");
    refuse_engine("<doc>Another engine.</doc>", "", "engine dma has no doc");
    refuse_engine(
        r#"opcode="3""#,
        r#"opcode="16""#,
        "packet COPY: opcode 0x10",
    );
    // The layouts of one set are not those of another.
    refuse_engine(
        r#"<dword name="DATA"/>"#,
        r#"<dword layout="HEAD"/>"#,
        "no layout HEAD",
    );
    // Nothing but the contents says how long a packet is.
    for count in ["rest", "optional"] {
        refuse_engine(
            r#"count="TOP.COUNT""#,
            &format!(r#"count="{count}""#),
            "packet COPY: nothing says where it ends",
        );
    }
    refuse_engine(
        r#"<dword name="WHY"><bitfield name="WHY" pos="0"/></dword>"#,
        r#"<registers from="TOP.COUNT" base="0" end="8"/>"#,
        "packet STOP: nothing says where it ends",
    );
    let again = r#"<packets engine="dma" header="TOP.OP" src="seed:L9"><doc>Another engine.</doc>"#;
    refuse_engine(
        again,
        &format!("{again}</packets>{again}"),
        "engine dma occurs twice",
    );
}

#[test]
fn conditions_of_overlays() {
    refuse_engine("FIRST.KIND=1", "FIRST.KIND=x", "is not DWORD.FIELD=V|V");
    refuse_engine("FIRST.KIND=1", "FIRST.MIND=1", "no FIRST.MIND (when)");
    refuse_engine("FIRST.KIND=1", "LOST.KIND=1", "no LOST.KIND (when)");
    refuse_engine(
        r#"<reg32 offset="0x60" name="SAME" mirror-of="FIRST""#,
        r#"<reg32 offset="0x60" name="SAME" mirror-of="FIRST" when="FIRST.KIND=1""#,
        "has a condition and is no overlay",
    );
    refuse_engine(
        "FIRST.KIND=1",
        "ARRAY.KIND=1",
        "register SECOND is no array of the length of ARRAY (when)",
    );
}

#[test]
fn outputs_have_packets_of_every_form() {
    let folder = Folder::new();
    folder.write("db.xml", &with_engines());
    assert!(folder.generate().status.success());
    let portable = folder.generated("portable.rs");
    let (pm4, dma) = portable.split_once("pub mod dma {").expect("the engine");
    let both = pm4.split_once("pub mod pm4 {").expect("PM4").1;
    assert_eq!(both.matches("pub const LATE: u8 = 0x94;").count(), 1);
    assert!(both.contains("Only there. Only on chip."), "{both}");
    assert!(both.contains("pub const BASE: u32 = 0x00010;"), "{both}");
    assert!(both.contains("pub const END: u32 = 0x00080;"), "{both}");
    assert!(dma.contains("pub const COPY: u8 = 0x03;"), "{dma}");
    let (_, of_map) = dma.split_once("pub mod mmio_two {").expect("of a map");
    assert!(of_map.contains("pub const WHY: Field"), "{of_map}");

    let tables = folder.generated("tables.rs");
    let part = |begin: &str| {
        let (_, rest) = tables
            .split_once(begin)
            .unwrap_or_else(|| panic!("{begin}"));
        rest.split("\n];").next().expect("a part").to_owned()
    };
    assert!(part("static PACKETS:").contains("Item::Registers { dword: \"AT\""));
    assert!(!part("static PACKETS:").contains("LATE"));
    assert!(part("static MMIO_TWO_PACKETS:").contains("Count::Optional"));
    assert!(!part("static MMIO_ONE_PACKETS:").contains("Count::Optional"));
    assert!(part("static PACKET_VARIANTS:").contains("(\"LATE\", &[\"chip\"])"));
    assert!(part("static CHOICES:").contains("overlay: \"SECOND\", register: \"FIRST\""));
    assert!(part("static MMIO_TWO_ENGINES:").contains("STOP"));
    assert!(!part("static MMIO_ONE_ENGINES:").contains("STOP"));
    assert!(part("static MMIO_ONE_ENGINES:").contains("opcode: Field::new(31, 28)"));
    assert!(folder.generated("coverage.md").contains("engine dma"));

    // A database without them has none of these tables.
    folder.write("db.xml", GOOD);
    assert!(folder.generate().status.success());
    let tables = folder.generated("tables.rs");
    for name in ["ENGINES", "CHOICES", "PACKET_VARIANTS"] {
        assert!(!tables.contains(name), "{name}");
    }
}
