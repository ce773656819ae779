// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The walk through a stream: headers of four dwords, what they count, and padding.
//!
//! The manual names headers and has no formats; those of VIA's driver are taken (decision 2). The regulator looks for a header
//! at each multiple of 16 bytes, unless it is in the middle of what a header counts. So a header's pattern in counted data is
//! data. Data that is not counted, parameters of header 2, ends at the next header.
//!
//! What is refused here leaves the regulator's hands: branches in a branch, headers for data of video and for DMA, and all
//! windows and types by which the regulator itself is programmed.

use super::{
    parameter::Kind,
    Checker,
    Reason, //
};
use crate::portable::{
    policy::{
        self,
        Policy, //
    },
    regs::{
        header::{
            self,
            host_data_2d, //
        },
        mmio, //
    },
};

/// Dwords that the regulator fetches at once.
pub(super) const UNIT: usize = 4;
/// Bits 31:24 of a header.
const HEADER: u32 = 0xfe;
/// Bits 31:24 of dwords without effect (decision 2: public drivers pad with them).
const NULL: [u32; 6] = [0xcc, 0xcd, 0xce, 0xcf, 0xdd, 0xee];
/// Bytes of the window for data of the CPU (L533).
const HOST_WINDOW: usize = 0x20_0000;
/// Bits 15:0 of a header: the offset of a register.
const ADDRESS: u32 = header::parameters::ADDRESS.mask();

/// Return whether a dword is padding, wherever it stands.
pub(super) fn is_null(word: u32) -> bool {
    NULL.contains(&(word >> 24))
}

/// Return the code of what may be a header.
pub(super) fn code(word: u32) -> Option<u32> {
    (word >> 24 == HEADER).then_some((word >> 16) & 0xff)
}

