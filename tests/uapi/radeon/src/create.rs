// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GEM_INFO, GEM_CREATE and GEM_CLOSE: sizes, limits, handles.

use crate::{support, userptr};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi;
use lapidary_guest::on_upstream;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Device, Domain, Errno};
use lapidary_harness::child::{self, End};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, patience, refused, skip};
use std::collections::BTreeSet;
use std::time::Duration;

const ALLOCATOR: &str = "refuses them too, with the error of its allocator";

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("create/memory_sizes", sizes),
        Test::new("create/one_byte", one_byte),
        Test::new("create/whole_pages_are_answered", whole_pages),
        Test::new("create/size_0", size_0).upstream_answers("os error 28", ALLOCATOR),
        Test::new("create/sizes_beyond_memory", beyond_memory),
        Test::new("create/sizes_that_wrap", wrapping).upstream_answers("os error 28", ALLOCATOR),
        Test::new("create/alignment", alignment),
        Test::new("create/nonsense_alignment", nonsense_alignment).upstream_answers(
            "expected a refusal, got Ok",
            "does not look at the alignment",
        ),
        Test::new("create/unknown_flags_are_ignored", unknown_flags),
        Test::new("create/many_handles", many_handles),
        Test::new("create/closing", closing),
        Test::new("create/memory_comes_back", comes_back),
        Test::new("create/gart_window_overcommitted", window_overcommitted).limit(90),
        Test::new("create/gart_window_shared_by_two", window_shared)
            .lapidary_only("upstream locks its window for a whole submission")
            .limit(90),
        Test::new("create/more_than_there_is", more_than_there_is).limit(90),
        Test::new("create/objects_are_bounded", bounded)
            .lapidary_only("upstream has no bound")
            .limit(120),
        Test::new(
            "create/alignment_as_the_gpu_sees_it",
            alignment_of_addresses,
        )
        .needs_control(),
    ]
}

fn sizes(context: &mut Context) -> Result<()> {
    let memory = context.device()?.gem_info()?;
    ensure!(
        memory.vram_size >= 16 << 20,
        "{} bytes of VRAM",
        memory.vram_size
    );
    ensure!(
        memory.vram_visible <= memory.vram_size,
        "more visible than there is: {memory:?}"
    );
    ensure!(
        memory.vram_visible > 0 && memory.gart_size >= 16 << 20,
        "{memory:?}"
    );
    Ok(())
}

fn one_byte(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        let bo = Bo::adopt(
            device.clone(),
            device.create_raw(1, 0, domain.bits(), 0)?,
            PAGE,
            domain,
        );
        // An object of one byte has a page, all of it zero and usable. Upstream does not clear video memory.
        let mapping = bo.map()?;
        let zero = (0..mapping.len()).all(|i| mapping.get(i) == 0);
        ensure!(zero || on_upstream(&device), "{domain:?}: not zero");
        mapping.set(mapping.len() - 1, 0x55aa_55aa);
        ensure!(
            mapping.get(mapping.len() - 1) == 0x55aa_55aa,
            "{domain:?}: the last dword does not hold"
        );
    }
    Ok(())
}

/// The size that comes back is that of the object.
fn whole_pages(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        for (size, whole) in [(1, PAGE), (PAGE, PAGE), (PAGE + 0x600, 2 * PAGE)] {
            let mut argument = abi::GemCreate {
                size,
                initial_domain: domain.bits(),
                ..Default::default()
            };
            device.ioctl(abi::RADEON_GEM_CREATE, &mut argument)?;
            drop(Bo::adopt(device.clone(), argument.handle, whole, domain));
            ensure!(argument.size == whole, "{size} became {}", argument.size);
        }
    }
    Ok(())
}

fn size_0(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        refused(
            "size 0",
            device.create_raw(0, 0, domain.bits(), 0),
            Errno::INVAL,
        )?;
    }
    Ok(())
}

fn beyond_memory(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = device.gem_info()?;
    let most = memory.gart_size.max(memory.vram_size);
    for domain in Domain::ALL {
        for size in [most + PAGE, 1 << 40, 1 << 63, u64::MAX - PAGE] {
            let answer = device.create_raw(size, 0, domain.bits(), 0);
            refused(
                &format!("{size:#x} bytes in {domain:?}"),
                answer,
                Errno::NOMEM,
            )?;
        }
    }
    Ok(())
}

