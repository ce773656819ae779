// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Words of a submission without an effect: a register's value while a field of another register says that the chip
//! does not read it.
//!
//! A client may write such a register with whatever its own memory holds, so that two runs write different values. A
//! declared register is not compared where the same stream has set the field to 0 before. If the field is set later,
//! the last value counts again, and it is a difference if it was one. Nothing is known of the field at the start of a
//! stream, so the register is compared until the stream has written the field.

use anyhow::{Context, Result};
use lapidary_decoder::{Options, decode_stream};
use lapidary_registers::{Database, Field};
use serde::Deserialize;

/// A declared register.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The register database that has the names.
    database: String,
    /// The register.
    pub register: String,
    /// `REGISTER.FIELD`, which says whether the chip reads it.
    pub switch: String,
    /// Why two runs write different values.
    pub reason: String,
}

/// A declared register by its place.
#[derive(Clone, Copy, Debug)]
struct Rule {
    register: u32,
    switch: u32,
    field: Field,
}

/// Where a rule is in a stream.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Whether the chip reads the register; `None`: the stream has not said so.
    on: Option<bool>,
    /// The register's last value differs.
    differs: bool,
}

/// The declared registers along the submissions of one program.
#[derive(Debug)]
pub struct Idle {
    database: Option<&'static Database>,
    rules: Vec<(Rule, State)>,
    /// How many words of each register were not compared.
    pub left_out: Vec<usize>,
}

impl Idle {
    /// Return the beginning of a program's submissions.
    ///
    /// # Errors
    ///
    /// Names what is not in the database; all declared registers are of one database.
    pub fn new(declared: &[Declared]) -> Result<Idle> {
        let mut idle = Idle {
            database: None,
            rules: Vec::new(),
            left_out: vec![0; declared.len()],
        };
        for Declared {
            database,
            register,
            switch,
            ..
        } in declared
        {
            let database = lapidary_registers::database(database)
                .filter(|found| idle.database.is_none_or(|other| found.name == other.name))
                .with_context(|| format!("{register}: no database {database}, or a second one"))?;
            let find = |name: &str| {
                let found = database.by_name(name).filter(|found| found.len == 1);
                found.with_context(|| format!("no single register {name}"))
            };
            let (owner, field) = switch.split_once('.').unwrap_or((switch, ""));
            let owner = find(owner)?;
            let field = owner
                .field(field)
                .with_context(|| format!("no field {switch}"))?;
            let rule = Rule {
                register: find(register)?.offset,
                switch: owner.offset,
                field: field.field,
            };
            idle.database = Some(database);
            idle.rules.push((rule, State::default()));
        }
        Ok(idle)
    }

