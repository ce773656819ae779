// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What R5xx's firmware has to do with sleep: it may post the card, it may show a picture, and its ROM may be hostile.

use super::{bringup, display};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_harness::machine::{self, Depth, Kind};
use lapidary_harness::{Context, Test, skip};
use lapidary_uapi_radeon::sleep::{PROMISE, contents};
use lapidary_uapi_radeon::support::engine_works;

pub fn tests() -> Vec<Test> {
    let rehearsal = |name, body| Test::new(name, body).lapidary_only(PROMISE);
    vec![
        rehearsal("sleep/posted_by_firmware", posted_by_firmware).needs_control(),
        rehearsal("sleep/picture", picture).needs_control(),
        rehearsal("sleep/hostile_bios", hostile_bios)
            .needs_control()
            .kernel("writes that posting does not need were dropped", 1),
    ]
}

/// Where firmware posts the card at wake-up, the driver leaves that as it is, and sets up the rest.
fn posted_by_firmware(context: &mut Context) -> Result<()> {
    context.control()?.request("power d3 posted")?;
    let result = contents(context, |_| {
        machine::rehearse(Kind::Memory, Depth::Platform)
    });
    context.control()?.request("power d3 lost")?;
    result?;
    bringup::registers(context.control()?)
}

/// The picture that firmware shows is restored where it was.
fn picture(context: &mut Context) -> Result<()> {
    let control = context.control()?;
    let before = display::pictures(control)?;
    control.request("power d3 posted")?;
    let result = machine::rehearse(Kind::Memory, Depth::Platform);
    let control = context.control()?;
    control.request("power d3 lost")?;
    result?;
    let after = display::pictures(control)?;
    let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    ensure!(
        changed == 0,
        "{changed} of {} pieces of the picture changed",
        before.len()
    );
    engine_works(&context.device()?)
}

/// A card whose ROM tries to reach memory when it is posted: at probe and after sleep the bus does not hear it.
fn hostile_bios(context: &mut Context) -> Result<()> {
    // There the program leaves the command register of configuration space as it has found it.
    const TOLD: &str = "peek BIOS_SCRATCH[3]";
    const MASTER: u32 = 1 << 2;
    let told = |context: &mut Context| -> Result<u32> {
        let answer = context.control()?.request(TOLD)?;
        let word = answer.first().context("the model answers")?;
        Ok(u32::from_str_radix(word.trim_start_matches("0x"), 16)?)
    };
    let before = told(context)?;
    if before == 0 {
        return skip("the card's ROM means no harm, or did not post it");
    }
    ensure!(before & MASTER == 0, "probe: posted as a master of the bus");
    machine::rehearse(Kind::Memory, Depth::Platform)?;
    let after = told(context)?;
    ensure!(after != 0, "not posted after sleep");
    ensure!(after & MASTER == 0, "sleep: posted as a master of the bus");
    engine_works(&context.device()?)
}
