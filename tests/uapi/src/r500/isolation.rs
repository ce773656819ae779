// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers that choose pipes, as a way to another client's state.

use anyhow::{Context as _, Result};
use lapidary_engines::r500::draw3d::{Draw, Image};
use lapidary_guest::abi::info_request;
use lapidary_guest::{Client as _, Domain, Errno, Stream};
use lapidary_harness::{Context, Test, refused};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use lapidary_uapi_radeon::support::{self, WIDTH};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("isolation/some_pipes_only", some_pipes)
            .lapidary_only("our checker lets no stream draw while writes reach some pipes only"),
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
