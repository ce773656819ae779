// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One rule of the checker: a stream that keeps it, and one that differs in a single dword and is refused for just that
//! reason.

use chrome9::portable::checker::{Object, Reason, Refusal};

use crate::support::{run, Stream};

/// Size of objects where it does not matter.
pub const PAGE: u64 = 4096;

/// Return objects of those sizes.
pub fn objects(sizes: &[u64]) -> Vec<Object> {
    let object = |size: &u64| Object {
        size: *size,
        ..Object::default()
    };
    sizes.iter().map(object).collect()
}

/// The dword that breaks a rule.
#[derive(Clone, Copy, Debug)]
pub enum Spoil {
    /// One of the stream.
    Word(usize, u32),
    /// One of a relocation.
    Relocation(usize, usize, u32),
}

/// One rule.
pub struct Rule {
    pub reason: Reason,
    pub stream: Stream,
    pub sizes: Vec<u64>,
    pub spoil: Spoil,
    /// Where the refusal must point.
    pub position: usize,
}

impl Rule {
    /// Break the rule by another dword `at`.
    pub fn new(reason: Reason, stream: &Stream, at: usize, value: u32) -> Self {
        Self {
            reason,
            stream: stream.clone(),
            sizes: vec![PAGE, PAGE],
            spoil: Spoil::Word(at, value),
            position: at,
        }
    }

    /// Break the rule by another value of a relocation: 0 its dword, 1 the object, 2 the offset, 3 the field.
    pub fn relocation(reason: Reason, stream: &Stream, at: usize, what: usize, value: u32) -> Self {
        Self {
            spoil: Spoil::Relocation(at, what, value),
            ..Self::new(reason, stream, at, 0)
        }
    }

    /// Let the fault show elsewhere.
    pub fn shows_at(mut self, position: usize) -> Self {
        self.position = position;
        self
    }

    pub fn with_objects(mut self, sizes: &[u64]) -> Self {
        self.sizes = sizes.to_vec();
        self
    }

    /// Return what is wrong with the rule or the checker, if anything is.
    pub fn test(&self) -> Result<(), String> {
        let name = format!("{:?} by {:x?}", self.reason, self.spoil);
        let objects = objects(&self.sizes);
        let good = &self.stream;
        if let Err(refusal) = run(&good.words, &good.relocations, &objects) {
            return Err(format!("{name}: the good stream is refused: {refusal:?}"));
        }
        let mut bad = good.clone();
        let changed = match self.spoil {
            Spoil::Word(at, value) => std::mem::replace(&mut bad.words[at], value) != value,
            Spoil::Relocation(at, what, value) => {
                std::mem::replace(&mut bad.relocations[at][what], value) != value
            }
        };
        if !changed {
            return Err(format!("{name}: nothing is changed"));
        }
        let expected = Refusal {
            position: self.position as u32,
            reason: self.reason,
        };
        match run(&bad.words, &bad.relocations, &objects) {
            Err(refusal) if refusal == expected => Ok(()),
            Err(refusal) => Err(format!("{name}: {refusal:?} instead of {expected:?}")),
            Ok(_) => Err(format!("{name}: admitted")),
        }
    }
}
