// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sleep of the machine. The card loses its registers and its memory. The content of objects is there afterwards, and
//! clients go on.
//!
//! Most tests use `/sys/power/pm_test`, which is quick and makes the same calls of the driver. Others really sleep, in
//! RAM, and on disk if there is one (`scripts/boot --swap`).

use crate::support::{self, engine_works, fill};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Device, Domain};
use lapidary_harness::child::{self, End};
use lapidary_harness::machine::{self, Back, Depth, Kind};
use lapidary_harness::mapping::Mapping;
use lapidary_harness::{Context, Test, skip};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

/// Why upstream's driver is left out.
pub const PROMISE: &str = "what upstream's driver loses in its sleep is its own affair";

/// Return its tests.
pub fn tests() -> Vec<Test> {
    let rehearsal = |name, body| Test::new(name, body).lapidary_only(PROMISE);
    vec![
        rehearsal("sleep/devices_in_memory", |c| {
            contents(c, |_| machine::rehearse(Kind::Memory, Depth::Devices))
        }),
        rehearsal("sleep/devices_on_disk", |c| {
            contents(c, |_| machine::rehearse(Kind::Disk, Depth::Devices))
        }),
        rehearsal("sleep/platform_in_memory", |c| {
            contents(c, |_| machine::rehearse(Kind::Memory, Depth::Platform))
        }),
        rehearsal("sleep/platform_on_disk", |c| {
            contents(c, |_| machine::rehearse(Kind::Disk, Depth::Platform))
        }),
        rehearsal("sleep/core_in_memory", |c| {
            contents(c, |_| machine::rehearse(Kind::Memory, Depth::Core))
        }),
        rehearsal("sleep/core_on_disk", |c| {
            contents(c, |_| machine::rehearse(Kind::Disk, Depth::Core))
        }),
        rehearsal("sleep/port_taken_away", port_taken_away).needs_control(),
        rehearsal("sleep/in_memory", in_memory).needs_control(),
        rehearsal("sleep/in_memory_again_and_again", |c| {
            for round in 0..2 {
                in_memory(c).with_context(|| format!("round {round}"))?;
            }
            Ok(())
        })
        .needs_control(),
        rehearsal("sleep/on_disk_and_back_at_once", |c| {
            on_disk(c, Back::AtOnce)
        })
        .limit(180),
        rehearsal("sleep/on_disk_switched_off", |c| {
            on_disk(c, Back::SwitchedOff)
        })
        .limit(180),
        rehearsal("sleep/while_drawing", while_drawing).limit(120),
        rehearsal("sleep/work_under_way", work_under_way).needs_control(),
        rehearsal("sleep/moving_out_hangs", moving_out_hangs)
            .needs_control()
            .hangs(2),
        rehearsal("sleep/no_memory_is_taken_for_zero", nothing_in_stock),
    ]
}

fn in_memory(context: &mut Context) -> Result<()> {
    if machine::has_many_cpus() {
        return skip("needs a machine with one CPU");
    }
    contents(context, |_| machine::sleep_in_memory())
}

/// An object whose content is known.
struct Known {
    bo: Bo,
    words: Vec<u32>,
    /// Mapped before the machine sleeps.
    mapping: Option<Mapping>,
    what: &'static str,
}

impl Known {
    fn new(bo: Bo, seed: u64, mapped: bool, what: &'static str) -> Result<Known> {
        let mut random = fastrand::Rng::with_seed(seed);
        let words: Vec<u32> = (0..bo.size() / 4).map(|_| random.u32(..)).collect();
        let mapping = bo.map()?;
        mapping.write(0, &words);
        Ok(Known {
            bo,
            words,
            mapping: mapped.then_some(mapping),
            what,
        })
    }

    fn check(&self) -> Result<()> {
        self.bo.wait()?;
        let seen = match &self.mapping {
            Some(mapping) => mapping.read(0, self.words.len()),
            None => self.bo.read()?,
        };
        let wrong = seen.iter().zip(&self.words).position(|(a, b)| a != b);
        if let Some(at) = wrong {
            anyhow::bail!(
                "{} in {:?}, {} bytes: dword {at} is {:#010x}, was {:#010x}",
                self.what,
                self.bo.domain(),
                self.bo.size(),
                seen[at],
                self.words[at]
            );
        }
        Ok(())
    }
}

/// Return a surface filled by the GPU.
fn drawn(device: &Rc<Device>, domain: Domain, colour: u32) -> Result<Known> {
    let bo = support::surface(device, 64, domain)?;
    device.submit(&fill(&bo, colour))?;
    let words = vec![colour; (bo.size() / 4) as usize];
    Ok(Known {
        bo,
        words,
        mapping: None,
        what: "drawn",
    })
}

/// Return the objects of all kinds.
fn objects(device: &Rc<Device>) -> Result<Vec<Known>> {
    let mut all = Vec::new();
    let mut seed = 0x51ee_9000;
    for domain in [Domain::Vram, Domain::Gtt] {
        for size in [4096, 65536, (1 << 20) + 4096] {
            for (mapped, what) in [(true, "mapped"), (false, "not mapped")] {
                seed += 1;
                all.push(Known::new(
                    device.create(size, domain)?,
                    seed,
                    mapped,
                    what,
                )?);
            }
        }
        all.push(drawn(device, domain, 0xd0a7_0000 + domain.bits())?);
        let untouched = device.create(1 << 16, domain)?;
        all.push(Known {
            words: vec![0; (untouched.size() / 4) as usize],
            bo: untouched,
            mapping: None,
            what: "never touched",
        });
    }
    Ok(all)
}

