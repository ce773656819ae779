// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A pitch that does not fit the object: the CPU sees nothing beyond the object, and loses nothing within it.
//!
//! The model knows which bytes belong to which object, so its judge sees an access that comes out in another; and the
//! neighbours' words are compared. Within the object each word has one place: what the CPU writes through the mapping
//! is what lies in memory, in some order.

use super::{KINDS, device, set_tiling, submit};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::territory;
use lapidary_guest::{Bo, Device, Domain, abi};
use lapidary_harness::Context;
use lapidary_harness::mapping::PAGE;
use lapidary_uapi_radeon::support::{self, surface};
use std::rc::Rc;

/// Objects side by side; the middle one gets a surface.
const NEIGHBOURS: usize = 5;
const MIDDLE: usize = 2;

/// Objects in video memory, each with words of its own, and what the GPU brings them out by.
struct Row {
    objects: Vec<Bo>,
    out: Bo,
}

/// Return word `i` of object `n`, the `round`th time.
fn word(round: u32, n: usize, i: usize) -> u32 {
    (round << 24) | ((n as u32) << 16) | i as u32
}

fn words(round: u32, n: usize, bo: &Bo) -> Vec<u32> {
    (0..(bo.size() / 4) as usize)
        .map(|i| word(round, n, i))
        .collect()
}

impl Row {
    fn new(context: &mut Context, device: &Rc<Device>, pages: u64) -> Result<Row> {
        let size = pages * PAGE;
        let rows = size as u32 / support::PITCH;
        let row = Row {
            objects: (0..NEIGHBOURS)
                .map(|_| surface(device, rows, Domain::Vram))
                .collect::<Result<_>>()?,
            out: surface(device, rows, Domain::Gtt)?,
        };
        for (n, bo) in row.objects.iter().enumerate() {
            bo.write(&words(0, n, bo))?;
        }
        let names: Vec<_> = (0..NEIGHBOURS).map(|n| format!("object-{n}")).collect();
        let mut declared: Vec<_> = names.iter().map(String::as_str).zip(&row.objects).collect();
        declared.push(("out", &row.out));
        territory::declare(context.control()?, &declared)?;
        Ok(row)
    }

    fn middle(&self) -> &Bo {
        &self.objects[MIDDLE]
    }

    /// Return what lies in memory, in the order of memory.
    fn raw(&self, n: usize) -> Result<Vec<u32>> {
        let bo = &self.objects[n];
        submit(bo.device(), &support::copy(bo, &self.out), true)?;
        self.out.read()
    }

    /// Check that the other objects are unchanged.
    fn neighbours_are_untouched(&self) -> Result<()> {
        for n in (0..NEIGHBOURS).filter(|&n| n != MIDDLE) {
            let seen = self.raw(n)?;
            let foreign = (0..seen.len()).find(|&i| seen[i] != word(0, n, i));
            if let Some(i) = foreign {
                anyhow::bail!("word {i} of object {n} is {:#x}", seen[i]);
            }
        }
        Ok(())
    }
}

/// A page is less than the first row of blocks of such a pitch: it is shown as it is.
pub fn no_row(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let row = Row::new(context, &device, 1)?;
    let flags = abi::TILING_SURFACE | abi::TILING_MACRO;
    set_tiling(row.middle(), flags, 3840)?;
    let mapping = row.middle().map()?;
    let seen = mapping.read(0, mapping.len());
    ensure!(
        seen == words(0, MIDDLE, row.middle()),
        "a page is not seen as it lies in memory"
    );
    let written = words(1, MIDDLE, row.middle());
    mapping.write(0, &written);
    row.neighbours_are_untouched()?;
    ensure!(
        row.raw(MIDDLE)? == written,
        "a page is not written as it is seen"
    );
    Ok(())
}

/// Whole rows, parts of rows, more than the object. At 1024 the object holds one row and a half of macro tiles.
const PITCHES: [u32; 10] = [16, 48, 128, 256, 384, 768, 1024, 1280, 3840, 4080];

/// Use pitches that divide nothing, with all kinds of tiles.
pub fn odd_pitches(context: &mut Context) -> Result<()> {
    let device = device(context)?;
    let row = Row::new(context, &device, 3)?;
    let mut round = 0;
    let mut orders = 0;
    for kind in KINDS {
        for pitch in PITCHES {
            round += 1;
            set_tiling(row.middle(), kind | abi::TILING_SURFACE, pitch)?;
            let what = || format!("flags {kind:#x}, pitch {pitch}");
            let mapping = row.middle().map()?;
            let written = words(round, MIDDLE, row.middle());
            mapping.write(0, &written);
            // Words of another round are at places that were missed.
            let mut raw = row.raw(MIDDLE)?;
            orders += u32::from(raw != written);
            raw.sort_unstable();
            ensure!(raw == written, "{}: not each word has one place", what());
            for i in (0..written.len()).step_by(31) {
                let seen = mapping.get(i);
                ensure!(seen == written[i], "{}: word {i} is {seen:#x}", what());
            }
        }
        row.neighbours_are_untouched()
            .with_context(|| format!("flags {kind:#x}"))?;
    }
    // Micro tiles do with all but the pitches that are longer than a quarter of the object.
    ensure!(orders >= 10, "{orders} of {round} are tiled");
    Ok(())
}
