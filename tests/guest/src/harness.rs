// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The harness of the guest's test programs.
//!
//! Every test runs in a process of its own with a time limit, so that a hang or a signal fails one
//! test and not the run. Around each test the harness takes what the device model's judge found and
//! what the kernel logged as a warning or worse; the test must have declared exactly that. Output,
//! one line a test, is `test NAME ... ok`, `… FAILED: reason` or `… skipped: reason`, and last
//! `N passed, N failed, N skipped`.
//!
//! Upstream's driver logs every call it refuses; on it only records that show a fault of the kernel
//! itself count.
//!
//! Log records that a test declared are appended, as their text, to `/run/declared-kmsg`: whoever
//! looks at the whole log later knows them from it.

use crate::control::{Control, Finding};
use crate::device::Device;
use crate::kmsg::{Kmsg, Record, WARNING};
use crate::sysfs::PciDevice;
use anyhow::{Context as _, Result, bail};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// File that collects the texts of declared log records.
pub const DECLARED_KMSG: &str = "/run/declared-kmsg";
/// Environment variable with the descriptor of the control port, for a test's process.
const CONTROL_FD: &str = "LAPIDARY_CONTROL_FD";
/// Exit status of a test's process that found it cannot run here.
const SKIPPED: i32 = 77;
/// What the log says when the kernel itself is at fault.
const KERNEL_FAULTS: [&str; 6] = [
    "BUG:",
    "WARNING:",
    "Oops",
    "UBSAN",
    "general protection",
    "Call Trace",
];
/// Undeclared records that a complaint names; the rest are counted.
const SHOWN: usize = 4;
/// How long after a test its declared findings and records may still come.
const GRACE: Duration = Duration::from_secs(3);

