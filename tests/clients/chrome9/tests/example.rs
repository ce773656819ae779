// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The example in C compiles in every way user space may, and its numbers are those of the register database. A step of the
//! suite runs it in the guest.

use lapidary_registers::Domain;
use lapidary_registers::chrome9::mmio::{gecmd, gemode};
use lapidary_registers::chrome9::{DATABASE, header};
use std::collections::BTreeMap;
use std::process::Command;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/example.c");
const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../uapi/drm");

#[test]
fn it_compiles() {
    for (compiler, arguments) in [
        ("gcc", &["-std=c99"][..]),
        ("clang", &["-std=c99"]),
        ("clang", &["-std=c++11", "-x", "c++"]),
        ("i686-linux-gnu-gcc", &["-std=c99"]),
    ] {
        let status = Command::new(compiler)
            .args(["-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"])
            .args(arguments)
            .args(["-I", HEADERS, "-isystem", "/usr/include/libdrm", EXAMPLE])
            .status()
            .unwrap_or_else(|error| panic!("{compiler}: {error}"));
        assert!(status.success(), "{compiler} {arguments:?}");
    }
}

/// Return the example's definitions of names with a number.
fn definitions() -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(EXAMPLE).expect("the example");
    let number = |word: &str| {
        let word = word.trim_end_matches('u');
        match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        }
    };
    text.lines()
        .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
        .filter_map(|(name, value)| Some((name.to_owned(), number(value)?)))
        .collect()
}

#[test]
fn its_numbers_are_those_of_the_database() {
    let defined = definitions();
    let mut registers = 0;
    for (name, &value) in &defined {
        if let Some(register) = DATABASE.by_name_in(Domain::MMIO, name) {
            assert_eq!(register.offset, value, "{name}");
            registers += 1;
        }
    }
    assert_eq!(registers, 8, "registers of {defined:x?}");
    assert_eq!(
        defined["REGISTERS_2D"],
        0xfe00_0000 | (header::REGISTERS_2D << 16)
    );
    // These are expressions in the example.
    let text = std::fs::read_to_string(EXAMPLE).expect("the example");
    assert_eq!(gemode::DEPTH.of(gemode::depth::BPP_32), 3 << 8);
    assert!(text.contains("#define BPP_32 (3u << 8)"));
    let fill = gecmd::ROP.of(0xf0)
        | gecmd::FIXED_COLOR_PATTERN.mask()
        | gecmd::COMMAND.of(gecmd::command::BLT);
    assert_eq!(fill, (0xf0 << 24) | (1 << 13) | 1);
    assert!(text.contains("#define FILL (0xf0u << 24 | 1u << 13 | 1u)"));
}

/// The page for user space shows the stream of such a fill, dword by dword.
#[test]
fn the_page_shows_its_stream() {
    use lapidary_chrome9_client::blit::{Blit, Depth, Rect, Surface};
    let page = include_str!("../../../../Documentation/chrome9/uapi.md");
    let dword = |word: &str| match word.len() {
        8 => u32::from_str_radix(word, 16).ok(),
        _ => None,
    };
    let shown: Vec<u32> = page
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .flat_map(|line| line.split(' ').map_while(dword))
        .collect();
    let surface = Surface {
        object: 0,
        offset: 0,
        pitch: 256,
    };
    let fill = Blit::fill(
        Depth::Bits32,
        surface,
        Rect::new(16, 8, 32, 16),
        0x0033_6699,
    );
    let mut stream = lapidary_chrome9_client::Stream::new();
    lapidary_chrome9_client::emit::blit(&mut stream, &[1], &fill);
    assert_eq!(shown, stream.words());
    let relocation = stream.relocations()[0];
    assert!(page.contains(&format!("relocation of dword {}", relocation.dword)));
}
