// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A user whose clients hang the GPU again and again, with new files and new processes, is refused for a while. Other
//! users are not.

use super::{BOUND, Culprit};
use crate::support::{engine_works, nothing, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::{Device, Errno};
use lapidary_harness::child::{self, End};
use lapidary_harness::{Context, refused};
use std::rc::Rc;

/// Hangs of one process until it is refused.
const OF_PROCESS: u32 = 3;
/// Hangs of one user until its later processes are.
const OF_NEWCOMERS: u32 = 6;
/// Hangs of the test.
pub const HANGS: u64 = OF_NEWCOMERS as u64;
/// Reason of the refusal.
const TOO_OFTEN: u32 = 0x002;

/// Check that a new file of this process is refused, for the right reason.
fn is_refused(device: &Device) -> Result<()> {
    let file = device.another()?;
    refused("a new file", file.submit(&nothing()), Errno::CANCELED)?;
    let reason = file.last_refusal()?.reason;
    ensure!(reason == TOO_OFTEN, "refused for reason {reason:#x}");
    ensure!(file.reset_status()?.guilty == 0, "the new file is guilty");
    Ok(())
}

fn succeeds(what: &str, child: child::Child) -> Result<()> {
    let end = child.wait(4 * BOUND)?;
    ensure!(end == End::Exit(0), "{what} ended with {end:?}");
    Ok(())
}

pub(super) fn limited(context: &mut Context) -> Result<()> {
    let device: Rc<Device> = context.device()?;
    let resets = device.reset_counter()?;

    // A process that has opened many files beforehand, with a job of each under way.
    context.control()?.request("fault endless-buffer")?;
    let first = child::spawn(|| {
        let mut clients = Vec::new();
        for _ in 0..2 * OF_PROCESS {
            clients.push(Culprit::new(device.another()?)?);
        }
        for client in &clients {
            client.submit(1)?;
        }
        let mut guilty = 0;
        for client in &clients {
            within(4 * BOUND, "the wait", || client.bo.wait())??;
            guilty += client.device.reset_status()?.guilty;
        }
        ensure!(guilty == OF_PROCESS, "{guilty} files are guilty");
        is_refused(&device)?;
        Ok(0)
    })?;
    succeeds("the process with many files", first)?;
    context.control()?.clear_faults()?;
    let seen = device.reset_counter()? - resets;
    ensure!(seen == OF_PROCESS, "{seen} resets, not {OF_PROCESS}");
    engine_works(&device).context("a process without a hang")?;

    // Its successor opens a file for each hang.
    let second = child::spawn(|| {
        for _ in OF_PROCESS..OF_NEWCOMERS {
            let client = Culprit::new(device.another()?)?;
            client.hang(context, "endless-buffer")?;
            within(BOUND, "the wait", || client.bo.wait())??;
        }
        is_refused(&device)?;
        Ok(0)
    })?;
    succeeds("the process with a file for each hang", second)?;

    // A third process is refused. Earlier processes of the user, and other users, go on.
    let third = child::spawn(|| {
        is_refused(&device)?;
        Ok(0)
    })?;
    succeeds("the last successor", third)?;
    engine_works(&device.another()?).context("a process that began before")?;
    let other = child::spawn(|| {
        child::become_another_user();
        engine_works(&device.another()?)?;
        Ok(0)
    })?;
    succeeds("another user", other)
}
