// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GEM_CREATE: sizes, flags, handles, and what new objects contain.

use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::{self, Param};
use lapidary_chrome9_client::{Client as _, Errno, Place};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use std::collections::BTreeSet;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("create/sizes_are_rounded_up_to_pages", rounding),
        Test::new("create/size_0_is_refused", nothing),
        Test::new("create/huge_sizes_are_refused", huge),
        Test::new("create/the_largest_object", largest),
        Test::new("create/unknown_flags_are_refused", flags),
        Test::new("create/handles_are_different_and_not_0", handles),
        Test::new("create/closed_handles_are_unknown", closed),
        Test::new("create/handles_belong_to_their_client", foreign),
        Test::new("create/new_objects_are_zero", zero),
        Test::new("create/many", many),
    ]
}

fn rounding(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        for (size, pages) in [
            (1, 1),
            (PAGE - 1, 1),
            (PAGE, 1),
            (PAGE + 1, 2),
            (5 * PAGE - 8, 5),
        ] {
            let answer = device.create_raw(size, place.flags())?;
            ensure!(
                answer.size == pages * PAGE,
                "{size} bytes in {place} became {}",
                answer.size
            );
            ensure!(answer.flags == place.flags(), "the flags changed");
            device.close(answer.handle)?;
        }
    }
    Ok(())
}

fn nothing(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let answer = device.create_raw(0, place.flags());
        refused(&format!("size 0 in {place}"), answer, Errno::INVAL)?;
    }
    Ok(())
}

fn huge(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.param(Param::GartSize)?;
    for place in Place::ALL {
        for size in [
            most + 1,
            most + PAGE,
            1 << 32,
            (1 << 32) + 1,
            1 << 40,
            1 << 63,
            u64::MAX - PAGE,
            u64::MAX,
        ] {
            let answer = device.create_raw(size, place.flags());
            refused(&format!("{size:#x} bytes in {place}"), answer, Errno::NOMEM)?;
        }
    }
    Ok(())
}

/// An object of the size of all GART addresses can be created. It takes no memory before it is used.
fn largest(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.param(Param::GartSize)?;
    let bo = device.create(most, Place::System)?;
    ensure!(bo.size() == most, "it has {:#x} bytes", bo.size());
    let mapping = bo.map()?;
    for at in [0, mapping.len() / 2, mapping.len() - 1] {
        ensure!(mapping.get(at) == 0, "dword {at:#x} is not zero");
        mapping.set(at, 7);
        ensure!(mapping.get(at) == 7, "dword {at:#x} does not hold");
    }
    Ok(())
}

fn flags(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for bit in 1..32 {
        for flags in [1 << bit, (1 << bit) | abi::GEM_SYSTEM] {
            let answer = device.create_raw(PAGE, flags);
            refused(&format!("flags {flags:#x}"), answer, Errno::INVAL)?;
        }
    }
    Ok(())
}

fn handles(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut seen = BTreeSet::from([0]);
    for i in 0..200 {
        let place = Place::ALL[i % 2];
        let answer = device.create_raw(PAGE, place.flags())?;
        ensure!(
            seen.insert(answer.handle),
            "object {i} has handle {}",
            answer.handle
        );
    }
    Ok(())
}

fn closed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let handle = device.create_raw(PAGE, 0)?.handle;
    device.close(handle)?;
    for handle in [handle, handle + 1, 0, u32::MAX] {
        let what = |call| format!("{call} of handle {handle}");
        let mapping = device.mmap_offset(handle);
        refused(&what("GEM_MMAP"), mapping, Errno::NOENT)?;
        let wait = device.wait(handle, Duration::from_secs(1));
        refused(&what("GEM_WAIT"), wait, Errno::NOENT)?;
        refused(&what("GEM_CLOSE"), device.close(handle), Errno::INVAL)?;
    }
    Ok(())
}

fn foreign(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    // The other client has no object, so none of its own that has this handle.
    let handle = device.create_raw(PAGE, 0)?.handle;
    refused("GEM_MMAP", other.mmap_offset(handle), Errno::NOENT)?;
    let wait = other.wait(handle, Duration::from_secs(1));
    refused("GEM_WAIT", wait, Errno::NOENT)?;
    refused("GEM_CLOSE", other.close(handle), Errno::INVAL)?;
    device.mmap_offset(handle)?;
    Ok(())
}

fn zero(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        for size in [PAGE, 3 * PAGE, 1 << 20] {
            let bo = device.create(size, place)?;
            let seen = bo.read()?;
            let odd = seen.iter().position(|&word| word != 0);
            ensure!(odd.is_none(), "{size} bytes in {place}: dword {odd:?}");
        }
    }
    Ok(())
}

/// A client can have thousands of objects, and each has memory of its own.
fn many(context: &mut Context) -> Result<()> {
    const COUNT: u32 = 2000;
    let device = context.device()?;
    let mut objects = Vec::new();
    for i in 0..COUNT {
        let bo = device.create(PAGE, Place::ALL[i as usize % 2])?;
        bo.map()?.set(0, i);
        objects.push(bo);
    }
    for (i, bo) in objects.iter().enumerate() {
        let seen = bo.map()?.get(0);
        ensure!(seen == i as u32, "object {i} has the mark of object {seen}");
    }
    Ok(())
}
