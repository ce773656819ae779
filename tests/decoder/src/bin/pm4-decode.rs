// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `pm4-decode`: prints a command stream or a shader from a file, or a core dump of the driver.

use std::fmt::Display;
use std::fs;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use lapidary_decoder::dump::{Dump, MAGIC};
use lapidary_decoder::input::{self, Format};
use lapidary_decoder::{Options, Ring, decode_engine, decode_stream, isa, regulator};
use lapidary_registers::{DATABASES, Database, Engine};

/// Prints a PM4 command stream, one line a dword, by name; or a core dump of the driver
/// (`/sys/class/devcoredump/*/data`): registers, ring, the commands and objects of the job that hung; or a shader.
///
/// What does not fit is marked with "!!"; the exit status is 1 then.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The stream; `-` is standard input.
    file: PathBuf,

    /// Whose stream it is: the name of a driver, or of a register map where chips of one driver differ (r600, r700).
    /// Default: what a core dump says itself, else r500.
    #[arg(long)]
    family: Option<String>,

    /// Which engine's stream it is, by its name in the family's database. Default: the command processor's.
    #[arg(long)]
    engine: Option<String>,

    /// The file is a program of shaders, whose control flow begins at that slot of 64 bits; default: at the first.
    #[arg(long, value_parser = number, value_name = "SLOT", num_args = 0..=1, require_equals = true,
          default_missing_value = "0", conflicts_with_all = ["engine", "base", "ring"])]
    shader: Option<u64>,

    /// How the file holds dwords.
    #[arg(long, value_enum, default_value_t = Kind::Auto)]
    format: Kind,

    /// Address of the first dword.
    #[arg(long, value_parser = number, default_value = "0")]
    base: u64,

    /// The file is a whole ring, of which the dwords from index READ up to WRITE are valid, round the end if need be.
    #[arg(long, value_parser = ring, value_name = "READ:WRITE")]
    ring: Option<Ring>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A recording if it is one, text if it can be read as hexadecimal numbers, else raw.
    Auto,
    /// Little-endian dwords.
    Raw,
    /// Text.
    Hex,
    /// A recorded submission.
    Recording,
}

fn number(text: &str) -> Result<u64> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.with_context(|| format!("`{text}` is not a number"))
}

fn ring(text: &str) -> Result<Ring> {
    let (read, write) = text
        .split_once(':')
        .context("wanted READ:WRITE, in dwords")?;
    Ok(Ring {
        read: usize::try_from(number(read)?)?,
        write: usize::try_from(number(write)?)?,
    })
}

fn read(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        io::stdin()
            .read_to_end(&mut bytes)
            .context("standard input")?;
    } else {
        bytes = fs::read(file).with_context(|| file.display().to_string())?;
    }
    Ok(bytes)
}

fn database(family: &str) -> Result<&'static Database> {
    lapidary_registers::database(family).with_context(|| {
        let all: Vec<_> = DATABASES.iter().map(|d| d.name).collect();
        format!("no family {family}; there are {}", all.join(", "))
    })
}

fn engine(database: &'static Database, name: &str) -> Result<&'static Engine> {
    database.engine(name).with_context(|| {
        let all: Vec<_> = database.engines.iter().map(|e| e.name).collect();
        let all = if all.is_empty() {
            "none".to_owned()
        } else {
            all.join(", ")
        };
        format!("no engine {name} of {}; there are {all}", database.name)
    })
}

/// Print lines; true if none of them is `bad`.
fn print<T: Display>(lines: impl Iterator<Item = T>, bad: impl Fn(&T) -> bool) -> Result<bool> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut good = true;
    for line in lines {
        good &= !bad(&line);
        match writeln!(out, "{line}") {
            // The reader has closed the pipe.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(good),
            result => result?,
        }
    }
    out.flush()?;
    Ok(good)
}

/// Print a shader; true if everything fitted.
fn print_shader(database: &'static Database, words: &[u32], start: u64) -> Result<bool> {
    if start >= words.len() as u64 / 2 {
        bail!(
            "slot {start} is not in the program, which has {}",
            words.len() / 2
        );
    }
    let lines = isa::disassemble(database, words, usize::try_from(start)?)
        .with_context(|| format!("the shaders of {} are not described", database.name))?;
    print(lines, |line| !line.notes.is_empty())
}

/// Print a core dump by the names of `family`, else of the driver that made it; true if everything fitted.
fn print_dump(bytes: &[u8], family: Option<&str>) -> Result<bool> {
    let dump = Dump::parse(std::str::from_utf8(bytes).context("not a text")?)?;
    let family = family.or_else(|| dump.driver()).context("no driver")?;
    let lines = dump.lines(database(family)?);
    print(lines.into_iter(), |line| line.contains(" !! "))
}

/// Print; true if everything fitted.
fn run(arguments: &Arguments) -> Result<bool> {
    let bytes = read(&arguments.file)?;
    if arguments.format == Kind::Auto && bytes.starts_with(MAGIC.as_bytes()) {
        if arguments.engine.is_some() {
            bail!("--engine is for streams; a core dump has those of the command processor");
        }
        if arguments.shader.is_some() {
            bail!("--shader is for programs; a core dump has none");
        }
        return print_dump(&bytes, arguments.family.as_deref())
            .with_context(|| arguments.file.display().to_string());
    }
    let format = match arguments.format {
        Kind::Auto => Format::guess(&bytes),
        Kind::Raw => Format::Raw,
        Kind::Hex => Format::Hex,
        Kind::Recording => Format::Recording,
    };
    let words =
        input::dwords(&bytes, format).with_context(|| arguments.file.display().to_string())?;
    if words.is_empty() {
        bail!("{}: no dwords", arguments.file.display());
    }
    let database = database(arguments.family.as_deref().unwrap_or("r500"))?;
    if let Some(start) = arguments.shader {
        return print_shader(database, &words, start);
    }
    let options = Options {
        base: arguments.base,
        ring: arguments.ring,
    };
    if database.family == "chrome9" {
        if arguments.engine.is_some() || arguments.ring.is_some() {
            bail!(
                "streams of {} are decoded from a header on, whole",
                database.name
            );
        }
        let lines = regulator::decode(&words, arguments.base);
        return print(lines, |line| line.note.is_some());
    }
    let lines = match &arguments.engine {
        Some(name) => decode_engine(database, engine(database, name)?, &words, options),
        None => decode_stream(database, &words, options),
    };
    print(lines, |line| line.note.is_some())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("pm4-decode: {error:#}");
            ExitCode::from(2)
        }
    }
}
