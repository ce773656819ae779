// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where the dwords of a stream come from: memory behind the GART, or the queue that the host pushes into.

use lapidary_registers::r500::mmio;

use super::R5xx;
use super::cp::{Mode, Stream};
use crate::fault;
use crate::unit::Unit;
use lapidary_model::amd::swap::swapped;
use lapidary_model::machine::Machine;

impl R5xx {
    pub(super) fn available(&self, stream: Stream) -> u32 {
        let i = stream as usize;
        let pushed = self.cp.queues[i].len() as u32;
        let left = self.cp.buffers[i].map_or(0, |b| b.size - b.next);
        match (self.mode(stream), stream) {
            (Mode::Off, _) => 0,
            (Mode::Push, Stream::Ring) => pushed,
            (Mode::Push, _) => pushed.min(left),
            (Mode::Pull, Stream::Ring) => self.cp.ring.pending(self.ring_shape()),
            (Mode::Pull, _) => left,
        }
    }

    /// Return where the next dword of a pulled stream lies; 0 for a pushed one.
    pub(super) fn address(&self, stream: Stream) -> u32 {
        match (self.mode(stream), self.cp.buffers[stream as usize]) {
            (Mode::Pull, Some(b)) => b.base.wrapping_add(b.next.wrapping_mul(4)),
            (Mode::Pull, None) => self
                .regs
                .get(mmio::CP_RB_BASE)
                .wrapping_add(self.cp.ring.position(self.ring_shape()) * 4),
            _ => 0,
        }
    }

    /// Consume `n` dwords, which must be available.
    pub(super) fn take(&mut self, m: &mut Machine, stream: Stream, n: u32) -> Vec<u32> {
        self.take_as(m, stream, n, Unit::Fetch)
    }

    /// Return the same, fetched for that unit.
    pub(super) fn take_as(
        &mut self,
        m: &mut Machine,
        stream: Stream,
        n: u32,
        unit: Unit,
    ) -> Vec<u32> {
        let i = stream as usize;
        let mut words = Vec::with_capacity(n as usize);
        let pulled = self.mode(stream) == Mode::Pull;
        if !pulled {
            words.extend(self.cp.queues[i].drain(..(n as usize).min(self.cp.queues[i].len())));
        }
        let at = self.address(stream);
        if let Some(b) = &mut self.cp.buffers[i] {
            b.next += n;
            if pulled {
                self.fetch(m, unit, at, n, &mut words);
            }
        } else if pulled {
            let shape = self.ring_shape();
            let to_end = n.min(shape.size - self.cp.ring.position(shape));
            self.fetch(m, unit, at, to_end, &mut words);
            let base = self.regs.get(mmio::CP_RB_BASE);
            self.fetch(m, unit, base, n - to_end, &mut words);
            if self.cp.ring.advance(n, shape) {
                self.write_back_rptr(m);
            }
        }
        m.counters.add("fetched_dwords", n.into());
        words
    }

    fn fetch(&mut self, m: &mut Machine, unit: Unit, at: u32, n: u32, words: &mut Vec<u32>) {
        let mut bytes = vec![0; n as usize * 4];
        if n > 0 {
            self.bus.read(m, unit, at, &mut bytes);
        }
        let swap = mmio::cp_rb_cntl::BUF_SWAP.get(self.regs.get(mmio::CP_RB_CNTL));
        words.extend(
            bytes
                .chunks_exact(4)
                .map(|b| swapped(swap, u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        );
    }

    pub(super) fn write_back_rptr(&mut self, m: &mut Machine) {
        let cntl = self.regs.get(mmio::CP_RB_CNTL);
        if mmio::cp_rb_cntl::RB_NO_UPDATE.any(cntl) || m.faults.take(fault::LOST_RPTR) {
            return;
        }
        let address = self.regs.get(mmio::CP_RB_RPTR_ADDR);
        let value = swapped(
            mmio::cp_rb_rptr_addr::RB_RPTR_SWAP.get(address),
            self.cp.ring.rptr,
        );
        m.counters.add("rptr_writebacks", 1);
        self.bus.write32(
            m,
            Unit::Cp,
            address & mmio::cp_rb_rptr_addr::RB_RPTR_ADDR.mask(),
            value,
        );
    }
}
