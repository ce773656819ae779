// SPDX-License-Identifier: GPL-2.0 OR MIT

//! No byte is lost under pressure nor by a hang in the middle of a move, and no client sees what others had there
//! before.

use super::*;
use lapidary_guest::Client as _;
use lapidary_guest::painter::painter;
use lapidary_harness::foreign::View;
use lapidary_harness::mapping::PAGE;
use std::os::fd::AsFd;

/// Two clients fill the memory twice with objects of odd sizes, and read all of it, forwards and backwards.
pub fn every_byte(context: &mut Context) -> Result<()> {
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
    // The GPU copies each onto its neighbour and back, which uses all of them again.
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

/// Draw on pictures in twice the memory, and copy from one to the next for some rounds.
pub fn drawing(context: &mut Context) -> Result<()> {
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
            let mut stream = painter().stream();
            let all = Rect::new(0, 0, ROW as i32 / 4, rows / 2);
            let colour = colour(round, i);
            painter().fill(&mut stream, Area::new(bo, ROW), colour, all);
            device.submit(&stream)?;
            // The upper half of this one becomes the lower half of the next one.
            let mut stream = painter().stream();
            let to = Rect::new(0, rows / 2, ROW as i32 / 4, rows / 2);
            let (from, next) = (Area::new(bo, ROW), Area::new(next, ROW));
            painter().copy(&mut stream, from, next, (0, 0), to);
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

/// A mapping shows its object in every domain that the object moves to.
pub fn mappings_follow(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    let device = context.device()?;
    let room = room(&device)?;
    let bo = device.create(SIZE, Domain::Vram)?;
    let mapping = bo.map()?;
    let count = mapping.len();
    mapping.write(0, &words(7, &bo));
    for round in 0..3u32 {
        let mut others = Vec::new();
        while in_vram(&bo) {
            ensure!((others.len() as u64) < 2 * room / SIZE, "it never leaves");
            others.push(device.create(SIZE, Domain::Vram)?);
        }
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

/// Mappings of an object's dma-buf follow the object's moves as its own mappings do, also if it has none of the other
/// kind.
pub fn buffers_follow(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    let device = context.device()?;
    let room = room(&device)?;
    let bo = device.create(SIZE, Domain::Vram)?;
    let view = View::new(device.export(bo.handle())?.as_fd(), 0, SIZE)?;
    view.write(&words(7, &bo));
    ensure!(in_vram(&bo), "to begin with it is not in video memory");
    let mut others = Vec::new();
    while in_vram(&bo) {
        ensure!((others.len() as u64) < 2 * room / SIZE, "it never leaves");
        others.push(device.create(SIZE, Domain::Vram)?);
    }
    let others = others.iter().try_for_each(|bo| bo.write(&words(9, bo)));
    others.context("who has taken its place")?;
    ensure!(view.read() == words(7, &bo), "the view has stayed behind");
    view.write(&words(8, &bo));
    soon("it comes back", || {
        touch(&bo, 0x77)?;
        Ok(in_vram(&bo))
    })?;
    bo.wait()?;
    let mut want = words(8, &bo);
    for row in want.chunks_mut(ROW as usize / 4).take(4) {
        row[..16].fill(0x77);
    }
    ensure!(view.read() == want, "the view has stayed behind once more");
    Ok(())
}

/// The copy of a move hangs. If it hangs once it is done again. If it hangs twice, the object stays where it was or the
/// CPU copies. No byte is lost, no client is blamed, and the object that needed the room gets it.
pub fn hung_move(context: &mut Context) -> Result<()> {
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
        let mut stream = painter().stream();
        let all = Rect::new(0, 0, ROW as i32 / 4, (SIZE / u64::from(ROW)) as i32);
        let (from, to) = (Area::new(bo, ROW), Area::new(&copy, ROW));
        painter().copy(&mut stream, from, to, (0, 0), all);
        device.submit(&stream)?;
        expect(i as u32, &copy).context("by the GPU")?;
    }
    Ok(())
}

/// One client fills all of the memory. Another client makes objects there, by eviction and after the first client is
/// gone.
pub fn secrets(context: &mut Context) -> Result<()> {
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
            // Some are first read by the GPU.
            if i % 2 == 0 {
                let copy = other.create(SIZE, Domain::Gtt)?;
                let mut stream = painter().stream();
                let all = Rect::new(0, 0, ROW as i32 / 4, (SIZE / u64::from(ROW)) as i32);
                let (from, to) = (Area::new(bo, ROW), Area::new(&copy, ROW));
                painter().copy(&mut stream, from, to, (0, 0), all);
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
