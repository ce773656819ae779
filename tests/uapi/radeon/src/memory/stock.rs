// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The driver keeps a stock of free video memory that it knows to be zero, for new objects. That saves clears, and
//! shows nothing of other clients.

use super::{MIB, ROW, fill, in_vram, moved, objects, room, words};
use crate::support::{emptied, engine_works, hang_twice, settled, stock, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Device, Domain};
use lapidary_harness::Context;
use std::rc::Rc;
use std::time::Duration;

const PAGE: u64 = 4096;
const SECRET: u32 = 0x5ec2_e707;
/// The bound of a hang, and time for a loaded machine.
const BOUND: Duration = Duration::from_secs(20);

/// Fill all of video memory with a secret and free it.
fn leave_secrets(device: &Rc<Device>) -> Result<()> {
    let bos = fill(device, MIB)?;
    for bo in &bos {
        bo.write(&vec![SECRET; (MIB / 4) as usize])?;
    }
    drop(bos);
    settled(device)?;
    Ok(())
}

fn expect_zero(what: &str, bo: &Bo) -> Result<()> {
    let seen = bo.read()?;
    let wrong = seen.iter().position(|&word| word != 0);
    ensure!(
        wrong.is_none(),
        "{what}: dword {} of {} is {:#x}",
        wrong.unwrap_or(0),
        seen.len(),
        seen[wrong.unwrap_or(0)]
    );
    Ok(())
}

/// More objects than there is room for are made, used in several ways, and closed. Each new one is zero, whatever the
/// last owners of its memory have done.
pub fn shows_nothing(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    let room = room(&device)?;
    leave_secrets(&device)?;
    let mut random = fastrand::Rng::with_seed(0x0057_0c4e);
    let mut kept: Vec<Bo> = Vec::new();
    for round in 0..400u32 {
        let owner = if round % 2 == 0 { &device } else { &other };
        // A quarter are large, so that others have to make room.
        let pages = match random.u64(..) % 4 {
            0 => 256 + random.u64(..) % 512,
            _ => 1 + random.u64(..) % 64,
        };
        let bo = owner.create(pages * PAGE, Domain::Vram)?;
        let what = format!("object {round} of {pages} pages");
        match random.u64(..) % 5 {
            0 => expect_zero(&what, &bo)?,
            // What is written by the CPU, or by the GPU only.
            1 => bo.write(&words(round, &bo))?,
            2 => {
                expect_zero(&what, &bo)?;
                bo.write(&words(round, &bo))?;
            }
            3 => {
                let mut stream = painter().stream();
                let all = Rect::new(0, 0, ROW as i32 / 4, pages as i32);
                painter().fill(&mut stream, Area::new(&bo, ROW), SECRET, all);
                owner.submit(&stream)?;
            }
            _ => {}
        }
        if random.u64(..) % 3 != 0 {
            kept.push(bo);
        }
        while kept.iter().map(Bo::size).sum::<u64>() > room + room / 2 {
            drop(kept.swap_remove((random.u64(..) % kept.len() as u64) as usize));
        }
    }
    drop(kept);
    engine_works(&device)
}

/// One job clears memory for many objects. Memory of objects that were never used returns to the stock.
pub fn saves_clears(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    room(&device)?;
    leave_secrets(&device)?;
    let _stock = emptied(&device)?;
    let executed = |context: &mut Context| context.control()?.quiet()?.get("indirect_buffers");
    let before = executed(context)?;
    let mut kept = Vec::new();
    for _ in 0..64 {
        let bo = device.create(4 * PAGE, Domain::Vram)?;
        bo.write(&[SECRET; PAGE as usize])?;
        kept.push(bo);
    }
    let clears = executed(context)? - before;
    ensure!(
        (1..=2).contains(&clears),
        "{clears} clears for 64 objects that were used"
    );

    let before = (stock(&device)?, executed(context)?);
    ensure!(before.0 >= MIB / 2, "only {} bytes are in stock", before.0);
    for _ in 0..64 {
        drop(device.create(64 * PAGE, Domain::Vram)?);
    }
    let after = (stock(&device)?, executed(context)?);
    ensure!(
        after == before,
        "64 objects without use: {before:?} bytes in stock and buffers executed, then {after:?}"
    );
    Ok(())
}

/// The job that clears an object and some of the stock hangs until the driver cancels it. The driver takes none of that
/// memory for zero, neither while the job hangs nor afterwards.
pub fn clear_fails(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    room(&device)?;
    leave_secrets(&device)?;
    let _stock = emptied(&device)?;
    let make = |count: u64, size| objects(&device, count * size, size);
    let lost = hang_twice(context, || Ok(device.create(MIB, Domain::Vram)?))?;
    let meanwhile = make(16, 4 * PAGE)?;
    ensure!(
        stock(&device)? == 0,
        "there is a stock while the ring hangs"
    );
    within(2 * BOUND, "the wait", || lost.wait())??;
    ensure!(
        stock(&device)? == 0,
        "what could not be cleared is in stock"
    );
    let later = make(64, 4 * PAGE)?;
    for (when, bos) in [("while it hung", meanwhile), ("later", later)] {
        for (i, bo) in bos.iter().enumerate() {
            expect_zero(&format!("object {i} made {when}"), bo)?;
        }
    }
    expect_zero("the object", &lost)?;
    engine_works(&device)
}

/// Memory that is being cleared for the stock is available to an object that needs room at once, and is cleared again
/// for it.
pub fn not_in_the_way(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    room(&device)?;
    let mut bos = fill(&device, SIZE)?;
    for bo in &bos {
        bo.write(&vec![SECRET; (SIZE / 4) as usize])?;
    }
    let _stock = emptied(&device)?;
    drop(bos.split_off(bos.len() - 3));
    let before = (settled(&device)?, moved(&device)?);
    painter().hang(context.control()?)?;
    // The job that clears it and free memory hangs.
    let mut made = vec![device.create(PAGE, Domain::Vram)?];
    let used = crate::support::usage(&device)?[0] - before.0[0];
    ensure!(used == PAGE, "{used} bytes are in use, for one page");
    for size in [SIZE, SIZE, SIZE - MIB / 2] {
        made.push(device.create(size, Domain::Vram)?);
    }
    ensure!(
        made.iter().all(in_vram) && moved(&device)? == before.1,
        "others had to make room"
    );
    for (i, bo) in made.iter().enumerate() {
        within(2 * BOUND, "the wait", || bo.wait())??;
        expect_zero(&format!("object {i}"), bo)?;
    }
    for bo in &bos {
        let first = bo.read()?[0];
        ensure!(first == SECRET, "another object holds {first:#x}");
    }
    engine_works(&device).context("afterwards")
}
