// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is measured: one row each.

use crate::family::family;
use crate::prepared::Prepared;
use crate::recorded;
use crate::side::Side;
use anyhow::{Context, Result, bail, ensure};
use lapidary_guest::{Bo, Device, Domain, Errno, Stream};
use lapidary_harness::mapping::PAGE;
use lapidary_streams::Recording;
use std::rc::Rc;

/// Does it once; told how many times it was done before in this round.
pub type Op = Box<dyn FnMut(usize) -> Result<()>>;

/// Makes on one side what a row needs.
type Make = Box<dyn Fn(&Side) -> Result<Op>>;

/// What kind of cost a row shows; decides the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A submission for which no client waits.
    Submission,
    /// The same, of the 2D engine: what an operation touches is worked out for each rectangle.
    Submission2d,
    /// A submission that is refused.
    Refusal,
    /// A submission, and a client that sleeps until it is done.
    Wait,
    /// A large object in system memory whose pages are all written to.
    LargeTouched,
    /// An object in video memory that is made and closed.
    Vram,
    /// Something else.
    Other,
}

/// One row of the table.
pub struct Row {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub kind: Kind,
    /// How often it is done in a round. Few enough that neither ring nor indirect buffers fill up, which
    /// would make a client wait.
    pub times: usize,
    make: Make,
}

impl Row {
    fn new(
        name: impl Into<String>,
        kind: Kind,
        times: usize,
        make: impl Fn(&Side) -> Result<Op> + 'static,
    ) -> Row {
        Row {
            name: name.into(),
            kind,
            times,
            make: Box::new(make),
        }
    }

    /// Return the row of a submission that is made `times` times in a round. `make` returns its stream, and the objects
    /// that it names.
    pub fn submission(
        name: String,
        times: usize,
        make: impl Fn(&Side) -> Result<(Stream, Vec<Bo>)> + 'static,
    ) -> Row {
        Row::new(name, Kind::Submission, times, move |side| {
            let (stream, objects) = make(side)?;
            Ok(again(side, &stream, objects))
        })
    }

    /// Make what it needs on one side.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn make(&self, side: &Side) -> Result<Op> {
        (self.make)(side).with_context(|| format!("{} on {}", self.name, side.driver))
    }
}

/// Return all rows; those of recorded submissions if there are any.
pub fn all(recordings: Vec<Recording>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (dwords, objects, times) in [(8, 1, 128), (500, 2, 128), (4096, 64, 32), (16384, 512, 8)] {
        rows.push(Row::new(
            format!("cs {dwords}/{objects}"),
            Kind::Submission,
            times,
            move |side| submission(side, dwords, objects),
        ));
    }
    rows.push(Row::new(
        "cs 500/2 by turns",
        Kind::Submission,
        128,
        by_turns,
    ));
    rows.extend(family().rows());
    let recordings = Rc::new(recordings);
    let mut programs: Vec<&str> = recordings
        .iter()
        .map(|recording| recording.stream.program.as_str())
        .collect();
    programs.dedup();
    for program in programs {
        let of_program: Rc<Vec<Recording>> = Rc::new(
            recordings
                .iter()
                .filter(|recording| recording.stream.program == program)
                .cloned()
                .collect(),
        );
        rows.push(Row::new(
            format!("cs of {program}"),
            if program.starts_with("libdrm-") {
                Kind::Submission2d
            } else {
                Kind::Submission
            },
            of_program.len() * repeats(&of_program),
            move |side| replay(side, &of_program),
        ));
    }
    rows.push(Row::new(
        "cs refused at its end",
        Kind::Refusal,
        32,
        refusal,
    ));
    rows.push(Row::new("cs and wait", Kind::Wait, 8, wait));
    for domain in [Domain::Vram, Domain::Gtt] {
        for (size, name) in [(4 << 10, "4 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")] {
            for touch in [false, true] {
                let place = if domain == Domain::Vram {
                    "VRAM"
                } else {
                    "GTT"
                };
                let used = if touch { " touched" } else { "" };
                let kind = if domain == Domain::Gtt && size >= 1 << 20 && touch {
                    Kind::LargeTouched
                } else if domain == Domain::Vram && !touch {
                    Kind::Vram
                } else {
                    Kind::Other
                };
                rows.push(Row::new(
                    format!("{place} {name}{used}"),
                    kind,
                    16,
                    move |side| life(side, size, domain, touch),
                ));
            }
        }
    }
    rows
}

