// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register files: the stored values of one register space, what the database knows of each word, and who has
//! touched it.
//!
//! A chip has a space for its register aperture (byte offsets), and one for each set of registers behind an index/data
//! pair (indices). A family says by its database what exists, and by a table of classes what its model makes of each
//! register:
//!
//! | class | meaning |
//! | --- | --- |
//! | implemented | the model acts on it, or gives what the hardware would |
//! | stored | memory on purpose: it steers something that the model does not have, and the table says what |
//! | missing | hardware does something there that a driver may rely on, and the model does not |
//!
//! A missing register that is touched is a finding, so a driver and its user space can rely on nothing that the model
//! leaves out silently.

use std::fmt;

use lapidary_registers::{Access, Database, Domain, Register};

use crate::kind;
use crate::machine::Machine;

/// What the model makes of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It acts on it.
    Implemented,
    /// It stores it, for this reason.
    Stored(&'static str),
    /// It does not do what hardware does.
    Missing,
}

impl Class {
    /// Return one word for lists.
    pub fn name(self) -> &'static str {
        match self {
            Class::Implemented => "implemented",
            Class::Stored(_) => "stored",
            Class::Missing => "missing",
        }
    }
}

/// A family's registers, and what its model makes of them.
#[derive(Clone, Copy)]
pub struct Registers {
    /// What there is.
    pub database: &'static Database,
    /// The class of a register; none if the family's table forgets it, which counts as missing.
    pub class: fn(&Register) -> Option<Class>,
}

/// One space.
pub struct Space {
    registers: &'static Registers,
    name: &'static str,
    domain: Domain,
    unit: u32,
    values: Vec<u32>,
    defaults: Vec<u32>,
    known: Vec<Option<&'static Register>>,
    touched: Vec<Touch>,
}

/// Which side has accessed a word.
#[derive(Clone, Copy, Default)]
struct Touch {
    reads: u32,
    writes: u32,
    first: Option<&'static str>,
}

impl Space {
    /// Return a space of `words` words whose offsets count in steps of `unit`, with the registers that the database has
    /// for that domain and chip; values are the database's defaults.
    pub fn new(
        registers: &'static Registers,
        name: &'static str,
        domain: Domain,
        chip: &str,
        unit: u32,
        words: usize,
    ) -> Space {
        let mut known = vec![None; words];
        for r in registers
            .database
            .registers
            .iter()
            .filter(|r| r.domain == domain)
        {
            if !r.variants.is_empty() && !r.variants.contains(&chip) {
                continue;
            }
            for i in 0..r.len {
                let word = (r.offset + i * r.stride) / unit;
                // Where a register overlays another one, the plain one names the word.
                if let Some(slot) = known.get_mut(word as usize) {
                    if slot.is_none() || r.overlay_of.is_none() {
                        *slot = Some(r);
                    }
                }
            }
        }
        let default = |known: &Option<&Register>| known.and_then(|r| r.default).unwrap_or(0);
        let defaults: Vec<u32> = known.iter().map(default).collect();
        Space {
            registers,
            name,
            domain,
            unit,
            values: defaults.clone(),
            defaults,
            touched: vec![Touch::default(); known.len()],
            known,
        }
    }

    /// Count a read or write of a register by `who`. Return its name if the model lacks it and this is the first time.
    /// `None` is given for what the firmware does, which is not counted: it is no driver's doing.
    pub fn touch(&mut self, offset: u32, write: bool, who: Option<&'static str>) -> Option<String> {
        let who = who?;
        let word = (offset / self.unit) as usize;
        let touch = self.touched.get_mut(word)?;
        let count = if write {
            &mut touch.writes
        } else {
            &mut touch.reads
        };
        *count = count.saturating_add(1);
        if touch.first.replace(touch.first.unwrap_or(who)).is_some() {
            return None;
        }
        let register = self.register(offset)?;
        matches!(
            (self.registers.class)(register),
            None | Some(Class::Missing)
        )
        .then(|| self.name_of(offset, register))
    }

    /// Return all registers that were touched.
    pub fn touched(&self) -> Vec<Touched> {
        let words = self.touched.iter().zip(&self.known).enumerate();
        words
            .filter_map(|(word, (touch, register))| {
                let class = (self.registers.class)((*register)?).unwrap_or(Class::Missing);
                Some(Touched {
                    name: self.name_of(word as u32 * self.unit, (*register)?),
                    block: register.map_or("", |r| r.block),
                    missing: class == Class::Missing,
                    class: class.name(),
                    reads: touch.reads,
                    writes: touch.writes,
                    first: touch.first?.to_string(),
                })
            })
            .collect()
    }

