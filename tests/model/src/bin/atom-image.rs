// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Writes the synthetic ATOM ROM of a chip to a file.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Parser;
use lapidary_model::chip::{CHIPS, Entry};

/// Makes the ATOM expansion ROM of a modelled card.
#[derive(Parser)]
#[command(name = "atom-image")]
struct Args {
    /// Which chip.
    #[arg(long, default_value = "rv515")]
    chip: String,
    /// Size of VRAM in MiB that ASIC_Init sets up.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=1024))]
    vram_size: u64,
    /// The file to write.
    out: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let Some(entry) = Entry::by_name(&args.chip) else {
        let all: Vec<_> = CHIPS.iter().map(|e| e.name).collect();
        bail!("no chip {}; there are {}", args.chip, all.join(", "));
    };
    fs::write(&args.out, entry.rom(args.vram_size << 20))
        .with_context(|| format!("cannot write {}", args.out.display()))
}
