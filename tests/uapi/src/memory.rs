// SPDX-License-Identifier: GPL-2.0 OR MIT

//! More objects than there is room for: those used longest ago make way and come back, nothing is lost, and nobody sees
//! what others had there before. On a model with little video memory these tests fill it twice over.

use crate::support::settled;
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::bo::PAGE;
use lapidary_guest::draw2d::{self, Rect, Surface};
use lapidary_guest::harness::{Context, Test, on_upstream, skip};
use lapidary_guest::stream::Access;
use lapidary_guest::{Bo, Device, Domain, Errno, Mapping, Stream, abi};
use std::fs;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Duration;

const MIB: u64 = 1 << 20;
/// Bytes from row to row.
const ROW: u32 = 4096;
/// Video memory that a test fills twice, at most.
const MOST: u64 = 64 * MIB;
/// What the driver and the firmware may keep of video memory for themselves.
const SPARE: u64 = 4 * MIB;

const OURS: &str = "where objects are at each moment is the driver's own policy";

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("memory/every_byte_survives", every_byte).limit(120),
        Test::new("memory/drawing_on_twice_the_memory", drawing).limit(120),
        Test::new("memory/mappings_follow", mappings_follow).limit(60),
        Test::new("memory/idle_longest_leaves_first", idle_longest).lapidary_only(OURS),
        Test::new("memory/what_left_comes_back", comes_back).lapidary_only(OURS),
        Test::new("memory/large_working_set_settles", settles)
            .lapidary_only(OURS)
            .limit(60),
        Test::new("memory/bytes_moved_are_counted", bytes_moved).lapidary_only(OURS),
        Test::new("memory/a_move_that_hangs", hung_move)
            .needs_control()
            .kernel("ring 0 hung", 3)
            .lapidary_only(OURS)
            .limit(120),
        Test::new("memory/one_submission_moves_little", budget).lapidary_only(OURS),
        Test::new("memory/fresh_memory_has_no_secrets", secrets)
            .lapidary_only("upstream's video memory is as the last user left it")
            .limit(60),
        Test::new("memory/hidden_memory_is_shown", hidden).limit(60),
        Test::new("memory/hidden_memory_for_the_gpu", hidden_for_gpu).lapidary_only(OURS),
        Test::new("memory/wishes_can_be_changed", wishes).lapidary_only(OURS),
        Test::new("memory/pages_go_to_swap_and_back", swap)
            .lapidary_only("upstream swaps by the page limit of its pool")
            .limit(180),
    ]
}

/// Bytes of video memory there is room for; skips where that is more than a test can fill.
fn room(device: &Device) -> Result<u64> {
    let memory = device.gem_info()?;
    if memory.vram_size > MOST {
        return skip("there is more video memory than this test fills");
    }
    Ok(memory.vram_size - SPARE.min(memory.vram_size / 4))
}

fn moved(device: &Device) -> Result<u64> {
    Ok(device.info(const { abi::info_request("NUM_BYTES_MOVED") })?)
}

fn domain(bo: &Bo) -> u32 {
    bo.device().busy(bo.handle()).1
}

fn in_vram(bo: &Bo) -> bool {
    domain(bo) == abi::DOMAIN_VRAM
}

fn pattern(seed: u32, i: usize) -> u32 {
    (i as u32 ^ seed.rotate_left(16))
        .wrapping_mul(0x9e37_79b9)
        .wrapping_add(seed)
}

fn words(seed: u32, bo: &Bo) -> Vec<u32> {
    (0..(bo.size() / 4) as usize)
        .map(|i| pattern(seed, i))
        .collect()
}

fn expect(seed: u32, bo: &Bo) -> Result<()> {
    let seen = bo.read()?;
    match seen
        .iter()
        .enumerate()
        .find(|&(i, &w)| w != pattern(seed, i))
    {
        None => Ok(()),
        Some((i, word)) => bail!("object {seed}: dword {i} is {word:#x}"),
    }
}

/// Draws a small mark into an object.
fn touch(bo: &Bo, colour: u32) -> Result<()> {
    let mut stream = Stream::new();
    draw2d::fill_by_registers(
        &mut stream,
        Surface::new(bo, ROW),
        colour,
        Rect::new(0, 0, 16, 4),
    );
    bo.device().submit(&stream).context("a small fill")?;
    Ok(())
}

