// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `radeon` interface: upstream's driver, and ours for several families.

pub mod family;
mod prepared;
mod recorded;

use crate::client::{Client, Op, Place};
use anyhow::{Context, Result, bail, ensure};
use family::family;
use lapidary_guest::painter::{self, Area, Rect, painter};
use lapidary_guest::{Bo, Device, Domain, Errno, Stream, abi};
use lapidary_harness::mapping::PAGE;
use lapidary_streams::Recording;
use prepared::Prepared;
use std::path::Path;
use std::rc::Rc;

/// A client.
pub struct Radeon {
    /// Its file.
    pub device: Rc<Device>,
}

impl Radeon {
    /// Open a device of this interface.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(path: &Path) -> Result<Radeon> {
        let device = Rc::new(Device::open_path(path)?);
        painter::choose(&device);
        // What Mesa owns when it submits. One client has them, and there is none but this.
        for what in [
            const { abi::info_request("WANT_HYPERZ") },
            const { abi::info_request("WANT_CMASK") },
        ] {
            device.info_with(what, 1)?;
        }
        Ok(Radeon { device })
    }

    /// Return the submission of a stream that names these objects.
    pub fn again(&self, stream: &Stream, objects: Vec<Bo>) -> Op {
        let prepared = prepare(stream);
        let device = self.device.clone();
        Box::new(move |_| {
            let _ = &objects;
            prepared.submit(&device).context("submitting")
        })
    }

    /// Return the recorded submissions of one program, one after the other.
    ///
    /// # Errors
    ///
    /// If an object cannot be made.
    pub fn replay(&self, recordings: &[Recording]) -> Result<Op> {
        let mut programs = recorded::programs(&self.device, recordings)?;
        let program = programs.pop().context("no recording")?;
        ensure!(programs.is_empty(), "several programs in one row");
        let device = self.device.clone();
        Ok(Box::new(move |i| {
            // All of it, with the objects.
            let program = &program;
            program.submissions[i % program.submissions.len()]
                .submit(&device)
                .with_context(|| format!("submission {i} of {}", program.name))
        }))
    }
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

fn domain(place: Place) -> Domain {
    match place {
        Place::Vram => Domain::Vram,
        Place::System => Domain::Gtt,
    }
}

impl Client for Radeon {
    fn submission(&self, dwords: usize, count: usize) -> Result<Op> {
        let objects = objects(&self.device, count)?;
        let stream = family().state(&objects, dwords);
        Ok(self.again(&stream, objects))
    }

    /// It tells what a change of the client costs.
    fn by_turns(&self) -> Result<Op> {
        let clients = [self.device.clone(), self.device.another()?];
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

    fn fills(&self, count: usize) -> Result<Op> {
        let target = self.device.create(PAGE * 4, Domain::Vram)?;
        let mut stream = painter().stream();
        for i in 0..count as i32 {
            let rect = Rect::new(i % 8 * 8, i / 8 % 8 * 8, 8, 8);
            let area = Area::new(&target, 256);
            painter().fill(&mut stream, area, 0x0012_3456, rect);
        }
        Ok(self.again(&stream, vec![target]))
    }

    fn refusal(&self) -> Result<Op> {
        let objects = objects(&self.device, 2)?;
        let prepared = prepare(&family().refused(&objects, 500));
        let device = self.device.clone();
        Ok(Box::new(move |_| {
            let _ = &objects;
            match prepared.submit(&device) {
                Err(Errno::INVAL) => Ok(()),
                Err(error) => Err(error).context("submitting what is to be refused"),
                Ok(()) => bail!("the stream was to be refused"),
            }
        }))
    }

    fn wait(&self) -> Result<Op> {
        const BYTES: u64 = 16 << 20;
        let target = self.device.create(BYTES, Domain::Vram);
        let target = target.context("a large object")?;
        let prepared = prepare(&family().slow(&target));
        let device = self.device.clone();
        Ok(Box::new(move |_| {
            prepared.submit(&device).context("submitting")?;
            target.wait().context("waiting")
        }))
    }

    fn life(&self, size: u64, place: Place, touch: bool) -> Result<Op> {
        let device = self.device.clone();
        Ok(Box::new(move |_| {
            let bo = device.create(size, domain(place));
            let bo = bo.context("making an object")?;
            if touch {
                let mapping = bo.map().context("mapping it")?;
                for page in 0..size / PAGE {
                    mapping.set((page * PAGE / 4) as usize, 1);
                }
            }
            Ok(())
        }))
    }

    fn resets(&self) -> Result<u64> {
        Ok(self.device.reset_counter()?.into())
    }

    fn radeon(&self) -> Option<&Radeon> {
        Some(self)
    }
}
