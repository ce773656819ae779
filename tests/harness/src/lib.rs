// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The harness of the guest's test programs, and what a test can see and do beside the interface under test. It knows
//! the DRM core and no driver: a program tells it which driver is bound, and supplies the interface itself.
//!
//! - [`node`], [`drm`], [`mapping`], [`syncobj`]: what the DRM core offers on every driver's nodes.
//! - [`interface`]: what the client library of every interface offers.
//! - [`control`], [`kmsg`], [`sysfs`], [`uevent`]: what can be seen from outside the interface: the device model's
//!   control port (absent on real hardware), the kernel log, driver binding, what udev is told.
//! - [`debugfs`], [`trace`], [`fdinfo`]: what our drivers show of their clients.
//! - [`machine`]: putting the machine to sleep.
//! - [`injection`]: allocations that fail on purpose.
//! - [`swap`]: less memory than is asked for.
//! - [`foreign`]: other drivers that share memory and fences with the GPU: vgem and udmabuf.
//! - [`child`], [`limit`]: processes and time limits.
//!
//! The layouts and encodings here are user space's own reading of the public interface; nothing is
//! shared with the driver, so that a wrong number on either side shows up as a failing test.
//!
//! # Tests
//!
//! Every test runs in a process of its own with a time limit, so that a hang or a signal fails one test and not the
//! run. After each test the harness takes the findings of the device model's judge and the kernel's records of level
//! warning or worse. The test must have declared exactly these.
//!
//! Output is a line a test, `test NAME ... VERDICT`, and last the counts. Verdicts are
//!
//! - `ok`, with `, findings: KIND × COUNT` if it provoked some as declared;
//! - `FAILED: reason`;
//! - `differs: reason (answer)`: it fails on this driver as it is known to;
//! - `left out: reason`: it is not for this driver;
//! - `skipped: reason`: it cannot run here.
//!
//! Upstream's driver logs every call it refuses; on it only records that show a fault of the kernel
//! itself count.
//!
//! Log records that a test declared are appended, as their text, to [`DECLARED_KMSG`]. The runner, which checks the
//! whole log later, knows them from there.

pub mod child;
mod compare;
pub mod control;
pub mod debugfs;
pub mod drm;
pub mod fdinfo;
pub mod foreign;
pub mod injection;
pub mod interface;
pub mod kmsg;
pub mod limit;
pub mod machine;
pub mod mapping;
pub mod node;
mod run;
pub mod swap;
pub mod syncobj;
pub mod sysfs;
mod test;
pub mod trace;
pub mod uevent;

pub use self::test::{Driver, Mark, Test};

use self::run::{CONTROL_FD, Harness, SKIPPED};
use crate::control::Control;
use anyhow::{Context as _, Result, bail, ensure};
pub use rustix::io::Errno;
use std::fs::File;
use std::os::fd::FromRawFd;
use std::process::ExitCode;
use std::time::Duration;

/// File that collects the texts of declared log records.
pub const DECLARED_KMSG: &str = "/run/declared-kmsg";

/// Environment variable with the factor of [`patience`].
const PATIENCE: &str = "LAPIDARY_PATIENCE";

/// Return the factor by which time limits are longer than usual, on the debug kernel for example. At least 1.
pub fn patience() -> u32 {
    let factor = std::env::var(PATIENCE).ok();
    factor
        .and_then(|text| text.parse().ok())
        .unwrap_or(1)
        .max(1)
}

/// What a test works with.
pub struct Context {
    control: Option<Control>,
}

impl Context {
    /// Return the device model's control port.
    pub fn control(&mut self) -> Result<&mut Control> {
        self.control
            .as_mut()
            .context("this test should have declared that it needs the control port")
    }

    /// Return the control port where there is one.
    pub fn control_if_any(&mut self) -> Option<&mut Control> {
        self.control.as_mut()
    }
}

/// The error of a test that cannot run here.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Skip(pub String);

/// Leave a test as skipped.
pub fn skip<T>(reason: impl Into<String>) -> Result<T> {
    Err(Skip(reason.into()).into())
}

/// Check that a call was refused with exactly this error.
pub fn refused<T: std::fmt::Debug>(
    what: &str,
    result: Result<T, Errno>,
    with: Errno,
) -> Result<()> {
    match result {
        Err(error) if error == with => Ok(()),
        Err(error) => bail!("{what}: expected {with}, got {error}"),
        Ok(value) => bail!("{what}: expected {with}, but it was accepted ({value:?})"),
    }
}

/// Run `work` and check that the device saw nothing of it. Without a model only `work` counts.
///
/// The driver may release what earlier work held at any time, so a trace counts only if it is there every time.
pub fn untouched(context: &mut Context, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    for pause in [300, 600, 0] {
        let before = context.control_if_any().map(Control::quiet).transpose()?;
        work()?;
        let after = context.control_if_any().map(Control::quiet).transpose()?;
        let (Some(before), Some(after)) = (before, after) else {
            return Ok(());
        };
        let trace = after.since(&before);
        if trace.is_empty() {
            return Ok(());
        }
        ensure!(pause > 0, "the device saw it: {trace:?}");
        std::thread::sleep(Duration::from_millis(pause));
    }
    Ok(())
}

/// Run a test program. `driver` finds the driver under test; with `None` there is no device, and the kernel log
/// counts for nothing.
pub fn main(driver: fn() -> Option<Driver>, tests: Vec<Test>) -> ExitCode {
    let mut seen = std::collections::BTreeSet::new();
    for test in &tests {
        assert!(seen.insert(test.name), "two tests are called {}", test.name);
    }
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
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
    let mut given = |flag: &str| {
        let all = arguments.len();
        arguments.retain(|argument| argument != flag);
        arguments.len() < all
    };
    let (unmarked, stop) = (given("--unmarked"), given("--stop"));
    if let Some(flag) = arguments.iter().find(|argument| argument.starts_with('-')) {
        eprintln!(
            "unknown option {flag}; usage: [--list] [--unmarked] [--stop] [WORD...]\n\
             Runs all tests, or those whose name contains a word. --unmarked: as if no driver were known to \
             differ; for a guest of your own. --stop: the first failure ends the run."
        );
        return ExitCode::from(2);
    }
    let chosen = tests.into_iter().filter(|test| {
        arguments.is_empty() || arguments.iter().any(|word| test.name.contains(word))
    });
    match Harness::new(driver(), unmarked, stop)
        .and_then(|mut harness| harness.run(chosen.collect()))
    {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("the tests cannot run: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Run one test in this process, on behalf of the process that runs all.
fn child(tests: Vec<Test>, name: &str) -> ExitCode {
    let Some(test) = tests.into_iter().find(|test| test.name == name) else {
        println!("no such test");
        return ExitCode::FAILURE;
    };
    let control = std::env::var(CONTROL_FD)
        .ok()
        .and_then(|text| text.parse().ok())
        .map(|number| {
            // SAFETY: the parent left this descriptor open for this process, and nothing else in it uses the
            // descriptor.
            Control::over(unsafe { File::from_raw_fd(number) })
        });
    if test.own_user {
        crate::child::become_another_user();
    }
    let mut context = Context { control };
    let condition = test.condition.map_or(Ok(()), |condition| condition());
    match condition.and_then(|()| (test.body)(&mut context)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_compared() {
        assert!(refused::<()>("x", Err(Errno::INVAL), Errno::INVAL).is_ok());
        assert!(refused::<()>("x", Err(Errno::NOENT), Errno::INVAL).is_err());
        assert!(refused("x", Ok(3), Errno::INVAL).is_err());
    }
}