/// A test and what it declares.
pub struct Test {
    name: &'static str,
    body: fn(&mut Context) -> Result<()>,
    findings: Vec<(&'static str, u64)>,
    kernel: Vec<(&'static str, u64)>,
    control: bool,
    lapidary: Option<&'static str>,
    limit: Duration,
}

impl Test {
    /// A test that provokes nothing and may take 20 seconds.
    pub fn new(name: &'static str, body: fn(&mut Context) -> Result<()>) -> Test {
        Test {
            name,
            body,
            findings: Vec::new(),
            kernel: Vec::new(),
            control: false,
            lapidary: None,
            limit: Duration::from_secs(20),
        }
    }

    /// The test makes the judge find `kind` exactly `count` times.
    pub fn finding(mut self, kind: &'static str, count: u64) -> Test {
        self.findings.push((kind, count));
        self.needs_control()
    }

    /// The test makes the kernel log exactly `count` records of level warning or worse that contain
    /// `text`.
    pub fn kernel(mut self, text: &'static str, count: u64) -> Test {
        self.kernel.push((text, count));
        self
    }

    /// The test talks to the device model and is skipped on real hardware.
    pub fn needs_control(mut self) -> Test {
        self.control = true;
        self
    }

    /// The test expects something that only our driver promises; upstream's is known to do
    /// otherwise, for the reason given.
    pub fn lapidary_only(mut self, because: &'static str) -> Test {
        self.lapidary = Some(because);
        self
    }

    /// Another time limit.
    pub fn limit(mut self, seconds: u64) -> Test {
        self.limit = Duration::from_secs(seconds);
        self
    }
}

/// What a test works with.
pub struct Context {
    control: Option<Control>,
}

/// True if the device is bound to upstream's driver instead of ours.
pub fn on_upstream(device: &Device) -> bool {
    PciDevice::of(device).is_ok_and(|pci| pci.driver().as_deref() == Some("radeon"))
}

impl Context {
    /// A client of the device.
    pub fn device(&self) -> Result<Rc<Device>> {
        Device::open_within(Duration::from_secs(5))
    }

    /// The device model's control port.
    pub fn control(&mut self) -> Result<&mut Control> {
        self.control
            .as_mut()
            .context("this test should have declared that it needs the control port")
    }

    /// The control port where there is one.
    pub fn control_if_any(&mut self) -> Option<&mut Control> {
        self.control.as_mut()
    }
}

/// The error of a test that cannot run here.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Skip(pub String);

/// Leaves a test as skipped.
pub fn skip<T>(reason: impl Into<String>) -> Result<T> {
    Err(Skip(reason.into()).into())
}

/// Checks that a call was refused with exactly this error.
pub fn refused<T: std::fmt::Debug>(
    what: &str,
    result: Result<T, Errno>,
    with: Errno,
) -> Result<()> {
    match result {
        Err(error) if error == with => Ok(()),
        Err(error) => bail!("{what}: expected {with:?}, got {error:?}"),
        Ok(value) => bail!("{what}: expected {with:?}, but it was accepted ({value:?})"),
    }
}

/// A test program's `main`.
pub fn main(tests: Vec<Test>) -> ExitCode {
    let mut seen = std::collections::BTreeSet::new();
    for test in &tests {
        assert!(seen.insert(test.name), "two tests are called {}", test.name);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = &arguments[..] {
        if flag == "--child" {
            return child(tests, name);
        }
    }
    if arguments.iter().any(|argument| argument == "--list") {
        for test in &tests {
            println!("{}", test.name);
        }
        return ExitCode::SUCCESS;
    }
    if let Some(flag) = arguments.iter().find(|argument| argument.starts_with('-')) {
        eprintln!(
            "unknown option {flag}; usage: [--list] [WORD...] (tests whose name contains a word)"
        );
        return ExitCode::from(2);
    }
    let chosen = tests.into_iter().filter(|test| {
        arguments.is_empty() || arguments.iter().any(|word| test.name.contains(word))
    });
    match Harness::new().and_then(|mut harness| harness.run(chosen.collect())) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("the tests cannot run: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The other side: runs one test in this process.
fn child(tests: Vec<Test>, name: &str) -> ExitCode {
    let Some(test) = tests.into_iter().find(|test| test.name == name) else {
        println!("no such test");
        return ExitCode::FAILURE;
    };
    let control = std::env::var(CONTROL_FD)
        .ok()
        .and_then(|text| text.parse().ok())
        .map(|number| {
            // SAFETY: the parent left this descriptor open for us and nobody else here uses it.
            Control::over(unsafe { File::from_raw_fd(number) })
        });
    let mut context = Context { control };
    match (test.body)(&mut context) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Skip>() => {
            println!("{error}");
            ExitCode::from(SKIPPED as u8)
        }
        Err(error) => {
            println!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

struct Harness {
    control: Option<Control>,
    kmsg: Option<Kmsg>,
    upstream: bool,
}

impl Harness {
    fn new() -> Result<Harness> {
        let control = Control::find()?;
        if let Some(control) = &control {
            fcntl_setfd(control, FdFlags::empty())
                .context("keeping the control port open for tests")?;
        }
        let device = Device::open_within(Duration::from_secs(2));
        // Without a device the log is none of our business.
        let kmsg = device
            .as_ref()
            .ok()
            .map(|_| Kmsg::open_at_end())
            .transpose()?;
        let upstream = device.is_ok_and(|device| on_upstream(&device));
        Ok(Harness {
            control,
            kmsg,
            upstream,
        })
    }

    fn run(&mut self, tests: Vec<Test>) -> Result<usize> {
        let (mut passed, mut failed, mut skipped) = (0, 0, 0);
        if let Some(control) = &mut self.control {
            let early = control.findings()?;
            if !early.is_empty() {
                println!("test before_the_tests ... FAILED: {}", describe(&early));
                failed += 1;
            }
        }
        for test in tests {
            print!("test {} ... ", test.name);
            std::io::stdout().flush()?;
            match self.judge(&test)? {
                Verdict::Passed => {
                    println!("ok");
                    passed += 1;
                }
                Verdict::Failed(reason) => {
                    println!("FAILED: {reason}");
                    failed += 1;
                }
                Verdict::Skipped(reason) => {
                    println!("skipped: {reason}");
                    skipped += 1;
                }
            }
        }
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        Ok(failed)
    }

    fn judge(&mut self, test: &Test) -> Result<Verdict> {
        if test.control && self.control.is_none() {
            return Ok(Verdict::Skipped("needs the device model".into()));
        }
        if let (true, Some(because)) = (self.upstream, test.lapidary) {
            return Ok(Verdict::Skipped(format!("upstream's driver: {because}")));
        }
        if let Some(kmsg) = &mut self.kmsg {
            // Records from between the tests are not this test's; the look at the whole log sees them.
            kmsg.read()?;
        }
        let mut complaints = Vec::new();
        let (status, output) = self.execute(test)?;
        match status {
            None => complaints.push(format!("no end after {} s", test.limit.as_secs())),
            Some(status) if status.success() => {}
            Some(status) if status.code() == Some(SKIPPED) => {
                return Ok(Verdict::Skipped(one_line(&output)));
            }
            Some(status) => match status.signal() {
                Some(signal) => {
                    complaints.push(format!("killed by signal {signal} {}", one_line(&output)))
                }
                None => complaints.push(one_line(&output)),
            },
        }
        complaints.extend(self.aftermath(test, status.is_none())?);
        Ok(if complaints.is_empty() {
            Verdict::Passed
        } else {
            Verdict::Failed(complaints.join("; "))
        })
    }

    /// Runs the test's process; `None` if it had to be killed. Its output is the reason it gives.
    fn execute(&mut self, test: &Test) -> Result<(Option<ExitStatus>, String)> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["--child", test.name])
            .stdin(Stdio::null())
            .stdout(writer)
            .process_group(0);
        if let Some(control) = &self.control {
            command.env(CONTROL_FD, control.file().as_raw_fd().to_string());
        }
        let mut process = command.spawn().context("starting a test's process")?;
        drop(command);
        let start = Instant::now();
        let mut output = Vec::new();
        let status = loop {
            drain(&reader, &mut output);
            if let Some(status) = process.try_wait()? {
                break Some(status);
            }
            if start.elapsed() > test.limit {
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        // The test's whole process group, so that nothing it forked lives on.
        // SAFETY: plain system call; the group was made for this test.
        unsafe { libc::kill(-(process.id() as i32), libc::SIGKILL) };
        if status.is_none() {
            let killed = Instant::now();
            while process.try_wait()?.is_none() && killed.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        drain(&reader, &mut output);
        Ok((status, String::from_utf8_lossy(&output).into_owned()))
    }

    /// Compares findings and log records with the declarations.
    fn aftermath(&mut self, test: &Test, interrupted: bool) -> Result<Vec<String>> {
        let mut findings = Vec::new();
        let mut records: Vec<Record> = Vec::new();
        let end = Instant::now() + GRACE;
        loop {
            if let Some(control) = &mut self.control {
                if interrupted {
                    control.resynchronise()?;
                }
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
            if !outstanding || Instant::now() > end {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if self.kmsg.is_some() {
            remember_declared(&records, &test.kernel)?;
        }
        let mut complaints = Vec::new();
        if self.control.is_some() {
            complaints.extend(compare_findings(&findings, &test.findings));
        }
        if self.kmsg.is_some() && self.upstream {
            records.retain(|record| KERNEL_FAULTS.iter().any(|sign| record.text.contains(sign)));
            complaints.extend(compare_records(&records, &[]));
        } else if self.kmsg.is_some() {
            complaints.extend(compare_records(&records, &test.kernel));
        }
        Ok(complaints)
    }
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

fn one_line(text: &str) -> String {
    let text = text.trim().replace('\n', " | ");
    if text.is_empty() {
        "no reason given".into()
    } else {
        text
    }
}

fn describe(findings: &[Finding]) -> String {
    let list: Vec<String> = findings
        .iter()
        .map(|f| {
            format!("finding {} × {} {}", f.kind, f.count, f.detail)
                .trim()
                .to_owned()
        })
        .collect();
    list.join("; ")
}

fn count_findings(findings: &[Finding], kind: &str) -> u64 {
    findings
        .iter()
        .filter(|finding| finding.kind == kind)
        .map(|finding| finding.count)
        .sum()
}

fn count_records(records: &[Record], text: &str) -> u64 {
    records
        .iter()
        .filter(|record| record.text.contains(text))
        .count() as u64
}

fn compare_findings(findings: &[Finding], declared: &[(&str, u64)]) -> Vec<String> {
    let mut complaints = Vec::new();
    let undeclared: Vec<Finding> = findings
        .iter()
        .filter(|finding| !declared.iter().any(|&(kind, _)| kind == finding.kind))
        .cloned()
        .collect();
    if !undeclared.is_empty() {
        complaints.push(describe(&undeclared));
    }
    for &(kind, count) in declared {
        let seen = count_findings(findings, kind);
        if seen != count {
            complaints.push(format!("finding {kind}: declared {count}, seen {seen}"));
        }
    }
    complaints
}

fn compare_records(records: &[Record], declared: &[(&str, u64)]) -> Vec<String> {
    let mut complaints: Vec<String> = records
        .iter()
        .filter(|record| !declared.iter().any(|&(text, _)| record.text.contains(text)))
        .map(|record| format!("kernel log: {}", record.text))
        .collect();
    if complaints.len() > SHOWN {
        let more = complaints.len() - SHOWN;
        complaints.truncate(SHOWN);
        complaints.push(format!("and {more} more records"));
    }
    for &(text, count) in declared {
        let seen = count_records(records, text);
        if seen != count {
            complaints.push(format!(
                "kernel log {text:?}: declared {count}, seen {seen}"
            ));
        }
    }
    complaints
}

fn remember_declared(records: &[Record], declared: &[(&str, u64)]) -> Result<()> {
    let mut left: BTreeMap<&str, u64> = declared.iter().copied().collect();
    let mut lines = String::new();
    for record in records {
        if let Some((_, count)) = left
            .iter_mut()
            .find(|(text, count)| **count > 0 && record.text.contains(**text))
        {
            *count -= 1;
            lines.push_str(&record.text);
            lines.push('\n');
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    let mut file = File::options()
        .append(true)
        .create(true)
        .open(DECLARED_KMSG)
        .context(DECLARED_KMSG)?;
    file.write_all(lines.as_bytes()).context(DECLARED_KMSG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &str, count: u64) -> Finding {
        Finding {
            kind: kind.into(),
            count,
            detail: "at packet 3".into(),
        }
    }

    fn record(text: &str) -> Record {
        Record {
            level: 3,
            sequence: 1,
            text: text.into(),
        }
    }

    #[test]
    fn findings_must_match_exactly() {
        let seen = [finding("hang", 1), finding("hang", 1)];
        assert!(compare_findings(&seen, &[("hang", 2)]).is_empty());
        assert_eq!(
            compare_findings(&seen, &[("hang", 1)]),
            ["finding hang: declared 1, seen 2"]
        );
        assert_eq!(
            compare_findings(&[], &[("hang", 1)]),
            ["finding hang: declared 1, seen 0"]
        );
        assert_eq!(
            compare_findings(&seen[..1], &[]),
            ["finding hang × 1 at packet 3"]
        );
    }

    #[test]
    fn records_must_match_exactly() {
        let seen = [record("r500: ring is stuck"), record("BUG: something")];
        let complaints = compare_records(&seen, &[("is stuck", 1)]);
        assert_eq!(complaints, ["kernel log: BUG: something"]);
        assert_eq!(
            compare_records(&seen[..1], &[("is stuck", 2)]),
            ["kernel log \"is stuck\": declared 2, seen 1"]
        );
        assert!(compare_records(&[], &[]).is_empty());
    }

    #[test]
    fn refusals_are_compared() {
        assert!(refused::<()>("x", Err(Errno::INVAL), Errno::INVAL).is_ok());
        assert!(refused::<()>("x", Err(Errno::NOENT), Errno::INVAL).is_err());
        assert!(refused("x", Ok(3), Errno::INVAL).is_err());
    }
}
