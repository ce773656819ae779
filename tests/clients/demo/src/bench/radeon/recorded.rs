// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Submissions of real clients, made again with objects of our own.

use super::prepared::Prepared;
use anyhow::{Context, Result};
use lapidary_guest::abi::{self, CsReloc};
use lapidary_guest::{Bo, Device, Domain};
use lapidary_streams::{Object, Recording};
use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};
use std::rc::Rc;

/// Objects by what they have to be like, and by which of several alike in one submission.
type Pool = HashMap<(Object, usize), Bo>;

/// The largest block of tiles.
const MOST_ALIGN: u64 = 256 << 10;

/// The submissions of one program, in their order.
pub struct Program {
    /// Its name.
    pub name: String,
    /// What it submitted.
    pub submissions: Vec<Prepared>,
    _objects: Pool,
}

/// Return the programs of a folder's recordings, on `device`.
///
/// # Errors
///
/// If an object cannot be made.
pub fn programs(device: &Rc<Device>, recordings: &[Recording]) -> Result<Vec<Program>> {
    let mut by_program: BTreeMap<&str, Vec<&Recording>> = BTreeMap::new();
    for recording in recordings {
        by_program
            .entry(&recording.stream.program)
            .or_default()
            .push(recording);
    }
    by_program
        .into_iter()
        .map(|(name, recordings)| {
            let mut objects = Pool::new();
            let submissions = recordings
                .into_iter()
                .map(|recording| {
                    prepare(device, &mut objects, recording).with_context(|| recording.name.clone())
                })
                .collect::<Result<_>>()?;
            Ok(Program {
                name: name.to_owned(),
                submissions,
                _objects: objects,
            })
        })
        .collect()
}

fn prepare(device: &Rc<Device>, objects: &mut Pool, recording: &Recording) -> Result<Prepared> {
    let stream = &recording.stream;
    let mut seen: HashMap<Object, usize> = HashMap::new();
    let mut entries = Vec::new();
    for &wanted in &stream.objects {
        let nth = seen.entry(wanted).and_modify(|n| *n += 1).or_insert(0);
        let object = match objects.entry((wanted, *nth)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(make(device, wanted)?),
        };
        entries.push(CsReloc {
            handle: object.handle(),
            read_domains: wanted.read,
            write_domain: wanted.write,
            flags: 0,
        });
    }
    let flags = [stream.flags, stream.ring];
    Ok(Prepared::new(&stream.words, &entries, flags))
}

fn make(device: &Rc<Device>, wanted: Object) -> Result<Bo> {
    let domain = if (wanted.read | wanted.write) & abi::DOMAIN_VRAM != 0 {
        Domain::Vram
    } else {
        Domain::Gtt
    };
    // A recording does not say how its objects were aligned. Tiled surfaces start at multiples of a block of tiles.
    let alignment = (1u64 << wanted.size.max(1).ilog2()).min(MOST_ALIGN);
    let handle = device
        .create_raw(wanted.size, alignment, domain.bits(), 0)
        .with_context(|| format!("an object of {} bytes", wanted.size))?;
    let bo = Bo::adopt(device.clone(), handle, wanted.size, domain);
    if wanted.tiling != 0 {
        let mut tiling = abi::GemTiling {
            handle: bo.handle(),
            flags: wanted.tiling,
            pitch: 0,
        };
        device
            .ioctl(abi::RADEON_GEM_SET_TILING, &mut tiling)
            .context("its tiling")?;
    }
    Ok(bo)
}
