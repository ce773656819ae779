// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Our drivers' tracepoints, as tracefs shows them.

use crate::skip;
use anyhow::Result;
use std::fs;
use std::path::Path;

/// Folder of the events.
pub const EVENTS: &str = "/sys/kernel/tracing/events/lapidary";
/// What was traced.
const TRACE: &str = "/sys/kernel/tracing/trace";

/// The events are on while this lives.
#[derive(Debug)]
pub struct Tracing;

impl Tracing {
    /// Switch them on, and forget what was traced before. Skip the test where there is no tracefs.
    pub fn on() -> Result<Tracing> {
        if !Path::new(EVENTS).exists() {
            return skip("no tracefs");
        }
        forget()?;
        fs::write(Path::new(EVENTS).join("enable"), "1")?;
        Ok(Tracing)
    }

    /// Return the lines of one event, as [`lines`] does.
    pub fn lines(&self, event: &str) -> Result<Vec<String>> {
        lines(event)
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        let _ = fs::write(Path::new(EVENTS).join("enable"), "0");
    }
}

/// Forget what was traced before.
pub fn forget() -> Result<()> {
    Ok(fs::write(TRACE, "")?)
}

/// Return the lines of one event, from behind its name on.
pub fn lines(event: &str) -> Result<Vec<String>> {
    let text = fs::read_to_string(TRACE)?;
    let key = format!(" {event}: ");
    let lines = text.lines().filter_map(|line| line.split_once(&key));
    Ok(lines.map(|(_, rest)| rest.to_owned()).collect())
}
