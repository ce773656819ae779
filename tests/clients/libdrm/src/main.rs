// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A client of libdrm_radeon, the library under xf86-video-ati: its buffer objects, its command streams
//! with relocations and space checks, its surface calls, in a small 2D job whose pixels are compared.
//!
//! It runs in the guest's Debian root, where the library is, under `tests/harness`.

mod client;
mod draw;
mod radeon;

use anyhow::{Context as _, Result, bail, ensure};
use client::Client;
use draw::{BYTES, Engine, HEIGHT, Picture, Rect, Surface, WIDTH};
use lapidary_guest::abi;
use lapidary_guest::device::{self, Device, Domain};
use lapidary_harness::Test;
use lapidary_harness::sysfs::PciDevice;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::ExitCode;

/// Room in a domain that space checks count with.
const LIMITS: [(Domain, u32); 2] = [(Domain::Vram, 64 << 20), (Domain::Gtt, 64 << 20)];

fn client() -> Result<Client> {
    Client::open(Device::open()?.path())
}

/// Return what this chip draws with.
fn engine() -> Result<&'static dyn Engine> {
    draw::engine(Device::open()?.info(const { abi::info_request("DEVICE_ID") })? as u32)
}

/// Return the primary node (`card…`) of the device: global names exist only there.
fn primary() -> Result<PathBuf> {
    let device = Device::open()?;
    let folder = PciDevice::of(&*device)?.directory().join("drm");
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let name = entry?.file_name();
        if name.to_string_lossy().starts_with("card") {
            return Ok(PathBuf::from("/dev/dri").join(name));
        }
    }
    bail!("{} has no primary node", folder.display())
}

/// Check objects in both domains by their handles, mappings that hold data, references, and where they are.
fn objects() -> Result<()> {
    let client = client()?;
    for domain in Domain::ALL {
        let bo = client.create(BYTES, domain)?;
        bo.handle()?;
        ensure!(bo.size() == BYTES, "{} bytes instead of {BYTES}", bo.size());
        let again = bo.clone();
        drop(bo);
        let bo = again;
        bo.with_words(true, |words| {
            for (i, word) in words.iter_mut().enumerate() {
                *word = i as u32 ^ 0x5a5a_0000;
            }
        })?;
        bo.wait()?;
        let (busy, domain_now) = bo.busy();
        ensure!(!busy, "an object without any use is busy");
        ensure!(
            domain_now == domain.bits(),
            "it was made in domain {} and is in {domain_now}",
            domain.bits()
        );
        bo.set_domain(abi::DOMAIN_CPU, 0)?;
        bo.with_words(false, |words| {
            let wrong = words
                .iter()
                .enumerate()
                .find(|&(i, &w)| w != i as u32 ^ 0x5a5a_0000);
            ensure!(wrong.is_none(), "word {wrong:x?}");
            Ok(())
        })??;
        // SAFETY: the object lives.
        let is_static = unsafe { (client.radeon.bo_is_static)(bo.raw()) };
        ensure!(is_static == 0, "a GEM object is not static");
    }
    Ok(())
}

/// Tiling flags and pitch are kept.
fn tiling() -> Result<()> {
    let client = client()?;
    let bo = client.create(BYTES, Domain::Vram)?;
    ensure!(
        bo.tiling()? == (0, 0),
        "a new object has tiling {:?}",
        bo.tiling()?
    );
    let flags = abi::TILING_MACRO | abi::TILING_MICRO;
    bo.set_tiling(flags, WIDTH * 4)?;
    ensure!(
        bo.tiling()? == (flags, WIDTH * 4),
        "tiling is {:?}",
        bo.tiling()?
    );
    bo.set_tiling(0, 0)?;
    ensure!(bo.tiling()? == (0, 0), "tiling is {:?}", bo.tiling()?);
    Ok(())
}

/// A global name leads another client to the same memory; a render node gives none.
fn names() -> Result<()> {
    let path = primary()?;
    let (first, second) = (Client::open(&path)?, Client::open(&path)?);
    let bo = first.create(BYTES, Domain::Gtt)?;
    bo.with_words(true, |words| words.fill(0x0bad_cafe))?;
    let name = bo.name().map_err(|e| anyhow::anyhow!("no name: {e}"))?;
    let other = second.open_name(name)?;
    ensure!(
        other.size() == BYTES,
        "the name leads to {} bytes",
        other.size()
    );
    other.with_words(true, |words| {
        ensure!(
            words.iter().all(|&word| word == 0x0bad_cafe),
            "other memory"
        );
        words[7] = 7;
        Ok(())
    })??;
    let seventh = bo.with_words(false, |words| words[7])?;
    ensure!(seventh == 7, "what the other client wrote is not seen");

    let render = client()?;
    let bo = render.create(4096, Domain::Gtt)?;
    ensure!(bo.name().is_err(), "a render node gave a global name");
    Ok(())
}

