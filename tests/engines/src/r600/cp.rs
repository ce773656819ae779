// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Filling and copying by the command processor: `MEM_WRITE` and `CP_DMA`, row by row.
//!
//! `CP_DMA` copies memory and does not fill. So a fill writes the first two pixels by `MEM_WRITE`, doubles them along the
//! first row, and copies that row to the others. Each copy waits for the one before (`CP_SYNC`). `MEM_WRITE` takes
//! multiples of eight bytes only. A pixel at an odd place is written by an end-of-pipe event, which takes any dword.
//!
//! Addresses in the commands are offsets inside of objects. A relocation marker behind the packet names the object, one
//! for each address, source first.

use lapidary_guest::Bo;
use lapidary_guest::painter::{Area, Rect};
use lapidary_guest::stream::{Access, Stream};
use lapidary_registers::r600::pm4::cp_dma::{command, src_address_hi};
use lapidary_registers::r600::pm4::event::{self, event_index, event_type};
use lapidary_registers::r600::pm4::event_write_eop::control as eop;
use lapidary_registers::r600::pm4::mem_write::control as mem_write;
use lapidary_registers::r600::pm4::op;

/// The most bytes of one copy that are a multiple of the alignment of rows.
const MOST: u32 = 0x1f_ff00;

/// Return the body of `CP_DMA` for a copy that the next packet waits for. Two markers follow it.
pub fn copied(from: u32, to: u32, bytes: u32) -> [u32; 5] {
    let wait = src_address_hi::CP_SYNC.of(1);
    [from, wait, to, 0, command::BYTE_COUNT.of(bytes)]
}

/// Copy `bytes` bytes from one place to another, and wait until they are there.
pub fn copy(stream: &mut Stream, from: (&Bo, u32), to: (&Bo, u32), bytes: u32) {
    let mut done = 0;
    while done < bytes {
        let part = (bytes - done).min(MOST);
        stream
            .packet(op::CP_DMA, &copied(from.1 + done, to.1 + done, part))
            .relocation(from.0, Access::Read)
            .relocation(to.0, Access::Write);
        done += part;
    }
}

/// Write two dwords to a multiple of eight bytes.
pub fn write_two(stream: &mut Stream, to: (&Bo, u32), words: [u32; 2]) {
    let control = mem_write::WR_CONFIRM.of(1);
    stream
        .packet(op::MEM_WRITE, &[to.1, control, words[0], words[1]])
        .relocation(to.0, Access::Write);
}

/// Write one dword at the end of the pipe.
pub fn write_one(stream: &mut Stream, to: (&Bo, u32), word: u32) {
    let event = event::EVENT_TYPE.of(event_type::CACHE_FLUSH_AND_INV_TS_EVENT)
        | event::EVENT_INDEX.of(event_index::TS_EVENT);
    let control = eop::DATA_SEL.of(eop::data_sel::DATA_32);
    stream
        .packet(op::EVENT_WRITE_EOP, &[event, to.1, control, word, 0])
        .relocation(to.0, Access::Write);
}

/// Return the byte of pixel (`x`, `y`).
fn place(area: Area<'_>, x: i32, y: i32) -> u32 {
    area.offset + y as u32 * area.pitch + x as u32 * 4
}

/// Fill a rectangle with one colour.
pub fn fill(stream: &mut Stream, to: Area<'_>, colour: u32, rect: Rect) {
    let odd = rect.x % 2;
    let first = Rect {
        x: rect.x + odd,
        w: rect.w - odd,
        ..rect
    };
    for y in rect.y..rect.y + rect.h {
        if odd != 0 {
            write_one(stream, (to.bo, place(to, rect.x, y)), colour);
        }
        if first.w == 1 {
            write_one(stream, (to.bo, place(to, first.x, y)), colour);
        }
    }
    if first.w < 2 {
        return;
    }
    let (start, mut bytes) = (place(to, first.x, first.y), first.w as u32 * 4);
    let mut rows = 1..first.h as u32;
    if bytes == to.pitch {
        // The rows are one piece of memory.
        bytes *= first.h as u32;
        rows = 0..0;
    }
    write_two(stream, (to.bo, start), [colour; 2]);
    let mut done = 8;
    while done < bytes {
        let part = done.min(bytes - done);
        copy(stream, (to.bo, start), (to.bo, start + done), part);
        done += part;
    }
    for y in rows {
        let row = start + y * to.pitch;
        copy(stream, (to.bo, start), (to.bo, row), bytes);
    }
}

/// Copy a rectangle of the size of `rect` from `corner` to it.
pub fn blit(stream: &mut Stream, from: Area<'_>, to: Area<'_>, corner: (i32, i32), rect: Rect) {
    for row in 0..rect.h {
        let source = place(from, corner.0, corner.1 + row);
        let target = place(to, rect.x, rect.y + row);
        copy(
            stream,
            (from.bo, source),
            (to.bo, target),
            rect.w as u32 * 4,
        );
    }
}
