// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The device model's control port: what it found, what it counted, which fault comes next.
//!
//! In the guest it is a virtio serial port named `lapidary.control`; its absence means real
//! hardware. One request a line; the answer is zero or more lines, then `ok` or `error MESSAGE`.

use crate::limit::{Limit, ROUND};
use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// The port's name.
pub const PORT_NAME: &str = "lapidary.control";
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Something the model's judge found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Its kind.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// The rest of the line.
    pub detail: String,
}

/// An open control port.
#[derive(Debug)]
pub struct Control {
    port: File,
    pending: Vec<u8>,
}

impl Control {
    /// Open the port, if the machine has one.
    pub fn find() -> Result<Option<Control>> {
        Control::find_named(PORT_NAME)
    }

    /// Open the port when it appears.
    fn await_port() -> Result<Control> {
        let mut limit = Limit::new(PATIENCE);
        loop {
            if let Some(control) = Control::find()? {
                return Ok(control);
            }
            limit.rest("the control port does not come back")?;
        }
    }

    /// Open the port with this name, if the machine has it; where there are two GPUs, each has its own.
    pub fn find_named(wanted: &str) -> Result<Option<Control>> {
        let Ok(ports) = std::fs::read_dir("/sys/class/virtio-ports") else {
            return Ok(None);
        };
        for entry in ports {
            let entry = entry?;
            let name = std::fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            if name.trim() != wanted {
                continue;
            }
            let path = std::path::Path::new("/dev").join(entry.file_name());
            let port = File::options()
                .read(true)
                .write(true)
                .open(&path)
                .with_context(|| format!("opening control port {}", path.display()))?;
            return Ok(Some(Control::over(port)));
        }
        Ok(None)
    }

    /// Speak over an open file.
    pub fn over(port: File) -> Control {
        Control {
            port,
            pending: Vec::new(),
        }
    }

    /// Return the file, to hand on to another process.
    pub fn into_file(self) -> File {
        self.port
    }

    /// Return the file.
    pub fn file(&self) -> &File {
        &self.port
    }

    /// Throw away what an interrupted conversation left: reads until nothing comes for a moment. Of a port that was
    /// taken away meanwhile nothing comes any more; the next request finds the new one.
    pub fn resynchronise(&mut self) -> Result<()> {
        self.pending.clear();
        let mut waste = [0u8; 4096];
        while self.readable(Duration::from_millis(300))? {
            match self.port.read(&mut waste) {
                Ok(0) => break,
                Err(error) if gone(&error) => break,
                result => result.map(drop)?,
            }
        }
        Ok(())
    }

    /// Send one request, and return the lines of the answer before `ok`.
    pub fn request(&mut self, request: &str) -> Result<Vec<String>> {
        assert!(!request.contains('\n'));
        let text = format!("{request}\n");
        let mut written = self.port.write_all(text.as_bytes());
        if written.as_ref().is_err_and(gone) {
            // There is a new one, or will be.
            *self = Control::await_port()?;
            written = self.port.write_all(text.as_bytes());
        }
        written.with_context(|| format!("asking the model {request:?}"))?;
        let mut limit = Limit::new(PATIENCE);
        let mut lines = Vec::new();
        loop {
            let line = self
                .line(&mut limit)
                .with_context(|| format!("the model's answer to {request:?}"))?;
            if line == "ok" {
                return Ok(lines);
            }
            if let Some(message) = line.strip_prefix("error") {
                bail!("the model refuses {request:?}:{message}");
            }
            lines.push(line);
        }
    }

    /// Take (and clear) all findings since the last time.
    pub fn findings(&mut self) -> Result<Vec<Finding>> {
        self.request("findings")?
            .iter()
            .map(|line| parse_finding(line))
            .collect()
    }

    /// Return all counters.
    pub fn counters(&mut self) -> Result<Counters> {
        let mut counters = BTreeMap::new();
        for line in self.request("counters")? {
            let (name, value) = line
                .split_once(' ')
                .with_context(|| format!("counter line {line:?}"))?;
            counters.insert(
                name.to_owned(),
                value
                    .trim()
                    .parse()
                    .with_context(|| format!("counter line {line:?}"))?,
            );
        }
        Ok(Counters(counters))
    }

    /// Wait until the counters stand still, and return them.
    pub fn quiet(&mut self) -> Result<Counters> {
        let end = Instant::now() + Duration::from_secs(5);
        let mut last = self.counters()?;
        loop {
            std::thread::sleep(Duration::from_millis(40));
            let now = self.counters()?;
            if now == last {
                return Ok(now);
            }
            if Instant::now() > end {
                bail!("the device does not come to rest: {:?}", now.since(&last));
            }
            last = now;
        }
    }

