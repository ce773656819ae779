// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R6xx and R7xx: rows of pixels, copied by the command processor (`CP_DMA`). A fill copies a row of one colour that the
//! CPU has written.

use super::{Engine, PITCH, Rect, Surface, WIDTH};
use crate::client::{Client, Commands};
use anyhow::Result;
use lapidary_engines::r600::{R600, cp};
use lapidary_guest::device::Domain;
use lapidary_guest::painter::Painter;
use lapidary_guest::pm4;
use lapidary_registers::r600::pm4::op;

/// Dwords of a copy, with its two relocations.
const COPY: u32 = 10;

/// The command processor.
pub struct Rows;

/// Copy `bytes` bytes from place to place, and wait until they are there.
fn row(
    commands: &mut Commands<'_>,
    (from, source): (Surface<'_>, u32),
    (to, target): (Surface<'_>, u32),
    bytes: u32,
) -> Result<()> {
    let copy = cp::copied(source, target, bytes);
    commands.word(pm4::packet3(op::CP_DMA, copy.len()))?;
    copy.iter().try_for_each(|&word| commands.word(word))?;
    from.is_read(commands)?;
    to.is_written(commands)
}

impl Engine for Rows {
    fn painter(&self) -> &'static dyn Painter {
        &R600
    }

    fn has_surfaces(&self) -> bool {
        true
    }

    fn fill(
        &self,
        client: &Client,
        commands: &mut Commands<'_>,
        to: Surface<'_>,
        rectangles: &[(Rect, u32)],
    ) -> Result<()> {
        let colours = client.create(PITCH * rectangles.len() as u32, Domain::Gtt)?;
        colours.with_words(true, |words| {
            for (row, &(_, colour)) in words.chunks_mut(WIDTH as usize).zip(rectangles) {
                row.fill(colour);
            }
        })?;
        commands.reserve_more(&colours, Domain::Gtt.bits(), 0)?;
        for (i, &(Rect(x, y, w, h), _)) in rectangles.iter().enumerate() {
            let source = (Surface(&colours, Domain::Gtt), i as u32 * PITCH);
            commands.section(COPY * h, |commands| {
                (y..y + h).try_for_each(|y| row(commands, source, (to, y * PITCH + x * 4), w * 4))
            })?;
        }
        Ok(())
    }

    fn copy(
        &self,
        commands: &mut Commands<'_>,
        from: Surface<'_>,
        to: Surface<'_>,
        (from_x, from_y): (u32, u32),
        Rect(x, y, w, h): Rect,
    ) -> Result<()> {
        commands.section(COPY * h, |commands| {
            (0..h).try_for_each(|i| {
                let source = (from_y + i) * PITCH + from_x * 4;
                let target = (y + i) * PITCH + x * 4;
                row(commands, (from, source), (to, target), w * 4)
            })
        })
    }
}
