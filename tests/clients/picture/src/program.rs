// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the demos' programs have in common: arguments, what they say of the device, and the comparison of two renderings.

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use lapidary_harness::kmsg::Kmsg;
use lapidary_harness::node::Node;
use lapidary_harness::sysfs::PciDevice;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of a demo.
#[derive(Parser)]
#[command(about = "Draws a picture by the GPU and compares it with the CPU's rendering")]
pub struct Arguments {
    /// Folder for first-light.png
    #[arg(long, default_value = "/out")]
    out: PathBuf,
    /// Write the CPU's rendering of the 2D scene instead, without any device
    #[arg(long)]
    pub reference: bool,
}

impl Arguments {
    /// Return the path of the picture.
    pub fn picture(&self) -> PathBuf {
        self.out.join("first-light.png")
    }
}

/// Run a demo with the arguments of the process. `name` is that of the program.
pub fn main(name: &str, run: impl FnOnce(&Arguments) -> Result<()>) -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Print a line of the report.
pub fn say(topic: &str, text: impl Display) {
    println!("{topic:<12} {text}");
}

/// Print which chip and which driver a client has. `id` is the chip's as the driver says it.
///
/// # Errors
///
/// PCI says another id.
pub fn introduce(node: &Node, chip: &str, id: u32) -> Result<()> {
    let (version, pci) = (node.version()?, PciDevice::of(node)?);
    let device = pci.id("device")?;
    ensure!(
        id == device,
        "the driver says device {id:#06x}, PCI {device:#06x}"
    );
    let (vendor, address) = (pci.id("vendor")?, pci.address());
    say(
        "chip",
        format_args!("{chip} (PCI {vendor:04x}:{id:04x} at {address})"),
    );
    let driver = pci.driver().unwrap_or_else(|| "none".into());
    let (major, minor, patch) = version.number;
    let name = version.name;
    say(
        "driver",
        format_args!("{driver}, interface {name} {major}.{minor}.{patch}"),
    );
    Ok(())
}

/// Print the driver's last words on some topics in the kernel log. Of the driver are records that begin with its name, or
/// contain one of `marks`.
///
/// # Errors
///
/// The device has no driver.
pub fn reported(node: &Node, marks: &[&str], topics: &[(&str, &str)]) -> Result<()> {
    let driver = PciDevice::of(node)?
        .driver()
        .context("no driver is bound")?;
    let records = Kmsg::open()
        .and_then(|mut kmsg| kmsg.read())
        .unwrap_or_default();
    let ours =
        |text: &str| text.starts_with(&driver) || marks.iter().any(|mark| text.contains(mark));
    for (topic, words) in topics {
        let mut texts = records.iter().rev().map(|record| record.text.as_str());
        let last = texts.find(|text| ours(text) && text.to_lowercase().contains(words));
        say(topic, last.unwrap_or("the kernel log says nothing"));
    }
    Ok(())
}

/// Return where two pictures of the same size, of `width` pixels a row, differ: `(x, y, expected, seen)`.
fn differences(width: usize, expected: &[u32], seen: &[u32]) -> Vec<(usize, usize, u32, u32)> {
    let pairs = expected.iter().zip(seen).enumerate();
    pairs
        .filter(|(_, (a, b))| a != b)
        .map(|(i, (&a, &b))| (i % width, i / width, a, b))
        .collect()
}

/// Compare every pixel of a picture of `width` pixels a row, and print what came of it. Return how many differ.
///
/// # Errors
///
/// The pictures differ in size.
pub fn compare(what: &str, width: usize, expected: &[u32], seen: &[u32]) -> Result<usize> {
    let all = expected.len();
    ensure!(seen.len() == all, "{what}: {} pixels of {all}", seen.len());
    let differences = differences(width, expected, seen);
    let count = differences.len();
    match count {
        0 => say(
            what,
            format_args!("all {all} pixels equal the CPU's rendering"),
        ),
        _ => say(what, format_args!("{count} of {all} pixels differ")),
    }
    for (x, y, expected, seen) in differences.iter().take(10) {
        println!("             at ({x}, {y}): expected {expected:08x}, seen {seen:08x}");
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found() {
        let mut seen = vec![5; 8];
        assert!(differences(4, &[5; 8], &seen).is_empty());
        seen[6] = 9;
        assert_eq!(differences(4, &[5; 8], &seen), [(2, 1, 5, 9)]);
    }
}
