// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring clears video memory before anybody sees it as a new object. What if it hangs in that?

use super::{BOUND, SIZE, on, whole};
use crate::support::{engine_works, within};
use anyhow::{Result, ensure};
use lapidary_guest::child::{self, End};
use lapidary_guest::draw2d;
use lapidary_guest::harness::{Context, refused};
use lapidary_guest::{Bo, Device, Domain, Errno, Stream};
use std::rc::Rc;

const SECRET: u32 = 0x5ec2_e702;

/// Fills a piece of video memory with a secret, and gives it back.
fn leave_secrets(device: &Rc<Device>) -> Result<()> {
    let mut old = Vec::new();
    for _ in 0..4 {
        let bo = device.create(SIZE, Domain::Vram)?;
        bo.write(&vec![SECRET; SIZE as usize / 4])?;
        old.push(bo);
    }
    drop(old);
    engine_works(device)
}

/// The clearing of a new object hangs. It is done again, and nobody is blamed.
pub(super) fn once(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    leave_secrets(&device)?;
    context.control()?.fault("endless-buffer", 1)?;
    let objects: Vec<Bo> = (0..3)
        .map(|_| device.create(SIZE, Domain::Vram))
        .collect::<Result<_, _>>()?;
    for (i, bo) in objects.iter().enumerate() {
        let seen = within(BOUND, "reading", || bo.read())??;
        ensure!(
            seen.iter().all(|&word| word == 0),
            "object {i} shows what was there before"
        );
    }
    engine_works(&device)
}

/// The clearing of a new object hangs twice: the object is useless, but shows nothing. All others are as usual.
pub(super) fn twice(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    leave_secrets(&device)?;
    context.control()?.fault("endless-buffer", 2)?;
    let lost = device.create(SIZE, Domain::Vram)?;
    let others: Vec<Bo> = (0..3)
        .map(|_| device.create(SIZE, Domain::Vram))
        .collect::<Result<_, _>>()?;
    within(2 * BOUND, "the wait", || lost.wait())??;
    let end = child::run(BOUND, || {
        let mapping = lost.map()?;
        Ok(i32::from(mapping.get(0) == SECRET))
    })?;
    ensure!(end == End::Signal(libc::SIGBUS), "reading it: {end:?}");
    let mut stream = Stream::new();
    draw2d::fill_by_registers(&mut stream, on(&lost), 1, whole());
    refused("using it", device.submit(&stream), Errno::IO)?;
    for bo in &others {
        ensure!(
            bo.read()?.iter().all(|&word| word == 0),
            "an object shows what was there before"
        );
    }
    engine_works(&device)
}
