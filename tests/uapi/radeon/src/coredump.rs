// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A GPU that hangs leaves a dump: what the chip was doing, the ring, the commands of the guilty job, its objects.
//!
//! The dump goes to `/out` as well, where a step on the host has it decoded by name.

use crate::support::{self, PITCH, WIDTH, engine_works};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Domain, Stream, pm4};
use lapidary_harness::limit::Limit;
use lapidary_harness::trace::Tracing;
use lapidary_harness::{Context, Test, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const OURS: &str = "upstream's driver makes no dumps";
const CLASS: &str = "/sys/class/devcoredump";

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("coredump/of_a_hang", of_a_hang)
            .needs_control()
            .lapidary_only(OURS)
            .hangs(1),
        Test::new("coredump/the_first_hang_counts", first_counts)
            .needs_control()
            .lapidary_only(OURS)
            .hangs(2)
            .limit(90),
    ]
}

/// Return the path of the dump, if there is one.
fn find() -> Result<Option<PathBuf>> {
    let Ok(entries) = fs::read_dir(CLASS) else {
        return skip("this kernel keeps no dumps");
    };
    for entry in entries {
        let path = entry?.path();
        if path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("devcd"))
        {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Discard a dump.
fn discard() -> Result<()> {
    if let Some(path) = find()? {
        fs::write(path.join("data"), "1")?;
    }
    let mut limit = Limit::new(Duration::from_secs(5));
    while find()?.is_some() {
        limit.rest("a dump cannot be thrown away")?;
    }
    Ok(())
}

/// Wait for a dump and return its text.
fn fetch() -> Result<String> {
    let mut limit = Limit::new(Duration::from_secs(5));
    loop {
        if let Some(path) = find()? {
            let bytes = fs::read(path.join("data"))?;
            return Ok(String::from_utf8(bytes)?);
        }
        limit.rest("no dump")?;
    }
}

/// Hang the GPU in a job that fills with `colour`, and return its commands.
fn hang(context: &mut Context, colour: u32) -> Result<Stream> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    engine_works(&device)?;
    let mut work = painter().stream();
    painter().fill(
        &mut work,
        Area::new(&bo, PITCH),
        colour,
        Rect::new(0, 0, WIDTH, 16),
    );
    context.control()?.fault("hang", 1)?;
    device.submit(&work)?;
    bo.wait()?;
    context.control()?.clear_faults()?;
    Ok(work)
}

fn section<'t>(text: &'t str, name: &str) -> Result<&'t str> {
    let begin = text
        .find(&format!("\n[{name}]"))
        .with_context(|| format!("no section {name}"))?;
    let rest = &text[begin + 1..];
    let end = rest
        .find("\n[")
        .with_context(|| format!("{name} does not end"))?;
    Ok(&rest[..end])
}

fn of_a_hang(context: &mut Context) -> Result<()> {
    discard()?;
    let tracing = Tracing::on().ok();
    let colour = 0x5eed_c01e;
    let work = hang(context, colour)?;
    let text = fetch()?;
    if Path::new("/out").is_dir() {
        fs::write("/out/coredump", &text)?;
    }
    ensure!(
        text.starts_with(&format!(
            "lapidary coredump 1\ndriver {}\n",
            painter().module()
        )),
        "it begins with {:?}",
        text.lines().next()
    );
    ensure!(text.ends_with("\n[end]\n"), "it does not end");
    ensure!(text.contains("\nby client\n"), "whose job it was");
    for name in painter().registers() {
        ensure!(
            section(&text, "registers")?.contains(&format!("\n{name} 0x")),
            "no {name}"
        );
    }
    // The commands, but for the addresses that the driver has put in, each up to two dwords, and the padding behind them.
    let marker = pm4::packet3(pm4::NOP, 1);
    let addresses = work.words().iter().filter(|word| **word == marker).count();
    let ib = section(&text, "ib")?;
    let kept: Vec<u32> = ib
        .lines()
        .skip(1)
        .flat_map(str::split_whitespace)
        .map(|word| u32::from_str_radix(word, 16))
        .collect::<Result<_, _>>()?;
    ensure!(kept.contains(&colour), "the colour is not in the commands");
    let same = kept
        .iter()
        .zip(work.words())
        .filter(|(a, b)| a == b)
        .count();
    ensure!(
        kept.len() >= work.words().len() && same + 2 * addresses.max(2) >= work.words().len(),
        "{same} dwords of {} are the job's",
        work.words().len()
    );
    let objects = section(&text, "objects")?;
    ensure!(
        objects.lines().count() == 2 && objects.ends_with(&format!(" {} write", PITCH * 16)),
        "{objects}"
    );
    // The ring holds the job's packets.
    ensure!(
        section(&text, "ring")?.lines().count() > 4,
        "the ring is empty"
    );
    if let Some(tracing) = tracing {
        let lines = tracing.lines("lapidary_reset")?;
        ensure!(
            lines.len() == 1 && lines[0].starts_with("ring=0 job="),
            "{lines:?}"
        );
    }
    discard()?;
    engine_works(&context.device()?)
}

/// A later hang does not replace a dump that has not been read.
fn first_counts(context: &mut Context) -> Result<()> {
    discard()?;
    hang(context, 0x1111_1111)?;
    let first = fetch()?;
    hang(context, 0x2222_2222)?;
    std::thread::sleep(Duration::from_millis(300));
    ensure!(fetch()? == first, "the second hang replaced the first");
    ensure!(
        first.contains("11111111") && !first.contains("22222222"),
        "whose dump it is"
    );
    discard()?;
    engine_works(&context.device()?)
}
