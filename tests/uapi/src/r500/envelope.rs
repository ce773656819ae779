// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which rings R5xx has, as a submission names them: one, which is for graphics and for compute, and no address spaces.

use anyhow::{Context as _, Result};
use lapidary_guest::{Client as _, Errno, abi};
use lapidary_harness::{Context, Test, refused};
use lapidary_uapi_radeon::envelope::on_ring;
use lapidary_uapi_radeon::support;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("envelope/rings", rings),
        Test::new("envelope/virtual_addresses", virtual_addresses),
    ]
}

fn rings(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    on_ring(abi::RING_GFX, 0)
        .submit(&device)
        .context("graphics")?;
    on_ring(abi::RING_COMPUTE, 0)
        .submit(&device)
        .context("compute, which is graphics here")?;
    support::untouched(context, || {
        refused(
            "DMA",
            on_ring(abi::RING_DMA, 0).submit(&device),
            Errno::INVAL,
        )?;
        for ring in [5, 6, 255, 0x8000_0000, u32::MAX] {
            refused(
                &format!("ring {ring}"),
                on_ring(ring, 0).submit(&device),
                Errno::INVAL,
            )?;
        }
        Ok(())
    })
}

fn virtual_addresses(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::untouched(context, || {
        for ring in [abi::RING_GFX, abi::RING_COMPUTE, abi::RING_DMA] {
            refused(
                &format!("ring {ring}"),
                on_ring(ring, abi::CS_USE_VM).submit(&device),
                Errno::INVAL,
            )?;
        }
        Ok(())
    })
}
