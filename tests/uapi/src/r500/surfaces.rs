// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tiled objects as the CPU sees them: with the flag `SURFACE` a mapping of an object in video memory shows lines, by
//! one of eight surface registers.
//!
//! The model sees how the CPU accesses video memory only if it traps that (`--vram trapped`); elsewhere these tests are
//! skipped.

mod bounds;

use anyhow::{Context as _, Result, bail, ensure};
use lapidary_engines::r500::draw2d::{self, Rect, Surface};
use lapidary_guest::Client as _;
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::{Bo, Device, Domain, Stream, abi};
use lapidary_harness::foreign::Vgem;
use lapidary_harness::machine::{self, Depth, Kind};
use lapidary_harness::mapping::Mapping;
use lapidary_harness::{Context, Test, skip};
use lapidary_uapi_radeon::support::{PITCH, WIDTH, engine_works, surface};
use std::os::fd::AsFd;
use std::rc::Rc;

const ROWS: i32 = 32;
const SIZE: u64 = PITCH as u64 * ROWS as u64;
/// More than there are registers.
const MANY: u32 = 11;

const KINDS: [u32; 3] = [
    abi::TILING_MACRO,
    abi::TILING_MICRO,
    abi::TILING_MACRO | abi::TILING_MICRO,
];
const WHATEVER: &str = "upstream programs whatever pitch it is told";
const CHANGES: &str = "upstream leaves the register and mappings as they are";

pub fn tests() -> Vec<Test> {
    let test = |name, body| Test::new(name, body).needs_control();
    vec![
        test("surfaces/drawings_are_seen_as_lines", seen),
        test("surfaces/lines_become_tiles", written),
        test("surfaces/bytes_are_swapped", swapped),
        test("surfaces/more_objects_than_registers", many),
        test("surfaces/clients_rob_each_other", rob)
            .lapidary_only("upstream robs mappings that another thread is just filling"),
        test("surfaces/the_next_object_is_as_it_is", next),
        test("surfaces/flags_change_under_a_mapping", flags_change).lapidary_only(CHANGES),
        test("surfaces/what_the_chip_cannot_do_is_not_done", impossible).lapidary_only(WHATEVER),
        test("surfaces/less_than_a_row_is_shown_as_it_is", bounds::no_row).lapidary_only(WHATEVER),
        test(
            "surfaces/no_pitch_leads_out_of_the_object",
            bounds::odd_pitches,
        )
        .lapidary_only(WHATEVER),
        test("surfaces/objects_leave_and_come_back", leave)
            .lapidary_only("upstream's sleep is its own affair"),
    ]
}

/// Return the tests that hang the GPU.
pub fn last_tests() -> Vec<Test> {
    vec![
        Test::new("surfaces/a_copy_that_fails", saved)
            .lapidary_only("where objects are at each moment is the driver's own policy")
            .needs_control()
            .kernel("hung, no fence in", 2),
    ]
}

/// Return a client, where the model sees the CPU's accesses.
fn device(context: &mut Context) -> Result<Rc<Device>> {
    let device = context.device()?;
    let bo = device.create(SIZE, Domain::Vram)?;
    let mapping = bo.map()?;
    let control = context.control()?;
    let before = control.counters()?;
    mapping.get(0);
    let after = control.counters()?;
    if !after.since(&before).contains_key("vram_reads") {
        return skip("video memory is mapped");
    }
    Ok(device)
}

fn set_tiling(bo: &Bo, flags: u32, pitch: u32) -> Result<()> {
    let mut argument = abi::GemTiling {
        handle: bo.handle(),
        flags,
        pitch,
    };
    bo.device()
        .ioctl(abi::RADEON_GEM_SET_TILING, &mut argument)?;
    Ok(())
}

/// Return the pixel of a picture.
fn pixel(seed: u32, i: usize) -> u32 {
    let (x, y) = (i as u32 % WIDTH as u32, i as u32 / WIDTH as u32);
    (x / 8 + (y / 4) * 16 + 1).wrapping_mul(0x9e37_79b9) ^ seed.wrapping_mul(0x0101_0101)
}

/// Have the GPU draw a picture, tiled as the object is.
fn draw(bo: &Bo, seed: u32) -> Result<()> {
    let mut stream = Stream::new();
    for y in (0..ROWS).step_by(4) {
        for x in (0..WIDTH).step_by(8) {
            let colour = pixel(seed, (y * WIDTH + x) as usize);
            let rect = Rect::new(x, y, 8, 4);
            draw2d::fill_by_registers(&mut stream, Surface::new(bo, PITCH), colour, rect);
        }
    }
    submit(bo.device(), &stream, false).context("drawing a picture")?;
    bo.wait()?;
    Ok(())
}

