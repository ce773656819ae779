// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Counting the kernel's memory allocations, by trace events.
//!
//! Allocations of all threads count, since a submission may make a worker allocate. The guest is quiet otherwise. What
//! happens in it without any action is measured first.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

const TRACING: &str = "/sys/kernel/tracing";
/// Slab and page allocations; what they are for does not matter.
const EVENTS: [&str; 3] = ["kmalloc", "kmem_cache_alloc", "mm_page_alloc"];

/// A trace instance of our own; removed when dropped.
pub struct Allocations {
    directory: PathBuf,
}

impl Allocations {
    /// Make the instance; `None` where the kernel does not trace.
    ///
    /// # Errors
    ///
    /// If the trace file system refuses.
    pub fn new() -> Result<Option<Allocations>> {
        if !Path::new(TRACING).join("events/kmem").exists() {
            return Ok(None);
        }
        let directory =
            Path::new(TRACING).join(format!("instances/submit-bench-{}", std::process::id()));
        std::fs::create_dir(&directory).with_context(|| directory.display().to_string())?;
        let trace = Allocations { directory };
        trace.write("tracing_on", "0")?;
        // Events that do not fit are counted all the same.
        trace.write("buffer_size_kb", "64")?;
        for event in EVENTS {
            trace.write(&format!("events/kmem/{event}/enable"), "1")?;
        }
        // Enabled events cost even while the instance is off.
        trace.write("events/enable", "0")?;
        Ok(Some(trace))
    }

    /// Return the number of allocations during `action`.
    ///
    /// # Errors
    ///
    /// Those of the action, or if the trace file system refuses.
    pub fn during(&self, action: &mut dyn FnMut() -> Result<()>) -> Result<u64> {
        for event in EVENTS {
            self.write(&format!("events/kmem/{event}/enable"), "1")?;
        }
        self.write("trace", "")?;
        self.write("tracing_on", "1")?;
        let result = action();
        self.write("tracing_on", "0")?;
        self.write("events/enable", "0")?;
        result?;
        let mut sum = 0;
        let per_cpu = self.directory.join("per_cpu");
        let folders = std::fs::read_dir(&per_cpu).with_context(|| per_cpu.display().to_string())?;
        for cpu in folders {
            let path = cpu?.path().join("stats");
            let text =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            sum += count(&text).with_context(|| format!("{} is odd: {text}", path.display()))?;
        }
        Ok(sum)
    }

    fn write(&self, name: &str, value: &str) -> Result<()> {
        let path = self.directory.join(name);
        std::fs::write(&path, value).with_context(|| path.display().to_string())
    }
}

impl Drop for Allocations {
    fn drop(&mut self) {
        // It stays if another process reads it at the moment, which is harmless.
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Return the number of events of one CPU. They are those in the buffer and those that have been overwritten.
fn count(stats: &str) -> Option<u64> {
    let value = |name: &str| -> Option<u64> {
        let line = stats.lines().find_map(|line| line.strip_prefix(name))?;
        line.strip_prefix(": ")?.trim().parse().ok()
    };
    Some(value("entries")? + value("overrun")?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn events_are_counted() {
        let stats = "entries: 12\noverrun: 30\ncommit overrun: 7\nbytes: 5920\n";
        assert_eq!(super::count(stats), Some(42));
        assert_eq!(super::count("bytes: 1\n"), None);
    }
}