/// An object that a second client has by a dma-buf.
struct Shared {
    known: Known,
    _buffer: OwnedFd,
    other: Bo,
}

fn shared(device: &Rc<Device>) -> Result<Shared> {
    let known = Known::new(device.create(65536, Domain::Vram)?, 77, true, "exported")?;
    let buffer = device.export(known.bo.handle())?;
    let client = device.another()?;
    let handle = client.import(buffer.as_fd())?;
    let other = Bo::adopt(client, handle, known.bo.size(), Domain::Vram);
    Ok(Shared {
        known,
        _buffer: buffer,
        other,
    })
}

/// Check that what is in objects survives, and can be drawn to and read by the GPU afterwards.
pub fn contents(
    context: &mut Context,
    sleep: impl FnOnce(&mut Context) -> Result<()>,
) -> Result<()> {
    let device = context.device()?;
    engine_works(&device)?;
    let mut all = objects(&device)?;
    let shared = shared(&device)?;
    sleep(context)?;

    for known in &all {
        known.check()?;
    }
    shared.known.check()?;
    let seen = shared.other.read()?;
    ensure!(
        seen == shared.known.words,
        "the importer sees something else"
    );
    engine_works(&device).context("after sleep")?;

    // Every object has a new address for the GPU.
    for (colour, known) in (0x600d_0000..).zip(&mut all) {
        device.submit(&fill(&known.bo, colour))?;
        known.words.fill(colour);
    }
    for known in &all {
        known.check().context("drawn to after sleep")?;
    }
    // The device works for a new client.
    engine_works(&device.another()?)
}

/// The control port works again for a process that was using it when the machine went to sleep.
fn port_taken_away(context: &mut Context) -> Result<()> {
    machine::rehearse(Kind::Memory, Depth::Devices)?;
    let control = context.control()?;
    control.resynchronise()?;
    control.counters()?;
    Ok(())
}

fn on_disk(context: &mut Context, back: Back) -> Result<()> {
    if !machine::has_swap() {
        return skip("no disk to sleep on");
    }
    contents(context, |_| machine::sleep_on_disk(back))
}

/// A client that draws and reads all the time does not notice the sleep.
fn while_drawing(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let children: Vec<_> = [Domain::Vram, Domain::Gtt]
        .map(|domain| {
            let device = device.another()?;
            child::spawn(move || {
                let bo = support::surface(&device, 64, domain)?;
                let kept = Known::new(device.create(65536, domain)?, 5, true, "kept")?;
                for colour in 1.. {
                    device.submit(&fill(&bo, colour))?;
                    let seen = bo.read()?;
                    ensure!(
                        seen.iter().all(|&pixel| pixel == colour),
                        "round {colour}, in {domain:?}: {:#x}",
                        seen[0]
                    );
                    kept.check()?;
                }
                Ok(0)
            })
        })
        .into_iter()
        .collect::<Result<_>>()?;
    for (kind, depth) in [
        (Kind::Memory, Depth::Devices),
        (Kind::Memory, Depth::Platform),
        (Kind::Disk, Depth::Devices),
        (Kind::Memory, Depth::Platform),
        (Kind::Disk, Depth::Platform),
    ] {
        std::thread::sleep(Duration::from_millis(200));
        machine::rehearse(kind, depth)?;
    }
    std::thread::sleep(Duration::from_millis(300));
    for child in children {
        child.signal(libc::SIGTERM);
        let end = child.wait(Duration::from_secs(10))?;
        ensure!(
            end == End::Signal(libc::SIGTERM),
            "a client ended with {end:?}"
        );
    }
    engine_works(&device)
}

/// Submitted jobs are done before the machine sleeps, however long they take. The driver evicts objects in video memory
/// behind their jobs, and waits for the jobs of the others.
fn work_under_way(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in [Domain::Vram, Domain::Gtt] {
        let bo = support::surface(&device, 64, domain)?;
        context.control()?.fault("late-fence", 2)?;
        for colour in 1..=50 {
            device.submit(&fill(&bo, colour))?;
        }
        let result = machine::rehearse(Kind::Memory, Depth::Platform);
        context.control()?.clear_faults()?;
        result.with_context(|| format!("{domain:?}"))?;
        ensure!(!bo.is_busy()?, "{domain:?}: still busy after sleep");
        let seen = bo.read()?;
        ensure!(
            seen.iter().all(|&pixel| pixel == 50),
            "{domain:?}: {:#x}",
            seen[0]
        );
    }
    engine_works(&device)
}

/// The copy of the first object that leaves video memory for the sleep hangs. The CPU copies instead.
fn moving_out_hangs(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let resets = device.reset_counter()?;
    contents(context, |context| {
        context.control()?.fault("endless-buffer", 2)?;
        machine::rehearse(Kind::Memory, Depth::Platform)
    })?;
    ensure!(device.reset_counter()? == resets + 2, "no move has hung");
    Ok(())
}

/// Video memory in stock is not zero after sleep, and the driver does not take it for zero.
fn nothing_in_stock(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 64 << 10;
    let device = context.device()?;
    let make = || device.create(SIZE, Domain::Vram);
    let before = support::stocked(&device)?;
    machine::rehearse(Kind::Memory, Depth::Platform)?;
    for i in 0..before / SIZE {
        let seen = make()?.read()?;
        let wrong = seen.iter().find(|&&word| word != 0);
        ensure!(wrong.is_none(), "object {i} holds {wrong:#x?}");
    }
    engine_works(&device)
}