    /// Return the index of the first word that differs and has an effect. `packets`: the stream is of the command
    /// processor. A value that no stream has overwritten is remembered for the next call.
    pub fn difference(&mut self, a: &[u32], b: &[u32], packets: bool) -> Option<usize> {
        let exact = a.iter().zip(b).position(|(a, b)| a != b);
        let waits = self.rules.iter().any(|(_, state)| state.differs);
        let Some(database) = self
            .database
            .filter(|_| packets && (exact.is_some() || waits))
        else {
            return exact;
        };
        for (_, state) in &mut self.rules {
            state.on = None;
        }
        let lines = |words| decode_stream(database, words, Options::default());
        for (at, (a, b)) in lines(a).zip(lines(b)).enumerate() {
            let same = a.word == b.word;
            let offset = a.register().filter(|_| a.register() == b.register());
            let mut admitted = same;
            for ((rule, state), left_out) in self.rules.iter_mut().zip(&mut self.left_out) {
                if offset == Some(rule.register) {
                    state.differs = !same;
                    if !same && state.on == Some(false) {
                        *left_out += 1;
                        admitted = true;
                    }
                }
                if offset == Some(rule.switch) {
                    state.on = Some(rule.field.any(a.word));
                    admitted &= !(state.differs && rule.field.any(a.word));
                }
            }
            if !admitted {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return a write of one register behind 0x28000.
    fn set(offset: u32, value: u32) -> [u32; 3] {
        [0xc001_6900, (offset - 0x28000) / 4, value]
    }

    fn en(on: u32) -> [u32; 3] {
        set(0x28a94, on)
    }

    fn index(value: u32) -> [u32; 3] {
        set(0x2840c, value)
    }

    fn declared(register: &str, switch: &str) -> Declared {
        Declared {
            database: "r700".into(),
            register: register.into(),
            switch: switch.into(),
            reason: "r".into(),
        }
    }

    fn idle() -> Idle {
        Idle::new(&[declared(
            "VGT_MULTI_PRIM_IB_RESET_INDX",
            "VGT_MULTI_PRIM_IB_RESET_EN.RESET_EN",
        )])
        .unwrap()
    }

    fn differ(idle: &mut Idle, a: &[[u32; 3]], b: &[[u32; 3]]) -> Option<usize> {
        idle.difference(&a.concat(), &b.concat(), true)
    }

    #[test]
    fn a_value_without_effect_is_not_compared() {
        let mut idle = idle();
        let [a, b] = [7, 8].map(|value| [en(0), index(value), en(0)]);
        assert_eq!(differ(&mut idle, &a, &b), None);
        assert_eq!(idle.left_out, [1]);
        // Nor in the middle of a sequence of registers.
        let [a, b] = [7, 8].map(|value| {
            [
                en(0),
                [0xc002_6900, 0x102, 5],
                [value, 0x8000_0000, 0x8000_0000],
            ]
        });
        assert_eq!(differ(&mut idle, &a, &b), None);
        assert_eq!(idle.left_out, [2]);
    }

    #[test]
    fn a_value_with_effect_is() {
        let [a, b] = [7, 8].map(|value| [en(1), index(value)]);
        assert_eq!(differ(&mut idle(), &a, &b), Some(5));
        let mut idle = idle();
        // The latest setting counts.
        let [a, b] = [7, 8].map(|value| [en(0), en(1), index(value)]);
        assert_eq!(differ(&mut idle, &a, &b), Some(8));
        assert_eq!(idle.left_out, [0]);
    }

    #[test]
    fn a_value_that_gets_an_effect_is() {
        let [a, b] = [7, 8].map(|value| [en(0), index(value), en(1)]);
        assert_eq!(differ(&mut idle(), &a, &b), Some(8));
        // Also in a later stream, up to the next value.
        let mut one = idle();
        assert_eq!(differ(&mut one, &a[..2], &b[..2]), None);
        assert_eq!(differ(&mut one, &[en(1)], &[en(1)]), Some(2));
        let mut one = idle();
        assert_eq!(differ(&mut one, &a[..2], &b[..2]), None);
        assert_eq!(
            differ(&mut one, &[index(1), en(1)], &[index(1), en(1)]),
            None
        );
    }

    #[test]
    fn nothing_is_known_at_the_start_of_a_stream() {
        let mut idle = idle();
        let [a, b] = [7, 8].map(|value| [en(0), index(value)]);
        assert_eq!(differ(&mut idle, &a, &b), None);
        assert_eq!(differ(&mut idle, &[index(7)], &[index(8)]), Some(2));
    }

    #[test]
    fn other_words_are_compared() {
        let mut idle = idle();
        assert_eq!(
            differ(
                &mut idle,
                &[en(0), set(0x28408, 1)],
                &[en(0), set(0x28408, 2)]
            ),
            Some(5)
        );
        // The switch itself, and a packet that is another one.
        assert_eq!(differ(&mut idle, &[en(0)], &[en(2)]), Some(2));
        assert_eq!(
            differ(&mut idle, &[en(0), index(7)], &[en(0), set(0x28408, 8)]),
            Some(4)
        );
        // Streams of another engine have no packets.
        let [a, b] = [7, 8].map(|value| [en(0), index(value)].concat());
        assert_eq!(idle.difference(&a, &b, false), Some(5));
        assert_eq!(Idle::new(&[]).unwrap().difference(&a, &b, true), Some(5));
    }

    #[test]
    fn names_are_of_the_database() {
        for (register, switch) in [
            ("VGT_NOTHING", "VGT_MULTI_PRIM_IB_RESET_EN.RESET_EN"),
            (
                "VGT_MULTI_PRIM_IB_RESET_INDX",
                "VGT_MULTI_PRIM_IB_RESET_EN.NOTHING",
            ),
            ("VGT_MULTI_PRIM_IB_RESET_INDX", "VGT_MULTI_PRIM_IB_RESET_EN"),
        ] {
            assert!(Idle::new(&[declared(register, switch)]).is_err());
        }
        let mut other = declared("RBBM_STATUS", "RBBM_STATUS.GUI_ACTIVE");
        other.database = "r500".into();
        let one = declared(
            "VGT_MULTI_PRIM_IB_RESET_INDX",
            "VGT_MULTI_PRIM_IB_RESET_EN.RESET_EN",
        );
        assert!(Idle::new(&[one, other]).is_err());
    }
}
