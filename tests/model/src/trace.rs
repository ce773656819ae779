// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The trace: one line per register access, packet, interrupt and finding.
//!
//! Lines start with microseconds since the model started. Writing is buffered, so that a trace slows the model as
//! little as possible; [`Trace::flush`] is called when the command processor becomes idle and at exit.

use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// Where trace lines go.
pub struct Trace {
    out: Option<BufWriter<File>>,
    on: bool,
    start: Instant,
}

impl Default for Trace {
    fn default() -> Self {
        Trace {
            out: None,
            on: false,
            start: Instant::now(),
        }
    }
}

impl Trace {
    /// Return a trace into a file, which is created or emptied; it starts switched on.
    ///
    /// # Errors
    /// Whatever creating the file yields.
    pub fn to_file(path: &Path) -> std::io::Result<Trace> {
        Ok(Trace {
            out: Some(BufWriter::new(File::create(path)?)),
            on: true,
            start: Instant::now(),
        })
    }

    /// Switch the trace on or off; false if there is no file to write to.
    pub fn switch(&mut self, on: bool) -> bool {
        self.on = on && self.out.is_some();
        self.flush();
        self.out.is_some()
    }

    /// Return whether lines are written: ask before making an expensive one.
    #[inline]
    pub fn on(&self) -> bool {
        self.on
    }

    /// Write a line. A disk that is full ends the trace, not the model.
    pub fn line(&mut self, line: fmt::Arguments<'_>) {
        if !self.on {
            return;
        }
        if let Some(out) = &mut self.out {
            if writeln!(out, "{:>10} {line}", self.start.elapsed().as_micros()).is_err() {
                self.on = false;
            }
        }
    }

    /// Bring all lines to the file.
    pub fn flush(&mut self) {
        if let Some(out) = &mut self.out {
            let _ = out.flush();
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.flush();
    }
}
