// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Which rings R5xx has, as a submission names them: one, which is for graphics and for compute, and no address spaces.
//! So what a submission does not say of its ring and its addresses is right.

use anyhow::{Context as _, Result};
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::{Client as _, Errno, abi};
use lapidary_harness::{Context, Test, refused};
use lapidary_uapi_radeon::support::{self, fillers, nothing, on_ring};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("envelope/defaults", defaults),
        Test::new("envelope/rings", rings),
        Test::new("envelope/virtual_addresses", virtual_addresses),
    ]
}

/// Without flags, or without a ring in them, a stream is for the graphics ring.
fn defaults(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let alone = || Envelope::new().with(Chunk::commands(nothing().words()));
    for (what, envelope) in [
        ("commands alone", alone()),
        ("no entries", alone().with(Chunk::relocations(&[]))),
        (
            "flags before commands",
            Envelope::new()
                .with(Chunk::flags(&[abi::CS_KEEP_TILING]))
                .with(Chunk::commands(nothing().words())),
        ),
        ("long flags", alone().with(Chunk::flags(&[0; 16]))),
        (
            "end of frame",
            alone().with(Chunk::flags(&[abi::CS_END_OF_FRAME])),
        ),
        ("unknown flags", alone().with(Chunk::flags(&[0xffff_fff8]))),
        (
            "one dword",
            Envelope::new().with(Chunk::commands(&fillers(1))),
        ),
    ] {
        envelope.submit(&device).context(what)?;
    }
    support::engine_works(&device)
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
