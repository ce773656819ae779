// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The words of one instruction with their layouts: looked up, and printed, by names of fields.

use std::fmt::Write;

use lapidary_registers::{Database, Dword, FieldInfo, Named};

use super::{Note, layout};

/// An instruction's words with the layout of each.
pub struct Fields {
    parts: Vec<(&'static Dword, u32)>,
}

impl Fields {
    /// Return the words with the layouts of these names.
    pub fn new(database: &Database, words: &[(&str, u32)]) -> Fields {
        let parts = words
            .iter()
            .map(|&(name, word)| (layout(database, name), word));
        Fields {
            parts: parts.collect(),
        }
    }

    fn find(&self, name: &str) -> Option<(&'static FieldInfo, u32)> {
        self.parts
            .iter()
            .find_map(|(layout, word)| layout.field(name).map(|f| (f, f.field.get(*word))))
    }

    /// Return the number in a field; 0 if the map has no such field.
    pub fn get(&self, name: &str) -> u32 {
        self.find(name).map_or(0, |(_, n)| n)
    }

    /// Return whether the map has that field.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Return whether any bit of a field is set.
    pub fn any(&self, name: &str) -> bool {
        self.get(name) != 0
    }

    /// Return the name of the number in a field.
    pub fn named(&self, name: &str) -> Option<Named> {
        let (field, n) = self.find(name)?;
        field.named(n)
    }

    /// Return how many bits a field has.
    pub fn width(&self, name: &str) -> u32 {
        self.find(name)
            .map_or(0, |(f, _)| u32::from(f.field.hi() - f.field.lo()) + 1)
    }

    /// Return all fields that are not zero and not among `shown`: `NAME` for a bit, else `NAME=value`.
    pub fn rest(&self, shown: &[&str]) -> String {
        let mut out = String::new();
        for (layout, word) in &self.parts {
            for f in layout.fields {
                let n = f.field.get(*word);
                if n == 0 || shown.contains(&f.name) {
                    continue;
                }
                let space = if out.is_empty() { "" } else { " " };
                match f.named(n) {
                    Some(name) => write!(out, "{space}{}={name}", f.name),
                    None if f.field.max() == 1 => write!(out, "{space}{}", f.name),
                    None if n < 10 => write!(out, "{space}{}={n}", f.name),
                    None => write!(out, "{space}{}={n:#x}", f.name),
                }
                .expect("writing to a string does not fail");
            }
        }
        out
    }

    /// Return what is wrong with the words by themselves: numbers and bits that mean nothing.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        for (i, (layout, word)) in self.parts.iter().enumerate() {
            for f in layout.fields {
                let n = f.field.get(*word);
                if n != 0 && !f.values.is_empty() && f.named(n).is_none() {
                    notes.push(Note::ReservedValue(f.name));
                }
            }
            // A layout without fields is not known.
            let odd = word & !layout.mask();
            if odd != 0 {
                notes.push(Note::ReservedBits(i, odd));
            }
        }
        notes
    }
}
