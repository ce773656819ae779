// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the harness makes of tests that pass, fail, skip, panic, die and hang.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn sample(arguments: &[&str]) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_harness-sample"))
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

fn line<'a>(text: &'a str, name: &str) -> &'a str {
    let start = format!("test {name} ... ");
    text.lines()
        .find_map(|line| line.strip_prefix(&start))
        .unwrap_or_else(|| panic!("no line for {name} in:\n{text}"))
}

#[test]
fn every_outcome_is_told_apart() {
    let (output, text) = sample(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(line(&text, "good/passes"), "ok");
    assert_eq!(line(&text, "good/ends_of_children"), "ok");
    assert_eq!(line(&text, "good/skips"), "skipped: not today");
    assert_eq!(
        line(&text, "good/needs_the_model"),
        "skipped: needs the device model"
    );
    assert_eq!(line(&text, "good/not_here"), "skipped: elsewhere");
    assert_eq!(line(&text, "good/here"), "ok");
    assert_eq!(
        line(&text, "good/differs"),
        "differs: it was decided so (the known way)"
    );
    assert_eq!(line(&text, "good/left_out"), "left out: upstream has it");
    assert_eq!(
        line(&text, "bad/differs_no_more"),
        "FAILED: passes, although it was known to differ: it was so"
    );
    assert_eq!(line(&text, "bad/fails"), "FAILED: as it | should");
    assert!(line(&text, "bad/panics").starts_with("FAILED"));
    assert!(line(&text, "bad/dies").starts_with("FAILED: killed by signal 6"));
    let hangs = line(&text, "bad/hangs");
    assert!(
        hangs.starts_with("FAILED: no end after 1 s; /proc/"),
        "{hangs}"
    );
    // Asleep in the kernel.
    assert!(hangs.contains(": S "), "{hangs}");
    let left = line(&text, "bad/leaves_a_child");
    assert!(left.ends_with("with a child"), "{left}");
    let pid: String = left.chars().filter(char::is_ascii_digit).collect();
    let dead = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    // It was killed, but need not have noticed yet.
    let deadline = Instant::now() + Duration::from_secs(5);
    while !dead() {
        assert!(Instant::now() < deadline, "the child lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(
        text.lines().last(),
        Some("3 passed, 6 failed, 3 skipped, 1 differ, 1 left out")
    );
}

#[test]
fn words_choose_tests() {
    let (output, text) = sample(&["passes", "skips"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text.lines().last(), Some("1 passed, 0 failed, 1 skipped"));
    let (_, text) = sample(&["--list"]);
    assert_eq!(text.lines().count(), 14);
    let (_, text) = sample(&["--unmarked", "differs", "left_out"]);
    assert_eq!(text.lines().last(), Some("2 passed, 1 failed, 0 skipped"));
    let (output, text) = sample(&["--stop", "bad/fails", "bad/dies", "passes"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text.matches("FAILED").count(), 1);
    assert!(text.ends_with(" 1 failed, 0 skipped\n"), "{text}");
    let (output, _) = sample(&["--nonsense"]);
    assert_eq!(output.status.code(), Some(2));
}
