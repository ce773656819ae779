// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What GEM_BUSY says of an object: its domain, and whether the GPU is busy with it.

use crate::support;
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Domain, Errno, Stream};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use std::time::{Duration, Instant};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("objects/domains", domains),
        Test::new("objects/bad_handles", bad_handles),
        Test::new("objects/idle_after_waiting", idle_after_waiting),
        Test::new("objects/busy_while_drawn", busy_while_drawn).needs_control(),
        Test::new("objects/waiting_is_for_this_object_only", this_object_only),
        Test::new("objects/not_implemented_is_refused", not_implemented),
    ]
}

fn domains(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        let bo = device.create(PAGE, domain)?;
        bo.map()?.set(0, 1);
        bo.wait()?;
        let (answer, seen) = device.busy(bo.handle());
        answer.context("idle object")?;
        ensure!(
            seen == domain.bits(),
            "made in {domain:?}, reported in {seen}"
        );
    }
    // Both allowed: video memory is the better place.
    let handle = device.create_raw(PAGE, 0, abi::DOMAIN_VRAM | abi::DOMAIN_GTT, 0)?;
    let bo = Bo::adopt(device.clone(), handle, PAGE, Domain::Vram);
    bo.map()?.set(0, 1);
    bo.wait()?;
    ensure!(
        device.busy(handle).1 == abi::DOMAIN_VRAM,
        "VRAM or GTT became {}",
        device.busy(handle).1
    );
    Ok(())
}

fn bad_handles(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for handle in [0, 1, 0x1234, u32::MAX] {
        refused("GEM_MMAP", device.mmap_offset(handle), Errno::NOENT)?;
        refused("GEM_WAIT_IDLE", device.wait_idle(handle), Errno::NOENT)?;
        refused("GEM_BUSY", device.busy(handle).0, Errno::NOENT)?;
        let mut argument = abi::GemTiling {
            handle,
            ..Default::default()
        };
        refused(
            "GEM_SET_TILING",
            device.ioctl(abi::RADEON_GEM_SET_TILING, &mut argument),
            Errno::NOENT,
        )?;
        refused(
            "GEM_GET_TILING",
            device.ioctl(abi::RADEON_GEM_GET_TILING, &mut argument),
            Errno::NOENT,
        )?;
    }
    // A handle is valid for its own client only.
    let other = device.another()?;
    let bo = device.create(PAGE, Domain::Gtt)?;
    refused(
        "another client's handle",
        other.wait_idle(bo.handle()),
        Errno::NOENT,
    )
}

/// Return a stream of large fills that takes a while.
fn long_work(bo: &Bo) -> Stream {
    let rows = (bo.size() / u64::from(support::PITCH)) as i32;
    let mut stream = painter().stream();
    for colour in 0..100 {
        let all = Rect::new(0, 0, support::WIDTH, rows);
        painter().fill(&mut stream, Area::new(bo, support::PITCH), colour, all);
    }
    stream
}

fn idle_after_waiting(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        let bo = support::surface(&device, 64, domain)?;
        for _ in 0..10 {
            device.submit(&long_work(&bo))?;
            bo.wait()?;
            ensure!(!bo.is_busy()?, "{domain:?}: busy after waiting");
            ensure!(
                bo.map()?.get(0) == 99,
                "{domain:?}: idle before the last fill"
            );
        }
    }
    Ok(())
}

fn busy_while_drawn(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 64, Domain::Gtt)?;
    let bystander = support::surface(&device, 64, Domain::Gtt)?;
    bystander.wait()?;
    context.control()?.fault("late-fence", 1)?;
    let begin = Instant::now();
    device.submit(&long_work(&bo))?;
    let (answer, domain) = device.busy(bo.handle());
    refused("GEM_BUSY at once", answer, Errno::BUSY)?;
    ensure!(domain == abi::DOMAIN_GTT, "reported in {domain}");
    ensure!(
        !bystander.is_busy()?,
        "an object that is not in the stream is busy"
    );
    bo.wait()?;
    ensure!(
        begin.elapsed() > Duration::from_millis(300),
        "the fence was not late at all"
    );
    ensure!(!bo.is_busy()?, "busy after waiting");
    Ok(())
}

fn this_object_only(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (drawn, other) = (
        support::surface(&device, 64, Domain::Gtt)?,
        support::surface(&device, 64, Domain::Gtt)?,
    );
    other.wait()?;
    for _ in 0..20 {
        device.submit(&long_work(&drawn))?;
        ensure!(!other.is_busy()?, "the other object is busy");
    }
    drawn.wait()?;
    Ok(())
}

/// Call numbers of the header that no driver for these chips implements.
fn not_implemented(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut bytes = [0u32; 8];
    refused(
        "GEM_PREAD",
        device.ioctl(abi::RADEON_GEM_PREAD, &mut bytes),
        Errno::INVAL,
    )?;
    refused(
        "GEM_PWRITE",
        device.ioctl(abi::RADEON_GEM_PWRITE, &mut bytes),
        Errno::INVAL,
    )?;
    Ok(())
}
