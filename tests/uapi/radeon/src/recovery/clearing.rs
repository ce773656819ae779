// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A hang in the kernel's own clears. If no zeroed memory is in stock, the ring clears a new object's video memory
//! before a client can see it.

use super::{BOUND, ROWS, SIZE, on, whole};
use crate::support::{PITCH, WIDTH, emptied, engine_works, fill, hang_twice, surface, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Rect, painter};
use lapidary_guest::{Bo, Device, Domain, Errno, abi};
use lapidary_harness::Context;
use lapidary_harness::foreign::Vgem;
use std::os::fd::AsFd;
use std::rc::Rc;

const SECRET: u32 = 0x5ec2_e702;
/// Words of an object.
const WORDS: usize = SIZE as usize / 4;
/// Bytes of a piece of an object, and how many it has: as many as a ring takes jobs.
const PIECE: i32 = SIZE as i32 / PIECES as i32;
const PIECES: usize = 256;

/// Fill a piece of video memory with a secret, and free it.
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

/// The clear of a new object hangs. It is done again, and no client is blamed.
pub(super) fn once(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    leave_secrets(&device)?;
    let _stock = emptied(&device)?;
    painter().hang(context.control()?)?;
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

/// The clear of a new object hangs twice. The object gets other memory before a client can see it, by the CPU, by the
/// GPU or through another driver. All other objects are as usual.
pub(super) fn twice(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    leave_secrets(&device)?;
    let _stock = emptied(&device)?;
    let lost = hang_twice(context, || Ok(device.create(SIZE, Domain::Vram)?))?;
    let others: Vec<Bo> = (0..3)
        .map(|_| device.create(SIZE, Domain::Vram))
        .collect::<Result<_, _>>()?;
    within(2 * BOUND, "the wait", || lost.wait())??;
    ensure!(lost.read()? == [0; WORDS], "the CPU sees what was there");
    // From now on it is an ordinary object, and comes back to video memory.
    let mut stream = painter().stream();
    painter().fill(&mut stream, on(&lost), 1, whole());
    device.submit(&stream).context("using it")?;
    lost.wait()?;
    ensure!(
        device.busy(lost.handle()).1 == abi::DOMAIN_VRAM,
        "it does not come back"
    );
    ensure!(lost.read()?[0] == 1, "it was not drawn to");
    for bo in &others {
        ensure!(
            bo.read()? == [0; WORDS],
            "an object shows what was there before"
        );
    }
    engine_works(&device)
}

/// Do as [`twice`] does, with another driver as the first user of the object.
pub(super) fn exported(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = Vgem::open()?;
    leave_secrets(&device)?;
    let _stock = emptied(&device)?;
    let lost = hang_twice(context, || Ok(device.create(SIZE, Domain::Vram)?))?;
    within(2 * BOUND, "the wait", || lost.wait())??;
    let buffer = device.export(lost.handle())?;
    let handle = vgem.node().import(buffer.as_fd())?;
    ensure!(
        device.busy(lost.handle()).1 == abi::DOMAIN_GTT,
        "it is not where others see it"
    );
    ensure!(lost.read()? == [0; WORDS], "it shows what was there before");
    vgem.node().close(handle)?;
    engine_works(&device)
}

/// Copy piece `number` of an object to the same place in another.
fn copy_piece(device: &Device, from: &Bo, to: &Bo, number: usize) -> Result<(), Errno> {
    let mut stream = painter().stream();
    let rows = PIECE / PITCH as i32;
    let y = number as i32 % PIECES as i32 * rows;
    let rect = Rect::new(0, y, WIDTH, rows);
    painter().copy(&mut stream, on(from), on(to), (0, y), rect);
    device.submit(&stream)
}

/// The clear of a new object hangs twice, while jobs that copy all of it lie behind it on the ring, and more of them
/// wait for room. None of them is executed on what was there before, their client is not blamed, and other clients do
/// not notice.
pub(super) fn spied_upon(context: &mut Context) -> Result<()> {
    const MARK: u32 = 0x0bad_cafe;
    /// More than there is room for.
    const JOBS: usize = PIECES + 64;
    let device = context.device()?;
    crate::support::needs_one_ring(&device)?;
    let other = device.another()?;
    leave_secrets(&device)?;
    let spy = device.create(SIZE, Domain::Gtt)?;
    spy.write(&[MARK; WORDS])?;
    let painting = surface(&other, ROWS, Domain::Vram)?;
    painting.wait()?;
    let _stock = emptied(&device)?;
    let lost = hang_twice(context, || Ok(device.create(SIZE, Domain::Vram)?))?;
    other.submit(&fill(&painting, 5))?;
    within(4 * BOUND, "submitting", || {
        (0..JOBS).try_for_each(|number| copy_piece(&device, &lost, &spy, number))
    })??;
    within(BOUND, "waiting", || spy.wait())??;

    let seen = spy.read()?;
    let words = |value| seen.iter().filter(|&&word| word == value).count();
    ensure!(words(SECRET) == 0, "{} words are another's", words(SECRET));
    // One that was behind the clear, and no later one copies the same; and one that came after the second hang.
    let first = (JOBS - PIECES) * (PIECE as usize / 4);
    ensure!(seen[first] == MARK, "a job behind the clear was executed");
    let last = (JOBS - 1) % PIECES * (PIECE as usize / 4);
    ensure!(
        seen[last] == 0,
        "{:#x}: the last job was not executed",
        seen[last]
    );
    ensure!(words(MARK) + words(0) == WORDS, "neither mark nor zero");

    let status = device.reset_status()?;
    ensure!(
        status.guilty == 0 && status.flags == 0 && status.innocent == 2,
        "{status:?}"
    );
    ensure!(
        painting.read()?.iter().all(|&pixel| pixel == 5),
        "the other client's job was not executed"
    );
    for number in 0..PIECES {
        copy_piece(&device, &lost, &spy, number)?;
    }
    spy.wait()?;
    ensure!(
        spy.read()? == [0; WORDS],
        "it does not show zeros afterwards"
    );
    engine_works(&device)
}
