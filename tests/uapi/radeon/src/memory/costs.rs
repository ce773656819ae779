// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the driver does for one object does not depend on how many others there are: counts of instructions, on a
//! machine whose clocks count them.

use super::*;
use crate::support::usage;
use lapidary_guest::Client as _;
use lapidary_harness::fdinfo::Lines;
use lapidary_harness::mapping::PAGE;
use std::fs;

/// By which factor the instructions may grow when there are sixteen times as many other objects. A tree is four levels
/// deeper then.
const MORE: f64 = 1.5;

/// Count the instructions that this thread executes for `work`, in the kernel too. Skip where the clocks do not count
/// them.
fn instructions(work: impl FnOnce() -> Result<()>) -> Result<u64> {
    if std::env::var_os("LAPIDARY_INSTRUCTIONS").is_none() {
        return skip("here the clocks do not count instructions");
    }
    // One instruction is one nanosecond there, and those of other threads are not this one's.
    let counter = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let before = counter();
    work()?;
    Ok(counter() - before)
}

fn ask_for_memory() -> Result<()> {
    fs::write("/proc/sys/vm/drop_caches", "2").context("asking for memory")
}

/// Reclaim the pages of idle objects, one page each.
pub fn reclaim(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let resident = || Lines::of(&device)?.bytes("drm-resident-gtt");
    let cost = |count: u64| -> Result<f64> {
        let mut bos = Vec::new();
        for i in 0..count {
            let bo = device.create(PAGE, Domain::Gtt)?;
            bo.map()?.set(0, i as u32);
            bos.push(bo);
        }
        ensure!(resident()? == count * PAGE, "{count} pages are there");
        let taken = instructions(ask_for_memory)?;
        ensure!(resident()? == 0, "{} bytes are left", resident()?);
        // What the rest of the kernel does when it is asked.
        let rest = instructions(ask_for_memory)?;
        for (i, bo) in bos.iter().enumerate().step_by(97) {
            ensure!(bo.map()?.get(0) == i as u32, "object {i} has lost its mark");
        }
        Ok(taken.saturating_sub(rest) as f64 / count as f64)
    };
    ask_for_memory()?;
    let (few, many) = (cost(1_000)?, cost(16_000)?);
    ensure!(
        many <= few * MORE,
        "{few:.0} instructions for each of 1,000 pages, {many:.0} for each of 16,000"
    );
    Ok(())
}

/// Evict one object from video memory that is full of small ones.
pub fn eviction(context: &mut Context) -> Result<()> {
    const ROUNDS: u64 = 64;
    // Four rows, which a mark takes.
    const SMALL: u64 = 4 * PAGE;
    let device = context.device()?;
    room(&device)?;
    let cost = |small: u64| -> Result<f64> {
        settled(&device)?;
        let bos = objects(&device, small * SMALL, SMALL)?;
        // The rest belongs to objects that were made later: large ones, and as many small ones as there is room for.
        let free = device.gem_info()?.vram_size - usage(&device)?[0];
        let mut others = objects(&device, free - 2 * MIB, MIB)?;
        others.extend(fill(&device, SMALL)?);
        soon("all are there, used one after the other", || {
            for bo in bos.iter().chain(&others) {
                touch(bo, 1)?;
                bo.wait()?;
            }
            Ok(bos.iter().chain(&others).all(in_vram))
        })?;
        let before = moved(&device)?;
        let mut new = Vec::new();
        let taken = instructions(|| {
            for _ in 0..ROUNDS {
                new.push(device.create(SMALL, Domain::Vram)?);
            }
            Ok(())
        })?;
        let bytes = moved(&device)? - before;
        ensure!(new.iter().all(in_vram), "the new ones are not there");
        ensure!(
            bytes == ROUNDS * SMALL,
            "{bytes} bytes have moved for {ROUNDS} objects"
        );
        let away = bos.iter().filter(|bo| !in_vram(bo)).count() as u64;
        ensure!(away == ROUNDS, "{away} have left");
        Ok(taken as f64 / ROUNDS as f64)
    };
    let (few, many) = (cost(100)?, cost(1600)?);
    ensure!(
        many <= few * MORE,
        "{few:.0} instructions for room among 100 small objects, {many:.0} among 1,600"
    );
    Ok(())
}

/// The pages of an object come in pieces as large as fit, not one at a time.
pub fn pieces(context: &mut Context) -> Result<()> {
    const COUNT: u64 = 4;
    // Pieces of this size that were allocated for files of shared memory so far.
    let pieces = || -> Result<u64> {
        let path = "/sys/kernel/mm/transparent_hugepage/hugepages-1024kB/stats/shmem_alloc";
        let text = fs::read_to_string(path).context("the kernel's count of larger pieces")?;
        Ok(text.trim().parse()?)
    };
    let device = context.device()?;
    let before = pieces()?;
    for _ in 0..COUNT {
        let bo = device.create(MIB, Domain::Gtt)?;
        bo.map()?.set(0, 1);
    }
    let taken = pieces()? - before;
    ensure!(
        taken >= COUNT,
        "{COUNT} objects of 1 MiB took {taken} pieces of that size"
    );
    Ok(())
}
