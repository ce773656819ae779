// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which objects are evicted, which come back, and how much a submission moves.

use super::*;
use lapidary_guest::Client as _;
use lapidary_guest::Errno;
use lapidary_guest::painter::painter;
use lapidary_guest::stream::Access;
use lapidary_harness::injection::Injection;

pub fn idle_longest(context: &mut Context) -> Result<()> {
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

pub fn comes_back(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    room(&device)?;
    let bos = fill(&device, SIZE)?;
    let first = &bos[0];
    for bo in &bos {
        touch(bo, 0x77)?;
    }
    let other = device.create(SIZE, Domain::Vram)?;
    ensure!(!in_vram(first), "nothing was evicted");
    // There is no room, since all residents were used more recently than the evicted object.
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

/// Objects of twice the memory that are used in turns do not thrash.
pub fn settles(context: &mut Context) -> Result<()> {
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
    // A job with only the evicted ones brings them in.
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

pub fn bytes_moved(context: &mut Context) -> Result<()> {
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

/// A submission whose objects are all out of video memory moves only a part of them.
pub fn budget(context: &mut Context) -> Result<()> {
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
    let mut stream = painter().stream();
    for bo in &away {
        let to = Area::new(bo, ROW);
        painter().fill(&mut stream, to, 9, Rect::new(0, 0, 16, 4));
    }
    let mut rest = free;
    for round in 0..32 {
        let before = moved(&device)?;
        device.submit(&stream)?;
        let bytes = moved(&device)? - before;
        // The budget is half of the free memory, or the least amount, and the object that crosses the line still moves.
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

/// An object for which no room could be made is in system memory, and moves to video memory when there is room.
pub fn found_no_room(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    room(&device)?;
    let injection = Injection::find()?;
    let bos = fill(&device, SIZE)?;
    // Eviction cannot allocate.
    let mut away = None;
    for n in 1..100 {
        let mut made = None;
        let (answer, denied) = injection.deny(n, || {
            made = Some(device.create(SIZE, Domain::Vram)?);
            Ok(())
        })?;
        ensure!(denied, "no allocation matters to who makes room");
        match made {
            Some(bo) if !in_vram(&bo) => {
                away = Some(bo);
                break;
            }
            Some(bo) => drop(bo),
            None => ensure!(answer == Err(Errno::NOMEM), "denied {n}: {answer:?}"),
        }
        // New objects evicted others, which come back.
        soon("all are there again", || {
            for bo in &bos {
                touch(bo, 1)?;
                bo.wait()?;
            }
            Ok(bos.iter().all(in_vram))
        })?;
    }
    let away = away.context("it always finds room")?;
    drop(bos);
    soon("it comes home", || {
        touch(&away, 7)?;
        Ok(in_vram(&away))
    })?;
    ensure!(mark_of(&away)? == 7, "without its content");
    Ok(())
}

/// GEM_OP changes in which domain an object should be.
pub fn wishes(context: &mut Context) -> Result<()> {
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
    // A submission that allows both domains.
    let mut stream = painter().stream();
    stream.raw_entry(abi::CsReloc {
        handle,
        read_domains: abi::DOMAIN_VRAM | abi::DOMAIN_GTT,
        write_domain: abi::DOMAIN_VRAM | abi::DOMAIN_GTT,
        flags: 0,
    });
    painter().fill(&mut stream, Area::new(&bo, ROW), 2, Rect::new(0, 0, 16, 4));
    stream.entry(&bo, Access::Write);
    device.submit(&stream)?;
    ensure!(in_vram(&bo), "it did not come");
    ensure!(mark_of(&bo)? == 2, "not drawn");
    wish(&bo, abi::DOMAIN_GTT)?;
    device.submit(&stream)?;
    ensure!(in_vram(&bo), "evicted without need");
    Ok(())
}
