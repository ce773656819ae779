// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Core dumps of the driver: what it knew about a GPU that hung, as text in sections. Here it becomes names.
//!
//! ```text
//! lapidary coredump 1
//! driver r500
//! hung ring 0 job 7 of 9
//! [registers]
//! RBBM_STATUS 0xe4010140
//! [ring] first 0x10 read 0x20 write 0x30 size 0x10000
//! c0013f00 00100000 00000008 80000000
//! [ib] addr 0xd0001000 dwords 1
//! 80000000
//! [objects]
//! 0xd0200000 65536 write
//! [end]
//! ```
//!
//! What is kept of the ring may begin inside of a packet. Packets that the driver writes are well formed, so the first
//! place from which everything up to the write pointer is well formed is where a packet begins; dwords before it are
//! left out.

use anyhow::{Context, Result, bail, ensure};
use lapidary_registers::{Database, Domain};

use crate::{Options, decode_stream};

/// What every dump begins with.
pub const MAGIC: &str = "lapidary coredump ";

/// An object of the job that hung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// GPU address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// The job writes it.
    pub writes: bool,
}

/// A dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// Lines before the first section, but the first.
    pub facts: Vec<String>,
    /// Registers by name.
    pub registers: Vec<(String, u32)>,
    /// Index of the first dword of `ring`, where the chip reads, where the host writes, and the size of the whole ring.
    pub pointers: [u32; 4],
    /// Dwords of the ring up to the write pointer.
    pub ring: Vec<u32>,
    /// Address of the job's commands.
    pub address: u64,
    /// The job's commands.
    pub commands: Vec<u32>,
    /// Its objects.
    pub objects: Vec<Object>,
    /// Objects that did not fit.
    pub left_out: u64,
}

fn number(text: &str) -> Result<u64> {
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.with_context(|| format!("`{text}` is not a number"))
}

fn number32(text: &str) -> Result<u32> {
    u32::try_from(number(text)?).with_context(|| format!("`{text}` has more than 32 bits"))
}

/// Return the value behind `name` in a section's header.
fn value<'t>(header: &'t str, name: &str) -> Result<&'t str> {
    let mut words = header.split(' ');
    words
        .by_ref()
        .find(|word| *word == name)
        .and_then(|_| words.next())
        .with_context(|| format!("no {name} in `{header}`"))
}

fn words(line: &str, to: &mut Vec<u32>) -> Result<()> {
    for word in line.split(' ') {
        ensure!(word.len() == 8, "`{word}` is not a dword");
        to.push(u32::from_str_radix(word, 16).with_context(|| format!("`{word}`"))?);
    }
    Ok(())
}

impl Dump {
    /// Read a dump.
    ///
    /// # Errors
    /// If it does not have the form above, with the line where it shows. A dump without its end was cut off.
    pub fn parse(text: &str) -> Result<Dump> {
        let mut lines = text.lines().enumerate();
        let first = lines.next().map_or("", |(_, line)| line);
        match first.strip_prefix(MAGIC) {
            Some("1") => {}
            Some(version) => bail!("a dump of version {version}, which is not known here"),
            None => bail!("not a dump"),
        }
        let mut dump = Dump::default();
        let mut section = "";
        for (n, line) in lines {
            if let Some(rest) = line.strip_prefix('[') {
                section = rest.split(']').next().unwrap_or(rest);
            }
            let header = line.starts_with('[');
            dump.line(section, header, line)
                .with_context(|| format!("line {}", n + 1))?;
        }
        ensure!(
            section == "end",
            "the dump is cut off in section `{section}`"
        );
        Ok(dump)
    }

    fn line(&mut self, section: &str, header: bool, line: &str) -> Result<()> {
        match (section, header) {
            ("", _) => self.facts.push(line.to_owned()),
            ("registers" | "objects" | "end", true) => {}
            ("registers", false) => {
                let (name, value) = line.split_once(' ').context("no value")?;
                self.registers.push((name.to_owned(), number32(value)?));
            }
            ("ring", true) => {
                for (pointer, name) in self
                    .pointers
                    .iter_mut()
                    .zip(["first", "read", "write", "size"])
                {
                    *pointer = number32(value(line, name)?)?;
                }
            }
            ("ring", false) => words(line, &mut self.ring)?,
            ("ib", true) => self.address = number(value(line, "addr")?)?,
            ("ib", false) => words(line, &mut self.commands)?,
            ("objects", false) => {
                let parts: Vec<&str> = line.split(' ').collect();
                match parts[..] {
                    ["and", count, "more"] => self.left_out = number(count)?,
                    [address, size, access @ ("read" | "write")] => self.objects.push(Object {
                        address: number(address)?,
                        size: number(size)?,
                        writes: access == "write",
                    }),
                    _ => bail!("`{line}` is no object"),
                }
            }
            _ => bail!("`{line}` in section `{section}`"),
        }
        Ok(())
    }

    /// Return the driver that made it, if it says so; its family has the same name.
    pub fn driver(&self) -> Option<&str> {
        self.facts
            .iter()
            .find_map(|fact| fact.strip_prefix("driver "))
    }

    /// Return what the dump says, by the names of the driver's family, a line each.
    pub fn lines(&self, database: &'static Database) -> Vec<String> {
        let mut out = self.facts.clone();
        out.push("registers:".into());
        for (name, value) in &self.registers {
            out.push(match database.by_name_in(Domain::MMIO, name) {
                Some(register) => format!(
                    "  {}",
                    database.describe(Domain::MMIO, register.offset, *value)
                ),
                None => format!("  {name} = {value:#010x}"),
            });
        }
        let [first, read, write, size] = self.pointers;
        out.push(format!(
            "ring of {size:#x} dwords, the chip reads at {read:#x}, the host writes at {write:#x}:"
        ));
        let skip = self.packet_start(database);
        for (index, line) in
            decode_stream(database, &self.ring[skip..], Options::default()).enumerate()
        {
            let at = u64::from(first) + (skip + index) as u64;
            let at = at.checked_rem(u64::from(size)).unwrap_or(at);
            let mark = if at == u64::from(read) { ">" } else { " " };
            // The decoder counts from where it began; here dwords count from the ring's beginning.
            let text = line.to_string();
            let text = text.split_once(' ').map_or("", |(_, rest)| rest);
            out.push(format!("{mark} {at:05x}: {text}"));
        }
        out.push(format!(
            "commands of the job, {} dwords at {:#x}:",
            self.commands.len(),
            self.address
        ));
        let options = Options {
            base: self.address,
            ring: None,
        };
        out.extend(
            decode_stream(database, &self.commands, options).map(|line| format!("  {line}")),
        );
        out.push(format!("objects of the job, {}:", self.objects.len()));
        for object in &self.objects {
            let access = if object.writes { "written" } else { "read" };
            out.push(format!(
                "  {:#010x}, {} bytes, {access}",
                object.address, object.size
            ));
        }
        if self.left_out != 0 {
            out.push(format!("  and {} more", self.left_out));
        }
        out
    }

    /// Return the first dword of the ring from which on everything is well formed.
    fn packet_start(&self, database: &'static Database) -> usize {
        let good = |start: &usize| {
            decode_stream(database, &self.ring[*start..], Options::default())
                .all(|line| line.note.is_none())
        };
        (0..self.ring.len()).take(1024).find(good).unwrap_or(0)
    }
}
