// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Core dumps: one whose text is known (`dumps/hang.dump` must print as `dumps/hang.txt`), and ones that are broken.
//!
//! The dump is one that the driver made when its ring hung in a fill; only what differs from run to run was left as it
//! was. To look at a difference: `pm4-decode dumps/hang.dump | diff dumps/hang.txt -`.

use std::path::Path;
use std::process::Command;

use lapidary_decoder::dump::{Dump, Object};
use lapidary_registers::r500::DATABASE;
use proptest::prelude::*;

const HANG: &str = include_str!("dumps/hang.dump");
const TEXT: &str = include_str!("dumps/hang.txt");

#[test]
fn a_hang_by_name() {
    let dump = Dump::parse(HANG).expect("a dump");
    for (n, (got, want)) in dump.lines(&DATABASE).iter().zip(TEXT.lines()).enumerate() {
        assert_eq!(got, want, "line {}", n + 1);
    }
    assert_eq!(dump.lines(&DATABASE).len(), TEXT.lines().count());
    // Not only what it was, but what it has to be.
    for name in [
        "RBBM_STATUS = ",
        "CP_IB_BASE = ",
        "DSTCACHE",
        "DP_BRUSH_FRGD_CLR",
    ] {
        assert!(TEXT.contains(name), "{name}");
    }
}

#[test]
fn the_program_opens_it() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dumps/hang.dump");
    let out = Command::new(env!("CARGO_BIN_EXE_pm4-decode"))
        .arg(file)
        .output()
        .expect("the program");
    assert_eq!(String::from_utf8(out.stdout).expect("text"), TEXT);
    assert_eq!(out.status.code(), Some(0));
}

#[test]
fn parts() {
    let text = "lapidary coredump 1\ndriver r500\n[registers]\nRBBM_STATUS 0x00000140\nNOBODY 0x1\n\
                [ring] first 0xfffe read 0x0 write 0x2 size 0x10000\n00000000 00000000 80000000 80000000\n\
                [ib] addr 0x1000 dwords 1\n80000000\n[objects]\n0x2000 4096 write\n0x3000 8 read\nand 3 more\n[end]\n";
    let dump = Dump::parse(text).expect("a dump");
    assert_eq!(dump.pointers, [0xfffe, 0, 2, 0x10000]);
    assert_eq!(
        (dump.address, &dump.commands[..]),
        (0x1000, &[0x8000_0000][..])
    );
    assert_eq!(
        dump.objects[0],
        Object {
            address: 0x2000,
            size: 4096,
            writes: true
        }
    );
    assert_eq!((dump.objects.len(), dump.left_out), (2, 3));
    let lines = dump.lines(&DATABASE);
    // Where the ring begins, inside of a packet, is left out; the rest runs over the end of the ring.
    assert!(
        lines.contains(&"> 00000: 80000000  type 2: filler".to_owned()),
        "{lines:#?}"
    );
    assert!(lines.contains(&"  NOBODY = 0x00000001".to_owned()));
}

#[test]
fn broken_ones_are_said_to_be() {
    for (text, what) in [
        ("", "not a dump"),
        ("lapidary coredump 2\n[end]\n", "version 2"),
        ("lapidary coredump 1\n", "cut off"),
        ("lapidary coredump 1\n[registers]\nX\n[end]\n", "line 3"),
        (
            "lapidary coredump 1\n[registers]\nX 0x100000000\n[end]\n",
            "32 bits",
        ),
        ("lapidary coredump 1\n[ring] first 0\n[end]\n", "no read"),
        (
            "lapidary coredump 1\n[ib] addr 0 dwords 1\n1\n[end]\n",
            "not a dword",
        ),
        (
            "lapidary coredump 1\n[objects]\n1 2 execute\n[end]\n",
            "no object",
        ),
        ("lapidary coredump 1\n[strange]\n[end]\n", "strange"),
    ] {
        let error = format!("{:#}", Dump::parse(text).expect_err(text));
        assert!(error.contains(what), "{text:?}: {error}");
    }
}

proptest! {
    /// Whatever happens to a dump on the way, it is read or refused.
    #[test]
    fn damage_is_survived(at in 0..HANG.len(), with in "[0-9a-z \n\\[\\]]{0,8}", cut: bool) {
        let mut text = HANG[..at].to_owned();
        text.push_str(&with);
        if !cut {
            text.push_str(&HANG[at..]);
        }
        if let Ok(dump) = Dump::parse(&text) {
            prop_assert!(!dump.lines(&DATABASE).is_empty());
        }
    }
}