fn mark_of(bo: &Bo) -> Result<u32> {
    bo.wait()?;
    Ok(bo.map()?.get(3 * ROW as usize / 4 + 15))
}

/// Objects of `size` bytes that together fill `bytes`.
fn objects(device: &Rc<Device>, bytes: u64, size: u64) -> Result<Vec<Bo>> {
    (0..bytes / size)
        .map(|i| {
            device
                .create(size, Domain::Vram)
                .with_context(|| format!("object {i}"))
        })
        .collect()
}

/// Two clients fill the memory twice with objects of odd sizes, and read all of it, forwards and backwards.
fn every_byte(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let clients = [device.clone(), device.another()?];
    let room = room(&device)?;
    let before = moved(&device)?;
    let mut bos = Vec::new();
    let mut bytes = 0;
    while bytes < 2 * room {
        let i = bos.len() as u64;
        let size = (i * 7 % 5 * 64 + i % 3 + 65) * PAGE;
        let bo = clients[(i % 2) as usize].create(size, Domain::Vram)?;
        bo.write(&words(i as u32, &bo))?;
        bytes += size;
        bos.push(bo);
    }
    for (i, bo) in bos.iter().enumerate().rev() {
        expect(i as u32, bo)?;
    }
    // The GPU copies each onto itself's neighbour and back, which uses them all again.
    for (i, bo) in bos.iter().enumerate() {
        touch(bo, 0)?;
        bo.wait()?;
        let mapping = bo.map()?;
        for row in 0..4 {
            for x in 0..16 {
                let at = row * (ROW as usize / 4) + x;
                ensure!(mapping.get(at) == 0, "object {i} was not drawn on");
                mapping.set(at, pattern(i as u32, at));
            }
        }
    }
    for (i, bo) in bos.iter().enumerate() {
        expect(i as u32, bo)?;
    }
    let moved = moved(&device)? - before;
    ensure!(moved >= room / 2, "only {moved} bytes were moved");
    Ok(())
}

/// Pictures in twice the memory, drawn on and copied from one to the next for some rounds.
fn drawing(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    let device = context.device()?;
    let room = room(&device)?;
    let bos = objects(&device, 2 * room, SIZE)?;
    let count = bos.len();
    let rows = (SIZE / u64::from(ROW)) as i32;
    let colour = |round: usize, i: usize| ((round << 16) | i) as u32 + 1;
    for round in 0..3 {
        for i in 0..count {
            let (bo, next) = (&bos[i], &bos[(i + 1) % count]);
            let mut stream = Stream::new();
            let all = Rect::new(0, 0, ROW as i32 / 4, rows / 2);
            let colour = colour(round, i);
            draw2d::fill_by_registers(&mut stream, Surface::new(bo, ROW), colour, all);
            device.submit(&stream)?;
            // The upper half of this one becomes the lower half of the next one.
            let mut stream = Stream::new();
            let to = Rect::new(0, rows / 2, ROW as i32 / 4, rows / 2);
            let (from, next) = (Surface::new(bo, ROW), Surface::new(next, ROW));
            draw2d::copy_by_registers(&mut stream, from, next, (0, 0), to);
            device.submit(&stream)?;
        }
        for (i, bo) in bos.iter().enumerate() {
            let seen = bo.read()?;
            let (upper, lower) = seen.split_at(seen.len() / 2);
            let want = (colour(round, i), colour(round, (i + count - 1) % count));
            ensure!(
                upper.iter().all(|&w| w == want.0),
                "round {round}: object {i} is {:#x}",
                upper[0]
            );
            ensure!(
                lower.iter().all(|&w| w == want.1),
                "round {round}: object {i} has {:#x} of its neighbour",
                lower[0]
            );
        }
    }
    Ok(())
}

