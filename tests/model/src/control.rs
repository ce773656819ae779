// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The control port: a unix socket on which tests ask the model about itself, line by line.
//!
//! A request is one line. The answer is any number of lines and then `ok`, or `error MESSAGE`.
//! QEMU connects a guest's virtio-serial port to it, so the other end may go and come back.
//!
//! | request | answer |
//! | --- | --- |
//! | `findings` | takes all findings: `finding KIND COUNT detail` |
//! | `counters`, `counters reset` | `NAME VALUE`, one a line |
//! | `fault NAME [N]`, `fault clear` | arms a fault N times or until disarmed; disarms all |
//! | `power d3 lost`, `posted`, `kept` | what D3hot costs from now on; at first: lost |
//! | `power lose`, `power lose posted` | the power fails and comes back; without and with a firmware that posts |
//! | `object [SPACE:]ADDR LEN NAME`, `objects clear` | which GPU bytes belong to whom; a family with one address space for all clients has only SPACE 0 |
//! | `peek REG` | the register's value in hex, without side effects |
//! | `on-chip NAME` | what a memory inside the chip holds, from its beginning: lines of `COUNT VALUE` |
//! | `touched` | registers that were accessed: `BLOCK NAME CLASS READS WRITES WHO-FIRST`, see [`crate::registers`] |
//! | `unimplemented` | those of them that the model lacks |
//! | `vram OFF LEN` | VRAM bytes in hex, at most 32 a line |
//! | `trace on`, `trace off` | switches the trace |

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use crate::fault;
use crate::machine::{Object, SPACE};
use crate::power::{self, Sleep};
use crate::run::Shared;

/// The longest request, in bytes.
const LONGEST: u64 = 4096;
/// The most VRAM bytes that one request shows.
const MOST_VRAM: u64 = 1 << 20;

/// Listen on a socket; every connection gets a thread of its own.
///
/// # Errors
/// When the socket cannot be made.
pub fn listen(path: &Path, shared: Arc<Shared>) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::Builder::new()
        .name("control".into())
        .spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                let spawned =
                    thread::Builder::new()
                        .name("control-client".into())
                        .spawn(move || {
                            if let Err(e) = serve(stream, &shared) {
                                log::info!("control connection ended: {e}");
                            }
                        });
                if let Err(e) = spawned {
                    log::warn!("control connection refused: {e}");
                }
            }
        })?;
    Ok(())
}

fn serve(stream: UnixStream, shared: &Arc<Shared>) -> io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let mut answer = match request(shared, line) {
            Ok(mut lines) => {
                lines.push_str("ok\n");
                lines
            }
            Err(message) => format!("error {message}\n"),
        };
        // One write for the whole answer: the port on the other side may be slow.
        out.write_all(answer.as_bytes())?;
        answer.clear();
    }
}

/// Carry out one request; the answer is complete lines.
///
/// # Errors
/// One line that says what is wrong with the request.
pub fn request(shared: &Shared, line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut out = String::new();
    match words[..] {
        ["findings"] => shared.with(|s| {
            for f in s.machine.judge.take() {
                let _ = writeln!(out, "{f}");
            }
        }),
        ["counters"] => shared.with(|s| {
            for (name, value) in s.machine.counters.all() {
                let _ = writeln!(out, "{name} {value}");
            }
        }),
        ["counters", "reset"] => shared.with(|s| s.machine.counters.reset()),
        ["fault", "clear"] => {
            shared.kick(|s| {
                let dead = s.machine.faults.armed(fault::DEAD);
                s.machine.faults.clear();
                if dead {
                    power::insert(s);
                }
            });
        }
        ["fault", name, ref times @ ..] if times.len() <= 1 => {
            let fault = fault::by_name(shared.with(|s| s.chip.faults()), name)?;
            let times = times.first().map(|n| number(n)).transpose()?;
            shared.kick(|s| match fault {
                fault::DEAD => power::remove(s),
                _ => s.machine.faults.arm(fault, times),
            });
        }
        ["power", "lose"] => shared.kick(|s| power::lose(s, false)),
        ["power", "lose", "posted"] => shared.kick(|s| power::lose(s, true)),
        ["power", "d3", what] => {
            let sleep = Sleep::by_name(what)
                .ok_or_else(|| format!("no way to sleep {what}; there are lost, posted, kept"))?;
            shared.with(|s| s.machine.power.sleep = sleep);
        }
        ["object", start, len, ref name @ ..] => {
            let (space, start) = match start.split_once(':') {
                Some((space, start)) => (number(space)?, start),
                None => (SPACE.into(), start),
            };
            let object = Object {
                space: u32::try_from(space).map_err(|_| format!("no space {space}"))?,
                start: number(start)?,
                len: number(len)?,
                name: name.join(" "),
            };
            shared.with(|s| s.machine.objects.push(object));
        }
        ["objects", "clear"] => shared.with(|s| s.machine.objects.clear()),
        ["peek", name] => {
            let value = shared
                .with(|s| s.chip.peek(&s.machine, name))
                .ok_or_else(|| format!("no register {name}"))?;
            let _ = writeln!(out, "{value:#010x}");
        }
        ["on-chip", name] => shared.with(|s| {
            let words = s
                .chip
                .on_chip(name)
                .ok_or_else(|| format!("no memory {name}"))?;
            for run in words.chunk_by(|a, b| a == b) {
                let _ = writeln!(out, "{} {:#010x}", run.len(), run[0]);
            }
            Ok::<(), String>(())
        })?,
        [list @ ("touched" | "unimplemented")] => {
            for t in shared.with(|s| s.chip.touched()) {
                if list == "touched" || t.missing {
                    let _ = writeln!(out, "{t}");
                }
            }
        }
        ["vram", offset, len] => {
            let (offset, len) = (number(offset)?, number(len)?);
            if len > MOST_VRAM {
                return Err(format!("at most {MOST_VRAM} bytes at once"));
            }
            let mut bytes = vec![0; len as usize];
            if !shared.with(|s| s.machine.vram.read(offset, &mut bytes)) {
                return Err("beyond the end of VRAM".into());
            }
            for row in bytes.chunks(32) {
                for b in row {
                    let _ = write!(out, "{b:02x}");
                }
                out.push('\n');
            }
        }
        ["trace", "on"] => {
            if !shared.with(|s| s.machine.trace.switch(true)) {
                return Err("started without --trace".into());
            }
        }
        ["trace", "off"] => {
            shared.with(|s| s.machine.trace.switch(false));
        }
        _ => return Err(format!("unknown request: {line}")),
    }
    Ok(out)
}

fn number(text: &str) -> Result<u64, String> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
    .map_err(|_| format!("not a number: {text}"))
}