impl Checker<'_> {
    pub(super) fn run(&mut self) -> Result<usize, Reason> {
        let end = self.stream.len();
        if end % UNIT != 0 {
            return self.at(end, Reason::StreamLength);
        }
        let mut at = 0;
        while let Some(&[first, count, third, last]) =
            self.stream.get(at..).and_then(|s| s.first_chunk())
        {
            self.position = at;
            at = match code(first) {
                Some(code) => self.header(at, code, [first, count, third, last])?,
                None => self.padding(at, at.wrapping_add(UNIT))?,
            };
        }
        self.position = end;
        self.engine2d.nothing_due()?;
        self.attributes.finish()?;
        self.video.finish()?;
        self.relocations.finish().map_err(|(position, reason)| {
            self.position = position;
            reason
        })
    }

    /// Check that dwords are padding, from `at` to the next multiple of 16 bytes from `end` on. Return that.
    fn padding(&mut self, at: usize, end: usize) -> Result<usize, Reason> {
        let end = end.wrapping_add(UNIT.wrapping_sub(1)) & !UNIT.wrapping_sub(1);
        let words = self.stream.get(at..end).unwrap_or_default();
        match words.iter().position(|word| !is_null(*word)) {
            Some(index) => self.at(at.wrapping_add(index), Reason::NoHeader),
            None => Ok(end),
        }
    }

    /// Check a header at `at`, the current position, and what belongs to it. Return where the next one is.
    fn header(&mut self, at: usize, code: u32, words: [u32; 4]) -> Result<usize, Reason> {
        if code != header::HOST_DATA_2D {
            self.engine2d.nothing_due()?;
        }
        match code {
            header::REGISTERS_2D => self.registers(at, words),
            header::HOST_DATA_2D => self.host_data(at, words),
            header::PARAMETERS => self.parameters(at, words),
            header::VERTEX_DATA => self.counted_parameters(at, words),
            header::VIDEO_REGISTERS => self.video_registers(at, words),
            header::VIDEO_DATA | header::DEBUG | header::DMA_REGISTERS => {
                Err(Reason::ForbiddenHeader)
            }
            header::BRANCH | header::SECOND_BRANCH_ASSUMED => Err(Reason::NestedBranch),
            _ => Err(Reason::UnknownHeader),
        }
    }

    /// Check dword 2 of a header without a setting.
    fn no_setting(&mut self, at: usize, third: u32) -> Result<(), Reason> {
        if third != 0 {
            return self.at(at.wrapping_add(2), Reason::HeaderBits);
        }
        Ok(())
    }

    /// Check dword 3 of a header, in which public drivers have padding.
    fn no_flags(&mut self, at: usize, last: u32) -> Result<(), Reason> {
        if last != 0 && !is_null(last) {
            return self.at(at.wrapping_add(3), Reason::HeaderBits);
        }
        Ok(())
    }

    /// Return where what a header at `at` counts begins and ends: `count` pieces of `dwords` dwords.
    fn counted(&mut self, at: usize, count: u32, dwords: usize) -> Result<(usize, usize), Reason> {
        let start = at.wrapping_add(UNIT);
        if count == 0 {
            return self.at(at.wrapping_add(1), Reason::EmptyHeader);
        }
        let end = (count as usize)
            .checked_mul(dwords)
            .and_then(|length| start.checked_add(length))
            .filter(|end| *end <= self.stream.len());
        match end {
            Some(end) => Ok((start, end)),
            None => self.at(at.wrapping_add(1), Reason::Truncated),
        }
    }

    /// Check a header of pairs. Return where they begin and end.
    fn pairs(
        &mut self,
        at: usize,
        [first, count, third, last]: [u32; 4],
    ) -> Result<(usize, usize), Reason> {
        if first & ADDRESS != 0 {
            return Err(Reason::HeaderBits);
        }
        self.no_setting(at, third)?;
        self.no_flags(at, last)?;
        self.counted(at, count, 2)
    }

    /// Check pairs of an offset and a value, for the 2D engine.
    fn registers(&mut self, at: usize, words: [u32; 4]) -> Result<usize, Reason> {
        let (start, end) = self.pairs(at, words)?;
        let pairs = self.stream.get(start..end).unwrap_or_default();
        // Before the first pair nothing is due, and only a command changes that.
        let mut due = false;
        let mut position = start;
        for pair in pairs.chunks_exact(2) {
            let [offset, value] = *pair else {
                continue;
            };
            if due || !self.engine2d.keep(offset, value) {
                self.position = position;
                self.register(offset, value)?;
                due = self.engine2d.nothing_due().is_err();
            }
            position = position.wrapping_add(2);
        }
        self.padding(end, end)
    }

    /// Check a pair. The current position is that of the offset.
    fn register(&mut self, offset: u32, value: u32) -> Result<(), Reason> {
        if offset >= policy::END {
            return Err(Reason::PairRange);
        }
        if offset % 4 != 0 {
            return Err(Reason::PairAlignment);
        }
        // What a command takes of the CPU must come at once: the rectangle is half drawn.
        self.engine2d.nothing_due()?;
        let policy = match policy::of(offset) {
            Policy::Unknown => return Err(Reason::UnknownRegister),
            Policy::Pattern => return Err(Reason::PatternRegister),
            Policy::Kernel => return Err(Reason::KernelRegister),
            other => other,
        };
        self.position = self.position.wrapping_add(1);
        self.register_2d(policy, value)
    }

    /// Check pairs of an offset and a value, for HQV.
    fn video_registers(&mut self, at: usize, words: [u32; 4]) -> Result<usize, Reason> {
        let (start, end) = self.pairs(at, words)?;
        let pairs = self.stream.get(start..end).unwrap_or_default();
        let mut position = start;
        for pair in pairs.chunks_exact(2) {
            let [offset, value] = *pair else {
                continue;
            };
            self.position = position;
            self.video_register(offset, value)?;
            position = position.wrapping_add(2);
        }
        self.padding(end, end)
    }

    /// Check data of the CPU.
    fn host_data(
        &mut self,
        at: usize,
        [first, count, third, last]: [u32; 4],
    ) -> Result<usize, Reason> {
        let address = host_data_2d::ADDRESS.get(first) as usize;
        if address % 4 != 0 {
            return Err(Reason::HostWindow);
        }
        self.no_setting(at, third)?;
        self.no_flags(at, last)?;
        let (start, end) = self.counted(at, count, 1)?;
        // No overflow: a stream is not longer than memory.
        let dwords = end.wrapping_sub(start);
        if dwords > HOST_WINDOW.wrapping_sub(address) / 4 {
            return Err(Reason::HostWindow);
        }
        if let Err((taken, reason)) = self.engine2d.take_host_data(dwords as u64) {
            // Data that nothing takes shows by its header, too much of it by the first dword too many.
            if reason == Reason::HostExcess {
                self.position = start.wrapping_add(taken as usize);
            }
            return Err(reason);
        }
        self.padding(end, end)
    }

    /// Check parameters, up to the next header.
    fn parameters(
        &mut self,
        at: usize,
        [first, register, setting, last]: [u32; 4],
    ) -> Result<usize, Reason> {
        let (window_3d, space) = match register {
            mmio::CR_SETTING => (false, mmio::CR_SPACE.at(0)),
            mmio::SETTING_3D => (true, mmio::SPACE_3D.at(0)),
            _ => return self.at(at.wrapping_add(1), Reason::HeaderRegister),
        };
        if Some(first & ADDRESS) != space {
            return Err(Reason::HeaderRegister);
        }
        self.no_flags(at, last)?;
        self.position = at.wrapping_add(2);
        let kind = Kind::of(setting)?;
        // The window of the regulator takes no other types (L539).
        if !window_3d && kind != Kind::Dummy {
            return Err(Reason::ReservedType);
        }
        self.open(kind, at, at.wrapping_add(UNIT))
    }

    /// Check parameters that are counted.
    fn counted_parameters(
        &mut self,
        at: usize,
        [first, count, setting, last]: [u32; 4],
    ) -> Result<usize, Reason> {
        if first & ADDRESS != mmio::SETTING_3D {
            return Err(Reason::HeaderRegister);
        }
        self.no_flags(at, last)?;
        self.position = at.wrapping_add(2);
        let kind = Kind::of(setting)?;
        let (start, end) = self.counted(at, count, 1)?;
        self.all(kind, at, start, end)?;
        self.padding(end, end)
    }
}
