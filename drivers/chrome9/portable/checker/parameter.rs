// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Parameters: header 2 has them up to the next header, header 3 counts them.
//!
//! A setting says which type of parameters follows (L535-552). Parameters of types 01h, 02h and 04h have a sub-address in bits
//! 31:24 and data in the rest; those of types 00h and 03h are data. Dwords that public drivers pad with are no sub-address of any
//! type, and count as data of types 00h and 03h.
//!
//! At the beginning of a unit a header ends the parameters of header 2. Whether the regulator also finds one elsewhere among them is
//! not known, so that nothing there may look like one.

use super::{
    stream::{
        code,
        is_null,
        UNIT, //
    },
    table::Table,
    Checker,
    Reason, //
};
use crate::portable::{
    policy,
    regs::{
        enums::para_type,
        mmio::{
            cr_setting,
            cr_space, //
        }, //
    }, //
};

/// Sub-types of textures and of their samples, and the one of all textures (L544-547).
const STAGES: u32 = 0x00;
const SAMPLES: u32 = 0x20;
const OF_ALL: u32 = 0xfe;
const STAGE_COUNT: u32 = super::texture::STAGES as u32;

/// A type of parameters, as a setting names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Padding.
    Dummy,
    /// Vertices or indices.
    Vertices,
    /// Type 01h.
    Attributes,
    /// Type 02h, of a texture.
    Stage(usize),
    /// Type 02h, of a sample.
    Sample(usize),
    /// Type 02h, of all textures.
    General,
    /// Type 03h, from that entry on.
    Table(Table, u32),
    /// Type 04h.
    Primitives,
}

impl Kind {
    /// Return the type that a setting for the 3D window names.
    pub(super) fn of(setting: u32) -> Result<Self, Reason> {
        let sub_type = cr_setting::HPARASUBTYPE.get(setting);
        let first = cr_setting::HPARAADR.get(setting);
        let (kind, meaning) = match cr_setting::HPARATYPE.get(setting) {
            para_type::REGULATOR | para_type::REGULATOR_MISC => return Err(Reason::KernelType),
            para_type::DUMMY => (Self::Dummy, 0),
            para_type::VERTEX => (Self::Vertices, 0),
            para_type::ATTRIBUTE => (Self::Attributes, 0),
            para_type::PRIMITIVE => (Self::Primitives, 0),
            para_type::TEXTURE => {
                let below = |first: u32| sub_type.wrapping_sub(first) < STAGE_COUNT;
                let kind = if sub_type == OF_ALL {
                    Self::General
                } else if below(STAGES) {
                    Self::Stage(sub_type.wrapping_sub(STAGES) as usize)
                } else if below(SAMPLES) {
                    Self::Sample(sub_type.wrapping_sub(SAMPLES) as usize)
                } else {
                    return Err(Reason::SubType);
                };
                (kind, cr_setting::HPARASUBTYPE.mask())
            }
            para_type::TABLE => {
                let table = Table::of(sub_type).ok_or(Reason::SubType)?;
                let meaning = cr_setting::HPARASUBTYPE.mask() | cr_setting::HPARAADR.mask();
                (Self::Table(table, first), meaning)
            }
            para_type::INITIALISATION => return Err(Reason::ForbiddenType),
            _ => return Err(Reason::ReservedType),
        };
        if setting & !cr_setting::HPARATYPE.mask() & !meaning != 0 {
            return Err(Reason::SettingBits);
        }
        Ok(kind)
    }
}

impl Checker<'_> {
    /// Check parameters that end at the next header, from `start` on. Return where that is. The header that they belong to is at
    /// `at`.
    pub(super) fn open(&mut self, kind: Kind, at: usize, start: usize) -> Result<usize, Reason> {
        let mut end = start;
        while let Some(word) = self.stream.get(end) {
            if code(*word).is_some() {
                break;
            }
            end = end.wrapping_add(UNIT);
        }
        let end = end.min(self.stream.len());
        // What would be a header to a regulator that looks everywhere.
        let words = self.stream.get(start..end).unwrap_or_default();
        let mut position = start;
        for word in words {
            if code(*word).is_some() {
                return self.at(position, Reason::HeaderInParameters);
            }
            position = position.wrapping_add(1);
        }
        self.all(kind, at, start, end)?;
        Ok(end)
    }

    /// Check all parameters from `start` to `end`, which belong to the header at `at`.
    pub(super) fn all(
        &mut self,
        kind: Kind,
        at: usize,
        start: usize,
        end: usize,
    ) -> Result<(), Reason> {
        if kind == Kind::Vertices {
            self.position = at;
            let list = self.draw()?;
            let dwords = end.wrapping_sub(start) as u64;
            if dwords != list.dwords {
                return Err(Reason::VertexData);
            }
            return self.data(list, start, end);
        }
        let words = self.stream.get(start..end).unwrap_or_default();
        let mut count = 0u32;
        for word in words {
            self.position = start.wrapping_add(count as usize);
            self.parameter(kind, count, *word)?;
            count = count.wrapping_add(1);
        }
        Ok(())
    }

    /// Check the parameter at the current position, the one with that number behind its setting.
    fn parameter(&mut self, kind: Kind, count: u32, word: u32) -> Result<(), Reason> {
        if let Kind::Table(table, first) = kind {
            // Behind the table's end there may be padding.
            let there = self.entry(table, first.saturating_add(count), word)?;
            return if there || is_null(word) {
                Ok(())
            } else {
                Err(Reason::TableRange)
            };
        }
        if is_null(word) {
            return Ok(());
        }
        let sub_address = cr_space::SUB_ADDRESS.get(word);
        let values = match kind {
            Kind::Attributes => policy::ATTRIBUTE_VALUES,
            Kind::Primitives => policy::PRIMITIVE_VALUES,
            Kind::General => policy::GENERAL_VALUES,
            Kind::Stage(_) => policy::STAGE_VALUES,
            Kind::Sample(_) => policy::SAMPLE_VALUES,
            Kind::Dummy | Kind::Vertices | Kind::Table(..) => &[],
        };
        if policy::reserved(values, sub_address, word) {
            return Err(Reason::ReservedValue);
        }
        match kind {
            Kind::Attributes => self.attribute(sub_address, word),
            Kind::Primitives => self.primitive(sub_address, word),
            Kind::General => self.general(sub_address, word),
            Kind::Stage(number) => self.stage(number, sub_address, word),
            Kind::Sample(number) => self.sample(number, sub_address, word),
            Kind::Dummy | Kind::Vertices | Kind::Table(..) => Err(Reason::NotPadding),
        }
    }
}
