// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GEM_MMAP and mmap: what the CPU sees of an object.

use crate::support::{self, PITCH, fill};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::{self, Param};
use lapidary_chrome9_client::{Client as _, Errno, Place};
use lapidary_harness::child::{self, End};
use lapidary_harness::mapping::{Mapping, PAGE};
use lapidary_harness::{Context, Test, refused, skip};
use rustix::mm::MapFlags;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(10);

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("mapping/holds_what_is_written", holds),
        Test::new("mapping/two_mappings_are_one_object", two),
        Test::new("mapping/a_part_can_be_mapped", part),
        Test::new("mapping/ends_with_the_object", ends),
        Test::new("mapping/private_ones_are_refused", private),
        Test::new("mapping/reserved_has_to_be_zero", reserved),
        Test::new("mapping/offsets_belong_to_their_client", foreign),
        Test::new("mapping/outlives_the_handle", outlives),
        Test::new("mapping/sees_what_the_engine_draws", sees),
        Test::new("mapping/is_what_the_engine_reads", is_read),
        Test::new("mapping/is_there_for_a_forked_child", forked),
        Test::new("mapping/the_frame_buffer_is_write_combined", combined),
    ]
}

fn pattern(i: usize) -> u32 {
    (i as u32).wrapping_mul(0x9e37_79b9) ^ 0x5a5a_0000
}

fn holds(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(5 * PAGE, place)?;
        let words: Vec<u32> = (0..5 * PAGE as usize / 4).map(pattern).collect();
        bo.write(&words)?;
        ensure!(bo.read()? == words, "an object in {place} does not hold");
    }
    Ok(())
}

fn two(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(2 * PAGE, place)?;
        let (one, other) = (bo.map()?, bo.map()?);
        one.set(1025, 77);
        ensure!(other.get(1025) == 77, "{place}: not seen by the other");
        drop(one);
        other.set(3, 5);
        ensure!(bo.map()?.get(3) == 5, "{place}: not seen by a third");
    }
    Ok(())
}

/// A mapping begins where the object does, and may end before it.
fn part(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(4 * PAGE, place)?;
        bo.map()?.set(PAGE as usize / 4, 9);
        let offset = device.mmap_offset(bo.handle())?;
        let part = Mapping::new(&device, offset, 2 * PAGE as usize, MapFlags::SHARED)?;
        ensure!(
            part.get(PAGE as usize / 4) == 9,
            "{place}: the second page is another"
        );
        let middle = Mapping::new(&device, offset + PAGE, PAGE as usize, MapFlags::SHARED);
        refused(&format!("the second page of {place}"), middle, Errno::INVAL)?;
    }
    Ok(())
}

fn ends(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(2 * PAGE, place)?;
        let offset = device.mmap_offset(bo.handle())?;
        for (first, pages) in [(0, 3), (1, 2), (2, 1), (0, 1 << 16)] {
            let mapping = Mapping::new(
                &device,
                offset + first * PAGE,
                pages * PAGE as usize,
                MapFlags::SHARED,
            );
            refused(
                &format!("{pages} pages from page {first} in {place}"),
                mapping,
                Errno::INVAL,
            )?;
        }
    }
    Ok(())
}

fn private(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(PAGE, place)?;
        let offset = device.mmap_offset(bo.handle())?;
        let mapping = Mapping::new(&device, offset, PAGE as usize, MapFlags::PRIVATE);
        refused(&format!("a private one in {place}"), mapping, Errno::INVAL)?;
    }
    Ok(())
}

fn reserved(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(PAGE, Place::System)?;
    for reserved in [1, 1 << 31] {
        let mut argument = abi::GemMmap {
            handle: bo.handle(),
            reserved,
            offset: 0,
        };
        let answer = device.ioctl(abi::GEM_MMAP, &mut argument);
        refused(&format!("reserved {reserved:#x}"), answer, Errno::INVAL)?;
    }
    // The answer's field is only written.
    let mut argument = abi::GemMmap {
        handle: bo.handle(),
        reserved: 0,
        offset: u64::MAX,
    };
    device.ioctl(abi::GEM_MMAP, &mut argument)?;
    ensure!(
        argument.offset == device.mmap_offset(bo.handle())?,
        "the offset depends on what was in its field"
    );
    Ok(())
}

