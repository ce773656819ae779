// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Counting the kernel's memory allocations on behalf of this process, by trace events.

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
    /// Makes the instance; `None` where the kernel does not trace.
    pub fn new() -> Result<Option<Allocations>> {
        if !Path::new(TRACING).join("events/kmem").exists() {
            return Ok(None);
        }
        let directory =
            Path::new(TRACING).join(format!("instances/submit-bench-{}", std::process::id()));
        std::fs::create_dir(&directory).with_context(|| directory.display().to_string())?;
        let trace = Allocations { directory };
        trace.write("tracing_on", "0")?;
        trace.write("set_event_pid", &std::process::id().to_string())?;
        for event in EVENTS {
            trace.write(&format!("events/kmem/{event}/enable"), "1")?;
        }
        Ok(Some(trace))
    }

    /// Begins to count.
    pub fn start(&mut self) -> Result<()> {
        self.write("trace", "")?;
        self.write("tracing_on", "1")
    }

    /// Ends, and says how many there were.
    pub fn stop(&mut self) -> Result<usize> {
        self.write("tracing_on", "0")?;
        let path = self.directory.join("trace");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(count(&text))
    }

    fn write(&self, name: &str, value: &str) -> Result<()> {
        let path = self.directory.join(name);
        std::fs::write(&path, value).with_context(|| path.display().to_string())
    }
}

impl Drop for Allocations {
    fn drop(&mut self) {
        // Not removed if someone reads it meanwhile; harmless.
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Events in a trace's text. The writes that start and stop the trace cost nothing that is counted
/// per run: they happen once.
fn count(trace: &str) -> usize {
    let events = |line: &&str| {
        EVENTS
            .iter()
            .any(|event| line.contains(&format!(" {event}: ")))
    };
    trace
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter(events)
        .count()
}

#[cfg(test)]
mod tests {
    #[test]
    fn events_are_counted() {
        let trace = "# tracer: nop\n bench-7 [000] ..... 1.2: kmalloc: call_site=x ptr=y\n\
                     bench-7 [000] ..... 1.3: kfree: call_site=x\n\
                     bench-7 [000] ..... 1.4: kmem_cache_alloc: call_site=z\n";
        assert_eq!(super::count(trace), 2);
    }
}
