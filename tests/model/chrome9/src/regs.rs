// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers of a Chrome9: those in BAR1, what reads find where parameters are written, and the parameters.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use lapidary_model::machine::Machine;
use lapidary_model::registers::{Registers, Space, Touched, judge_read};
use lapidary_registers::chrome9::{DATABASE, domain, parameters};
use lapidary_registers::{Access, Domain};

use crate::classes::class;
use crate::kind;

/// What there is, and what the model makes of it.
pub static REGISTERS: Registers = Registers {
    database: &DATABASE,
    class,
};

/// Registers up to here are in [`register_space`]; the window of host data comes behind them.
pub const END: u32 = 0x9000;

/// Return the registers in BAR1, by byte offset.
pub fn register_space() -> Space {
    Space::new(
        &REGISTERS,
        "register",
        Domain::MMIO,
        "",
        4,
        END as usize / 4,
    )
}

/// Return what the CPU reads where it writes settings and parameters.
pub fn read_space() -> Space {
    Space::new(&REGISTERS, "read-back", domain::MMIO_READ, "", 4, 0x700 / 4)
}

/// Sub-addresses of a type, and the entries of most tables.
const SUB_ADDRESSES: usize = 0x200;

/// Parameters of a type and sub-type.
struct Kept {
    space: Space,
    /// Which stream has written each of them last, counted from 1; 0 if none has. What a parameter is after power-on is
    /// not known (decision 16).
    writers: Vec<u32>,
}

/// Parameters by type and sub-type. A type whose sub-types have values of their own has a space for each.
#[derive(Default)]
pub struct Parameters {
    spaces: BTreeMap<(u8, u8), Kept>,
    /// Streams that have ended.
    streams: u32,
}

impl Parameters {
    /// Return what there is of a type and sub-type, none if there is no such type.
    fn kept(&mut self, kind: u8, subtype: u8) -> Option<&mut Kept> {
        let domain = parameters(kind, subtype)?;
        let kept = || Kept {
            space: Space::new(&REGISTERS, "parameter", domain, "", 1, SUB_ADDRESSES),
            writers: vec![0; SUB_ADDRESSES],
        };
        Some(self.spaces.entry((kind, subtype)).or_insert_with(kept))
    }

    /// Return the space of a type and sub-type, none if there is no such type.
    fn space(&mut self, kind: u8, subtype: u8) -> Option<&mut Space> {
        Some(&mut self.kept(kind, subtype)?.space)
    }

    /// Store a value, written by the present stream.
    fn store(&mut self, (kind, subtype): (u8, u8), index: u32, value: u32) {
        let writer = self.streams.saturating_add(1);
        let Some(kept) = self.kept(kind, subtype) else {
            return;
        };
        kept.space.set(index, value);
        if let Some(w) = kept.writers.get_mut(index as usize) {
            *w = writer;
        }
    }

    /// Begin another stream: a branch, or what the ring has behind it.
    pub fn next_stream(&mut self) {
        self.streams = self.streams.saturating_add(1);
    }

    /// Return the number of the stream that has written a parameter last; none if it was never written.
    pub fn writer(&self, (kind, subtype): (u8, u8), index: u32) -> Option<u32> {
        let writers = &self.spaces.get(&(kind, subtype))?.writers;
        writers.get(index as usize).copied().filter(|w| *w != 0)
    }

    /// Set a parameter, which is judged.
    pub fn set(
        &mut self,
        m: &mut Machine,
        (kind, subtype): (u8, u8),
        index: u32,
        value: u32,
        who: &'static str,
    ) {
        let known = self
            .space(kind, subtype)
            .filter(|s| s.register(index).is_some());
        let Some(space) = known else {
            m.finding(
                kind::UNDEFINED_PARAMETER,
                format_args!("type {kind:02x}h.{subtype:02x}h {index:02x}h = {value:#010x}"),
            );
            return;
        };
        if let Some(name) = space.touch(index, true, Some(who)) {
            m.finding(
                kind::UNIMPLEMENTED_PARAMETER,
                format_args!("{name} set by {who}"),
            );
        }
        self.store((kind, subtype), index, value);
    }

    /// Return whether the database has a parameter.
    pub fn knows(&mut self, (kind, subtype): (u8, u8), index: u32) -> bool {
        let space = self.space(kind, subtype);
        space.is_some_and(|s| s.register(index).is_some())
    }

    /// Set a parameter as it is after power-on.
    pub fn preset(&mut self, kind: u8, index: u32, value: u32) {
        self.store((kind, 0), index, value);
    }

    /// Return all parameters of types that have been written: where each is, for [`Parameters::put`], and its value.
    pub fn all(&self, kinds: RangeInclusive<u8>) -> impl Iterator<Item = [u32; 2]> + '_ {
        let spaces = self
            .spaces
            .range((*kinds.start(), 0)..=(*kinds.end(), 0xff));
        spaces.flat_map(|((kind, subtype), kept)| {
            let place = (u32::from(*kind) << 24) | (u32::from(*subtype) << 16);
            let known = kept.writers.iter().zip(0..).filter(|(w, _)| **w != 0);
            known.map(move |(_, i)| [place | i, kept.space.get(i)])
        })
    }

    /// Forget all parameters of types.
    pub fn forget(&mut self, kinds: RangeInclusive<u8>) {
        let all = (*kinds.start(), 0)..=(*kinds.end(), 0xff);
        for (_, kept) in self.spaces.range_mut(all) {
            kept.space.reset();
            kept.writers.fill(0);
        }
    }

    /// Set a parameter that [`Parameters::all`] has given.
    pub fn put(&mut self, place: u32, value: u32) {
        let kind = ((place >> 24) as u8, (place >> 16) as u8);
        self.store(kind, place & 0xffff, value);
    }

    /// Return a parameter's value, 0 if it was never set.
    pub fn get(&self, kind: u8, subtype: u8, index: u32) -> u32 {
        self.spaces
            .get(&(kind, subtype))
            .map_or(0, |k| k.space.get(index))
    }

    /// Return a parameter's value by name; of parameters with sub-types, the first's.
    pub fn peek(&self, name: &str) -> Option<u32> {
        let plain = name.split('[').next()?;
        let register = DATABASE.by_name(plain)?;
        let mut spaces = self.spaces.iter();
        let (_, Kept { space, .. }) = spaces
            .find(|((kind, subtype), _)| parameters(*kind, *subtype) == Some(register.domain))?;
        Some(space.get(space.find(name)?))
    }

    /// Forget all values.
    pub fn reset(&mut self) {
        self.forget(0..=u8::MAX);
        self.streams = 0;
    }

    /// Return the parameters that were set.
    pub fn touched(&self) -> impl Iterator<Item = Touched> + '_ {
        self.spaces.values().flat_map(|k| k.space.touched())
    }
}

/// Judge reading a register, and return its stored value; 0 if there is none.
pub fn read(m: &mut Machine, space: &mut Space, offset: u32) -> u32 {
    if judge_read(m, space, offset, Some(crate::CPU))
        && space
            .register(offset)
            .is_some_and(|r| r.access != Access::Write)
    {
        space.get(offset)
    } else {
        0
    }
}
