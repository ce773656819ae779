// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Serves one modelled GPU to QEMU over vfio-user, until QEMU goes.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Parser;
use lapidary_model::atom::dump;
use lapidary_model::chip::{CHIPS, Entry, Options, State};
use lapidary_model::control;
use lapidary_model::machine::Machine;
use lapidary_model::memory::Vram;
use lapidary_model::pci::Config;
use lapidary_model::power;
use lapidary_model::run::{Shared, System};
use lapidary_model::server::Function;
use lapidary_model::trace::Trace;

/// A functional model of a GPU, for QEMU's vfio-user-pci.
#[derive(Parser)]
#[command(name = "gpu-model")]
struct Args {
    /// Which chip.
    #[arg(long, default_value = "rv515")]
    chip: String,
    /// The vfio-user socket; must not exist yet.
    #[arg(long)]
    socket: PathBuf,
    /// A socket for tests that ask and set; must not exist yet.
    #[arg(long)]
    control: Option<PathBuf>,
    /// Writes every register access, packet and interrupt here.
    #[arg(long)]
    trace: Option<PathBuf>,
    /// Findings that nobody took are written here at exit.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Registers that were accessed are written here at exit, and what the model makes of each.
    #[arg(long)]
    touched: Option<PathBuf>,
    /// Whether QEMU maps VRAM or forwards each access.
    #[arg(long, value_enum, default_value = "mapped")]
    vram: VramAccess,
    /// Size of VRAM in MiB: a power of two, at most 1024.
    #[arg(long, default_value_t = 256)]
    vram_size: u64,
    /// Size of BAR0 in MiB: a power of two, at most 1024. Of a larger VRAM the CPU sees this much. Without it: as
    /// much as there is VRAM, but no more than the 256 MiB of real cards.
    #[arg(long)]
    bar_size: Option<u64>,
    /// What the firmware has done.
    #[arg(long, value_enum, default_value = "posted")]
    state: State,
    /// The expansion ROM: synthetic (what has left the card in its state), none, endless (synthetic, but its ASIC_Init
    /// does not end), hostile (synthetic, but its ASIC_Init also tries to reach the computer's memory), or a file with the
    /// dump of a real card's.
    #[arg(long, default_value = "synthetic")]
    rom: String,
}

/// The largest BAR0 of usual cards, in MiB.
const USUAL_BAR: u64 = 256;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum VramAccess {
    Mapped,
    Trapped,
}

/// Writes warnings to the standard error output.
struct Complaints;

impl log::Log for Complaints {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            eprintln!("gpu-model: {}", record.args());
        }
    }

    fn flush(&self) {}
}

static COMPLAINTS: Complaints = Complaints;

fn main() -> ExitCode {
    if log::set_logger(&COMPLAINTS).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("gpu-model: {e:#}");
            ExitCode::FAILURE
        }
    }
}

fn rom(which: &str, entry: &Entry, state: State, vram: u64) -> anyhow::Result<Vec<u8>> {
    let mut image = match which {
        "none" => return Ok(Vec::new()),
        "synthetic" if state == State::Careless => entry.careless_rom(vram),
        "synthetic" => entry.rom(vram),
        "endless" => entry.endless_rom(vram),
        "hostile" => entry.hostile_rom(vram),
        file => {
            let bytes = fs::read(file).with_context(|| format!("cannot read {file}"))?;
            dump::check(&bytes)
                .with_context(|| format!("{file} is no ROM for these chips"))?
                .to_vec()
        }
    };
    image.resize(image.len().next_power_of_two().max(2048), 0xff);
    Ok(image)
}

fn run(args: &Args) -> anyhow::Result<()> {
    let Some(entry) = Entry::by_name(&args.chip) else {
        let all: Vec<_> = CHIPS.iter().map(|e| e.name).collect();
        bail!("no chip {}; there are {}", args.chip, all.join(", "));
    };
    let bar_size = args.bar_size.unwrap_or(args.vram_size.min(USUAL_BAR));
    for (name, size) in [("vram", args.vram_size), ("bar", bar_size)] {
        if !size.is_power_of_two() || size > 1024 {
            bail!("--{name}-size {size}: a power of two up to 1024");
        }
    }
    let (vram, window) = (args.vram_size << 20, bar_size << 20);
    let rom = rom(&args.rom, entry, args.state, vram)?;
    let identity = entry.identity(window, rom.len() as u64);
    let mut machine = Machine::new(
        Vram::new(vram).context("no memory for VRAM")?,
        Config::new(&identity),
    );
    if let Some(path) = &args.trace {
        machine.trace =
            Trace::to_file(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut chip = entry.build(Options {
        vram,
        window,
        trapped: args.vram == VramAccess::Trapped,
        state: args.state,
    });
    chip.reset(&mut machine);
    if args.state == State::Careless {
        // Memory is as its last user left it.
        power::scramble(&mut machine);
    }
    let shared = Shared::new(System { chip, machine });
    let worker = shared
        .spawn()
        .context("no thread for the command processor")?;
    if let Some(path) = &args.control {
        control::listen(path, shared.clone())
            .with_context(|| format!("control socket {}", path.display()))?;
    }
    let result = Function::new(shared.clone(), identity, rom)
        .serve(&args.socket, args.vram == VramAccess::Mapped);
    drop(worker);
    let (left, touched) = shared.with(|s| {
        s.machine.trace.flush();
        (s.machine.judge.take(), s.chip.touched())
    });
    for t in touched.iter().filter(|t| t.missing) {
        eprintln!("gpu-model: unimplemented {t}");
    }
    if let Some(path) = &args.touched {
        let text = touched
            .iter()
            .fold(String::new(), |text, t| text + &t.to_string() + "\n");
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.report {
        let text = left
            .iter()
            .fold(String::new(), |text, f| text + &f.to_string() + "\n");
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    result
}
