// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Submissions whose argument is not what their lists are: other lengths, other addresses, flags.

use super::Chrome9;
use super::spoilt::anything;
use crate::interface;
use crate::wild::nowhere;
use lapidary_chrome9_client::abi::{Object, Relocation, Submit, Sync};
use lapidary_chrome9_client::stream::{NULL, UNIT};
use lapidary_chrome9_client::{Bo, Device, Submission};
use rustix::io::Errno;
use std::fmt;

/// The lists of a submission, as its argument names them.
#[derive(Clone, Copy, Debug)]
enum List {
    Stream,
    Objects,
    Relocations,
    Wait,
    Signal,
}

impl List {
    const ALL: [List; 5] = [
        List::Stream,
        List::Objects,
        List::Relocations,
        List::Wait,
        List::Signal,
    ];

    /// Return where its address and its length are.
    fn of(self, argument: &mut Submit) -> (&mut u64, &mut u32) {
        match self {
            List::Stream => (&mut argument.stream, &mut argument.dwords),
            List::Objects => (&mut argument.objects, &mut argument.object_count),
            List::Relocations => (&mut argument.relocations, &mut argument.relocation_count),
            List::Wait => (&mut argument.wait, &mut argument.wait_count),
            List::Signal => (&mut argument.signal, &mut argument.signal_count),
        }
    }
}

/// A lie of an argument.
#[derive(Clone, Copy, Debug)]
enum Bend {
    Length(List, u32),
    Address(List, u64),
    Flags(u32),
}

/// A submission and what its argument says instead.
#[derive(Clone)]
pub struct Bent {
    submission: Submission,
    bends: Vec<Bend>,
}

/// Dwords of a stream that a message has.
const SHOWN: usize = 400;

impl fmt::Debug for Bent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut submission = self.submission.clone();
        submission.words.truncate(SHOWN);
        let whole = self.submission.words.len();
        write!(f, "{submission:x?} of {whole} dwords, {:x?}", self.bends)
    }
}

impl Bent {
    /// Return a submission whose argument says what it is.
    pub fn new(submission: Submission) -> Bent {
        Bent {
            submission,
            bends: Vec::new(),
        }
    }
}

impl interface::Submission<Chrome9> for Bent {
    fn wait_for(&mut self, sync: Sync) {
        self.submission.wait.push(sync);
    }

    fn signal(&mut self, sync: Sync) {
        self.submission.signal.push(sync);
    }

    fn issue(&self, device: &Device) -> Result<(), Errno> {
        self.submission.issue_bent(device, |argument| {
            for &bend in &self.bends {
                match bend {
                    Bend::Length(list, length) => *list.of(argument).1 = length,
                    Bend::Address(list, address) => *list.of(argument).0 = address,
                    Bend::Flags(flags) => argument.flags = flags,
                }
            }
        })
    }
}

/// Return a submission that may lie. Its stream does nothing, if it is one.
pub fn submission(rng: &mut fastrand::Rng, bo: &Bo) -> Bent {
    let mut submission = Submission {
        words: vec![NULL; UNIT * rng.usize(1..10)],
        ..Default::default()
    };
    if rng.u32(..3) == 0 {
        let dwords = rng.usize(..40);
        submission.words = (0..dwords).map(|_| anything(rng)).collect();
    }
    let known = Object {
        handle: bo.handle(),
        reserved: 0,
    };
    submission.objects = vec![known; rng.usize(..12)];
    if rng.u32(..4) == 0 {
        submission.objects.push(Object {
            handle: rng.u32(..64),
            reserved: rng.u32(..8).saturating_sub(6),
        });
    }
    for _ in 0..rng.u32(..8).saturating_sub(5) {
        submission.relocations.push(Relocation {
            dword: anything(rng),
            object: rng.u32(..3),
            offset: anything(rng),
            field: rng.u32(..2),
        });
    }
    for list in [&mut submission.wait, &mut submission.signal] {
        for _ in 0..rng.u32(..8).saturating_sub(5) {
            list.push(Sync {
                handle: rng.u32(..8),
                flags: rng.u32(..8).saturating_sub(6),
                point: u64::from(rng.u32(..4)),
            });
        }
    }
    let mut bends = Vec::new();
    for _ in 0..rng.u32(..3) {
        let list = List::ALL[rng.usize(..List::ALL.len())];
        bends.push(match rng.u32(..5) {
            0 | 1 => Bend::Length(list, anything(rng)),
            2 | 3 => Bend::Address(list, nowhere(rng)),
            _ => Bend::Flags(1 << rng.u32(..32)),
        });
    }
    Bent { submission, bends }
}
