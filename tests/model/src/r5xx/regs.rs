// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Register files: the stored values of one register space, and what the database knows of each word.
//!
//! R5xx has four spaces: the register aperture (byte offsets), and behind index/data pairs in it the memory controller,
//! the PCI Express block and the PLLs (indices).

use lapidary_registers::r500::REGISTERS;
use lapidary_registers::{Access, Domain, Register};

/// One space.
pub struct Space {
    name: &'static str,
    domain: Domain,
    unit: u32,
    values: Vec<u32>,
    defaults: Vec<u32>,
    known: Vec<Option<&'static Register>>,
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
            known,
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

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_registers::r500::mmio;

    #[test]
    fn known_words_have_names() {
        let space = Space::new("register", Domain::Mmio, "RV515", 4, 0x4000);
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
    fn outside_is_harmless() {
        let mut space = Space::new("register", Domain::Mmio, "RV515", 4, 0x4000);
        space.set(0xffff_fffc, 1);
        assert_eq!(space.get(0xffff_fffc), 0);
        assert!(space.register(0xffff_fffc).is_none());
    }
}