    /// Arm a fault for the next `times` occasions.
    pub fn fault(&mut self, name: &str, times: u32) -> Result<()> {
        self.request(&format!("fault {name} {times}")).map(drop)
    }

    /// Disarm all faults.
    pub fn clear_faults(&mut self) -> Result<()> {
        self.request("fault clear").map(drop)
    }

    fn readable(&self, limit: Duration) -> Result<bool> {
        let timeout = limit.try_into().context("time limit")?;
        let mut fds = [PollFd::new(&self.port, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => Ok(false),
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn line(&mut self, limit: &mut Limit) -> Result<String> {
        loop {
            if let Some(at) = self.pending.iter().position(|&byte| byte == b'\n') {
                let rest = self.pending.split_off(at + 1);
                let line = std::mem::replace(&mut self.pending, rest);
                return Ok(String::from_utf8_lossy(&line[..at])
                    .trim_end_matches('\r')
                    .to_owned());
            }
            if !self.readable(ROUND)? {
                if limit.is_over() {
                    bail!("nothing for {} s", PATIENCE.as_secs());
                }
                continue;
            }
            let mut chunk = [0u8; 4096];
            match self.port.read(&mut chunk) {
                Ok(0) => bail!("the port was closed"),
                Ok(n) => self.pending.extend_from_slice(&chunk[..n]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.port.as_fd()
    }
}

/// Return whether the port was taken away, as it is for the time that the machine sleeps.
fn gone(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENODEV)
}

fn parse_finding(line: &str) -> Result<Finding> {
    let mut parts = line.splitn(4, ' ');
    let (Some("finding"), Some(kind), Some(count)) = (parts.next(), parts.next(), parts.next())
    else {
        bail!("finding line {line:?}");
    };
    let count = count
        .parse()
        .with_context(|| format!("finding line {line:?}"))?;
    Ok(Finding {
        kind: kind.to_owned(),
        count,
        detail: parts.next().unwrap_or("").to_owned(),
    })
}

/// A snapshot of the model's counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(pub BTreeMap<String, u64>);

impl Counters {
    /// Return one counter.
    pub fn get(&self, name: &str) -> Result<u64> {
        self.0
            .get(name)
            .copied()
            .with_context(|| format!("the model has no counter {name}"))
    }

    /// Return what was counted since `earlier`, without what stayed the same.
    pub fn since(&self, earlier: &Counters) -> BTreeMap<String, u64> {
        self.0
            .iter()
            .map(|(name, &value)| {
                (
                    name.clone(),
                    value.wrapping_sub(earlier.0.get(name).copied().unwrap_or(0)),
                )
            })
            .filter(|&(_, difference)| difference != 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    /// Return a model that answers each request line from a table.
    fn fake(answers: &'static [(&'static str, &'static str)]) -> Control {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let mut writer = theirs.try_clone().unwrap();
            for line in BufReader::new(theirs).lines().map_while(Result::ok) {
                let answer = answers
                    .iter()
                    .find(|(q, _)| *q == line)
                    .map_or("error no such request\n", |(_, a)| a);
                if writer.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        });
        Control::over(File::from(OwnedFd::from(ours)))
    }

    #[test]
    fn findings_and_counters() {
        let mut control = fake(&[
            (
                "findings",
                "finding RingOverrun 2 at packet 7 of ib\nfinding Hang 1\nok\n",
            ),
            ("counters", "mmio_reads 3\nmmio_writes 40\nok\n"),
            ("fault hang 1", "ok\n"),
        ]);
        let findings = control.findings().unwrap();
        assert_eq!(findings.len(), 2);
        assert_eq!(
            findings[0],
            Finding {
                kind: "RingOverrun".into(),
                count: 2,
                detail: "at packet 7 of ib".into()
            }
        );
        let counters = control.counters().unwrap();
        assert_eq!(counters.get("mmio_writes").unwrap(), 40);
        assert!(counters.get("nothing").is_err());
        control.fault("hang", 1).unwrap();
        let error = control.clear_faults().unwrap_err().to_string();
        assert!(error.contains("no such request"), "{error}");
        // A refused request leaves the conversation in step.
        assert_eq!(control.counters().unwrap(), counters);
    }

    #[test]
    fn differences() {
        let before = Counters(BTreeMap::from([("a".into(), 1), ("b".into(), 5)]));
        let after = Counters(BTreeMap::from([("a".into(), 4), ("b".into(), 5)]));
        assert_eq!(after.since(&before), BTreeMap::from([("a".to_owned(), 3)]));
    }

    #[test]
    fn broken_lines_are_refused() {
        assert!(parse_finding("finding Hang").is_err());
        assert!(parse_finding("something else 1").is_err());
    }
}
