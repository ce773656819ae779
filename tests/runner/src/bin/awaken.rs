// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `awaken SOCKET`: wakes a guest up each time that it has gone to sleep in RAM, until QEMU ends. SOCKET is where QEMU
//! listens for its machine protocol (QMP).
//!
//! A guest could set an alarm for itself, but before it goes to sleep, and on a loaded host the alarm comes too early.

use anyhow::{Context, Result, bail};
use serde_json::{Deserializer, Value, json};
use std::env;
use std::io::Write;
use std::os::unix::net::UnixStream;

fn main() -> Result<()> {
    let path = env::args_os().nth(1).context("which socket?")?;
    let answers = UnixStream::connect(&path)
        .with_context(|| format!("connecting to {}", path.to_string_lossy()))?;
    let mut commands = answers.try_clone()?;
    let mut say = |what: &str| writeln!(commands, "{}", json!({ "execute": what }));
    say("qmp_capabilities")?;
    for answer in Deserializer::from_reader(answers).into_iter::<Value>() {
        let answer = answer.context("reading QEMU's answer")?;
        if let Some(error) = answer.get("error") {
            bail!("QEMU refuses: {error}");
        }
        if answer["event"] == "SUSPEND" {
            say("system_wakeup")?;
        }
    }
    Ok(())
}
