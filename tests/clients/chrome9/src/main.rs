// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `chrome9-first-light`: says what device there is, draws a picture with it, checks every pixel, and keeps the picture.

use anyhow::{Result, ensure};
use lapidary_chrome9_client::Device;
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_demo::canvas::{self, Objects};
use lapidary_chrome9_demo::scene::{self, HEIGHT, WIDTH};
use lapidary_picture::file;
use lapidary_picture::program::{self, Arguments, compare, say};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    program::main("chrome9-first-light", run)
}

fn run(arguments: &Arguments) -> Result<()> {
    let (blits, tile) = (scene::scene(), scene::tile());
    let expected = canvas::by_cpu(&blits, &tile);
    let path = arguments.picture();
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
    let wrong = compare("frame buffer", WIDTH as usize, &expected, &seen)?
        + compare("copied", WIDTH as usize, &expected, &objects.copied()?)?;
    ensure!(wrong == 0, "the engine's picture is not the CPU's");
    Ok(())
}

/// Print what user space can know of the device.
fn introduce(device: &Device) -> Result<()> {
    let id = device.param(Param::Chip)? as u32;
    let chip = match id {
        0x5122 => "VX855",
        _ => "unknown",
    };
    program::introduce(device, chip, id)?;
    for (topic, param) in [
        ("frame buffer", Param::FrameBufferSize),
        ("GART", Param::GartSize),
    ] {
        say(topic, format_args!("{} MiB", device.param(param)? >> 20));
    }
    let topics = [("ring", "ring test"), ("IB", "ib test")];
    program::reported(device, &[], &topics)
}