fn foreign(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    for place in Place::ALL {
        let bo = device.create(PAGE, place)?;
        let offset = device.mmap_offset(bo.handle())?;
        let mapping = Mapping::new(&other, offset, PAGE as usize, MapFlags::SHARED);
        refused(
            &format!("another client's, in {place}"),
            mapping,
            Errno::ACCESS,
        )?;
    }
    Ok(())
}

fn outlives(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(PAGE, place)?;
        let mapping = bo.map()?;
        mapping.set(0, 5);
        drop(bo);
        // Others may get memory now, and not this.
        for _ in 0..20 {
            device.create(PAGE, place)?.map()?.set(0, 9);
        }
        ensure!(mapping.get(0) == 5, "{place}: it changed");
    }
    Ok(())
}

fn sees(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = support::surface(&device, 32, place)?;
        let mapping = bo.map()?;
        for colour in 1..6 {
            mapping.set(0, 0);
            device.submit(&fill(&bo, colour))?;
            bo.wait()?;
            let last = mapping.len() - 1;
            ensure!(
                [mapping.get(0), mapping.get(last)] == [colour; 2],
                "{place}: {:#x} and {:#x}, not {colour}",
                mapping.get(0),
                mapping.get(last)
            );
        }
    }
    Ok(())
}

fn is_read(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for from in Place::ALL {
        for to in Place::ALL {
            let source = support::surface(&device, 32, from)?;
            let target = support::surface(&device, 32, to)?;
            for round in 0..3 {
                let words: Vec<u32> = (0..32 * PITCH as usize / 4)
                    .map(|i| pattern(i + round))
                    .collect();
                source.write(&words)?;
                device.submit(&support::copy(&source, &target))?;
                ensure!(
                    target.read()? == words,
                    "round {round}: a copy from {from} to {to} is another"
                );
            }
        }
    }
    Ok(())
}

fn forked(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = device.create(PAGE, place)?;
        let mapping = bo.map()?;
        mapping.set(0, 6);
        let end = child::run(LIMIT, || {
            let seen = mapping.get(0);
            mapping.set(1, 8);
            Ok(seen as i32)
        })?;
        ensure!(end == End::Exit(6), "{place}: the child ended {end:?}");
        ensure!(mapping.get(1) == 8, "{place}: the child wrote elsewhere");
    }
    Ok(())
}

/// The kernel keeps a list of physical ranges and their memory types: `PAT: [mem 0xFIRST-0xEND] write-combining`.
fn combined(context: &mut Context) -> Result<()> {
    const LIST: &str = "/sys/kernel/debug/x86/pat_memtype_list";
    let device = context.device()?;
    let bo = device.create(16 * PAGE, Place::FrameBuffer)?;
    bo.map()?.set(0, 1);
    let (pci, _) = support::bound(&device)?;
    let (first, last, _) = pci.resource(0)?;
    let Ok(list) = std::fs::read_to_string(LIST) else {
        return skip(format!("no {LIST}"));
    };
    let parse = |line: &str| -> Option<(u64, u64, String)> {
        let (range, kind) = line.split_once("[mem ")?.1.split_once("] ")?;
        let (from, end) = range.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        Some((number(from)?, number(end)?, kind.trim().to_owned()))
    };
    let mut covered = 0;
    for (from, end, kind) in list.lines().filter_map(parse) {
        if end > first && from <= last {
            ensure!(kind == "write-combining", "{from:#x} is {kind}");
            covered += end.min(last + 1) - from.max(first);
        }
    }
    let size = device.param(Param::FrameBufferSize)?;
    ensure!(covered >= size, "{covered:#x} bytes of {size:#x}");
    Ok(())
}