/// Objects in system memory that need more than the GART window take turns in it, and each keeps its content.
fn window_overcommitted(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 16 << 20;
    const ROW: u32 = 4096;
    let device = context.device()?;
    let count = device.gem_info()?.gart_size / SIZE + 4;
    if count > 48 {
        return skip("the window is larger than a test guest's memory");
    }
    let objects: Vec<Bo> = (0..count)
        .map(|_| device.create(SIZE, Domain::Gtt))
        .collect::<Result<_, _>>()?;
    let colour = |round: u32, i: usize| (round << 16) | i as u32;
    for round in 1..4 {
        let mut order: Vec<usize> = (0..objects.len()).collect();
        if round == 2 {
            order.reverse();
        }
        for &i in &order {
            let mut stream = painter().stream();
            let to = Area::new(&objects[i], ROW);
            painter().fill(&mut stream, to, colour(round, i), Rect::new(0, 0, 64, 8));
            device
                .submit(&stream)
                .with_context(|| format!("round {round}, object {i}"))?;
        }
        for (i, bo) in objects.iter().enumerate() {
            bo.wait()?;
            let seen = bo.map()?.get(7 * ROW as usize / 4 + 63);
            ensure!(
                seen == colour(round, i),
                "round {round}: object {i} holds {seen:#x}"
            );
        }
    }
    Ok(())
}

/// Two clients, each of which needs more than half of the window for each submission, do not get in each other's way.
fn window_shared(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 1 << 20;
    // The debug kernel checks every page that is mapped, so one round is enough there.
    let rounds = if patience() > 1 { 1 } else { 5 };
    let device = context.device()?;
    let count = device.gem_info()?.gart_size * 6 / 10 / SIZE;
    if count * SIZE > 320 << 20 {
        return skip("the window is larger than a test guest's memory");
    }
    let client = || {
        child::spawn(move || {
            let device = Device::open()?;
            let bos: Vec<Bo> = (0..count)
                .map(|_| device.create(SIZE, Domain::Gtt))
                .collect::<Result<_, _>>()?;
            for round in 1..=rounds {
                let mut stream = painter().stream();
                for bo in &bos {
                    let to = Area::new(bo, 4096);
                    painter().fill(&mut stream, to, round, Rect::new(0, 0, 16, 4));
                }
                device
                    .submit(&stream)
                    .with_context(|| format!("round {round}"))?;
            }
            for bo in &bos {
                bo.wait()?;
                ensure!(bo.map()?.get(15) == rounds, "the last mark is missing");
            }
            Ok(0)
        })
    };
    for child in [client()?, client()?] {
        let end = child.wait(Duration::from_secs(60) * patience())?;
        ensure!(end == End::Exit(0), "a client ended with {end:?}");
    }
    Ok(())
}

/// Ask for sizes that rounding up to pages turns into 0.
fn wrapping(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        for size in [u64::MAX - PAGE + 2, u64::MAX - 1, u64::MAX] {
            let answer = device.create_raw(size, 0, domain.bits(), 0);
            refused(
                &format!("{size:#x} bytes in {domain:?}"),
                answer,
                Errno::NOMEM,
            )?;
        }
    }
    Ok(())
}

fn alignment(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        for alignment in [0, 1, 4096, 1 << 16, 1 << 20] {
            let handle = device
                .create_raw(PAGE, alignment, domain.bits(), 0)
                .with_context(|| format!("alignment {alignment:#x} in {domain:?}"))?;
            device.close(handle)?;
        }
    }
    Ok(())
}

/// The addresses that jobs use are aligned as their objects are to be, whatever lies around them.
fn alignment_of_addresses(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in [Domain::Vram, Domain::Gtt] {
        let mut others = Vec::new();
        for alignment in [1 << 16, 1 << 18, 1 << 20] {
            for round in 0..3u32 {
                // Something that shifts what comes behind it.
                let odd = support::surface(&device, 16 * (1 + round), domain)?;
                device.submit(&support::fill(&odd, round))?;
                others.push(odd);
                let handle = device.create_raw(PAGE, alignment, domain.bits(), 0)?;
                let bo = Bo::adopt(device.clone(), handle, PAGE, domain);
                device.submit(&support::fill(&bo, round))?;
                bo.wait()?;
                let addr = painter().address(context.control()?, &bo)?;
                ensure!(
                    addr != 0 && addr % alignment == 0,
                    "{domain:?}: {addr:#x} for alignment {alignment:#x}"
                );
                others.push(bo);
            }
        }
    }
    Ok(())
}

