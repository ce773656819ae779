// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `pm4-decode` program.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pm4-decode"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // The program may end before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("its output")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn raw_and_text_say_the_same() {
    let raw = run(&["-", "--base", "0x200"], &[0xc8, 5, 0, 0, 0, 0, 1, 0]);
    let hex = run(&["-", "--base", "512"], b"000005c8 0x00010000\n");
    assert_eq!(text(&raw.stdout), text(&hex.stdout));
    let expected = "00000200: 000005c8  type 0: 1 dword to WAIT_UNTIL\n\
                    00000204: 00010000    WAIT_UNTIL = 0x00010000 { WAIT_2D_IDLECLEAN=1 }\n";
    assert_eq!(text(&raw.stdout), expected);
    assert_eq!(raw.status.code(), Some(0));
}

#[test]
fn a_ring_is_cut_out() {
    let out = run(
        &["-", "--format", "hex", "--ring", "3:1"],
        b"00010000 0 0 000005c8",
    );
    let expected = "0000000c: 000005c8  type 0: 1 dword to WAIT_UNTIL\n\
                    00000000: 00010000    WAIT_UNTIL = 0x00010000 { WAIT_2D_IDLECLEAN=1 }\n";
    assert_eq!(text(&out.stdout), expected);
}

#[test]
fn what_does_not_fit_shows_in_the_status() {
    let out = run(&["-"], b"c0015500 0");
    assert!(text(&out.stdout).contains("!! truncated"));
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn unreadable_input_is_one_line() {
    for (arguments, input) in [
        (&["-", "--format", "raw"][..], &b"abc"[..]),
        (&["-", "--format", "hex"], b"xyz"),
        (&["-"], b""),
        (&["/nonexistent/stream"], b""),
    ] {
        let out = run(arguments, input);
        assert_eq!(out.status.code(), Some(2));
        assert_eq!(
            text(&out.stderr).lines().count(),
            1,
            "{}",
            text(&out.stderr)
        );
    }
}

#[test]
fn streams_of_the_command_regulator_are_decoded() {
    let stream = b"fe000000 1 0 cc000000 6c 00400000 cc000000 cc000000";
    let out = run(&["-", "--family", "chrome9", "--base", "0x100"], stream);
    assert_eq!(text(&out.stderr), "");
    let lines: Vec<&str> = text(&out.stdout).lines().collect();
    assert_eq!(lines[0], "00000100: fe000000  REGISTERS_2D");
    assert_eq!(lines.len(), 8);
    assert_eq!(out.status.code(), Some(0));

    // The twin has a header that is none.
    let out = run(&["-", "--family", "chrome9"], b"fe090000 1 0 cc000000");
    assert_eq!(out.status.code(), Some(1));

    let out = run(&["-", "--family", "chrome9", "--ring", "0:1"], stream);
    assert_eq!(
        text(&out.stderr),
        "pm4-decode: streams of chrome9 are decoded from a header on, whole\n"
    );
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn a_database_is_chosen_by_its_name() {
    for name in ["r500", "r600", "r700"] {
        let out = run(&["-", "--family", name], b"80000000");
        assert_eq!(text(&out.stderr), "", "{name}");
    }
    let out = run(&["-", "--family", "r800"], b"80000000");
    assert_eq!(
        text(&out.stderr),
        "pm4-decode: no family r800; there are chrome9, r500, r600, r700\n"
    );
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn an_engine_is_chosen_by_its_name() {
    let run_as = |family: &str, engine: &str| {
        run(
            &["-", "--family", family, "--engine", engine],
            b"60000000 1000 2 5 70000000",
        )
    };
    let out = run_as("r700", "dma");
    let expected = "00000000: 60000000  FENCE: 3 dwords\n\
                    00000004: 00001000    ADDRESS_LO = 0x00001000 { ADDRESS_LO=0x400 }\n\
                    00000008: 00000002    ADDRESS_HI = 0x00000002 { ADDRESS_HI=2 }\n\
                    0000000c: 00000005    DATA = 0x00000005\n\
                    00000010: 70000000  TRAP: 0 dwords\n";
    assert_eq!(text(&out.stdout), expected);
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(
        text(&run_as("r600", "uvd").stderr),
        "pm4-decode: no engine uvd of r600; there are dma\n"
    );
    assert_eq!(
        text(&run_as("r500", "dma").stderr),
        "pm4-decode: no engine dma of r500; there are none\n"
    );
    let dump = include_str!("dumps/hang.dump");
    let out = run(&["-", "--engine", "dma"], dump.as_bytes());
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn a_shader_is_printed_by_slots() {
    let program = b"2 a0000000 c0000000 94200688 80800000 60000010";
    let out = run(&["-", "--shader", "--family", "r700"], program);
    let expected = "0000: 00000002 a0000000  ALU @0002 count=1 BARRIER\n\
                    0002: 80800000 60000010    0 w: ADD R0.w, R0.x, R0.y\n\
                    0001: c0000000 94200688  EXPORT_DONE PIXEL 0, R0.xyzw, ELEM_SIZE=3 END_OF_PROGRAM BARRIER\n";
    assert_eq!((text(&out.stdout), out.status.code()), (expected, Some(0)));
    // The start is a slot.
    let out = run(&["-", "--shader=1", "--family", "r700"], program);
    assert!(text(&out.stdout).starts_with("0001: c0000000 94200688  EXPORT_DONE"));
    assert!(text(&out.stdout).contains("0002:  up to 0002 not reached"));
}

#[test]
fn what_does_not_fit_in_a_shader_shows_in_the_status() {
    let out = run(&["-", "--shader", "--family", "r600"], b"0 0");
    assert_eq!(
        text(&out.stdout),
        "0000: 00000000 00000000  NOP  !! the program goes on without END_OF_PROGRAM\n"
    );
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn a_shader_needs_a_family_that_describes_it_and_a_start_inside() {
    let dump = include_str!("dumps/hang.dump");
    for (arguments, input, message) in [
        (
            &["-", "--shader"][..],
            "0 0",
            "the shaders of r500 are not described",
        ),
        (
            &["-", "--shader=1", "--family", "r600"],
            "0 0",
            "slot 1 is not in the program, which has 1",
        ),
        (
            &["-", "--shader"],
            dump,
            "--shader is for programs; a core dump has none",
        ),
    ] {
        let out = run(arguments, input.as_bytes());
        assert_eq!(out.status.code(), Some(2));
        let message = format!("pm4-decode: {message}\n");
        assert!(text(&out.stderr) == message, "{}", text(&out.stderr));
    }
    // Addresses of a program count from its beginning.
    let out = run(&["-", "--shader", "--base", "4096"], b"0 0");
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn the_family_of_a_dump_can_be_said_where_its_driver_does_not_tell_the_map() {
    let dump = include_str!("dumps/hang.dump");
    let other = dump.replace("driver r500", "driver of_another_family");
    assert_ne!(dump, other);
    let said = run(&["-", "--family", "r500"], other.as_bytes());
    let expected = include_str!("dumps/hang.txt");
    assert_eq!(
        text(&said.stdout).replace("driver of_another_family", "driver r500"),
        expected
    );
    assert_eq!(run(&["-"], other.as_bytes()).status.code(), Some(2));
}

#[test]
fn the_same_word_has_the_fields_of_the_map() {
    let dump = "lapidary coredump 1\n\
                driver r600\n\
                [registers]\n\
                VM_L2_CNTL 0x0001c000\n\
                [ring] first 0x0 read 0x0 write 0x0 size 0x100\n\
                [ib] addr 0x0 dwords 0\n\
                [objects]\n\
                [end]\n";
    for (family, fields) in [
        ("r600", "EFFECTIVE_L2_QUEUE_SIZE=6 ?=0x10000"),
        ("r700", "EFFECTIVE_L2_QUEUE_SIZE=7"),
    ] {
        let out = run(&["-", "--family", family], dump.as_bytes());
        let line = format!("  VM_L2_CNTL = 0x0001c000 {{ {fields} }}\n");
        assert!(text(&out.stdout).contains(&line), "{}", text(&out.stdout));
    }
    // Without a word about the map it is that of the driver's name.
    let out = run(&["-"], dump.as_bytes());
    assert!(text(&out.stdout).contains("?=0x10000"));
}
