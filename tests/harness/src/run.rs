// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Running tests one after another, each in a process of its own, and judging them.

use super::compare::{
    compare_findings, compare_records, count_findings, count_records, declared, describe, is_fault,
    remember,
};
use super::patience;
use super::test::{Driver, Mark, Test};
use crate::control::{Control, Finding};
use crate::kmsg::{Kmsg, Record, WARNING};
use crate::limit::Limit;
use anyhow::{Context as _, Result};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// Environment variable with the descriptor of the control port, for a test's process.
pub const CONTROL_FD: &str = "LAPIDARY_CONTROL_FD";
/// Environment variable with a test's name, for its process and what is preloaded there.
const TEST: &str = "LAPIDARY_TEST";
/// Exit status of a test's process that found it cannot run here.
pub const SKIPPED: i32 = 77;
/// How long after a test its declared findings and records may still come.
const GRACE: Duration = Duration::from_secs(3);

enum Verdict {
    Passed,
    Failed(String),
    Differs { because: &'static str, seen: String },
    LeftOut(&'static str),
    Skipped(String),
}

/// What a test left.
struct Remains {
    /// Its own failure, if it was not content.
    failure: Option<String>,
    /// What the judge and the kernel say beyond what was declared.
    undeclared: Vec<String>,
    /// What was declared and did not come.
    missing: Vec<String>,
    /// What the judge found, as declared or not.
    findings: Vec<Finding>,
}

/// The runner of tests.
pub struct Harness {
    control: Option<Control>,
    kmsg: Option<Kmsg>,
    driver: Driver,
    unmarked: bool,
    stop: bool,
}

impl Harness {
    /// Make a harness for the driver under test, if there is a device. `unmarked` makes it blind to known differences,
    /// and `stop` ends a run with the first failure.
    pub fn new(driver: Option<Driver>, unmarked: bool, stop: bool) -> Result<Harness> {
        let control = Control::find()?;
        // Without a device the log is none of our business.
        let kmsg = driver.map(|_| Kmsg::open_at_end()).transpose()?;
        let driver = driver.unwrap_or(Driver::Lapidary);
        Ok(Harness {
            control,
            kmsg,
            driver,
            unmarked,
            stop,
        })
    }

    /// Run all of them; how many failed.
    pub fn run(&mut self, tests: Vec<Test>) -> Result<usize> {
        let (mut passed, mut failed, mut skipped, mut differ, mut out) = (0, 0, 0, 0, 0);
        if let Some(control) = &mut self.control {
            let early = control.findings()?;
            if !early.is_empty() {
                println!("test before_the_tests ... FAILED: {}", describe(&early));
                failed += 1;
            }
        }
        for test in tests {
            if self.stop && failed > 0 {
                break;
            }
            print!("test {} ... ", test.name);
            std::io::stdout().flush()?;
            match self.judge(&test)? {
                (Verdict::Passed, findings) => {
                    println!("ok{}", provoked(&findings));
                    passed += 1;
                }
                (Verdict::Failed(reason), _) => {
                    println!("FAILED: {reason}");
                    failed += 1;
                }
                (Verdict::Differs { because, seen }, findings) => {
                    println!("differs: {because} ({seen}){}", provoked(&findings));
                    differ += 1;
                }
                (Verdict::LeftOut(because), _) => {
                    println!("left out: {because}");
                    out += 1;
                }
                (Verdict::Skipped(reason), _) => {
                    println!("skipped: {reason}");
                    skipped += 1;
                }
            }
        }
        let mut line = format!("{passed} passed, {failed} failed, {skipped} skipped");
        for (count, what) in [(differ, "differ"), (out, "left out")] {
            if count > 0 {
                line += &format!(", {count} {what}");
            }
        }
        println!("{line}");
        Ok(failed)
    }

    fn judge(&mut self, test: &Test) -> Result<(Verdict, Vec<Finding>)> {
        if test.control && self.control.is_none() {
            let verdict = Verdict::Skipped("needs the device model".into());
            return Ok((verdict, Vec::new()));
        }
        let mark = test.marked(self.driver).filter(|_| !self.unmarked);
        if let Some(Mark::LeftOut { because }) = mark {
            return Ok((Verdict::LeftOut(because), Vec::new()));
        }
        if let Some(kmsg) = &mut self.kmsg {
            // Records from between the tests are not this test's; the look at the whole log sees them.
            kmsg.read()?;
        }
        let (status, output) = self.execute(test)?;
        let failure = match status {
            None => Some(format!(
                "no end after {} s; {}",
                (test.limit * patience()).as_secs(),
                one_line(&output)
            )),
            Some(status) if status.success() => None,
            Some(status) if status.code() == Some(SKIPPED) => {
                return Ok((Verdict::Skipped(one_line(&output)), Vec::new()));
            }
            Some(status) => Some(match status.signal() {
                Some(signal) => format!("killed by signal {signal} {}", one_line(&output)),
                None => one_line(&output),
            }),
        };
        let mut remains = self.aftermath(test, status.is_none())?;
        remains.failure = failure;
        let findings = std::mem::take(&mut remains.findings);
        Ok((verdict(remains, mark), findings))
    }

    /// Run the test's process; `None` if it had to be killed. Its output, all of it, is the reason it gives.
    fn execute(&mut self, test: &Test) -> Result<(Option<ExitStatus>, String)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["--child", test.name])
            .env(TEST, test.name)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        if let Some(control) = &self.control {
            fcntl_setfd(control, FdFlags::empty())
                .context("keeping the control port open for tests")?;
            command.env(CONTROL_FD, control.file().as_raw_fd().to_string());
        }
        let mut process = command.spawn().context("starting a test's process")?;
        drop(command);
        let mut limit = Limit::new(test.limit * patience());
        let mut output = Vec::new();
        let status = loop {
            drain(&reader, &mut output);
            if let Some(status) = process.try_wait()? {
                break Some(status);
            }
            if !limit.pause() {
                let place = whereabouts(process.id()).unwrap_or_default();
                output.extend_from_slice(place.as_bytes());
                break None;
            }
        };
        // The test's whole process group, so that nothing it forked lives on.
        // SAFETY: plain system call; the group was made for this test.
        unsafe { libc::kill(-(process.id() as i32), libc::SIGKILL) };
        if status.is_none() {
            let mut limit = Limit::new(Duration::from_secs(5));
            while process.try_wait()?.is_none() && limit.pause() {}
        }
        drain(&reader, &mut output);
        Ok((status, String::from_utf8_lossy(&output).into_owned()))
    }

