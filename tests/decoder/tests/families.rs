// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The decoder knows a family by its database alone: here are two small ones, of families that do not exist.

use lapidary_decoder::{Note, Options, decode_stream, packet};
use lapidary_registers::{
    Access, Count, Database, Domain, Dword, Field, FieldInfo, Item, Packet, Pixel, Register,
};

const fn field(name: &'static str, hi: u8, lo: u8) -> FieldInfo {
    FieldInfo {
        name,
        field: Field::new(hi, lo),
        default: None,
        doc: "",
        values: &[],
    }
}

const fn dword(name: &'static str, fields: &'static [FieldInfo]) -> Dword {
    Dword {
        name,
        doc: "",
        fields,
    }
}

/// Beyond what 13 bits of a header reach.
const FAR: Register = Register {
    domain: Domain::MMIO,
    block: "",
    name: "FAR",
    manual: "",
    offset: 0x2_8000,
    len: 2,
    stride: 4,
    access: Access::ReadWrite,
    default: None,
    doc: "",
    source: "",
    variants: &[],
    overlay_of: None,
    mirror_of: None,
    fields: &[],
};

const PIXELS: Packet = Packet {
    name: "PIXELS",
    opcode: 0x91,
    doc: "",
    source: "",
    in_manual: false,
    body: &[
        Item::Dword(dword("FORMAT", &[field("SIZE", 1, 0)])),
        Item::Repeat {
            count: Count::PerPixelByte(1),
            items: &[Item::Dword(dword("BYTE", &[]))],
        },
        Item::Dword(dword("END", &[])),
    ],
};

/// Packets without type 1, a wide register index, and pixels of a format of its own.
static WIDE: Database = Database::new(
    "wide",
    &[Domain::MMIO],
    &[FAR],
    &[PIXELS],
    &[
        dword(
            "TYPE0",
            &[
                field("BASE_INDEX", 15, 0),
                field("COUNT", 29, 16),
                field("TYPE", 31, 30),
            ],
        ),
        dword(
            "TYPE3",
            &[
                field("IT_OPCODE", 15, 8),
                field("COUNT", 29, 16),
                field("TYPE", 31, 30),
            ],
        ),
    ],
    &[],
)
.with_pixel(Pixel {
    dword: "FORMAT",
    field: "SIZE",
    bytes: |size| if size != 0 { Some(size) } else { None },
});

/// No packets at all.
static PLAIN: Database = Database::new("plain", &[Domain::MMIO], &[FAR], &[], &[], &[]);

#[test]
fn headers_are_as_wide_as_the_database_says() {
    assert_eq!(
        packet(&WIDE, &[0x0001_a000, 1, 2]),
        [
            "00000000: 0001a000  type 0: 2 dwords to FAR[0]",
            "00000004: 00000001    FAR[0] = 0x00000001",
            "00000008: 00000002    FAR[1] = 0x00000002",
        ]
    );
}

#[test]
fn pixels_are_as_large_as_the_database_says() {
    let notes = |words: &[u32]| -> Vec<_> {
        decode_stream(&WIDE, words, Options::default())
            .map(|line| line.note)
            .collect()
    };
    assert_eq!(notes(&[0xc003_9100, 2, 0, 0, 0]), [None; 5]);
    assert_eq!(notes(&[0xc002_9100, 2, 0, 0])[3], Some(Note::Short("END")));
    assert_eq!(notes(&[0xc001_9100, 0, 0])[2], Some(Note::BadCount("SIZE")));
}

#[test]
fn a_type_that_the_family_lacks_is_one_dword() {
    let lines: Vec<_> =
        decode_stream(&WIDE, &[0x4000_0000, 0x8000_0000], Options::default()).collect();
    assert_eq!(lines[0].note, Some(Note::NoSuchType));
    assert_eq!(lines[1].to_string(), "00000004: 80000000  type 2: filler");
}

#[test]
fn without_packets_each_dword_stands_for_itself() {
    assert_eq!(
        packet(&PLAIN, &[0xc001_9100, 1]),
        [
            "00000000: c0019100    0xc0019100",
            "00000004: 00000001    0x00000001",
        ]
    );
}
