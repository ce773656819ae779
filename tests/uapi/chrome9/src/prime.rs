// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects shared as dma-bufs: between clients, and with vgem, whose memory is in system pages.
//!
//! An object that another driver is attached to has to stay in system pages, where the 2D engine cannot reach it.

use crate::support::{copy, engine_works, fill, submit_late, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::{Bo, Client as _, Errno, Place, Submission};
use lapidary_harness::foreign::{Vgem, is_idle};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use std::os::fd::AsFd;
use std::time::Duration;

const BYTES: u64 = 4 * PAGE;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("prime/one_object_of_two_clients", two_clients),
        Test::new("prime/one_buffer_has_one_handle", one_handle),
        Test::new("prime/outlives_its_client", outlives),
        Test::new("prime/vgem_sees_what_is_exported", export),
        Test::new("prime/foreign_memory_is_not_drawn_on", foreign),
        Test::new("prime/our_fences_are_on_the_buffer", our_fences).needs_control(),
    ]
}

fn two_clients(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    for place in Place::ALL {
        let bo = surface(&device, 16, place)?;
        let buffer = device.export(bo.handle())?;
        let handle = other.import(buffer.as_fd())?;
        let there = Bo::adopt(other.clone(), handle, bo.size(), place);
        let picture = surface(&other, 16, place)?;
        for colour in 1..5 {
            device.submit(&fill(&bo, colour))?;
            // The other's work comes after the first's.
            other.submit(&copy(&there, &picture))?;
            ensure!(
                picture.read()?[0] == colour,
                "{place}: the copy is of another moment"
            );
            ensure!(
                there.map()?.get(5) == colour,
                "{place}: the other sees another memory"
            );
        }
        // Closing one handle leaves the other.
        drop(there);
        device.submit(&fill(&bo, 9))?;
        ensure!(bo.read()?[0] == 9, "{place}: the object is gone");
    }
    Ok(())
}

fn one_handle(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let bo = device.create(BYTES, Place::System)?;
    let buffer = device.export(bo.handle())?;
    ensure!(
        device.import(buffer.as_fd())? == bo.handle(),
        "its own buffer has another handle"
    );
    let first = other.import(buffer.as_fd())?;
    let second = other.import(device.export(bo.handle())?.as_fd())?;
    ensure!(first == second, "handles {first} and {second}");
    Ok(())
}

fn outlives(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    device.submit(&fill(&bo, 77))?;
    let (size, buffer) = (bo.size(), device.export(bo.handle())?);
    drop((bo, device));
    let handle = other.import(buffer.as_fd())?;
    drop(buffer);
    let bo = Bo::adopt(other.clone(), handle, size, Place::FrameBuffer);
    ensure!(bo.read()?.iter().all(|&word| word == 77), "it is another");
    other.submit(&fill(&bo, 78))?;
    ensure!(bo.read()?[0] == 78, "it cannot be drawn on");
    Ok(())
}

/// While vgem has an object, it is in system pages, and the CPU sees the same through both.
fn export(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    for place in Place::ALL {
        let bo = surface(&device, 16, place)?;
        device.submit(&fill(&bo, 5))?;
        bo.wait()?;
        let handle = vgem.node().import(device.export(bo.handle())?.as_fd())?;
        ensure!(bo.read()?[0] == 5, "{place}: the content is lost");
        let answer = device.submit(&fill(&bo, 6));
        refused(
            &format!("the engine on what vgem has, made in {place}"),
            answer,
            Errno::PERM,
        )?;
        // It may be listed: only the engine cannot use it.
        let mut submission = Submission::nothing();
        submission.objects = Submission::of(&fill(&bo, 6)).objects;
        submission.issue(&device).context("listing it")?;
        vgem.node().close(handle)?;
        device.submit(&fill(&bo, 7)).context("after vgem's close")?;
        ensure!(bo.read()?[0] == 7, "{place}: nothing is drawn");
    }
    engine_works(&device)
}

fn foreign(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let owned = vgem.create(BYTES)?;
    let view = vgem.map(owned, BYTES)?;
    view.write(&[1, 2, 3, 4]);
    let handle = device.import(vgem.node().export(owned)?.as_fd())?;
    let bo = Bo::adopt(device.clone(), handle, BYTES, Place::System);
    ensure!(bo.map()?.read(0, 4) == [1, 2, 3, 4], "it is another memory");
    let ours = device.create(BYTES, Place::FrameBuffer)?;
    refused("a fill", device.submit(&fill(&bo, 9)), Errno::PERM)?;
    refused("a copy", device.submit(&copy(&bo, &ours)), Errno::PERM)?;
    ensure!(view.read()[..4] == [1, 2, 3, 4], "it was drawn on");
    engine_works(&device)
}

fn our_fences(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    bo.wait()?;
    let buffer = device.export(bo.handle())?;
    ensure!(is_idle(buffer.as_fd(), true)?, "it is busy without work");
    submit_late(context, &device, &fill(&bo, 1))?;
    ensure!(!is_idle(buffer.as_fd(), false)?, "the writer is not seen");
    bo.wait()?;
    std::thread::sleep(Duration::from_millis(10));
    ensure!(is_idle(buffer.as_fd(), true)?, "it is busy after the work");
    Ok(())
}
