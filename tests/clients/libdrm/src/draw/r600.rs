// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R6xx and R7xx: rows of pixels, copied by the command processor (`CP_DMA`). A fill copies a row of one colour that the
//! CPU has written.

use super::{Engine, Rect, WIDTH};
use crate::client::{Bo, Client, Commands};
use anyhow::Result;
use lapidary_engines::r600::R600;
use lapidary_guest::device::Domain;
use lapidary_guest::painter::Painter as _;
use lapidary_guest::pm4;
use lapidary_registers::r600::pm4::cp_dma::{command, src_address_hi};
use lapidary_registers::r600::pm4::op;

/// Bytes of a row.
const PITCH: u32 = WIDTH * 4;
/// Dwords of a copy, with its two relocations.
const COPY: u32 = 10;

/// The command processor.
pub struct Rows;

/// Copy `bytes` bytes from place to place, and wait until they are there.
fn row(
    commands: &mut Commands<'_>,
    (from, from_domain, source): (&Bo<'_>, Domain, u32),
    (to, domain, target): (&Bo<'_>, Domain, u32),
    bytes: u32,
) -> Result<()> {
    commands.word(pm4::packet3(op::CP_DMA, 5))?;
    for word in [
        source,
        src_address_hi::CP_SYNC.of(1),
        target,
        0,
        command::BYTE_COUNT.of(bytes),
    ] {
        commands.word(word)?;
    }
    commands.relocation(from, from_domain.bits(), 0)?;
    commands.relocation(to, 0, domain.bits())
}

impl Engine for Rows {
    fn knows(&self, device_id: u32) -> bool {
        R600.knows(device_id)
    }

    fn has_surfaces(&self) -> bool {
        true
    }

    fn fill(
        &self,
        client: &Client,
        commands: &mut Commands<'_>,
        (to, domain): (&Bo<'_>, Domain),
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
            let source = (&colours, Domain::Gtt, i as u32 * PITCH);
            commands.section(COPY * h, |commands| {
                (y..y + h)
                    .try_for_each(|y| row(commands, source, (to, domain, y * PITCH + x * 4), w * 4))
            })?;
        }
        Ok(())
    }

    fn copy(
        &self,
        commands: &mut Commands<'_>,
        (from, from_domain): (&Bo<'_>, Domain),
        (to, domain): (&Bo<'_>, Domain),
        (from_x, from_y): (u32, u32),
        Rect(x, y, w, h): Rect,
    ) -> Result<()> {
        commands.section(COPY * h, |commands| {
            (0..h).try_for_each(|i| {
                let source = (from_y + i) * PITCH + from_x * 4;
                let target = (y + i) * PITCH + x * 4;
                row(
                    commands,
                    (from, from_domain, source),
                    (to, domain, target),
                    w * 4,
                )
            })
        })
    }
}