/// Return the objects of one page, by turns in VRAM and in system memory.
fn objects(device: &Rc<Device>, count: usize) -> Result<Vec<Bo>> {
    (0..count)
        .map(|i| {
            let domain = Domain::ALL[i % 2];
            let bo = device.create(PAGE, domain).context("an object")?;
            Ok(bo)
        })
        .collect()
}

fn prepare(stream: &Stream) -> Prepared {
    let flags = [stream.flags()[0], stream.flags()[1]];
    Prepared::new(stream.words(), stream.relocations(), flags)
}

fn submission(side: &Side, dwords: usize, count: usize) -> Result<Op> {
    let objects = objects(&side.device, count)?;
    let stream = family().state(&objects, dwords);
    Ok(again(side, &stream, objects))
}

/// Return an operation by which two clients submit by turns. It tells what a change of the client costs.
fn by_turns(side: &Side) -> Result<Op> {
    let clients = [side.device.clone(), side.device.another()?];
    let mut all = Vec::new();
    for device in clients {
        let objects = objects(&device, 2)?;
        all.push((prepare(&family().state(&objects, 500)), device, objects));
    }
    Ok(Box::new(move |i| {
        let (prepared, device, _) = &all[i % all.len()];
        prepared.submit(device).context("submitting")
    }))
}

/// Submit a stream that names these objects.
fn again(side: &Side, stream: &Stream, objects: Vec<Bo>) -> Op {
    let prepared = prepare(stream);
    let device = side.device.clone();
    Box::new(move |_| {
        let _ = &objects;
        prepared.submit(&device).context("submitting")
    })
}

fn refusal(side: &Side) -> Result<Op> {
    let objects = objects(&side.device, 2)?;
    let prepared = prepare(&family().refused(&objects, 500));
    let device = side.device.clone();
    Ok(Box::new(move |_| {
        let _ = &objects;
        match prepared.submit(&device) {
            Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(error).context("submitting what is to be refused"),
            Ok(()) => bail!("the stream was to be refused"),
        }
    }))
}

/// Return how often a program's submissions are made in one round: so that there are some, but not more than fit in
/// the indirect buffers of both drivers, 1 MiB.
fn repeats(recordings: &[Recording]) -> usize {
    let words: usize = recordings
        .iter()
        .map(|recording| recording.stream.words.len().next_multiple_of(64))
        .sum();
    (128 * 1024 / words).min(96 / recordings.len()).max(1)
}

fn replay(side: &Side, recordings: &[Recording]) -> Result<Op> {
    let mut programs = recorded::programs(&side.device, recordings)?;
    let program = programs.pop().context("no recording")?;
    ensure!(programs.is_empty(), "several programs in one row");
    let device = side.device.clone();
    Ok(Box::new(move |i| {
        // All of it, with the objects.
        let program = &program;
        program.submissions[i % program.submissions.len()]
            .submit(&device)
            .with_context(|| format!("submission {i} of {}", program.name))
    }))
}

/// Return an operation for which the engine works for some milliseconds, so that a client that waits has to sleep.
fn wait(side: &Side) -> Result<Op> {
    const BYTES: u64 = 16 << 20;
    let target = side
        .device
        .create(BYTES, Domain::Vram)
        .context("a large object")?;
    let prepared = prepare(&family().slow(&target));
    let device = side.device.clone();
    Ok(Box::new(move |_| {
        prepared.submit(&device).context("submitting")?;
        target.wait().context("waiting")
    }))
}

/// Make an object and close it; in between the CPU may write to each of its pages.
fn life(side: &Side, size: u64, domain: Domain, touch: bool) -> Result<Op> {
    let device = side.device.clone();
    Ok(Box::new(move |_| {
        let bo = device.create(size, domain).context("making an object")?;
        if touch {
            let mapping = bo.map().context("mapping it")?;
            for page in 0..size / PAGE {
                mapping.set((page * PAGE / 4) as usize, 1);
            }
        }
        Ok(())
    }))
}
