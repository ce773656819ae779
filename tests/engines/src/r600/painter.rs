// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The painter of R6xx and R7xx: copies by the command processor, which all chips of the family have, objects by
//! relocation.

use super::cp;
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::painter::{Area, Forbidden, Painter, Rect};
use lapidary_guest::stream::{Access, Stream};
use lapidary_guest::{Bo, pm4};
use lapidary_harness::control::Control;
use lapidary_registers::r600::mmio::{self, cp_me_cntl};
use lapidary_registers::r600::pm4::op;

/// The painter of R6xx and R7xx.
#[derive(Debug)]
pub struct R600;

/// Return a register of the model.
fn peek(control: &mut Control, register: &str) -> Result<u32> {
    let answer = control.request(&format!("peek {register}"))?;
    let text = answer.first().context("no answer")?;
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).context(text.clone())
}

/// Synchronise one line of the texture cache with memory at the start of an object.
fn synchronise(stream: &mut Stream, bo: &Bo) {
    use lapidary_registers::r600::mmio_r6xx::cp_coher_cntl::TC_ACTION_ENA;
    stream
        .packet(op::SURFACE_SYNC, &[TC_ACTION_ENA.of(1), 1, 0, 10])
        .relocation(bo, Access::Read);
}

impl Painter for R600 {
    fn module(&self) -> &'static str {
        "r600"
    }

    /// Return whether the id is one of desktop and mobile chips from R600 to RV740.
    fn knows(&self, device_id: u32) -> bool {
        (0x9400..0x9600).contains(&device_id)
    }

    /// Return a packet of type 1, which this family does not have, and one that is longer than the stream.
    fn forbidden(&self) -> Vec<Forbidden> {
        vec![
            Forbidden {
                words: vec![pm4::packet1(0, 4), 0, 0],
                reason: 0x1003,
            },
            Forbidden {
                words: vec![pm4::packet3(op::NOP, 4), 0],
                reason: 0x1002,
            },
        ]
    }

    fn fill(&self, stream: &mut Stream, to: Area<'_>, colour: u32, rect: Rect) {
        cp::fill(stream, to, colour, rect);
    }

    fn copy(&self, stream: &mut Stream, from: Area<'_>, to: Area<'_>, at: (i32, i32), rect: Rect) {
        cp::blit(stream, from, to, at, rect);
    }

    fn triangle(&self, _: &mut Stream, _: Area<'_>, _: u32) -> bool {
        false
    }

    fn mention(&self, stream: &mut Stream, bo: &Bo) {
        synchronise(stream, bo);
    }

    fn nothing(&self, stream: &mut Stream) {
        stream.packet(pm4::NOP, &[0]).pad(8);
    }

    /// Return `false`, since an end-of-pipe event writes to memory only.
    fn keeps_fences(&self) -> bool {
        false
    }

    /// Take the address from the copy unit, which keeps the places of its last copy.
    fn address(&self, control: &mut Control, bo: &Bo) -> Result<u64> {
        let mut stream = Stream::new();
        cp::copy(&mut stream, (bo, 0), (bo, 4), 4);
        bo.device().submit(&stream).context("naming the object")?;
        bo.wait()?;
        let runs = control.request("on-chip cp-dma")?;
        let mut words = Vec::new();
        for run in &runs {
            let (count, word) = run.split_once(' ').context(run.clone())?;
            let word = u32::from_str_radix(word.trim_start_matches("0x"), 16)?;
            words.extend(vec![u64::from(word); count.parse()?]);
        }
        let [low, high, ..] = words[..] else {
            bail!("{runs:?}");
        };
        Ok(low | (high << 32))
    }

    /// Check that no interrupt can come, no command is fetched, and nothing is written to memory or read from it.
    fn is_stopped(&self, control: &mut Control) -> Result<()> {
        let halt = cp_me_cntl::ME_HALT.mask();
        let halted = peek(control, "CP_ME_CNTL")?;
        ensure!(halted & halt == halt, "CP_ME_CNTL is {halted:#x}");
        for (name, mask) in [
            ("CP_INT_CNTL", u32::MAX),
            ("DMA_CNTL", mmio::dma_cntl::TRAP_ENABLE.mask()),
            ("DMA_RB_CNTL", mmio::dma_rb_cntl::DMA_RB_ENABLE.mask()),
            ("IH_RB_CNTL", mmio::ih_rb_cntl::IH_RB_ENABLE.mask()),
            ("IH_CNTL", mmio::ih_cntl::ENABLE_INTR.mask()),
            ("RLC_CNTL", u32::MAX),
            ("SCRATCH_UMSK", u32::MAX),
            ("VM_CONTEXT_CNTL[0]", 1),
        ] {
            let found = peek(control, name)?;
            ensure!(found & mask == 0, "{name} is {found:#x}");
        }
        Ok(())
    }

    fn registers(&self) -> &'static [&'static str] {
        &["GRBM_STATUS", "CP_RB_RPTR", "CP_RB_WPTR"]
    }
}
