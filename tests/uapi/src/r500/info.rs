// SPDX-License-Identifier: GPL-2.0 OR MIT

//! INFO on R5xx. Expected answers are those that upstream gives and that Mesa's r300 relies on.

use anyhow::{Result, ensure};
use lapidary_guest::abi::{self, info_request as find};
use lapidary_guest::{Client as _, Device, Errno};
use lapidary_harness::{Context, Test, refused};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("info/pipes", pipes),
        Test::new("info/not_for_this_family", not_for_this_family),
        Test::new("info/rings", rings),
        Test::new("info/clocks", clocks),
        Test::new("info/one_owner_of_hyperz_and_cmask", owners),
    ]
}

fn pipes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let pipes = device.info(find("NUM_GB_PIPES"))?;
    ensure!((1..=4).contains(&pipes), "{pipes} GB pipes");
    let z_pipes = device.info(find("NUM_Z_PIPES"))?;
    ensure!((1..=2).contains(&z_pipes), "{z_pipes} Z pipes");
    let engines = device.info(find("MAX_SE"))?;
    ensure!(engines == 1, "{engines} shader engines");
    Ok(())
}

fn not_for_this_family(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for name in [
        "TILING_CONFIG",
        "NUM_BACKENDS",
        "NUM_TILE_PIPES",
        "BACKEND_MAP",
        "VA_START",
        "IB_VM_MAX_SIZE",
        "MAX_PIPES",
        "TIMESTAMP",
        "MAX_SH_PER_SE",
        "SI_TILE_MODE_ARRAY",
        "CIK_MACROTILE_MODE_ARRAY",
        "SI_BACKEND_ENABLED_MASK",
        "READ_REG",
    ] {
        refused(name, device.info(find(name)), Errno::INVAL)?;
    }
    Ok(())
}

/// Check the clocks that the video BIOS has set.
fn clocks(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.info(find("MAX_SCLK"))?;
    let engine = device.info(find("CURRENT_GPU_SCLK"))?;
    let memory = device.info(find("CURRENT_GPU_MCLK"))?;
    // In kHz and MHz; these chips have engines of 200 to 700 MHz.
    ensure!(
        (100_000..1_000_000).contains(&most) && engine == most / 1000,
        "the engine is said to run at {engine} MHz, at most at {most} kHz"
    );
    ensure!((100..2000).contains(&memory), "the memory at {memory} MHz");
    Ok(())
}

fn rings(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let working = |ring| device.info_with(const { find("RING_WORKING") }, ring);
    ensure!(working(abi::RING_GFX)? == 1, "graphics ring");
    ensure!(
        working(abi::RING_COMPUTE)? == 1,
        "compute ring, which is the graphics ring here"
    );
    ensure!(
        working(abi::RING_DMA)? == 0,
        "DMA ring, which R5xx does not have"
    );
    for ring in [abi::RING_UVD, abi::RING_VCE] {
        // Upstream says 0; saying that there is no such ring is as good.
        ensure!(
            matches!(working(ring), Ok(0) | Err(Errno::INVAL)),
            "ring {ring}: {:?}",
            working(ring)
        );
    }
    for ring in [5, 100, u32::MAX] {
        refused(&format!("ring {ring}"), working(ring), Errno::INVAL)?;
    }
    Ok(())
}

fn owners(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    let second = first.another()?;
    for request in [find("WANT_HYPERZ"), find("WANT_CMASK")] {
        let ask = |device: &Device, value| device.info_with(request, value);
        let name = request.name;
        ensure!(ask(&first, 1)? == 1, "{name}: the first asker gets it");
        ensure!(ask(&second, 1)? == 0, "{name}: the second does not");
        ensure!(ask(&first, 1)? == 1, "{name}: the owner keeps it");
        ensure!(
            ask(&second, 0)? == 0,
            "{name}: who has nothing gives nothing back"
        );
        ensure!(ask(&second, 1)? == 0, "{name}: it is still the first's");
        ensure!(ask(&first, 0)? == 0, "{name}: the owner gives it back");
        ensure!(ask(&second, 1)? == 1, "{name}: now the second gets it");
        refused(name, ask(&first, 2), Errno::INVAL)?;
        refused(name, ask(&first, u32::MAX), Errno::INVAL)?;
        let third = first.another()?;
        ensure!(
            ask(&second, 0)? == 0 && ask(&third, 1)? == 1,
            "{name}: a third gets it"
        );
        drop(third);
        ensure!(
            ask(&first, 1)? == 1,
            "{name}: closing the file gives it back"
        );
        ensure!(ask(&first, 0)? == 0, "{name}: given back");
    }
    Ok(())
}
