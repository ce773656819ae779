// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `dialogue-compare`: the same programs on upstream's driver and on ours, and what they and the two kernels
//! said to each other.
//!
//! Each run's folder holds what a guest step leaves (`job` with its `test …` lines) and what the recorder
//! wrote in `dialogue/`. Every program must have passed on both drivers, have had the same dialogue up to
//! the listed differences, and have submitted the same words with the same objects; or it must have been skipped on
//! both. One table is printed; the exit status is 1 if a row is not as it must be.

mod accepted;
mod idle;
mod log;
mod streams;
mod verdicts;

use accepted::{Accepted, Side};
use anyhow::{Context, Result, ensure};
use clap::Parser;
use idle::Idle;
use lapidary_streams::{EXTENSION, Recording, read_dir};
use log::Log;
use similar::TextDiff;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use verdicts::Verdicts;

/// Compares two recorded runs of the same programs.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What the guest with upstream's driver left.
    #[arg(long)]
    upstream: PathBuf,
    /// What the guest with our driver left.
    #[arg(long)]
    ours: PathBuf,
    /// The list of known differences.
    #[arg(long)]
    accepted: PathBuf,
    /// Copies the streams that upstream's driver admitted here.
    #[arg(long)]
    streams: Option<PathBuf>,
}

/// One guest's run.
struct Run {
    logs: BTreeMap<String, Log>,
    streams: Vec<Recording>,
    verdicts: Verdicts,
}

impl Run {
    fn read(folder: &Path) -> Result<Run> {
        let dialogue = folder.join("dialogue");
        let mut logs = BTreeMap::new();
        let entries =
            std::fs::read_dir(&dialogue).with_context(|| dialogue.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "dialogue") {
                let program = path.file_stem().unwrap_or_default().to_string_lossy();
                logs.insert(program.into_owned(), Log::read(&path)?);
            }
        }
        ensure!(!logs.is_empty(), "{}: no dialogues", dialogue.display());
        Ok(Run {
            logs,
            streams: read_dir(&dialogue)?,
            verdicts: Verdicts::read(&folder.join("job"))?,
        })
    }
}

/// What is wrong with a program's two runs, one complaint a line; and how they ended.
struct Row {
    upstream: String,
    ours: String,
    submissions: String,
    complaints: Vec<String>,
}

/// What of the list of known differences was met.
struct Met {
    /// Differences of calls.
    differences: BTreeSet<usize>,
    /// Words of each idle register that were not compared.
    idle: Vec<usize>,
}

fn compare(
    program: &str,
    [upstream, ours]: [&Run; 2],
    accepted: &Accepted,
    met: &mut Met,
) -> Result<Row> {
    let mut complaints = Vec::new();
    let verdict = |run: &Run| run.verdicts.of(program);
    let verdicts = [verdict(upstream), verdict(ours)];
    let mut submissions = "–".to_owned();
    let exact = accepted.is_exact(program);
    match (upstream.logs.get(program), ours.logs.get(program)) {
        (Some(a), Some(b)) => {
            let (mut theirs, mut own) = (a.lines(exact), b.lines(exact));
            accepted.apply(Side::Upstream, &mut theirs, &mut met.differences);
            accepted.apply(Side::Ours, &mut own, &mut met.differences);
            log::without_luck(&mut theirs, &mut own);
            if theirs != own {
                complaints.push("the dialogue differs (- upstream, + ours):".into());
                complaints.extend(diff(&theirs, &own));
            }
            submissions = format!("{}", b.admitted());
            for (log, driver) in [(a, "upstream"), (b, "ours")] {
                if log.refused() > 0 {
                    complaints.push(format!("{} submissions refused by {driver}", log.refused()));
                }
            }
            if a.admitted() != b.admitted() {
                submissions = format!("{}/{}", a.admitted(), b.admitted());
            }
        }
        (a, _) => complaints.push(format!(
            "recorded on {} driver only",
            if a.is_some() { "upstream's" } else { "our" }
        )),
    }
    let mut idle = Idle::new(&accepted.idle)?;
    complaints.extend(streams::difference(
        &streams::of_program(&upstream.streams, program),
        &streams::of_program(&ours.streams, program),
        exact,
        &mut idle,
    ));
    for (all, left_out) in met.idle.iter_mut().zip(idle.left_out) {
        *all += left_out;
    }
    let [upstream, ours] = verdicts;
    for (verdict, driver) in [(&upstream, "upstream"), (&ours, "ours")] {
        if let Err(reason) = verdict {
            complaints.push(format!("{driver}: {reason}"));
        }
    }
    let short = |verdict: &Result<String, String>| match verdict {
        Ok(text) => text.clone(),
        Err(_) => "FAILED".into(),
    };
    Ok(Row {
        upstream: short(&upstream),
        ours: short(&ours),
        submissions,
        complaints,
    })
}

