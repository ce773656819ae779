// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What steps cost: seconds on the clock, and seconds of all processors together, which a busy host hardly changes.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::Path,
    process::{
        Command,
        ExitStatus, //
    },
    time::Duration, //
};

use anyhow::Context;
use wait4::Wait4;

/// Cost of one step, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// On the clock.
    pub wall: u64,
    /// Of all processors, for its processes and those that they have waited for.
    pub cpu: u64,
}

/// Run a command to its end; the time is that of all processors.
pub fn run(command: &mut Command) -> std::io::Result<(ExitStatus, Duration)> {
    let ended = command.spawn()?.wait4()?;
    Ok((ended.status, ended.rusage.utime + ended.rusage.stime))
}

/// Costs by the names of steps, as they are kept in a file from run to run: a line is name, clock, processors.
#[derive(Debug, Default)]
pub struct Times(BTreeMap<String, Cost>);

impl Times {
    /// Read what earlier runs have left; nothing if there is no such file.
    pub fn read(path: &Path) -> Self {
        Self::parse(&std::fs::read_to_string(path).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let cost = |line: &str| {
            let mut words = line.split('\t');
            let name = words.next()?.to_owned();
            let wall = words.next()?.parse().ok()?;
            let cpu = words.next()?.parse().ok()?;
            Some((name, Cost { wall, cpu }))
        };
        Self(text.lines().filter_map(cost).collect())
    }

    /// Replace what is known about a step.
    pub fn set(&mut self, name: &str, cost: Cost) {
        self.0.insert(name.to_owned(), cost);
    }

    /// Keep them for the next run.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        std::fs::write(path, self.text())
            .with_context(|| format!("cannot write {}", path.display()))
    }

    fn text(&self) -> String {
        self.0
            .iter()
            .fold(String::new(), |mut text, (name, Cost { wall, cpu })| {
                let _ = writeln!(text, "{name}\t{wall}\t{cpu}");
                text
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_steps_that_did_not_run_stay() {
        let mut times = Times::parse("a\t5\t7\nspoilt\nb\t1\t2\n");
        times.set("b", Cost { wall: 3, cpu: 4 });
        assert_eq!(times.text(), "a\t5\t7\nb\t3\t4\n");
    }

    #[test]
    fn processor_time_of_children_counts() {
        let script = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'; true";
        let (status, cpu) = run(Command::new("sh").args(["-c", script])).unwrap();
        assert!(status.success() && cpu > Duration::from_millis(1));
    }
}
