// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register files: the stored values of one register space, and what the database knows of each word.
//!
//! R5xx has four spaces: the register aperture (byte offsets), and behind index/data pairs in it the memory controller,
//! the PCI Express block and the PLLs (indices).

use lapidary_registers::r500::REGISTERS;
use lapidary_registers::{Access, Domain, Register};

use super::Source;
use super::classes::{self, Class};
use crate::chip::Touched;

/// One space.
pub struct Space {
    name: &'static str,
    domain: Domain,
    unit: u32,
    values: Vec<u32>,
    defaults: Vec<u32>,
    known: Vec<Option<&'static Register>>,
    /// Whether a word belongs to the 3D pipe.
    pipe: Vec<bool>,
    touched: Vec<Touch>,
}

/// Who has been at a word.
#[derive(Clone, Copy, Default)]
struct Touch {
    reads: u32,
    writes: u32,
    first: Option<Source>,
}

impl Space {
    /// A space of `words` words whose offsets count in steps of `unit`, with the registers that the database has for
    /// that domain and chip; values are the database's defaults.
    pub fn new(name: &'static str, domain: Domain, chip: &str, unit: u32, words: usize) -> Space {
        let mut known = vec![None; words];
        for r in REGISTERS.iter().filter(|r| r.domain == domain) {
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
            name,
            domain,
            unit,
            values: defaults.clone(),
            defaults,
            touched: vec![Touch::default(); known.len()],
            pipe: known.iter().map(|r| r.is_some_and(is_pipe)).collect(),
            known,
        }
    }

    /// Somebody reads or writes a register. Its name if the model lacks it and this is the first time.
    pub fn touch(&mut self, offset: u32, write: bool, source: Source) -> Option<String> {
        // What the firmware does is no driver's doing.
        if source == Source::Firmware {
            return None;
        }
        let word = (offset / self.unit) as usize;
        let touch = self.touched.get_mut(word)?;
        let count = if write {
            &mut touch.writes
        } else {
            &mut touch.reads
        };
        *count = count.saturating_add(1);
        if touch.first.replace(touch.first.unwrap_or(source)).is_some() {
            return None;
        }
        let register = self.register(offset)?;
        matches!(classes::class(register), None | Some(Class::Missing))
            .then(|| self.name_of(offset, register))
    }

    /// All registers that were touched.
    pub fn touched(&self) -> Vec<Touched> {
        let words = self.touched.iter().zip(&self.known).enumerate();
        words
            .filter_map(|(word, (touch, register))| {
                let class = classes::class((*register)?).unwrap_or(Class::Missing);
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

    /// The name at an offset, with its index in an array.
    fn name_of(&self, offset: u32, register: &Register) -> String {
        match register.array().index_of(offset) {
            Some(index) if register.len > 1 => format!("{}[{index}]", register.name),
            _ => register.name.to_owned(),
        }
    }

    /// All values back to the database's defaults, 0 where there is none.
    pub fn reset(&mut self) {
        self.values.copy_from_slice(&self.defaults);
    }

    /// All values, for [`Space::load`].
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// Takes values that [`Space::values`] of the same space gave.
    pub fn load(&mut self, values: &[u32]) {
        if values.len() == self.values.len() {
            self.values.copy_from_slice(values);
        }
    }

    /// What the space is called in findings.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The stored value; 0 outside.
    pub fn get(&self, offset: u32) -> u32 {
        self.values
            .get((offset / self.unit) as usize)
            .copied()
            .unwrap_or(0)
    }

    /// Stores a value; nothing outside.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(v) = self.values.get_mut((offset / self.unit) as usize) {
            *v = value;
        }
    }

    /// What the database knows at an offset.
    pub fn register(&self, offset: u32) -> Option<&'static Register> {
        self.known
            .get((offset / self.unit) as usize)
            .copied()
            .flatten()
    }

    /// Whether a register belongs to the 3D pipe, from the vertex unit to the colour backend.
    pub fn in_pipe(&self, offset: u32) -> bool {
        let word = (offset / self.unit) as usize;
        self.pipe.get(word).copied().unwrap_or(false)
    }

    /// Whether a write is allowed to have an effect at all: unknown and read-only registers say no.
    pub fn writable(&self, offset: u32) -> Option<bool> {
        self.register(offset)
            .map(|r| !matches!(r.access, Access::Read))
    }

    /// The offset of a register by its name, with `[index]` behind an array's.
    pub fn find(&self, name: &str) -> Option<u32> {
        let (plain, index) = match name.split_once('[') {
            Some((plain, rest)) => (plain, rest.strip_suffix(']')?.parse::<u32>().ok()?),
            None => (name, 0),
        };
        let r = REGISTERS
            .iter()
            .find(|r| r.domain == self.domain && r.name == plain)?;
        (index < r.len).then_some(r.offset + index * r.stride)
    }
}

/// The blocks of the database that make up the 3D pipe.
fn is_pipe(register: &Register) -> bool {
    const BLOCKS: [&str; 11] = [
        "VAP", "GB", "GA", "SU", "SC", "RS", "TX", "US", "FG", "CB", "ZB",
    ];
    register.block == "3D" || BLOCKS.contains(&register.block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::r500::mmio;

    #[test]
    fn known_words_have_names() {
        let space = Space::new("register", Domain::MMIO, "RV515", 4, 0x4000);
        assert_eq!(
            space.register(mmio::RBBM_STATUS).map(|r| r.name),
            Some("RBBM_STATUS")
        );
        assert_eq!(space.find("RBBM_STATUS"), Some(mmio::RBBM_STATUS));
        assert_eq!(space.find("SCRATCH_REG[3]"), mmio::SCRATCH_REG.at(3));
        assert_eq!(space.find("SCRATCH_REG[8]"), None);
        assert_eq!(space.find("NO_SUCH"), None);
    }

    #[test]
    fn touches_are_counted_and_what_is_missing_is_named_once() {
        let mut space = Space::new("register", Domain::MMIO, "RV515", 4, 0x4000);
        assert_eq!(space.touch(mmio::CP_ME_CNTL, false, Source::Firmware), None);
        assert!(space.touched().is_empty());
        let missing = space.touch(mmio::CP_ME_CNTL, false, Source::Host);
        assert_eq!(missing.as_deref(), Some("CP_ME_CNTL"));
        assert_eq!(space.touch(mmio::CP_ME_CNTL, true, Source::Dma), None);
        let scratch = mmio::SCRATCH_REG.at(3).unwrap();
        assert_eq!(space.touch(scratch, true, Source::Dma), None);
        assert_eq!(space.touch(0xfff8, true, Source::Host), None, "no register");
        let lines: Vec<_> = space.touched().iter().map(Touched::to_string).collect();
        assert_eq!(
            lines,
            [
                "CP CP_ME_CNTL missing 1 1 the CPU",
                "CP SCRATCH_REG[3] implemented 0 1 a DMA engine"
            ]
        );
        space.reset();
        assert_eq!(space.touched().len(), 2, "a reset does not forget");
    }

    #[test]
    fn outside_is_harmless() {
        let mut space = Space::new("register", Domain::MMIO, "RV515", 4, 0x4000);
        space.set(0xffff_fffc, 1);
        assert_eq!(space.get(0xffff_fffc), 0);
        assert!(space.register(0xffff_fffc).is_none());
    }
}