/// Submit a stream that tiles as its objects are, or as it says itself.
fn submit(device: &Device, stream: &Stream, keep: bool) -> Result<()> {
    let word = if keep { abi::CS_KEEP_TILING } else { 0 };
    Envelope::new()
        .with(Chunk::relocations(stream.relocations()))
        .with(Chunk::commands(stream.words()))
        .with(Chunk::flags(&[word, abi::RING_GFX]))
        .submit(device)?;
    Ok(())
}

/// Return what the GPU finds in an object: tiled as the object is, or with `raw` as it lies in memory.
fn copy(bo: &Bo, raw: bool) -> Result<Vec<u32>> {
    let to = surface(bo.device(), ROWS as u32, Domain::Gtt)?;
    let mut stream = Stream::new();
    draw2d::copy_by_registers(
        &mut stream,
        Surface::new(bo, PITCH),
        Surface::new(&to, PITCH),
        (0, 0),
        Rect::new(0, 0, WIDTH, ROWS),
    );
    submit(bo.device(), &stream, raw)?;
    to.read()
}

fn look(mapping: &Mapping) -> Vec<u32> {
    mapping.read(0, SIZE as usize / 4)
}

fn is_picture(seed: u32, words: &[u32]) -> Result<()> {
    match (0..words.len()).find(|&i| words[i] != pixel(seed, i)) {
        None => Ok(()),
        Some(i) => bail!(
            "picture {seed}: pixel {i} is {:#x}, not {:#x}",
            words[i],
            pixel(seed, i)
        ),
    }
}

/// Return an object that the CPU sees as lines, with a picture drawn by the GPU.
fn picture(device: &Rc<Device>, flags: u32, seed: u32) -> Result<Bo> {
    let bo = device.create(SIZE, Domain::Vram)?;
    set_tiling(&bo, flags | abi::TILING_SURFACE, PITCH)?;
    draw(&bo, seed)?;
    Ok(bo)
}

fn seen(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    for flags in KINDS {
        let bo = picture(&device, flags, flags)?;
        ensure!(
            is_picture(flags, &copy(&bo, true)?).is_err(),
            "flags {flags:#x}: nothing is tiled"
        );
        is_picture(flags, &look(&bo.map()?)).with_context(|| format!("flags {flags:#x}"))?;
    }
    Ok(())
}

/// What the CPU writes as lines lies in memory as what the GPU draws.
fn written(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    for flags in KINDS {
        let expected = copy(&picture(&device, flags, flags)?, true)?;
        let bo = picture(&device, flags, 77)?;
        let mapping = bo.map()?;
        for i in 0..SIZE as usize / 4 {
            mapping.set(i, pixel(flags, i));
        }
        ensure!(
            copy(&bo, true)? == expected,
            "flags {flags:#x}: other tiles than the GPU's"
        );
    }
    Ok(())
}

fn swapped(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    for (flags, expected) in [
        (abi::TILING_SWAP_16BIT, 0x2211_4433),
        (abi::TILING_SWAP_32BIT, 0x4433_2211),
    ] {
        let bo = device.create(SIZE, Domain::Vram)?;
        set_tiling(&bo, flags | abi::TILING_SURFACE, PITCH)?;
        bo.map()?.set(5, 0x1122_3344);
        let word = copy(&bo, false)?[5];
        ensure!(word == expected, "flags {flags:#x}: {word:#x}");
        ensure!(bo.map()?.get(5) == 0x1122_3344, "flags {flags:#x}: read");
    }
    Ok(())
}

fn many(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let objects = (0..MANY)
        .map(|i| {
            let bo = picture(&device, KINDS[i as usize % 3], i)?;
            let mapping = bo.map()?;
            Ok((bo, mapping))
        })
        .collect::<Result<Vec<_>>>()?;
    for round in 0..3 {
        for i in 0..MANY {
            // Forwards, and then in another order.
            let i = if round == 1 { i * 4 % MANY } else { i };
            is_picture(i, &look(&objects[i as usize].1))
                .with_context(|| format!("round {round}"))?;
        }
    }
    // Pixel by pixel: each access takes the register of another object.
    for p in (0..SIZE as usize / 4).step_by(97) {
        for (i, (_, mapping)) in (0..).zip(&objects) {
            ensure!(mapping.get(p) == pixel(i, p), "picture {i}, pixel {p}");
        }
    }
    Ok(())
}