fn diff(a: &[String], b: &[String]) -> Vec<String> {
    let (a, b) = (a.join("\n") + "\n", b.join("\n") + "\n");
    let diff = TextDiff::from_lines(&a, &b);
    let unified = diff.unified_diff().context_radius(1).to_string();
    unified.lines().map(|line| format!("  {line}")).collect()
}

fn run(arguments: &Arguments) -> Result<bool> {
    let accepted = Accepted::read(&arguments.accepted)?;
    let upstream = Run::read(&arguments.upstream).context("upstream's run")?;
    let ours = Run::read(&arguments.ours).context("our run")?;
    let programs: BTreeSet<&String> = upstream.logs.keys().chain(ours.logs.keys()).collect();
    let mut met = Met {
        differences: BTreeSet::new(),
        idle: vec![0; accepted.idle.len()],
    };
    let mut complaints = Vec::new();
    println!(
        "{:<34} {:<9} {:<9} {:>11}  dialogue",
        "program", "upstream", "ours", "submissions"
    );
    for program in &programs {
        let row = compare(program, [&upstream, &ours], &accepted, &mut met)?;
        let verdict = if row.complaints.is_empty() {
            "same"
        } else {
            "DIFFERS"
        };
        println!(
            "{program:<34} {:<9} {:<9} {:>11}  {verdict}",
            row.upstream, row.ours, row.submissions
        );
        let said = row.complaints.iter();
        complaints.extend(said.map(|complaint| format!("{program}: {complaint}")));
    }
    let skipped = [&upstream, &ours].map(|run| run.verdicts.skipped());
    for (program, reason) in &skipped[1] {
        println!("{program:<34} skipped   skipped   {:>11}  {reason}", "–");
    }
    if skipped[0] != skipped[1] {
        complaints.push(format!(
            "skipped on upstream's driver: {:?}, on ours: {:?}",
            skipped[0], skipped[1]
        ));
    }
    let lost = [&upstream, &ours].map(|run| run.verdicts.without(&programs));
    for (lost, driver) in lost.iter().zip(["upstream", "ours"]) {
        for program in lost {
            complaints.push(format!("{program}: nothing recorded on {driver}"));
        }
    }
    for (i, difference) in accepted.difference.iter().enumerate() {
        if met.differences.contains(&i) {
            println!("known difference {}: {}", i + 1, difference.reason);
        } else {
            complaints.push(format!(
                "known difference {} was not met: {}",
                i + 1,
                difference.ours
            ));
        }
    }
    for (idle, &words) in accepted.idle.iter().zip(&met.idle) {
        let (register, switch) = (&idle.register, &idle.switch);
        if words > 0 {
            println!(
                "{register} while {switch} is 0, {words} words: {}",
                idle.reason
            );
        } else {
            complaints.push(format!("{register} has no other value while {switch} is 0"));
        }
    }
    println!(
        "{} programs, {} streams",
        programs.len(),
        upstream.streams.len()
    );
    if let Some(folder) = &arguments.streams {
        leave(folder, &upstream.streams)?;
    }
    // Last, so that they are in the end of a log, which may be all that a reader sees.
    for complaint in &complaints {
        println!("{complaint}");
    }
    Ok(complaints.is_empty())
}

/// Leave the streams in a folder that then holds nothing else.
fn leave(folder: &Path, streams: &[Recording]) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for recording in streams {
        let file = folder.join(format!("{}.{EXTENSION}", recording.name));
        std::fs::write(&file, recording.stream.to_string())
            .with_context(|| file.display().to_string())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("dialogue-compare: {error:#}");
            ExitCode::from(2)
        }
    }
}
