// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The CP's part in stream-out: where buffers begin, how far they are filled, where they go on.
//!
//! A flush of stream-out brings VGT_STRMOUT_BUFFER_FILLED_SIZE up to date and sets OFFSET_UPDATE_DONE, for which clients wait
//! (Mesa, `r600_streamout.c`; the manual has neither). No draw is executed, so a buffer is filled up to the offset that was
//! set.

use lapidary_model::machine::Machine;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::pm4::strmout_buffer_update::control;

use crate::R6xx;
use crate::engine3d::streamout::BUFFERS;
use crate::kind;
use crate::packet::wide;
use crate::unit::Unit;

impl R6xx {
    /// Execute SO_VGTSTREAMOUT_FLUSH.
    pub(crate) fn streamout_flush(&mut self) {
        for n in 0..BUFFERS {
            let offset = mmio::VGT_STRMOUT_BUFFER_OFFSET.at(n).unwrap_or_default();
            let filled = mmio::VGT_STRMOUT_BUFFER_FILLED_SIZE
                .at(n)
                .unwrap_or_default();
            self.regs.set(filled, self.regs.get(offset));
        }
        let done = mmio::cp_strmout_cntl::OFFSET_UPDATE_DONE.mask();
        let now = self.regs.get(mmio::CP_STRMOUT_CNTL);
        self.regs.set(mmio::CP_STRMOUT_CNTL, now | done);
    }

    /// Execute STRMOUT_BUFFER_UPDATE. It stores the filled size, then sets the offset.
    pub(crate) fn streamout_update(&mut self, m: &mut Machine, body: &[u32]) {
        use control::{OFFSET_SOURCE, SELECT_BUFFER, STORE_BUFFER_FILLED_SIZE, offset_source};
        let fields = OFFSET_SOURCE.mask() | SELECT_BUFFER.mask() | STORE_BUFFER_FILLED_SIZE.mask();
        if body[0] & !fields != 0 {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("STRMOUT_BUFFER_UPDATE {:#x}", body[0]),
            );
        }
        let n = SELECT_BUFFER.get(body[0]);
        let filled = mmio::VGT_STRMOUT_BUFFER_FILLED_SIZE
            .at(n)
            .unwrap_or_default();
        let filled = self.regs.get(filled);
        if STORE_BUFFER_FILLED_SIZE.any(body[0]) {
            let at = wide(body[1] & !3, body[2]);
            self.bus.write32(m, Unit::Cp, at, filled);
        }
        let offset = match OFFSET_SOURCE.get(body[0]) {
            offset_source::FROM_PACKET => body[3],
            offset_source::FROM_VGT_FILLED_SIZE => filled,
            offset_source::FROM_MEM => {
                let at = wide(body[3] & !3, body[4]);
                self.bus.read32(m, Unit::Cp, at)
            }
            _ => return,
        };
        let register = mmio::VGT_STRMOUT_BUFFER_OFFSET.at(n).unwrap_or_default();
        self.pipe_written(m, register, offset);
    }

    /// Execute STRMOUT_BASE_UPDATE of R7xx. The CP learns the base of a buffer, which must be the one in its register.
    pub(crate) fn streamout_base(&mut self, m: &mut Machine, buffer: u32, base: u32) {
        let Some(register) = mmio::VGT_STRMOUT_BUFFER_BASE.at(buffer) else {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("STRMOUT_BASE_UPDATE of buffer {buffer}"),
            );
            return;
        };
        if self.regs.get(register) == base {
            self.stated.streamout &= !(1 << buffer);
        } else {
            self.stated.streamout |= 1 << buffer;
        }
    }
}
