// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel log by /dev/kmsg, record by record.

use anyhow::{Context, Result};
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Records of this level and below (more severe) count as complaints.
pub const WARNING: u8 = 4;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// 0 (emergency) to 7 (debug).
    pub level: u8,
    /// Running number.
    pub sequence: u64,
    /// The text, without continuation lines.
    pub text: String,
}

/// A reader with a place in the log.
#[derive(Debug)]
pub struct Kmsg {
    file: OwnedFd,
}

impl Kmsg {
    /// Open the log at its oldest record.
    pub fn open() -> Result<Kmsg> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file =
            rustix::fs::open("/dev/kmsg", flags, Mode::empty()).context("opening /dev/kmsg")?;
        Ok(Kmsg { file })
    }

    /// Open the log after its newest record.
    pub fn open_at_end() -> Result<Kmsg> {
        let kmsg = Kmsg::open()?;
        rustix::fs::seek(&kmsg.file, SeekFrom::End(0)).context("seeking in /dev/kmsg")?;
        Ok(kmsg)
    }

    /// Return all records that are there now and were not read before. Records that the ring lost before
    /// they could be read are skipped, as the kernel does.
    pub fn read(&mut self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        let mut buffer = [0u8; 8192];
        loop {
            match rustix::io::read(&self.file, &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(records),
                Ok(n) => records.extend(parse(&String::from_utf8_lossy(&buffer[..n]))),
                Err(Errno::PIPE | Errno::INTR) => {}
                Err(error) => return Err(error).context("reading /dev/kmsg"),
            }
        }
    }
}

/// Parse `PRIORITY,SEQUENCE,TIME,FLAGS[,…];TEXT`, which lines follow that begin with a space.
fn parse(record: &str) -> Option<Record> {
    let (prefix, text) = record.split_once(';')?;
    let mut fields = prefix.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let sequence = fields.next()?.parse().ok()?;
    Some(Record {
        level: (priority & 7) as u8,
        sequence,
        text: unescape(text.lines().next().unwrap_or("")),
    })
}

/// Restore characters that cannot be printed, which the device writes as `\xNN`.
fn unescape(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        let (before, escape) = rest.split_at(at);
        plain.extend_from_slice(before.as_bytes());
        let byte = escape
            .get(2..4)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (byte, length) = byte.map_or((b'\\', 1), |byte| (byte, 4));
        plain.push(byte);
        rest = &escape[length..];
    }
    plain.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records() {
        let record =
            parse("12,345,678901,-;r500 0000:00:04.0: ring 0 is stuck\n SUBSYSTEM=pci\n").unwrap();
        assert_eq!(
            record,
            Record {
                level: 4,
                sequence: 345,
                text: "r500 0000:00:04.0: ring 0 is stuck".into()
            }
        );
        assert!(parse("nonsense").is_none());
        let escaped = parse("3,1,2,-;\\x09dword\\x5c\\x\n").unwrap();
        assert_eq!(escaped.text, "\tdword\\\\x");
    }
}
