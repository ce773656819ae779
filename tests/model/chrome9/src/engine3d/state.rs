// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Parameters as a draw sees them.
//!
//! What a parameter is after power-on is not known (decision 16). So the view remembers which parameters a draw has asked
//! for. Those that were never written are named in a finding, and values that the manual reserves in others.

use std::cell::RefCell;
use std::collections::BTreeSet;

use lapidary_registers::chrome9::{DATABASE, enums, parameters};

use crate::regs::Parameters;

/// Type and sub-type.
type Kind = (u8, u8);

const ATTRIBUTE: Kind = (enums::para_type::ATTRIBUTE as u8, 0);
const PRIMITIVE: Kind = (enums::para_type::PRIMITIVE as u8, 0);
const TEXTURE: u8 = enums::para_type::TEXTURE as u8;
const TABLE: u8 = enums::para_type::TABLE as u8;
/// Sub-type of the first sample of textures.
const SAMPLE: u8 = 0x20;
/// Sub-type of what all textures share.
const GENERAL: Kind = (TEXTURE, 0xfe);

/// Parameters, and what a draw has asked for.
pub struct State<'a> {
    parameters: &'a Parameters,
    used: RefCell<BTreeSet<(Kind, u32)>>,
    wrong: RefCell<Vec<String>>,
    lost: RefCell<Vec<String>>,
}

/// Return the name of a parameter, with what it belongs to.
fn name((kind, index): (Kind, u32)) -> String {
    let found = parameters(kind.0, kind.1).and_then(|d| DATABASE.by_offset(d, index));
    let Some((register, element)) = found else {
        return format!("{:02x}h.{:02x}h {index:02x}h", kind.0, kind.1);
    };
    let name = if register.len > 1 {
        format!("{}[{element}]", register.name)
    } else {
        register.name.to_string()
    };
    match kind {
        GENERAL => name,
        (TEXTURE, n) => format!("{name} of texture {}", n % SAMPLE),
        _ => name,
    }
}

/// Return the name of a field's value, for people; the number if it has none.
pub fn value_name(register: &str, field: &str, value: u32) -> String {
    let field = DATABASE.by_name(register).and_then(|r| r.field(field));
    let named = field.and_then(|f| f.named(value));
    named.map_or_else(|| format!("{value:#04x}"), |n| n.to_string())
}

impl<'a> State<'a> {
    /// Return a view of which nothing was asked yet.
    pub fn new(parameters: &'a Parameters) -> State<'a> {
        State {
            parameters,
            used: RefCell::default(),
            wrong: RefCell::default(),
            lost: RefCell::default(),
        }
    }

    fn get(&self, kind: Kind, index: u32) -> u32 {
        self.used.borrow_mut().insert((kind, index));
        self.parameters.get(kind.0, kind.1, index)
    }

    /// Return a parameter of type 01h.
    pub fn attribute(&self, sub_address: u32) -> u32 {
        self.get(ATTRIBUTE, sub_address)
    }

    /// Return a parameter of type 04h.
    pub fn primitive(&self, sub_address: u32) -> u32 {
        self.get(PRIMITIVE, sub_address)
    }

    /// Return a parameter of a texture.
    pub fn stage(&self, n: u8, sub_address: u32) -> u32 {
        self.get((TEXTURE, n), sub_address)
    }

    /// Return a parameter of how a texture is sampled.
    pub fn sample(&self, n: u8, sub_address: u32) -> u32 {
        self.get((TEXTURE, SAMPLE + n), sub_address)
    }

    /// Return a parameter of all textures.
    pub fn general(&self, sub_address: u32) -> u32 {
        self.get(GENERAL, sub_address)
    }

    /// Return a dword of a table.
    pub fn table(&self, subtype: u8, index: u32) -> u32 {
        self.get((TABLE, subtype), index)
    }

    /// Return whether two parameters of type 01h or 04h were written by different streams.
    pub fn mixed(&self, kind: u32, first: u32, second: u32) -> bool {
        let writer = |index| self.parameters.writer((kind as u8, 0), index);
        match (writer(first), writer(second)) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        }
    }

    /// Take down something that the manual reserves or forbids.
    pub fn wrong(&self, text: String) {
        self.wrong.borrow_mut().push(text);
    }

    /// Judge bits of a parameter of type 01h whose text is lost: a draw may depend on them if they are not 0.
    pub fn lost(&self, sub_address: u32, bits: u32) {
        let value = self.parameters.get(ATTRIBUTE.0, ATTRIBUTE.1, sub_address) & bits;
        if value != 0 {
            let text = format!("{} = {value:#x}", name((ATTRIBUTE, sub_address)));
            self.lost.borrow_mut().push(text);
        }
    }

    /// Return the lost parameters that are not 0.
    pub fn unknown(&self) -> Vec<String> {
        self.lost.borrow().clone()
    }

    /// Return the names of all parameters that were asked for and never written.
    pub fn unwritten(&self) -> Vec<String> {
        let used = self.used.borrow();
        let unwritten = used
            .iter()
            .filter(|(kind, index)| self.parameters.writer(*kind, *index).is_none());
        unwritten.map(|place| name(*place)).collect()
    }

    /// Return what the manual reserves or forbids in what was asked for, a line each.
    pub fn mistakes(&self) -> Vec<String> {
        let mut mistakes = self.wrong.borrow().clone();
        for place in self.used.borrow().iter() {
            self.reserved(*place, &mut mistakes);
        }
        mistakes
    }

    /// Append the fields of a parameter that have a value without a meaning.
    fn reserved(&self, (kind, index): (Kind, u32), mistakes: &mut Vec<String>) {
        let found = parameters(kind.0, kind.1).and_then(|d| DATABASE.by_offset(d, index));
        let Some((register, _)) = found else {
            return;
        };
        let word = self.parameters.get(kind.0, kind.1, index);
        let judged = register.fields.iter().filter(|f| {
            // Where something lies, and what a vertex consists of, is judged where it is used.
            let elsewhere = f.name.contains("LOCATION")
                || f.name.starts_with("ATTRIBUTE_")
                || f.name == "CW_TYPE";
            !f.values.is_empty() && !elsewhere
        });
        for field in judged {
            let value = field.field.get(word);
            let named = field.named(value);
            let reserved = |name: &str| name.starts_with("RESERVED");
            // Where only reserved values have a name, all others are numbers.
            let number = field.values.iter().all(|v| reserved(v.name));
            if named.map_or(!number, |n| reserved(n.value.name)) {
                mistakes.push(format!(
                    "{}.{} = {value:#x}",
                    name((kind, index)),
                    field.name
                ));
            }
        }
    }
}
