// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the decoder says of streams of Chrome9's command regulator. Each line that is wrong has a twin that differs in one
//! dword and is right.

use lapidary_decoder::regulator::{Line, Meaning, Note, decode};
use lapidary_registers::Domain;
use lapidary_registers::chrome9::domain;
use proptest::prelude::*;

const TAG: u32 = 0xcc00_0000;

fn lines(words: &[u32]) -> Vec<Line> {
    decode(words, 0).collect()
}

fn notes(words: &[u32]) -> Vec<(usize, Note)> {
    let all = lines(words).into_iter().enumerate();
    all.filter_map(|(i, l)| l.note.map(|note| (i, note)))
        .collect()
}

#[test]
fn pairs_name_their_registers() {
    let stream = [0xfe00_0000, 1, 0, TAG, 0x6c, 0x0080_0000, TAG, TAG];
    let text: Vec<String> = lines(&stream).iter().map(Line::to_string).collect();
    assert_eq!(text[0], "00000000: fe000000  REGISTERS_2D");
    assert_eq!(text[1], "00000004: 00000001    count 1");
    assert_eq!(text[4], "00000010: 0000006c    to WAIT_CONTROL_2D_3D");
    assert_eq!(
        text[5],
        "00000014: 00800000      WAIT_CONTROL_2D_3D = 0x00800000 { WAIT_3D_IDLE=1 }"
    );
    assert_eq!(text[6], "00000018: cc000000    padding");
    assert_eq!(notes(&stream), []);
}

#[test]
fn parameters_last_until_the_next_header() {
    let stream = [
        0xfe02_0440,
        0x43c,
        0x0010_0000,
        TAG,
        0x0700_0000,
        0xcccc_cccc,
        0xcccc_cccc,
        0xcccc_cccc,
        0xfe02_0420,
        0x41c,
        0x0011_0000,
        TAG,
        0x0600_0005,
        0x0712_0000,
        TAG,
        TAG,
    ];
    let all = lines(&stream);
    assert_eq!(notes(&stream), []);
    assert_eq!(all[4].meaning, Meaning::Value(domain::PARA_10, 0x07));
    assert_eq!(all[5].meaning, Meaning::Padding);
    assert_eq!(all[8].meaning, Meaning::Header(2));
    assert_eq!(all[13].meaning, Meaning::Value(domain::PARA_11, 0x07));
}

