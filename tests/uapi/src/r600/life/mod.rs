// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The life of a chip with two rings: hangs, sleep, removal, and interrupts that go wrong, while both rings work.
//!
//! Most of it is in the tests for every family, which use the command processor. Here are the tests that need the DMA
//! ring, or faults of this family.

mod hangs;
mod interrupts;
mod together;

use super::dma::needs_ring;
use anyhow::{Result, ensure};
use lapidary_engines::r600::{cp, dma};
use lapidary_guest::painter::{Area, Rect};
use lapidary_guest::{Bo, Client as _, Device, Domain, Stream};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use std::rc::Rc;

/// Return all but [`last_tests`].
pub fn tests() -> Vec<Test> {
    together::tests()
}

/// Return those that leave the device in need of a new probe.
pub fn last_tests() -> Vec<Test> {
    let mut tests = Vec::new();
    tests.extend(hangs::tests());
    tests.extend(interrupts::tests());
    tests.extend(together::last_tests());
    tests
}

/// Return a client, if the chip has two rings.
fn device(context: &mut Context) -> Result<Rc<Device>> {
    let device = context.device()?;
    needs_ring(&device)?;
    Ok(device)
}

/// A ring for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ring {
    Cp,
    Dma,
}

impl Ring {
    fn stream(self) -> Stream {
        match self {
            Ring::Cp => Stream::new(),
            Ring::Dma => dma::stream(),
        }
    }

    /// Return a job that writes one word twice, to a multiple of eight bytes.
    fn write_two(self, to: (&Bo, u32), word: u32) -> Stream {
        let mut stream = self.stream();
        match self {
            Ring::Cp => cp::write_two(&mut stream, to, [word; 2]),
            Ring::Dma => dma::write(&mut stream, to, &[word; 2]),
        }
        stream
    }

    /// Return a job that copies an object of one page to another.
    fn copy(self, from: &Bo, to: &Bo) -> Stream {
        let mut stream = self.stream();
        match self {
            Ring::Cp => cp::copy(&mut stream, (from, 0), (to, 0), PAGE as u32),
            Ring::Dma => dma::copy(&mut stream, (from, 0), (to, 0), PAGE as u32 / 4),
        }
        stream
    }

    /// Return a job that fills an object of one page.
    fn fill(self, to: &Bo, value: u32) -> Stream {
        const PITCH: u32 = 256;
        let mut stream = self.stream();
        match self {
            Ring::Cp => {
                let whole = Rect::new(0, 0, PITCH as i32 / 4, (PAGE as u32 / PITCH) as i32);
                cp::fill(&mut stream, Area::new(to, PITCH), value, whole);
            }
            Ring::Dma => dma::fill(&mut stream, (to, 0), PAGE as u32 / 4, value),
        }
        stream
    }
}

/// The four ways from ring to ring.
const WAYS: [[Ring; 2]; 4] = [
    [Ring::Cp, Ring::Cp],
    [Ring::Cp, Ring::Dma],
    [Ring::Dma, Ring::Cp],
    [Ring::Dma, Ring::Dma],
];

/// A client that writes to one object by the first of two rings, and copies it to another by the second.
///
/// Each job depends on the one before. A job that is missing, or comes too early, shows in the second object.
struct Writer {
    device: Rc<Device>,
    rings: [Ring; 2],
    draft: Bo,
    fair: Bo,
    words: Vec<u32>,
}

impl Writer {
    /// Return a client whose objects are idle and zero. Upstream's new objects are not zero.
    fn new(device: Rc<Device>, rings: [Ring; 2], domain: Domain) -> Result<Writer> {
        let (draft, fair) = (device.create(PAGE, domain)?, device.create(PAGE, domain)?);
        for bo in [&draft, &fair] {
            bo.write(&[0; PAGE as usize / 4])?;
            bo.wait()?;
        }
        Ok(Writer {
            device,
            rings,
            draft,
            fair,
            words: Vec::new(),
        })
    }

    /// Submit one write and one copy. When the objects are full, the writes begin anew.
    fn step(&mut self) -> Result<()> {
        let [first, second] = self.rings;
        if self.words.len() == PAGE as usize / 4 {
            self.words.clear();
            self.device.submit(&first.fill(&self.draft, 0))?;
        }
        let at = self.words.len();
        let word = 0x1000_0001 + at as u32;
        let write = first.write_two((&self.draft, at as u32 * 4), word);
        self.device.submit(&write)?;
        self.device.submit(&second.copy(&self.draft, &self.fair))?;
        self.words.extend([word; 2]);
        Ok(())
    }

    /// Wait, and check that all steps are in the second object.
    fn check(&self) -> Result<()> {
        let seen = self.fair.read()?;
        let want = self.words.iter().copied().chain(std::iter::repeat(0));
        for (at, (seen, want)) in seen.iter().zip(want).enumerate() {
            ensure!(
                *seen == want,
                "by {:?}: dword {at} of {} is {seen:#x}, not {want:#x}",
                self.rings,
                self.words.len()
            );
        }
        Ok(())
    }
}