/// Let threads take the registers from each other all the time, each with an object of its own.
fn rob(context: &mut Context) -> Result<()> {
    let first = device(context)?;
    let second = first.another()?;
    let mut all = Vec::new();
    for (device, base) in [(&first, 0), (&second, 100)] {
        for i in 0..6 {
            let bo = picture(device, KINDS[i as usize % 3], base + i)?;
            all.push((base + i, bo.map()?, bo));
        }
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = all
            .iter()
            .map(|(seed, mapping, _)| {
                let (seed, address) = (*seed, mapping.address() as usize);
                scope.spawn(move || {
                    (0..SIZE as usize / 4).step_by(13).find(|&p| {
                        // SAFETY: inside the mapping, which outlives the thread.
                        let word = unsafe { (address as *const u32).add(p).read_volatile() };
                        word != pixel(seed, p)
                    })
                })
            })
            .collect();
        for worker in workers {
            let wrong = worker.join().expect("a thread");
            ensure!(wrong.is_none(), "pixel {wrong:?} is wrong");
        }
        Ok(())
    })
}

/// A surface register is released with its object, so that no other object is seen through it.
fn next(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    for round in 0..4 {
        let tiled = picture(&device, abi::TILING_MACRO, round)?;
        is_picture(round, &look(&tiled.map()?))?;
        drop(tiled);
        let plain = (0..4)
            .map(|_| device.create(SIZE, Domain::Vram))
            .collect::<Result<Vec<_>, _>>()?;
        for (i, bo) in (0..).zip(&plain) {
            let mapping = bo.map()?;
            for p in 0..SIZE as usize / 4 {
                mapping.set(p, pixel(i, p));
            }
            is_picture(i, &copy(bo, true)?).with_context(|| format!("round {round}"))?;
        }
    }
    Ok(())
}

fn flags_change(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let bo = picture(&device, abi::TILING_MACRO, 3)?;
    let memory = copy(&bo, true)?;
    let mapping = bo.map()?;
    is_picture(3, &look(&mapping))?;
    // Not as lines any more, though still tiled.
    set_tiling(&bo, abi::TILING_MACRO, PITCH)?;
    ensure!(look(&mapping) == memory, "still as lines");
    set_tiling(&bo, abi::TILING_MACRO | abi::TILING_SURFACE, PITCH)?;
    is_picture(3, &look(&mapping)).context("as lines again")?;
    set_tiling(&bo, abi::TILING_MICRO | abi::TILING_SURFACE, PITCH)?;
    let seen = look(&mapping);
    ensure!(
        seen != memory && is_picture(3, &seen).is_err(),
        "other tiles, and it looks the same"
    );
    set_tiling(&bo, 0, 0)?;
    ensure!(look(&mapping) == memory, "not as it lies in memory");
    Ok(())
}

/// A pitch that is no whole number of blocks, or too long: memory is shown as it is.
fn impossible(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let bo = picture(&device, abi::TILING_MACRO, 5)?;
    let memory = copy(&bo, true)?;
    let mapping = bo.map()?;
    for pitch in [0, 8, 128, 257, 0x8000, 1 << 31, u32::MAX] {
        set_tiling(&bo, abi::TILING_MACRO | abi::TILING_SURFACE, pitch)?;
        ensure!(look(&mapping) == memory, "pitch {pitch:#x}");
    }
    Ok(())
}

/// In system memory tiles are tiles; back in video memory they are lines again.
fn leave(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let bo = picture(&device, abi::TILING_MACRO, 9)?;
    let memory = copy(&bo, true)?;
    let mapping = bo.map()?;
    is_picture(9, &look(&mapping))?;
    machine::rehearse(Kind::Memory, Depth::Devices)?;
    let domain = || device.busy(bo.handle()).1;
    ensure!(domain() == abi::DOMAIN_GTT, "it has not left");
    ensure!(look(&mapping) == memory, "in system memory");
    // Work brings it back.
    is_picture(9, &copy(&bo, false)?)?;
    ensure!(domain() == abi::DOMAIN_VRAM, "it has not come back");
    is_picture(9, &look(&mapping)).context("in video memory again")
}

/// The ring does not copy the object to system memory, so the CPU does: memory as it is, not the lines that a mapping
/// shows.
fn saved(context: &mut Context) -> Result<()> {
    let vgem = Vgem::open()?;
    let device = device(context)?;
    let bo = picture(&device, abi::TILING_MACRO, 4)?;
    let memory = copy(&bo, true)?;
    let mapping = bo.map()?;
    is_picture(4, &look(&mapping)).context("as lines")?;
    context.control()?.fault("endless-buffer", 2)?;
    let buffer = device.export(bo.handle())?;
    let handle = vgem.node().import(buffer.as_fd());
    context.control()?.clear_faults()?;
    let handle = handle?;
    let domain = || device.busy(bo.handle()).1;
    ensure!(domain() == abi::DOMAIN_GTT, "it has not left");
    ensure!(look(&mapping) == memory, "in system memory");
    vgem.node().close(handle)?;
    ensure!(copy(&bo, true)? == memory, "back in video memory");
    ensure!(domain() == abi::DOMAIN_VRAM, "it has not come back");
    is_picture(4, &look(&mapping)).context("as lines again")?;
    engine_works(&device)
}
