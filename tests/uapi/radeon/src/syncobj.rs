// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Synchronisation objects on submissions: chunks of our own, binary and timeline, in and out.

use crate::refusal::refused_for;
use crate::support::{CHUNKS, Radeon, envelope, nothing, refused_envelope};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::abi::{self, Sync};
use lapidary_guest::submit::{Chunk, Envelope, after, before};
use lapidary_guest::{Client as _, Device, Errno};
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::{Context, Test, refused, untouched};
use lapidary_uapi_shared::syncobj;

const OURS: &str = "upstream's driver has no synchronisation objects";

pub fn tests() -> Vec<Test> {
    let ours = |name, body| Test::new(name, body).lapidary_only(OURS);
    vec![
        ours("syncobj/announced", announced),
        ours(
            "syncobj/out_signals_with_the_work",
            syncobj::signals::<Radeon>,
        )
        .needs_control(),
        ours(
            "syncobj/timeline_points_signal_in_order",
            syncobj::timeline::<Radeon>,
        )
        .needs_control(),
        ours(
            "syncobj/in_of_the_same_ring_does_not_wait",
            syncobj::own_work::<Radeon>,
        )
        .needs_control(),
        ours(
            "syncobj/in_waits_for_another_driver",
            syncobj::waits::<Radeon>,
        ),
        ours(
            "syncobj/wait_is_interruptible",
            syncobj::interruptible::<Radeon>,
        ),
        ours(
            "syncobj/in_of_a_chain_waits_for_all",
            syncobj::chain::<Radeon>,
        ),
        ours("syncobj/not_submitted", syncobj::not_submitted::<Radeon>),
        ours("syncobj/bad_entries", bad_entries),
        ours("syncobj/bad_chunks", bad_chunks),
        ours("syncobj/refused_leaves_out_alone", |c| {
            syncobj::refused_signals_nothing::<Radeon>(c, refuse)
        }),
        ours("syncobj/as_files", syncobj::files::<Radeon>).needs_control(),
        ours(
            "syncobj/between_clients",
            syncobj::between_clients::<Radeon>,
        )
        .needs_control(),
        ours("syncobj/many", syncobj::many::<Radeon>),
    ]
}

/// Make an envelope that does nothing, with these chunks behind its own ([`CHUNKS`]).
fn with(chunks: impl IntoIterator<Item = Chunk>) -> Envelope {
    let nothing = envelope(Chunk::commands(nothing().words()));
    chunks.into_iter().fold(nothing, Envelope::with)
}

fn announced(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    ensure!(device.features()? & 1 != 0, "no feature bit");
    ensure!(
        device.capability(abi::CAP_SYNCOBJ)? == 1
            && device.capability(abi::CAP_SYNCOBJ_TIMELINE)? == 1,
        "no capability"
    );
    Ok(())
}

fn bad_entries(context: &mut Context) -> Result<()> {
    syncobj::unknown_handles::<Radeon>(context)?;
    let device = context.device()?;
    let one = Syncobj::new(&device, true)?;
    untouched(context, || {
        for make in [before as fn(&[Sync]) -> Chunk, after] {
            for flags in [1, 2, 0x8000_0000, u32::MAX] {
                let bad = Sync { flags, ..one.at(0) };
                let what = format!("flags {flags:#x}");
                let envelope = with([make(&[bad])]);
                refused_for(&what, &device, &envelope, Errno::INVAL, 0x303, 0)?;
            }
        }
        Ok(())
    })?;
    syncobj::twice::<Radeon>(context)
}

fn bad_chunks(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let one = Syncobj::new(&device, true)?;
    let none = u32::MAX;
    untouched(context, || {
        for make in [before as fn(&[Sync]) -> Chunk, after] {
            let good = || make(&[one.at(0)]);
            for length in [1, 2, 3, 5, 7] {
                let envelope = with([good().claim(length)]);
                let what = format!("{length} dwords");
                refused_for(&what, &device, &envelope, Errno::INVAL, 0x109, CHUNKS)?;
            }
            for length in [257 * 4, 0x4000_0000, 0x4000_0004, 0xffff_fffc] {
                let envelope = with([good().claim(length)]);
                let what = format!("{length:#x} dwords");
                refused_for(&what, &device, &envelope, Errno::INVAL, 0x10a, CHUNKS)?;
            }
            let envelope = with([good(), good()]);
            let second = CHUNKS + 1;
            refused_for(
                "two of a kind",
                &device,
                &envelope,
                Errno::INVAL,
                0x10b,
                second,
            )?;
            let envelope = Envelope::new().with(good());
            refused_for("no commands", &device, &envelope, Errno::INVAL, 0x10c, none)?;
            for bad in [0, 8, 0xffff_8880_0000_0000, u64::MAX - 15] {
                let envelope = with([good().point_at(bad)]);
                refused(
                    &format!("entries at {bad:#x}"),
                    envelope.submit(&device),
                    Errno::FAULT,
                )?;
            }
        }
        Ok(())
    })?;
    with([before(&[]), after(&[])])
        .submit(&device)
        .context("empty chunks")?;
    // The ids next to ours are unknown, and unknown chunks are ignored.
    for id in [0x4c4f_ffff, 0x4c50_0002, 0xcc50_0000] {
        with([Chunk::new(id, vec![1, 2, 3])])
            .submit(&device)
            .with_context(|| format!("chunk {id:#x}"))?;
    }
    Ok(())
}

/// Submit what is refused, with objects to signal.
fn refuse(device: &Device, objects: &[Sync]) -> Result<()> {
    let bad = refused_envelope().with(after(objects));
    refused("a bad submission", bad.submit(device), Errno::INVAL)
}
