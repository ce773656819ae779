// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects shared between clients as dma-bufs.

use crate::support::{PITCH, WIDTH, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Domain, Errno, abi};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::os::fd::AsFd;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("sharing/another_client_sees_it", another_client),
        Test::new("sharing/private_mapping_is_refused", private_mapping),
        Test::new("sharing/bad_handles_and_descriptors", bad_handles),
    ]
}

/// One client reads what another draws, each by a handle of its own.
fn another_client(context: &mut Context) -> Result<()> {
    let owner = context.device()?;
    let guest = owner.another()?;
    ensure!(
        owner.capability(abi::CAP_PRIME)? & 3 == 3,
        "import and export are not announced"
    );
    let bo = surface(&owner, 16, Domain::Gtt)?;
    let buffer = owner.export(bo.handle())?;
    let handle = guest.import(buffer.as_fd())?;
    ensure!(
        guest.import(buffer.as_fd())? == handle,
        "importing twice gives two handles"
    );
    ensure!(
        owner.import(buffer.as_fd())? == bo.handle(),
        "the owner gets another handle for its own object"
    );
    let shared = Bo::adopt(guest.clone(), handle, bo.size(), Domain::Gtt);

    let fill = |bo: &Bo, colour| {
        let mut stream = painter().stream();
        painter().fill(
            &mut stream,
            Area::new(bo, PITCH),
            colour,
            Rect::new(0, 0, WIDTH, 16),
        );
        bo.device().submit(&stream)
    };
    fill(&bo, 1)?;
    ensure!(
        shared.read()?.iter().all(|&pixel| pixel == 1),
        "the guest does not see the owner's work"
    );
    fill(&shared, 2)?;
    ensure!(
        bo.read()?.iter().all(|&pixel| pixel == 2),
        "the owner does not see the guest's work"
    );
    // It lives as long as one client has it.
    drop((bo, owner, buffer));
    ensure!(shared.read()?[0] == 2, "gone with its owner");
    Ok(())
}

fn private_mapping(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(PAGE, Domain::Gtt)?;
    let buffer = device.export(bo.handle())?;
    let map = |flags| {
        // SAFETY: a new mapping at an address of the kernel's choice.
        unsafe {
            mmap(
                std::ptr::null_mut(),
                PAGE as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
                &buffer,
                0,
            )
        }
    };
    refused(
        "MAP_PRIVATE of a dma-buf",
        map(MapFlags::PRIVATE),
        Errno::INVAL,
    )?;
    let address = map(MapFlags::SHARED).context("MAP_SHARED of a dma-buf")?;
    // SAFETY: the page just mapped.
    unsafe { address.cast::<u32>().write_volatile(0x1234) };
    ensure!(bo.map()?.get(0) == 0x1234, "the two mappings differ");
    // SAFETY: ours, and not used any more.
    unsafe { munmap(address, PAGE as usize)? };
    Ok(())
}

fn bad_handles(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    refused(
        "exporting no handle",
        device.export(0).map(drop),
        Errno::NOENT,
    )?;
    refused(
        "exporting a wrong handle",
        device.export(0x7777).map(drop),
        Errno::NOENT,
    )?;
    let file = std::fs::File::open("/proc/self/exe")?;
    refused(
        "importing a plain file",
        device.import(file.as_fd()),
        Errno::INVAL,
    )
}