/// A mapping stays what it is wherever its object goes.
fn mappings_follow(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    let device = context.device()?;
    let room = room(&device)?;
    let bo = device.create(SIZE, Domain::Vram)?;
    let mapping = bo.map()?;
    let count = mapping.len();
    mapping.write(0, &words(7, &bo));
    for round in 0..3u32 {
        let others = objects(&device, room + 2 * SIZE, SIZE)?;
        let seen = mapping.read(0, count);
        let wrong = (0..count).find(|&i| seen[i] != pattern(7 + round, i));
        ensure!(wrong.is_none(), "round {round}, away: dword {wrong:?}");
        mapping.write(0, &words(8 + round, &bo));
        drop(others);
        touch(&bo, round)?;
        ensure!(mark_of(&bo)? == round, "round {round}: not drawn");
        for row in 0..4 {
            for x in 0..16 {
                let at = row * (ROW as usize / 4) + x;
                mapping.set(at, pattern(8 + round, at));
            }
        }
        let seen = mapping.read(0, count);
        let wrong = (0..count).find(|&i| seen[i] != pattern(8 + round, i));
        ensure!(wrong.is_none(), "round {round}, back: dword {wrong:?}");
    }
    Ok(())
}

/// Asks until the answer is yes: what jobs held is given back a little after they are done.
fn soon(what: &str, mut ask: impl FnMut() -> Result<bool>) -> Result<()> {
    for _ in 0..40 {
        if ask()? {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("not in two seconds: {what}")
}

/// Fills video memory with objects of one size until one is made elsewhere or has made others leave; returns those in
/// video memory.
fn fill(device: &Rc<Device>, size: u64) -> Result<Vec<Bo>> {
    // As long as somebody's objects are still on their way out, memory is full before it is.
    settled(device)?;
    let before = moved(device)?;
    let mut bos = Vec::new();
    loop {
        let bo = device.create(size, Domain::Vram)?;
        bo.wait()?;
        if !in_vram(&bo) || moved(device)? != before {
            break;
        }
        bos.push(bo);
    }
    // Whoever has left for the last one comes back, once what its last job held is given back.
    soon("there was room for them", || {
        for bo in &bos {
            touch(bo, 0)?;
            bo.wait()?;
        }
        Ok(bos.iter().all(in_vram))
    })?;
    Ok(bos)
}

fn idle_longest(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    room(&device)?;
    let bos = fill(&device, SIZE)?;
    ensure!(bos.len() >= 4, "only {} objects", bos.len());
    // An order that is not that of the addresses.
    let order: Vec<usize> = (0..bos.len())
        .map(|i| (i * 2 + 1) % (bos.len() | 1))
        .filter(|&i| i < bos.len())
        .collect();
    for &i in &order {
        touch(&bos[i], i as u32)?;
    }
    let mut new = Vec::new();
    for left in 0..order.len().min(3) {
        new.push(device.create(SIZE, Domain::Vram)?);
        ensure!(in_vram(&new[left]), "the new object {left} is not there");
        for (age, &i) in order.iter().enumerate() {
            ensure!(
                in_vram(&bos[i]) == (age > left),
                "after {} new objects, the one used at place {age}: {}",
                left + 1,
                domain(&bos[i])
            );
        }
    }
    for (i, bo) in bos.iter().enumerate() {
        ensure!(mark_of(bo)? == i as u32, "object {i} has lost its mark");
    }
    Ok(())
}

fn comes_back(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    room(&device)?;
    let bos = fill(&device, SIZE)?;
    let first = &bos[0];
    for bo in &bos {
        touch(bo, 0x77)?;
    }
    let other = device.create(SIZE, Domain::Vram)?;
    ensure!(!in_vram(first), "nobody left");
    // There is no room: whoever is there was used more recently than the one that has left.
    touch(first, 0x78)?;
    ensure!(!in_vram(first), "it pushed in");
    drop(other);
    soon("it comes back when there is room", || {
        touch(first, 0x79)?;
        Ok(in_vram(first))
    })?;
    ensure!(mark_of(first)? == 0x79, "without its content");
    Ok(())
}

/// Objects of twice the memory that are used in turns do not chase each other.
fn settles(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    let room = room(&device)?;
    let bos = objects(&device, 2 * room, SIZE)?;
    let turn = |colour: u32| -> Result<u64> {
        let before = moved(&device)?;
        for bo in &bos {
            touch(bo, colour)?;
        }
        for bo in &bos {
            bo.wait()?;
        }
        Ok(moved(&device)? - before)
    };
    turn(1)?;
    turn(2)?;
    let bytes = turn(3)? + turn(4)?;
    ensure!(bytes == 0, "{bytes} bytes still move");
    let there = bos.iter().filter(|bo| in_vram(bo)).count();
    ensure!(there as u64 * SIZE >= room - SIZE, "only {there} are there");
    for bo in &bos {
        ensure!(mark_of(bo)? == 4, "a mark is missing");
    }
    // The others alone come in.
    let out: Vec<&Bo> = bos.iter().filter(|bo| !in_vram(bo)).collect();
    for round in 0..4 {
        for bo in &out {
            touch(bo, 5 + round)?;
        }
    }
    let there = out.iter().filter(|bo| in_vram(bo)).count();
    ensure!(
        there + 1 >= out.len().min((room / SIZE) as usize),
        "{there} of {}",
        out.len()
    );
    Ok(())
}

fn bytes_moved(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    room(&device)?;
    let usage = |name: abi::InfoRequest| device.info(name);
    let vram = const { abi::info_request("VRAM_USAGE") };
    let gtt = const { abi::info_request("GTT_USAGE") };
    let bos = fill(&device, SIZE)?;
    let before = (moved(&device)?, usage(vram)?, usage(gtt)?);
    let other = device.create(SIZE, Domain::Vram)?;
    ensure!(moved(&device)? - before.0 == SIZE, "one had to go");
    ensure!(usage(vram)? == before.1, "as much as before");
    ensure!(usage(gtt)? == before.2 + SIZE, "and one more elsewhere");
    drop(other);
    soon("one less", || Ok(usage(vram)? == before.1 - SIZE))?;
    for bo in &bos {
        touch(bo, 1)?;
    }
    let after = (moved(&device)?, usage(vram)?, usage(gtt)?);
    ensure!(
        after == (before.0 + 2 * SIZE, before.1, before.2),
        "{before:?}, then {after:?}"
    );
    Ok(())
}

/// The copy of a move hangs: once, and it is done again; twice, and everything stays where it was, or the CPU helps. No
/// byte is lost, nobody is blamed, and whoever needed the room is served.
fn hung_move(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    room(&device)?;
    let bos = fill(&device, SIZE)?;
    for (i, bo) in bos.iter().enumerate() {
        bo.write(&words(i as u32, bo))?;
    }
    let mut later = Vec::new();
    for hangs in [1u32, 2] {
        settled(&device)?;
        let before = device.reset_counter()?;
        context.control()?.fault("endless-buffer", hangs)?;
        let bo = device.create(SIZE, Domain::Vram)?;
        ensure!(
            device.reset_counter()? - before == hangs,
            "the move did not hang"
        );
        let seen = bo.read()?;
        ensure!(seen.iter().all(|&w| w == 0), "{hangs} hangs: not clear");
        touch(&bo, hangs)?;
        ensure!(mark_of(&bo)? == hangs, "{hangs} hangs: not drawn");
        later.push(bo);
    }
    for (i, bo) in bos.iter().enumerate() {
        expect(i as u32, bo)?;
    }
    // What the GPU sees of them is the same.
    let copy = device.create(SIZE, Domain::Gtt)?;
    for (i, bo) in bos.iter().enumerate() {
        let mut stream = Stream::new();
        let all = Rect::new(0, 0, ROW as i32 / 4, (SIZE / u64::from(ROW)) as i32);
        let (from, to) = (Surface::new(bo, ROW), Surface::new(&copy, ROW));
        draw2d::copy_by_registers(&mut stream, from, to, (0, 0), all);
        device.submit(&stream)?;
        expect(i as u32, &copy).context("by the GPU")?;
    }
    Ok(())
}

/// A submission that would like many objects to come moves a part of them.
fn budget(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    let device = context.device()?;
    room(&device)?;
    let bos = fill(&device, SIZE)?;
    let others = objects(&device, bos.len() as u64 * SIZE, SIZE)?;
    let away: Vec<&Bo> = bos.iter().filter(|bo| !in_vram(bo)).collect();
    ensure!(away.len() >= 8, "only {} have left", away.len());
    let vram = const { abi::info_request("VRAM_USAGE") };
    let full = device.info(vram)?;
    drop(others);
    let free = away.len() as u64 * SIZE;
    soon("room", || Ok(device.info(vram)? + free <= full))?;
    let mut stream = Stream::new();
    for bo in &away {
        let to = Surface::new(bo, ROW);
        draw2d::fill_by_registers(&mut stream, to, 9, Rect::new(0, 0, 16, 4));
    }
    let mut rest = free;
    for round in 0..32 {
        let before = moved(&device)?;
        device.submit(&stream)?;
        let bytes = moved(&device)? - before;
        // Half of what is free, or a little, and the object that crosses the line.
        ensure!(
            bytes <= (rest + 2 * SPARE) / 2 + SIZE,
            "round {round}: {bytes} of {rest}"
        );
        ensure!(bytes > 0, "round {round}: nothing moves, {rest} are left");
        rest -= bytes;
        if rest == 0 {
            break;
        }
    }
    ensure!(rest == 0 && bos.iter().all(in_vram), "not all came back");
    for bo in &away {
        ensure!(mark_of(bo)? == 9, "a mark is missing");
    }
    Ok(())
}

/// One client's bytes are in every corner of the memory; another client makes objects there, by force and after the
/// first one has gone.
fn secrets(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    const SECRET: u32 = 0x5ec2_e75a;
    let device = context.device()?;
    let room = room(&device)?;
    let bos = objects(&device, room, SIZE)?;
    let secret = vec![SECRET; (SIZE / 4) as usize];
    for bo in &bos {
        bo.write(&secret)?;
    }
    let other = device.another()?;
    for round in 0..2 {
        let fresh = objects(&other, room, SIZE)?;
        for (i, bo) in fresh.iter().enumerate() {
            // Some the GPU looks at first.
            if i % 2 == 0 {
                let copy = other.create(SIZE, Domain::Gtt)?;
                let mut stream = Stream::new();
                let all = Rect::new(0, 0, ROW as i32 / 4, (SIZE / u64::from(ROW)) as i32);
                let (from, to) = (Surface::new(bo, ROW), Surface::new(&copy, ROW));
                draw2d::copy_by_registers(&mut stream, from, to, (0, 0), all);
                other.submit(&stream)?;
                ensure!(
                    copy.read()?.iter().all(|&w| w == 0),
                    "round {round}: the GPU saw something in object {i}"
                );
            }
            ensure!(
                bo.read()?.iter().all(|&w| w == 0),
                "round {round}: the CPU saw something in object {i}"
            );
            bo.write(&[!SECRET; 1024])?;
        }
        if round == 0 {
            for (i, bo) in bos.iter().enumerate() {
                ensure!(bo.read()? == secret, "object {i} has changed");
            }
        }
    }
    Ok(())
}

/// Video memory that the CPU does not see, or a skip.
fn behind(device: &Device) -> Result<(u64, u64)> {
    let memory = device.gem_info()?;
    let hidden = memory.vram_size - memory.vram_visible;
    if hidden < 32 * MIB {
        return skip("the CPU sees all of video memory");
    }
    Ok((memory.vram_visible, hidden))
}

/// More objects than the CPU can see at once, all of them written and read by the CPU and drawn on by the GPU.
fn hidden(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 4 * MIB;
    let device = context.device()?;
    let (visible, hidden) = behind(&device)?;
    let bytes = (visible + hidden / 2).min(160 * MIB);
    let bos = objects(&device, bytes, SIZE)?;
    if !on_upstream(&device) {
        let there = bos.iter().filter(|bo| in_vram(bo)).count();
        ensure!(there == bos.len(), "{there} of {} are there", bos.len());
    }
    for (i, bo) in bos.iter().enumerate() {
        touch(bo, i as u32)?;
    }
    let mappings = bos.iter().map(Bo::map).collect::<Result<Vec<_>, _>>()?;
    let last = (SIZE / 4) as usize - 1;
    for (i, (bo, mapping)) in bos.iter().zip(&mappings).enumerate() {
        bo.wait()?;
        let seen = mapping.get(3 * ROW as usize / 4 + 15);
        ensure!(seen == i as u32, "object {i} shows {seen:#x}");
        for at in (1 << 16..last).step_by(5003).chain([last]) {
            mapping.set(at, pattern(i as u32, at));
        }
    }
    for (i, (bo, mapping)) in bos.iter().zip(&mappings).enumerate() {
        touch(bo, !i as u32)?;
        bo.wait()?;
        for at in (1 << 16..last).step_by(5003).chain([last]) {
            let seen = mapping.get(at);
            ensure!(seen == pattern(i as u32, at), "object {i}: {seen:#x}");
        }
        ensure!(mapping.get(0) == !i as u32, "object {i} was not drawn on");
    }
    Ok(())
}

/// What the CPU is said not to touch lies where it could not, and is shown all the same.
fn hidden_for_gpu(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    let device = context.device()?;
    let (visible, _) = behind(&device)?;
    let create = || -> Result<Bo> {
        let flags = abi::FLAG_NO_CPU_ACCESS;
        let handle = device.create_raw(SIZE, 0, abi::DOMAIN_VRAM, flags)?;
        Ok(Bo::adopt(device.clone(), handle, SIZE, Domain::Vram))
    };
    let bos = (0..8).map(|_| create()).collect::<Result<Vec<_>>>()?;
    for bo in &bos {
        touch(bo, 3)?;
    }
    let before = moved(&device)?;
    for (i, bo) in bos.iter().enumerate() {
        ensure!(in_vram(bo) && mark_of(bo)? == 3, "object {i}");
        ensure!(in_vram(bo), "object {i} left video memory");
        let bytes = moved(&device)? - before;
        ensure!(
            bytes == (i as u64 + 1) * SIZE,
            "{bytes} bytes of {visible} moved for {i} objects"
        );
    }
    // From now on the CPU sees them.
    for bo in &bos {
        touch(bo, 4)?;
        ensure!(mark_of(bo)? == 4, "again");
    }
    ensure!(moved(&device)? - before == 8 * SIZE, "they moved again");
    Ok(())
}

/// GEM_OP changes where an object should be.
fn wishes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let wish = |bo: &Bo, domain: u32| {
        let mut argument = abi::GemOp {
            handle: bo.handle(),
            op: 1,
            value: domain.into(),
        };
        device
            .ioctl(abi::RADEON_GEM_OP, &mut argument)
            .map(|_| argument)
    };
    let bo = device.create(MIB, Domain::Gtt)?;
    let handle = bo.handle();
    touch(&bo, 1)?;
    ensure!(!in_vram(&bo), "it is where it was made");
    wish(&bo, abi::DOMAIN_VRAM)?;
    ensure!(!in_vram(&bo), "nothing uses it");
    // A submission that would not mind.
    let mut stream = Stream::new();
    stream.raw_entry(abi::CsReloc {
        handle,
        read_domains: abi::DOMAIN_VRAM | abi::DOMAIN_GTT,
        write_domain: abi::DOMAIN_VRAM | abi::DOMAIN_GTT,
        flags: 0,
    });
    draw2d::fill_by_registers(
        &mut stream,
        Surface::new(&bo, ROW),
        2,
        Rect::new(0, 0, 16, 4),
    );
    stream.entry(&bo, Access::Write);
    device.submit(&stream)?;
    ensure!(in_vram(&bo), "it did not come");
    ensure!(mark_of(&bo)? == 2, "not drawn");
    wish(&bo, abi::DOMAIN_GTT)?;
    device.submit(&stream)?;
    ensure!(in_vram(&bo), "nobody needs the room");
    Ok(())
}

/// Swap space in compressed memory, switched off again when dropped.
struct Zram;

impl Zram {
    const DEVICE: &'static str = "/dev/zram0";

    fn new(bytes: u64) -> Result<Zram> {
        let size = "/sys/block/zram0/disksize";
        if fs::metadata(size).is_err() {
            return skip("there is no zram: `load zram` before the tests");
        }
        fs::write("/sys/block/zram0/reset", "1").context("resetting zram")?;
        fs::write(size, bytes.to_string()).context(size)?;
        // A swap area: version 1 and the number of its last page behind the boot sectors, the magic at the end of
        // the first page (mkswap(8)).
        let mut header = vec![0u8; PAGE as usize];
        header[1024..1028].copy_from_slice(&1u32.to_ne_bytes());
        header[1028..1032].copy_from_slice(&((bytes / PAGE - 1) as u32).to_ne_bytes());
        header[4086..].copy_from_slice(b"SWAPSPACE2");
        let file = fs::OpenOptions::new().write(true).open(Self::DEVICE)?;
        file.write_all_at(&header, 0)?;
        file.sync_all()?;
        let path = std::ffi::CString::new(Self::DEVICE)?;
        // SAFETY: a path that ends with 0.
        ensure!(unsafe { libc::swapon(path.as_ptr(), 0) } == 0, "swapon");
        Ok(Zram)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        if let Ok(path) = std::ffi::CString::new(Self::DEVICE) {
            // SAFETY: a path that ends with 0.
            unsafe { libc::swapoff(path.as_ptr()) };
        }
        let _ = fs::write("/sys/block/zram0/reset", "1");
    }
}

/// A line of /proc/meminfo in bytes.
fn meminfo(name: &str) -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find(|line| line.starts_with(name));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(number.context("meminfo")?.parse::<u64>()? * 1024)
}