    /// Return the name at an offset, with its index in an array.
    fn name_of(&self, offset: u32, register: &Register) -> String {
        match register.array().index_of(offset) {
            Some(index) if register.len > 1 => format!("{}[{index}]", register.name),
            _ => register.name.to_owned(),
        }
    }

    /// Set all values to the database's defaults, 0 where there is none.
    pub fn reset(&mut self) {
        self.values.copy_from_slice(&self.defaults);
    }

    /// Return all values, for [`Space::load`].
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// Take values that [`Space::values`] of the same space gave.
    pub fn load(&mut self, values: &[u32]) {
        if values.len() == self.values.len() {
            self.values.copy_from_slice(values);
        }
    }

    /// Return what the space is called in findings.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Return the stored value; 0 outside.
    #[inline]
    pub fn get(&self, offset: u32) -> u32 {
        self.values
            .get((offset / self.unit) as usize)
            .copied()
            .unwrap_or(0)
    }

    /// Store a value; nothing outside.
    #[inline]
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(v) = self.values.get_mut((offset / self.unit) as usize) {
            *v = value;
        }
    }

    /// Return what the database knows at an offset.
    #[inline]
    pub fn register(&self, offset: u32) -> Option<&'static Register> {
        self.known
            .get((offset / self.unit) as usize)
            .copied()
            .flatten()
    }

    /// Return whether a write is allowed to have an effect at all: unknown and read-only registers say no.
    #[inline]
    pub fn writable(&self, offset: u32) -> Option<bool> {
        self.register(offset)
            .map(|r| !matches!(r.access, Access::Read))
    }

    /// Return the offset of a register by its name, with `[index]` behind an array's.
    pub fn find(&self, name: &str) -> Option<u32> {
        let (plain, index) = match name.split_once('[') {
            Some((plain, rest)) => (plain, rest.strip_suffix(']')?.parse::<u32>().ok()?),
            None => (name, 0),
        };
        let r = self.registers.database.by_name_in(self.domain, plain)?;
        (index < r.len).then_some(r.offset + index * r.stride)
    }
}

/// Judge reading a register of a space. Whether a read gives what is stored; 0 otherwise.
pub fn judge_read(
    m: &mut Machine,
    space: &mut Space,
    offset: u32,
    who: Option<&'static str>,
) -> bool {
    if let Some(name) = space.touch(offset, false, who) {
        m.finding(
            kind::UNIMPLEMENTED_REGISTER,
            format_args!("{name} read by {}", who.unwrap_or_default()),
        );
    }
    match space.register(offset).map(|r| r.access) {
        None => {
            m.finding(
                kind::UNDEFINED_REGISTER_READ,
                format_args!("{} {offset:#06x}", space.name()),
            );
            false
        }
        Some(Access::Write) => {
            let name = space.register(offset).map_or("", |r| r.name);
            m.finding(
                kind::UNDEFINED_REGISTER_READ,
                format_args!("{name} can only be written"),
            );
            true
        }
        Some(_) => true,
    }
}

/// Judge writing a register of a space. Whether the write has an effect.
pub fn judge_write(
    m: &mut Machine,
    space: &mut Space,
    offset: u32,
    value: u32,
    who: Option<&'static str>,
) -> bool {
    if let Some(name) = space.touch(offset, true, who) {
        m.finding(
            kind::UNIMPLEMENTED_REGISTER,
            format_args!("{name} written by {}", who.unwrap_or_default()),
        );
    }
    match space.writable(offset) {
        Some(true) => true,
        Some(false) => {
            let name = space.register(offset).map_or("", |r| r.name);
            m.finding(
                kind::READ_ONLY_REGISTER_WRITE,
                format_args!("{name} = {value:#010x}"),
            );
            false
        }
        None => {
            m.finding(
                kind::UNDEFINED_REGISTER_WRITE,
                format_args!("{} {offset:#06x} = {value:#010x}", space.name()),
            );
            false
        }
    }
}

/// A register that was read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its name, with an index in brackets if it is one of an array.
    pub name: String,
    /// Its block.
    pub block: &'static str,
    /// Whether hardware does something there that the model does not.
    pub missing: bool,
    /// What the model makes of it, in one word.
    pub class: &'static str,
    /// Number of reads.
    pub reads: u32,
    /// Number of writes.
    pub writes: u32,
    /// What touched it first: the CPU, a stream, an engine.
    pub first: String,
}

impl fmt::Display for Touched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} {} {} {} {}",
            self.block, self.name, self.class, self.reads, self.writes, self.first
        )
    }
}
