// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Moves of one object between video memory and system memory. It leaves video memory when vgem attaches to it, and the
//! next job brings it back.

use crate::support::{self, PITCH, engine_works, fill, nothing, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::submit::Chunk;
use lapidary_guest::{Bo, Device, Domain, Stream, abi};
use lapidary_harness::foreign::Vgem;
use lapidary_harness::limit::Limit;
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, Test, patience, skip};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Duration;

const OURS: &str = "where objects are at each moment is the driver's own policy";
const ROWS: u32 = 256;

pub fn tests() -> Vec<Test> {
    let test = |name, body| Test::new(name, body).lapidary_only(OURS);
    vec![
        test("moves/copies_are_waited_for", waited_for).needs_control(),
        test("moves/homes_are_given_back", given_back),
        test("moves/any_entry_brings_it_home", any_entry),
    ]
}

/// Return the tests that hang the GPU.
pub fn last_tests() -> Vec<Test> {
    vec![
        Test::new("moves/a_copy_that_fails", fails)
            .lapidary_only(OURS)
            .needs_control()
            .hangs(2),
    ]
}

/// An object with a pattern, and how to move it.
struct Traveller {
    bo: Bo,
    words: Vec<u32>,
    vgem: Vgem,
}

impl Traveller {
    fn new(device: &Rc<Device>) -> Result<Traveller> {
        let vgem = Vgem::open()?;
        let bo = surface(device, ROWS, Domain::Vram)?;
        let words: Vec<u32> = (0..(bo.size() / 4) as u32)
            .map(|i| (i + 1).wrapping_mul(0x9e37_79b9))
            .collect();
        bo.write(&words)?;
        let new = Traveller { bo, words, vgem };
        new.is_in(abi::DOMAIN_VRAM)?;
        Ok(new)
    }

    /// Have vgem attach to the object, and return vgem's handle.
    fn leave(&self) -> Result<u32> {
        let buffer = self.bo.device().export(self.bo.handle())?;
        Ok(self.vgem.node().import(buffer.as_fd())?)
    }

    /// Close vgem's handle, and submit a job that brings the object back.
    fn come_back(&self, handle: u32) -> Result<()> {
        self.vgem.node().close(handle)?;
        self.bo.device().submit(&mark(&self.bo, self.words[0]))?;
        Ok(())
    }

    fn is_in(&self, domain: u32) -> Result<()> {
        let is = self.bo.device().busy(self.bo.handle()).1;
        ensure!(is == domain, "it is in {is}, not in {domain}");
        Ok(())
    }

    /// Check what the CPU sees at this moment, without any wait before.
    fn is_whole(&self) -> Result<()> {
        let seen = self.bo.map()?.read(0, self.words.len());
        match (0..seen.len()).find(|&i| seen[i] != self.words[i]) {
            None => Ok(()),
            Some(i) => anyhow::bail!("dword {i} is {:#x}, not {:#x}", seen[i], self.words[i]),
        }
    }
}

/// Make a stream that draws the first pixel.
fn mark(bo: &Bo, colour: u32) -> Stream {
    let mut stream = painter().stream();
    let pixel = Rect::new(0, 0, 1, 1);
    painter().fill(&mut stream, Area::new(bo, PITCH), colour, pixel);
    stream
}

/// Keep the ring busy for a while.
fn keep_busy(context: &mut Context, bo: &Bo) -> Result<()> {
    context.control()?.fault("late-fence", 1)?;
    bo.device().submit(&fill(bo, 1))?;
    ensure!(bo.is_busy()?, "the ring is not late");
    Ok(())
}

/// While the ring is late the content is only in the old home, so an access has to wait for the copy.
fn waited_for(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = surface(&device, 16, Domain::Gtt)?;
    other.wait()?;
    let traveller = Traveller::new(&device)?;
    keep_busy(context, &other)?;
    let handle = traveller.leave()?;
    traveller.is_whole().context("away")?;
    traveller.is_in(abi::DOMAIN_GTT)?;
    keep_busy(context, &other)?;
    traveller.come_back(handle)?;
    traveller.bo.wait()?;
    traveller.is_in(abi::DOMAIN_VRAM)?;
    traveller.is_whole().context("back")?;
    engine_works(&device)
}

/// A job that names the object twice wants it in video memory if either entry does, in either order.
fn any_entry(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let traveller = Traveller::new(&device)?;
    let (vram, gtt) = (abi::DOMAIN_VRAM, abi::DOMAIN_GTT);
    for (domains, end) in [
        ([gtt, gtt], gtt),
        ([gtt, vram], vram),
        ([vram, gtt], vram),
        ([gtt, vram | gtt], vram),
    ] {
        let handle = traveller.leave()?;
        traveller.is_in(gtt)?;
        traveller.vgem.node().close(handle)?;
        let entries = domains.map(|read_domains| abi::CsReloc {
            handle: traveller.bo.handle(),
            read_domains,
            write_domain: 0,
            flags: 0,
        });
        support::envelope(Chunk::commands(nothing().words()))
            .with(Chunk::relocations(&entries))
            .submit(&device)?;
        traveller.bo.wait()?;
        traveller
            .is_in(end)
            .with_context(|| format!("domains {domains:?}"))?;
        traveller.is_whole()?;
    }
    engine_works(&device)
}

/// Return the bytes of the GTT window that objects occupy.
fn placed(device: &Device) -> Result<u64> {
    let file = format!(
        "/sys/kernel/debug/dri/{}/lapidary_memory",
        PciDevice::of(device)?.address()
    );
    let Ok(text) = std::fs::read_to_string(&file) else {
        return skip("no debugfs");
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|&word| word == "placed");
    let number = at.and_then(|at| words.get(at.checked_sub(1)?));
    Ok(number.context("nothing is said to be placed")?.parse()?)
}

/// Ask until the answer is yes. The worker releases a job's memory a little after the job is done.
fn soon(what: &str, mut ask: impl FnMut() -> Result<bool>) -> Result<()> {
    let mut limit = Limit::new(Duration::from_secs(2) * patience());
    while !ask()? {
        limit.rest(&format!("not yet: {what}"))?;
    }
    Ok(())
}

/// Moving there and back leaves nothing behind.
fn given_back(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let traveller = Traveller::new(&device)?;
    traveller.bo.wait()?;
    let before = placed(&device)?;
    for round in 0..3 {
        let handle = traveller.leave()?;
        traveller.is_in(abi::DOMAIN_GTT)?;
        traveller.come_back(handle)?;
        traveller.bo.wait()?;
        traveller.is_in(abi::DOMAIN_VRAM)?;
        traveller.is_whole()?;
        soon(&format!("as much is placed, round {round}"), || {
            Ok(placed(&device)? == before)
        })?;
    }
    Ok(())
}

/// The copy hangs until the driver cancels it. The object is whole, and the memory at the target is free.
fn fails(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let traveller = Traveller::new(&device)?;
    traveller.bo.wait()?;
    let before = placed(&device)?;
    context.control()?.fault("endless-buffer", 2)?;
    // The CPU copies instead.
    let handle = traveller.leave();
    context.control()?.clear_faults()?;
    let handle = handle?;
    traveller.is_in(abi::DOMAIN_GTT)?;
    traveller.is_whole()?;
    soon("as much is placed", || Ok(placed(&device)? == before))?;
    traveller.come_back(handle)?;
    traveller.bo.wait()?;
    traveller.is_in(abi::DOMAIN_VRAM)?;
    traveller.is_whole().context("back")?;
    engine_works(&device)
}
