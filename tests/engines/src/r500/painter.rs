// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The painter of R5xx: 2D drawing by register writes, objects by relocation.

use super::draw2d::{self, Surface};
use super::draw3d::{Draw, Image};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::painter::{Area, Forbidden, Painter, Rect};
use lapidary_guest::stream::{Access, Stream};
use lapidary_guest::{Bo, pm4};
use lapidary_harness::control::Control;
use lapidary_registers::r500::mmio::{self, dst_pitch_offset};
use lapidary_registers::r500::pcie;

/// The painter of R5xx.
#[derive(Debug)]
pub struct R500;

fn surface(area: Area<'_>) -> Surface<'_> {
    Surface {
        offset: area.offset,
        ..Surface::new(area.bo, area.pitch)
    }
}

/// Return a register of the model.
fn peek(control: &mut Control, register: &str) -> Result<u32> {
    let answer = control.request(&format!("peek {register}"))?;
    let text = answer.first().context("no answer")?;
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).context(text.clone())
}

impl Painter for R500 {
    fn module(&self) -> &'static str {
        "r500"
    }

    /// Return whether the id is one from 0x7100 to 0x72ff. The kernel's `radeon` knows these as chips with R5xx's
    /// engines.
    fn knows(&self, device_id: u32) -> bool {
        (0x7100..0x7300).contains(&device_id)
    }

    /// Return a packet of type 1, and one that is longer than the stream.
    fn forbidden(&self) -> Vec<Forbidden> {
        vec![
            Forbidden {
                words: vec![pm4::packet1(0, 4), 0, 0],
                reason: 0x1004,
            },
            Forbidden {
                words: vec![pm4::packet0(mmio::DST_Y_X, 3), 0],
                reason: 0x1002,
            },
        ]
    }

    fn fill(&self, stream: &mut Stream, to: Area<'_>, colour: u32, rect: Rect) {
        draw2d::fill_by_registers(stream, surface(to), colour, rect);
    }

    fn copy(&self, stream: &mut Stream, from: Area<'_>, to: Area<'_>, at: (i32, i32), rect: Rect) {
        draw2d::copy_by_registers(stream, surface(from), surface(to), at, rect);
    }

    fn triangle(&self, stream: &mut Stream, to: Area<'_>, rows: u32) -> bool {
        let image = Image {
            offset: to.offset,
            ..Image::new(to.bo, to.pitch / 4, rows)
        };
        Draw::on(image).emit(stream);
        true
    }

    /// Set the 2D engine's source.
    fn mention(&self, stream: &mut Stream, bo: &Bo) {
        let source = Surface::new(bo, 256).pitch_offset();
        stream
            .register(mmio::SRC_PITCH_OFFSET, source)
            .relocation(bo, Access::Read);
    }

    fn nothing(&self, stream: &mut Stream) {
        stream.packet(pm4::NOP, &[0]).pad(8);
    }

    /// Read the address from the register that a stream with the 2D engine's destination leaves. Nothing is drawn by
    /// that.
    fn address(&self, control: &mut Control, bo: &Bo) -> Result<u64> {
        let mut stream = Stream::new();
        stream
            .register(mmio::DST_PITCH_OFFSET, Surface::new(bo, 64).pitch_offset())
            .relocation(bo, Access::Write);
        bo.device().submit(&stream).context("naming the object")?;
        bo.wait()?;
        let word = peek(control, "DST_PITCH_OFFSET")?;
        Ok(u64::from(dst_pitch_offset::OFFSET.get(word)) * 1024)
    }

    /// Check that no interrupt can come, no command is fetched, and nothing is written to memory or read from it.
    fn is_stopped(&self, control: &mut Control) -> Result<()> {
        for (name, mask) in [
            ("GEN_INT_CNTL", u32::MAX),
            ("CP_CSQ_CNTL", mmio::cp_csq_cntl::CSQ_MODE.mask()),
            ("SCRATCH_UMSK", u32::MAX),
            ("PCIE_TX_GART_CNTL", pcie::pcie_tx_gart_cntl::GART_EN.mask()),
            ("PCIE_TX_GART_START_LO", u32::MAX),
            ("PCIE_TX_GART_END_LO", u32::MAX),
        ] {
            let found = peek(control, name)?;
            ensure!(found & mask == 0, "{name} is {found:#x}");
        }
        Ok(())
    }

    fn registers(&self) -> &'static [&'static str] {
        &["RBBM_STATUS", "CP_RB_RPTR", "CP_RB_WPTR"]
    }
}
