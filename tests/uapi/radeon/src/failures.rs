// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Failed allocations. Each allocation of each call fails in turn, so that every error path of the driver is taken. A
//! failed call returns `ENOMEM`, changes nothing and leaves nothing behind, and the device still works.
//!
//! A walk cannot see memory to which nothing refers any more. The debug kernel's leak detector does.

use crate::support::{self, PITCH, WIDTH, engine_works, settled, usage};
use crate::userptr::{Memory, VALIDATE, WRITABLE};
use anyhow::{Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::submit::Envelope;
use lapidary_guest::submit::{after, before};
use lapidary_guest::{Bo, Device, Domain, Errno, Stream};
use lapidary_harness::foreign::{MemoryFile, Vgem};
use lapidary_harness::injection::{Injection, Try};
use lapidary_harness::limit::Limit;
use lapidary_harness::mapping::{Mapping, PAGE};
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::{Context, Test, patience, skip};
use rustix::mm::MapFlags;
use std::cell::Cell;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

const OWN: &str =
    "which allocations there are, and what becomes of a failed one, is each driver's own";
const ROWS: u32 = 16;
const COLOUR: u32 = 0x0bad_cafe;

pub fn tests() -> Vec<Test> {
    let test = |name, body| Test::new(name, body).lapidary_only(OWN).limit(120);
    vec![
        test("failures/opening", opening).kernel_grumbles("debugfs: out of free dentries"),
        test("failures/questions", questions),
        test("failures/making_objects", making),
        test("failures/mapping", mapping),
        test("failures/touching", touching),
        test("failures/submitting", submitting).limit(300),
        test("failures/waiting", waiting),
        test("failures/sharing", sharing),
        test("failures/user_memory", user_memory),
        test("failures/sync_objects", sync_objects),
        test("failures/foreign_memory", foreign_memory),
        test("failures/our_memory_for_others", for_others),
    ]
}

/// A client that denies itself memory, and compares usage before and after.
struct Walk {
    device: Rc<Device>,
    injection: Injection,
    usage: [u64; 2],
    /// Calls that have failed.
    failed: Cell<u32>,
}

impl Walk {
    fn new(context: &mut Context) -> Result<Walk> {
        let injection = Injection::find()?;
        let device = context.device()?;
        engine_works(&device)?;
        let usage = settled(&device)?;
        Ok(Walk {
            device,
            injection,
            usage,
            failed: Cell::new(0),
        })
    }

    /// Fail the call's allocations one after the other, each on a fresh try, until a try makes fewer allocations than
    /// that. The call must make at least `least` allocations, and may only fail with `errors`.
    fn deny(
        &self,
        what: &str,
        least: u32,
        errors: &[Errno],
        prepare: impl FnMut() -> Result<Try<'static>>,
    ) -> Result<()> {
        let failed = self.injection.walk(what, errors, prepare, || {
            self.rest()?;
            engine_works(&self.device)
        })?;
        self.failed.set(self.failed.get() + failed);
        ensure!(failed >= least, "{what}: only {failed} allocations failed");
        Ok(())
    }

    /// Check that no memory is in use that was not before. The worker releases a job's memory some time after the job.
    fn rest(&self) -> Result<()> {
        let mut limit = Limit::new(Duration::from_secs(2) * patience());
        loop {
            let now = usage(&self.device)?;
            if now == self.usage {
                return Ok(());
            }
            limit.rest(&format!(
                "VRAM and GTT in use: {now:?} bytes, {:?} before",
                self.usage
            ))?;
        }
    }
}

fn opening(context: &mut Context) -> Result<()> {
    use rustix::fs::{Mode, OFlags};
    let walk = Walk::new(context)?;
    let path = walk.device.path().to_owned();
    walk.deny("open", 3, &[Errno::NOMEM], || {
        let path = path.clone();
        Ok(Try::new(move || {
            rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map(drop)
        }))
    })
}

/// Make calls that answer from what is there.
fn questions(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let device = &walk.device;
    let bo = Rc::new(device.create(PAGE, Domain::Gtt)?);
    let walk = Walk {
        usage: settled(device)?,
        device: device.clone(),
        injection: walk.injection,
        failed: Cell::new(0),
    };
    let ask = |what: &str, call: fn(&Device, u32) -> Result<(), Errno>| {
        walk.deny(what, 0, &[Errno::NOMEM], || {
            let (device, bo) = (walk.device.clone(), bo.clone());
            Ok(Try::new(move || call(&device, bo.handle())))
        })
    };
    ask("VERSION", |device, _| device.version().map(drop))?;
    ask("GEM_INFO", |device, _| device.gem_info().map(drop))?;
    ask("INFO", |device, _| {
        for request in abi::INFO_REQUESTS {
            match device.info_bytes(request.id, 0) {
                Err(Errno::NOMEM) => return Err(Errno::NOMEM),
                // A family refuses what it does not have, with memory or without.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    })?;
    ask("GEM_BUSY", |device, handle| device.busy(handle).0)?;
    ask("GEM_MMAP", |device, handle| {
        device.mmap_offset(handle).map(drop)
    })?;
    ask("GEM_SET_DOMAIN", |device, handle| {
        let mut argument = abi::GemSetDomain {
            handle,
            read_domains: abi::DOMAIN_CPU,
            write_domain: 0,
        };
        device
            .ioctl(abi::RADEON_GEM_SET_DOMAIN, &mut argument)
            .map(drop)
    })?;
    ask("GEM_SET_TILING and GEM_GET_TILING", |device, handle| {
        let mut argument = abi::GemTiling {
            handle,
            flags: 0,
            pitch: 0,
        };
        device.ioctl(abi::RADEON_GEM_SET_TILING, &mut argument)?;
        device
            .ioctl(abi::RADEON_GEM_GET_TILING, &mut argument)
            .map(drop)
    })?;
    ask("GEM_OP", |device, handle| {
        let mut argument = abi::GemOp {
            handle,
            op: 0,
            value: 0,
        };
        device.ioctl(abi::RADEON_GEM_OP, &mut argument).map(drop)
    })
}

fn making(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let wc = abi::FLAG_GTT_WC;
    // Each takes two or three small allocations. How many of them fail is not sure: the denied one may be of pages for
    // the slab allocator, which can use fewer, and video memory may come from the stock or not.
    let before = walk.failed.get();
    for (what, size, domain, flags) in [
        ("a page of VRAM in stock", PAGE, abi::DOMAIN_VRAM, 0),
        ("VRAM", 4 << 20, abi::DOMAIN_VRAM, 0),
        ("a page of GTT", PAGE, abi::DOMAIN_GTT, 0),
        ("GTT", 1 << 20, abi::DOMAIN_GTT, 0),
        ("write-combined GTT", 16 * PAGE, abi::DOMAIN_GTT, wc),
        ("system memory", 16 * PAGE, abi::DOMAIN_CPU, 0),
    ] {
        walk.deny(what, 0, &[Errno::NOMEM], || {
            let device = walk.device.clone();
            if (domain, size) == (abi::DOMAIN_VRAM, PAGE) {
                support::stocked(&device)?;
            }
            Ok(Try::new(move || {
                device
                    .create_raw(size, 0, domain, flags)
                    .and_then(|handle| device.close(handle))
            }))
        })?;
    }
    let failed = walk.failed.get() - before;
    ensure!(failed >= 4, "only {failed} allocations failed");
    Ok(())
}

/// Return an object, with the device it belongs to; dropped when the last try of it is over.
fn object(device: &Rc<Device>, domain: Domain) -> Result<Rc<Bo>> {
    Ok(Rc::new(support::surface(device, ROWS, domain)?))
}

fn mapping(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    for domain in Domain::ALL {
        // EAGAIN: the kernel's answer if a locked mapping cannot be filled.
        let errors = [Errno::NOMEM, Errno::AGAIN];
        walk.deny(&format!("mapping {domain:?}"), 1, &errors, || {
            let bo = object(&walk.device, domain)?;
            let offset = walk.device.mmap_offset(bo.handle())?;
            Ok(Try::new(move || {
                Mapping::new(bo.device(), offset, bo.size() as usize, MapFlags::SHARED).map(drop)
            }))
        })?;
    }
    Ok(())
}

/// Cause page faults. A system call makes them while it copies, so that a failed one is an error and not a signal.
fn touching(context: &mut Context) -> Result<()> {
    /// What one page of a page table maps: the first touch in such a block needs a page for the table.
    const BLOCK: usize = 2 << 20;
    let walk = Walk::new(context)?;
    // System pages need memory themselves, each of them; video memory does not.
    for (domain, block) in [(Domain::Vram, BLOCK), (Domain::Gtt, PAGE as usize)] {
        walk.deny(&format!("touching {domain:?}"), 1, &[Errno::FAULT], || {
            let bo = walk.device.create(2 * block as u64, domain)?;
            let map = Rc::new(bo.map()?);
            let at = (map.address() as usize).next_multiple_of(block) - map.address() as usize;
            let zero = std::fs::File::open("/dev/zero")?;
            let seen = map.clone();
            Ok(Try::verified(
                move || {
                    // SAFETY: the mapping is alive, and longer than a block and a page.
                    let count = unsafe {
                        libc::read(zero.as_raw_fd(), map.address().byte_add(at), PAGE as usize)
                    };
                    match count {
                        n if n == PAGE as isize => Ok(()),
                        _ => Err(Errno::FAULT),
                    }
                },
                move |_| {
                    // The next access is served.
                    seen.set(at / 4, COLOUR);
                    ensure!(seen.get(at / 4) == COLOUR, "the mapping does not hold");
                    drop((seen, bo));
                    Ok(())
                },
            ))
        })?;
    }
    Ok(())
}

fn fill(stream: &mut Stream, bo: &Bo) {
    let all = Rect::new(0, 0, WIDTH, ROWS as i32);
    painter().fill(stream, Area::new(bo, PITCH), COLOUR, all);
}

fn submitting(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    walk.deny("an empty stream", 1, &[Errno::NOMEM], || {
        let device = walk.device.clone();
        Ok(Try::new(move || device.submit(&support::nothing())))
    })?;
    // Objects that no stream has used yet.
    for (what, least, domains) in [
        ("a fill in VRAM", 1, &[Domain::Vram][..]),
        ("a fill in GTT", 3, &[Domain::Gtt]),
        (
            "many fills",
            3,
            &[Domain::Gtt, Domain::Vram, Domain::Gtt, Domain::Gtt].repeat(5),
        ),
    ] {
        let domains = domains.to_vec();
        walk.deny(what, least, &[Errno::NOMEM], || {
            let objects = domains
                .iter()
                .map(|&domain| object(&walk.device, domain))
                .collect::<Result<Vec<_>>>()?;
            let mut stream = painter().stream();
            objects.iter().for_each(|bo| fill(&mut stream, bo));
            let device = walk.device.clone();
            Ok(Try::verified(
                move || device.submit(&stream),
                move |submitted| {
                    let expected = if submitted { COLOUR } else { 0 };
                    for (i, bo) in objects.iter().enumerate() {
                        let seen = bo.read()?;
                        let wrong = seen.iter().find(|&&pixel| pixel != expected);
                        ensure!(wrong.is_none(), "object {i} has {:#x}", wrong.unwrap_or(&0));
                    }
                    Ok(())
                },
            ))
        })?;
    }
    Ok(())
}

fn waiting(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    walk.deny("GEM_WAIT_IDLE", 0, &[Errno::NOMEM], || {
        let bo = object(&walk.device, Domain::Gtt)?;
        let mut stream = painter().stream();
        for _ in 0..50 {
            fill(&mut stream, &bo);
        }
        walk.device.submit(&stream)?;
        Ok(Try::new(move || bo.wait()))
    })
}

fn sharing(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let guest = walk.device.another()?;
    // Each makes two allocations. Not each of them has to fail: see `making`.
    let before = walk.failed.get();
    for domain in Domain::ALL {
        walk.deny(&format!("exporting {domain:?}"), 1, &[Errno::NOMEM], || {
            let bo = object(&walk.device, domain)?;
            Ok(Try::new(move || bo.device().export(bo.handle()).map(drop)))
        })?;
        walk.deny(&format!("importing {domain:?}"), 1, &[Errno::NOMEM], || {
            let bo = object(&walk.device, domain)?;
            let buffer = bo.device().export(bo.handle())?;
            let guest = guest.clone();
            Ok(Try::new(move || {
                let handle = guest.import(buffer.as_fd())?;
                // Its other name keeps the object alive.
                let _ = &bo;
                guest.close(handle)
            }))
        })?;
    }
    let failed = walk.failed.get() - before;
    ensure!(failed >= 9, "only {failed} allocations failed");
    Ok(())
}

/// Make objects that are memory of the process.
fn user_memory(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let bytes = u64::from(PITCH * ROWS) * 16;
    for (what, flags) in [
        ("memory of the process", WRITABLE),
        ("memory of the process, looked at", WRITABLE | VALIDATE),
    ] {
        walk.deny(what, 3, &[Errno::NOMEM], || {
            let (device, memory) = (walk.device.clone(), Memory::new(bytes)?);
            Ok(Try::new(move || memory.object(&device, flags).map(drop)))
        })?;
    }
    walk.deny("a fill of it", 3, &[Errno::NOMEM], || {
        let memory = Memory::new(bytes)?;
        let bo = Rc::new(memory.object(&walk.device, WRITABLE)?);
        let stream = support::fill(&bo, COLOUR);
        let target = bo.clone();
        Ok(Try::verified(
            move || target.device().submit(&stream),
            move |submitted| {
                bo.wait()?;
                let expected = if submitted { COLOUR } else { 0 };
                let seen = memory.read();
                let wrong = seen.iter().find(|&&pixel| pixel != expected);
                ensure!(wrong.is_none(), "there is {:#x}", wrong.unwrap_or(&0));
                Ok(())
            },
        ))
    })
}

/// Synchronisation objects of a submission: one that is refused signals none of them.
fn sync_objects(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    walk.deny("fences in and out", 3, &[Errno::NOMEM], || {
        let device = &walk.device;
        let first = Syncobj::new(device, true)?;
        let (done, line) = (Syncobj::new(device, false)?, Syncobj::new(device, false)?);
        let envelope = Envelope::of(&support::nothing())
            .with(before(&[first.at(0)]))
            .with(after(&[done.at(0), line.at(7)]));
        let device = device.clone();
        Ok(Try::verified(
            move || envelope.submit(&device),
            move |submitted| {
                for (object, point) in [(&done, 0), (&line, 7)] {
                    let answer = object.wait(point, Duration::from_secs(2), false);
                    let expected = if submitted {
                        Ok(true)
                    } else {
                        Err(Errno::INVAL)
                    };
                    ensure!(answer == expected, "a wait for its end: {answer:?}");
                }
                drop(first);
                Ok(())
            },
        ))
    })
}

/// Return a buffer of another driver's memory, whose pages come into being when it is imported.
fn foreign_buffer(vgem: &Vgem, kind: usize) -> Result<OwnedFd> {
    let bytes = u64::from(PITCH * ROWS);
    if kind == 0 {
        let handle = vgem.create(bytes)?;
        let buffer = vgem.node().export(handle);
        vgem.node().close(handle)?;
        return Ok(buffer?);
    }
    match MemoryFile::new(bytes)?.buffer()? {
        Some(buffer) => Ok(buffer),
        None => skip("there is no udmabuf"),
    }
}

fn foreign_memory(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let vgem = Vgem::open()?;
    for (kind, name) in ["vgem", "udmabuf"].into_iter().enumerate() {
        walk.deny(
            &format!("importing from {name}"),
            5,
            &[Errno::NOMEM],
            || {
                let (device, buffer) = (walk.device.clone(), foreign_buffer(&vgem, kind)?);
                Ok(Try::new(move || {
                    let handle = device.import(buffer.as_fd())?;
                    device.close(handle)
                }))
            },
        )?;
        walk.deny(&format!("drawing into {name}"), 1, &[Errno::NOMEM], || {
            let buffer = foreign_buffer(&vgem, kind)?;
            let handle = walk.device.import(buffer.as_fd())?;
            let bytes = u64::from(PITCH * ROWS);
            let bo = Bo::adopt(walk.device.clone(), handle, bytes, Domain::Gtt);
            let stream = support::fill(&bo, COLOUR);
            Ok(Try::new(move || bo.device().submit(&stream)))
        })?;
    }
    Ok(())
}

/// Another driver attaches to our objects, which have to leave video memory for it.
fn for_others(context: &mut Context) -> Result<()> {
    let walk = Walk::new(context)?;
    let vgem = Vgem::open()?;
    // An object in system memory has no pages before it is written, so both cases are tried.
    let untouched_too = |domain| [(domain, 0), (domain, COLOUR)];
    for (domain, content) in Domain::ALL.into_iter().flat_map(untouched_too) {
        let what = format!("vgem attaches to {domain:?} with {content:#x}");
        walk.deny(&what, 3, &[Errno::NOMEM], || {
            let bo = object(&walk.device, domain)?;
            if content != 0 {
                bo.write(&vec![content; (bo.size() / 4) as usize])?;
            }
            let buffer = walk.device.export(bo.handle())?;
            let theirs = vgem.node().clone();
            Ok(Try::verified(
                move || {
                    let handle = theirs.import(buffer.as_fd())?;
                    theirs.close(handle)
                },
                move |_| {
                    ensure!(
                        bo.read()?.iter().all(|&pixel| pixel == content),
                        "its content is lost"
                    );
                    Ok(())
                },
            ))
        })?;
    }
    Ok(())
}