/// The number of a client's objects is bounded. A client at the bound is refused more, and other clients are not.
fn bounded(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut objects = Vec::new();
    let error = loop {
        match device.create(PAGE, Domain::Gtt) {
            Ok(bo) => objects.push(bo),
            Err(error) => break error,
        }
        ensure!(objects.len() <= 1 << 17, "there is no bound");
    };
    ensure!(error == Errno::NOMEM, "{error}");
    ensure!(objects.len() >= 1 << 14, "only {} objects", objects.len());
    let memory = userptr::Memory::new(PAGE)?;
    refused(
        "memory of the process",
        memory.object(&device, userptr::WRITABLE).map(drop),
        Errno::NOMEM,
    )?;
    let other = device.another()?;
    drop(other.create(PAGE, Domain::Gtt).context("another client")?);
    // An object counts until its last reference is dropped, also if that is a dma-buf.
    let last = objects.pop().context("no objects")?;
    let buffer = device.export(last.handle())?;
    drop(last);
    refused(
        "one that only a buffer keeps",
        device.create(PAGE, Domain::Vram).map(drop),
        Errno::NOMEM,
    )?;
    drop(buffer);
    drop(device.create(PAGE, Domain::Vram).context("one went")?);
    drop(objects);
    drop(device.create(PAGE, Domain::Gtt).context("all went")?);
    Ok(())
}

fn nonsense_alignment(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for alignment in [1 << 62, u64::MAX, u64::MAX - 1] {
        // Which error it is does not matter. No memory is lost.
        let answer = device.create_raw(PAGE, alignment, abi::DOMAIN_VRAM, 0);
        ensure!(
            matches!(answer, Err(Errno::INVAL | Errno::NOMEM)),
            "alignment {alignment:#x}: expected a refusal, got {answer:?}"
        );
    }
    Ok(())
}

fn unknown_flags(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for flags in [1 << 5, 1 << 31, u32::MAX & !1, abi::FLAG_GTT_WC] {
        let handle = device
            .create_raw(PAGE, 0, abi::DOMAIN_GTT, flags)
            .with_context(|| format!("flags {flags:#x}"))?;
        device.close(handle)?;
    }
    Ok(())
}

fn many_handles(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects: Vec<Bo> = (0..500)
        .map(|_| device.create(1, Domain::Gtt))
        .collect::<Result<_, _>>()?;
    let handles: BTreeSet<u32> = objects.iter().map(Bo::handle).collect();
    ensure!(
        handles.len() == objects.len() && !handles.contains(&0),
        "handles are not distinct"
    );
    let offsets: BTreeSet<u64> = handles
        .iter()
        .map(|&handle| device.mmap_offset(handle))
        .collect::<Result<_, _>>()?;
    ensure!(
        offsets.len() == objects.len(),
        "map offsets are not distinct"
    );
    Ok(())
}

fn closing(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let handle = device.create_raw(PAGE, 0, abi::DOMAIN_GTT, 0)?;
    device.close(handle)?;
    refused("closing twice", device.close(handle), Errno::INVAL)?;
    refused("closing 0", device.close(0), Errno::INVAL)?;
    refused(
        "mapping a closed object",
        device.mmap_offset(handle),
        Errno::NOENT,
    )?;
    refused(
        "waiting for a closed object",
        device.wait_idle(handle),
        Errno::NOENT,
    )?;
    refused(
        "asking for a closed object",
        device.busy(handle).0,
        Errno::NOENT,
    )
}

/// Memory of dropped objects is used again: twice the memory there is can be made, one object at a time.
fn comes_back(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = device.gem_info()?;
    for (domain, all) in [
        (Domain::Vram, memory.vram_size),
        (Domain::Gtt, memory.gart_size),
    ] {
        let size = all / 8;
        for i in 0..16 {
            let bo = device
                .create(size, domain)
                .with_context(|| format!("object {i} of {size:#x} in {domain:?}"))?;
            bo.map()?.set((size / 4 - 1) as usize, i);
            bo.wait()?;
        }
    }
    Ok(())
}

/// A client asks for more video memory than there is. Some objects may be made in system memory. When that is full too
/// the error says so, and once the objects are dropped usage is as before.
fn more_than_there_is(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 16 << 20;
    let device = context.device()?;
    let memory = device.gem_info()?;
    let mut objects = Vec::new();
    for i in 0..(memory.vram_size + memory.gart_size) / SIZE + 2 {
        match device.create(SIZE, Domain::Vram) {
            Ok(bo) => objects.push(bo),
            Err(Errno::NOMEM) => break,
            Err(error) => anyhow::bail!("object {i}: {error:?}"),
        }
    }
    ensure!(
        objects.len() as u64 >= (memory.vram_visible / SIZE).saturating_sub(2),
        "only {} objects",
        objects.len()
    );
    drop(objects);
    let bo = device
        .create(SIZE, Domain::Vram)
        .context("after closing all of them")?;
    bo.map()?.set(0, 1);
    Ok(())
}