/// Fill and copy between VRAM and GTT in several submissions; every pixel is compared.
fn drawing() -> Result<()> {
    let (engine, client) = (engine()?, client()?);
    let mut commands = client.stream(1024, LIMITS)?;
    let mut streams = 0;
    for (near, far) in [(Domain::Vram, Domain::Gtt), (Domain::Gtt, Domain::Vram)] {
        let (canvas, copy) = (client.create(BYTES, near)?, client.create(BYTES, far)?);
        let mut expected = Picture::plain(0xff10_2030);
        let mut fills = vec![(Rect(0, 0, WIDTH, HEIGHT), 0xff10_2030)];
        for i in 0..10 {
            let (rect, colour) = (Rect(3 * i, 2 * i + 1, 60 - i, 30), 0x1111_1111 * (i + 1));
            fills.push((rect, colour));
            expected.fill(rect, colour);
        }
        commands.reserve(&[(&canvas, 0, near.bits())])?;
        engine.fill(&client, &mut commands, Surface(&canvas, near), &fills)?;
        // SAFETY: both live.
        let referenced =
            unsafe { (client.radeon.bo_is_referenced_by_cs)(canvas.raw(), commands.raw()) };
        ensure!(referenced != 0, "the stream does not know its object");
        commands.emit()?;
        streams += 1;

        let mut expected_copy = Picture::plain(0x0102_0304);
        let whole = [(Rect(0, 0, WIDTH, HEIGHT), 0x0102_0304)];
        commands.reserve(&[(&canvas, near.bits(), 0), (&copy, 0, far.bits())])?;
        engine.fill(&client, &mut commands, Surface(&copy, far), &whole)?;
        for i in 0..4 {
            let (from, to) = ((5 * i, 7 * i), Rect(100 - 20 * i, 9 * i, 25, 11));
            engine.copy(
                &mut commands,
                Surface(&canvas, near),
                Surface(&copy, far),
                from,
                to,
            )?;
            expected_copy.copy(&expected, from, to);
        }
        commands.emit()?;
        streams += 1;
        copy.wait()?;
        let (busy, domain) = copy.busy();
        ensure!(
            !busy && domain == far.bits(),
            "after waiting: {busy}, domain {domain}"
        );
        expected.compare(&canvas).context("the canvas")?;
        expected_copy.compare(&copy).context("the copy")?;
    }
    ensure!(streams == 4, "{streams} submissions");
    Ok(())
}

/// Check what the library's accounting says: there is room, there is room after a flush, there never is.
fn space() -> Result<()> {
    let client = client()?;
    let limits = [(Domain::Vram, 1 << 20), (Domain::Gtt, 1 << 20)];
    let mut commands = client.stream(256, limits)?;
    let radeon = &client.radeon;
    let create = |kib: u32| client.create(kib << 10, Domain::Vram);
    let (first, second, giant) = (create(600)?, create(600)?, create(1200)?);
    let (cs, vram) = (commands.raw(), Domain::Vram.bits());
    let fits = |bo: &client::Bo<'_>| {
        // SAFETY: stream and object live.
        unsafe {
            (radeon.cs_space_reset_bos)(cs);
            (radeon.cs_space_check_with_bo)(cs, bo.raw(), 0, vram) == 0
        }
    };
    ensure!(fits(&first), "600 KiB do not fit into 1 MiB");
    engine()?.fill(
        &client,
        &mut commands,
        Surface(&first, Domain::Vram),
        &[(Rect(0, 0, 8, 8), 1)],
    )?;
    ensure!(commands.flushes()? == 0, "a flush without need");
    // SAFETY: the stream lives.
    let (full, id) = unsafe { ((radeon.cs_need_flush)(cs), (radeon.cs_get_id)(cs)) };
    ensure!(
        full == 0 && id != 0,
        "a short stream: full {full}, number {id}"
    );
    ensure!(fits(&second), "another 600 KiB do not fit after a flush");
    ensure!(
        commands.flushes()? == 1,
        "{} flushes for an object beside another that fills half of the room",
        commands.flushes()?
    );
    ensure!(!fits(&giant), "1200 KiB fit into 1 MiB");
    first.wait()?;
    let drawn = first.with_words(false, |words| words[(7 * WIDTH + 7) as usize])?;
    ensure!(
        drawn == 1,
        "the flush did not submit what was written: {drawn:#x}"
    );
    Ok(())
}

/// The surface allocator asks for the device and, from R600 on, for its tiling. It knows no chip before.
fn surfaces() -> Result<()> {
    let (engine, client) = (engine()?, client()?);
    // SAFETY: an open descriptor.
    let manager = unsafe { (client.radeon.surface_manager_new)(client.file.as_raw_fd()) };
    let made = !manager.is_null();
    if made {
        // SAFETY: just made.
        unsafe { (client.radeon.surface_manager_free)(manager) };
    }
    ensure!(
        made == engine.has_surfaces(),
        "the library has a surface manager for this chip: {made}"
    );
    Ok(())
}

fn main() -> ExitCode {
    lapidary_harness::main(
        device::driver,
        vec![
            Test::new("libdrm-objects", |_| objects()),
            Test::new("libdrm-tiling", |_| tiling()),
            Test::new("libdrm-names", |_| names()),
            Test::new("libdrm-drawing", |_| drawing()),
            Test::new("libdrm-space", |_| space()),
            Test::new("libdrm-surfaces", |_| surfaces()),
        ],
    )
}
