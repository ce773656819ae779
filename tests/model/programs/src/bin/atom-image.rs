// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Writes the synthetic ROM of a chip to a file.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Error};
use clap::Parser;
use lapidary_model::chip::{Fuses, Options, State};
use lapidary_model::family;
use lapidary_model_programs::FAMILIES;

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
    let (_, entry) = family::find(FAMILIES, &args.chip).map_err(Error::msg)?;
    let vram = args.vram_size << 20;
    let options = Options {
        vram,
        window: vram,
        trapped: false,
        state: State::Posted,
        fuses: Fuses::Whole,
    };
    let image = entry
        .image("synthetic", options)
        .with_context(|| format!("{} has no ROM of its own", args.chip))?;
    fs::write(&args.out, image).with_context(|| format!("cannot write {}", args.out.display()))
}