/// More system pages than the machine has: idle ones go to swap, and are there again when they are used.
fn swap(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 8 * MIB;
    const EDGE: usize = 64;
    let device = context.device()?;
    let all = meminfo("MemTotal:")?;
    if all > 1536 * MIB {
        return skip("the machine has too much memory");
    }
    let _zram = Zram::new(all)?;
    let count = (meminfo("MemAvailable:")? * 5 / 4 / SIZE) as usize;
    let words = (SIZE / 4) as usize;
    let page = PAGE as usize / 4;
    let look = |mapping: &Mapping, i: usize| -> Result<()> {
        for first in (0..words).step_by(page) {
            let want = (i * words + first) as u32;
            let seen = (mapping.get(first), mapping.get(first + EDGE));
            ensure!(
                seen == (want, !want),
                "object {i}, dword {first}: {seen:x?}"
            );
        }
        Ok(())
    };
    let mut bos = Vec::new();
    let mut mappings = Vec::new();
    for i in 0..count {
        let bo = device
            .create(SIZE, Domain::Gtt)
            .with_context(|| format!("object {i} of {count}"))?;
        let mapping = bo.map()?;
        for first in (0..words).step_by(page) {
            mapping.set(first, (i * words + first) as u32);
            mapping.set(first + EDGE, !((i * words + first) as u32));
        }
        // The GPU has used it, so that it has had addresses.
        let mut stream = Stream::new();
        let place = Surface {
            offset: 1024,
            ..Surface::new(&bo, 1024)
        };
        let rect = Rect::new(0, 0, 1, 1);
        draw2d::fill_by_registers(&mut stream, place, i as u32, rect);
        device
            .submit(&stream)
            .with_context(|| format!("object {i} of {count}"))?;
        bos.push(bo);
        mappings.push(mapping);
    }
    let used = meminfo("SwapTotal:")? - meminfo("SwapFree:")?;
    ensure!(used >= 16 * MIB, "only {used} bytes are swapped");
    for (i, (bo, mapping)) in bos.iter().zip(&mappings).enumerate() {
        bo.wait()?;
        let seen = mapping.get(256);
        ensure!(seen == i as u32, "object {i}: the GPU's {seen:#x}");
        look(mapping, i)?;
    }
    // And once more by the GPU, in another order.
    for i in (0..count).rev().step_by(3) {
        touch(&bos[i], 0xabcd)?;
        ensure!(mark_of(&bos[i])? == 0xabcd, "object {i}");
    }
    std::thread::sleep(Duration::from_millis(10));
    match device.create(SIZE, Domain::Gtt) {
        Ok(_) => Ok(()),
        Err(Errno::NOMEM) => bail!("there is no memory left"),
        Err(error) => Err(error.into()),
    }
}
