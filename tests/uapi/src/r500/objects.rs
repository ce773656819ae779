// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is kept with an object on R5xx: tiling flags of any value, and no addresses of clients.

use anyhow::{Context as _, Result, ensure};
use lapidary_guest::{Client as _, Device, Domain, Errno, abi};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("objects/tiling", tiling),
        Test::new("objects/no_address_spaces", no_address_spaces),
    ]
}

fn tiling_of(device: &Device, handle: u32) -> Result<(u32, u32)> {
    let mut argument = abi::GemTiling {
        handle,
        ..Default::default()
    };
    device.ioctl(abi::RADEON_GEM_GET_TILING, &mut argument)?;
    Ok((argument.flags, argument.pitch))
}

fn tiling(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(PAGE, Domain::Vram)?;
    ensure!(
        tiling_of(&device, bo.handle())? == (0, 0),
        "a new object has tiling"
    );
    // R5xx returns the stored value, whatever it is.
    for (flags, pitch) in [
        (abi::TILING_MACRO, 256),
        (abi::TILING_MACRO | abi::TILING_MICRO, 1024),
        (0x3f, 16384),
        (u32::MAX, u32::MAX),
        (0, 0),
    ] {
        let mut argument = abi::GemTiling {
            handle: bo.handle(),
            flags,
            pitch,
        };
        device
            .ioctl(abi::RADEON_GEM_SET_TILING, &mut argument)
            .with_context(|| format!("{flags:#x}, {pitch}"))?;
        let seen = tiling_of(&device, bo.handle())?;
        ensure!(
            seen == (flags, pitch),
            "stored ({flags:#x}, {pitch}), got {seen:?}"
        );
    }
    let other = device.create(PAGE, Domain::Vram)?;
    ensure!(
        tiling_of(&device, other.handle())? == (0, 0),
        "another object has it too"
    );
    Ok(())
}

/// Nothing else is looked at where clients have no address spaces, and the result says so too.
fn no_address_spaces(context: &mut Context) -> Result<()> {
    const FAILED: u32 = 1;
    let device = context.device()?;
    let bo = device.create(PAGE, Domain::Gtt)?;
    let good = abi::GemVa {
        handle: bo.handle(),
        operation: 1,
        flags: 6,
        offset: 1 << 24,
        vm_id: 0,
    };
    for mut argument in [
        good,
        abi::GemVa {
            operation: 2,
            ..good
        },
        abi::GemVa {
            operation: 77,
            ..good
        },
        abi::GemVa { vm_id: 1, ..good },
        abi::GemVa { offset: 0, ..good },
        abi::GemVa { flags: 1, ..good },
        abi::GemVa {
            handle: 0x7777,
            ..good
        },
    ] {
        let before = argument;
        let answer = device.ioctl(abi::RADEON_GEM_VA, &mut argument);
        refused(&format!("{before:?}"), answer, Errno::NOTTY)?;
        let operation = argument.operation;
        ensure!(operation == FAILED, "{before:?}: result {operation}");
        ensure!(
            argument.handle == before.handle && argument.offset == before.offset,
            "{before:?} became {argument:?}"
        );
    }
    Ok(())
}
