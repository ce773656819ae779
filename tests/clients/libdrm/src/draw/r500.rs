// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R5xx: rectangles of the 2D engine, by registers.

use super::{Engine, HEIGHT, PITCH, Rect, Surface, WIDTH};
use crate::client::{Client, Commands};
use anyhow::Result;
use lapidary_engines::r500::{R500, draw2d::rop};
use lapidary_guest::painter::Painter;
use lapidary_registers::r500::enums::{brush_type, datatype, src_load, src_type};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::gui_control;

fn control(brush: u32, rop: u8) -> u32 {
    let mut word = gui_control::DST_PITCH_OFF.put(0, 1);
    word = gui_control::SRC_PITCH_OFF.put(word, 1);
    word = gui_control::SRC_CLIPPING.put(word, 1);
    word = gui_control::DST_CLIPPING.put(word, 1);
    word = gui_control::BRUSH_TYPE.put(word, brush);
    word = gui_control::DST_TYPE.put(word, datatype::ARGB8888);
    word = gui_control::SRC_TYPE.put(word, src_type::COLOR);
    word = gui_control::WIN31_ROP.put(word, u32::from(rop));
    word = gui_control::SRC_LOAD.put(word, src_load::MEMORY);
    word = gui_control::GMC_CLR_CMP_FCN_DIS.put(word, 1);
    gui_control::GMC_WR_MSK_DIS.put(word, 1)
}

fn pitch_offset() -> u32 {
    mmio::dst_pitch_offset::PITCH.put(0, PITCH / 64)
}

fn forward() -> u32 {
    let word = mmio::dp_cntl::DST_X_LEFT_TO_RIGHT.put(0, 1);
    mmio::dp_cntl::DST_Y_TOP_TO_BOTTOM.put(word, 1)
}

fn pair(high: u32, low: u32) -> u32 {
    (high << 16) | low
}

/// The 2D engine.
pub struct Rectangles;

impl Engine for Rectangles {
    fn painter(&self) -> &'static dyn Painter {
        &R500
    }

    fn has_surfaces(&self) -> bool {
        false
    }

    fn fill(
        &self,
        _: &Client,
        commands: &mut Commands<'_>,
        to: Surface<'_>,
        rectangles: &[(Rect, u32)],
    ) -> Result<()> {
        let words = 12 + 6 * rectangles.len() as u32;
        commands.section(words, |commands| {
            commands.register(mmio::DST_PITCH_OFFSET, pitch_offset())?;
            to.is_written(commands)?;
            commands.register(mmio::SC_TOP_LEFT, 0)?;
            commands.register(mmio::SC_BOTTOM_RIGHT, pair(HEIGHT, WIDTH))?;
            commands.register(
                mmio::DP_GUI_MASTER_CNTL,
                control(brush_type::SOLID_COLOR, rop::PATCOPY),
            )?;
            commands.register(mmio::DP_CNTL, forward())?;
            for &(Rect(x, y, w, h), colour) in rectangles {
                commands.register(mmio::DP_BRUSH_FRGD_CLR, colour)?;
                commands.register(mmio::DST_Y_X, pair(y, x))?;
                commands.register(mmio::DST_HEIGHT_WIDTH, pair(h, w))?;
            }
            Ok(())
        })
    }

    fn copy(
        &self,
        commands: &mut Commands<'_>,
        from: Surface<'_>,
        to: Surface<'_>,
        (from_x, from_y): (u32, u32),
        Rect(x, y, w, h): Rect,
    ) -> Result<()> {
        commands.section(24, |commands| {
            commands.register(mmio::SRC_PITCH_OFFSET, pitch_offset())?;
            from.is_read(commands)?;
            commands.register(mmio::DST_PITCH_OFFSET, pitch_offset())?;
            to.is_written(commands)?;
            commands.register(mmio::SC_TOP_LEFT, 0)?;
            commands.register(mmio::SC_BOTTOM_RIGHT, pair(HEIGHT, WIDTH))?;
            commands.register(mmio::SRC_SC_BOTTOM_RIGHT, pair(HEIGHT, WIDTH))?;
            commands.register(
                mmio::DP_GUI_MASTER_CNTL,
                control(brush_type::NONE, rop::SRCCOPY),
            )?;
            commands.register(mmio::DP_CNTL, forward())?;
            commands.register(mmio::SRC_Y_X, pair(from_y, from_x))?;
            commands.register(mmio::DST_Y_X, pair(y, x))?;
            commands.register(mmio::DST_HEIGHT_WIDTH, pair(h, w))
        })
    }
}
