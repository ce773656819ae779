// SPDX-License-Identifier: GPL-2.0 OR MIT

//! More objects than video memory has room for. The driver evicts the least recently used ones and brings them back,
//! nothing is lost, and no client sees what others had there before. On a model with little video memory these tests
//! fill it twice over.

use crate::support::settled;
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Device, Domain, abi};
use lapidary_harness::{Context, Test, skip};
use std::rc::Rc;
use std::time::Duration;

mod costs;
mod hidden;
mod policy;
mod stock;
mod survival;
mod swap;

/// Bytes.
pub const MIB: u64 = 1 << 20;
/// Bytes from row to row.
const ROW: u32 = 4096;
/// Video memory that a test fills twice, at most.
const MOST: u64 = 64 * MIB;
/// What the driver and the firmware may keep of video memory for themselves.
const SPARE: u64 = 4 * MIB;
const OURS: &str = "where objects are at each moment is the driver's own policy";

/// Return its tests.
pub fn tests() -> Vec<Test> {
    vec![
        Test::new("memory/every_byte_survives", survival::every_byte).limit(120),
        Test::new("memory/drawing_on_twice_the_memory", survival::drawing).limit(120),
        Test::new("memory/mappings_follow", survival::mappings_follow),
        Test::new("memory/mapped_buffers_follow", survival::buffers_follow),
        Test::new("memory/idle_longest_leaves_first", policy::idle_longest).lapidary_only(OURS),
        Test::new("memory/what_left_comes_back", policy::comes_back).lapidary_only(OURS),
        Test::new("memory/large_working_set_settles", policy::settles).lapidary_only(OURS),
        Test::new("memory/bytes_moved_are_counted", policy::bytes_moved).lapidary_only(OURS),
        Test::new("memory/a_move_that_hangs", survival::hung_move)
            .needs_control()
            .hangs(3)
            .lapidary_only(OURS)
            .limit(120),
        Test::new("memory/one_submission_moves_little", policy::budget).lapidary_only(OURS),
        Test::new("memory/fresh_memory_has_no_secrets", survival::secrets)
            .lapidary_only("upstream's video memory is as the last user left it"),
        Test::new("memory/stock_shows_nothing_of_others", stock::shows_nothing)
            .lapidary_only("upstream's video memory is as the last user left it")
            .limit(180),
        Test::new("memory/stock_saves_clears", stock::saves_clears)
            .needs_control()
            .lapidary_only("upstream's driver does not clear"),
        Test::new("memory/stock_clear_that_fails", stock::clear_fails)
            .needs_control()
            .hangs(2)
            .lapidary_only("upstream's driver does not clear"),
        Test::new("memory/stock_is_not_in_the_way", stock::not_in_the_way)
            .needs_control()
            .hangs(1)
            .lapidary_only("upstream's driver does not clear"),
        Test::new("memory/hidden_memory_is_shown", hidden::hidden),
        Test::new("memory/hidden_memory_for_the_gpu", hidden::hidden_for_gpu).lapidary_only(OURS),
        Test::new("memory/wishes_can_be_changed", policy::wishes).lapidary_only(OURS),
        Test::new("memory/pages_go_to_swap_and_back", swap::swap)
            .lapidary_only("upstream swaps by the page limit of its pool")
            .limit(180),
        Test::new(
            "memory/pages_that_another_gpu_has_stay",
            swap::mapped_elsewhere,
        )
        .lapidary_only("upstream swaps by the page limit of its pool")
        .limit(120),
        Test::new("memory/costs_of_giving_pages_back", costs::reclaim)
            .lapidary_only(OURS)
            .limit(300),
        Test::new("memory/costs_of_making_room", costs::eviction)
            .lapidary_only(OURS)
            .limit(300),
        Test::new("memory/large_pieces", costs::pieces)
            .lapidary_only("upstream's pages are no files"),
        Test::new("memory/more_than_the_cpu_sees_settles", hidden::settles)
            .lapidary_only(OURS)
            .limit(120),
        Test::new(
            "memory/whoever_found_no_room_comes_home",
            policy::found_no_room,
        )
        .lapidary_only(OURS),
        // After that one, which needs what this one drops.
        Test::new("memory/a_jobs_pages_are_given_back", swap::all_of_a_job)
            .lapidary_only("upstream says nothing of resident memory"),
    ]
}

/// Return the bytes of video memory that objects can have. Skip where that is more than a test can fill.
pub fn room(device: &Device) -> Result<u64> {
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

/// Return whether the object is in video memory.
pub fn in_vram(bo: &Bo) -> bool {
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

/// Draw a small mark into an object.
fn touch(bo: &Bo, colour: u32) -> Result<()> {
    let mut stream = painter().stream();
    painter().fill(
        &mut stream,
        Area::new(bo, ROW),
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

/// Make objects of `size` bytes that together fill `bytes`.
fn objects(device: &Rc<Device>, bytes: u64, size: u64) -> Result<Vec<Bo>> {
    (0..bytes / size)
        .map(|i| {
            device
                .create(size, Domain::Vram)
                .with_context(|| format!("object {i}"))
        })
        .collect()
}

/// Ask until the answer is yes. The worker releases a job's memory a little after the job is done.
fn soon(what: &str, mut ask: impl FnMut() -> Result<bool>) -> Result<()> {
    for _ in 0..40 {
        if ask()? {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("not in two seconds: {what}")
}

/// Fill video memory with objects of one size until one is made in system memory or evicts another. Return those in
/// video memory.
fn fill(device: &Rc<Device>, size: u64) -> Result<Vec<Bo>> {
    // Memory of closed objects counts until their last jobs are retired.
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
    // An object that was evicted for the last one comes back once the last one's jobs are retired.
    soon("there was room for them", || {
        for bo in &bos {
            touch(bo, 0)?;
            bo.wait()?;
        }
        Ok(bos.iter().all(in_vram))
    })?;
    Ok(bos)
}
