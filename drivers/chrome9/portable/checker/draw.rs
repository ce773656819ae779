// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A draw: what it needs, and the vertices or indices that follow its header.

use super::{
    attribute::TARGETS,
    primitive::List,
    Checker,
    Reason, //
};
use crate::portable::regs::para_01::{
    enable_2,
    ps_3,
    rt0_4, //
};

impl Checker<'_> {
    /// Check all that a draw depends on, and return what its list takes.
    pub(super) fn draw(&mut self) -> Result<List, Reason> {
        self.attributes.complete()?;
        self.textures.complete()?;
        self.primitives.complete()?;
        if !self.attributes.checked {
            self.surfaces()?;
            self.attributes.checked = true;
        }
        let enable = self.attributes.enable_2;
        if enable_2::STIPPLE.any(enable) {
            self.tables.stipple()?;
        }
        let count = enable_2::RT_COUNT.get(enable) as usize;
        for number in 0..TARGETS {
            let target = self.attributes.targets.get(number);
            let output = target.and_then(|target| target.output).unwrap_or(0);
            let table = rt0_4::SRGB.get(output) >= rt0_4::srgb::TABLE;
            if number <= count && (table || rt0_4::DEGAMMA.any(output)) {
                self.tables.gamma()?;
            }
        }
        if enable_2::PIXEL_SHADER.any(enable) {
            let shader = self.attributes.shader;
            self.tables
                .shader(ps_3::ALU_LENGTH.get(shader), ps_3::TAU_LENGTH.get(shader))?;
            self.fetches()?;
        }
        self.list()
    }

    /// Check the data of a list, from `start` to `end`.
    pub(super) fn data(&mut self, list: List, start: usize, end: usize) -> Result<(), Reason> {
        if list.indices.is_none() {
            return Ok(());
        }
        let words = self.stream.get(start..end).unwrap_or_default();
        let mut position = start;
        for word in words {
            self.position = position;
            list.indices(*word)?;
            position = position.wrapping_add(1);
        }
        Ok(())
    }
}