/// A dword that looks like a header is one only at a multiple of 16 bytes.
#[test]
fn a_header_is_aligned() {
    let mut stream = [
        0xfe02_0440,
        0x43c,
        0x0010_0000,
        TAG,
        0,
        0xfe02_0440,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    assert!(matches!(lines(&stream)[5].meaning, Meaning::Value(..)));
    stream[4] = 0xfe02_0440;
    assert_eq!(lines(&stream)[4].meaning, Meaning::Header(2));
}

/// Counted data may look like a header.
#[test]
fn counted_data_is_never_a_header() {
    let stream = [0xfe03_043c, 4, 0, TAG, 0xfe02_0440, 1, 2, 3];
    assert_eq!(lines(&stream)[4].meaning, Meaning::Data);
    assert_eq!(notes(&stream), []);
    let twin = [0xfe03_043c, 0, 0, TAG, 0xfe02_0440, 1, 2, 3];
    assert_eq!(lines(&twin)[4].meaning, Meaning::Header(2));
}

/// Type 01h is not in the database yet. The twin has a reserved type.
#[test]
fn parameters_are_named_by_type_sub_type_and_sub_address() {
    let one = |setting, word| {
        let stream = [0xfe02_0440, 0x43c, setting, TAG, word];
        assert_eq!(notes(&stream), [], "{stream:x?}");
        lines(&stream)[4].meaning
    };
    assert_eq!(
        one(0x0001_0000, 0x5000_1234),
        Meaning::Value(domain::PARA_01, 0x50)
    );
    assert_eq!(
        one(0x0f02_0000, 0x0000_1234),
        Meaning::Value(domain::PARA_02_STAGE, 0)
    );
    assert_eq!(
        one(0x2f02_0000, 0x3000_0000),
        Meaning::Value(domain::PARA_02_SAMPLE, 0x30)
    );
    assert_eq!(
        one(0xfe02_0000, 0x0000_0010),
        Meaning::Value(domain::PARA_02_GENERAL, 0)
    );
    assert_eq!(one(0x0000_0000, 0x3f80_0000), Meaning::Data);
}

#[test]
fn entries_of_a_table_count_from_the_setting_on_and_have_32_bits() {
    // Constant 1 of the pixel shader, and what follows it.
    let stream = [
        0xfe02_0440,
        0x43c,
        0x2203_0004,
        TAG,
        0x3f80_0000,
        0x4000_0000,
        TAG,
        TAG,
    ];
    let found = lines(&stream);
    assert_eq!(
        found[4].meaning,
        Meaning::Entry(domain::PARA_03_CONSTANTS, 4)
    );
    assert_eq!(
        found[5].meaning,
        Meaning::Entry(domain::PARA_03_CONSTANTS, 5)
    );
    assert!(
        found[4]
            .to_string()
            .ends_with("CONSTANT_LOW[4] = 0x3f800000"),
        "{}",
        found[4]
    );
    // Behind the end of the palette there is padding, and nothing else.
    let stream = [
        0xfe02_0440,
        0x43c,
        0x0003_000f,
        TAG,
        TAG,
        TAG,
        0x0000_0001,
        TAG,
    ];
    assert_eq!(notes(&stream), [(6, Note::UnknownPlace)]);
    assert_eq!(
        lines(&stream)[4].meaning,
        Meaning::Entry(domain::PARA_03_PALETTE, 15)
    );
    assert_eq!(lines(&stream)[5].meaning, Meaning::Padding);
}

#[test]
fn a_primitive_is_named() {
    let stream = [0xfe02_0440, 0x43c, 0x0004_0000, TAG, 0x2300_4002];
    assert_eq!(
        lines(&stream)[4].to_string(),
        "00000010: 23004002    PRIMITIVE_SETTING_4 = 0x00004002 { SHADING=GOURAUD CW_TYPE=TRIANGLE TYPE=TRIANGLE }"
    );
}

#[test]
fn video_data_goes_to_one_register() {
    let stream = [0xfe04_03d0, 2, 0, 0, 7, 8, TAG, TAG];
    let all = lines(&stream);
    assert_eq!(all[4].meaning, Meaning::Value(Domain::MMIO, 0x3d0));
    assert_eq!(all[5].meaning, Meaning::Value(Domain::MMIO, 0x3d0));
    assert_eq!(notes(&stream), []);
}

#[test]
fn a_branch_has_a_header_only() {
    let stream = [0xfe82_0420, 0x41c, 0x0030_0000, TAG, 0xfe06_0000, 0, 0, 0];
    assert_eq!(notes(&stream), []);
    assert_eq!(lines(&stream)[4].meaning, Meaning::Header(6));
}

#[test]
fn what_does_not_fit_is_marked() {
    for (stream, expected) in [
        // No header at the beginning; a header with an unknown code; one of another family's packets.
        (&[1, 2][..], vec![(0, Note::NoHeader), (1, Note::NoHeader)]),
        (&[0xfe08_0000], vec![(0, Note::NoHeader)]),
        // The stream ends within a header, and within what it counts.
        (&[0xfe00_0000, 1, 0], vec![(2, Note::Truncated)]),
        (&[0xfe00_0000, 1, 0, TAG, 0x6c], vec![(4, Note::Truncated)]),
        // Registers that are not there.
        (
            &[0xfe00_0000, 1, 0, TAG, 0x64, 0],
            vec![(4, Note::UnknownPlace)],
        ),
        // More than the count, before the next header's place.
        (
            &[0xfe00_0000, 1, 0, TAG, 0x6c, 0, 5, TAG],
            vec![(6, Note::Excess)],
        ),
        // Other registers than a window.
        (
            &[0xfe02_0400, 0x294, 0x0011_0000, TAG],
            vec![(0, Note::WrongWindow), (1, Note::WrongWindow)],
        ),
        // A reserved type, and a reserved sub-address of a known one.
        (
            &[0xfe02_0440, 0x43c, 0x0005_0000, TAG, 1],
            vec![(4, Note::UnknownParameters)],
        ),
        (
            &[0xfe02_0420, 0x41c, 0x0010_0000, TAG, 0x0100_0000],
            vec![(4, Note::UnknownPlace)],
        ),
    ] {
        assert_eq!(notes(stream), expected, "{stream:x?}");
    }
}

proptest! {
    #[test]
    fn each_dword_is_one_line(words in prop::collection::vec(
        prop_oneof![any::<u32>(), (0u32..8).prop_map(|c| 0xfe00_0000 | (c << 16) | 0x420), 0u32..16, Just(TAG)], 0..80)
    ) {
        let all = lines(&words);
        prop_assert_eq!(all.len(), words.len());
        for (i, (line, word)) in all.iter().zip(&words).enumerate() {
            prop_assert_eq!((line.address, line.word), (i as u64 * 4, *word));
            prop_assert!(!line.to_string().is_empty());
        }
    }
}