    /// Take findings and log records and compare them with the declarations.
    fn aftermath(&mut self, test: &Test, interrupted: bool) -> Result<Remains> {
        let mut findings = Vec::new();
        let mut records: Vec<Record> = Vec::new();
        let mut limit = Limit::new(GRACE * patience());
        if let Some(control) = &mut self.control {
            if interrupted {
                control.resynchronise()?;
            }
            control.clear_faults()?;
            control.request("objects clear")?;
        }
        loop {
            if let Some(control) = &mut self.control {
                control.clear_faults()?;
                findings.extend(control.findings()?);
            }
            if let Some(kmsg) = &mut self.kmsg {
                records.extend(
                    kmsg.read()?
                        .into_iter()
                        .filter(|record| record.level <= WARNING),
                );
            }
            let outstanding = test
                .findings
                .iter()
                .any(|&(kind, count)| count_findings(&findings, kind) < count)
                || test
                    .kernel
                    .iter()
                    .any(|&(text, count)| count_records(&records, text) < count);
            if !outstanding || !limit.pause() {
                break;
            }
        }
        let grumble = |record: &Record| test.grumbles.iter().any(|text| record.text.contains(text));
        remember(records.iter().filter(|record| grumble(record)))?;
        records.retain(|record| !grumble(record));
        let mut remains = Remains {
            failure: None,
            undeclared: Vec::new(),
            missing: Vec::new(),
            findings: Vec::new(),
        };
        if self.control.is_some() {
            let (undeclared, missing) = compare_findings(&findings, &test.findings);
            remains.undeclared.extend(undeclared);
            remains.missing.extend(missing);
        }
        if self.kmsg.is_some() && self.driver == Driver::Upstream {
            remember(records.iter().filter(|record| !is_fault(record)))?;
            records.retain(is_fault);
            remains.undeclared.extend(compare_records(&records, &[]).0);
        } else if self.kmsg.is_some() {
            remember(declared(&records, &test.kernel))?;
            let (undeclared, missing) = compare_records(&records, &test.kernel);
            remains.undeclared.extend(undeclared);
            remains.missing.extend(missing);
        }
        remains.findings = findings;
        Ok(remains)
    }
}

