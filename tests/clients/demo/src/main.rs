// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `first-light`: says what device there is, draws a picture with it, checks every pixel, and keeps the picture.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use lapidary_demo::reference::{self, Image};
use lapidary_demo::{collage, emit, scene};
use lapidary_engines::chips;
use lapidary_engines::r500::draw2d::{self, Rect, Surface};
use lapidary_engines::r600::{R600, cp};
use lapidary_guest::painter::Painter as _;
use lapidary_guest::{Bo, Device, Domain, Stream, abi};
use lapidary_harness::kmsg::{Kmsg, Record};
use lapidary_harness::sysfs::PciDevice;
use lapidary_picture::file;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

#[derive(Parser)]
#[command(about = "Draws a picture by the GPU and compares it with the CPU's rendering")]
struct Arguments {
    /// Folder for first-light.png
    #[arg(long, default_value = "/out")]
    out: PathBuf,
    /// Write the CPU's rendering of the 2D scene instead, without any device
    #[arg(long)]
    reference: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("first-light: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn say(topic: &str, text: impl std::fmt::Display) {
    println!("{topic:<10} {text}");
}

fn run(arguments: &Arguments) -> Result<()> {
    let draws = scene::scene();
    let reference = reference::Reference::render(&draws);
    let expected = reference.surface(scene::Target::Canvas);
    let path = arguments.out.join("first-light.png");
    let (width, height) = (scene::WIDTH as u32, scene::HEIGHT as u32);
    if arguments.reference {
        file::write(&path, width, height, &expected.pixels)?;
        say("picture", format_args!("{} (by the CPU)", path.display()));
        return Ok(());
    }

    let device = Device::open_within(Duration::from_secs(10))?;
    let id = introduce(&device)?;
    let (expected, drawn) = match R600.knows(id) {
        true => (collage::reference(), compose(&device)?),
        false => (expected.clone(), draw(&device, &draws)?),
    };
    file::write(&path, width, height, &drawn.seen)?;
    say("picture", path.display());
    compare(&expected, &drawn)
}

/// The GPU's picture, by two ways back: through the CPU's view of video memory, and by a copy into system memory.
struct Drawn {
    seen: Vec<u32>,
    copied: Vec<u32>,
}

/// Draw the scene of the 2D engine.
fn draw(device: &Rc<Device>, draws: &[scene::Draw]) -> Result<Drawn> {
    let surfaces = emit::Surfaces::new(device, &scene::tile())?;
    let begin = Instant::now();
    let cost = emit::draw(device, &surfaces, draws)?;
    let canvas = surfaces.bo(scene::Target::Canvas);
    canvas.wait().context("waiting for the scene")?;
    say(
        "scene",
        format_args!(
            "{} primitives, {} dwords in {} submissions, {} ms",
            draws.len(),
            cost.dwords,
            cost.submissions,
            begin.elapsed().as_millis()
        ),
    );
    Ok(Drawn {
        seen: pixels(canvas)?,
        copied: copy_to_system_memory(device, surfaces.surface(scene::Target::Canvas))?,
    })
}

/// Compose the collage.
fn compose(device: &Rc<Device>) -> Result<Drawn> {
    let begin = Instant::now();
    let mut collage = collage::Collage::new(device)?;
    let cost = collage.compose()?;
    collage.canvas().wait().context("waiting for the collage")?;
    say(
        "collage",
        format_args!(
            "{} dwords in {} submissions, {} of them to the DMA ring, {} ms",
            cost.dwords,
            cost.submissions,
            cost.dma,
            begin.elapsed().as_millis()
        ),
    );
    let copy = device.create(collage.canvas().size(), Domain::Gtt)?;
    let mut stream = Stream::new();
    cp::copy(
        &mut stream,
        (collage.canvas(), 0),
        (&copy, 0),
        u32::try_from(copy.size())?,
    );
    device.submit(&stream).context("copying the picture")?;
    Ok(Drawn {
        seen: pixels(collage.canvas())?,
        copied: pixels(&copy)?,
    })
}

/// Return the picture in an object.
fn pixels(bo: &Bo) -> Result<Vec<u32>> {
    let mut pixels = bo.read()?;
    pixels.truncate((scene::WIDTH * scene::HEIGHT) as usize);
    Ok(pixels)
}

/// Check every pixel.
fn compare(expected: &Image, drawn: &Drawn) -> Result<()> {
    let mut wrong = 0;
    for (what, pixels) in [("VRAM", &drawn.seen), ("copied", &drawn.copied)] {
        let differences = reference::differences(expected, pixels);
        if differences.is_empty() {
            say(
                what,
                format_args!(
                    "all {} pixels equal the CPU's rendering",
                    expected.pixels.len()
                ),
            );
            continue;
        }
        wrong += differences.len();
        say(
            what,
            format_args!(
                "{} of {} pixels differ",
                differences.len(),
                expected.pixels.len()
            ),
        );
        for (x, y, expected, seen) in differences.iter().take(10) {
            println!("           at ({x}, {y}): expected {expected:08x}, seen {seen:08x}");
        }
    }
    ensure!(wrong == 0, "the GPU's picture is not the CPU's");
    Ok(())
}

/// Print what user space can know of the device. Return its id.
fn introduce(device: &Rc<Device>) -> Result<u32> {
    let version = device.version()?;
    let pci = PciDevice::of(device)?;
    let id = device
        .info(const { abi::info_request("DEVICE_ID") })
        .context("asking for the device id")? as u32;
    ensure!(
        id == pci.id("device")?,
        "INFO says device {id:#06x}, PCI {:#06x}",
        pci.id("device")?
    );
    let driver = pci.driver().unwrap_or_else(|| "none".into());
    let (major, minor, patch) = version.number;
    say(
        "chip",
        format_args!(
            "{} (PCI {:04x}:{id:04x} at {})",
            chips::name(id),
            pci.id("vendor")?,
            pci.address()
        ),
    );
    say(
        "driver",
        format_args!(
            "{driver}, interface {} {major}.{minor}.{patch}",
            version.name
        ),
    );
    let memory = device.gem_info()?;
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    say(
        "VRAM",
        format_args!(
            "{}, {} visible",
            mib(memory.vram_size),
            mib(memory.vram_visible)
        ),
    );
    say("GART", mib(memory.gart_size));
    let records = Kmsg::open()
        .and_then(|mut kmsg| kmsg.read())
        .unwrap_or_default();
    for (topic, words) in [
        ("firmware", "firmware"),
        ("ring", "ring test"),
        ("IB", "ib test"),
    ] {
        say(topic, reported(&records, &driver, words));
    }
    let working = device
        .info(const { abi::info_request("ACCEL_WORKING2") })
        .unwrap_or(0);
    say(
        "engine",
        if working != 0 {
            "working"
        } else {
            "NOT working"
        },
    );
    Ok(id)
}

/// Return the driver's last word on a topic in the kernel log.
fn reported(records: &[Record], driver: &str, words: &str) -> String {
    let ours =
        |text: &str| text.starts_with(driver) || text.contains("[drm]") || text.contains("radeon");
    records
        .iter()
        .rev()
        .map(|record| record.text.as_str())
        .find(|text| ours(text) && text.to_lowercase().contains(words))
        .unwrap_or("the kernel log says nothing")
        .to_owned()
}

fn copy_to_system_memory(device: &Rc<Device>, from: Surface<'_>) -> Result<Vec<u32>> {
    let copy = device
        .create(from.bo.size(), Domain::Gtt)
        .context("an object in system memory")?;
    let to = Surface::new(&copy, from.pitch);
    let mut stream = Stream::new();
    let all = Rect::new(0, 0, scene::WIDTH, scene::HEIGHT);
    draw2d::copy_by_registers(&mut stream, from, to, (0, 0), all);
    device.submit(&stream).context("copying the picture")?;
    pixels(&copy)
}
