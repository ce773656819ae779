// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Serves one modelled GPU to QEMU over vfio-user, until QEMU goes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Error, bail};
use clap::Parser;
use lapidary_model::chip::{Fuses, Options, State};
use lapidary_model::control;
use lapidary_model::family::{self, Entry};
use lapidary_model::machine::Machine;
use lapidary_model::memory::Vram;
use lapidary_model::pci::Facts;
use lapidary_model::power;
use lapidary_model::run::{Shared, System};
use lapidary_model::server::{self, Function};
use lapidary_model::trace::Trace;
use lapidary_model_programs::FAMILIES;

/// A functional model of a GPU, for QEMU's vfio-user-pci.
#[derive(Parser)]
#[command(name = "gpu-model")]
struct Args {
    /// Which chip.
    #[arg(long, default_value = "rv515")]
    chip: String,
    /// The vfio-user socket; must not exist yet. Further functions of a card are at SOCKET.1 and so on.
    #[arg(long)]
    socket: PathBuf,
    /// A socket for tests that ask and set; must not exist yet.
    #[arg(long)]
    control: Option<PathBuf>,
    /// Writes every register access, packet and interrupt here.
    #[arg(long)]
    trace: Option<PathBuf>,
    /// Findings that no test took are written here at exit.
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
    #[arg(long, value_parser = State::by_name, default_value = "posted")]
    state: State,
    /// Which of the chip's pipes, SIMDs and render backends work: whole, half, or nothing. R6xx and R7xx have such fuses.
    #[arg(long, value_parser = Fuses::by_name, default_value = "whole")]
    fuses: Fuses,
    /// The expansion ROM: synthetic (what has left the card in its state), none, endless (synthetic, but its ASIC_Init
    /// does not end), short (synthetic, but without its second half), hostile (synthetic, but its ASIC_Init also tries to reach the computer's memory), or a file with
    /// the dump of a real card's.
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

/// Return the ROM that the command line asks for, filled up to a power of two; empty for none.
fn rom(which: &str, entry: &dyn Entry, options: Options) -> anyhow::Result<Vec<u8>> {
    if which == "none" {
        return Ok(Vec::new());
    }
    let (which, cut) = match which {
        "short" => ("synthetic", true),
        _ => (which, false),
    };
    let mut image = match entry.image(which, options) {
        Some(image) => image,
        None if which == "synthetic" => return Ok(Vec::new()),
        None => {
            let bytes = fs::read(which).with_context(|| format!("cannot read {which}"))?;
            entry
                .dump(&bytes)
                .map_err(Error::msg)
                .with_context(|| format!("{which} is no ROM for these chips"))?
                .to_vec()
        }
    };
    if cut {
        image.truncate(image.len() / 2);
    }
    image.resize(image.len().next_power_of_two().max(2048), 0xff);
    Ok(image)
}

/// Serve the first function at the socket, and the others each at one whose name ends in its number; until QEMU leaves
/// the first.
fn serve(
    shared: &Arc<Shared>,
    functions: Vec<Facts>,
    socket: &Path,
    mapped: bool,
) -> anyhow::Result<()> {
    let mut functions = functions.into_iter().enumerate();
    let (_, first) = functions.next().context("a chip without functions")?;
    for (number, facts) in functions {
        let function = Function::new(shared.clone(), number, facts);
        let function = function.bind(&server::socket(socket, number), mapped)?;
        thread::Builder::new()
            .name(format!("function-{number}"))
            .spawn(move || {
                if let Err(e) = function.serve() {
                    log::warn!("function {number}: {e:#}");
                }
            })
            .context("no thread for a function")?;
    }
    let first = Function::new(shared.clone(), 0, first);
    first.bind(&server::socket(socket, 0), mapped)?.serve()
}

fn run(args: &Args) -> anyhow::Result<()> {
    let (_, entry) = family::find(FAMILIES, &args.chip).map_err(Error::msg)?;
    let bar_size = args.bar_size.unwrap_or(args.vram_size.min(USUAL_BAR));
    for (name, size) in [("vram", args.vram_size), ("bar", bar_size)] {
        if !size.is_power_of_two() || size > 1024 {
            bail!("--{name}-size {size}: a power of two up to 1024");
        }
    }
    let (vram, window) = (args.vram_size << 20, bar_size << 20);
    let options = Options {
        vram,
        window,
        trapped: args.vram == VramAccess::Trapped,
        state: args.state,
        fuses: args.fuses,
    };
    if options.fuses != Fuses::Whole && !entry.has_fuses() {
        bail!("{} has no fuses for its units", args.chip);
    }
    let rom = rom(&args.rom, entry, options)?;
    let functions = entry.functions(options, rom);
    let memory = Vram::new(entry.memory(options)).context("no memory for VRAM")?;
    let mut machine = Machine::new(memory, &functions);
    if let Some(path) = &args.trace {
        machine.trace =
            Trace::to_file(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut chip = entry.build(options);
    chip.reset(&mut machine);
    if options.state == State::Careless {
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
    let result = serve(&shared, functions, &args.socket, !options.trapped);
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
