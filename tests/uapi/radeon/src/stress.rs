// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Several processes and threads that make, map, draw, check and drop objects at the same time.

use crate::support::{Radeon, nothing};
use anyhow::{Context as _, Result, bail};
use lapidary_guest::abi::info_request;
use lapidary_guest::{Client as _, Device};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_uapi_shared::stress;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("stress/processes", |_| stress::processes::<Radeon>(1500)).limit(180),
        Test::new("stress/processes_killed_at_work", killed).limit(120),
        Test::new("stress/threads_of_one_client", |_| {
            stress::threads::<Radeon>(400, hammer)
        })
        .limit(120),
    ]
}

/// The killed clients' memory is released.
fn killed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let usage = || device.info(const { info_request("VRAM_USAGE") });
    let before = usage()?;
    stress::killed::<Radeon>(10)?;
    for _ in 0..100 {
        if usage()? <= before {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("{} bytes of VRAM in use, {before} before", usage()?)
}

fn hammer(device: &Device, round: u32) -> Result<()> {
    let handle = device.create_raw(PAGE, 0, if round % 2 == 0 { 2 } else { 4 }, 0)?;
    device.mmap_offset(handle)?;
    device.submit(&nothing()).context("submitting")?;
    device.wait_idle(handle)?;
    Ok(device.close(handle)?)
}
