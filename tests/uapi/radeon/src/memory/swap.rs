// SPDX-License-Identifier: GPL-2.0 OR MIT

//! More system pages than the machine has.

use super::*;
use lapidary_guest::Client as _;
use lapidary_guest::Errno;
use lapidary_guest::painter::painter;
use lapidary_harness::fdinfo::Lines;
use lapidary_harness::mapping::Mapping;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::swap::{Groups, Zram, meminfo, swapped};
use std::fs;
use std::os::fd::AsFd;

/// Reclaim releases the pages of all objects of one job, also those behind objects of it that have no pages.
pub fn all_of_a_job(context: &mut Context) -> Result<()> {
    const COUNT: u64 = 24;
    let device = context.device()?;
    let resident = || Lines::of(&device)?.bytes("drm-resident-gtt");
    let before = resident()?;
    let mut bos = Vec::new();
    for i in 0..COUNT {
        let domain = match i % 3 {
            0 => Domain::Vram,
            _ => Domain::Gtt,
        };
        bos.push(device.create(MIB, domain)?);
    }
    let mut stream = painter().stream();
    for bo in &bos {
        let rect = Rect::new(0, 0, 16, 4);
        painter().fill(&mut stream, Area::new(bo, ROW), 0x5ead, rect);
    }
    device.submit(&stream)?;
    for bo in &bos {
        bo.wait()?;
    }
    let used = resident()? - before;
    ensure!(used == COUNT * 2 / 3 * MIB, "{used} bytes are resident");
    soon("all of them are given back", || {
        fs::write("/proc/sys/vm/drop_caches", "2").context("asking for memory")?;
        Ok(resident()? <= before)
    })?;
    for bo in &bos {
        ensure!(mark_of(bo)? == 0x5ead, "a mark is lost");
    }
    Ok(())
}

/// Reclaim leaves pages that are mapped for another GPU, so that what that GPU writes afterwards is in the object.
pub fn mapped_elsewhere(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    let second = crate::prime::second(&first)?;
    let _zram = Zram::new(256 * MIB)?;
    let groups = Groups::new()?;
    let ours = first.create(MIB, Domain::Gtt)?;
    let alone = first.create(MIB, Domain::Gtt)?;
    for bo in [&ours, &alone] {
        bo.write(&words(5, bo))?;
    }
    let buffer = first.export(ours.handle())?;
    let handle = second.import(buffer.as_fd())?;
    let theirs = Bo::adopt(second.clone(), handle, MIB, Domain::Gtt);
    touch(&theirs, 0x1111)?;
    theirs.wait()?;
    let resident = || Lines::of(&first)?.bytes("drm-resident-gtt");
    soon("pages of one user only are reclaimed and swapped", || {
        fs::write("/proc/sys/vm/drop_caches", "2").context("asking for memory")?;
        groups.reclaim(64 * MIB)?;
        Ok(resident()? == MIB && swapped()? >= MIB)
    })?;
    touch(&theirs, 0x2222)?;
    theirs.wait()?;
    ensure!(mark_of(&ours)? == 0x2222, "the second GPU writes elsewhere");
    let seen = ours.read()?;
    let row = ROW as usize / 4;
    let wrong = (4 * row..seen.len()).find(|&i| seen[i] != pattern(5, i));
    ensure!(wrong.is_none(), "dword {wrong:?} of what both have");
    expect(5, &alone).context("pages of one user only")
}

/// With objects of more system pages than the machine has, idle ones are swapped, and come back when they are used.
pub fn swap(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 8 * MIB;
    const EDGE: usize = 64;
    let device = context.device()?;
    let all = meminfo("MemTotal:")?;
    if all > 1536 * MIB {
        return skip("the machine has too much memory");
    }
    let _zram = Zram::new(all)?;
    let count = (meminfo("MemAvailable:")? * 9 / 8 / SIZE) as usize;
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
        let mut stream = painter().stream();
        let place = Area {
            offset: 1024,
            ..Area::new(&bo, 1024)
        };
        let rect = Rect::new(0, 0, 1, 1);
        painter().fill(&mut stream, place, i as u32, rect);
        device
            .submit(&stream)
            .with_context(|| format!("object {i} of {count}"))?;
        bos.push(bo);
        mappings.push(mapping);
    }
    let used = swapped()?;
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
