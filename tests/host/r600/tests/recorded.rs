// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What Mesa sends is let through, on every chip.
//!
//! The recordings are made at run time (`make mesa`): streams of unmodified programs on upstream's driver. The
//! environment variable `LAPIDARY_STREAMS` names the folder of a chip, or the folder that has one for each chip (see
//! [`of_chips`]). Without it there is nothing to look at. An empty folder is a failure.

mod support;

use lapidary_streams::{of_chips, read_dir, Recording, VARIABLE};
use r600::portable::checker::{check_dma, check_gfx, check_gfx_tiled_by_objects, Chip};
use std::path::{Path, PathBuf};
use support::{run_any, Check, Checked, CHIPS};

/// `RADEON_CS_KEEP_TILING_FLAGS`.
const KEEP_TILING: u32 = 1;
/// `RADEON_CS_RING_DMA`.
const RING_DMA: u32 = 2;

/// Return the folders with recordings and their chips.
fn folders(top: &Path) -> Vec<(PathBuf, Chip)> {
    let folders = of_chips(top, CHIPS.iter().map(|(name, _)| *name));
    let chip = |name| CHIPS.iter().find(|(known, _)| *known == name);
    folders
        .into_iter()
        .filter_map(|(name, folder)| Some((folder, chip(name)?.1)))
        .collect()
}

/// Check one stream.
fn run(recording: &Recording, chip: &Chip) -> Result<Checked, String> {
    let stream = &recording.stream;
    let check: Check = match (stream.ring, stream.flags & KEEP_TILING) {
        (RING_DMA, _) => check_dma,
        (_, 0) => check_gfx_tiled_by_objects,
        _ => check_gfx,
    };
    let sizes: Vec<u64> = stream.objects.iter().map(|object| object.size).collect();
    run_any(check, &stream.words, &sizes, chip).map_err(|refusal| {
        let around = refusal.position as usize;
        let start = around.saturating_sub(3);
        let end = (around + 3).min(stream.words.len());
        format!(
            "{}: {refusal:?}: {}; words {:x?}",
            recording.name,
            refusal.reason.text(),
            &stream.words[start..end]
        )
    })
}

#[test]
fn recorded_streams_are_admitted() {
    let Some(top) = std::env::var_os(VARIABLE) else {
        println!("{VARIABLE} is not set: no recordings");
        return;
    };
    let folders = folders(Path::new(&top));
    assert!(!folders.is_empty(), "no folder of a chip in {top:?}");
    let mut wrong = Vec::new();
    for (folder, chip) in &folders {
        let recordings = read_dir(folder).expect("the folder holds recordings");
        let (mut dwords, mut changed, before) = (0, 0, wrong.len());
        for recording in &recordings {
            let stream = &recording.stream;
            dwords += stream.words.len();
            let checked = match run(recording, chip) {
                Ok(checked) => checked,
                Err(text) => {
                    wrong.push(format!("{}: {text}", folder.display()));
                    continue;
                }
            };
            let words = stream.words.iter().zip(&checked.words);
            changed += words.filter(|(before, after)| before != after).count();
            // What is written must have been announced as written, or the kernel would not wait for it.
            for (i, (object, used)) in stream.objects.iter().zip(&checked.objects).enumerate() {
                if used.access.writes && object.write == 0 {
                    wrong.push(format!(
                        "{}: writes object {i}, which was announced as read",
                        recording.name
                    ));
                }
            }
        }
        println!(
            "{}: {} streams, {dwords} dwords, {} wrong, {changed} dwords changed",
            folder.display(),
            recordings.len(),
            wrong.len() - before
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
