// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a family of GPUs says to its fuzzer.

use std::fmt::Debug;
use std::ops::Range;

use fastrand::Rng;
use lapidary_registers::FieldInfo;
use lapidary_streams::Recording;

use crate::report::Report;

/// A submission: a stream, the objects that it names, and what the checker is told of client and chip.
pub trait Case: Clone {
    /// Return the stream.
    fn words(&self) -> &[u32];

    /// Return the stream, to be changed.
    fn words_mut(&mut self) -> &mut Vec<u32>;

    /// Return the number of objects.
    fn objects(&self) -> usize;

    /// Return the size of an object in bytes.
    fn size(&self, object: usize) -> u64;

    /// Set the size of an object in bytes.
    fn resize(&mut self, object: usize, size: u64);
}

/// Where packets of a stream begin and end, and what their dwords mean.
pub trait Grammar {
    /// A case of the family.
    type Case: Case;

    /// Return where the packets of a stream are, each with the markers that belong to it.
    fn packets(&self, case: &Self::Case) -> Vec<Range<usize>>;

    /// Choose a dword of the body of the packet at `start` that is worth a change. Return its position in the stream,
    /// and its fields. There are none if nothing is known of them.
    fn dword(
        &self,
        rng: &mut Rng,
        case: &Self::Case,
        start: usize,
    ) -> Option<(usize, &'static [FieldInfo])>;

    /// Return a marker with the number of an entry.
    fn marker(&self, entry: u32) -> [u32; 2];

    /// Change what the stream does not say itself: what the client owns, or what its objects are.
    fn circumstances(&self, rng: &mut Rng, case: &mut Self::Case);
}

/// What became of a submission.
#[derive(Debug)]
pub enum Verdict {
    /// The checker has refused it.
    Refused,
    /// It was executed and stayed inside.
    Fine,
    /// It was admitted and does what it must not.
    Broken(String),
}

/// A family: its streams, its checker and its model. Each thread has one.
pub trait Family: Grammar {
    /// Why the checker refuses a stream.
    type Reason: Copy + Ord + Debug + Send;

    /// Size of objects before they are cut.
    const GENEROUS: u64;

    /// Make a stream as a client makes it.
    fn made(&mut self, rng: &mut Rng) -> Self::Case;

    /// Return what a real program has sent.
    fn recorded(&mut self, rng: &mut Rng, recording: &Recording) -> Self::Case;

    /// Make a stream of packets with any contents.
    fn garbage(&mut self, rng: &mut Rng) -> Self::Case;

    /// Make a stream that can follow the beginning of `case`, for the same client and chip.
    fn other(&mut self, rng: &mut Rng, case: &Self::Case) -> Self::Case;

    /// Add a large object to a case.
    fn add_object(&self, case: &mut Self::Case);

    /// Set the model to the state before the first stream.
    fn reset(&mut self, case: &Self::Case);

    /// Return whether the checker admits a submission, and if not, why.
    ///
    /// # Errors
    /// The reason of the refusal.
    fn check(&mut self, case: &Self::Case) -> Result<(), Self::Reason>;

    /// Judge a submission by the checker, and if that admits it, by the model.
    fn judge(&mut self, rng: &mut Rng, case: &Self::Case) -> Verdict;

    /// Return a text of a case for people.
    fn describe(&self, case: &Self::Case) -> String;

    /// Return what the run has looked at.
    fn report(&mut self) -> &mut Report<Self::Reason>;
}