/// Return what a test's remains come to, with what is known of this driver.
fn verdict(remains: Remains, mark: Option<Mark>) -> Verdict {
    let Some(Mark::Differs { answer, because }) = mark else {
        let complaints: Vec<String> = remains
            .failure
            .into_iter()
            .chain(remains.undeclared)
            .chain(remains.missing)
            .collect();
        return if complaints.is_empty() {
            Verdict::Passed
        } else {
            Verdict::Failed(complaints.join("; "))
        };
    };
    match remains.failure {
        // What the test would have provoked further on need not have come.
        Some(seen) if seen.contains(answer) && remains.undeclared.is_empty() => {
            Verdict::Differs { because, seen }
        }
        Some(seen) => {
            let mut complaints = vec![seen];
            complaints.extend(remains.undeclared);
            Verdict::Failed(format!(
                "known to differ ({because}), but not so: {}",
                complaints.join("; ")
            ))
        }
        None => Verdict::Failed(format!(
            "passes, although it was known to differ: {because}"
        )),
    }
}

/// Return what a test's line says of its findings.
fn provoked(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let list: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} × {}", finding.kind, finding.count))
        .collect();
    format!(", findings: {}", list.join(" "))
}

fn drain(reader: &OwnedFd, output: &mut Vec<u8>) {
    let mut buffer = [0u8; 4096];
    while let Ok(n) = rustix::io::read(reader, &mut buffer) {
        if n == 0 {
            break;
        }
        output.extend_from_slice(&buffer[..n]);
    }
}

/// Return what the processes of a group are doing: state and kernel stack of each, a line each.
fn whereabouts(group: u32) -> Result<String> {
    let mut text = String::new();
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        let Ok(stat) = std::fs::read_to_string(path.join("stat")) else {
            continue;
        };
        // `PID (NAME) STATE PARENT GROUP …`, where the name may have anything in it.
        let mut fields = stat.rsplit(") ").next().unwrap_or("").split(' ');
        let state = fields.next().unwrap_or("");
        if fields.nth(1) != Some(&group.to_string()) {
            continue;
        }
        let stack = std::fs::read_to_string(path.join("stack")).unwrap_or_default();
        let places: Vec<&str> = stack
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1)?.split('+').next())
            .collect();
        let places = places.join(" < ");
        text += &format!("\n{}: {state} {places}", path.display());
    }
    Ok(text)
}

fn one_line(text: &str) -> String {
    let text = text.trim().replace('\n', " | ");
    if text.is_empty() {
        "no reason given".into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFFERS: Mark = Mark::Differs {
        answer: "got NOSYS",
        because: "it has no such call",
    };

    fn judged(failure: Option<&str>, undeclared: &[&str], mark: Option<Mark>) -> String {
        let remains = Remains {
            failure: failure.map(str::to_owned),
            undeclared: undeclared.iter().map(|&text| text.to_owned()).collect(),
            missing: Vec::new(),
            findings: Vec::new(),
        };
        match verdict(remains, mark) {
            Verdict::Passed => "ok".into(),
            Verdict::Failed(reason) => format!("FAILED {reason}"),
            Verdict::Differs { because, seen } => format!("{because} ({seen})"),
            Verdict::LeftOut(because) => because.into(),
            Verdict::Skipped(reason) => reason,
        }
    }

    #[test]
    fn differences_must_be_the_known_ones() {
        assert_eq!(judged(None, &[], None), "ok");
        assert_eq!(
            judged(Some("x"), &["finding y"], None),
            "FAILED x; finding y"
        );
        let call = Some("the call: got NOSYS");
        assert_eq!(
            judged(call, &[], Some(DIFFERS)),
            "it has no such call (the call: got NOSYS)"
        );
        assert!(judged(call, &["finding y"], Some(DIFFERS)).starts_with("FAILED"));
        assert!(judged(Some("got IO"), &[], Some(DIFFERS)).starts_with("FAILED"));
        // No stale excuses.
        assert!(judged(None, &[], Some(DIFFERS)).starts_with("FAILED passes"));
    }
}
