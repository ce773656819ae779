// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Finding registers by name and by place.

use std::collections::HashMap;

use crate::{Domain, Register};

/// An index over a family's registers.
pub(crate) struct Lookup {
    names: HashMap<&'static str, &'static Register>,
    places: HashMap<(Domain, u32), (&'static Register, u32)>,
}

impl Lookup {
    /// Overlays are found by name only: their word belongs to the register below.
    pub(crate) fn new(registers: &'static [Register]) -> Self {
        let mut names = HashMap::new();
        let mut places = HashMap::new();
        for r in registers {
            names.entry(r.name).or_insert(r);
            if r.overlay_of.is_none() {
                for i in 0..r.len {
                    places.insert((r.domain, r.offset + i * r.stride), (r, i));
                }
            }
        }
        Self { names, places }
    }

    pub(crate) fn by_name(&self, name: &str) -> Option<&'static Register> {
        self.names.get(name).copied()
    }

    pub(crate) fn by_offset(
        &self,
        domain: Domain,
        offset: u32,
    ) -> Option<(&'static Register, u32)> {
        self.places.get(&(domain, offset)).copied()
    }

    pub(crate) fn describe(&self, domain: Domain, offset: u32, value: u32) -> String {
        let Some((r, i)) = self.by_offset(domain, offset) else {
            return format!("{}:{offset:#06x} = {value:#010x}", domain.name());
        };
        let index = if r.len > 1 {
            format!("[{i}]")
        } else {
            String::new()
        };
        let fields = match r.fields {
            // A single field that is the whole word would only repeat the number.
            [f] if f.field.mask() == u32::MAX && f.values.is_empty() => String::new(),
            [] => String::new(),
            _ => r.describe(value),
        };
        let fields = if fields.is_empty() {
            fields
        } else {
            format!(" {{ {fields} }}")
        };
        format!("{}{index} = {value:#010x}{fields}", r.name)
    }
}
