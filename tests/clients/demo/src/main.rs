// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `first-light`: says what device there is, draws a picture with it, checks every pixel, and keeps the picture.

use anyhow::{Context, Result, ensure};
use lapidary_demo::reference;
use lapidary_demo::{collage, emit, scene};
use lapidary_engines::chips;
use lapidary_engines::r500::draw2d::{self, Rect, Surface};
use lapidary_engines::r600::{R600, cp};
use lapidary_guest::painter::Painter as _;
use lapidary_guest::{Bo, Device, Domain, Stream, abi};
use lapidary_picture::file;
use lapidary_picture::program::{self, Arguments, compare, say};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    program::main("first-light", run)
}

fn run(arguments: &Arguments) -> Result<()> {
    let draws = scene::scene();
    let reference = reference::Reference::render(&draws);
    let expected = reference.surface(scene::Target::Canvas);
    let path = arguments.picture();
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
    let wrong = compare("VRAM", width as usize, &expected.pixels, &drawn.seen)?
        + compare("copied", width as usize, &expected.pixels, &drawn.copied)?;
    ensure!(wrong == 0, "the GPU's picture is not the CPU's");
    Ok(())
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

/// Print what user space can know of the device. Return its id.
fn introduce(device: &Device) -> Result<u32> {
    let id = device
        .info(const { abi::info_request("DEVICE_ID") })
        .context("asking for the device id")? as u32;
    program::introduce(device, chips::name(id), id)?;
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
    let topics = [
        ("firmware", "firmware"),
        ("ring", "ring test"),
        ("IB", "ib test"),
    ];
    program::reported(device, &["[drm]", "radeon"], &topics)?;
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
