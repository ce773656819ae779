// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What `/proc/PID/fdinfo` says about a client.
//!
//! Source: Linux, `Documentation/gpu/drm-usage-stats.rst`.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};

/// The lines of one client, by key.
#[derive(Debug)]
pub struct Lines(pub BTreeMap<String, String>);

impl Lines {
    /// Read those of a client of this process.
    pub fn of(node: impl AsFd) -> Result<Lines> {
        let path = format!("/proc/self/fdinfo/{}", node.as_fd().as_raw_fd());
        let text = std::fs::read_to_string(&path).context(path)?;
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let lines = lines.map(|(key, value)| (key.to_owned(), value.trim().to_owned()));
        Ok(Lines(lines.collect()))
    }

    /// Return the value of one line.
    pub fn get(&self, key: &str) -> Result<&str> {
        let value = self.0.get(key);
        Ok(value.with_context(|| format!("no line {key}"))?)
    }

    /// Return the nanoseconds of the engine.
    pub fn engine(&self) -> Result<u64> {
        let value = self.get("drm-engine-gfx")?;
        Ok(value.strip_suffix(" ns").context("no unit")?.parse()?)
    }

    /// Return the bytes of one line.
    pub fn bytes(&self, key: &str) -> Result<u64> {
        let value = self.get(key)?;
        let (number, unit) = value.split_once(' ').unwrap_or((value, "B"));
        let scale = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            _ => bail!("{key}: {value}"),
        };
        Ok(number.parse::<u64>()? * scale)
    }
}
