// SPDX-License-Identifier: GPL-2.0 OR MIT

//! QEMU takes the functions of a model as one PCI device, by the arguments that `scripts/boot` gives it. The machine is
//! not started: what there is on the bus is known before the first instruction.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Model;
use super::family::{BRIDGE, DISPLAY};

/// The slot that the device gets.
const SLOT: &str = "4";

/// Return QEMU's answers to the commands, as text.
fn qemu(arguments: &[String], commands: &[&str]) -> String {
    let mut qemu = Command::new("qemu-system-x86_64")
        .args([
            "-S",
            "-accel",
            "tcg",
            "-display",
            "none",
            "-nodefaults",
            "-qmp",
            "stdio",
        ])
        .args(["-M", "q35,memory-backend=mem", "-m", "64M"])
        .args(["-object", "memory-backend-memfd,id=mem,size=64M,share=on"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = qemu.stdin.take().unwrap();
    for command in ["qmp_capabilities"].iter().chain(commands).chain(&["quit"]) {
        writeln!(input, "{{\"execute\":\"{command}\"}}").unwrap();
    }
    let output = qemu.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaints}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_model_of_two_functions_is_one_device_of_qemus() {
    let mut model = Model::new("qemu");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/devices");
    let arguments = Command::new(script)
        .arg(model.dir.join("gpu"))
        .arg(SLOT)
        .output()
        .unwrap();
    assert!(arguments.status.success());
    let arguments = String::from_utf8(arguments.stdout).unwrap();
    let arguments: Vec<String> = arguments.lines().map(str::to_owned).collect();
    assert_eq!(arguments.len(), 4, "{arguments:?}");
    let answers = qemu(&arguments, &["query-pci"]);
    let answers: serde_json::Value = answers
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|answer| answer["return"].is_array())
        .expect("an answer");
    let devices = answers["return"][0]["devices"].as_array().unwrap();
    let found: Vec<_> = devices
        .iter()
        .filter(|device| device["slot"] == 4)
        .map(|device| {
            (
                device["function"].clone(),
                device["class_info"]["class"].clone(),
            )
        })
        .collect();
    model.end();
    // PCI classes: 0x0600 is a host bridge, 0x0300 a VGA display.
    let expected = [(BRIDGE, 0x0600), (DISPLAY, 0x0300)];
    assert_eq!(
        found,
        expected.map(|(number, class)| (number.into(), class.into()))
    );
}
