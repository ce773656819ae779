// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One rule of the checker: a stream that keeps it, and one that differs in a single dword and is refused for
//! just that reason.

use super::support::{objects, run, Stream};
use r500::portable::checker::{Chip, Object, Options, Reason, Refusal};

pub const PAGE: u64 = 4096;
pub const PATCH: Options = Options {
    keep_tiling: false,
    hyperz: false,
    cmask: false,
    chip: Chip::Rv515,
    pixel_pipes: 1,
    z_pipes: 1,
};
pub const KEEP: Options = Options {
    keep_tiling: true,
    ..PATCH
};
/// A client that owns everything, on the chip with most pipes.
pub const OWNER: Options = Options {
    hyperz: true,
    cmask: true,
    chip: Chip::R580,
    pixel_pipes: 4,
    ..KEEP
};

/// Return whether two streams differ in just one dword.
pub fn differ_in_one_dword(one: &[u32], other: &[u32]) -> bool {
    one.len() == other.len() && one.iter().zip(other).filter(|(a, b)| a != b).count() == 1
}

/// One rule.
pub struct Rule {
    pub reason: Reason,
    pub stream: Stream,
    pub objects: Vec<Object>,
    pub options: Options,
    /// Index and new value of the dword that breaks the rule.
    pub spoil: (usize, u32),
    /// Where the refusal must point.
    pub position: usize,
}

impl Rule {
    pub fn new(reason: Reason, stream: &Stream, at: usize, value: u32) -> Self {
        Self {
            reason,
            stream: stream.clone(),
            objects: objects(&[16 * PAGE, 16 * PAGE]),
            options: KEEP,
            spoil: (at, value),
            position: at,
        }
    }

    /// Let the fault show at another dword than the one that was changed.
    pub fn shows_at(mut self, position: usize) -> Self {
        self.position = position;
        self
    }

    pub fn with_objects(mut self, sizes: &[u64]) -> Self {
        self.objects = objects(sizes);
        self
    }

    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    pub fn take_tiling_from(mut self, tiling: [u32; 2]) -> Self {
        self.options = PATCH;
        for (object, tiling) in self.objects.iter_mut().zip(tiling) {
            object.tiling = tiling;
        }
        self
    }

    /// Return what is wrong with the rule or the checker, if anything is.
    pub fn test(&self) -> Result<(), String> {
        let good = &self.stream.words;
        let (at, value) = self.spoil;
        let name = format!("{:?} by dword {at} = {value:#x}", self.reason);
        if let Err(refusal) = run(good, &self.objects, self.options) {
            return Err(format!("{name}: the good stream is refused: {refusal:?}"));
        }
        let mut bad = good.clone();
        bad[at] = value;
        if !differ_in_one_dword(good, &bad) {
            return Err(format!("{name}: nothing is changed"));
        }
        let expected = Refusal {
            position: self.position as u32,
            reason: self.reason,
        };
        match run(&bad, &self.objects, self.options) {
            Err(refusal) if refusal == expected => Ok(()),
            Err(refusal) => Err(format!("{name}: {refusal:?} instead of {expected:?}")),
            Ok(_) => Err(format!("{name}: let through")),
        }
    }
}

/// Return the index of the value in the last register write that has been added.
pub fn value(stream: &Stream) -> usize {
    stream.here() - 1
}
