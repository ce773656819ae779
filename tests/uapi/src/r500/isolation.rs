// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers as a way to another client's state: those that choose pipes, and those that keep colours.

use anyhow::{Context as _, Result, ensure};
use lapidary_engines::r500::draw2d::{self, Surface};
use lapidary_engines::r500::draw3d::{Draw, Image};
use lapidary_guest::abi::info_request;
use lapidary_guest::painter::Rect;
use lapidary_guest::{Client as _, Domain, Errno, Stream};
use lapidary_harness::{Context, Test, refused};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use lapidary_uapi_radeon::support::{self, WIDTH};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("isolation/some_pipes_only", some_pipes)
            .lapidary_only("our checker lets no stream draw while writes reach some pipes only"),
        Test::new("isolation/colours_of_others_are_not_seen", colours)
            .lapidary_only("upstream's driver leaves the 2D engine's colours to the next client"),
    ]
}

/// State that reaches some pipes only leaves the others with another client's, so nothing may be drawn then.
fn some_pipes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = support::surface(&device, 16, Domain::Vram)?;
    let z_pipes = device.info(const { info_request("NUM_Z_PIPES") })?;
    let (register, pipes) = if z_pipes > 1 {
        (mmio::FG_ZBREG_DEST, z_pipes)
    } else {
        let pipes = device.info(const { info_request("NUM_GB_PIPES") })?;
        (mmio::SU_REG_DEST, pipes)
    };
    let all = (1u32 << pipes) - 1;
    let stream = |selected: u32| {
        let mut stream = Stream::new();
        Draw::on(Image::new(&bo, WIDTH as u32, 16)).emit(&mut stream);
        stream.register(register, selected);
        let state = stream.len();
        Draw::on(Image::new(&bo, WIDTH as u32, 16)).emit(&mut stream);
        // Of the second draw only the packet, so that nothing but the draw can be refused.
        let draw = stream
            .words()
            .iter()
            .rposition(|word| word >> 30 == 3 && (word >> 8) & 0xff != u32::from(op::NOP))
            .context("no packet that draws")?;
        let mut alone = Stream::new();
        alone
            .extend(&stream.words()[..state])
            .extend(&stream.words()[draw..]);
        for entry in stream.relocations() {
            alone.raw_entry(*entry);
        }
        alone.register(register, all);
        anyhow::Ok(alone)
    };
    device.submit(&stream(all)?).context("all pipes")?;
    bo.wait()?;
    for pipe in 0..pipes {
        let what = format!("a draw without pipe {pipe} of {pipes}");
        let result = device.submit(&stream(all & !(1 << pipe))?);
        refused(&what, result, Errno::INVAL)?;
    }
    Ok(())
}

/// A client that draws with a brush that it has not set finds no colour of another client.
fn colours(context: &mut Context) -> Result<()> {
    const SECRET: u32 = 0x5ec2_e703;
    let (device, other) = (context.device()?, context.device()?);
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    let others = support::surface(&other, 16, Domain::Gtt)?;
    let fill = |bo| {
        let mut stream = Stream::new();
        let rect = Rect::new(0, 0, WIDTH, 16);
        let pitch = 4 * WIDTH as u32;
        draw2d::fill_by_registers(&mut stream, Surface::new(bo, pitch), SECRET, rect);
        stream
    };
    // Without the register write of the colour.
    let stream = fill(&bo);
    let at = stream.words().iter().position(|&word| word == SECRET);
    let at = at.context("no colour")?;
    let mut colourless = Stream::new();
    colourless
        .extend(&stream.words()[..at - 1])
        .extend(&stream.words()[at + 1..]);
    for entry in stream.relocations() {
        colourless.raw_entry(*entry);
    }
    for round in 0..3 {
        other.submit(&fill(&others))?;
        device.submit(&colourless)?;
        bo.wait()?;
        let seen = bo.read()?;
        ensure!(
            seen.iter().all(|&word| word == 0),
            "round {round}: {:#x} is seen",
            seen[0]
        );
        // A client's own colour stays, since it may come in a stream of its own.
        device.submit(&stream)?;
        device.submit(&colourless)?;
        bo.wait()?;
        let seen = bo.read()?;
        ensure!(
            seen.iter().all(|&word| word == SECRET),
            "round {round}: {:#x} after its own colour",
            seen[0]
        );
    }
    Ok(())
}
