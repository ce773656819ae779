// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `chrome9-first-light`: says what device there is, draws a picture with it, checks every pixel, and keeps the picture.

use anyhow::{Result, ensure};
use clap::Parser;
use lapidary_chrome9_client::Device;
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_demo::canvas::{self, Objects};
use lapidary_chrome9_demo::scene::{self, HEIGHT, WIDTH};
use lapidary_harness::kmsg::{Kmsg, Record};
use lapidary_harness::sysfs::PciDevice;
use lapidary_picture::file;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

#[derive(Parser)]
#[command(about = "Draws a picture by the 2D engine and compares it with the CPU's rendering")]
struct Arguments {
    /// Folder for first-light.png
    #[arg(long, default_value = "/out")]
    out: PathBuf,
    /// Write the CPU's rendering instead, without any device
    #[arg(long)]
    reference: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chrome9-first-light: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn say(topic: &str, text: impl std::fmt::Display) {
    println!("{topic:<12} {text}");
}

fn run(arguments: &Arguments) -> Result<()> {
    let (blits, tile) = (scene::scene(), scene::tile());
    let expected = canvas::by_cpu(&blits, &tile);
    let path = arguments.out.join("first-light.png");
    if arguments.reference {
        file::write(&path, WIDTH, HEIGHT, &expected)?;
        say("picture", format_args!("{} (by the CPU)", path.display()));
        return Ok(());
    }
    let device = Device::open_within(Duration::from_secs(10))?;
    introduce(&device)?;
    let objects = Objects::new(&device, &tile)?;
    let begin = Instant::now();
    let cost = objects.draw(&blits)?;
    say(
        "scene",
        format_args!(
            "{} blits, {} dwords in {} submissions, {} ms",
            blits.len(),
            cost.dwords,
            cost.submissions,
            begin.elapsed().as_millis()
        ),
    );
    let seen = objects.seen()?;
    file::write(&path, WIDTH, HEIGHT, &seen)?;
    say("picture", path.display());
    let wrong = compare("frame buffer", &expected, &seen)
        + compare("copied", &expected, &objects.copied()?);
    ensure!(wrong == 0, "the engine's picture is not the CPU's");
    Ok(())
}

/// Compare every pixel. Return how many differ.
fn compare(what: &str, expected: &[u32], seen: &[u32]) -> usize {
    let all = expected.len();
    let pairs = expected.iter().zip(seen).enumerate();
    let differences: Vec<_> = pairs.filter(|(_, (a, b))| a != b).collect();
    if differences.is_empty() && seen.len() == all {
        say(
            what,
            format_args!("all {all} pixels equal the CPU's rendering"),
        );
        return 0;
    }
    let count = differences.len();
    say(what, format_args!("{count} of {all} pixels differ"));
    for (at, (expected, seen)) in differences.iter().take(10) {
        let (x, y) = (*at as u32 % WIDTH, *at as u32 / WIDTH);
        println!("             at ({x}, {y}): expected {expected:08x}, seen {seen:08x}");
    }
    differences.len().max(1)
}

/// Print what user space can know of the device.
fn introduce(device: &Rc<Device>) -> Result<()> {
    let version = device.version()?;
    let pci = PciDevice::of(device)?;
    let id = device.param(Param::Chip)?;
    ensure!(
        id == u64::from(pci.id("device")?),
        "the driver says device {id:#06x}, PCI {:#06x}",
        pci.id("device")?
    );
    let driver = pci.driver().unwrap_or_else(|| "none".into());
    let (major, minor, patch) = version.number;
    let chip = match id {
        0x5122 => "VX855",
        _ => "unknown",
    };
    let vendor = pci.id("vendor")?;
    say(
        "chip",
        format_args!("{chip} (PCI {vendor:04x}:{id:04x} at {})", pci.address()),
    );
    say(
        "driver",
        format_args!(
            "{driver}, interface {} {major}.{minor}.{patch}",
            version.name
        ),
    );
    for (topic, param) in [
        ("frame buffer", Param::FrameBufferSize),
        ("GART", Param::GartSize),
    ] {
        say(topic, format_args!("{} MiB", device.param(param)? >> 20));
    }
    let records = Kmsg::open()
        .and_then(|mut kmsg| kmsg.read())
        .unwrap_or_default();
    for (topic, words) in [("ring", "ring test"), ("IB", "ib test")] {
        say(topic, reported(&records, &driver, words));
    }
    Ok(())
}

/// Return the driver's last word on a topic in the kernel log.
fn reported(records: &[Record], driver: &str, words: &str) -> String {
    records
        .iter()
        .rev()
        .map(|record| record.text.as_str())
        .find(|text| text.starts_with(driver) && text.to_lowercase().contains(words))
        .unwrap_or("the kernel log says nothing")
        .to_owned()
}
